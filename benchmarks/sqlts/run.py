"""Sequences in the Dow Jones average and in made-up walks: the paper's section 6 (Sadri and others, TODS 2004).

python -m benchmarks sqlts --data FOLDER --write docs/benchmarks/sqlts.md      all sections, full size
python -m benchmarks sqlts --data FOLDER --only double_bottoms,longer          some of them
"""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path

from benchmarks.data import data_folder
from benchmarks.options import add_data
from benchmarks.sections import add_section_options, run_sections
from benchmarks.sqlts.searches import Bench
from benchmarks.sqlts.sections import compilation, double_bottoms, kernels, longer, results, spark

__all__ = ["add_options", "run"]

_SECTIONS = {one.__name__: one for one in (results, double_bottoms, longer, kernels, compilation, spark)}
_QUICK_SCALE = 0.001


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    add_section_options(parser, _SECTIONS, "docs/benchmarks/sqlts.md")
    add_data(parser)


def run(asked: argparse.Namespace) -> None:
    """Measure the sections that were asked for, then print them or put them on the page."""
    # A page that is made of figures reads no data.
    with nullcontext(Path()) if asked.report else data_folder(asked, ("djia",)) as data:
        run_sections(
            asked,
            "benchmarks/sqlts",
            _SECTIONS,
            lambda spark, folder, scale: Bench(spark, folder, data, scale, asked.repeats),
            _QUICK_SCALE,
        )
