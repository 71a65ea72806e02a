"""CLASSIFIER() and MATCH_NUMBER() inside functions, aggregates and navigation."""

from __future__ import annotations

from typing import Any

import pytest

import local
from trellis.errors import BindingError, DataError, UnsupportedError
from trellis.languages.match_recognize import parse_clause_text
from trellis.planning.describe.plan import describe_plan

_SCHEMA = [("id", "int"), ("x", "int"), ("s", "string")]
_ROWS = [{"id": number, "x": number % 3, "s": "ab"[number % 2]} for number in range(6)]


def run(clause: str, **hints: Any) -> list[dict[str, Any]]:
    return local.run(f"ORDER BY id {clause}", _ROWS, _SCHEMA, **hints)


def found(pattern: str, condition: str, **hints: Any) -> list[list[int]]:
    """The rows of each match, where B fulfils a condition."""
    clause = f"MEASURES array_agg(id) AS ids PATTERN ({pattern}) SUBSET U = (A, B) DEFINE B AS {condition}"
    return [row["ids"] for row in run(clause, **hints)]


@pytest.mark.parametrize("hints", [{}, {"off": ["hoist_slots"]}])
@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("PREV(CLASSIFIER()) LIKE '%B' OR x < 2", [[0, 1, 2, 3, 4, 5]]),
        ("PREV(CLASSIFIER()) LIKE '%A'", [[0, 1], [2, 3], [4, 5]]),
        ("PREV(CLASSIFIER(), 2) LIKE '%'", []),
        ("coalesce(PREV(CLASSIFIER(), 2) LIKE '%', TRUE)", [[0, 1, 2, 3, 4, 5]]),
        ("upper(CLASSIFIER(A)) || s = 'Ab'", [[0, 1], [2, 3], [4, 5]]),
        ("FIRST(s || CLASSIFIER()) = 'aA' AND LAST(CLASSIFIER(), 1) = 'A'", [[0, 1], [2, 3], [4, 5]]),
        ("length(CLASSIFIER(U)) = x", [[0, 1], [3, 4]]),
        ("CASE WHEN CLASSIFIER(A) LIKE 'A' THEN x END = 1", [[0, 1], [3, 4]]),
        ("sum(CASE WHEN CLASSIFIER() = 'B' THEN x END) < 3", [[0, 1], [2, 3, 4]]),
        ("count(DISTINCT CLASSIFIER()) = 2 AND count(DISTINCT CLASSIFIER(B)) = 1", [[0, 1, 2, 3, 4, 5]]),
        ("sum(x + MATCH_NUMBER()) < 8", [[0, 1, 2, 3], [4, 5]]),
        ("max(x * MATCH_NUMBER()) < 2", [[0, 1]]),
        ("count_if(MATCH_NUMBER() = 1) < 4 AND x + MATCH_NUMBER() > 0", [[0, 1, 2], [3, 4, 5]]),
        ("count(DISTINCT x * (MATCH_NUMBER() - 1)) = 1", [[0, 1, 2, 3, 4, 5]]),
        ("count(*) FILTER (WHERE CLASSIFIER() = 'B' AND MATCH_NUMBER() < 3) < 3", [[0, 1, 2], [3, 4, 5]]),
        ("PREV(x + MATCH_NUMBER()) > 2", [[2, 3], [4, 5]]),
        ("length(bin(MATCH_NUMBER())) < 2 AND count(*) < 3", [[0, 1]]),
        ("A.s || bin(MATCH_NUMBER()) = 'a1' AND count(*) < 4", [[0, 1, 2]]),
        ("max_by(x + MATCH_NUMBER(), id) > 1", [[0, 1, 2], [3, 4, 5]]),
        ("max_by(x, id * MATCH_NUMBER()) > 0", [[0, 1, 2], [3, 4, 5]]),
        ("any_value(x) = 0 AND any_value(x + MATCH_NUMBER()) < 3", [[0, 1, 2, 3, 4, 5]]),
        ("any_value(x) FILTER (WHERE x > 0) = 1", [[0, 1, 2, 3, 4, 5]]),
        ("any_value(U.s || CLASSIFIER(U)) = 'aA'", [[0, 1, 2, 3, 4, 5]]),
    ],
)
def test_labels_and_numbers_in_conditions(condition: str, expected: list[list[int]], hints: dict[str, Any]) -> None:
    assert found("A B+", condition, **hints) == expected


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("sum(CASE WHEN CLASSIFIER() = 'A' THEN x END)", [0, 2, 1]),
        ("max(x + MATCH_NUMBER())", [2, 4, 5]),
        ("sum(DISTINCT MATCH_NUMBER())", [1, 2, 3]),
        ("count(MATCH_NUMBER())", [2, 2, 2]),
        ("avg(MATCH_NUMBER())", [1, 2, 3]),
        ("count_if(x < MATCH_NUMBER())", [1, 1, 2]),
        ("max_by(s, x * MATCH_NUMBER())", ["b", "a", "b"]),
        ("array_agg(s || CLASSIFIER() || bin(MATCH_NUMBER()))", [["aA1", "bB1"], ["aA10", "bB10"], ["aA11", "bB11"]]),
        ("var_pop(x * MATCH_NUMBER())", [0.25, 4.0, 2.25]),
        ("upper(CLASSIFIER(U)) LIKE '%B'", [True] * 3),
        ("FIRST(s || CLASSIFIER(), 1)", ["bB"] * 3),
        ("PREV(CLASSIFIER()) || LAST(CLASSIFIER())", ["AB"] * 3),
        ("count(*) FILTER (WHERE x < MATCH_NUMBER())", [1, 1, 2]),
    ],
)
def test_labels_and_numbers_in_measures(measure: str, expected: list[Any]) -> None:
    clause = f"MEASURES {measure} AS m PATTERN (A B) SUBSET U = (A, B)"
    assert [row["m"] for row in run(clause)] == expected


def test_a_function_of_labels_alone_is_computed_once() -> None:
    """No column is shipped for it."""
    clause = "ORDER BY id MEASURES A.x AS x PATTERN (A B+) DEFINE B AS PREV(CLASSIFIER()) LIKE '%B'"
    plan = local.plan_clause(clause, _SCHEMA)
    assert [str(expression) for _, expression in plan.projected if "LIKE" in str(expression)] == []
    text = describe_plan(parse_clause_text(clause), plan)
    assert "spread_labels: functions of CLASSIFIER() are looked up by variable (B)" in text


def test_a_function_of_the_number_is_computed_for_each_row() -> None:
    clause = "ORDER BY id MEASURES A.x AS x PATTERN (A B+) DEFINE B AS bin(MATCH_NUMBER()) LIKE '1%'"
    text = describe_plan(parse_clause_text(clause), local.plan_clause(clause, _SCHEMA))
    assert "pair_slots: functions of MATCH_NUMBER() computed for the number of each row (B)" in text
    assert "+- Number    rows of each series" in text
    assert "slow" not in text


def test_a_label_that_a_function_fails_for() -> None:
    """Only who asks about it fails."""
    with pytest.raises(DataError, match=r"CLASSIFIER\(\) fails at row 2"):
        found("A B", "bin(FIRST(CLASSIFIER())) = '1'")
    assert found("A B", "CASE WHEN x > 1 THEN bin(FIRST(CLASSIFIER())) = '1' ELSE x = 1 END") == [[0, 1], [3, 4]]


def test_a_function_that_changes_is_not_computed_once() -> None:
    condition = "nullif(PREV(CLASSIFIER()) || uuid(), 'x') LIKE 'B%'"
    with pytest.raises(AssertionError, match="uuid"):
        # The harness cannot compute it in any row; but nobody asked for a constant.
        found("A B+", condition)


@pytest.mark.parametrize(
    ("clause", "problem", "cure"),
    [
        (
            "MEASURES FIRST(A.s || CLASSIFIER()) AS m PATTERN (A)",
            "of A and of all variables",
            "CLASSIFIER(A)",
        ),
        ("MEASURES sum(A.x + length(CLASSIFIER())) AS m PATTERN (A)", "reads rows of A", "CLASSIFIER(A)"),
        ("PATTERN (A) DEFINE A AS FIRST(MATCH_NUMBER()) > 1", "needs a column", "FIRST(column)"),
    ],
)
def test_what_the_standard_forbids(clause: str, problem: str, cure: str) -> None:
    with pytest.raises(BindingError, match=problem) as caught:
        run(clause)
    assert cure in str(caught.value.cure)


def test_functions_of_too_many_labels() -> None:
    names = [f"V{number}" for number in range(20)]
    labels = " || ".join(f"PREV(CLASSIFIER(), {number})" for number in range(1, 5))
    clause = f"MEASURES 1 AS m PATTERN ({' '.join(names)}) DEFINE V19 AS {labels} = 'x'"
    with pytest.raises(UnsupportedError, match="labels"):
        run(clause)
