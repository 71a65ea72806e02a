"""Patterns on streams, through Spark: files in, checkpoints, restarts, timers, late rows."""

from __future__ import annotations

import json
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

import trellis
from some import some
from trellis.errors import BindingError, UnsupportedError

pytestmark = pytest.mark.streaming

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_BEGIN = datetime(2024, 5, 1, 12, tzinfo=timezone.utc)

DIPS = """SELECT * FROM {t} MATCH_RECOGNIZE (
    PARTITION BY k ORDER BY at
    MEASURES A.at AS first, last(UP.at) AS last, min(DOWN.x) AS low
    PATTERN (A DOWN+ UP+)
    WITHIN INTERVAL '1' MINUTE
    DEFINE DOWN AS x < prev(x), UP AS x > prev(x))"""

Event = tuple[int, int, float]


class Feed:
    """A folder that a stream reads, one file for each micro-batch."""

    def __init__(self, spark: SparkSession, folder: Path, *, made: bool = False) -> None:
        self.spark, self.folder, self.files = spark, folder, 0
        if not made:
            (folder / "in").mkdir()

    def stream(self, delay: str = "10 seconds") -> DataFrame:
        reader = self.spark.readStream.schema("k int, at timestamp, x double").option("maxFilesPerTrigger", 1)
        return reader.json(str(self.folder / "in")).withWatermark("at", delay)

    def start(self, found: DataFrame) -> StreamingQuery:
        writer = found.writeStream.format("json").option("path", str(self.folder / "out"))
        return writer.option("checkpointLocation", str(self.folder / "checkpoint")).start()

    def give(self, *events: Event) -> None:
        """A file of events: key, second, value."""
        lines = [
            json.dumps({"k": k, "at": (_BEGIN + timedelta(seconds=second)).isoformat(), "x": x})
            for k, second, x in events
        ]
        hidden = self.folder / "in" / f".{self.files:03d}"
        hidden.write_text("\n".join(lines))
        hidden.rename(self.folder / "in" / f"{self.files:03d}.json")
        self.files += 1

    def found(self) -> list[dict[str, Any]]:
        """The rows of the sink."""
        rows = self.spark.read.json(str(self.folder / "out")).collect()
        return [row.asDict() for row in rows]


@pytest.fixture
def feed(rocks: SparkSession, tmp_path: Path) -> Feed:
    return Feed(rocks, tmp_path)


def seconds(found: list[dict[str, Any]], *names: str) -> list[tuple[int, ...]]:
    def of(text: str) -> int:
        return round((datetime.fromisoformat(text) - _BEGIN).total_seconds())

    return sorted(tuple(of(row[name]) for name in names) for row in found)


def test_matches_come_when_they_are_decided(feed: Feed) -> None:
    """A match that may grow waits for the next row, or for its window to close, whichever comes first."""
    query = feed.start(trellis.sql(DIPS, t=feed.stream()))
    try:
        feed.give((1, 0, 9.0), (1, 5, 7.0), (1, 10, 8.0), (2, 12, 3.0), (2, 14, 2.0), (2, 16, 4.0))
        query.processAllAvailable()
        feed.give((1, 20, 5.0), (3, 40, 1.0))  # the match of key 1 has ended; that of key 2 may go on
        query.processAllAvailable()
        assert seconds(feed.found(), "first", "last") == [(0, 10)]
        feed.give((3, 83, 1.0))  # at 73 the window of key 2 has closed, though it has no further row
        query.processAllAvailable()
        assert seconds(feed.found(), "first", "last") == [(0, 10), (12, 16)]
        progress = trellis.stream_progress(query)
        assert (progress.matches, progress.late) == (2, 0)
        for second in (4000, 8000):
            feed.give((3, second, 1.0))
            query.processAllAvailable()
        assert trellis.stream_progress(query).rows == 2  # of key 3: one that is undecided, one ahead of the watermark
    finally:
        query.stop()


def test_timed_out_matches_come_when_their_window_has_closed(feed: Feed) -> None:
    """Even if their key is never seen again. They are not counted as matches."""
    paid = """SELECT * FROM {t} MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY at MEASURES MATCH_NUMBER() AS n, ORDERED.at AS first, last(at) AS last
        ONE ROW PER MATCH SHOW TIMEOUT MATCHES PATTERN (ORDERED OTHER*? PAID) WITHIN INTERVAL '1' MINUTE
        DEFINE ORDERED AS x = 1, PAID AS x = 9)"""
    query = feed.start(trellis.sql(paid, t=feed.stream()))
    try:
        feed.give((1, 0, 1.0), (1, 30, 9.0), (2, 5, 1.0), (2, 20, 0.0), (3, 50, 0.0))
        query.processAllAvailable()
        feed.give((3, 75, 0.0))  # the watermark is at 65, and a row of 65 may come
        query.processAllAvailable()
        assert seconds(feed.found(), "first", "last") == [(0, 30)]
        feed.give((3, 76, 0.0))
        query.processAllAvailable()
        assert seconds(feed.found(), "first", "last") == [(0, 30), (5, 20)]
        assert sorted((row["k"], row.get("n")) for row in feed.found()) == [(1, 1), (2, None)]
        assert trellis.stream_progress(query).matches == 1
    finally:
        query.stop()


def test_a_restart_goes_on(feed: Feed) -> None:
    """Stopped and started between any two micro-batches, a query loses nothing and gives nothing twice."""
    events = [(k, second, float((second * 7 + k * 3) % 11)) for second in range(0, 60, 3) for k in (1, 2, 3)]
    batches = [events[begin : begin + 13] for begin in range(0, len(events), 13)]
    for batch in (*batches, [(9, 4000, 0.0)]):
        feed.give(*batch)
        query = feed.start(trellis.sql(DIPS, t=feed.stream()))
        query.processAllAvailable()
        query.stop()
    table = feed.spark.read.schema("k int, at timestamp, x double").json(str(feed.folder / "in"))
    expected = [row for row in trellis.sql(DIPS, t=table).collect() if row.k != 9]
    actual = feed.spark.read.schema("k int, first timestamp, last timestamp, low double").json(str(feed.folder / "out"))
    assert sorted(map(repr, actual.collect())) == sorted(map(repr, expected))
    assert len(expected) >= 5


def test_another_query_is_refused_and_other_measures_are_not(feed: Feed) -> None:
    feed.give((1, 0, 9.0), (1, 5, 7.0))
    query = feed.start(trellis.sql(DIPS, t=feed.stream()))
    query.processAllAvailable()
    query.stop()
    feed.give((1, 10, 8.0), (1, 12, 1.0), (1, 600, 2.0))
    with pytest.raises(StreamingQueryException, match="belongs to another query"):
        changed = feed.start(trellis.sql(DIPS.replace("'1' MINUTE", "'2' MINUTE"), t=feed.stream()))
        changed.processAllAvailable()
    more = feed.start(trellis.sql(DIPS.replace("min(DOWN.x) AS low", "max(UP.x) AS high, A.x AS x"), t=feed.stream()))
    more.processAllAvailable()
    more.stop()
    assert [(row["high"], row["x"]) for row in feed.found()] == [(8.0, 9.0)]


@pytest.mark.parametrize("late", some(["column", "drop", "error"]))
def test_late_rows(feed: Feed, late: str) -> None:
    query = feed.start(trellis.sql(DIPS, t=feed.stream(), hints={"late": late}))
    feed.give((1, 0, 9.0), (1, 30, 7.0), (1, 35, 8.0))
    query.processAllAvailable()
    feed.give((1, 24, 0.0), (1, 25, 8.5))  # the watermark stands at 25: the second row is on time
    if late == "error":
        with pytest.raises(StreamingQueryException, match="1 s behind the watermark"):
            query.processAllAvailable()
        return
    query.processAllAvailable()
    feed.give((2, 4000, 0.0))
    query.processAllAvailable()
    assert trellis.stream_progress(query).late == 1
    query.stop()
    found = feed.found()
    assert [(row["k"], row["low"]) for row in found if row.get("k")] == [(1, 7.0)]
    if late == "column":
        (row,) = [row["late"] for row in found if row.get("late")]
        assert (row.k, row.x) == (1, 0.0)


@pytest.mark.thorough  # docs/streaming.md has one, too
def test_a_pattern_in_python(feed: Feed) -> None:
    """Match numbers are counted for as long as the stream goes on."""
    pairs = trellis.pattern("A B").define(B="x > A.x").measures(n="match_number()", a="A.x").within("1 hour")
    query = feed.start(feed.stream().transform(pairs.match, partition_by="k", order_by="at"))
    for second in (0, 300, 9000):
        feed.give((1, second, 1.0), (1, second + 1, 2.0))
        query.processAllAvailable()
    feed.give((2, 20000, 0.0))
    query.processAllAvailable()
    query.stop()
    assert sorted(row["n"] for row in feed.found()) == [1, 2, 3]


def test_an_absence_is_known_when_the_window_closes(feed: Feed) -> None:
    """Orders without a payment, also of customers of whom nothing is heard any more."""
    text = """PATTERN SEQ(Order o, ~(Payment p))
        WHERE skip_till_next_match { [k] }
        WITHIN 10 minutes
        RETURN o.k AS unpaid"""
    events = feed.stream().selectExpr("IF(x = 1, 'Order', 'Payment') AS type", "at AS time", "k")
    query = feed.start(trellis.sase(text, events=events))
    feed.give((1, 0, 1.0), (2, 5, 1.0), (2, 60, 2.0), (3, 90, 1.0))
    query.processAllAvailable()
    feed.give((4, 620, 1.0))  # the window of the first order has closed, that of the third has not
    query.processAllAvailable()
    assert [row["unpaid"] for row in feed.found()] == [1]
    feed.give((4, 4000, 2.0))
    query.processAllAvailable()
    query.stop()
    assert sorted(row["unpaid"] for row in feed.found()) == [1, 3, 4]


@pytest.mark.thorough
def test_what_times_out_is_known_when_the_window_closes(feed: Feed) -> None:
    """Once for each order, also of customers of whom nothing is heard any more."""
    text = """PATTERN SEQ(Order o, Payment p)
        WHERE skip_till_next_match { [k] }
        WITHIN 10 minutes
        RETURN o.k AS k, p.time AS paid, MATCH_NUMBER() AS n
        SHOW TIMEOUT MATCHES"""
    events = feed.stream().selectExpr("IF(x = 1, 'Order', 'Payment') AS type", "at AS time", "k")
    query = feed.start(trellis.sase(text, events=events))
    feed.give((1, 0, 1.0), (2, 5, 1.0), (2, 60, 2.0), (3, 90, 1.0))
    query.processAllAvailable()
    feed.give((4, 620, 1.0))
    query.processAllAvailable()
    assert sorted((row["k"], row.get("n")) for row in feed.found()) == [(1, None), (2, 1)]
    feed.give((4, 4000, 2.0))
    query.processAllAvailable()
    query.stop()
    late = sorted(row["k"] for row in feed.found() if row.get("paid") is None)
    assert late == [1, 3, 4] and len(feed.found()) == 4


def test_sequences_and_segments(feed: Feed) -> None:
    """SQL-TS and segments run on streams as on tables."""
    sequence = "SELECT X.k, X.at AS first, Y.at AS last FROM {t} CLUSTER BY k SEQUENCE BY at AS (X, Y) WHERE Y.x < X.x"
    fall = (
        trellis.pattern("FALL")
        .define_segments(FALL="window(at, 1, 30, SECOND) AND last(x) - first(x) <= -4")
        .measures(first="first(FALL.at)", last="last(FALL.at)")
        .after_match("past last row")
    )
    queries = {
        "sequence": trellis.sqlts(sequence, t=feed.stream()),
        "segments": feed.stream().transform(fall.match, partition_by="k", order_by="at"),
    }
    feeds = {name: Feed(feed.spark, feed.folder / name, made=True) for name in queries}
    started = {name: feeds[name].start(found) for name, found in queries.items()}
    for batch in (((1, 0, 9.0), (1, 10, 7.0)), ((1, 20, 4.0), (2, 30, 1.0)), ((2, 4000, 1.0),)):
        feed.give(*batch)
        for query in started.values():
            query.processAllAvailable()
    for query in started.values():
        query.stop()
    assert seconds(feeds["sequence"].found(), "first", "last") == [(0, 10)]
    assert seconds(feeds["segments"].found(), "first", "last") == [(0, 20)]


WITHOUT_WITHIN = DIPS.replace("WITHIN INTERVAL '1' MINUTE", "")


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        (WITHOUT_WITHIN, UnsupportedError, "Add WITHIN"),
        (DIPS.replace("BY at", "BY x").replace("INTERVAL '1' MINUTE", "5"), BindingError, "ORDER BY at first"),
        (DIPS.replace("ORDER BY at", "ORDER BY at DESC"), BindingError, "backwards"),
        (DIPS.replace("UP+)", "UP+ $)"), UnsupportedError, "no last row"),
        (DIPS.replace("min(DOWN.x)", "bit_or(int(DOWN.x))"), UnsupportedError, "group the rows"),
    ],
)
def test_what_is_refused(feed: Feed, text: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        trellis.sql(text, t=feed.stream())


def test_a_session_without_timers_and_a_stream_without_a_watermark(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    spark.conf.unset(_PROVIDER)
    rows = spark.readStream.schema("k int, at timestamp, x double").json(str(tmp_path / "in"))
    with pytest.raises(BindingError, match="withWatermark"):
        trellis.sql(DIPS, t=rows)
    with pytest.raises(UnsupportedError, match=_PROVIDER):
        trellis.sql(DIPS, t=rows.withWatermark("at", "1 second"))


def test_spark_without_its_messages(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pyspark.sql.streaming.proto.StateMessage_pb2", raising=False)
    monkeypatch.setitem(sys.modules, "google.protobuf", None)
    with pytest.raises(UnsupportedError, match=r"google\.protobuf") as caught:
        trellis.sql(DIPS, t=feed.stream())
    assert "pip install 'protobuf" in str(caught.value)


def test_explain(feed: Feed) -> None:
    text = trellis.explain(DIPS, t=feed.stream())
    assert "of a key that is never seen again, nothing is kept" in text
    falling = DIPS.replace("PATTERN (A DOWN+", "PATTERN (DOWN+").replace("A.at", "first(at)")
    kept = trellis.explain(falling.replace("MEASURES", "MEASURES match_number() AS n,"), t=feed.stream())
    assert "the number of its last match and its last row (PREV) is kept" in kept
    assert "once the watermark of `at` has passed them" in text
    with pytest.raises(UnsupportedError, match="never ends"):
        trellis.explain(DIPS, t=feed.stream(), analyze=True)


def test_unbounded_if_insisted(feed: Feed) -> None:
    trellis.sql(WITHOUT_WITHIN, t=feed.stream(), hints={"allow_unbounded": True})
