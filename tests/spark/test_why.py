"""Why nothing matched, on Spark: statements, patterns, samples, and what is refused."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

import trellis as tr
from trellis.errors import BindingError, UnsupportedError

pytestmark = pytest.mark.spark

BOUGHT = "PARTITION BY user ORDER BY at PATTERN (C Z* P) DEFINE C AS type = 'cart', P AS type = 'Purchase'"


@pytest.fixture(scope="module")
def clicks(spark: SparkSession) -> DataFrame:
    types = ["look", "cart", "look", "purchase"]
    rows = [(user, at, type_) for user in (1, 2, 3) for at, type_ in enumerate(types)]
    return spark.createDataFrame(rows, "user int, at int, type string")


def test_a_statement(clicks: DataFrame) -> None:
    report = tr.why(f"SELECT * FROM {{clicks}} MATCH_RECOGNIZE ({BOUGHT})", clicks=clicks)
    assert (report.matches, report.rows, report.partitions, report.starts) == (0, 12, 3, 12)
    assert [(one.name, one.rows) for one in report.variables] == [("C", 3), ("Z", 12), ("P", 0)]
    assert [(step.text, step.count) for step in report.funnel] == [("C", 3), ("Z*", 3), ("P", 0)]
    assert [(end.element, end.text, end.count) for end in report.ends] == [
        ("C", "type = 'cart'", 9),
        ("P", "type = 'Purchase'", 3),
    ]
    assert [(miss.missing, [row.element for row in miss.rows]) for miss in report.nearest] == [(1, ["C", "Z*", ""])] * 3
    assert report.columns == ("at", "type")
    assert report.nearest[0].rows[-1].values == ("3", "purchase")


def test_of_several_clauses_the_first_that_finds_nothing(clicks: DataFrame) -> None:
    text = f"""
        WITH carts AS (SELECT * FROM {{clicks}} MATCH_RECOGNIZE (
            PARTITION BY user ORDER BY at ALL ROWS PER MATCH PATTERN (C) DEFINE C AS type = 'cart'))
        SELECT * FROM carts MATCH_RECOGNIZE ({BOUGHT})"""
    report = tr.why(text, clicks=clicks)
    assert (report.rows, report.pattern) == (3, "C Z* P")


def test_a_pattern_in_a_sample(clicks: DataFrame) -> None:
    found = tr.pattern("C Z* P").define(C="type = 'cart'", P="type = 'purchase'").within("2")
    report = found.why(clicks, partition_by="user", order_by="at", sample=8, nearest=0)
    assert (report.matches, report.rows, report.total, report.nearest) == (2, 8, 12, ())
    assert str(report).startswith("2 matches of (C Z* P) in 8 rows in 2 partitions (a sample: there are 12)")


def test_no_rows(clicks: DataFrame) -> None:
    report = tr.pattern("C P").define(C="type = 'cart'").why(clicks.where("false"), order_by="at")
    assert (report.rows, report.matches, report.starts) == (0, 0, 0)
    assert str(report).splitlines() == ["0 matches of (C P) in 0 rows", "  * There are no rows in the input."]


def test_numbers_of_matches_and_ties_are_those_of_the_query(clicks: DataFrame) -> None:
    found = tr.pattern("A B").define(B="match_number() < 2 OR A.type = 'look'").measures(a="A.at")
    report = found.why(clicks, order_by="user")
    assert report.matches == found.match(clicks, order_by="user").count()


def test_what_is_refused(clicks: DataFrame, spark: SparkSession) -> None:
    with pytest.raises(BindingError, match="no MATCH_RECOGNIZE"):
        tr.why("SELECT * FROM {clicks}", clicks=clicks)
    with pytest.raises(BindingError, match="sample must be a whole number, not"):
        tr.pattern("A").define(A="at > 1").why(clicks, sample=0)
    stream = spark.readStream.format("rate").load()
    with pytest.raises(UnsupportedError, match="A stream never ends") as refused:
        tr.pattern("A").define(A="value > 1").why(stream, order_by="timestamp")
    assert "spark.read in place of spark.readStream" in str(refused.value)


def test_what_to_look_at_first(clicks: DataFrame) -> None:
    def first(partition_by: str = "user", **conditions: str) -> tuple[str, ...]:
        asked = tr.pattern("A B").define(**conditions)
        return asked.why(clicks.selectExpr("*", "CAST(NULL AS STRING) AS gone"), partition_by, "at").findings

    assert first(B="type = 'Purchase'") == ("'Purchase' occurs in no row's type; 'purchase' does, in 3 rows (B).",)
    assert first(A="type IN ('x', 'y') AND gone = 'x'", B="10 < at") == (
        "'x' or 'y' occur in no row's type, which holds 'look' (6), 'cart' (3), 'purchase' (3) (A).",
        "gone is NULL in all rows (A).",
        "at > 10 holds in no row: at is from 0 to 3 (B).",
    )
    assert first(B="type = 'look' AND at = 3") == (
        "No row satisfies B: 6 pass type = 'look', but none of these at = 3.",
    )
    assert first(B="at > A.at + 5") == (
        "None of 12 that reach A goes on to B: 9 end where at > (A.at + 5) does not hold.",
    )
    short = "No partition is long enough: a match needs at least 2 rows, and the longest partition has 1."
    assert first("user, at", B="true") == (f"{short} Is PARTITION BY too fine?",)
    # A condition may fail on rows that the query never tests: then there is no hint, and no error.
    assert first(B="at < 0 AND 1 / (at - 3) > 99") == ("No row satisfies B: (at < 0) AND ((1 / (at - 3)) > 99).",)


def test_events(spark: SparkSession) -> None:
    rows = [("Order", 1, 7), ("Order", 2, 8), ("Payment", 30, 8), ("Payment", 4, 9)]
    events = spark.createDataFrame(rows, "type string, time int, id int")
    report = tr.why("PATTERN SEQ(Order o, Payment p) WHERE { [id] } WITHIN 10", events=events)
    assert [(one.name, one.rows) for one in report.variables] == [("Order o", 2), ("Payment p", 2)]
    assert [(step.text, step.count, step.runs) for step in report.funnel] == [("Order o", 2, 2), ("Payment p", 0, 0)]
    assert report.matches == 0
    assert report.findings == (
        "None of the runs that reach Order o goes on to Payment p: [id].",
        "Without WITHIN 10, it would take 1 event.",
    )
    paid = tr.event_pattern("Order o", "payment p").same("id")
    assert paid.why(events).findings == (
        "'payment' occurs in no event's type; 'Payment' does, in 2 events (payment p).",
    )


def test_segments(clicks: DataFrame) -> None:
    asked = tr.pattern("UP DOWN").define_segments(
        UP="window(2, 3) AND last(at) > first(at)", DOWN="last(at) < first(at)"
    )
    report = asked.why(clicks, partition_by="user", order_by="at")
    # Of four rows that rise there are three and two segments, of two and three rows.
    assert [(one.name, one.rows) for one in report.variables] == [("UP", 15), ("DOWN", 0)]
    assert [(step.text, step.count) for step in report.funnel] == [("UP", 15), ("UP DOWN", 0)]
    assert (report.matches, report.rows, report.partitions) == (0, 12, 3)
    assert report.findings == ("No segment is a DOWN. last(at) < first(at) holds for none.",)
