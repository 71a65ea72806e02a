"""A page in sections: measured one by one, kept at once, printed or put on the page."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from pyspark.sql import SparkSession

from benchmarks.options import add_only, add_page, add_run
from benchmarks.pages import Bar, bar_table, machine, page, section, show, with_blocks
from benchmarks.results import Results
from benchmarks.sessions import session
from benchmarks.timing import say

__all__ = ["Section", "add_section_options", "run_sections"]

B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page, as it was measured: `size` says how much and how often.

    `pictures` are Vega-Lite specifications by name; they are drawn beside a page.
    """

    name: str
    title: str
    body: str
    bars: tuple[Bar, ...] = ()
    caption: str = ""
    size: str = ""
    pictures: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, bars: list[dict[str, Any]], **values: Any) -> Section:
        """Read it back from a file."""
        return cls(**values, bars=tuple(Bar(**bar) for bar in bars))

    def text(self, *, drawn: bool = False) -> str:
        """The section in Markdown, with the machine below its tables."""
        shown = [f"![{self.title}]({name}.svg)" for name in self.pictures if drawn]
        return section(self.title, self.body, *shown, self.caption)

    def draw(self, folder: Path) -> None:
        """Write its pictures."""
        if self.pictures:
            import vl_convert  # type: ignore[import-untyped,unused-ignore]

            folder.mkdir(parents=True, exist_ok=True)
            for name, spec in self.pictures.items():
                (folder / f"{name}.svg").write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")

    def measured(self, caption: str, size: str) -> Section:
        """The section with its machine and size."""
        return replace(self, caption=caption, size=size)


def add_section_options(
    parser: argparse.ArgumentParser, sections: Iterable[str], page: str, *, repeats: int = 5, counted: str = "rows"
) -> None:
    """The command line of a benchmark that has sections."""
    add_run(parser, repeats, "timed rounds, after one that is not timed")
    add_only(parser, "section", sections)
    parser.add_argument("--scale", type=float, default=1.0, help=f"a share of the {counted}")
    add_page(parser, page)


def run_sections(
    asked: argparse.Namespace,
    writer: str,
    sections: Mapping[str, Callable[[B], Section]],
    bench: Callable[[SparkSession, Path, float], B],
    quick_scale: float,
) -> None:
    """Measure the sections that were asked for, then print them or put them on the page.

    `bench` makes what they measure of a session, a folder and a share of the rows, which is `quick_scale` in a quick
    run.
    """
    scale = quick_scale if asked.quick else asked.scale
    size = "full size" if scale == 1 else f"{scale:g} of full size"
    results = Results(asked.keep, Section)
    if not asked.report:
        _measure(asked, results, sections, lambda spark, folder: bench(spark, folder, scale), size)
    measured = {one.name: one for one in results}
    found = [measured[name] for name in asked.only if name in measured]
    summary = Section("summary", "Bars", bar_table([bar for one in found for bar in one.bars]))
    texts = {one.name: one.text(drawn=asked.write is not None) for one in found}
    if asked.write is None:
        show(page(summary.text(), *texts.values()), None)
        return
    for one in found:
        one.draw(asked.write.parent)
    if len(found) == len(sections):
        texts = {summary.name: summary.measured(found[-1].caption, "").text(), **texts}
    show(with_blocks(asked.write, writer, texts), asked.write)


def _measure(
    asked: argparse.Namespace,
    results: Results[Section],
    sections: Mapping[str, Callable[[B], Section]],
    bench: Callable[[SparkSession, Path], B],
    size: str,
) -> None:
    wanted = f"{size}, {asked.repeats} rounds"
    for held in results:
        if held.size != wanted:
            raise SystemExit(f"{asked.keep} holds figures of another size ({held.size}): use another file.")
    missing = [name for name in asked.only if name not in {held.name for held in results}]
    if not missing:
        return
    with session() as (spark, folder):
        ready = bench(spark, folder)
        for name in missing:
            say(f"{name} …")
            caption, began = machine("Spark local[2]", size), time.perf_counter()
            results.add(sections[name](ready).measured(caption, wanted))
            say(f"{name}: {time.perf_counter() - began:.0f} s")
