"""Streams beside tables, the choice of buckets, and what is kept when keys go idle, section by section."""

from __future__ import annotations

from functools import partial

from pyspark.sql.streaming.query import StreamingQuery

import trellis as tr
from benchmarks.pages import Bar, table
from benchmarks.sections import Section
from benchmarks.sessions import noop
from benchmarks.streams.feeds import FALLS_AND_RISES, THREE_PRICES, Bench, Feed
from benchmarks.timing import Job, in_turns

__all__ = ["beside_tables", "idle_keys", "many_keys"]

_HEAD = (
    *("query", "table, s", "stream, s", "stream / table", "Spark's own count on the stream, s"),
    *("matches of the table", "of the stream"),
)


def beside_tables(bench: Bench) -> Section:
    """A thousand keys in large micro-batches, as availableNow has them, against the query on a table."""
    keys = bench.size(1_000)
    rows, bars = [], []
    for size, files in ((2_000_000, 2), (10_000_000, 5)):
        feed = bench.feed(bench.size(size), keys, files)
        for name, text in (("V shape", FALLS_AND_RISES), ("A Z* B Z* C", THREE_PRICES)):
            share, row, _ = _compared(bench, feed, f"{name}, {_rows(feed):,} rows", text)
            rows.append(row)
            what = f"{name}, {_rows(feed):,} rows: throughput over that of the table"
            bars.append(Bar(what, "≥ 1/4", f"{share:.2f}", share >= 1 / 4))
    body = (
        f"{keys:,} keys, micro-batches of up to two million rows, matches into files. A stream pays for its start and "
        "for each micro-batch, whatever that holds. That is nearly all that the second query takes, of whose rows few "
        "are searched: six of a hundred can be in a match.\n\n"
    )
    return Section("beside_tables", "Beside a table", body + table(_HEAD, rows), tuple(bars))


def many_keys(bench: Bench) -> Section:
    """Many keys in twenty micro-batches: each of them touches tens of thousands of keys."""
    keys = bench.size(100_000)
    feed = bench.feed(bench.size(1_000_000), keys, 20)
    share, row, query = _compared(bench, feed, "V shape", FALLS_AND_RISES)
    spent = [progress["durationMs"] for progress in query.recentProgress if progress["numInputRows"] > 1]
    planned = sum(one.get("queryPlanning", 0) + one.get("walCommit", 0) + one.get("commitOffsets", 0) for one in spent)
    body = (
        f"{_rows(feed):,} rows of {keys:,} keys in 20 micro-batches. "
        f"Of {sum(one['triggerExecution'] for one in spent):,} ms, "
        f"{sum(one['addBatch'] for one in spent):,} went into the micro-batches themselves, "
        f"{planned:,} into planning them and writing down that they were done.\n\n"
    )
    bar = Bar("V shape in 20 micro-batches: throughput over that of the table", "≥ 1/6", f"{share:.2f}", share >= 1 / 6)
    return Section("many_keys", "Many keys, many micro-batches", body + table(_HEAD, [row]), (bar,))


def idle_keys(bench: Bench) -> Section:
    """Of all keys, 99 of 100 are never seen again after the first hour of a day."""
    keys = bench.size(100_000)
    feed = bench.feed(bench.size(1_000_000), keys, 20, live=0.01)
    query = feed.run(FALLS_AND_RISES)
    kept = [
        (progress["eventTime"].get("watermark", ""), *_kept(progress))
        for progress in query.recentProgress
        if progress["numInputRows"] > 1
    ]
    last = kept[-1]
    live = round(keys * 0.01)
    what = f"open series at the end of the day, of {live:,} live keys"
    bar = Bar(what, f"≤ {live:,}", f"{last[1]:,}", last[1] <= live)
    rows = [(at, f"{series:,}", f"{held:,}", f"{size / 1e6:.2f}") for at, series, held, size in kept]
    head = ("watermark", "open series", "rows kept, with those ahead of the watermark", "MB stored")
    return Section("idle_keys", "Keys that go idle", table(head, rows), (bar,))


def _compared(bench: Bench, feed: Feed, name: str, text: str) -> tuple[float, tuple[str, ...], StreamingQuery]:
    """The throughput of a stream as a share of that of the table, and the row of both."""
    jobs: dict[str, Job] = {
        "table": lambda: noop(tr.sql(text, t=feed.table())),
        "stream": partial(feed.run, text),
        "count": feed.count,
    }
    rounds = in_turns(jobs, bench.repeats)
    ratio = rounds.ratio("stream", "table")
    matches = tr.sql(text, t=feed.table()).where("k >= 0").count()
    feed.run(text)
    row = (
        *(name, rounds.text("table"), rounds.text("stream"), str(ratio), rounds.text("count")),
        *(f"{matches:,}", f"{feed.found():,}"),
    )
    return 1 / ratio.value, row, rounds.results["stream"]


def _rows(feed: Feed) -> int:
    return feed.table().count() - 1


def _kept(progress: object) -> tuple[int, int, int]:
    observed = progress["observedMetrics"]  # type: ignore[index]
    (row,) = [row for name, row in observed.items() if name.startswith("trellis")]
    return int(row["keys"]), int(row["rows"]), int(row["bytes"])
