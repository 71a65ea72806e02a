"""Tests that others imply are dropped, but none that keeps another from failing."""

from __future__ import annotations

import pytest

import local
from trellis.algebra.automaton import AutomatonScan

SCHEMA = [("t", "int"), ("x", "int"), ("y", "double"), ("s", "string")]


def condition_of(condition: str, **hints: object) -> str:
    """What is tested of a row."""
    clause = f"ORDER BY t MEASURES A.t AS a PATTERN (A) DEFINE A AS {condition}"
    scan = local.plan_clause(clause, SCHEMA, **hints).scan
    assert isinstance(scan, AutomatonScan)
    return scan.conditions[0].text


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        ("x <> 0 AND x > 3", "x > 3"),
        ("10 / y > 1 AND x <> 0 AND x > 3", "10 / y > 1 AND x > 3"),
        ("10 / x > 1 AND x > 3 AND x > 1", "10 / x > 1 AND x > 3"),
        ("x + 1 > 0 AND x > 3", "x > 3"),
        ("prev(y) <> 0 AND prev(y) > 3", "prev(y) > 3"),
    ],
)
def test_what_others_imply_is_dropped(condition: str, left: str) -> None:
    assert condition_of(condition) == condition_of(left, off=["drop_redundant"])


@pytest.mark.parametrize(
    "condition",
    [
        "x <> 0 AND 10 / x > 1 AND x > 3",
        "x > 3 AND x <> 0 AND 10 / x > 1",
        "prev(x) <> 0 AND 10 / prev(x) > 1 AND prev(x) > 3",
        "s <> 'a' AND 1 / length(s) > 0 AND s > 'a'",
    ],
)
def test_what_keeps_another_test_from_failing_stays(condition: str) -> None:
    assert condition_of(condition) == condition_of(condition, off=["drop_redundant"])
