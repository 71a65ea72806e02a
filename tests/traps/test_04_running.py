"""Trap 4: RUNNING and FINAL, with offsets."""

from __future__ import annotations

from typing import Any

import pytest

import local
from trellis.errors import BindingError, TrellisError

_SCHEMA = [("id", "int"), ("c", "string"), ("x", "int")]


def rows_of(text: str) -> list[dict[str, Any]]:
    return [{"id": number, "c": letter, "x": 10 * (number + 1)} for number, letter in enumerate(text)]


def each_row(measure: str, pattern: str = "A+ B", text: str = "AAAB") -> list[Any]:
    """The measure in each row of the one match."""
    define = "DEFINE " + ", ".join(f"{name} AS c = '{name}'" for name in "ABC" if name in pattern)
    clause = f"ORDER BY id MEASURES {measure} AS m ALL ROWS PER MATCH PATTERN ({pattern}) {define}"
    return [row["m"] for row in local.run(clause, rows_of(text), _SCHEMA)]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        # x is 10, 20, 30 in the A rows and 40 in the B row.
        ("x", [10, 20, 30, 40]),
        ("RUNNING LAST(x)", [10, 20, 30, 40]),
        ("FINAL LAST(x)", [40, 40, 40, 40]),
        ("FIRST(x)", [10, 10, 10, 10]),
        ("FIRST(x, 0)", [10, 10, 10, 10]),
        ("FIRST(x, 1)", [None, 20, 20, 20]),
        ("RUNNING FIRST(x, 2)", [None, None, 30, 30]),
        ("FINAL FIRST(x, 2)", [30, 30, 30, 30]),
        ("FIRST(x, 4)", [None] * 4),
        ("FINAL FIRST(x, 4)", [None] * 4),
        ("LAST(x, 1)", [None, 10, 20, 30]),
        ("LAST(x, 3)", [None, None, None, 10]),
        ("FINAL LAST(x, 3)", [10, 10, 10, 10]),
        ("FINAL LAST(x, 4)", [None] * 4),
        ("A.x", [10, 20, 30, 30]),
        ("FINAL LAST(A.x)", [30, 30, 30, 30]),
        ("LAST(A.x, 1)", [None, 10, 20, 20]),
        ("FIRST(A.x, 1)", [None, 20, 20, 20]),
        ("B.x", [None, None, None, 40]),
        ("FINAL LAST(B.x)", [40, 40, 40, 40]),
        ("FINAL FIRST(B.x, 1)", [None] * 4),
        # Physical offsets start from the row that the logical ones found.
        ("PREV(x)", [None, 10, 20, 30]),
        ("NEXT(x)", [20, 30, 40, None]),
        ("PREV(x, 0)", [10, 20, 30, 40]),
        ("PREV(x, 2)", [None, None, 10, 20]),
        ("NEXT(x, 3)", [40, None, None, None]),
        ("PREV(A.x)", [None, 10, 20, 20]),
        ("NEXT(A.x)", [20, 30, 40, 40]),
        ("NEXT(B.x, 0)", [None, None, None, 40]),
        ("PREV(B.x, 3)", [None, None, None, 10]),
        ("PREV(LAST(x, 1))", [None, None, 10, 20]),
        ("PREV(LAST(A.x, 1), 1)", [None, None, 10, 10]),
        ("NEXT(FIRST(x))", [20, 20, 20, 20]),
        ("NEXT(FIRST(A.x, 1), 2)", [None, 40, 40, 40]),
        ("PREV(FINAL LAST(x), 2)", [20, 20, 20, 20]),
        ("NEXT(FINAL LAST(A.x))", [40, 40, 40, 40]),
        # Expressions inside navigation.
        ("LAST(x + 1, 1)", [None, 11, 21, 31]),
        ("FIRST(A.x * 2, 1)", [None, 40, 40, 40]),
        ("x - FIRST(x)", [0, 10, 20, 30]),
        ("FINAL LAST(x) - x", [30, 20, 10, 0]),
        # A row that does not exist is NULL, whatever the function inside makes of NULL; outside it is applied.
        ("LAST(coalesce(x, 0), 1)", [None, 10, 20, 30]),
        ("coalesce(LAST(x, 1), 0)", [0, 10, 20, 30]),
        ("FIRST(B.x IS NULL)", [None, None, None, False]),
        ("FIRST(B.x) IS NULL", [True, True, True, False]),
        # Labels.
        ("CLASSIFIER()", ["A", "A", "A", "B"]),
        ("CLASSIFIER(A)", ["A", "A", "A", "A"]),
        ("CLASSIFIER(B)", [None, None, None, "B"]),
        ("FINAL LAST(CLASSIFIER())", ["B"] * 4),
        ("LAST(CLASSIFIER(), 1)", [None, "A", "A", "A"]),
        ("NEXT(CLASSIFIER())", ["A", "A", "B", None]),
        # Aggregates.
        ("sum(x)", [10, 30, 60, 100]),
        ("RUNNING sum(A.x)", [10, 30, 60, 60]),
        ("FINAL sum(A.x)", [60, 60, 60, 60]),
        ("sum(B.x)", [None, None, None, 40]),
        ("count(B.*)", [0, 0, 0, 1]),
        ("FINAL count(B.*)", [1, 1, 1, 1]),
        ("FINAL sum(x) - sum(x)", [90, 70, 40, 0]),
    ],
)
def test_measures_of_each_row(measure: str, expected: list[Any]) -> None:
    assert each_row(measure) == expected


@pytest.mark.parametrize("mode", ["", "RUNNING ", "FINAL "])
@pytest.mark.parametrize(
    ("measure", "expected"),
    [("LAST(x)", 40), ("FIRST(x, 1)", 20), ("LAST(A.x)", 30), ("LAST(x, 1)", 30), ("sum(A.x)", 60), ("count(*)", 4)],
)
def test_one_row_per_match_sees_the_whole_match(measure: str, mode: str, expected: int) -> None:
    clause = f"ORDER BY id MEASURES {mode}{measure} AS m PATTERN (A+ B) DEFINE A AS c = 'A', B AS c = 'B'"
    assert local.run(clause, rows_of("AAAB"), _SCHEMA) == [{"m": expected}]


def test_physical_navigation_leaves_the_match_but_not_the_partition() -> None:
    schema = [*_SCHEMA, ("k", "string")]
    rows = [{**row, "k": key} for key in "pq" for row in rows_of("BABB")]
    clause = """PARTITION BY k ORDER BY id
        MEASURES PREV(A.x) AS p, NEXT(A.x) AS q, PREV(A.x, 2) AS pp, NEXT(A.x, 3) AS qqq,
        PREV(CLASSIFIER(A)) AS label PATTERN (A) DEFINE A AS c = 'A'"""
    expected = {"p": 10, "q": 30, "pp": None, "qqq": None, "label": None}
    assert local.run(clause, rows, schema) == [{"k": "p", **expected}, {"k": "q", **expected}]


@pytest.mark.parametrize("hints", [{}, {"off": ["hoist_slots", "merge_states"]}])
@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        # In its own condition the row under test is already an A.
        ("LAST(A.x) = x", [0, 1, 2, 3]),
        ("A.x = x", [0, 1, 2, 3]),
        ("FIRST(A.x) = 10", [0, 1, 2, 3]),
        ("count(A.*) <= 2", [0, 1]),
        ("sum(A.x) <= 30", [0, 1]),
        ("LAST(A.x, 1) IS NULL", [0]),
        ("FIRST(A.x, 1) IS NULL", [0]),
        ("FIRST(A.x, 1) = 20 OR count(*) = 1", [0, 1, 2, 3]),
        ("LAST(A.x, 2) IS NULL", [0, 1]),
        ("FIRST(x, 2) IS NULL", [0, 1]),
        ("PREV(A.x, 3) IS NULL", [0, 1, 2]),
        ("PREV(FIRST(A.x)) IS NULL AND NEXT(x) IS NOT NULL", [0, 1, 2]),
        ("CLASSIFIER() = 'A'", [0, 1, 2, 3]),
        ("x < FIRST(x) + 25", [0, 1, 2]),
        ("avg(x) < 20", [0, 1]),
    ],
)
def test_the_current_row_in_its_own_condition(condition: str, expected: list[int], hints: dict[str, Any]) -> None:
    clause = f"ORDER BY id MEASURES array_agg(id) AS ids PATTERN (^ A+) DEFINE A AS {condition}"
    assert local.run(clause, rows_of("AAAA"), _SCHEMA, **hints) == [{"ids": expected}]


@pytest.mark.parametrize(
    "condition",
    [
        "FINAL LAST(x) > 1",
        "FINAL FIRST(A.x) > 1",
        "FINAL sum(x) > 1",
        "x > 1 AND FINAL count(*) > 1",
        "PREV(FINAL LAST(x)) > 1",
    ],
)
def test_final_cannot_stand_in_define(condition: str) -> None:
    with pytest.raises(BindingError, match="FINAL"):
        local.run(f"ORDER BY id PATTERN (A) DEFINE A AS {condition}", [], _SCHEMA)


@pytest.mark.parametrize("where", ["MEASURES {} AS m PATTERN (A B)", "PATTERN (A B) DEFINE A AS {} > 1"])
@pytest.mark.parametrize(
    "expression",
    [
        "FIRST(x, -1)",
        "PREV(x, -1)",
        "LAST(x, 1.5)",
        "LAST(x, id)",
        "LAST(x, NULL)",
        "FIRST(PREV(x))",
        "PREV(NEXT(x))",
        "LAST(LAST(x))",
        "PREV(LAST(x) + 1)",
        "LAST(A.x + B.x)",
        "LAST(A.x + x)",
        "FIRST(sum(x))",
        "sum(FIRST(x))",
        "sum(sum(x))",
        "FIRST(1)",
        "FIRST()",
        "FIRST(x, 1, 2)",
        "CLASSIFIER(id)",
        "CLASSIFIER(A, B)",
        "MATCH_NUMBER(1)",
        "sum(A.x + B.x)",
        "FIRST(*)",
        "sum(*)",
        "D.x",
        "count(D.*)",
    ],
)
def test_navigation_that_means_nothing(where: str, expression: str) -> None:
    with pytest.raises(TrellisError):
        local.run(f"ORDER BY id {where.format(expression)}", [], _SCHEMA)
