"""Trap 17: numbers."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

import local
from trellis.errors import DataError, TrellisError, UnsupportedError

_BIG = 2**53
_MOST = 2**63 - 1
_HINTS: list[dict[str, Any]] = [{}, {"off": ["hoist_slots"]}]


def rows_of(values: list[Any]) -> list[dict[str, Any]]:
    return [{"id": number, "v": value} for number, value in enumerate(values)]


def run(clause: str, type_: str, values: list[Any], **hints: Any) -> list[dict[str, Any]]:
    return local.run(f"ORDER BY id {clause}", rows_of(values), [("id", "int"), ("v", type_)], **hints)


def holds(condition: str, type_: str, values: list[Any], **hints: Any) -> bool:
    """Whether A, B, ... match the rows one after the other, the last of them under the condition."""
    names = "ABCDE"[: len(values)]
    clause = f"MEASURES count(*) AS n PATTERN ({' '.join(names)}) DEFINE {names[-1]} AS {condition}"
    return bool(run(clause, type_, values, **hints))


@pytest.mark.parametrize("hints", _HINTS)
@pytest.mark.parametrize(
    ("condition", "values", "expected"),
    [
        ("B.v > A.v", [_BIG, _BIG + 1], True),
        ("B.v = A.v", [_BIG, _BIG + 1], False),
        ("B.v - A.v = 1", [_BIG, _BIG + 1], True),
        ("B.v <> A.v", [-_BIG - 1, -_BIG], True),
        ("B.v > A.v", [_MOST - 1, _MOST], True),
        ("B.v < A.v", [_MOST, -_MOST - 1], True),
        ("A.v * 3 = B.v", [_BIG + 1, 3 * _BIG + 3], True),
        (f"sum(v) = {2 * _BIG + 1}", [_BIG, _BIG + 1], True),
        ("max(v) = B.v AND min(v) = A.v", [_BIG, _BIG + 1], True),
        ("count(DISTINCT v) = 2", [_BIG, _BIG + 1], True),
        ("greatest(A.v, B.v) = B.v AND least(A.v, B.v) = A.v", [_BIG, _BIG + 1], True),
        ("B.v % A.v = 1", [_BIG, _BIG + 1], True),
        ("A.v DIV B.v = -3", [-7, 2], True),
        ("A.v % B.v = -1", [-7, 2], True),
        ("A.v % B.v = 1", [7, -2], True),
        ("A.v / B.v = 3.5D", [7, 2], True),
        ("B.v BETWEEN A.v AND A.v + 1", [_BIG, _BIG + 1], True),
        ("A.v IN (B.v, B.v - 1)", [_BIG, _BIG + 1], True),
        (f"A.v + B.v > {_MOST}", [1, _MOST - 1], False),
    ],
)
def test_integers_are_exact(condition: str, values: list[int], expected: bool, hints: dict[str, Any]) -> None:
    assert holds(condition, "bigint", values, **hints) is expected


@pytest.mark.parametrize(
    "measure", ["sum(v)", "min(v)", "max(v)", "count(DISTINCT v)", "sum(DISTINCT v)", "max_by(v, v)"]
)
def test_integers_are_exact_in_measures(measure: str) -> None:
    values = [_BIG + 1, _BIG + 1, _BIG]
    expected = {
        "sum(v)": 3 * _BIG + 2,
        "min(v)": _BIG,
        "max(v)": _BIG + 1,
        "count(DISTINCT v)": 2,
        "sum(DISTINCT v)": 2 * _BIG + 1,
        "max_by(v, v)": _BIG + 1,
    }
    assert run(f"MEASURES {measure} AS m PATTERN (A+)", "bigint", values) == [{"m": expected[measure]}]


@pytest.mark.parametrize(
    ("condition", "type_", "values"),
    [
        ("A.v + B.v > 0", "bigint", [_MOST, 1]),
        ("A.v - B.v > 0", "bigint", [-_MOST, 2]),
        ("A.v - B.v > 0", "bigint", [0, -_MOST - 1]),
        ("A.v * B.v > 0", "bigint", [2**32, 2**31]),
        ("A.v * B.v > 0", "bigint", [-_MOST - 1, -1]),
        ("A.v DIV B.v > 0", "bigint", [-_MOST - 1, -1]),
        ("sum(v) > 0", "bigint", [_MOST, 1]),
        ("A.v + B.v > 0", "int", [2**31 - 1, 1]),
        ("A.v * B.v > 0", "int", [2**16, 2**15]),
        ("abs(A.v - B.v) > 0", "bigint", [-_MOST - 1, 0]),
    ],
)
def test_overflow_is_an_error(condition: str, type_: str, values: list[int]) -> None:
    """Never a wrapped number."""
    with pytest.raises(DataError) as caught:
        holds(condition, type_, values)
    assert "row" in str(caught.value)
    assert caught.value.cure


def test_overflow_of_a_sum_in_measures() -> None:
    with pytest.raises(DataError):
        run("MEASURES sum(v) AS s PATTERN (A+)", "bigint", [_MOST, 1])
    assert run("MEASURES sum(v) AS s PATTERN (A+)", "bigint", [_MOST, -1]) == [{"s": _MOST - 1}]


@pytest.mark.parametrize("type_", ["int", "bigint", "double"])
@pytest.mark.parametrize("condition", ["A.v / B.v > 0", "A.v % B.v > 0", "1 > A.v / (B.v + A.v - A.v)"])
def test_division_by_zero_is_an_error(condition: str, type_: str) -> None:
    with pytest.raises(DataError, match="zero"):
        holds(condition, type_, [4, 0])


@pytest.mark.parametrize("hints", _HINTS)
@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("A.v / NULLIF(B.v, 0) > 0", False),
        ("A.v / NULLIF(B.v, 0) IS NULL", True),
        ("B.v <> 0 AND A.v / B.v > 0", False),
        ("B.v = 0 OR A.v / B.v > 0", True),
        ("CASE WHEN B.v = 0 THEN TRUE ELSE A.v / B.v > 0 END", True),
        ("if(B.v = 0, 0, A.v / B.v) = 0", True),
        ("coalesce(A.v, A.v / B.v) = 4", True),
    ],
)
def test_a_guarded_division(condition: str, expected: bool, hints: dict[str, Any]) -> None:
    assert holds(condition, "int", [4, 0], **hints) is expected


@pytest.mark.parametrize("hints", _HINTS)
@pytest.mark.parametrize(
    ("condition", "values", "expected"),
    [
        # NaN equals itself and is the greatest, as in Spark.
        ("B.v > A.v", [1e308, math.nan], True),
        ("B.v > A.v", [math.inf, math.nan], True),
        ("B.v = A.v", [math.nan, math.nan], True),
        ("B.v <=> A.v", [math.nan, math.nan], True),
        ("B.v < A.v", [math.nan, 1.0], True),
        ("B.v <> A.v", [math.nan, math.nan], False),
        ("B.v > A.v", [math.nan, math.nan], False),
        ("B.v > A.v", [None, math.nan], False),
        ("max(v) = B.v", [1.0, math.nan], True),
        ("min(v) = A.v", [1.0, math.nan], True),
        ("greatest(A.v, B.v) > 1e300D", [1.0, math.nan], True),
        ("least(A.v, B.v) = 1.0D", [1.0, math.nan], True),
        ("count(DISTINCT v) = 1", [math.nan, math.nan], True),
        # Zero has no sign.
        ("B.v = A.v", [0.0, -0.0], True),
        ("B.v < A.v", [0.0, -0.0], False),
        ("B.v <=> A.v", [0.0, -0.0], True),
        ("A.v IN (B.v)", [0.0, -0.0], True),
        ("count(DISTINCT v) = 1", [0.0, -0.0], True),
        ("nullif(A.v, B.v) IS NULL", [0.0, -0.0], True),
    ],
)
def test_floats(condition: str, values: list[Any], expected: bool, hints: dict[str, Any]) -> None:
    assert holds(condition, "double", values, **hints) is expected


def test_zeros_are_not_distinct_in_measures() -> None:
    clause = "MEASURES count(DISTINCT v) AS m PATTERN (A+)"
    assert run(clause, "double", [0.0, -0.0]) == [{"m": 1}]
    assert run(clause, "double", [math.nan, math.nan, 1.0]) == [{"m": 2}]


def test_extremes_with_nan() -> None:
    found = run(
        "MEASURES min(v) AS least, max(v) AS most, count(v) AS n PATTERN (A+)", "double", [2.0, math.nan, None, 1.0]
    )
    assert found[0]["least"] == 1.0
    assert math.isnan(found[0]["most"])
    assert found[0]["n"] == 3


@pytest.mark.parametrize("type_", ["bigint", "double"])
def test_variance_of_large_values(type_: str) -> None:
    """Microseconds since 1970: the squares have 31 digits, the variance of 1, 2, 3, 4 has one."""
    base = 1_700_000_000_000_000
    values = [base + n for n in (1, 2, 3, 4)]
    values = [float(value) for value in values] if type_ == "double" else values
    clause = """MEASURES var_pop(v) AS vp, var_samp(v) AS vs, stddev_pop(v) AS sp, stddev_samp(v) AS ss, avg(v) AS a
        PATTERN (A+)"""
    found = run(clause, type_, values)[0]
    assert found["vp"] == pytest.approx(1.25, rel=1e-6)
    assert found["vs"] == pytest.approx(5 / 3, rel=1e-6)
    assert found["sp"] == pytest.approx(math.sqrt(1.25), rel=1e-6)
    assert found["ss"] == pytest.approx(math.sqrt(5 / 3), rel=1e-6)
    assert found["a"] == pytest.approx(base + 2.5, abs=0.5)
    assert holds("stddev_pop(v) BETWEEN 1.118 AND 1.119", type_, values)


@pytest.mark.parametrize("hints", _HINTS)
@pytest.mark.parametrize(
    ("condition", "type_", "values", "expected"),
    [
        ("A.v + B.v = C.v", "decimal(10,2)", ["0.10", "0.20", "0.30"], True),
        ("sum(A.v) + sum(B.v) = C.v", "decimal(10,2)", ["0.10", "0.20", "0.30"], True),
        ("C.v - B.v = A.v", "decimal(10,2)", ["0.10", "0.20", "0.30"], True),
        ("A.v * B.v = C.v", "decimal(10,2)", ["0.10", "0.20", "0.02"], True),
        ("B.v > A.v", "decimal(18,0)", ["999999999999999998", "999999999999999999"], True),
        ("B.v > A.v", "decimal(18,18)", ["0.123456789012345678", "0.123456789012345679"], True),
        ("B.v < A.v", "decimal(10,2)", ["-0.01", "-0.02"], True),
        ("B.v = A.v", "decimal(10,2)", [None, "0.02"], False),
        ("B.v = A.v * 2", "decimal(10,2)", ["-0.01", "-0.02"], True),
        ("A.v = 1.1 AND B.v > A.v", "decimal(10,2)", ["1.10", "1.11"], True),
        ("B.v > A.v + 0.005", "decimal(10,2)", ["1.10", "1.11"], True),
        ("B.v > A.v + 0.015", "decimal(10,2)", ["1.10", "1.11"], False),
        ("B.v > A.v + 1", "decimal(10,2)", ["1.10", "2.11"], True),
        ("B.id > A.v", "decimal(10,2)", ["0.99", "5.00"], True),
        ("B.id = A.v", "decimal(10,2)", ["1.00", "5.00"], True),
        ("max(v) = B.v", "decimal(10,2)", ["1.10", "2.11"], True),
        ("max(v) = A.v", "decimal(10,2)", ["-1.10", "-2.11"], True),
        ("count(DISTINCT v) = 1", "decimal(10,2)", ["1.10", "1.1"], True),
    ],
)
def test_decimals_are_not_doubles(
    condition: str, type_: str, values: list[str | None], expected: bool, hints: dict[str, Any]
) -> None:
    decimals = [None if value is None else Decimal(value) for value in values]
    if any(letter.isdigit() for letter in condition):
        hints = {"off": ["hoist_slots"]}  # this harness would compute with floats
    assert holds(condition, type_, decimals, **hints) is expected


def test_a_large_integer_beside_a_decimal() -> None:
    """Spark compares them as DECIMAL(24, 4); the answer is plain, whatever the kernel can hold."""
    schema = [("id", "int"), ("n", "bigint"), ("d", "decimal(10,4)")]
    rows = [{"id": 0, "n": 10**16, "d": Decimal("1.5")}, {"id": 1, "n": 10**16, "d": Decimal("2.5")}]
    clause = "ORDER BY id MEASURES count(*) AS c PATTERN (A B) DEFINE B AS B.n > A.d"
    assert local.run(clause, rows, schema) == [{"c": 2}]


_LONG = [Decimal(10**37 + 1), Decimal(10**37), Decimal(10**37 + 1), None, Decimal(-(10**37))]


@pytest.mark.parametrize(
    ("condition", "rows", "expected"),
    [
        ("B.v < A.v", 2, True),
        ("B.v >= A.v", 2, False),
        ("v > PREV(v) AND v = PREV(v, 2)", 3, True),
        ("C.v <=> A.v AND NOT C.v <=> B.v", 3, True),
        ("D.v <=> A.v", 4, False),
        ("C.v IN (B.v, A.v) AND C.v BETWEEN B.v AND A.v", 3, True),
        ("A.v - B.v = 1 AND B.v - A.v = -1", 2, True),
        ("A.v - E.v = 2 * 10000000000000000000000000000000000000 + 1", 5, True),
        ("greatest(A.v, B.v, E.v) = C.v AND least(A.v, E.v) = E.v", 5, True),
        ("abs(E.v) = B.v AND - E.v = B.v", 5, True),
        ("coalesce(D.v, E.v) < 0", 5, True),
        ("CASE WHEN A.v > B.v THEN A.v ELSE E.v END = C.v", 5, True),
        ("nullif(A.v, C.v) IS NULL", 3, True),
        ("max(v) = A.v AND min(v) = E.v", 5, True),
        ("count(v) = 4 AND count(DISTINCT v) = 3", 5, True),
        ("sum(v) = 20000000000000000000000000000000000002", 5, True),
        ("sum(DISTINCT v) = A.v", 5, True),
        ("max_by(v, id) = E.v AND min_by(id, v) = 4", 5, True),
        ("max_by(v, v) = A.v AND max_by(id, v) = 0", 5, True),
        ("any_value(v) = A.v AND any_value(v) FILTER (WHERE v < 0) = E.v", 5, True),
        ("count(DISTINCT CASE WHEN CLASSIFIER() <> 'B' THEN v END) = 2", 5, True),
        ("sum(v * MATCH_NUMBER()) > B.v", 5, True),
        ("max(v + MATCH_NUMBER()) = A.v + 1", 5, True),
        ("A.v > 1e37D AND A.v < 1.0000001e37D", 2, False),
    ],
)
@pytest.mark.parametrize("search", ["auto", "backtrack"])
def test_decimals_of_38_digits(condition: str, rows: int, expected: bool, search: str) -> None:
    hints = {"off": ["hoist_slots"]}  # this harness would compute with floats
    assert holds(condition, "decimal(38,0)", _LONG[:rows], search=search, **hints) is expected


def test_sums_that_differ_in_their_first_word_are_not_the_same_state() -> None:
    clause = """MEASURES array_agg(CLASSIFIER()) AS labels PATTERN ((A | B) (A | B) (C | D))
        DEFINE C AS sum(A.v) = 0, D AS FALSE"""
    assert run(clause, "decimal(38,0)", [Decimal(2**64), Decimal(0), Decimal(5)]) == [{"labels": ["B", "A", "C"]}]


def test_a_sum_has_more_digits_than_its_values() -> None:
    most = Decimal("9999999999999999.99")
    assert holds("sum(v) = 29999999999999999.97", "decimal(18,2)", [most] * 3, off=["hoist_slots"])
    assert holds("A.v * B.v > A.v", "decimal(18,2)", [most] * 2)


@pytest.mark.parametrize("condition", ["A.v + B.v > 0", "sum(v) > 0", "A.v * B.v > 0", "avg(v) > 0"])
def test_overflow_of_decimals(condition: str) -> None:
    """An error in ANSI mode, else NULL."""
    values = [Decimal(10**38 - 1)] * 2
    with pytest.raises(DataError, match="too large"):
        holds(condition, "decimal(38,0)", values)
    assert not holds(condition, "decimal(38,0)", values, lenient=True)
    assert holds(f"({condition}) IS NULL", "decimal(38,0)", values, lenient=True)


def test_values_of_no_kernel_type_that_must_differ() -> None:
    with pytest.raises(UnsupportedError, match="cannot hold the type"):
        local.plan_clause("PATTERN (A+) DEFINE A AS count(DISTINCT v) < 2", [("v", "array<int>")])


@pytest.mark.parametrize(
    ("within", "values", "expected"),
    [
        ("2", [1, 2, 3, 4, 5], [3, 2]),
        ("2", [1, 4, 6, 6, 6], [1, 4]),
        ("2", [-5, -3, 0], [2, 1]),
        ("2.5", [1, 3, 4], [2, 1]),
        ("1", [_MOST - 1, _MOST, _MOST], [3]),
        ("1", [_BIG, _BIG + 1, _BIG + 2], [2, 1]),
        ("2", [None, 1, 2], [2]),
    ],
)
@pytest.mark.parametrize("search", ["auto", "backtrack"])
def test_within_is_inclusive_and_exact(within: str, values: list[Any], expected: list[int], search: str) -> None:
    """Both bounds belong to the window. A row without a key is in no match."""
    rows = [{"id": number, "v": value} for number, value in enumerate(values)]
    clause = f"ORDER BY v MEASURES count(*) AS n PATTERN (A+) WITHIN {within}"
    found = local.run(clause, rows, [("id", "int"), ("v", "bigint")], search=search)
    assert [row["n"] for row in found] == expected


@pytest.mark.parametrize("width", ["0", "-1", "NULL", "0.0", "INTERVAL '0' DAY", "INTERVAL '-1' DAY", "v", "'a'"])
def test_within_of_no_width(width: str) -> None:
    with pytest.raises(TrellisError):
        local.run(f"ORDER BY v PATTERN (A+) WITHIN {width}", [], [("v", "bigint")])


@pytest.mark.parametrize("chunk_rows", [4, 1000])
def test_decimals_in_a_chunk_that_begins_inside_a_batch(chunk_rows: int) -> None:
    schema = [("k", "int"), ("t", "int"), ("d", "decimal(10,2)")]
    rows = [{"k": 0, "t": t, "d": Decimal(t)} for t in range(4)] + [{"k": 1, "t": t, "d": Decimal(t)} for t in range(5)]
    clause = """PARTITION BY k ORDER BY t MEASURES count(*) AS n, max(d) AS most, count(DISTINCT d) AS many
        PATTERN (A B+) DEFINE B AS d > PREV(d)"""
    assert local.run(clause, rows, schema, chunk_rows=chunk_rows) == [
        {"k": 0, "n": 4, "most": Decimal(3), "many": 4},
        {"k": 1, "n": 5, "most": Decimal(4), "many": 5},
    ]
