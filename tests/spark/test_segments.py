"""Segment patterns on Spark: SQL and builder, types of columns, windows of time, functions, plans, errors."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import trellis
from trellis.errors import BindingError, ResourceError, TrellisWarning, UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.connect(thorough=True)]

# One series falls and rises again, the other only rises.
_X = {"a": [9.0, 7.0, 4.0, 5.0, 8.0, 9.5], "b": [1.0, 2.0, 3.5, 4.0, None, 6.0]}
_DAY = dt.date(2024, 1, 1)


@pytest.fixture(scope="module")
def series(spark: SparkSession) -> DataFrame:
    rows = [
        (
            key,
            number,
            _DAY + dt.timedelta(days=number),
            dt.datetime(2024, 1, 1) + dt.timedelta(hours=2 * number),
            value,
            "up" if number % 2 else "down",
        )
        for key, values in _X.items()
        for number, value in enumerate(values)
    ]
    schema = "k string, n int, day date, ts timestamp_ntz, x double, s string"
    return spark.createDataFrame(rows, schema)


def find(frame: DataFrame, clause: str, **options: Any) -> list[tuple[Any, ...]]:
    text = f"SELECT * FROM {{t}} MATCH_RECOGNIZE (PARTITION BY k ORDER BY n {clause})"
    return sorted(tuple(row) for row in trellis.sql(text, t=frame, **options).collect())


_V = """PATTERN ((DOWN & W) (UP & W))
        DEFINE SEGMENT W AS window(2, NULL), SEGMENT DOWN AS last(DOWN.x) < first(DOWN.x),
               SEGMENT UP AS linear_regression_r2_signed(UP.day, UP.x) >= 0.9"""


def test_every_matching_segment_once(series: DataFrame) -> None:
    found = find(series, _V)
    # Two rows are always a line, so UP may start anywhere in the rise; b never falls.
    assert found == [("a", s, e) for s in (0, 1) for e in (3, 4, 5)]


def test_default_columns(series: DataFrame) -> None:
    frame = trellis.sql(f"SELECT * FROM {{t}} MATCH_RECOGNIZE (PARTITION BY k ORDER BY day {_V})", t=series)
    assert frame.columns == ["k", "match_start", "match_end"]
    assert dict(frame.dtypes)["match_start"] == "date"


def test_inner_variables_make_combinations(series: DataFrame) -> None:
    clause = (
        "MEASURES first(n) AS s, last(n) AS e, last(A.n) AS a PATTERN (A B) DEFINE SEGMENT A AS true, SEGMENT B AS true"
    )
    found = [row for row in find(series, clause) if row[0] == "a"]
    assert len(found) == sum(e - s + 1 for s in range(6) for e in range(s, 6))
    assert ("a", 1, 3, 2) in found


def test_builder(series: DataFrame) -> None:
    fall = (
        trellis.pattern("FALL & W")
        .define_segments(FALL="last(FALL.x) - first(FALL.x) <= -4", W="window(2, 4)")
        .measures(s="first(n)", e="last(n)", low="min(x)", mean="avg(FALL.x)")
    )
    frame = series.transform(fall.match, partition_by="k", order_by="n")
    assert [tuple(row) for row in frame.collect()] == [("a", 0, 2, 4.0, pytest.approx(20 / 3)), ("a", 0, 3, 4.0, 6.25)]


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ("window(day, 1, 1, DAY)", 5),
        ("window(day, 2, DAY)", 4),
        ("window(ts, 0, 4, HOUR)", 6 + 5 + 4),
        ("window(ts, 3, NULL, HOURS)", 4 + 3 + 2 + 1),
        ("window(3)", 4),
        ("window()", 21),
        ("window(5, NULL)", 3),
        ("last(W.day) - first(W.day) <= INTERVAL '1' DAY", 6 + 5),
        ("last(W.ts) - first(W.ts) BETWEEN INTERVAL '2' HOUR AND INTERVAL '4' HOUR", 5 + 4),
    ],
)
def test_windows(series: DataFrame, window: str, expected: int) -> None:
    found = find(series, f"MEASURES count(*) AS c PATTERN (W) DEFINE SEGMENT W AS {window}")
    assert len([row for row in found if row[0] == "a"]) == expected


def test_within_is_a_window(series: DataFrame) -> None:
    text = """SELECT * FROM {t} MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts PATTERN (W) WITHIN INTERVAL '2' HOUR
              DEFINE SEGMENT W AS true)"""
    assert trellis.sql(text, t=series).where("k = 'a'").count() == 6 + 5


@pytest.mark.connect(thorough=True)
def test_measures_of_all_types(series: DataFrame) -> None:
    clause = """MEASURES first(s) AS s,
                last(day) AS d, max(s) AS m, count(x) AS c, sum(n) AS total, upper(last(s)) AS u,
                stddev(x) AS sd, linear_regression_slope(ts, x) AS slope, equal_up_down_ticks(x) AS eq,
                MATCH_NUMBER() AS number
                PATTERN (ALL_OF_IT) DEFINE SEGMENT ALL_OF_IT AS window(6)"""
    a, b = find(series, clause)
    assert a[1:7] == ("down", _DAY + dt.timedelta(days=5), "up", 6, 15, "UP")
    assert a[7] == pytest.approx(float(np.std([9, 7, 4, 5, 8, 9.5], ddof=1)))
    slope = np.polyfit(np.arange(6) * 7200.0, _X["a"], 1)[0]
    assert a[8] == pytest.approx(float(slope))
    assert a[9:] == (False, 1)
    assert b[4] == 5  # NULL does not count


def test_all_rows_per_match(series: DataFrame) -> None:
    clause = (
        "MEASURES MATCH_NUMBER() AS m ALL ROWS PER MATCH PATTERN (F) DEFINE SEGMENT F AS window(6) AND first(x) > 5"
    )
    text = f"SELECT k, n, m, x FROM {{t}} MATCH_RECOGNIZE (PARTITION BY k ORDER BY n {clause})"
    assert [tuple(row) for row in trellis.sql(text, t=series).collect()] == [
        ("a", n, 1, value) for n, value in enumerate(_X["a"])
    ]


def test_skip(series: DataFrame) -> None:
    clause = "MEASURES first(n) AS s, last(n) AS e {} PATTERN (UP) DEFINE SEGMENT UP AS last(x) > first(x)"
    assert find(series, clause.format("AFTER MATCH SKIP PAST LAST ROW")) == [("a", 0, 5), ("b", 0, 5)]
    starts = [row for row in find(series, clause.format("AFTER MATCH SKIP TO NEXT ROW")) if row[0] == "a"]
    assert starts == [("a", s, 5) for s in range(5)]


@pytest.mark.parametrize("x", ["CAST(x AS DECIMAL(8, 2))", "CAST(x * 100 AS BIGINT)", "CAST(x AS FLOAT)"])
def test_numbers_of_other_types(series: DataFrame, x: str) -> None:
    frame = series.selectExpr("k", "n", f"{x} AS x")
    clause = """MEASURES first(n) AS s, last(n) AS e PATTERN (D & R & W) DEFINE SEGMENT W AS window(3, NULL),
                SEGMENT D AS last(x) / first(x) < 0.6, SEGMENT R AS linear_regression_r2(n, x) > 0.5"""
    assert find(frame, clause) == [("a", 0, 2), ("a", 0, 3)]


def test_parameters(series: DataFrame) -> None:
    clause = """MEASURES count(*) AS c PATTERN ((F & W){:k}) DEFINE SEGMENT W AS window(:lo, :hi),
                SEGMENT F AS last(F.x) - first(F.x) < -:fall"""
    args = {"k": 2, "lo": 2, "hi": 2, "fall": 1.5}
    assert find(series, clause, args=args) == [("a", 3)]


@pytest.mark.connect
def test_own_function(series: DataFrame) -> None:
    def reach(columns: list[Any], starts: Any, ends: Any) -> Any:
        pairs = zip(starts, ends, strict=True)
        return np.array([np.nanmax(columns[0][s : e + 1]) - np.nanmin(columns[0][s : e + 1]) for s, e in pairs])

    trellis.segment_function("reach_of", evaluate=reach, cost="linear")
    clause = "MEASURES reach_of(x) AS r PATTERN (S & W) DEFINE SEGMENT W AS window(3), SEGMENT S AS reach_of(S.x) >= 5"
    assert find(series, clause) == [("a", 5.0)]


def test_rewritten_row_pattern(series: DataFrame) -> None:
    clause = """MEASURES first(D.n) AS s, last(D.n) AS e, Z.n AS z PATTERN (A* D+ B* Z) SUBSET U = (A, D, B)
                DEFINE Z AS last(D.x) - first(D.x) < -4 AND count(U.*) >= 4"""
    rewritten = find(series, clause, hints={"rewrite": "always"})
    assert rewritten == find(series, clause)
    assert rewritten
    text = f"SELECT * FROM {{t}} MATCH_RECOGNIZE (PARTITION BY k ORDER BY n {clause})"
    assert "rewrite_rows" not in trellis.explain(text, t=series)
    text = text.replace("count(U.*) >= 4", "linear_regression_r2(U.n, U.x) >= 0")
    assert "rewrite_rows" in trellis.explain(text, t=series)


@pytest.mark.connect
def test_explain_has_estimates_and_counts(series: DataFrame) -> None:
    text = f"SELECT * FROM {{t}} MATCH_RECOGNIZE (PARTITION BY k ORDER BY n {_V})"
    shown = trellis.explain(text, t=series, analyze=True)
    for line in ("== Logical tree ==", "== Chosen tree ==", "SegGen", "found", "rows in"):
        assert line in shown


@pytest.mark.parametrize(
    "hints",
    [
        {"order": "left", "join": "probe"},
        {"order": "right", "join": "merge", "sets": "pairs"},
        {"generator": "filter", "sets": "bands"},
    ],
)
def test_forced_plans_agree(series: DataFrame, hints: dict[str, str]) -> None:
    assert find(series, _V, hints=hints) == find(series, _V)


@pytest.mark.parametrize(
    ("clause", "kind", "words"),
    [
        ("PATTERN (S) DEFINE SEGMENT S AS linear_regression_r2(s, x) > 0.5", BindingError, "needs numbers, not string"),
        ("PATTERN (S) DEFINE SEGMENT S AS window(n, 1, 2, DAY)", BindingError, "needs a date or a timestamp"),
        ("PATTERN (S) DEFINE SEGMENT S AS no_such_function(S.x) > 1", BindingError, "no_such_function"),
        ("PATTERN ((A | C)+ B) DEFINE B AS mann_kendall_test(A.x) > 1", UnsupportedError, "cannot be rewritten"),
    ],
)
def test_refused(series: DataFrame, clause: str, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        find(series, clause)


def test_one_long_series_without_a_window(spark: SparkSession) -> None:
    frame = spark.range(50_000).selectExpr("id AS n", "CAST(id % 7 AS DOUBLE) AS x")
    text = "SELECT * FROM {t} MATCH_RECOGNIZE (ORDER BY n PATTERN (S) DEFINE SEGMENT S AS last(x) > 99 * first(x) + 99)"
    with pytest.warns(TrellisWarning, match="no window"):
        result = trellis.sql(text, t=frame, hints={"step_budget": 1000})
    with pytest.raises(Exception, match="given up") as raised:
        result.collect()
    assert ResourceError.__name__ in str(raised.value)


def test_texts_without_a_text_column(series: DataFrame) -> None:
    assert find(series, "PATTERN (S) DEFINE SEGMENT S AS 'a' = :p AND window(1)", args={"p": "b"}) == []
    assert len(find(series, "PATTERN (S) DEFINE SEGMENT S AS 'a' = :p AND window(1)", args={"p": "a"})) == 12


@pytest.mark.parametrize("function", ["var_samp", "stddev", "avg"])
def test_spread_of_times_is_refused(series: DataFrame, function: str) -> None:
    with pytest.raises(BindingError, match="needs numbers, not timestamp"):
        find(series, f"PATTERN (S) DEFINE SEGMENT S AS {function}(S.ts) > 1")
