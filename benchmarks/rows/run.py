"""Ratios within one run on one Spark session with two cores, and bars for them.

python -m benchmarks rows --write docs/benchmarks/row_patterns.md      all sections, full size
python -m benchmarks rows --only v_shape,latency --scale 0.02          a look at fewer rows
"""

from __future__ import annotations

import argparse

from benchmarks.rows.costs import hopeless, latency, memory, one_series
from benchmarks.rows.first_query import first_query
from benchmarks.rows.throughput import all_rows, batch_sizes, profile, tiny_series, v_shape
from benchmarks.rows.ticks import Bench
from benchmarks.sections import add_section_options, run_sections

__all__ = ["add_options", "run"]

_QUICK_SCALE = 0.0004
_SECTIONS = {
    section.__name__: section
    for section in (
        v_shape,
        tiny_series,
        all_rows,
        batch_sizes,
        latency,
        first_query,
        one_series,
        hopeless,
        memory,
        profile,
    )
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    add_section_options(parser, _SECTIONS, "docs/benchmarks/row_patterns.md")


def run(asked: argparse.Namespace) -> None:
    """Measure the sections that were asked for, then print them or put them on the page."""
    run_sections(
        asked,
        "benchmarks/rows",
        _SECTIONS,
        lambda spark, folder, scale: Bench(spark, folder, scale, asked.repeats, asked.quick),
        _QUICK_SCALE,
    )
