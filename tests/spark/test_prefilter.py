"""Prefilters, row elimination and slices on Spark: every form and rule gives the same rows, for every type of key."""

from __future__ import annotations

import datetime as dt
import random
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

import trellis
from some import some
from spark.plans import OFF, Hints, find_by_plans
from trellis.errors import BindingError
from trellis.spark.session import Session
from trellis.spark.statistics import inspect_source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

KEYS = {
    "n": "int",
    "d": "decimal(12,2)",
    "ts": "timestamp",
    "ntz": "timestamp_ntz",
    "day": "date",
}
WIDTHS = {
    "n": "6",
    "d": "0.06",
    "ts": "INTERVAL '6' MINUTE",
    "ntz": "INTERVAL '6' MINUTE",
    "day": "INTERVAL '6' DAY",
}


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    """Rows in time with ties, gaps, NULLs and duplicates, on both sides of zero, and around a change of clocks."""
    draw = random.Random(5)
    rows: list[tuple[Any, ...]] = []
    for _ in range(260):
        number = draw.choice([draw.randrange(-70, 90), draw.randrange(300, 340), None])
        times: list[Any] = [None] * 4
        if number is not None:
            moment = dt.datetime(2021, 3, 14, 1, 0) + dt.timedelta(minutes=number)
            times = [
                f"{number / 100:.2f}",
                moment.replace(tzinfo=dt.timezone.utc).isoformat(),
                moment.isoformat(),
                (dt.date(2021, 3, 14) + dt.timedelta(days=number)).isoformat(),
            ]
        rows.append((number, *times, draw.choice("abcxxx"), draw.randrange(6), draw.choice(["p", "q", None])))
    schema = "n int, d string, ts string, ntz string, day string, k string, v int, g string"
    frame = spark.createDataFrame([*rows, *rows[:20]], schema)
    return frame.select(*(F.col(name).cast(type_) for name, type_ in KEYS.items()), "k", "v", "g")


def find(frame: DataFrame, clause: str, hints: dict[str, Any] | None = None) -> list[str]:
    text = f"SELECT * FROM {{t}} MATCH_RECOGNIZE ({clause})"
    return sorted(map(repr, trellis.sql(text, t=frame, hints=hints).collect()))


def check(frame: DataFrame, clause: str, plans: list[Hints], least: int = 1) -> None:
    """All plans find the same rows, and at least so many."""
    expected, *found = find_by_plans(frame, clause, [OFF, *plans])
    assert len(expected) >= least
    for hints, rows in zip(plans, found, strict=True):
        assert rows == expected, hints


_DEFINE = "DEFINE A AS k = 'a', B AS k = 'b' AND B.v >= A.v, C AS k = 'c'"


def _define(pattern: str) -> str:
    parts = {"A": "A AS k = 'a'", "B": "B AS k = 'b' AND (A.v IS NULL OR B.v >= A.v)", "C": "C AS k = 'c'"}
    return "DEFINE " + ", ".join(part for name, part in parts.items() if name in pattern.replace("PERMUTE", ""))


@pytest.mark.parametrize(
    ("key", "direction"),
    some([pytest.param("ts", "", marks=pytest.mark.connect), ("n", " DESC"), ("d", ""), ("ntz", " DESC"), ("day", "")]),
)
def test_every_key(events: DataFrame, key: str, direction: str, plans: list[Hints]) -> None:
    clause = (
        f"PARTITION BY g ORDER BY {key}{direction}, k, v MEASURES MATCH_NUMBER() AS m, A.{key} AS a, C.v AS c "
        f"PATTERN (A Z* B Z* C) WITHIN {WIDTHS[key]} {_DEFINE}"
    )
    check(events, clause, plans)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("key", "width"),
    some([("ntz", "6' MINUTE"), ("ntz", "90.5' SECOND"), ("ts", "6' MINUTE"), ("before", "6' MINUTE")]),
)
def test_the_hour_that_clocks_skip(spark: SparkSession, key: str, width: str, plans: list[Hints]) -> None:
    """From two to three there is no time in this zone, but times without a zone pass through it."""
    zone = spark.conf.get("spark.sql.session.timeZone")
    assert zone is not None
    draw = random.Random(3)
    begin = dt.datetime(2021, 3, 14, 1, 45, 0, 250_000)
    rows = [(n, begin + dt.timedelta(seconds=20 * n), draw.choice("abcx")) for n in range(260)]
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        frame = spark.createDataFrame(rows, "n int, ntz timestamp_ntz, k string").selectExpr(
            "*", "CAST(ntz AS TIMESTAMP) AS ts", "ntz - INTERVAL '54' YEAR AS before"
        )
        clause = (
            f"ORDER BY {key}, n MEASURES A.n AS a, C.n AS c PATTERN (A Z* B Z* C) WITHIN INTERVAL '{width} "
            "DEFINE A AS k = 'a', B AS k = 'b', C AS k = 'c'"
        )
        check(frame, clause, plans, least=6)
        bounded = clause.replace("Z*", "Z{0,2}")
        assert find(frame, bounded, {"slices": 1}) == find(frame, bounded, OFF)
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)


@pytest.mark.parametrize(
    ("pattern", "skip"),
    some(
        [
            ("A Z* (B+|C+)", "PAST LAST ROW"),
            ("A (B|C){2,}", "TO NEXT ROW"),
            ("A B C*", "PAST LAST ROW"),
            ("A B+", "TO NEXT ROW"),
            ("(A|B) (C|A)", "TO NEXT ROW"),
            ("PERMUTE(A, C)", "PAST LAST ROW"),
            ("Z? A? B", "TO NEXT ROW"),
        ],
    ),
)
def test_every_pattern(events: DataFrame, pattern: str, skip: str, plans: list[Hints]) -> None:
    clause = (
        "ORDER BY n, k, v MEASURES MATCH_NUMBER() AS m, CLASSIFIER() AS c, FINAL last(n) AS l ALL ROWS PER MATCH "
        f"AFTER MATCH SKIP {skip} PATTERN ({pattern}) WITHIN 8 {_define(pattern)}"
    )
    check(events, clause, plans)


@pytest.mark.connect(thorough=True)
@pytest.mark.parametrize(("partition", "order"), some([("PARTITION BY g", "n DESC"), ("", "n"), ("", "n NULLS LAST")]))
def test_slices_of_rows(events: DataFrame, partition: str, order: str) -> None:
    clause = (
        f"{partition} ORDER BY {order}, k, v MEASURES MATCH_NUMBER() AS m, first(v) AS f, last(n) AS l "
        "PATTERN (A Z{0,3} B) DEFINE A AS k = 'a', B AS k = 'b'"
    )
    plan = trellis.explain(f"SELECT * FROM {{t}} MATCH_RECOGNIZE ({clause})", t=events, hints={"slices": 1})
    assert "slices: series are cut into slices of 5 rows, with 4 rows behind each" in plan
    expected = find(events, clause, OFF)
    assert expected
    for size in (1, 4):
        assert find(events, clause, {"slices": size}) == expected


@pytest.mark.parametrize("window", some(["window(ntz, 0, 9, MINUTE)", "window(1, 4)"]))
@pytest.mark.parametrize("skip", some(["AFTER MATCH SKIP PAST LAST ROW", "", "AFTER MATCH SKIP TO NEXT ROW"]))
def test_segments(events: DataFrame, window: str, skip: str) -> None:
    known = events.where("n IS NOT NULL").dropDuplicates(["n"])
    clause = (
        f"ORDER BY ntz MEASURES MATCH_NUMBER() AS m, first(n) AS f, last(n) AS l {skip} PATTERN ((A X B) & W) "
        f"DEFINE A AS k = 'a', B AS k = 'b', SEGMENT X AS last(X.v) >= first(X.v), SEGMENT W AS {window}"
    )
    expected = find(known, clause, OFF)
    assert expected
    for hints in ({"prefilter": "masks"}, {"slices": 2}, {"slices": 1, "prefilter": "masks"}):
        assert find(known, clause, hints) == expected, hints


@pytest.mark.connect(thorough=True)
def test_whole_partitions_without_window(events: DataFrame) -> None:
    clause = (
        "PARTITION BY v, g ORDER BY n, k MEASURES count(*) AS c "
        "PATTERN (A X* B X* C) DEFINE A AS k = 'a', B AS k = 'b', C AS k = 'c', X AS v >= 0"
    )
    text = f"SELECT * FROM {{t}} MATCH_RECOGNIZE ({clause})"
    assert "+- Prefilter masks of (A, B, C)" in trellis.explain(text, t=events, hints={"prefilter": "masks"})
    assert find(events, clause, {"prefilter": "masks"}) == find(events, clause, OFF)


@pytest.mark.connect(thorough=True)
def test_parameters_and_subqueries(spark: SparkSession, events: DataFrame, plans: list[Hints]) -> None:
    text = """WITH wanted AS (SELECT 'a' AS kind)
        SELECT * FROM {t} MATCH_RECOGNIZE (ORDER BY n, k, v MEASURES A.n AS a, B.n AS b AFTER MATCH SKIP TO NEXT ROW
            PATTERN (A B) WITHIN :width DEFINE A AS k = (SELECT max(kind) FROM wanted), B AS k = :second)"""
    args = {"width": 4, "second": "b"}
    found = [
        sorted(map(repr, trellis.sql(text, t=events, args=args, hints=hints).collect())) for hints in (OFF, *plans)
    ]
    assert found[0]
    assert all(rows == found[0] for rows in found)


BESIDE = [
    ("A Z* D", "D AS v > prev(v)", "A.v AS a, D.v AS d, prev(D.v) AS p"),
    ("A Z* D Z* B", "D AS next(k) < k AND v >= A.v, B AS k = 'b'", "D.n AS d, next(B.k, 2) AS q, MATCH_NUMBER() AS m"),
    ("A (Z* D)+", "D AS v > 1 + coalesce(prev(v, 2), 0)", "count(D.*) AS n, upper(prev(A.k)) AS p"),
    ("A Z* D", "D AS prev(`day`) < ts AND v > 3", "next(coalesce(D.g, 'none')) AS x, D.v AS d"),
    ("A Z* D", "D AS 6 / (1 + prev(v)) > v", "D.v AS d, prev(D.g) AS p"),
]


@pytest.mark.connect(thorough=True)
@pytest.mark.parametrize(("pattern", "define", "measures"), some(BESIDE, 3))
@pytest.mark.parametrize("partition", some(["PARTITION BY CAST(n % 3 AS DOUBLE) / 2, g", ""]))
def test_rows_beside(events: DataFrame, pattern: str, define: str, measures: str, partition: str) -> None:
    # Many rows have one n: what stands beside a row is settled by the other columns, with the rule and without.
    clause = f"{partition} ORDER BY n DESC MEASURES {measures} PATTERN ({pattern}) DEFINE A AS k = 'a', {define}"
    text = f"SELECT * FROM {{t}} MATCH_RECOGNIZE ({clause})"
    assert "computed before" in trellis.explain(text, t=events)
    found = find(events, clause)
    assert found
    assert found == find(events, clause, {"off": ["eliminate_rows"]})


@pytest.mark.parametrize("condition", some(["k = 'b' AND 6 / prev(A.v) > 1", "6 / prev(v) > 1"]))
def test_rows_beside_fail_as_without_the_rule(events: DataFrame, condition: str) -> None:
    clause = f"ORDER BY n MEASURES D.v AS d PATTERN (A Z* D) DEFINE A AS k = 'a', D AS {condition}"
    assert "computed before" in trellis.explain(f"SELECT * FROM {{t}} MATCH_RECOGNIZE ({clause})", t=events)
    for hints in (None, OFF):
        with pytest.raises(Exception, match="divides by zero"):
            find(events, clause, hints)
        if "A.v" in condition:
            # Nobody looks before a row of A where there is none.
            assert find(events, clause.replace("k = 'a'", "k = 'none'"), hints) == []


def test_rows_beside_are_sorted_once(spark: SparkSession, events: DataFrame) -> None:
    for keys, exchange in (("PARTITION BY g", "hashpartitioning"), ("", "SinglePartition")):
        text = (
            f"SELECT * FROM {{t}} MATCH_RECOGNIZE ({keys} ORDER BY n MEASURES D.v AS d PATTERN (A Z* D) "
            "DEFINE A AS k = 'a', D AS v > prev(v) + 3)"
        )
        found = trellis.sql(text, t=events)
        found.collect()
        plan = found._jdf.queryExecution().executedPlan().toString().split("== Initial Plan ==")[0]  # type: ignore[operator]
        assert plan.count("Exchange ") == plan.count(exchange) == 1
        assert plan.count("Sort [") == plan.count("Window [") == 1
        counted = trellis.explain(text, t=events, analyze=True).split("rows in")[1].split()[0]
        assert 0 < int(counted) < 150


def test_columns_with_strange_names(spark: SparkSession, plans: list[Hints]) -> None:
    rows = [(n, n % 3, "a b"[n % 3], float(n)) for n in range(40)]
    frame = spark.createDataFrame(rows, "`the time` int, `k.1` int, `kind``s` string, x double")
    clause = (
        "PARTITION BY `k.1` ORDER BY `the time` MEASURES A.x AS a, B.x AS b PATTERN (A B) WITHIN 4 "
        "DEFINE A AS `the time` < 30, B AS B.x > A.x AND `kind``s` = 'a'"
    )
    check(frame, clause, plans)


@pytest.mark.connect(thorough=True)
def test_explain_shows_candidates(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = str(tmp_path_factory.mktemp("events") / "large")
    noise = spark.range(600_000).selectExpr(
        "id AS n", "IF(id % 997 = 0, 'a', IF(id % 1009 = 0, 'b', 'x')) AS k", "uuid() AS filler"
    )
    noise.write.parquet(folder)
    frame = spark.read.parquet(folder)
    text = """SELECT * FROM {t} MATCH_RECOGNIZE (ORDER BY n MEASURES A.n AS a, B.n AS b, count(*) AS c
        PATTERN (A Z* B) WITHIN 20 DEFINE A AS k = 'a', B AS k = 'b')"""
    plan = trellis.explain(text, t=frame)
    assert "== Prefilter ==\n* masks of (A, B)" in plan
    assert " none " in plan
    assert "+- Prefilter masks of (A, B)" in plan
    counted = trellis.explain(text, t=frame, analyze=True)
    assert int(counted.split("rows in")[1].split()[0].replace(",", "")) < 40_000
    found = trellis.sql(text, t=frame).collect()
    assert sorted(found) == sorted(trellis.sql(text, t=frame, hints=OFF).collect())
    assert found
    # Statistics can be given as a hint.
    assert "none: statistics are off" in trellis.explain(text, t=frame, hints={"statistics": "off"})


@pytest.mark.connect
def test_sources(spark: SparkSession, events: DataFrame, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = str(tmp_path_factory.mktemp("events") / "small")
    events.write.parquet(folder)
    session = Session(spark)
    read = spark.read.parquet(folder)
    source = inspect_source(read.where("v > 1").select("n", "k"), session)
    assert source.repeatable
    assert source.columnar
    assert 0 < source.size < 1_000_000
    assert not inspect_source(read.withColumn("r", F.rand()), session).repeatable
    assert not inspect_source(read.groupBy("k").count(), session).repeatable
    assert not inspect_source(read.join(read.select("v"), "v"), session).repeatable
    assert not inspect_source(read.limit(5), session).repeatable


@pytest.mark.parametrize(
    ("hints", "message"),
    [
        ({"prefilter": "sometimes"}, "The hint prefilter cannot be 'sometimes'."),
        ({"symbols": [1]}, "The hint symbols must list variables"),
        ({"slices": 0}, "The hint slices must be a positive whole number."),
        ({"statistics": "always"}, "The hint statistics cannot be 'always'."),
        ({"statistics": {"shares": {}}}, "The rows of the hint statistics must be a number of at least 1."),
        ({"statistics": {"rows": 5, "columns": 3}}, "The hint statistics has no columns."),
        ({"statistics": {"rows": 5, "span": "1 day"}}, "The span of the hint statistics cannot be '1 day'."),
        ({"statistics": {"rows": 5, "shares": {"A": 2}}}, "The share of A in the hint statistics is no share: 2."),
        ({"statistics": {"rows": 5, "shares": 0.5}}, "The shares of the hint statistics must be a mapping"),
        ({"off": ["prefilters"]}, "The hint off must name rules, not"),
    ],
)
def test_wrong_hints(events: DataFrame, hints: dict[str, Any], message: str) -> None:
    with pytest.raises(BindingError, match=message.replace("(", r"\(")):
        find(events, f"ORDER BY n PATTERN (A B C) {_DEFINE}", hints)


def test_statistics_of_the_user(events: DataFrame) -> None:
    clause = f"ORDER BY ntz MEASURES A.v AS a PATTERN (A B C) WITHIN {WIDTHS['ntz']} {_DEFINE}"
    text = f"SELECT * FROM {{t}} MATCH_RECOGNIZE ({clause})"
    known = {"rows": 5_000_000, "span": dt.timedelta(days=400), "shares": {"A": 0.001, "B": 0.2, "C": 0.3}}
    plan = trellis.explain(text, t=events, hints={"statistics": known})
    assert "* masks of (A" in plan
    assert "of 5,000,000 rows are left" in plan
    assert "slices: " in plan
    # A hundred rows are matched before a second job has begun.
    assert "* none" in trellis.explain(text, t=events, hints={"statistics": {**known, "rows": 100}})
    assert "may change" in trellis.explain(text, t=events.withColumn("r", F.rand()), hints={"statistics": known})
    assert find(events, clause, {"statistics": known}) == find(events, clause, OFF)


@pytest.mark.parametrize(
    ("share", "others", "chosen"), some([(0.001, 0.3, "* masks of (A"), (0.3, 0.3, "* none"), (0, 0, "* none")])
)
def test_prefilters_of_rows_that_somebody_sees(events: DataFrame, share: float, others: float, chosen: str) -> None:
    """Rows that nobody sees are left out anyway; whether a prefilter pays beside that is a question of the rest."""
    clause = f"ORDER BY ntz MEASURES A.v AS a PATTERN (A Z* B Z* C) WITHIN {WIDTHS['ntz']} {_DEFINE}"
    text = f"SELECT * FROM {{t}} MATCH_RECOGNIZE ({clause})"
    shares = {"A": share, "B": others, "C": others}
    known = {"rows": 9_000_000, "span": dt.timedelta(days=4000), "shares": shares}
    plan = trellis.explain(text, t=events, hints={"statistics": known})
    assert "eliminate_rows: " in plan
    assert chosen in plan
    found = find(events, clause, {"statistics": known})
    assert found
    assert found == find(events, clause, OFF)


@pytest.mark.parametrize("condition", some(["B.v / A.v > 1", "B.v * A.v > 1"]))
def test_pairs_that_the_search_never_tests_cannot_fail(spark: SparkSession, condition: str) -> None:
    least = 0 if "/" in condition else 2**31 - 1
    rows = [(1, 0, "a", least), (1, 1, "n", 1), (1, 2, "b", 3), (1, 3, "a", 1), (1, 4, "b", 5)]
    frame = spark.createDataFrame(rows, "g int, t int, k string, v int")
    clause = (
        "PARTITION BY g ORDER BY t MEASURES A.t AS a, B.t AS b PATTERN (A B) WITHIN 5 "
        f"DEFINE A AS k = 'a', B AS k = 'b' AND {condition}"
    )
    for form in ("joins", "ranges"):
        assert find(frame, clause, {"prefilter": form}) == ["Row(g=1, a=3, b=4)"]


@pytest.mark.thorough
def test_columns_that_nobody_reads_may_have_one_name(spark: SparkSession, plans: list[Hints]) -> None:
    frame = spark.createDataFrame([(0, "a"), (1, "x"), (2, "b")], "t int, k string")
    twice = frame.select("t", "k", F.lit(1).alias("v"), F.lit(2).alias("v"))
    clause = "ORDER BY t MEASURES A.t AS a PATTERN (A Z* B) WITHIN 5 DEFINE A AS k = 'a', B AS k = 'b'"
    assert find_by_plans(twice, clause, plans) == [[(0,)] for _ in plans]


def test_reserved_names_are_left_alone(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(0, "a"), (1, "b")], "t int, __trellis_key string")
    clause = (
        "ORDER BY t MEASURES A.t AS a PATTERN (A B) WITHIN 5 DEFINE A AS __trellis_key = 'a', B AS __trellis_key = 'b'"
    )
    assert find(frame, clause, {"prefilter": "masks"}) == ["Row(a=0)"]


@pytest.mark.thorough
@pytest.mark.parametrize("skip", some(["PAST LAST ROW", "TO NEXT ROW"]))
def test_a_window_of_months_has_no_slices(spark: SparkSession, skip: str) -> None:
    days = [(dt.datetime(2024, 1, 1) + dt.timedelta(days=9 * n), "ab"[n % 2]) for n in range(24)]
    frame = spark.createDataFrame(days, "t timestamp_ntz, k string")
    clause = (
        f"ORDER BY t MEASURES A.t AS a, B.t AS b AFTER MATCH SKIP {skip} PATTERN (A Z* B) "
        "WITHIN INTERVAL '1' MONTH DEFINE A AS k = 'a', B AS k = 'b'"
    )
    expected = find(frame, clause, OFF)
    assert len(expected) > 5
    assert find(frame, clause, {"slices": 1}) == expected
    # With a bound on the rows there is something to cut by.
    bounded = clause.replace("Z*", "Z{0,2}")
    assert find(frame, bounded, {"slices": 1}) == find(frame, bounded, OFF)


def test_slices_do_not_search_where_the_search_would_not(spark: SparkSession) -> None:
    """From the second row, which the match before takes, the difference is too large for an int."""
    frame = spark.createDataFrame([(0, "a", 0), (1, "a", -(2**31)), (2, "b", 2**31 - 1)], "t int, k string, v int")
    clause = (
        "ORDER BY t MEASURES A.t AS a, B.t AS b PATTERN (A Z* B) WITHIN 5 "
        "DEFINE A AS k = 'a', B AS k = 'b' AND B.v - A.v > 0"
    )
    for hints in (OFF, {"slices": 1, "off": ["eliminate_rows"]}):
        assert find(frame, clause, hints) == ["Row(a=0, b=2)"]
