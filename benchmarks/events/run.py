"""The stock stream and the queries of the SASE+ paper, its section 6 (Agrawal and others, SIGMOD 2008).

python -m benchmarks events --write docs/benchmarks/events.md      all sections, full size
python -m benchmarks events --only throughput,merging              some of them
"""

from __future__ import annotations

import argparse

from benchmarks.events.searches import Bench
from benchmarks.events.sections import backtracking, growth, merging, results, spark, throughput
from benchmarks.options import add_only, add_page, add_run
from benchmarks.sections import run_sections

__all__ = ["add_options", "run"]

_SECTIONS = {one.__name__: one for one in (throughput, merging, backtracking, growth, results, spark)}
_QUICK_SCALE = 0.002


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    add_run(parser, 5, "timed rounds, after one that is not timed")
    add_only(parser, "section", _SECTIONS)
    parser.add_argument("--scale", type=float, default=1.0, help="a share of the events")
    add_page(parser, "docs/benchmarks/events.md")


def run(asked: argparse.Namespace) -> None:
    """Measure the sections that were asked for, then print them or put them on the page."""
    scale = _QUICK_SCALE if asked.quick else asked.scale
    size = "full size" if scale == 1 else f"{scale:g} of full size"
    run_sections(
        asked, "benchmarks/events", _SECTIONS, lambda spark, folder: Bench(spark, folder, scale, asked.repeats), size
    )
