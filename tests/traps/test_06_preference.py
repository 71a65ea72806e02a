"""Trap 6: preference, and pruning that must never lose the preferred match."""

from __future__ import annotations

from typing import Any

import pytest

import local
from kernels.test_search import match

_SCHEMA = [("id", "int"), ("x", "int"), ("s", "string")]
_HINTS: list[dict[str, Any]] = [{}, {"off": ["merge_states"]}, {"off": ["hoist_slots"]}, {"search": "backtrack"}]


def labels(pattern: str, define: str, xs: list[int], **hints: Any) -> list[str]:
    rows = [{"id": number, "x": x, "s": "s"} for number, x in enumerate(xs)]
    clause = f"ORDER BY id MEASURES array_agg(CLASSIFIER()) AS labels PATTERN ({pattern}) DEFINE {define}"
    return ["".join(row["labels"]) for row in local.run(clause, rows, _SCHEMA, **hints)]


@pytest.mark.parametrize("hints", _HINTS)
@pytest.mark.parametrize(
    "condition",
    [
        # Each says: the first row is a B. Two searches that differ only in that label are not equivalent.
        "count(A.*) = 0",
        "count(B.*) = 1",
        "A.x IS NULL",
        "B.x = 9",
        "FIRST(B.x) = 9",
        "LAST(A.x) IS NULL",
        "sum(B.x) = 9",
        "min(A.id) IS NULL",
        "max_by(CLASSIFIER(), x) = 'B'",
        "min_by(CLASSIFIER(), id) = 'B'",
        "FIRST(CLASSIFIER()) = 'B'",
        "CLASSIFIER(A) IS NULL",
        "CLASSIFIER(B) = 'B'",
        "PREV(B.x, 0) = 9",
        "NEXT(B.id) = 1",
        "count_if(CLASSIFIER() = 'B') = 1",
        "max(CASE WHEN CLASSIFIER() = 'B' THEN x ELSE 0 END) = 9",
        "stddev_pop(A.x) IS NULL",
        "count(DISTINCT B.x) = 1",
        "bool_or(B.x > 8)",
        "U.x IS NOT NULL AND count(U.*) > 0 AND count(B.*) = 1",
        "max_by(B.id, B.x) = 0",
    ],
)
def test_a_label_that_a_later_condition_looks_at_is_not_merged_away(condition: str, hints: dict[str, Any]) -> None:
    """(A | B) prefers A, with which D never holds; then B, with which it holds wherever C* ends."""
    clause = f"""ORDER BY id MEASURES array_agg(CLASSIFIER()) AS labels PATTERN ((A | B) C* D)
        SUBSET U = (B, C) DEFINE D AS {condition}"""
    rows = [{"id": number, "x": x, "s": "s"} for number, x in enumerate([9, 1, 2, 3])]
    found = local.run(clause, rows, _SCHEMA, **hints)
    assert found == [{"labels": ["B", "C", "C", "D"]}]


@pytest.mark.parametrize("hints", _HINTS)
def test_merging_depends_on_the_row_that_is_read_not_on_its_distance(hints: dict[str, Any]) -> None:
    # A A A A and A A A B come first, but only A A B A has the last A in row 3 and the one before it in row 1.
    define = "A AS x > 0, B AS x > 0, C AS LAST(A.id, 1) = 1 AND A.id = 3 AND id = 4"
    assert labels("(A | B)+ C", define, [1, 1, 1, 1, 1], **hints) == ["AABAC"]


@pytest.mark.parametrize("hints", _HINTS)
@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        # x rises by 1; the row under test may follow the last A by at most two rows.
        ("A+ B+", "AAAAB"),
        ("A+? B+", "ABB"),
        ("A+ B+?", "AAAAB"),
        ("A+? B+?", "AB"),
        ("(A | B)+? C", "AC"),
    ],
)
def test_quantifiers_with_conditions_that_look_at_the_match(pattern: str, expected: str, hints: dict[str, Any]) -> None:
    names = [name for name in "BC" if name in pattern]
    define = ", ".join(f"{name} AS {name}.x <= A.x + 2" for name in names)
    assert labels(pattern, define, [1, 2, 3, 4, 5], **hints)[0] == expected


@pytest.mark.parametrize("hints", _HINTS)
def test_the_preferred_match_is_not_the_longest_nor_the_first_to_end(hints: dict[str, Any]) -> None:
    # The first option fails only at its last row; the second is longer than the third.
    define = "A AS x < 5, B AS sum(x) < 100, C AS C.x = FIRST(x), D AS x = 3"
    assert labels("A B B C | A D | A B B B", define, [1, 2, 3, 4], **hints) == ["ABBB"]
    assert labels("A B B C | A D | A B B B", define, [1, 3, 3, 4], **hints)[0] == "AD"
    assert labels("A B B C | A D | A B B B", define, [1, 3, 3, 1], **hints)[0] == "ABBC"


def test_permute_prefers_the_written_order() -> None:
    assert match("PERMUTE(C, A, B)", "ABC ABC ABC") == ["0:CAB"]
    assert match("PERMUTE(A, B, C)", "ABC BC AC") == ["0:ABC"]
    assert match("PERMUTE(A, B, C)", "ABC AC B") == ["0:ACB"]
    assert match("PERMUTE(A B, C)", "C A B") == ["0:CAB"]


def test_permute_of_optional_parts_stops_at_the_first_order_that_matches() -> None:
    """The order A? B? C? matches C alone, before any order in which C comes before B is tried."""
    assert match("PERMUTE(A?, B?, C?)", "CB") == ["0:C", "1:B"]


@pytest.mark.parametrize("hints", _HINTS)
def test_a_later_start_is_not_hurt_by_what_failed_before(hints: dict[str, Any]) -> None:
    """Failed states are kept between starts only where they cannot depend on the start."""
    # From row 0: B rows must lie within 10 of the first row, so C (x = 25) cannot be reached. From row 2 it can.
    define = "A AS TRUE, B AS x - FIRST(x) <= 10, C AS x - FIRST(x) <= 12 AND x > 20"
    assert labels("A B* C", define, [0, 5, 14, 20, 25], **hints) == ["ABC"]


@pytest.mark.parametrize("hints", _HINTS)
def test_match_number_in_a_condition_changes_after_each_match(hints: dict[str, Any]) -> None:
    """A state that failed for the first match may succeed for the second."""
    define = "A AS TRUE, B AS x = MATCH_NUMBER()"
    assert labels("A? B", define, [9, 1, 9, 2, 1, 3], **hints) == ["AB", "AB", "AB"]
