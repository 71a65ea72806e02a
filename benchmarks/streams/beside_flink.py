"""The same queries over the same files, by Flink SQL and by Trellis, in turns."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import trellis as tr
from benchmarks.pages import Bar, table
from benchmarks.peers.flink import VERSION, Flink, MissingFlinkError, find_flink, install_flink, started
from benchmarks.sections import Section
from benchmarks.streams.crimes import COLUMNS, QUERIES, SCHEMA, write_crimes
from benchmarks.streams.feeds import Bench
from benchmarks.timing import Job, in_turns, say

__all__ = ["beside_flink"]

_TITLE = "Beside Flink"
_HEAD = ("query", "Flink, s", "Trellis, s", "Flink / Trellis", "matches of Flink", "of Trellis")


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
        both = _Both(bench, flink, folder)
        both.declare(reports)
        lines, bars = zip(*(_compared(both, name) for name in QUERIES), strict=True)
    body = f"Flink {VERSION}, {rows:,} reports in the order of time, matches into files.\n\n"
    return Section("beside_flink", _TITLE, body + table(_HEAD, lines), bars)


def _compared(both: _Both, name: str) -> tuple[tuple[str, ...], Bar]:
    """Its line in the table, and its bar, which is missed if the answers differ."""
    say(f"  {name}")
    text = QUERIES[name]
    jobs: dict[str, Job] = {"Flink": partial(both.by_flink, text), "Trellis": partial(both.by_trellis, text)}
    rounds = in_turns(jobs, both.bench.repeats)
    ratio = rounds.ratio("Flink", "Trellis")
    theirs, ours = both.found("flink"), both.found("trellis")
    same = theirs == ours
    note = "" if same else f"; {(theirs - ours).total():,} only of Flink, {(ours - theirs).total():,} only of Trellis"
    counts = f"{theirs.total():,}", f"{ours.total():,}{note}"
    line = (name, rounds.text("Flink"), rounds.text("Trellis"), str(ratio), *counts)
    return line, _bar(name, f"{ratio.value:.2f}{'' if same else ', other matches'}", same and ratio.value >= 1)


def _bar(name: str, measured: str, met: bool | None) -> Bar:
    return Bar(f"{name}: throughput over that of Flink", "≥ 1", measured, met)


@dataclass(frozen=True, slots=True)
class _Both:
    """Two engines, the files that they read, and those that they write."""

    bench: Bench
    flink: Flink
    folder: Path

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
        """The query as a stream of Spark; when all files are read, it ends."""
        folder, checkpoint = self._emptied("trellis"), self._emptied("checkpoint")
        rows = self.bench.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        found = tr.sql(text, t=rows.csv(str(self.folder / "in")).withWatermark("at", "10 seconds"))
        writer = found.writeStream.format("csv").option("path", str(folder))
        query = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
        query.awaitTermination()

    def found(self, engine: str) -> Counter[str]:
        """The matches that an engine has written, a line for each."""
        paths = [path for path in (self.folder / engine).glob("part-*") if path.is_file()]
        return Counter(line for path in paths for line in path.read_text().splitlines())

    def _emptied(self, name: str) -> Path:
        shutil.rmtree(self.folder / name, ignore_errors=True)
        return self.folder / name


def _files(path: Path) -> str:
    return f"'connector' = 'filesystem', 'path' = '{path.as_uri()}', 'format' = 'csv'"
