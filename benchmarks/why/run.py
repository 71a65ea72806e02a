"""`why` beside the queries that it is asked about, on one Spark session with two cores, and bars for it.

python -m benchmarks why --write docs/benchmarks/why.md      all sections, full size
python -m benchmarks why --only logins --scale 0.02          a look at fewer rows
"""

from __future__ import annotations

import argparse

from benchmarks.rows.ticks import Bench
from benchmarks.sections import add_section_options, run_sections
from benchmarks.why.cases import logins, v_shape

__all__ = ["add_options", "run"]

_QUICK_SCALE = 0.0004
_SECTIONS = {section.__name__: section for section in (v_shape, logins)}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    add_section_options(parser, _SECTIONS, "docs/benchmarks/why.md", repeats=3)


def run(asked: argparse.Namespace) -> None:
    """Measure the sections that were asked for, then print them or put them on the page."""
    run_sections(
        asked,
        "benchmarks/why",
        _SECTIONS,
        lambda spark, folder, scale: Bench(spark, folder, scale, asked.repeats, asked.quick),
        _QUICK_SCALE,
    )
