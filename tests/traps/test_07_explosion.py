"""Trap 7: searches that explode. What grows is counted in tests/kernels/test_growth.py; here are the answers."""

from __future__ import annotations

from typing import Any

import pytest

import local
from trellis.errors import BindingError, ResourceError

_SCHEMA = [("k", "string"), ("id", "int"), ("x", "int")]


def rows_of(count: int, last: int | None = None) -> list[dict[str, Any]]:
    rows = [{"k": "p", "id": number, "x": 1} for number in range(count)]
    if last is not None:
        rows[-1]["x"] = last
    return rows


@pytest.mark.parametrize(
    ("pattern", "define"),
    [
        ("(A | B)* C", "C AS x = 2"),
        ("(A* B*)* C", "C AS x = 2"),
        ("((A | B) (A | B))* C", "C AS x = 2"),
        ("(A+)+ C", "A AS x = 1, C AS x = 2"),
        ("(A | A | A)+ C", "A AS x = 1, C AS x = 2"),
        ("A* A* A* A* A* A* A* A* C", "A AS x = 1, C AS x = 2"),
        ("(A? B? A? B?)* C", "A AS x = 1, B AS x = 1, C AS x = 2"),
        ("PERMUTE(A*, B*, D*, E*) C", "A AS x = 1, B AS x = 1, D AS x = 1, E AS x = 1, C AS x = 2"),
        ("(A | B)+ C", "A AS A.x = LAST(x, 1) OR count(*) = 1, C AS C.x > PREV(x)"),
        ("(A | B)+ C", "C AS C.x > B.x"),
        ("(A | B)+ C", "C AS C.x > FIRST(A.x)"),
        ("(A | B)+ C", "C AS C.x > max(x) FILTER (WHERE id < 5)"),
        ("(A | B)+ C", "C AS C.x > avg(x) + 1"),
    ],
)
def test_a_search_with_a_hopeless_number_of_ways(pattern: str, define: str) -> None:
    """2 to the power of 300 ways to label the rows, none of which matches: the budget must not be needed."""
    clause = f"PARTITION BY k ORDER BY id MEASURES count(*) AS n PATTERN (^ {pattern}) DEFINE {define}"
    assert local.run(clause, rows_of(300), _SCHEMA, step_budget=10_000_000) == []


@pytest.mark.parametrize("define", ["C AS x = 2", "C AS C.x > LAST(x, 1)", "C AS C.x > A.x"])
def test_the_match_at_the_end_of_it_is_found(define: str) -> None:
    clause = f"PARTITION BY k ORDER BY id MEASURES count(*) AS n PATTERN ((A | B)* C) DEFINE {define}"
    assert local.run(clause, rows_of(300, last=2), _SCHEMA, step_budget=10_000_000) == [{"k": "p", "n": 300}]


def test_what_cannot_be_merged_ends_with_an_error() -> None:
    """The number of distinct sums of A rows is exponential here: the budget says so, with the place and a cure."""
    rows = [{"k": "key-9", "id": number, "x": 1 << number} for number in range(25)]
    clause = """PARTITION BY k ORDER BY id PATTERN ((A | B)+ C) DEFINE C AS sum(A.x) + sum(B.x) < 0"""
    with pytest.raises(ResourceError) as caught:
        local.run(clause, rows, _SCHEMA, step_budget=100_000)
    assert "key-9" in str(caught.value)
    assert "row 1" in str(caught.value)
    assert caught.value.cure


@pytest.mark.parametrize("hints", [{"step_budget": 0}, {"step_budget": -1}, {"step_budget": "many"}, {"budget": 5}])
def test_hints_that_mean_nothing(hints: dict[str, Any]) -> None:
    with pytest.raises(BindingError):
        local.run("ORDER BY id PATTERN (A)", [], _SCHEMA, **hints)
