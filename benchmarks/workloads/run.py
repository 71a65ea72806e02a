"""Hundreds of event patterns on a shared plan: section 6 of the paper (Kolchinsky and Schuster, SIGMOD 2019).

python -m benchmarks workloads --data FOLDER --write docs/benchmarks/workloads.md      all sections, full size
python -m benchmarks workloads --data FOLDER --only results,stock_sizes --scale 0.2    some of them, fewer workloads
"""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path

from benchmarks.data import data_folder
from benchmarks.options import add_data
from benchmarks.sections import add_section_options, run_sections
from benchmarks.workloads.measures import Bench
from benchmarks.workloads.opencep import opencep
from benchmarks.workloads.plans import planning
from benchmarks.workloads.reshuffled import reshuffled
from benchmarks.workloads.sensitivity import sensitivity
from benchmarks.workloads.shapes import shapes
from benchmarks.workloads.sizes import stock_sizes, traffic_sizes
from benchmarks.workloads.truth import results

__all__ = ["add_options", "run"]

_ALL = (results, stock_sizes, traffic_sizes, shapes, reshuffled, sensitivity, planning, opencep)
_SECTIONS = {section.__name__: section for section in _ALL}
_QUICK_SCALE = 0.02


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    add_section_options(
        parser, _SECTIONS, "docs/benchmarks/workloads.md", repeats=3, counted="events and of the workloads"
    )
    add_data(parser)


def run(asked: argparse.Namespace) -> None:
    """Measure the sections that were asked for, then print them or put them on the page."""
    # Quick runs make up their streams, and a page that is made of figures reads none.
    files = ("etf_minutes", "traffic", "nasdaq")
    with nullcontext(Path()) if asked.report or asked.quick else data_folder(asked, files) as data:
        run_sections(
            asked,
            "benchmarks/workloads",
            _SECTIONS,
            lambda spark, folder, scale: Bench(data, scale, asked.repeats),
            _QUICK_SCALE,
        )
