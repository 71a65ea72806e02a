"""Segment queries by hand, without Spark: functions by numbers, windows, what comes out, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

import local_segments
from trellis.algebra.segments import Choices
from trellis.errors import BindingError, DataError, QuerySyntaxError, ResourceError, TrellisError, UnsupportedError

SCHEMA = [("k", "int"), ("t", "int"), ("v", "double"), ("u", "int"), ("s", "string")]
NAN, INF = math.nan, math.inf
PLANS = [
    Choices("left", "merge", "materialize", "index", "bands"),
    Choices("left", "probe", "probe", "index", "pairs"),
    Choices("right", "merge", "probe", "filter", "pairs"),
    Choices("right", "probe", "materialize", "filter", "bands"),
]


def rows_of(*series: Sequence[Any]) -> list[dict[str, Any]]:
    """Series 1, 2, ...: `t` counts rows, `v` holds the values, `u` ten times their whole parts, `s` letters."""
    return [
        {"k": k, "t": t, "v": v, "u": None if v is None or not math.isfinite(v) else int(v) * 10, "s": "abc"[t % 3]}
        for k, values in enumerate(series, start=1)
        for t, v in enumerate(values)
    ]


def run(clause: str, *series: Sequence[Any], args: Mapping[str, object] | None = None) -> list[dict[str, Any]]:
    """The result, which must be the same for every plan."""
    head = f"PARTITION BY k ORDER BY t {clause}"
    result = local_segments.run(head, rows_of(*series), SCHEMA, args)
    for plan in PLANS:
        assert repr(local_segments.run(head, rows_of(*series), SCHEMA, args, plan)) == repr(result), plan
    return result


def spans(clause: str, *values: Any, args: Mapping[str, object] | None = None) -> list[tuple[int, int]]:
    """The first and the last row of all matches in one series."""
    return [(row["match_start"], row["match_end"]) for row in run(clause, values, args=args)]


def value(function: str, *values: Any) -> Any:
    """A function of the segment of all rows, as a measure."""
    (row,) = run(f"MEASURES {function} AS f PATTERN (X) DEFINE SEGMENT X AS window({len(values)})", values)
    return row["f"]


# ---- functions ----

FUNCTIONS = [
    ("count(X.*)", 4),
    ("count(*)", 4),
    ("count(X.v)", 4),
    ("count(X.v, X.u)", 4),
    ("sum(X.v)", 10.0),
    ("sum(X.u)", 100),
    ("sum(X.v * 2)", 20.0),
    ("sum(X.v) FILTER (WHERE X.v > 1)", 9.0),
    ("avg(X.v)", 2.5),
    ("min(X.v)", 1.0),
    ("max(X.v)", 4.0),
    ("max(X.u)", 40),
    ("min(X.s)", "a"),
    ("max(X.s)", "c"),
    ("stddev(X.v)", math.sqrt(5 / 3)),
    ("stddev_samp(X.v)", math.sqrt(5 / 3)),
    ("stddev_pop(X.v)", math.sqrt(5 / 4)),
    ("variance(X.v)", 5 / 3),
    ("var_samp(X.u)", 500 / 3),
    ("var_pop(X.v)", 5 / 4),
    ("linear_regression_r2(X.t, X.v)", 0.64),
    ("linear_regression_r2_signed(X.t, X.v)", 0.64),
    ("linear_regression_r2_signed(X.t, -X.v)", -0.64),
    ("linear_regression_slope(X.t, X.v)", 0.8),
    ("linear_regression_slope(X.t, -X.u)", -8.0),
    ("corr(X.t, X.v)", 0.8),
    ("corr(X.v, X.u)", 1.0),
    ("mann_kendall_test(X.v)", 3 / math.sqrt(4 * 3 * 13 / 18)),
    ("mann_kendall_test(-X.v)", -3 / math.sqrt(4 * 3 * 13 / 18)),
    ("zscore(X.v, 2)", -0.5 / math.sqrt(0.5)),
    ("zscore(X.v, 4)", 0.5 / math.sqrt(5 / 3)),
    ("zscore(X.v, 5)", None),
    ("equal_up_down_ticks(X.v)", False),
    ("first(X.v)", 1.0),
    ("last(X.v)", 3.0),
    ("X.v", 3.0),
    ("v", 3.0),
    ("first(X.v, 1)", 2.0),
    ("last(X.v, 3)", 1.0),
    ("last(X.v, 4)", None),
    ("PREV(first(X.v))", None),
    ("PREV(last(X.v))", 4.0),
    ("NEXT(first(X.v))", 2.0),
    ("last(X.v) - first(X.v)", 2.0),
    ("MATCH_NUMBER()", 1),
]


@pytest.mark.parametrize(("function", "expected"), FUNCTIONS)
def test_functions(function: str, expected: Any) -> None:
    found = value(function, 1.0, 2.0, 4.0, 3.0)
    assert found == (pytest.approx(expected) if isinstance(expected, float) else expected)
    assert type(found) is type(expected)


@pytest.mark.parametrize(("function", "expected"), [case for case in FUNCTIONS if "MATCH" not in case[0]])
def test_functions_in_conditions(function: str, expected: Any) -> None:
    """The same values decide: nearby limits let the segment through on one side only."""
    pattern = "PATTERN (X & W) DEFINE SEGMENT W AS window(4), SEGMENT X AS "
    text = {None: f"{function} IS NULL", False: f"NOT {function}"}.get(expected) if expected in (None, False) else None
    if isinstance(expected, str):
        text = f"{function} = '{expected}'"
    if text is not None:
        assert spans(pattern + text, 1.0, 2.0, 4.0, 3.0) == [(0, 3)]
        return
    for limit, symbol, passes in ((-1e-6, ">", True), (-1e-6, "<", False), (1e-6, "<", True), (1e-6, ">", False)):
        condition = f"{function} {symbol} {expected + limit!r}D"
        assert spans(pattern + condition, 1.0, 2.0, 4.0, 3.0) == [(0, 3)] * passes, condition


@pytest.mark.parametrize(
    ("function", "values", "expected"),
    [
        # SQL's aggregates leave out NULL, but neither NaN nor infinities
        ("sum(X.v)", (1.0, None, 3.0), 4.0),
        ("sum(X.v)", (1.0, None, NAN), NAN),
        ("sum(X.v)", (1.0, INF), INF),
        ("sum(X.v)", (INF, -INF), NAN),
        ("avg(X.v)", (1.0, None, 3.0), 2.0),
        ("avg(X.v)", (1.0, NAN), NAN),
        ("avg(X.v)", (1.0, -INF), -INF),
        ("stddev(X.v)", (1.0, None, 3.0), math.sqrt(2)),
        ("stddev(X.v)", (1.0, NAN, 3.0), NAN),
        ("var_pop(X.v)", (1.0, INF, 3.0), NAN),
        # the other statistics leave out all three
        ("linear_regression_slope(X.t, X.v)", (1.0, None, NAN, 3.0, INF), 2 / 3),
        ("linear_regression_r2(X.t, X.v)", (1.0, None, NAN, 3.0), 1.0),
        ("linear_regression_r2_signed(X.t, X.v)", (3.0, None, NAN, 1.0), -1.0),
        ("corr(X.t, X.v)", (3.0, NAN, 1.0, None), -1.0),
        ("mann_kendall_test(X.v)", (1.0, NAN, 2.0, None, 3.0), 2 / math.sqrt(3 * 2 * 11 / 18)),
        ("equal_up_down_ticks(X.v)", (1.0, NAN, 2.0, None, 1.0), True),
        ("equal_up_down_ticks(X.v)", (1.0, None, 2.0), False),
        ("zscore(X.v, 3)", (1.0, None, 3.0), None),
        ("zscore(X.v, 3)", (1.0, NAN, 3.0), None),
        # NaN is a value, and the largest of all
        ("count(X.v)", (1.0, None, NAN, 3.0, INF), 4),
        ("min(X.v)", (NAN, 2.0, None), 2.0),
        ("min(X.v)", (NAN, None), NAN),
        ("max(X.v)", (INF, NAN, None), NAN),
        ("max(X.v)", (1.0, INF, -INF), INF),
        ("min(X.v)", (1.0, INF, -INF), -INF),
        ("first(X.v)", (NAN, 1.0), NAN),
        ("last(X.v)", (NAN, None), None),
        # too few values
        ("count(X.v)", (None, None), 0),
        ("sum(X.v)", (None, None), None),
        ("sum(X.u)", (None, None), None),
        ("avg(X.v)", (None,), None),
        ("min(X.v)", (None,), None),
        ("stddev(X.v)", (1.0, None), None),
        ("stddev_pop(X.v)", (1.0, None), 0.0),
        ("var_samp(X.v)", (1.0,), None),
        ("linear_regression_r2(X.t, X.v)", (1.0, None), None),
        ("linear_regression_r2(X.t, X.v)", (1.0, 1.0, 1.0), None),
        ("linear_regression_slope(X.t, X.v)", (1.0, 1.0, 1.0), 0.0),
        ("linear_regression_slope(X.v, X.t)", (1.0, 1.0), None),
        ("corr(X.t, X.v)", (0.1, 0.1, 0.1), None),
        ("mann_kendall_test(X.v)", (1.0, NAN), None),
        ("mann_kendall_test(X.v)", (2.0, 2.0, 2.0), None),
        ("mann_kendall_test(X.v)", (1.0, 2.0, 1.0), 0.0),
        ("mann_kendall_test(X.v)", (1.0, 2.0, 2.0), 1 / math.sqrt((66 - 18) / 18)),
        ("equal_up_down_ticks(X.v)", (None, None), True),
        ("equal_up_down_ticks(X.v)", (1.0,), True),
        ("zscore(X.v, 2)", (1.0, 1.0), None),
        ("stddev(X.v)", (1e9, 1e9 + 1, 1e9 + 2), 1.0),
        ("linear_regression_slope(X.t, X.v)", (1e12, 1e12 + 1, 1e12 + 2), 1.0),
    ],
)
def test_functions_of_odd_values(function: str, values: tuple[Any, ...], expected: Any) -> None:
    found = value(function, *values)
    assert found == (pytest.approx(expected, nan_ok=True) if isinstance(expected, float) else expected)


def test_corr_of_two_segments_pairs_rows_from_their_starts() -> None:
    clause = (
        "MEASURES corr(X.v, Y.v) AS c PATTERN ((X Y) & W) "
        "DEFINE SEGMENT X AS window(3), SEGMENT Y AS window(4), SEGMENT W AS window(6)"
    )
    (row,) = run(clause, (1.0, 2.0, 3.0, 4.0, 5.0, 0.0))
    assert row["c"] == pytest.approx(1.0)
    (row,) = run(clause, (1.0, 2.0, 0.0, 4.0, None, 9.0))
    assert row["c"] == pytest.approx(1.0)
    (row,) = run(clause, (1.0, None, 1.0, 4.0, None, 9.0))
    assert row["c"] is None


def test_a_variable_that_is_left_out_has_no_values() -> None:
    clause = (
        "MEASURES first(A.v) AS f, count(A.*) AS n, count(A.v) AS m, sum(A.v) AS s, equal_up_down_ticks(A.v) AS e, "
        "max(A.s) AS x PATTERN (A? X) DEFINE SEGMENT X AS true, A AS v > 5"
    )
    (row,) = run(clause, (1.0,))
    assert row == {"k": 1, "f": None, "n": 0, "m": 0, "s": None, "e": None, "x": None}


def test_rows_around_the_segment() -> None:
    rising = "PATTERN (X) DEFINE SEGMENT X AS PREV(first(X.v)) < first(X.v) AND NEXT(last(X.v)) < last(X.v)"
    assert spans(rising, 1.0, 2.0, 3.0, 2.0) == [(1, 2), (2, 2)]
    assert spans("PATTERN (A & X) DEFINE A AS PREV(v) < v, SEGMENT X AS true", 1.0, 2.0, None, 3.0) == [(1, 1)]


def test_division_by_zero_matches_nothing() -> None:
    assert spans("PATTERN (X) DEFINE SEGMENT X AS last(X.v) / first(X.v) < 5 AND window(2)", 0.0, 1.0, 2.0) == [(1, 2)]


# ---- windows ----


@pytest.mark.parametrize(
    ("window", "lengths"),
    [
        ("window()", {1, 2, 3, 4}),
        ("window(2)", {2}),
        ("window(2, 3)", {2, 3}),
        ("window(0, 2)", {1, 2}),
        ("window(3, NULL)", {3, 4}),
        ("window(NULL, 2)", {1, 2}),
        ("window(NULL, NULL)", {1, 2, 3, 4}),
        ("window(NULL)", {1, 2, 3, 4}),
        ("window(9)", set()),
        ("window(:n)", {3}),
        ("window(:n, :none)", {3, 4}),
        ("window(2) AND window(3)", set()),
        ("window(1, 3) AND window(2, 4)", {2, 3}),
        ("window(1) OR window(4)", {1, 4}),
        ("NOT window(2, 3)", {1, 4}),
        ("window(2, 3) AND first(X.v) = first(X.v)", {2, 3}),
        ("count(*) BETWEEN 2 AND 3", {2, 3}),
    ],
)
def test_windows(window: str, lengths: set[int]) -> None:
    expected = [(i, j) for i in range(4) for j in range(i, 4) if j - i + 1 in lengths]
    args = {"n": 3, "none": None}
    assert spans(f"PATTERN (X) DEFINE SEGMENT X AS {window}", 1.0, 2.0, 3.0, 4.0, args=args) == expected


# ---- patterns, and conditions that read other variables ----


@pytest.mark.parametrize(
    ("pattern", "define", "values", "expected"),
    [
        ("(B B) & X", "SEGMENT X AS first(X.v) < last(B.v)", (0.0, 3.0, 2.0), [(0, 1)]),
        ("X & ~A", "SEGMENT X AS true, A AS A.v < count(X.*)", (0.0, 3.0), [(0, 1), (1, 1)]),
        ("X B", "SEGMENT X AS first(B.v) > 1", (0.0, 3.0), [(0, 1), (1, 1)]),
        ("~~A B", "A AS A.v < B.v", (0.0, 0.0, 1.0), [(1, 2)]),
        ("Y{3} Z", "SEGMENT Y AS first(Y.v) <> Z.v, SEGMENT Z AS first(Z.v) < count(Y.*)", (2.0, 1.0), [(0, 1)]),
        ("A (Z{2,} C | B)", "SEGMENT Z AS first(Z.v) <> A.v, C AS C.v >= first(Z.v)", (0.0, 1.0), [(0, 0), (1, 1)]),
        # the rows that a point takes up bound the other side of its `&`, in quantified parts that look outside too
        (
            "(X & C)+ & Y",
            "SEGMENT X AS v > 0 AND u > 0, C AS v >= Y.v, SEGMENT Y AS true",
            (2.0, 1.0),
            [(0, 0), (1, 1)],
        ),
        # the body of every quantifier is a scope: B looks at the A beside it
        ("(A (A B)?) & X", "SEGMENT X AS true, B AS B.v > first(A.v)", (0.0, 3.0, 2.0), [(0, 0), (1, 1), (2, 2)]),
        ("(A (A B){,2}) & X", "SEGMENT X AS true, B AS B.v > first(A.v)", (0.0, 3.0, 2.0), [(0, 0), (1, 1), (2, 2)]),
        ("A X B?", "SEGMENT X AS true", (1.0, 2.0), [(0, 0), (0, 1), (1, 1)]),
        ("^ X", "SEGMENT X AS window(2)", (1.0, 2.0, 3.0), [(0, 1)]),
        ("X $", "SEGMENT X AS window(2)", (1.0, 2.0, 3.0), [(1, 2)]),
    ],
)
def test_patterns(pattern: str, define: str, values: tuple[float, ...], expected: list[Any]) -> None:
    assert spans(f"PATTERN ({pattern}) DEFINE {define}", *values) == expected


def test_a_variable_in_a_part_that_looks_outside_and_beside_it() -> None:
    clause = "MEASURES first(X.t) AS f, last(X.t) AS l PATTERN (X* X A) DEFINE SEGMENT X AS first(X.v) < A.v"
    assert run(clause, (0.0, 1.0)) == [{"k": 1, "f": 0, "l": 1}]


def test_skips_prefer_the_first_variable_by_name_to_be_absent() -> None:
    clause = "MEASURES Y.t AS y, B.t AS b AFTER MATCH SKIP TO NEXT ROW PATTERN (Y | B) DEFINE SEGMENT Y AS true"
    assert run(clause, (1.0,)) == [{"k": 1, "y": 0, "b": None}]


# ---- what comes out ----


def test_default_columns_are_the_ends_of_the_first_order_key() -> None:
    clause = "PATTERN (X) DEFINE SEGMENT X AS window(2)"
    rows = rows_of((1.0, 2.0, 3.0))
    assert local_segments.run(f"PARTITION BY k ORDER BY t {clause}", rows, SCHEMA) == [
        {"k": 1, "match_start": 0, "match_end": 1},
        {"k": 1, "match_start": 1, "match_end": 2},
    ]
    assert local_segments.run(f"ORDER BY v DESC, t {clause}", rows, SCHEMA) == [
        {"match_start": 3.0, "match_end": 2.0},
        {"match_start": 2.0, "match_end": 1.0},
    ]


def test_match_number_starts_anew_in_each_series() -> None:
    clause = "MEASURES MATCH_NUMBER() AS n, first(t) AS s PATTERN (X) DEFINE SEGMENT X AS window(2)"
    assert run(clause, (1.0, 2.0, 3.0), (), (4.0,), (5.0, 6.0)) == [
        {"k": 1, "n": 1, "s": 0},
        {"k": 1, "n": 2, "s": 1},
        {"k": 4, "n": 1, "s": 0},
    ]


def test_all_rows_per_match() -> None:
    clause = (
        "MEASURES MATCH_NUMBER() AS n, sum(X.v) AS total, last(A.t) AS a ALL ROWS PER MATCH "
        "PATTERN (X A) DEFINE SEGMENT X AS window(2)"
    )
    result = run(clause, (1.0, 2.0, 4.0))
    assert [tuple(row) for row in result] == [("k", "t", "n", "total", "a", "v", "u", "s")] * 4
    assert [(row["t"], row["v"], row["n"], row["total"], row["a"]) for row in result] == [
        (0, 1.0, 1, 3.0, 1),
        (1, 2.0, 1, 3.0, 1),
        (1, 2.0, 2, 6.0, 2),
        (2, 4.0, 2, 6.0, 2),
    ]


def test_every_match_unless_a_skip_is_asked_for() -> None:
    clause = "{} PATTERN (X & ~(A B)) DEFINE SEGMENT X AS window(2, 3), A AS v = 1, B AS v = 2"
    values = (1.0, 2.0, 3.0, 1.0, 1.0)
    assert spans(clause.format(""), *values) == [(0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4)]
    assert spans(clause.format("AFTER MATCH SKIP PAST LAST ROW"), *values) == [(0, 2), (3, 4)]
    assert spans(clause.format("AFTER MATCH SKIP TO NEXT ROW"), *values) == [(0, 2), (1, 3), (2, 4), (3, 4)]


def test_skip_to_a_variable() -> None:
    clause = "AFTER MATCH SKIP TO {} Y PATTERN (X Y) DEFINE SEGMENT X AS window(2), SEGMENT Y AS window(3)"
    values = (1.0,) * 8
    assert spans(clause.format("FIRST"), *values) == [(0, 3), (1, 4), (2, 5), (3, 6), (4, 7)]
    assert spans(clause.format("LAST"), *values) == [(0, 3), (3, 6)]
    with pytest.raises(DataError, match="SKIP TO FIRST X is impossible"):
        run("AFTER MATCH SKIP TO FIRST X PATTERN (X A) DEFINE SEGMENT X AS true", values)
    with pytest.raises(DataError, match="SKIP TO LAST A is impossible"):
        run("AFTER MATCH SKIP TO LAST A PATTERN (X A?) DEFINE SEGMENT X AS true, A AS false", values)


@pytest.mark.parametrize(
    ("clause", "problem"),
    [
        (
            "PATTERN (X) DEFINE SEGMENT X AS window(2) AND first(X.n) + last(X.n) > 0",
            "A number is too large for its type in a segment that starts at row 3 of the partition ('b').",
        ),
        (
            "PATTERN (P X & W) DEFINE P AS n > 9, SEGMENT W AS window(1, 3), "
            "SEGMENT X AS window(2) AND first(X.n) + last(X.n) > avg(X.n)",
            "A number is too large for its type in a segment that starts at row 3 of the partition ('b').",
        ),
        (
            "MEASURES sum(X.n) AS s PATTERN (X) DEFINE SEGMENT X AS window(2)",
            "A sum over the segment from row 3 of the partition ('b') is too large for its type.",
        ),
        (
            "AFTER MATCH SKIP TO FIRST X PATTERN (P X) DEFINE P AS n > 9, SEGMENT X AS window(2)",
            "AFTER MATCH SKIP TO FIRST X is impossible for the match at row 3 of the partition ('b'): "
            "there is no such row after the first one.",
        ),
    ],
)
@pytest.mark.parametrize("before", [4, 5_000])  # of many rows, those that matter are taken out
@pytest.mark.parametrize("plan", PLANS)
def test_errors_name_the_partition_and_the_row(clause: str, problem: str, before: int, plan: Choices) -> None:
    schema = [("k", "string"), ("t", "bigint"), ("n", "bigint")]
    rows = [{"k": "a", "t": t, "n": 1} for t in range(before)]
    rows += [{"k": "b", "t": t, "n": n} for t, n in enumerate([1, 2, 2**62, 2**62, 5])]
    with pytest.raises(DataError) as caught:
        local_segments.run(f"PARTITION BY k ORDER BY t {clause}", rows, schema, choices=plan)
    assert caught.value.problem == problem


def test_parameters() -> None:
    clause = "PATTERN ((X{:k}) & W) DEFINE SEGMENT X AS last(X.v) - first(X.v) >= :d AND window(2), SEGMENT W AS true"
    assert spans(clause, 1.0, 2.0, 4.0, 5.0, args={"k": 2, "d": 1.0}) == [(0, 2), (1, 3)]
    assert spans(clause, 1.0, 2.0, 4.0, 5.0, args={"k": 1, "d": 2}) == [(1, 2)]
    assert spans(clause, 1.0, 2.0, 4.0, 5.0, args={"k": 1, "d": None}) == []


def test_null_partition_and_empty_table() -> None:
    rows = [{**row, "k": None} for row in rows_of((1.0, 2.0))]
    clause = "PARTITION BY k ORDER BY t PATTERN (X) DEFINE SEGMENT X AS window(2)"
    assert local_segments.run(clause, rows, SCHEMA) == [{"k": None, "match_start": 0, "match_end": 1}]
    assert local_segments.run(clause, [], SCHEMA) == []


# ---- what is refused, and where ----


def refused(clause: str, kind: type[TrellisError], match: str, place: str | None) -> None:
    text = f"PARTITION BY k ORDER BY t {clause}"
    with pytest.raises(kind, match=match) as caught:
        local_segments.run(text, rows_of((1.0, 2.0)), SCHEMA)
    span = caught.value.span
    assert (None if span is None else text[span.start : span.end]) == place


@pytest.mark.parametrize(
    ("condition", "match", "place"),
    [
        ("window(3, 2)", "lower bound of the window is above", "window(3, 2)"),
        ("window(-1, 2)", "negative", "-1"),
        ("window(1, -2)", "negative", "-2"),
        ("window(count(*), 2)", "must be constants", "count(*)"),
        ("window(1, X.u)", "must be constants", "X.u"),
        ("window(1 + 1)", "must be constants", "1 + 1"),
        ("window(u, 2)", "a unit", "window(u, 2)"),
        ("window(1.5)", "whole bounds", "1.5"),
        ("window(0)", "no rows", "window(0)"),
        ("window(0, 0)", "no rows", "window(0, 0)"),
        ("window('a')", "must be numbers", "'a'"),
        ("window(TRUE)", "must be numbers", "TRUE"),
        ("window(1, 2, 3)", "at most two bounds, not 3", "window(1, 2, 3)"),
        ("window(:n)", "parameter :n has no value", ":n"),
        ("window(t, 0, 2, FORTNIGHT)", "FORTNIGHT is not a unit", "FORTNIGHT"),
        ("window(t, 0, 2, MONTH)", "MONTH is not a unit", "MONTH"),
        ("window(t, 0, 2, DAY)", "needs a date or a timestamp, not int", "t"),
        ("first(Q.v) > 1", "Q is neither a variable", "Q.v"),
        ("X.q > 1", "no column q", "X.q"),
        ("CLASSIFIER() = 'X'", "CLASSIFIER", "CLASSIFIER()"),
        ("zscore(X.v, 1) > 0", "2 or more", "zscore(X.v, 1)"),
        ("zscore(X.v, X.u) > 0", "whole number", "zscore(X.v, X.u)"),
        ("zscore(X.v, 2.5) > 0", "whole number", "zscore(X.v, 2.5)"),
        ("mann_kendall_test(sum(X.v)) > 0", "cannot be nested", "sum(X.v)"),
        ("sum(mann_kendall_test(X.v)) > 0", "cannot stand inside", "mann_kendall_test(X.v)"),
        ("linear_regression_r2(X.t, Y.v) > 0", "the same variable", "linear_regression_r2(X.t, Y.v)"),
        ("corr(X.v + Y.v, X.v) > 0", "several variables", "X.v + Y.v"),
        ("last(X.v) > :nope", "parameter :nope has no value", ":nope"),
    ],
)
def test_refused_conditions(condition: str, match: str, place: str) -> None:
    refused(f"PATTERN (X Y) DEFINE SEGMENT Y AS true, SEGMENT X AS {condition}", BindingError, match, place)


ARGUMENTS = {
    "linear_regression_r2": 2,
    "linear_regression_r2_signed": 2,
    "linear_regression_slope": 2,
    "corr": 2,
    "zscore": 2,
    "mann_kendall_test": 1,
    "equal_up_down_ticks": 1,
}


@pytest.mark.parametrize("function", ARGUMENTS)
@pytest.mark.parametrize("given", range(4))
def test_numbers_of_arguments(function: str, given: int) -> None:
    wanted = ARGUMENTS[function]
    if given != wanted:
        call = f"{function}({', '.join(['X.v'] * given)})"
        message = f"{function} takes {wanted} arguments?, not {given}"
        refused(f"MEASURES {call} AS f PATTERN (X) DEFINE SEGMENT X AS true", BindingError, message, call)
        refused(f"PATTERN (X) DEFINE SEGMENT X AS {call} IS NULL", BindingError, message, call)


@pytest.mark.parametrize("function", ["sum", "avg", "min", "max", "stddev", "var_pop"])
def test_numbers_of_arguments_of_aggregates(function: str) -> None:
    call = f"{function}(X.v, X.u)"
    refused(f"PATTERN (X) DEFINE SEGMENT X AS {call} > 0", BindingError, f"{function} takes 1 argument, not 2", call)
    refused(f"PATTERN (X) DEFINE SEGMENT X AS {function}() > 0", QuerySyntaxError, "Expected an expression", ")")


@pytest.mark.parametrize("function", [*ARGUMENTS, "sum", "avg", "stddev", "var_pop"])
def test_strings_are_no_numbers(function: str) -> None:
    more = ", 3" if function == "zscore" else ", X.v" if ARGUMENTS.get(function) == 2 else ""
    refused(f"PATTERN (X) DEFINE SEGMENT X AS {function}(X.s{more}) IS NULL", BindingError, "needs numbers", "X.s")


@pytest.mark.parametrize(
    ("clause", "kind", "match", "place"),
    [
        ("PATTERN (X A) SUBSET U = (A) DEFINE SEGMENT X AS true", UnsupportedError, "SUBSET", "U = (A)"),
        ("PATTERN (X A) SUBSET U = (X) DEFINE SEGMENT X AS true", BindingError, "subset U holds X", "U = (X)"),
        ("MEASURES CLASSIFIER() AS c PATTERN (X) DEFINE SEGMENT X AS true", BindingError, "CLASSIFIER", "CLASSIFIER()"),
        ("MEASURES first(t) AS k PATTERN (X) DEFINE SEGMENT X AS true", BindingError, "two columns k", "k"),
        ("MEASURES first(A.t) AS a PATTERN (X & ~A) DEFINE SEGMENT X AS true", BindingError, "only inside ~", "A"),
        ("AFTER MATCH SKIP TO LAST A PATTERN (X & ~A) DEFINE SEGMENT X AS true", BindingError, "only inside ~", "A"),
        ("AFTER MATCH SKIP TO LAST Q PATTERN (X) DEFINE SEGMENT X AS true", BindingError, "not a variable", "Q"),
        (
            "MEASURES avg(A.v) AS a PATTERN (A X A) DEFINE SEGMENT X AS true",
            BindingError,
            "not one stretch",
            "avg(A.v)",
        ),
        ("MEASURES sum(A.v) AS a PATTERN ((A X)+) DEFINE SEGMENT X AS true", BindingError, "one stretch", "sum(A.v)"),
        ("PATTERN (X{:n}) DEFINE SEGMENT X AS true", BindingError, "parameter :n has no value", ":n"),
        ("PATTERN (X) DEFINE SEGMENT X AS count(DISTINCT X.v) > 1", UnsupportedError, "COUNT", "count(DISTINCT X.v)"),
        ("PATTERN (X) DEFINE SEGMENT X AS median(X.v) > 1", UnsupportedError, "MEDIAN of a segment", "median(X.v)"),
        ("MEASURES array_agg(X.v) AS a PATTERN (X) DEFINE SEGMENT X AS true", UnsupportedError, "A", "array_agg(X.v)"),
        (
            "ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (X) DEFINE SEGMENT X AS true",
            UnsupportedError,
            "UNMATCHED",
            "ALL ROWS PER MATCH WITH UNMATCHED ROWS",
        ),
        ("PATTERN (X) DEFINE SEGMENT X AS NOT window(t, 1, DAY)", UnsupportedError, "whole", "window(t, 1, DAY)"),
    ],
)
def test_refused_clauses(clause: str, kind: type[TrellisError], match: str, place: str) -> None:
    refused(clause, kind, match, place)


def test_refused_patterns() -> None:
    unseen = "PATTERN (X & ~A) DEFINE SEGMENT X AS first(A.v) > 1"
    refused(unseen, BindingError, "reads A, which has no segment", "first(A.v) > 1")
    refused("PATTERN (() & X) DEFINE SEGMENT X AS true", BindingError, "matches no segment", "X")


def test_budget() -> None:
    clause = "PATTERN (X Y) DEFINE SEGMENT X AS last(X.v) > first(X.v), SEGMENT Y AS last(Y.v) < first(Y.v)"
    values = tuple(float(i % 7) for i in range(60))
    text = f"PARTITION BY k ORDER BY t {clause}"
    for plan in PLANS:
        with pytest.raises(ResourceError, match=r"(?s)has \d+ rows, from row \d+ of the partition \(1\).*step_budget"):
            local_segments.run(text, rows_of(values), SCHEMA, {}, plan, step_budget=100)
        assert local_segments.run(text, rows_of(values), SCHEMA, {}, plan, step_budget=1_000_000)
