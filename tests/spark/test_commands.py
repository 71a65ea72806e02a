"""What a statement says around its clauses, on Spark: aliases, views, tables, DataFrames, registered functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

import trellis
from some import some
from trellis.errors import BindingError, UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.connect(thorough=True)]

_PRICES = [("x", 1, 10), ("x", 2, 8), ("x", 3, 9), ("y", 1, 5), ("y", 2, 6)]
_RISES = "MEASURES A.day AS a, UP.day AS b PATTERN (A UP) DEFINE UP AS price > prev(price)"
_FOUND = [("x", 2, 3), ("y", 1, 2)]


@pytest.fixture(scope="module")
def prices(spark: SparkSession) -> Iterator[DataFrame]:
    frame = spark.createDataFrame(_PRICES, "sym string, day int, price int")
    frame.createOrReplaceTempView("text_prices")
    yield frame
    spark.catalog.dropTempView("text_prices")


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.collect())


# ---- names of inputs ----


@pytest.mark.parametrize(
    ("relation", "name"),
    [
        ("text_prices", "text_prices"),
        ("text_prices AS t", "t"),
        ("text_prices t", "T"),
        ("{prices} AS t", "t"),
        ("(SELECT * FROM {prices}) AS t", "t"),
        ("(SELECT * FROM {prices}) AS t (sym, day, price)", "t"),
        ("spark_catalog.default.text_kept", "default.text_kept"),
        ("default.text_kept", "text_kept"),
    ],
)
def test_keys_may_name_the_input(spark: SparkSession, prices: DataFrame, relation: str, name: str) -> None:
    frames = {"prices": prices} if "{" in relation else {}
    text = f"SELECT * FROM {relation} MATCH_RECOGNIZE (PARTITION BY {name}.sym ORDER BY {name}.day {_RISES})"
    if "text_kept" not in relation:
        assert rows(trellis.sql(text, spark=spark, **frames)) == _FOUND
        return
    spark.sql("CREATE TABLE text_kept USING parquet AS SELECT * FROM text_prices")
    try:
        assert rows(trellis.sql(text, spark=spark)) == _FOUND
    finally:
        spark.sql("DROP TABLE text_kept")


# ---- views and tables ----

_QUERY = f"SELECT * FROM {{prices}} MATCH_RECOGNIZE (PARTITION BY sym ORDER BY day {_RISES})"


@pytest.mark.connect
def test_a_temporary_view_can_be_read(spark: SparkSession, prices: DataFrame) -> None:
    try:
        created = trellis.sql(f"CREATE TEMP VIEW text_view AS {_QUERY}", prices=prices)
        assert created.columns == []
        assert rows(spark.table("text_view")) == _FOUND
        with pytest.raises(BindingError, match="already exists"):
            trellis.sql(f"CREATE TEMP VIEW text_view AS {_QUERY}", prices=prices)
        trellis.sql(f"CREATE OR REPLACE TEMP VIEW text_view (s, first, last) AS {_QUERY};", prices=prices)
        assert spark.table("text_view").columns == ["s", "first", "last"]
        assert rows(spark.sql("SELECT * FROM text_view")) == _FOUND
    finally:
        spark.catalog.dropTempView("text_view")


@pytest.mark.connect
def test_the_rows_can_go_into_a_table(spark: SparkSession, prices: DataFrame) -> None:
    try:
        trellis.sql(f"CREATE TABLE text_table USING parquet AS {_QUERY}", prices=prices)
        assert rows(spark.table("text_table")) == _FOUND
        trellis.sql(f"INSERT INTO text_table {_QUERY}", prices=prices)
        assert rows(spark.table("text_table")) == sorted(2 * _FOUND)
        trellis.sql(f"WITH found AS ({_QUERY}) INSERT OVERWRITE text_table SELECT * FROM found", prices=prices)
        assert rows(spark.table("text_table")) == _FOUND
    finally:
        spark.sql("DROP TABLE IF EXISTS text_table")


@pytest.mark.connect
def test_explaining_runs_nothing(spark: SparkSession, prices: DataFrame) -> None:
    text = f"CREATE TABLE text_explained USING parquet AS {_QUERY}"
    assert "== Plan ==" in trellis.explain(text, prices=prices)
    assert not spark.catalog.tableExists("text_explained")
    with pytest.raises(UnsupportedError, match="analyze"):
        trellis.explain(text, prices=prices, analyze=True)
    assert not spark.catalog.tableExists("text_explained")
    assert "no MATCH_RECOGNIZE" in trellis.explain("DROP VIEW text_prices", spark=spark)
    assert rows(spark.table("text_prices")) == sorted(_PRICES)


# ---- DataFrames ----


@pytest.mark.connect
def test_a_dataframe_without_its_braces(spark: SparkSession, prices: DataFrame) -> None:
    """With or without a table of that name: the DataFrame that was passed is not what the text reads."""
    for name in ("ticks", "text_prices"):
        text = f"SELECT * FROM {name} MATCH_RECOGNIZE (ORDER BY day {_RISES})"
        with pytest.raises(BindingError) as caught:
            trellis.sql(text, **{name: prices})
        error = caught.value
        assert f"{{{name}}}" in (error.cure or "")
        assert error.span is not None
        assert text[error.span.start : error.span.end] == name


def test_a_dataframe_that_nobody_mentions(prices: DataFrame) -> None:
    with pytest.raises(BindingError, match="tick is not used") as caught:
        trellis.sql(f"SELECT * FROM {{ticks}} MATCH_RECOGNIZE (ORDER BY day {_RISES})", tick=prices)
    assert "ticks" in (caught.value.cure or "")
    for text in ("SELECT 1", f"SELECT * FROM {{prices}} MATCH_RECOGNIZE (ORDER BY day {_RISES}) -- {{tick}}"):
        with pytest.raises(BindingError, match="tick is not used") as caught:
            trellis.sql(text, tick=prices, **({"prices": prices} if "prices" in text else {}))
        assert "{tick}" in (caught.value.cure or "")


# ---- registered functions ----


@pytest.fixture(scope="module")
def registered(spark: SparkSession) -> None:
    """Functions that fail for NULL, as Python does."""
    spark.udf.register("text_twice", lambda value: value * 2, "int")
    spark.udf.register("text_gap", lambda one, other: abs(one - other), "int")


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(
    ("clause", "found"),
    [
        # Functions of two rows: 10 8 9 | 5 6.
        ("PATTERN (A B) DEFINE B AS text_twice(A.price - B.price) > 3", [("x", 1, 2)]),
        ("PATTERN (A B) DEFINE B AS text_gap(A.price, B.price) = 1", [("x", 2, 3), ("y", 1, 2)]),
        ("PATTERN (A B) DEFINE B AS coalesce(text_gap(A.price, B.price), 0) = 1", [("x", 2, 3), ("y", 1, 2)]),
        # A may have no row: the function is NULL then.
        (
            "PATTERN (A? B $) DEFINE A AS price > 9, B AS text_gap(A.price, price) IS NULL",
            [("x", None, 3), ("y", None, 2)],
        ),
        # Functions of one other row, which the first row does not have.
        ("PATTERN (A B) DEFINE B AS text_twice(PREV(price)) > 17", [("x", 1, 2)]),
        ("PATTERN (A B) DEFINE A AS text_twice(PREV(price)) IS NULL", [("x", 1, 2), ("y", 1, 2)]),
        # What the query itself puts in the place of a missing value is a value.
        ("PATTERN (A B) DEFINE A AS text_twice(coalesce(PREV(price), 7)) = 14", [("x", 1, 2), ("y", 1, 2)]),
        ("PATTERN (A B) DEFINE A AS PREV(text_twice(price)) = 20", [("x", 2, 3)]),
    ],
)
@pytest.mark.parametrize("off", some([[], ["hoist_slots"], ["eliminate_rows"]]))
def test_registered_functions_see_values_of_rows_only(
    prices: DataFrame, clause: str, found: list[tuple[Any, ...]], off: list[str]
) -> None:
    text = (
        f"SELECT * FROM {{p}} MATCH_RECOGNIZE (PARTITION BY sym ORDER BY day MEASURES A.day AS a, B.day AS b {clause})"
    )
    assert rows(trellis.sql(text, p=prices, hints={"off": off})) == found


@pytest.mark.connect
@pytest.mark.usefixtures("registered")
def test_registered_functions_inside_navigation_see_values_of_rows_only(prices: DataFrame) -> None:
    text = """SELECT * FROM {p} MATCH_RECOGNIZE (PARTITION BY sym ORDER BY day
        MEASURES PREV(text_twice(price)) AS before, LAST(text_twice(B.price)) AS b, NEXT(text_twice(price) + 1) AS after
        PATTERN (A B?) DEFINE A AS day = 1, B AS price < 7)"""
    assert rows(trellis.sql(text, p=prices)) == [("x", None, None, 17), ("y", 10, 12, None)]
