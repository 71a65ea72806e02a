"""Keys that are Columns, and rows of pandas and Arrow, wherever names and DataFrames are taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest

import trellis as tr
from trellis.errors import ArgumentError, BindingError, TrellisError, TrellisWarning
from trellis.spark.keys import key_texts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.connect

ROWS = [("x", 1, 9.0, None), ("x", 2, 7.0, 1), ("y", 3, 8.0, 2), ("Y", 4, 5.0, 3)]
NAMES = ["symbol", "my day", "price", "rank"]
PAIRS = tr.pattern("A B").measures(a="A.`my day`", b="B.`my day`").after_match("next row")


@pytest.fixture
def ticks(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(ROWS, "symbol string, `my day` int, price double, rank int")


def keys() -> list[tuple[Any, Any]]:
    """What is given as keys, and the text that means the same."""
    from pyspark.sql import functions as F

    return [
        (F.col("my day").desc(), "`my day` DESC"),
        ([F.col("rank").desc_nulls_first(), "price"], ["`rank` DESC NULLS FIRST", "price"]),
        (("symbol", F.col("price") * -1), "symbol, price * -1"),
        (F.expr("abs(price - 7)").desc(), "abs(price - 7) DESC"),
        (F.desc("price"), "`price` DESC"),
        ([F.col("rank").asc_nulls_last()], "`rank` ASC NULLS LAST"),
        (F.col("rank").asc_nulls_first(), "`rank`"),
        (F.length("symbol"), "length(symbol)"),
        ([F.when(F.col("symbol") == "y", 1).otherwise(2), "price"], "CASE WHEN symbol = 'y' THEN 1 ELSE 2 END, price"),
        (F.col("price").cast("int"), "CAST(price AS INT)"),
    ]


def test_columns_are_read_as_their_texts(ticks: DataFrame) -> None:
    for number, (given, text) in enumerate(keys()):
        try:
            read = key_texts(given, ticks)
        except ArgumentError as error:
            # Not all that PySpark shows of a Column is SQL: then it is refused, and never read as something else.
            assert "cannot be written as SQL" in error.problem and "CASE" in str(given), error
            continue
        if number > 3:
            assert PAIRS.query(order_by=read) == PAIRS.query(order_by=text)


def test_columns_order_as_their_texts(ticks: DataFrame) -> None:
    for given, text in keys()[:4]:
        found = PAIRS.match(ticks, order_by=given).collect()
        assert len(found) == 3 and found == PAIRS.match(ticks, order_by=text).collect()


def test_columns_of_the_frame_cut_it(ticks: DataFrame) -> None:
    from pyspark.sql import functions as F

    counts = tr.pattern("A+").measures(n="count(*)")
    found = counts.match(ticks, partition_by=F.lower("symbol"), order_by=[ticks["my day"], ticks.price.desc()])
    assert sorted(row.n for row in found.collect()) == [2, 2]
    found = ticks.transform(counts.match, partition_by=[ticks.symbol], order_by=F.col("price"))
    assert {(row.symbol, row.n) for row in found.collect()} == {("x", 2), ("y", 1), ("Y", 1)}
    assert "PARTITION BY `symbol`" in counts.explain(ticks, partition_by=F.col("symbol"), order_by="price")


def test_a_column_that_is_no_sql_is_refused(ticks: DataFrame) -> None:
    from pyspark.sql import functions as F

    for key in (F.rand(), F.col("symbol") == "x y"):
        try:
            PAIRS.match(ticks, order_by=key)
        except TrellisError as error:
            assert isinstance(error, ArgumentError) and "such as 'lower(name) DESC'" in str(error)
    with pytest.raises((ArgumentError, BindingError)):
        PAIRS.match(ticks, order_by=F.col("nope"))


def test_names_may_be_columns_elsewhere(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    events = spark.createDataFrame([("A", 1, "x"), ("B", 2, "x")], "kind string, at int, k string")
    text = "PATTERN SEQ(A a, B b) WITHIN 5 RETURN b.at AS at"
    named = {"type": F.col("kind"), "time": [F.col("at")]}
    assert tr.sase(text, events=events, **named).count() == 1
    assert tr.event_pattern("A a", "B b").within(5).match(events, **named).count() == 1
    found = tr.match_all(["PATTERN SEQ(A a, B b) WITHIN 5"], events, partition_by=F.col("k"), **named)
    assert [row.k for row in found.collect()] == ["x"]
    with pytest.raises(ArgumentError, match="is not the name of a column"):
        tr.sase(text, events=events, type=F.lower("kind"), time="at")


def test_a_text_without_a_frame(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    pattern = tr.pattern("A B")
    assert pattern.text(order_by=F.col("ts").desc()) == "ORDER BY ts DESC NULLS LAST\nPATTERN (A B)"
    assert pattern.query(order_by=F.col("ts")) == pattern.query(order_by="ts")
    with pytest.raises(ArgumentError, match="is no plain column"):
        pattern.text(order_by=F.lower("ts"))


# ---- rows of pandas and Arrow ----


def local_rows() -> list[Any]:
    table = pa.table({name: [row[number] for row in ROWS] for number, name in enumerate(NAMES)})
    chunked = pa.concat_tables([table.slice(0, 2), table.slice(2)])
    return [pd.DataFrame({name: [row[number] for row in ROWS] for number, name in enumerate(NAMES)}), table, chunked]


@pytest.mark.parametrize("number", range(3), ids=["pandas", "arrow", "arrow in chunks"])
def test_local_rows(ticks: DataFrame, number: int) -> None:
    rows = local_rows()[number]
    assert PAIRS.match(rows, order_by="`my day`").collect() == PAIRS.match(ticks, order_by="`my day`").collect()
    text = "SELECT * FROM {t} MATCH_RECOGNIZE (ORDER BY price MEASURES A.price AS p PATTERN (A))"
    assert tr.sql(text, t=rows).collect() == tr.sql(text, t=ticks).collect()
    assert tr.explain(text, t=rows).startswith("== Query ==")


def test_local_events(spark: SparkSession) -> None:
    events = pd.DataFrame({"type": ["A", "B"], "time": [1, 2]})
    text = "PATTERN SEQ(A a, B b) WITHIN 5"
    assert tr.sase(text, events=events).count() == 1
    assert tr.event_pattern("A a", "B b").within(5).match(pa.Table.from_pandas(events)).count() == 1
    assert tr.match_all([text], events, sample=events).count() == 1
    assert "SEQ" in tr.workload([text]).explain(events)
    assert [row.events for row in tr.progress(text, events=events).collect()] == [1, 1]


def test_without_a_session_none_is_started(monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> None:
    from pyspark.sql import SparkSession as Sessions

    monkeypatch.setattr(Sessions, "getActiveSession", staticmethod(lambda: None))
    with pytest.raises(
        ArgumentError, match="There is no Spark session that could read the first argument of match"
    ) as caught:
        PAIRS.match(local_rows()[0], order_by="price")
    assert "getOrCreate" in str(caught.value)


# ---- a large input on one core ----


def test_a_large_input_on_one_core_warns(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    large = spark.range(2**27).withColumn("k", F.col("id") % 5)  # 16 bytes a row by Spark's estimate
    pattern = tr.pattern("A B+").define(B="id > prev(id)").measures(id="A.id")
    with pytest.warns(
        TrellisWarning, match=r"has \d\.\d GB .* without PARTITION BY one core searches all of it"
    ) as caught:
        pattern.match(large, order_by="id")
    assert caught[0].filename == __file__
    with pytest.warns(TrellisWarning, match="without a test like"):
        tr.sase("PATTERN SEQ(A a, B b) WITHIN 5", events=large.selectExpr("'A' AS type", "id AS time"))
    pattern.match(large, partition_by="k", order_by="id")
    pattern.match(large, order_by="id", hints={"one_core": True})
    pattern.match(large, order_by="id", hints={"statistics": "off"})


def test_what_may_be_small_does_not_warn(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    large = spark.range(2**27)
    pattern = tr.pattern("A B+").define(B="id > prev(id)").measures(id="A.id")
    small = spark.createDataFrame([(1,), (2,)], "id int")
    joined = large.join(small.withColumnRenamed("id", "other"), F.expr("id = other"))
    for frame in (small, spark.range(1000), large.where("id < 10"), large.limit(10), joined):
        pattern.match(frame, order_by="id")
