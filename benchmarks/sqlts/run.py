"""Sequences in the Dow Jones average and in made-up walks: the paper's section 6 (Sadri and others, TODS 2004).

python -m benchmarks sqlts --data FOLDER --write docs/benchmarks/sqlts.md      all sections, full size
python -m benchmarks sqlts --data FOLDER --only double_bottoms,longer          some of them
"""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path

from benchmarks.data import data_folder
from benchmarks.options import add_data, add_only, add_page, add_run
from benchmarks.sections import run_sections
from benchmarks.sqlts.searches import Bench
from benchmarks.sqlts.sections import compilation, double_bottoms, kernels, longer, results, spark

__all__ = ["add_options", "run"]

_SECTIONS = {one.__name__: one for one in (results, double_bottoms, longer, kernels, compilation, spark)}
_QUICK_SCALE = 0.001


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    add_run(parser, 5, "timed rounds, after one that is not timed")
    add_data(parser)
    add_only(parser, "section", _SECTIONS)
    parser.add_argument("--scale", type=float, default=1.0, help="a share of the rows")
    add_page(parser, "docs/benchmarks/sqlts.md")


def run(asked: argparse.Namespace) -> None:
    """Measure the sections that were asked for, then print them or put them on the page."""
    scale = _QUICK_SCALE if asked.quick else asked.scale
    size = "full size" if scale == 1 else f"{scale:g} of full size"
    # A page that is made of figures reads no data.
    with nullcontext(Path()) if asked.report else data_folder(asked, ("djia",)) as data:
        run_sections(
            asked,
            "benchmarks/sqlts",
            _SECTIONS,
            lambda spark, folder: Bench(spark, folder, data, scale, asked.repeats),
            size,
        )
