"""What every match of a pattern contains."""

from __future__ import annotations

import pytest

from trellis.algebra.pattern import Pattern
from trellis.analysis.paths import Path, least_rows, most_rows, paths_of, rows_around, single_variables
from trellis.languages.match_recognize import parse_clause_text
from trellis.planning.before_match.demands import symbol_sets

USEFUL = frozenset("ABCDEFG")


def _pattern(text: str) -> Pattern:
    return parse_clause_text(f"ORDER BY t PATTERN ({text})").pattern


def _paths(text: str) -> list[str]:
    """A path as text: `^` if the match starts with it, `$` if it ends with it, in brackets if without order."""

    def shown(path: Path) -> str:
        names = "".join(path.variables)
        return f"{'^' if path.starts else ''}{names if path.ordered else f'[{names}]'}{'$' if path.ends else ''}"

    return [shown(path) for path in paths_of(_pattern(text), USEFUL)]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("A Z* B Z* C", ["^ABC$"]),
        ("A B C D E F G", ["^ABCDEFG$"]),
        ("A B+ C D+ E F+", ["^ABCDEF$"]),
        ("A (B+ C)+ D", ["^ABCD$"]),
        ("(A|B) (C|D)", ["^AC$", "^AD$", "^BC$", "^BD$"]),
        ("A Z* (B+|C+) Z* D", ["^ABD$", "^ACD$"]),
        ("Z* A", ["A$"]),
        ("A Z*", ["^A"]),
        ("Z A Z", ["A"]),
        ("A? B", ["B$"]),
        ("A* B", ["B$"]),
        ("A{2,3} B", ["^AB$"]),
        ("(A|B)+", ["^A", "^B"]),
        ("(A|B)+ C", ["^AC$", "^BC$"]),
        ("(A B?)+", ["^A"]),
        ("A | A B", ["^A"]),
        ("B A | A", ["A$"]),
        ("A (B|Z) C", ["^AC$"]),
        ("PERMUTE(A, B)", ["^AB$", "^BA$"]),
        ("PERMUTE(A, B, C, D)", ["[ABCD]"]),
        ("{- A -} B", ["^AB$"]),
        ("Z*", [""]),
        ("A?", [""]),
    ],
)
def test_paths(pattern: str, expected: list[str]) -> None:
    assert _paths(pattern) == expected


def test_many_ways_demand_nothing_where_they_branch() -> None:
    branches = " ".join("(A|B|C)" for _ in range(6))
    found = _paths(f"D {branches} E")
    assert 1 <= len(found) <= 64
    assert all(path.startswith("^D") and path.endswith("E$") for path in found)


@pytest.mark.parametrize(
    ("pattern", "around", "single", "least", "most"),
    [
        ("A Z* B", {"A": (0, 1), "Z": (1, 1), "B": (1, 0)}, "AB", 2, None),
        ("A B+ C", {"A": (0, 2), "B": (1, 1), "C": (2, 0)}, "AC", 3, None),
        ("A | B A", {"A": (0, 0), "B": (0, 1)}, "AB", 1, 2),
        ("A B A", {"A": (0, 0), "B": (1, 1)}, "B", 3, 3),
        ("(A|B){2} C", {"A": (0, 1), "B": (0, 1), "C": (2, 0)}, "C", 3, 3),
        ("PERMUTE(A, B) C?", {"A": (0, 0), "B": (0, 0), "C": (2, 0)}, "ABC", 2, 3),
        ("A{0}", {"A": (0, 0)}, "", 0, 0),
    ],
)
def test_rows(pattern: str, around: dict[str, tuple[int, int]], single: str, least: int, most: int | None) -> None:
    parsed = _pattern(pattern)
    assert rows_around(parsed) == around
    assert single_variables(parsed) == set(single)
    assert (least_rows(parsed), most_rows(parsed)) == (least, most)


def test_large_patterns_take_no_time() -> None:
    nested = "A"
    for _ in range(30):
        nested = f"PERMUTE({nested}, B, C)"
    assert len(_paths(nested)) <= 64
    assert _paths(f"PERMUTE({', '.join(f'{name}?' for name in 'ABCDEFGHIJKL')})*") == ["[]"]


@pytest.mark.parametrize(("variables", "sets"), [(3, 7), (7, 64), (12, 299), (13, 92), (41, 42)])
def test_symbol_sets_are_few(variables: int, sets: int) -> None:
    path = Path(tuple(f"V{number}" for number in range(variables)))
    found = symbol_sets(path, whole=True)
    assert len(found) == len(set(found)) == sets
    assert tuple(range(variables)) in found
