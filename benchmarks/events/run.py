"""The stock stream and the queries of the SASE+ paper, its section 6 (Agrawal and others, SIGMOD 2008).

python -m benchmarks events --write docs/benchmarks/events.md      all sections, full size
python -m benchmarks events --only throughput,merging              some of them
"""

from __future__ import annotations

import argparse

from benchmarks.events.searches import Bench
from benchmarks.events.sections import backtracking, growth, merging, results, spark, throughput
from benchmarks.sections import add_section_options, run_sections

__all__ = ["add_options", "run"]

_SECTIONS = {one.__name__: one for one in (throughput, merging, backtracking, growth, results, spark)}
_QUICK_SCALE = 0.002


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    add_section_options(parser, _SECTIONS, "docs/benchmarks/events.md", counted="events")


def run(asked: argparse.Namespace) -> None:
    """Measure the sections that were asked for, then print them or put them on the page."""
    run_sections(
        asked,
        "benchmarks/events",
        _SECTIONS,
        lambda spark, folder, scale: Bench(spark, folder, scale, asked.repeats),
        _QUICK_SCALE,
    )
