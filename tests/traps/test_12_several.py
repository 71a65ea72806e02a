"""Trap 12: a row that fits several variables. One letter per row with a regular expression is wrong."""

from __future__ import annotations

from typing import Any

import pytest

import local
from kernels.test_search import match


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        # If each row were given its first fitting letter, none of these would match.
        ("A B", "AB AB", "0:AB"),
        ("B A", "AB AB", "0:BA"),
        ("A+ B", "AB AB AB", "0:AAB"),
        ("A B C", "ABC ABC ABC", "0:ABC"),
        ("C B A", "ABC ABC ABC", "0:CBA"),
        ("A+ B+ C+", "AB ABC BC", "0:ABC"),
        ("A B* C", "A BC BC BC", "0:ABBC"),
        ("A B*? C", "A BC BC BC", "0:AC"),
        ("(A B)+ B", "A AB AB B B", "0:ABABB"),
        ("(A B)+ B", "A AB AB B AB B B", "0:ABABABB"),
        ("A{2} B{2}", "AB AB AB AB", "0:AABB"),
        ("A* B{3}", "AB AB AB AB", "0:ABBB"),
        ("(A | B){3} A", "B AB B A", "0:BABA"),
    ],
)
def test_labels(pattern: str, text: str, expected: str) -> None:
    for hints in ({}, {"search": "backtrack"}, {"more": "count(*) > 0"}):
        assert match(pattern, text, **hints) == expected.split()


def test_overlapping_ranges() -> None:
    """LOW and HIGH share the values 4 to 6; the label depends on the place in the pattern, not on the row."""
    schema = [("id", "int"), ("x", "int")]
    rows: list[dict[str, Any]] = [{"id": number, "x": x} for number, x in enumerate([5, 5, 5, 9, 5, 1])]
    clause = """ORDER BY id MEASURES array_agg(CLASSIFIER()) AS labels, count(LOW.*) AS low, sum(HIGH.x) AS high
        PATTERN (LOW+ HIGH+ LOW) DEFINE LOW AS x <= 6, HIGH AS x >= 4"""
    # LOW+ takes the three fives, HIGH+ the nine and the five (greedy), LOW the one.
    expected = {"labels": ["LOW", "LOW", "LOW", "HIGH", "HIGH", "LOW"], "low": 4, "high": 14}
    assert local.run(clause, rows, schema) == [expected]


def test_undefined_variables_fit_every_row() -> None:
    schema = [("id", "int"), ("x", "int")]
    rows: list[dict[str, Any]] = [{"id": number, "x": x} for number, x in enumerate([1, None, 3])]
    clause = "ORDER BY id MEASURES array_agg(CLASSIFIER()) AS labels PATTERN (ANY_ROW B) DEFINE B AS B.x IS NULL"
    assert local.run(clause, rows, schema) == [{"labels": ["ANY_ROW", "B"]}]
