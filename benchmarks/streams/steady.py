"""Streams that go on for long: when a match comes, what workers hold, and how often they are called."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import psutil
from pyspark.sql import DataFrame

import trellis as tr
from benchmarks.memory import held_now, workers_now
from benchmarks.pages import Bar, table
from benchmarks.sections import Section
from benchmarks.streams.feeds import FALLS_AND_RISES, Bench, Feed
from benchmarks.timing import Job, in_turns

__all__ = ["calls", "latency", "worker_memory"]

# The row that ends the rise belongs to the match, so that the match is decided with its last row.
_DECIDED = """SELECT * FROM {t} MATCH_RECOGNIZE (
    PARTITION BY k ORDER BY at MEASURES OVER.at AS stop
    PATTERN (A DOWN+ UP+ OVER) WITHIN INTERVAL '30' MINUTE
    DEFINE DOWN AS price < prev(price), UP AS price > prev(price), OVER AS price <= prev(price))"""


def latency(bench: Bench) -> Section:
    """For each match, the micro-batch in which its last row became complete, and that which gave it out."""
    feed = bench.feed(bench.size(100_000), bench.size(1_000), 50)
    found: list[tuple[int, int]] = []

    def keep(rows: DataFrame, batch: int) -> None:
        found.extend((batch, row[0]) for row in rows.selectExpr("unix_micros(stop)").collect())

    feed.clear()
    matches = tr.sql(_DECIDED, t=feed.stream())
    writer = matches.writeStream.foreachBatch(keep).trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(feed.folder / "checkpoint")).start()
    query.awaitTermination()
    passed = {progress["batchId"]: _micros(progress["eventTime"]["watermark"]) for progress in query.recentProgress}
    took = {progress["batchId"]: progress["durationMs"]["triggerExecution"] for progress in query.recentProgress}
    later = [batch - min(number for number, mark in passed.items() if mark > time) for batch, time in found]
    bar = Bar("matches given out in the micro-batch that completes them", "all", _share(later), not any(later))
    body = (
        f"{len(found):,} matches of {len(passed)} micro-batches. A row is complete once the watermark has passed it, "
        "and Spark moves the watermark between two micro-batches: the rows of one are complete in the next, which "
        f"follows at once, also without new rows. A micro-batch took {median(took.values()):,.0f} ms, at most "
        f"{max(took.values()):,}; that is how long a match took from its beginning.\n"
    )
    return Section("latency", "When a match comes", body, (bar,))


def worker_memory(bench: Bench) -> Section:
    """What Python workers hold, over a thousand micro-batches."""
    files = max(20, min(1_000, bench.size(1_000)))
    feed = bench.feed(50 * files, bench.size(1_000), files)
    feed.clear()
    matches = tr.sql(FALLS_AND_RISES, t=feed.stream())
    writer = matches.writeStream.format("parquet").option("path", str(feed.folder / "out"))
    query = writer.option("checkpointLocation", str(feed.folder / "checkpoint")).trigger(availableNow=True).start()
    held: dict[int, float] = {}
    while not query.awaitTermination(1):
        batch = query.lastProgress["batchId"] if query.lastProgress else 0
        with_rows = list(_held())
        if with_rows:
            held[batch] = max(with_rows) / 1e6
    # In the first tenth workers load what they need.
    settled = {batch: size for batch, size in held.items() if batch > files // 10} or held
    first, last = _ends(settled)
    rows = [(f"{batch:,}", f"{size:.0f}") for batch, size in _some(held)]
    bar = Bar(
        "memory of the largest worker: last tenth over second tenth",
        "≤ 1.1",
        f"{last / first:.2f}",
        last <= 1.1 * first,
    )
    body = f"{files:,} micro-batches.\n\n" + table(("micro-batch", "MB of the largest Python worker"), rows)
    return Section("worker_memory", "Memory of workers", body, (bar,))


def calls(bench: Bench) -> Section:
    """Buckets of keys, more and more of them, until nearly every key has a call of its own."""
    keys = bench.size(5_000)
    feed = bench.feed(bench.size(100_000), keys, 4)
    sizes = (4, 16, 64, 1_024, 16_384)
    jobs: dict[str, Job] = {f"{size:,}": partial(feed.run, FALLS_AND_RISES, {"buckets": size}) for size in sizes}
    rounds = in_turns(jobs, 1, warm_up=bench.scale < 1)
    rows = [(name, f"{rounds.median(name):.1f}", f"{_bytes(feed, rounds.results[name]):,.0f}") for name in jobs]
    head = ("buckets", "seconds", "KB of state written in a micro-batch")
    body = (
        f"{keys:,} keys, {bench.size(100_000):,} rows in four micro-batches, each of which touches nearly every key. "
        "With 16,384 buckets most keys are alone in theirs: that is one call for each key, as Spark's own form has "
        "it.\n\n"
    )
    return Section("calls", "Calls for buckets, not for keys", body + table(head, rows))


def _bytes(feed: Feed, query: Any) -> float:
    """The kilobytes that a micro-batch stores, on average."""
    stored = [
        row["bytes"] or 0
        for progress in query.recentProgress
        for name, row in progress["observedMetrics"].items()
        if name.startswith("trellis") and progress["numInputRows"] > 1
    ]
    return sum(stored) / max(1, len(stored)) / 1e3


def _micros(text: str) -> int:
    return int(np.datetime64(text.removesuffix("Z"), "us").astype(np.int64))


def _share(later: list[int]) -> str:
    return f"{sum(number == 0 for number in later):,} of {len(later):,}"


def _held() -> Iterator[int]:
    for worker in workers_now():
        try:
            yield held_now(worker.pid)
        except psutil.Error:
            continue  # it ended meanwhile


def _ends(held: dict[int, float]) -> tuple[float, float]:
    """The median of the first and of the last tenth."""
    sizes = [held[batch] for batch in sorted(held)]
    tenth = max(1, len(sizes) // 10)
    return median(sizes[:tenth]), median(sizes[-tenth:])


def _some(held: dict[int, float]) -> list[tuple[int, float]]:
    """Ten of the figures, evenly."""
    batches = sorted(held)
    return [(batch, held[batch]) for batch in batches[:: max(1, len(batches) // 10)]]
