"""Conditions of DEFINE that bound a match are WITHIN."""

from __future__ import annotations

import random

import pytest

import local

SCHEMA = [("t", "int"), ("k", "string"), ("v", "int")]
A, B = "A AS k = 'a'", "B AS k = 'b'"


def _clause(pattern: str, bound: str, order: str = "t") -> str:
    return f"ORDER BY {order} MEASURES A.t AS a, last(t) AS l PATTERN ({pattern}) DEFINE {A}, {B} AND {bound}"


FOUND = [
    ("A Z* B", "B.t - A.t <= 5", "t", True),
    ("A Z* B", "B.t <= A.t + 5", "t", True),
    ("A Z* B", "B.t <= 5 + A.t", "t", True),
    ("A Z* B", "B.t - 5 <= A.t", "t", True),
    ("A Z* B", "A.t >= B.t - 5", "t", True),
    ("A Z* B", "A.t + 5 > t", "t", False),
    ("A Z* B", "B.t - FIRST(t) < 5", "t", False),
    ("A Z* B", "B.t BETWEEN A.t AND A.t + 5", "t", True),
    ("A+ Z* B+", "t - FIRST(A.t) <= 5", "t", True),
    ("A Z* B", "A.t - B.t <= 5", "t DESC", True),
]
NOT_FOUND = [
    ("A Z* B", "A.t - B.t <= 5", "t"),
    ("A Z* B", "B.v - A.v <= 5", "t"),
    ("A+ Z* B", "B.t - A.t <= 5", "t"),
    ("A Z* B Z*", "B.t - A.t <= 5", "t"),
    ("Z* A B", "B.t - A.t <= 5", "t"),
    ("A Z* B?", "B.t - A.t <= 5", "t"),
    ("A Z* B", "B.t - A.t <= B.v", "t"),
    ("A Z* B", "B.t - A.t >= 5", "t"),
    ("A Z* B", "B.t - A.t <= 0", "t"),
    ("A Z* B", "(B.t - A.t <= 5 OR v = 1)", "t"),
]


@pytest.mark.parametrize(("pattern", "bound", "order", "said"), FOUND)
def test_found(pattern: str, bound: str, order: str, said: bool) -> None:
    clause = _clause(pattern, bound, order)
    plan = local.plan_clause(clause, SCHEMA)
    assert plan.scan.within is not None
    last = next(condition for condition in plan.scan.conditions if condition.variable == "B")
    # What WITHIN says need not be tested again; a strict bound must.
    if bound.startswith("B.t BETWEEN"):
        assert last.where == "kernel"
    else:
        assert (last.where == "spark") == said
    assert local.plan_clause(clause, SCHEMA, off=["derive_window"]).scan.within is None


@pytest.mark.parametrize(("pattern", "bound", "order"), NOT_FOUND)
def test_not_found(pattern: str, bound: str, order: str) -> None:
    assert local.plan_clause(_clause(pattern, bound, order), SCHEMA).scan.within is None


@pytest.mark.parametrize(("pattern", "bound", "order", "said"), FOUND)
def test_same_rows(pattern: str, bound: str, order: str, said: bool) -> None:
    clause = _clause(pattern, bound, order)
    draw = random.Random(3)
    for _ in range(40):
        rows = [
            {"t": draw.choice([None, *range(-8, 12)]), "k": draw.choice(["a", "b", "x", None]), "v": draw.randrange(3)}
            for _ in range(draw.randrange(14))
        ]
        assert local.run(clause, rows, SCHEMA) == local.run(clause, rows, SCHEMA, off=["derive_window"])
