"""Patterns on streams, beside the same query on a table, and beside Flink.

python -m benchmarks streams --write docs/benchmarks/streams.md      all sections, full size
python -m benchmarks streams --only many_keys --scale 0.1            a look at fewer rows
python -m benchmarks streams --only beside_flink --install-flink     beside Flink, which is installed first
"""

from __future__ import annotations

import argparse

from benchmarks.sections import add_section_options, run_sections
from benchmarks.streams.beside_flink import beside_flink
from benchmarks.streams.feeds import Bench
from benchmarks.streams.sections import beside_tables, idle_keys, many_keys
from benchmarks.streams.steady import calls, latency, worker_memory

__all__ = ["add_options", "run"]

_QUICK_SCALE = 0.001
_ALL = (beside_tables, many_keys, idle_keys, calls, latency, worker_memory, beside_flink)
_SECTIONS = {section.__name__: section for section in _ALL}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    add_section_options(parser, _SECTIONS, "docs/benchmarks/streams.md", repeats=3)
    flink = "install Flink from the package index into .peers/flink, if it is not there"
    parser.add_argument("--install-flink", action="store_true", help=flink)


def run(asked: argparse.Namespace) -> None:
    """Measure the sections that were asked for, then print them or put them on the page."""
    run_sections(
        asked,
        "benchmarks/streams",
        _SECTIONS,
        lambda spark, folder, scale: Bench(spark, folder, scale, asked.repeats, asked.install_flink),
        _QUICK_SCALE,
    )
