"""Trap 5: aggregates, over no rows, distinct, over unions, over labels, and when the search turns back."""

from __future__ import annotations

from typing import Any

import pytest

import local
from trellis.errors import TrellisError

_SCHEMA = [
    ("k", "int"),
    ("id", "int"),
    ("c", "string"),
    ("x", "int"),
    ("y", "double"),
    ("s", "string"),
    ("b", "boolean"),
]


def rows_of(text: str, xs: list[int | None], **more: list[Any]) -> list[dict[str, Any]]:
    rows = [
        {"k": 1, "id": number, "c": letter, "x": x, "y": None, "s": None, "b": None}
        for number, (letter, x) in enumerate(zip(text, xs, strict=True))
    ]
    for name, values in more.items():
        for row, value in zip(rows, values, strict=True):
            row[name] = value
    return rows


_ROWS = rows_of(
    "AABBC",
    [3, None, 3, 5, 4],
    y=[0.5, 1.5, None, 0.5, 2.0],
    s=["b", "a", None, "b", "c"],
    b=[True, None, False, True, True],
)
_CLAUSE = """ORDER BY id MEASURES {} AS m PATTERN (A+ B+ C D*) SUBSET U = (A, B), V = (B, C), W = (A, B, C, D)
    DEFINE A AS c = 'A', B AS c = 'B', C AS c = 'C', D AS c = 'D'"""


@pytest.mark.parametrize("hints", [{}, {"chunk_rows": 1, "batch_rows": 1}])
@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        # The A rows hold x = 3, NULL; the B rows 3, 5; the C row 4. There is no D row.
        ("count(*)", 5),
        ("count(A.*)", 2),
        ("count(D.*)", 0),
        ("count(W.*)", 5),
        ("count(A.x)", 1),
        ("count(D.x)", 0),
        ("count(x)", 4),
        ("count(U.x)", 3),
        ("sum(x)", 15),
        ("sum(D.x)", None),
        ("avg(D.x)", None),
        ("min(D.x)", None),
        ("max(D.s)", None),
        ("array_agg(D.x)", []),
        ("var_pop(D.x)", None),
        ("max_by(D.x, D.id)", None),
        ("count_if(D.x > 1)", 0),
        ("bool_and(D.b)", None),
        ("sum(A.x)", 3),
        ("sum(U.x)", 11),
        ("sum(V.x)", 12),
        ("avg(x)", 3.75),
        ("avg(U.x)", 11 / 3),
        ("min(V.x)", 3),
        ("max(U.x)", 5),
        ("min(s)", "a"),
        ("max(U.s)", "b"),
        ("sum(y)", 4.5),
        ("array_agg(x)", [3, 3, 5, 4]),
        ("array_agg(U.id)", [0, 1, 2, 3]),
        ("count(DISTINCT x)", 3),
        ("count(DISTINCT U.x)", 2),
        ("count(DISTINCT s)", 3),
        ("count(DISTINCT y)", 3),
        ("sum(DISTINCT x)", 12),
        ("sum(DISTINCT U.x)", 8),
        ("avg(DISTINCT U.x)", 4.0),
        ("min(DISTINCT x)", 3),
        ("max_by(s, x)", "b"),
        ("min_by(id, y)", 0),
        ("max_by(U.id, U.y)", 1),
        ("max_by(s, id)", "c"),
        ("min_by(B.s, B.id)", None),
        ("count_if(x > 3)", 2),
        ("bool_and(b)", False),
        ("bool_or(A.b)", True),
        ("bool_and(A.b)", True),
        ("var_pop(V.x)", 2 / 3),
        ("var_samp(V.x)", 1.0),
        ("stddev_samp(C.x)", None),
        ("stddev_pop(C.x)", 0.0),
        # Expressions, conditions.
        ("sum(x * 2)", 30),
        ("sum(CASE WHEN x > 3 THEN x END)", 9),
        ("sum(x) FILTER (WHERE id > 1)", 12),
        ("count(*) FILTER (WHERE id > 1)", 3),
        ("count(A.*) FILTER (WHERE A.id > 1)", 0),
        ("sum(U.x) FILTER (WHERE U.id = 3)", 5),
        ("count(DISTINCT x) FILTER (WHERE id < 3)", 1),
        ("max_by(id, x) FILTER (WHERE id <> 3)", 4),
        ("any_value(x) FILTER (WHERE id = 3)", 5),
        ("any_value(U.s) FILTER (WHERE U.s = 'a')", "a"),
        # Several arguments: NULL in one of them leaves the row out.
        ("count(x, s)", 3),
        ("count(DISTINCT x, s)", 3),
        ("count(DISTINCT b, y)", 2),
        # Labels and numbers of matches inside.
        ("array_agg(CLASSIFIER())", ["A", "A", "B", "B", "C"]),
        ("array_agg(CLASSIFIER(U))", ["A", "A", "B", "B"]),
        ("count(CLASSIFIER())", 5),
        ("min(CLASSIFIER())", "A"),
        ("max(CLASSIFIER())", "C"),
        ("max_by(CLASSIFIER(), x)", "B"),
        ("count_if(CLASSIFIER() = 'B')", 2),
        ("sum(CASE WHEN CLASSIFIER() = 'B' THEN x ELSE 0 END)", 8),
        ("sum(CASE WHEN CLASSIFIER(U) = 'A' THEN U.x END)", 3),
        ("count(DISTINCT CLASSIFIER())", 3),
        ("max(MATCH_NUMBER())", 1),
        ("sum(MATCH_NUMBER())", 5),
        ("count(MATCH_NUMBER())", 5),
        # Around aggregates.
        ("sum(A.x) + sum(B.x)", 11),
        ("coalesce(sum(D.x), 0)", 0),
        ("sum(x) / count(*)", 3.0),
        ("max(x) - x", 1),
    ],
)
def test_in_measures(measure: str, expected: object, hints: dict[str, Any]) -> None:
    found = local.run(_CLAUSE.format(measure), _ROWS, _SCHEMA, **hints)
    assert found == [{"m": pytest.approx(expected) if isinstance(expected, float) else expected}]


@pytest.mark.parametrize("hints", [{}, {"off": ["merge_states"]}, {"off": ["hoist_slots"]}])
@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("count(*) = 5", True),
        ("count(A.*) = 2", True),
        ("count(D.*) = 0", True),
        ("sum(D.x) IS NULL", True),
        ("sum(U.x) = 11", True),
        ("sum(V.x) = 12", True),
        ("avg(U.x) > 3.6", True),
        ("count(DISTINCT U.x) = 2", True),
        ("sum(DISTINCT U.x) = 8", True),
        ("min(s) = 'a'", True),
        ("max_by(id, x) = 3", True),
        ("max_by(CLASSIFIER(), x) = 'B'", True),
        ("max_by(CLASSIFIER(), x) = 'A'", False),
        ("count_if(CLASSIFIER() = 'B') = 2", True),
        ("sum(CASE WHEN CLASSIFIER() = 'B' THEN x ELSE 0 END) = 8", True),
        ("bool_and(b)", False),
        ("stddev_pop(V.x) < 0.82", True),
        ("stddev_samp(C.x) IS NULL", True),
        ("sum(x) FILTER (WHERE id > 1) = 12", True),
        ("count(DISTINCT x, s) = 3", True),
        ("sum(A.x) < sum(B.x)", True),
        ("count(*) FILTER (WHERE b) = 3", True),
    ],
)
def test_in_define(condition: str, holds: bool, hints: dict[str, Any]) -> None:
    """The condition of C, whose row under test is the C row."""
    clause = _CLAUSE.format("count(*)").replace("C AS c = 'C'", f"C AS c = 'C' AND {condition}")
    assert local.run(clause, _ROWS, _SCHEMA, **hints) == ([{"m": 5}] if holds else [])


def test_state_is_cut_when_the_search_turns_back() -> None:
    """B+ takes rows greedily while sum(B.x) <= 10; the way back gives their values back."""
    rows = rows_of("ABBBB", [1, 4, 4, 4, 4])
    clause = """ORDER BY id MEASURES count(B.*) AS b, count(C.*) AS c, sum(B.x) AS s PATTERN (A B+ C{3})
        DEFINE B AS sum(B.x) <= 10, C AS count(B.*) = 1 AND sum(B.x) = 4 AND sum(x) >= 9"""
    assert local.run(clause, rows, _SCHEMA) == [{"b": 1, "c": 3, "s": 4}]


def test_state_of_alternatives_is_kept_apart() -> None:
    rows = rows_of("XXXX", [1, 2, 3, 4])
    clause = """ORDER BY id MEASURES array_agg(CLASSIFIER()) AS labels PATTERN ((A | B)+ C)
        DEFINE C AS sum(A.x) = 2 AND sum(B.x) = 4 AND id = 3"""
    # 1 + 3 in B and 2 in A.
    assert local.run(clause, rows, _SCHEMA) == [{"labels": ["B", "A", "B", "C"]}]


@pytest.mark.parametrize("chunk_rows", [1, 1000])
def test_state_ends_with_the_partition(chunk_rows: int) -> None:
    rows = [{**row, "k": key} for key in (1, 2, 3) for row in rows_of("XXX", [1, 2, 3])]
    clause = (
        "PARTITION BY k ORDER BY id MEASURES count(*) AS n PATTERN (A+) DEFINE A AS count(*) <= 2 AND FIRST(id) >= 0"
    )
    expected = [{"k": key, "n": n} for key in (1, 2, 3) for n in (2, 1)]
    assert local.run(clause, rows, _SCHEMA, chunk_rows=chunk_rows) == expected


def test_state_ends_with_the_match() -> None:
    clause = "ORDER BY id MEASURES sum(x) AS s PATTERN (A+) DEFINE A AS sum(x) <= 3"
    assert local.run(clause, rows_of("XXXXX", [1, 2, 3, 1, 1]), _SCHEMA) == [{"s": 3}, {"s": 3}, {"s": 2}]


@pytest.mark.parametrize(
    "measure",
    [
        "sum()",
        "count()",
        "sum(DISTINCT *)",
        "count(DISTINCT *)",
        "max_by(x)",
        "max_by(x, y, s)",
        "sum(x, s)",
        "min(x, y)",
        "stddev(x, y)",
        "sum(A.x + B.x)",
        "sum(A.x) FILTER (WHERE B.x > 1)",
        "sum(sum(x))",
        "count(nothing)",
        "nothing(x) + sum(nothing)",
        "sum(FIRST(x))",
        "avg(*)",
    ],
)
def test_aggregates_that_mean_nothing(measure: str) -> None:
    with pytest.raises(TrellisError):
        local.run(_CLAUSE.format(measure), [], _SCHEMA)
