"""Patterns on streams, beside the same query on a table.

python -m benchmarks streams --write docs/benchmarks/streams.md      all sections, full size
python -m benchmarks streams --only many_keys --scale 0.1            a look at fewer rows
"""

from __future__ import annotations

import argparse

from benchmarks.options import add_only, add_page, add_run
from benchmarks.sections import run_sections
from benchmarks.streams.feeds import Bench
from benchmarks.streams.sections import beside_tables, idle_keys, many_keys
from benchmarks.streams.steady import calls, latency, worker_memory

__all__ = ["add_options", "run"]

_QUICK_SCALE = 0.001
_SECTIONS = {
    section.__name__: section for section in (beside_tables, many_keys, idle_keys, calls, latency, worker_memory)
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    add_run(parser, 3, "timed rounds, after one that is not timed")
    add_only(parser, "section", _SECTIONS)
    parser.add_argument("--scale", type=float, default=1.0, help="a share of the rows")
    add_page(parser, "docs/benchmarks/streams.md")


def run(asked: argparse.Namespace) -> None:
    """Measure the sections that were asked for, then print them or put them on the page."""
    scale = _QUICK_SCALE if asked.quick else asked.scale
    size = "full size" if scale == 1 else f"{scale:g} of full size"
    run_sections(
        asked, "benchmarks/streams", _SECTIONS, lambda spark, folder: Bench(spark, folder, scale, asked.repeats), size
    )
