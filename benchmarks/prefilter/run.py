"""The queries of the paper on row pattern joins, on a real sample of crimes and on a generated table.

python -m benchmarks prefilter --data FOLDER --work FOLDER --keep figures.jsonl     everything
python -m benchmarks prefilter --report --keep figures.jsonl --write docs/benchmarks/prefilter.md

With `--only speed --instances 2 --scale 0.1` it is a look at a part of it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.data import data_folder
from benchmarks.options import add_data, add_only, add_page, add_run
from benchmarks.pages import machine
from benchmarks.prefilter.cores import cores
from benchmarks.prefilter.data import (
    BOUND,
    FULL_ROWS,
    QUICK_ROWS,
    SEED,
    Choices,
    add_work,
    choices_of,
    generate,
    rows_of,
    sample_path,
    work_folder,
)
from benchmarks.prefilter.page import show_page
from benchmarks.prefilter.records import Keep, Record
from benchmarks.prefilter.runner import Runner
from benchmarks.prefilter.sections import SECTIONS
from benchmarks.sessions import session
from benchmarks.timing import say

__all__ = ["add_options", "run"]

_TABLES = ("real", "generated")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    add_run(parser, 3, "runs of each case of the section `cores`")
    add_data(parser)
    add_work(parser)
    add_only(parser, "section", ("cores", *SECTIONS))
    add_only(parser, "table", _TABLES, "--tables", default="those of each section")
    parser.add_argument("--instances", type=int, help="of each query; by default as many as the section has")
    parser.add_argument("--rows", type=int, default=FULL_ROWS, help="of the generated table")
    parser.add_argument("--scale", type=float, default=1.0, help="a share of these rows")
    parser.add_argument("--seed", type=int, default=SEED, help="of the generated table")
    parser.add_argument("--bound", type=float, default=BOUND, help="the least share of reports that a type has")
    add_page(parser, "docs/benchmarks/prefilter.md")


def run(asked: argparse.Namespace) -> None:
    """Measure, then print or write the page."""
    keep = Keep(asked.keep)
    if not asked.report:
        with data_folder(asked, ("crimes",)) as folder, work_folder(asked) as work:
            _measure(asked, sample_path(folder), work, keep)
    show_page(keep, asked.write)


def _measure(asked: argparse.Namespace, sample: Path, work: Path, keep: Keep) -> None:
    choices = choices_of(sample, asked.bound)
    rows = QUICK_ROWS if asked.quick else round(asked.rows * asked.scale)
    paths = {"real": sample}
    if "generated" in (asked.tables or _TABLES):
        say("making the generated table, if it is not there …")
        paths["generated"] = generate(sample, work, rows, asked.seed)
    size = "full size" if rows == FULL_ROWS else f"{rows:,} rows"
    facts: dict[str, object] = {"text": machine("Spark local[2]", size), "sections": list(asked.only)}
    keep.add(Record("about", "", "machine", "", facts=facts))
    for name, path in paths.items():
        _describe(keep, name, path, choices)
    if "cores" in asked.only:
        # Before this process has a Spark of its own.
        for name in asked.tables or ["generated"]:
            cores(keep, paths[name], name, asked.repeats)
    names = [name for name in asked.only if name != "cores"]
    if not names:
        return
    with session() as (spark, _):
        real = spark.read.parquet(str(sample))
        runners = {table: Runner(path, table, keep, choices, real) for table, path in paths.items()}
        for name in names:
            section = SECTIONS[name]
            for table in asked.tables or section.tables:
                section.run(runners[table], 1 if asked.quick else asked.instances or section.instances)


def _describe(keep: Keep, name: str, path: Path, choices: Choices) -> None:
    facts: dict[str, object] = {
        "rows": rows_of(path),
        "types": list(choices.types),
        "districts": len(choices.districts),
        "bound": choices.bound,
    }
    for record in keep:
        if record.key == ("about", name, "table", "") and record.facts != facts:
            raise keep.other(f"table {name!r}")
    keep.add(Record("about", name, "table", "", facts=facts))
