"""Patterns on streams, beside the same query on a table, and beside Flink.

python -m benchmarks streams --write docs/benchmarks/streams.md      all sections, full size; Flink if it is there
python -m benchmarks streams --only many_keys --scale 0.1            a look at fewer rows
python -m benchmarks streams --only beside_flink --install-flink     Flink, installed if it is not there
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.options import add_only, add_page, add_run
from benchmarks.sections import run_sections
from benchmarks.streams.beside_flink import beside_flink
from benchmarks.streams.feeds import Bench
from benchmarks.streams.sections import beside_tables, idle_keys, many_keys

__all__ = ["add_options", "run"]

_QUICK_SCALE = 0.001
_SECTIONS = {section.__name__: section for section in (beside_tables, many_keys, idle_keys, beside_flink)}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    add_run(parser, 3, "timed rounds, after one that is not timed")
    add_only(parser, "section", _SECTIONS)
    parser.add_argument("--scale", type=float, default=1.0, help="a share of the rows")
    flink = "install Flink from the package index into .peers/flink, if it is not there"
    parser.add_argument("--install-flink", action="store_true", help=flink)
    add_page(parser, "docs/benchmarks/streams.md")


def run(asked: argparse.Namespace) -> None:
    """Measure the sections that were asked for, then print them or put them on the page."""
    scale = _QUICK_SCALE if asked.quick else asked.scale
    size = "full size" if scale == 1 else f"{scale:g} of full size"

    def bench(spark: SparkSession, folder: Path) -> Bench:
        return Bench(spark, folder, scale, asked.repeats, asked.install_flink)

    run_sections(asked, "benchmarks/streams", _SECTIONS, bench, size)
