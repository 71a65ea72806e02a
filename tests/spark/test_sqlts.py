"""SQL-TS through Spark: joins, intervals, queries in queries, explain, the command line, Connect."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import trellis
from sqlts_examples import EXAMPLES
from trellis.cli.command import main
from trellis.errors import BindingError, QuerySyntaxError, UnsupportedError

connect = pytest.mark.connect
BEGIN = datetime(2004, 6, 1, 12)


def at(minute: float) -> datetime:
    return BEGIN + timedelta(minutes=minute)


@pytest.fixture
def quotes(spark: SparkSession) -> DataFrame:
    prices = {"IBM": [80.0, 100.0, 90.0, 60.0, 45.0, 50.0, 30.0, 40.0], "INTC": [9.0, 8.0]}
    rows = [(name, day, price) for name, listed in prices.items() for day, price in enumerate(listed)]
    return spark.createDataFrame(rows, "name string, date int, price double")


@pytest.fixture
def bids(spark: SparkSession) -> DataFrame:
    amounts = {1: [100.0, 101.0, 101.5, 102.0], 2: [5.0, 50.0, 51.0, 51.0], 3: [7.0, 7.0, 7.0, 7.0]}
    rows = [
        (auction, at(minute), amount) for auction, listed in amounts.items() for minute, amount in enumerate(listed)
    ]
    return spark.createDataFrame(rows, "auctn_id int, time timestamp, amount double")


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.collect())


@connect
def test_a_star(quotes: DataFrame) -> None:
    assert rows(trellis.sqlts(EXAMPLES["2.4"], quote=quotes)) == [("IBM", 1, 4)]


@connect
def test_bids_before_the_deadline(spark: SparkSession, bids: DataFrame) -> None:
    """Example 2.3: an auction without a bid, a bid without an auction, and the same row of a table twice."""
    listed = [(1, at(30)), (1, at(59)), (1, at(10)), (1, at(59)), (2, at(59)), (4, at(59)), (None, at(59))]
    auctions = spark.createDataFrame(listed, "auctn_id int, deadline timestamp")
    found = trellis.sqlts(
        """
        SELECT T.auctn_id, T.time, T.amount, A.deadline
        FROM {auctions} AS A, {bids} CLUSTER BY auctn_id SEQUENCE BY time AS (X, Y, Z, T)
        WHERE A.auctn_id = T.auctn_id AND T.time + 15 Minute < A.deadline
          AND Y.amount < 1.02 * X.amount AND Y.amount > .98 * Z.amount AND T.amount < 1.02 * Z.amount
        """,
        auctions=auctions,
        bids=bids,
    )
    assert rows(found) == [(1, at(3), 102.0, at(30)), (1, at(3), 102.0, at(59)), (1, at(3), 102.0, at(59))]


@pytest.mark.thorough
def test_tables_that_share_no_key_go_with_every_cluster(spark: SparkSession, bids: DataFrame) -> None:
    limits = spark.createDataFrame([("low", 6.0), ("high", 100.5)], "kind string, amount double")
    tags = spark.createDataFrame([(1,), (2,)], "tag int")
    found = trellis.sqlts(
        """
        SELECT L.kind, tags.tag, X.auctn_id, X.time
        FROM {limits} L, {bids} CLUSTER BY auctn_id SEQUENCE BY time AS (X, Y), {tags}
        WHERE X.amount < L.amount AND Y.amount > L.amount AND tags.tag > 1
        """,
        limits=limits,
        bids=bids,
        tags=tags,
    )
    assert rows(found) == [("high", 2, 1, at(0)), ("low", 2, 2, at(0))]


@connect
def test_excessive_clicks(spark: SparkSession) -> None:
    """Example 2.6."""
    clicks = [(1, at(minute), "c") for minute in (0, 10, 19, 20, 25)]
    clicks += [(2, at(minute / 100), "c") for minute in range(120)]
    clicks += [(3, at(0), "c"), (3, at(21), "p")]
    found = trellis.sqlts(
        """
        SELECT Y.SessNo, count(*X) AS clicks FROM {sessions} CLUSTER BY SessNo SEQUENCE BY ClickTime AS (*X, Y)
        WHERE X.PageType <> 'p' AND ccount(X) < 100 AND first(X.ClickTime) + 20 Minute > X.ClickTime
          AND Y.PageType <> 'p'
        """,
        sessions=spark.createDataFrame(clicks, "SessNo int, ClickTime timestamp, PageType string"),
    )
    assert rows(found) == [(1, 3), (2, 99)]


@pytest.mark.thorough
def test_a_query_reads_what_another_found(quotes: DataFrame) -> None:
    found = trellis.sqlts(
        """
        SELECT X.day AS first, Y.day AS second, count(*Z) AS more
        FROM (
            SELECT ALL X.name, Y.date AS day FROM {quotes} CLUSTER BY name SEQUENCE BY date AS (X, Y)
            WHERE Y.price < X.price
        ) CLUSTER BY name SEQUENCE BY day AS (X, Y, *Z)
        """,
        quotes=quotes,
    )
    assert rows(found) == [(2, 3, 2)]


@pytest.mark.thorough
def test_columns_of_one_name_and_aggregates_of_spark(quotes: DataFrame) -> None:
    found = trellis.sqlts(
        """
        SELECT X.price, LAST(Y).price, collect_list(*Y.date), regr_slope(*Y.price, *Y.date) AS slope
        FROM {quotes} CLUSTER BY name SEQUENCE BY date AS (X, *Y)
        WHERE Y.price < Y.previous.price AND count(*Y) > 2
        """,
        quotes=quotes,
    )
    assert found.columns == ["price", "price", "collect_list(*Y.date)", "slope"]
    assert rows(found) == [(100.0, 45.0, [2, 3, 4], -22.5)]


def test_several_patterns(spark: SparkSession) -> None:
    prices = [50, 51, 52, 53, 54, 56, 56, 56, 56]
    quote = spark.createDataFrame(
        [("IBM", day, price) for day, price in enumerate(prices)], "name string, date int, price int"
    )
    assert rows(trellis.sqlts(EXAMPLES["7.2"], quote=quote)) == [(1, 4), (5, 8)]


def test_explain_shows_the_tables_and_runs(quotes: DataFrame) -> None:
    text = trellis.explain(EXAMPLES["5.1"], quote=quotes, analyze=True)
    assert "PATTERN (X++ Y++ Z++)" in text
    assert "search: by skipping" in text
    assert "fails  *X *Y *Z" in text
    assert "== Counts ==" in text


def test_errors(quotes: DataFrame) -> None:
    with pytest.raises(BindingError, match="There is no column nix"):
        trellis.sqlts("SELECT X.nix FROM {q} SEQUENCE BY date AS (X)", q=quotes)
    with pytest.raises(QuerySyntaxError, match="no SEQUENCE BY"):
        trellis.sqlts("SELECT * FROM {q}", q=quotes)
    with pytest.raises(UnsupportedError, match="bit_or cannot be computed while"):
        trellis.sqlts("SELECT X.date FROM {q} SEQUENCE BY date AS (*X, Y) WHERE bit_or(*X.date) > 2", q=quotes)


@pytest.mark.thorough
def test_command_line(quotes: DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quotes.write.parquet(str(tmp_path / "quotes.parquet"))
    query = tmp_path / "falls.sql"
    query.write_text(EXAMPLES["2.4"].replace("{quote}", "quote"))
    assert main(["run", str(query), "--table", f"quote={tmp_path / 'quotes.parquet'}"]) == 0
    assert "IBM" in capsys.readouterr().out


def test_tables_with_maps_are_refused_and_the_cure_works(spark: SparkSession, quotes: DataFrame) -> None:
    limits = spark.sql("SELECT 'IBM' AS name, map('low', 50.0D) AS m")
    text = "SELECT Y.date FROM {{quotes}} CLUSTER BY name SEQUENCE BY date AS (X, Y), {0} WHERE A.name = X.name"
    with pytest.raises(BindingError, match="The table A in FROM has a column that cannot be ordered"):
        trellis.sqlts(text.format("{limits} AS A"), quotes=quotes, limits=limits)
    cured = text.format("(SELECT name, map_entries(m) AS m FROM {limits}) AS A")
    assert trellis.sqlts(cured, quotes=quotes, limits=limits).columns == ["date"]
