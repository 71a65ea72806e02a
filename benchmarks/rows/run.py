"""Ratios within one run on one Spark session with two cores, and bars for them.

python -m benchmarks rows --write docs/benchmarks/row_patterns.md      all sections, full size
python -m benchmarks rows --only v_shape,latency --scale 0.02          a look at fewer rows
"""

from __future__ import annotations

import argparse

from benchmarks.options import add_only, add_page, add_run
from benchmarks.rows.costs import first_query, hopeless, latency, memory, one_series
from benchmarks.rows.throughput import all_rows, batch_sizes, profile, tiny_series, v_shape
from benchmarks.rows.ticks import Bench
from benchmarks.sections import run_sections

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
    add_run(parser, 5, "timed rounds, after one that is not timed")
    add_only(parser, "section", _SECTIONS)
    parser.add_argument("--scale", type=float, default=1.0, help="a share of the rows")
    add_page(parser, "docs/benchmarks/row_patterns.md")


def run(asked: argparse.Namespace) -> None:
    """Measure the sections that were asked for, then print them or put them on the page."""
    scale = _QUICK_SCALE if asked.quick else asked.scale
    size = "full size" if scale == 1 else f"{scale:g} of full size"
    run_sections(
        asked,
        "benchmarks/rows",
        _SECTIONS,
        lambda spark, folder: Bench(spark, folder, scale, asked.repeats, asked.quick),
        size,
    )
