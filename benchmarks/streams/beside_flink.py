"""The same queries over the same files, by Flink SQL and by Trellis, in turns."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import trellis as tr
from benchmarks.pages import Bar, table
from benchmarks.peers.flink import VERSION, Flink, MissingFlinkError, find_flink, install_flink, started
from benchmarks.sections import Section
from benchmarks.streams.crimes import COLUMNS, QUERIES, SCHEMA, write_crimes
from benchmarks.streams.definition import Match, Report, by_definition, read_reports
from benchmarks.streams.feeds import Bench
from benchmarks.timing import Job, in_turns, say

__all__ = ["beside_flink"]

_TITLE = "Beside Flink"
_HEAD = ("query", "Flink, s", "Trellis, s", "Flink / Trellis", "matches", "right, of Flink", "right, of Trellis")


def beside_flink(bench: Bench) -> Section:
    """A million reports, searched by both; without Flink, it says so."""
    try:
        python = install_flink() if bench.install_flink else find_flink()
    except MissingFlinkError as missing:
        say(f"  skipped: {missing}")
        bars = tuple(_bar(name, "not measured", None) for name in QUERIES)
        return Section("beside_flink", _TITLE, f"Skipped. {missing}", bars)
    rows = bench.size(1_000_000)
    folder = bench.folder / "crimes"
    reports, _ = write_crimes(folder / "in", rows)
    with started(python, folder / "log") as flink:
        both = _Both(bench, flink, folder, read_reports(reports))
        both.declare(reports)
        lines, bars = zip(*(_compared(both, name) for name in QUERIES), strict=True)
    body = f"Flink {VERSION}, {rows:,} reports in the order of time, matches into files.\n\n"
    return Section("beside_flink", _TITLE, body + table(_HEAD, lines), bars)


def _compared(both: _Both, name: str) -> tuple[tuple[str, ...], Bar]:
    """Its line in the table, and its bar, which is missed if Trellis is not right."""
    say(f"  {name}")
    text = QUERIES[name]
    jobs: dict[str, Job] = {"Flink": partial(both.by_flink, text), "Trellis": partial(both.by_trellis, text)}
    rounds = in_turns(jobs, both.bench.repeats)
    ratio = rounds.ratio("Flink", "Trellis")
    wanted = Counter(by_definition(name, both.reports))
    theirs, ours = both.found("flink"), both.found("trellis")
    line = (name, rounds.text("Flink"), rounds.text("Trellis"), str(ratio), f"{wanted.total():,}")
    wrong = "" if ours == wanted else ", but wrong"
    bar = _bar(name, f"{ratio.value:.2f}{wrong}", not wrong and ratio.value >= 1)
    return (*line, _right(theirs, wanted), _right(ours, wanted)), bar


def _right(found: Counter[Match], wanted: Counter[Match]) -> str:
    """How many matches are right, and whether the others have the right first and last row."""
    if found == wanted:
        return "all"
    ends, wanted_ends = (Counter((match[0], match[-1]) for match in one.elements()) for one in (found, wanted))
    rest = "; all begin and end right" if ends == wanted_ends else f" of {found.total():,}"
    return f"{(found & wanted).total():,}{rest}"


def _bar(name: str, measured: str, met: bool | None) -> Bar:
    return Bar(f"{name}: throughput over that of Flink", "≥ 1", measured, met)


@dataclass(frozen=True, slots=True)
class _Both:
    """Two engines, the files that they read, and those that they write."""

    bench: Bench
    flink: Flink
    folder: Path
    reports: Sequence[Report]

    def declare(self, reports: Path) -> None:
        """Tell Flink what it reads: not the last file, as its input ends, and an end closes all windows."""
        columns = ", ".join(f"`{name}` {kind}" for name, kind in COLUMNS.items())
        late = "WATERMARK FOR `at` AS `at` - INTERVAL '10' SECOND"
        self.flink.run(f"CREATE TABLE reports ({columns}, {late}) WITH ({_files(reports)})")

    def by_flink(self, text: str) -> None:
        """The query as a job of Flink."""
        folder = self._emptied("flink")
        found = ", ".join(f"{name} INT" for name in text.partition(" FROM ")[0].removeprefix("SELECT ").split(", "))
        self.flink.run("DROP TABLE IF EXISTS found")
        self.flink.run(f"CREATE TABLE found ({found}) WITH ({_files(folder)})")
        self.flink.run(f"INSERT INTO found {text.format(t='reports')}")

    def by_trellis(self, text: str) -> None:
        """The query as a stream of Spark: a micro-batch of all rows, then one in which they are complete."""
        folder, checkpoint = self._emptied("trellis"), self._emptied("checkpoint")
        rows = self.bench.spark.readStream.schema(SCHEMA).csv(str(self.folder / "in"))
        found = tr.sql(text, t=rows.withWatermark("at", "10 seconds"))
        writer = found.writeStream.format("csv").option("path", str(folder))
        query = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
        query.awaitTermination()

    def found(self, engine: str) -> Counter[Match]:
        """The matches that an engine has written, a line for each."""
        paths = [path for path in (self.folder / engine).glob("part-*") if path.is_file()]
        lines = [line for path in paths for line in path.read_text().splitlines()]
        return Counter(tuple(int(number) for number in line.split(",")) for line in lines)

    def _emptied(self, name: str) -> Path:
        shutil.rmtree(self.folder / name, ignore_errors=True)
        return self.folder / name


def _files(path: Path) -> str:
    return f"'connector' = 'filesystem', 'path' = '{path.as_uri()}', 'format' = 'csv'"
