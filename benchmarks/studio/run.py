"""The studio as a user has it: `trellis studio` in a process of its own, driven in Chromium.

python -m benchmarks studio --write docs/benchmarks/studio.md      both sections, full size
python -m benchmarks studio --only typing                          one of them
"""

from __future__ import annotations

import argparse

from benchmarks.sections import add_section_options, run_sections
from benchmarks.studio.page import Bench
from benchmarks.studio.sections import running, typing

__all__ = ["add_options", "run"]

_SECTIONS = {one.__name__: one for one in (typing, running)}
_QUICK_SCALE = 0.002


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    add_section_options(parser, _SECTIONS, "docs/benchmarks/studio.md", repeats=7)


def run(asked: argparse.Namespace) -> None:
    """Measure the sections that were asked for, then print them or put them on the page."""
    run_sections(
        asked,
        "benchmarks/studio",
        _SECTIONS,
        lambda spark, folder, scale: Bench(spark, folder, scale, asked.repeats),
        _QUICK_SCALE,
    )
