"""Edges at which a rule once changed a result, or made a query fail: each query with the rules, and without any."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from pyspark.sql import functions as F

import trellis
from some import some
from spark.plans import OFF, Hints, find_by_plans
from trellis.spark import statistics as row_statistics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

AB = "DEFINE A AS k = 'a', B AS k = 'b'"


def find(frame: DataFrame, clause: str, hints: Hints | None = None) -> list[tuple[Any, ...]]:
    text = f"SELECT * FROM {{t}} MATCH_RECOGNIZE ({clause})"
    return sorted(map(tuple, trellis.sql(text, t=frame, hints=hints).collect()))


def check(frame: DataFrame, clause: str, expected: list[tuple[Any, ...]], plans: list[Hints]) -> None:
    for hints, found in zip(plans, find_by_plans(frame, clause, plans), strict=True):
        assert found == sorted(expected, key=repr), hints


@pytest.fixture
def steps(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([(0, "a"), (5, "b"), (20, "a"), (24, "b")], "t int, k string")


@pytest.fixture
def new_york(spark: SparkSession) -> Iterator[None]:
    zone = spark.conf.get("spark.sql.session.timeZone")
    assert zone is not None
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    yield
    spark.conf.set("spark.sql.session.timeZone", zone)


@pytest.mark.parametrize(
    ("width", "expected"),
    some([("4.9999999999999D", [(20, 24)]), ("(SELECT 4 + max(0))", [(20, 24)]), ("5", [(0, 5), (20, 24)])], 2),
)
def test_widths_in_conditions(
    steps: DataFrame, width: str, expected: list[tuple[int, int]], plans: list[Hints]
) -> None:
    check(
        steps, f"ORDER BY t MEASURES A.t AS a, B.t AS b PATTERN (A Z* B) {AB} AND B.t - A.t <= {width}", expected, plans
    )


@pytest.mark.thorough
def test_a_width_that_reads_the_row(spark: SparkSession, steps: DataFrame, plans: list[Hints]) -> None:
    spark.createDataFrame([("b", 4), ("a", 3)], "kk string, w int").createOrReplaceTempView("limits_of_kinds")
    width = "(SELECT max(w) FROM limits_of_kinds WHERE kk = k)"
    check(
        steps,
        f"ORDER BY t MEASURES A.t AS a, B.t AS b PATTERN (A Z* B) {AB} AND B.t - A.t <= {width}",
        [(20, 24)],
        plans,
    )


@pytest.mark.thorough
def test_dates_and_numbers_of_days(steps: DataFrame, plans: list[Hints]) -> None:
    days = steps.selectExpr("t", "k", "DATE '2020-01-01' + t AS day")
    clause = f"ORDER BY day MEASURES A.t AS a, B.t AS b PATTERN (A Z* B) {AB} AND B.day <= A.day + 4"
    check(days, clause, [(20, 24)], plans)


@pytest.mark.usefixtures("new_york")
def test_a_day_after_a_time_that_clocks_skip(spark: SparkSession, plans: list[Hints]) -> None:
    """A day after 02:50 is 03:50, as there is no 02:50; the window of the next row ends before."""
    rows = [("2021-03-13 02:50", "x"), ("2021-03-13 03:00", "a"), ("2021-03-14 03:30", "b"), ("2021-03-15 03:20", "b")]
    frame = spark.createDataFrame(rows, "s string, k string").selectExpr("CAST(s AS TIMESTAMP) AS t", "k", "s")
    check(frame, f"ORDER BY t MEASURES A.s AS a PATTERN (A Z* B) WITHIN INTERVAL '1' DAY {AB}", [], plans)


@pytest.mark.thorough
def test_rows_that_the_input_does_not_have(spark: SparkSession, plans: list[Hints]) -> None:
    """Spark tests filters below the join, where a row is that divides by zero."""
    left = spark.createDataFrame([(0, "a", 1), (1, "x", 0), (2, "b", 1), (3, "b", 5)], "t int, k string, v int")
    joined = left.join(spark.createDataFrame([(0,), (2,), (3,)], "u int"), F.expr("t = u"))
    for condition in ("10 / v > 3", "10 % v = 0 AND 10 / v > 3", "CAST(if(v = 0, 'no', '5') AS INT) > 3 AND v = 1"):
        clause = (
            f"ORDER BY t MEASURES A.t AS a, B.t AS b PATTERN (A Z* B) WITHIN 5 DEFINE A AS k = 'a', B AS {condition}"
        )
        check(joined, clause, [(0, 2)], plans)


@pytest.mark.parametrize("condition", ["k = 'b' AND prev(6 / v) > 1", "v = 2 AND 6 / prev(v) > 1"])
def test_rows_before_that_nobody_looks_at(spark: SparkSession, condition: str, plans: list[Hints]) -> None:
    """The first condition spares the second one the rows where it divides by zero."""
    frame = spark.createDataFrame([(0, "a", 1), (1, "x", 0), (2, "x", 1), (3, "b", 2)], "t int, k string, v int")
    check(
        frame,
        f"ORDER BY t MEASURES A.t AS a, B.t AS b PATTERN (A Z* B) DEFINE A AS k = 'a', B AS {condition}",
        [(0, 3)],
        plans,
    )


@pytest.mark.parametrize("condition", some(["s = 1", "coalesce(s, 0) = 1"]))
def test_texts_that_are_no_numbers(spark: SparkSession, condition: str, plans: list[Hints]) -> None:
    """Spark casts a text that stands beside a number; below the join is one that is no number."""
    left = spark.createDataFrame(
        [(0, "a", "1", 1), (1, "a", "no", 1), (2, "b", "1", 1), (3, "b", "5", 1)], "t int, k string, s string, v int"
    )
    joined = left.join(spark.createDataFrame([(0,), (2,), (3,)], "u int"), F.expr("t = u"))
    clause = f"ORDER BY t MEASURES A.t AS a, B.t AS b PATTERN (A Z* B) WITHIN 5 DEFINE A AS k = 'a', B AS {condition}"
    check(joined, clause, [(0, 2)], plans)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("condition", "expected"),
    some(
        [
            ("NOT s", [(0, 3)]),
            ("s AND v > 3", [(1, 3)]),
            ("s IS TRUE", [(1, 3)]),
            ("left('abc', n) = ''", [(1, 3)]),
            ("floor(d) = 2", [(1, 3)]),
        ],
        2,
    ),
)
def test_values_that_cannot_be_cast(
    spark: SparkSession, condition: str, expected: list[tuple[int, int]], plans: list[Hints]
) -> None:
    """As before: below the join is a row that Spark cannot cast, or that is too large."""
    rows = [
        (0, "false", "7", 5, 1.0, 1),
        (1, "true", "0", 5, 2.5, 1),
        (2, "abc", "abc", 5, 1e20, 2),
        (3, "true", "7", 3, 1.0, 1),
    ]
    left = spark.createDataFrame(rows, "t int, s string, n string, v int, d double, g int")
    joined = left.join(spark.createDataFrame([(1,)], "h int"), F.expr("g = h"))
    clause = f"ORDER BY t MEASURES A.t AS a, B.t AS b PATTERN (A Z* B) WITHIN 5 DEFINE A AS {condition}, B AS v = 3"
    # Elimination and masks have the filters of all the other rules.
    check(joined, clause, expected, plans)


@pytest.mark.thorough
@pytest.mark.parametrize("condition", some(["abs(d) > 0", "- d > 0"]))
def test_many_digits(spark: SparkSession, condition: str, plans: list[Hints]) -> None:
    """A product of decimals may have fewer digits than its factors."""
    rows = [(1, Decimal("0"), 5), (2, Decimal("-0.0000000001"), 0), (3, Decimal("0"), 1), (4, Decimal("0"), 3)]
    frame = spark.createDataFrame(rows, "t int, d decimal(38,10), x int")
    clause = f"ORDER BY t MEASURES A.t AS a, B.t AS b PATTERN (A Z* B) WITHIN 5 DEFINE A AS {condition}, B AS x = 3"
    check(frame, clause, [(2, 4)], plans)
    beside = clause.replace("x = 3", "x = 3 AND prev(x) = 1").replace("WITHIN 5", "")
    check(frame, beside, [(2, 4)], plans)


@pytest.mark.parametrize(
    ("first", "condition"),
    some([(2**31 - 3, "B.t <= A.t + 5"), (-(2**31) + 1, "B.t - 5 <= A.t"), (0, "B.t <= A.t + 5")]),
)
def test_windows_that_run_over_without_ansi_mode(
    spark: SparkSession, first: int, condition: str, plans: list[Hints]
) -> None:
    frame = spark.createDataFrame([(first, 1), (first + 1, 0), (first + 2, 2)], "t int, x int")
    clause = f"ORDER BY t MEASURES A.t AS a PATTERN (A Z* B) DEFINE A AS x = 1, B AS x = 2 AND {condition}"
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        check(frame, clause, [] if first else [(0,)], plans)
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


@pytest.mark.thorough
@pytest.mark.parametrize("width", some(["0.02", "1", "0.019"]))
def test_windows_at_the_end_of_decimals(spark: SparkSession, width: str, plans: list[Hints]) -> None:
    times = ["-9999999999.92", "-9999999999.91", "-9999999999.90", "9999999999.90", "9999999999.91", "9999999999.92"]
    frame = spark.createDataFrame([(Decimal(t), n % 3) for n, t in enumerate(times)], "t decimal(18,8), x int")
    for order, ends in (("", (0, 2)), ("DESC", (2, 0))):
        define = f"DEFINE A AS x = {ends[0]}, B AS x = {ends[1]}"
        clause = f"ORDER BY t {order} MEASURES A.t AS a PATTERN (A Y B) WITHIN {width} {define}"
        found = find(frame, clause, OFF)
        assert len(found) == (0 if width == "0.019" else 2)
        check(frame, clause, found, plans)


@pytest.mark.thorough
@pytest.mark.parametrize("condition", some(["v + 1 < 0", "CAST(v AS TINYINT) = -1", "-v + 1 = v + 3", "abs(v) > 5"]))
def test_numbers_that_run_over_without_ansi_mode(spark: SparkSession, condition: str, plans: list[Hints]) -> None:
    rows = [(0, "a", 1), (1, "x", 2), (2, "b", 2**31 - 1), (3, "a", 1), (4, "b", -1), (5, "a", 3), (6, "b", 9)]
    frame = spark.createDataFrame(rows, "t int, k string, v int")
    clause = f"ORDER BY t MEASURES A.t AS a, B.t AS b PATTERN (A Z* B) WITHIN 2 DEFINE A AS k = 'a', B AS {condition}"
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        expected = find(frame, clause, OFF)
        assert expected
        check(frame, clause, expected, plans)
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


@pytest.mark.thorough
@pytest.mark.parametrize("within", some(["WITHIN 2", ""]))
def test_sums_of_matches_that_are_skipped(spark: SparkSession, within: str, plans: list[Hints]) -> None:
    """From the fourth row a sum would overflow, but the match before takes that row."""
    frame = spark.createDataFrame([(t, 2**62 + 5 if t in (3, 4, 7, 8) else 1) for t in range(12)], "t int, v bigint")
    clause = f"ORDER BY t MEASURES A.t AS a, sum(v) AS s PATTERN (A B) {within} DEFINE A AS v > 0"
    expected = [(t, 2**62 + 6 if t in (2, 4, 6, 8) else 2) for t in range(0, 12, 2)]
    check(frame, clause, expected, plans)


@pytest.mark.usefixtures("new_york")
def test_times_that_python_does_not_know(spark: SparkSession) -> None:
    rows = spark.sql(
        "SELECT * FROM VALUES (0, 'a', TIMESTAMP '2020-01-01 00:00:00'), (3, 'b', TIMESTAMP '9999-12-31 23:59:59') "
        "AS v(n, k, e)"
    ).cache()
    clause = f"ORDER BY n MEASURES A.n AS a, B.n AS b, count(*) AS c PATTERN (A Z* B) WITHIN 9 {AB} AND B.e > A.e"
    with mock.patch.object(row_statistics, "_SMALL", -1):
        assert find(rows, clause) == [(0, 3, 2)]
    rows.unpersist()


@pytest.mark.thorough
def test_more_variables_than_bits(spark: SparkSession) -> None:
    names = [f"V{number}" for number in range(66)]
    frame = spark.range(140).selectExpr("CAST(id AS INT) AS t", "CAST(id % 66 AS INT) AS v")
    defined = ", ".join(f"{name} AS v = {number}" for number, name in enumerate(names))
    clause = f"ORDER BY t MEASURES V0.t AS a PATTERN ({' '.join(names)}) WITHIN 70 DEFINE {defined}"
    assert find(frame, clause, {"prefilter": "masks"}) == find(frame, clause, OFF) == [(0,), (66,)]
    # More than can be looked at; and not a list for each path.
    assert find(frame, clause, {"prefilter": "masks", "symbols": names}) == [(0,), (66,)]


def test_symbols_of_other_paths(steps: DataFrame) -> None:
    clause = f"ORDER BY t MEASURES FIRST(t) AS f PATTERN (A|B|C) WITHIN 5 {AB}, C AS k = 'c'"
    hints = {"prefilter": "masks", "symbols": [["A"], ["B"]]}
    assert find(steps, clause, hints) == find(steps, clause, OFF)
    plan = trellis.explain(f"SELECT * FROM {{t}} MATCH_RECOGNIZE ({clause})", t=steps, hints=hints)
    assert "none: the hints name no variables that can be used" in plan


@pytest.mark.thorough
def test_intervals_have_absolute_values(steps: DataFrame, plans: list[Hints]) -> None:
    frame = steps.selectExpr("t", "k", "TIMESTAMP '2020-01-01 00:00:00' + t * INTERVAL '1' MINUTE AS ts")
    clause = (
        f"ORDER BY ts MEASURES A.t AS a, B.t AS b PATTERN (A Z* B) WITHIN INTERVAL '10' MINUTE {AB} "
        "AND abs(B.ts - A.ts) <= INTERVAL '4' MINUTE"
    )
    check(frame, clause, [(20, 24)], plans)


@pytest.mark.thorough
def test_columns_with_one_name_in_texts(steps: DataFrame, plans: list[Hints]) -> None:
    frame = steps.selectExpr("t", "k", "CAST(t AS DECIMAL(9, 2)) AS c", "1 AS A", "2 AS A")
    clause = "ORDER BY c MEASURES X.t AS f, Y.t AS l PATTERN (X Z* Y) WITHIN 4 DEFINE X AS k = 'a', Y AS k = 'b'"
    check(frame, clause, [(20, 24)], plans)
