"""Ratios within one run on one Spark session with two cores, and bars for them.

python -m benchmarks rows --write docs/benchmarks/row_patterns.md      all sections, full size
python -m benchmarks rows --only v_shape,latency --scale 0.02          a look at fewer rows
"""

from __future__ import annotations

import argparse
import time

from benchmarks.options import add_only, add_page, add_run
from benchmarks.pages import bar_table, machine, page, show, with_blocks
from benchmarks.results import Results
from benchmarks.rows.costs import first_query, hopeless, latency, memory, one_series
from benchmarks.rows.throughput import all_rows, batch_sizes, profile, tiny_series, v_shape
from benchmarks.rows.ticks import Bench, Section
from benchmarks.sessions import session
from benchmarks.timing import say

__all__ = ["add_options", "run"]

_WRITER = "benchmarks/rows"
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
    results = Results(asked.keep, Section)
    if not asked.report:
        _measure(asked, results)
    measured = {section.name: section for section in results}
    sections = [measured[name] for name in asked.only if name in measured]
    summary = Section("summary", "Bars", bar_table([bar for one in sections for bar in one.bars]))
    texts = {one.name: one.text() for one in sections}
    if asked.write is None:
        show(page(summary.text(), *texts.values()), None)
        return
    if len(sections) == len(_SECTIONS):
        texts = {summary.name: summary.measured(sections[-1].caption, "").text(), **texts}
    show(with_blocks(asked.write, _WRITER, texts), asked.write)


def _measure(asked: argparse.Namespace, results: Results[Section]) -> None:
    scale = _QUICK_SCALE if asked.quick else asked.scale
    size = "full size" if scale == 1 else f"{scale:g} of full size"
    wanted = f"{size}, {asked.repeats} rounds"
    for held in results:
        if held.size != wanted:
            raise SystemExit(f"{asked.keep} holds figures of another size ({held.size}): use another file.")
    missing = [name for name in asked.only if name not in {held.name for held in results}]
    if not missing:
        return
    with session() as (spark, folder):
        bench = Bench(spark, folder, scale, asked.repeats, asked.quick)
        for name in missing:
            say(f"{name} …")
            caption, began = machine("Spark local[2]", size), time.perf_counter()
            results.add(_SECTIONS[name](bench).measured(caption, wanted))
            say(f"{name}: {time.perf_counter() - began:.0f} s")
