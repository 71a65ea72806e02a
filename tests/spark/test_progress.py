"""How far runs came, through Spark: counts, samples, budgets, errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import trellis
from some import some
from trellis.errors import BindingError, UnsupportedError
from trellis.spark.excerpt import excerpt_of

connect = pytest.mark.connect

STREAM = [
    ("Order", 1, 7, 10.0),
    ("Order", 2, 8, 20.0),
    ("Order", 2, 8, 20.0),
    ("Item", 3, 8, 5.0),
    ("Item", 4, 8, 6.0),
    ("Payment", 5, 7, 9.0),
    ("Payment", 6, 8, 19.0),
]


@pytest.fixture
def stream(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(STREAM, "type string, time int, id int, price double")


def counts(frame: DataFrame) -> list[tuple[Any, ...]]:
    return [(row.component, row.events) for row in frame.collect()]


def test_timed_out_matches_are_rows_but_no_matches(stream: DataFrame) -> None:
    explained = trellis.explain(
        """SELECT * FROM {stream} MATCH_RECOGNIZE (
            PARTITION BY id ORDER BY time MEASURES match_number() AS n ALL ROWS PER MATCH SHOW TIMEOUT MATCHES
            PATTERN (ORDERED OTHER*? FILLED) WITHIN 3 DEFINE ORDERED AS type = 'Order', FILLED AS type = 'Item')""",
        stream=stream,
        analyze=True,
    )
    # The order of 7 has no item, that of 8 has one in its third row.
    assert "matches                     1" in explained and "rows out                    4" in explained


@connect(thorough=True)
def test_each_stage_is_counted(stream: DataFrame, tmp_path: Path) -> None:
    text = """PATTERN SEQ(Order o, Item+ i[], ~(Payment q), Payment p)
        WHERE skip_till_any_match { [id] and i[i].price > i[i-1].price and p.price >= sum(i[].price) * :times
            and q.price > 0 }
        WITHIN 10 RETURN o.id OUTPUT NON_OVERLAP"""
    found = trellis.progress(text, events=stream, args={"times": 1})
    # Orders that are equal in all columns are two events.
    assert counts(found) == [("Order o", 3), ("Item+ i[]", 2), ("Payment p", 1), ("~(Payment q)", 1)]
    assert found.columns == ["component", "conditions", "events", "runs", "searched", "total"]
    # Each of the two orders with the first item, with the second, and with both.
    assert [row.runs for row in found.collect()] == [3, 6, 6, 6]
    assert {(row.searched, row.total) for row in found.collect()} == {(7, 7)}
    assert found.collect()[1].conditions == "[id] AND i[i].price > i[i-1].price"
    failing = trellis.progress(text, events=stream, args={"times": 100})
    assert counts(failing) == [("Order o", 3), ("Item+ i[]", 2), ("Payment p", 0), ("~(Payment q)", 0)]
    pytest.importorskip("vl_convert")
    picture = trellis.plot(failing).save(tmp_path / "p.svg").read_text("utf-8")
    assert ">no event<" in picture and ">Order o<" in picture


def test_what_cannot_be_counted_is_null(spark: SparkSession) -> None:
    many = spark.range(200).selectExpr("'A' AS type", "CAST(id AS int) AS time")
    text = "PATTERN SEQ(A a, A+ b[], B c) WHERE skip_till_any_match { }"
    found = trellis.progress(text, events=many.where("time < 40"))
    runs = 2**40 - 1 - 40  # after each event, the subsets of those that follow but the empty one
    assert [(row.events, row.runs) for row in found.collect()] == [(40, 40), (39, runs), (0, 0)]
    found = trellis.progress(text, events=many)
    assert [(row.events, row.runs) for row in found.collect()] == [(200, 200), (None, None), (0, 0)]
    found = trellis.progress(text, events=many, hints={"step_budget": 250})
    assert counts(found) == [("A a", 200), ("A+ b[]", None), ("B c", None)]


def test_a_pattern_in_python(stream: DataFrame) -> None:
    pattern = trellis.event_pattern("Order o", "Item i").same("id").where("i.price > 5")
    assert counts(pattern.progress(stream)) == [("Order o", 3), ("Item i", 1)]


@pytest.mark.parametrize(
    ("text", "searched"),
    some(
        [
            ("PATTERN SEQ(Order o) WHERE { [id] }", {2, 5}),  # one of the two partitions
            ("PATTERN SEQ(Order o)", {5}),
            ("PATTERN SEQ(Order o) WHERE strict_contiguity { [id] }", {5}),
        ]
    ),
)
def test_a_sample(stream: DataFrame, text: str, searched: set[int]) -> None:
    (row,) = trellis.progress(text, events=stream, max_events=5).collect()
    assert row.searched in searched and row.total == 7
    assert row.events == (1 if row.searched == 2 else 2 if "[id] }" in text and "strict" not in text else 3)


def test_excerpts(spark: SparkSession) -> None:
    frame = spark.range(1_000).selectExpr("id", "id % 100 AS k")
    whole = excerpt_of(frame, ["k"], ["id"], 1_000)
    assert (whole.rows, whole.total) == (1_000, 1_000) and whole.frame is frame
    some_keys = excerpt_of(frame, ["k"], ["id"], 305)
    assert 280 <= some_keys.rows <= 305 and some_keys.frame.count() == some_keys.rows
    assert {row["count"] for row in some_keys.frame.groupBy("k").count().collect()} == {10}
    # No partition is small enough: the first rows.
    first = excerpt_of(frame, ["k"], ["id % 10", "id"], 5)
    assert (first.rows, first.total) == (5, 1_000)
    assert [row["id"] for row in first.frame.collect()] == [0, 10, 20, 30, 40]


def test_errors(stream: DataFrame, spark: SparkSession) -> None:
    with pytest.raises(BindingError, match="price2"):
        trellis.progress("PATTERN SEQ(Order o, Item i) WHERE { i.price2 > 1 }", events=stream)
    with pytest.raises(BindingError, match="max_events"):
        trellis.progress("PATTERN SEQ(Order o)", events=stream, max_events=0)
    with pytest.raises(UnsupportedError, match="is a stream"):
        endless = spark.readStream.format("rate").load().selectExpr("timestamp AS time", "'A' AS type")
        trellis.progress("PATTERN SEQ(A a)", events=endless)
