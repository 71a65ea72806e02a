"""Trap 2: empty matches, and loops around patterns that can be empty."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest

import local
from kernels.test_search import match
from trellis.errors import BindingError, TrellisError

_SCHEMA = [("k", "string"), ("id", "int"), ("c", "string"), ("x", "int")]
_MEASURES = """MATCH_NUMBER() AS n, CLASSIFIER() AS label, count(*) AS rows, count(A.*) AS a_rows, sum(x) AS total,
    FIRST(x) AS f, LAST(A.x) AS l, array_agg(x) AS xs, min(x) AS least, coalesce(A.x, -1) AS other"""
_NOTHING = {
    "label": None,
    "rows": 0,
    "a_rows": 0,
    "total": None,
    "f": None,
    "l": None,
    "xs": [],
    "least": None,
    "other": -1,
}


@pytest.fixture
def never_endless() -> Iterator[None]:
    """Ends a test that would hang; how long it may take is no promise."""

    def give_up(*_: object) -> None:
        raise AssertionError("planning does not end")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(10)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def rows_of(text: str) -> list[dict[str, Any]]:
    return [{"k": "p", "id": number, "c": letter, "x": 10 * number} for number, letter in enumerate(text)]


def a_match(number: int, *xs: int, seen: int | None = None) -> dict[str, Any]:
    shown = list(xs[:seen])
    return {
        "n": number,
        "label": "A",
        "rows": len(shown),
        "a_rows": len(shown),
        "total": sum(shown),
        "f": shown[0],
        "l": shown[-1],
        "xs": shown,
        "least": min(shown),
        "other": shown[-1],
    }


def run(rows: str, text: str) -> list[dict[str, Any]]:
    clause = f"PARTITION BY k ORDER BY id MEASURES {_MEASURES} {rows} PATTERN (A*) DEFINE A AS c = 'A'"
    return local.run(clause, rows_of(text), _SCHEMA)


def test_one_row_for_each_empty_match() -> None:
    """B A A B: an empty match, one of two rows, an empty one. All take a number."""
    expected = [
        {"k": "p", "n": 1, **_NOTHING},
        {"k": "p", **a_match(2, 10, 20)},
        {"k": "p", "n": 3, **_NOTHING},
    ]
    assert run("ONE ROW PER MATCH", "BAAB") == expected


@pytest.mark.parametrize("mode", ["ALL ROWS PER MATCH", "ALL ROWS PER MATCH SHOW EMPTY MATCHES"])
def test_empty_matches_are_shown_by_default(mode: str) -> None:
    expected = [
        {"k": "p", "id": 0, "n": 1, **_NOTHING, "c": "B", "x": 0},
        {"k": "p", "id": 1, **a_match(2, 10, 20, seen=1), "c": "A", "x": 10},
        {"k": "p", "id": 2, **a_match(2, 10, 20, seen=2), "c": "A", "x": 20},
        {"k": "p", "id": 3, "n": 3, **_NOTHING, "c": "B", "x": 30},
    ]
    assert run(mode, "BAAB") == expected


def test_omitted_empty_matches_still_take_a_number() -> None:
    found = run("ALL ROWS PER MATCH OMIT EMPTY MATCHES", "BABA")
    assert [(row["id"], row["n"]) for row in found] == [(1, 2), (3, 4)]


def test_with_unmatched_rows_an_empty_match_is_a_match() -> None:
    """Where an empty match starts there is a match: its number is shown, and its row is not unmatched."""
    found = run("ALL ROWS PER MATCH WITH UNMATCHED ROWS", "BA")
    assert [(row["id"], row["n"], row["rows"]) for row in found] == [(0, 1, 0), (1, 2, 1)]


def test_an_unmatched_row_has_null_measures_even_for_count() -> None:
    clause = """ORDER BY id MEASURES MATCH_NUMBER() AS n, count(*) AS rows, coalesce(A.x, -1) AS other, 7 AS seven,
        array_agg(x) AS xs ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A) DEFINE A AS c = 'A'"""
    found = local.run(clause, rows_of("BA"), _SCHEMA)
    unmatched = {"n": None, "rows": None, "other": None, "seven": None, "xs": None}
    assert found[0] == {"id": 0, **unmatched, "k": "p", "c": "B", "x": 0}
    assert found[1] == {"id": 1, "n": 1, "rows": 1, "other": 10, "seven": 7, "xs": [10], "k": "p", "c": "A", "x": 10}


def test_physical_navigation_in_an_empty_match_has_no_row_to_start_from() -> None:
    clause = """ORDER BY id MEASURES PREV(x) AS p, NEXT(x) AS q, PREV(x, 0) AS r, PREV(FIRST(x), 1) AS s
        PATTERN (A*) DEFINE A AS c = 'A'"""
    assert local.run(clause, rows_of("BBB"), _SCHEMA)[1] == {"p": None, "q": None, "r": None, "s": None}


@pytest.mark.parametrize("pattern", ["()", "A*", "(A?){2,}", "(A*)*", "(A|())+", "A??", "(A*?)+?", "() | A"])
def test_only_empty_matches(pattern: str) -> None:
    """On rows without A each of these matches the empty sequence at every row."""
    define = "DEFINE A AS c = 'A'" if "A" in pattern else ""
    clause = f"ORDER BY id MEASURES MATCH_NUMBER() AS n, count(*) AS rows PATTERN ({pattern}) {define}"
    assert local.run(clause, rows_of("BB"), _SCHEMA) == [{"n": 1, "rows": 0}, {"n": 2, "rows": 0}]


@pytest.mark.parametrize(
    "measure", ["array_agg(x)", "min(x)", "max(c)", "sum(x)", "max_by(x, id)", "count(DISTINCT x)"]
)
def test_aggregates_over_a_pattern_without_variables(measure: str) -> None:
    clause = f"ORDER BY id MEASURES {measure} AS m PATTERN (()) "
    nothing: object = [] if "array" in measure else 0 if "count" in measure else None
    assert local.run(clause, rows_of("B"), _SCHEMA) == [{"m": nothing}]


def test_the_loop_that_broke_trino() -> None:
    assert match("(E?){2,} Y", "Y") == ["0:Y"]
    assert match("(E?){2,} Y", "EY") == ["0:EY"]
    assert match("(E?){2,} Y", "EEEEY") == ["0:EEEEY"]
    assert match("(E?){2,4} Y", "EEEEEY") == ["1:EEEEY"]


@pytest.mark.usefixtures("never_endless")
@pytest.mark.parametrize(
    "pattern",
    [
        "((A?){2000})*",
        "(((A?){50}){50})*",
        "(A? B? C? D? E? F? G? H?)*",
        "PERMUTE(A?, B?, C?, D?, E?, F?, G?, H?, I?, J?, K?, L?)*",
        "((((A*)*)*)*)*",
        "(()){100000}",
        "((((()){1000}){1000}){1000}){1000}",
    ],
)
def test_large_loops_around_patterns_that_can_be_empty(pattern: str) -> None:
    """They work, or are refused with an error of Trellis; soon, in both cases."""
    names = sorted({letter for letter in pattern.replace("PERMUTE", "") if letter.isalpha()})
    define = "DEFINE " + ", ".join(f"{name} AS c = '{name}'" for name in names) if names else ""
    try:
        found = local.run(f"ORDER BY id MEASURES count(*) AS n PATTERN ({pattern}) {define}", rows_of("AAZ"), _SCHEMA)
    except TrellisError:
        return
    assert found == ([{"n": 2}, {"n": 0}] if names else [{"n": 0}] * 3)


def test_empty_alternatives_and_subsets_need_their_variables() -> None:
    with pytest.raises(BindingError):
        local.run("ORDER BY id PATTERN (()) DEFINE A AS TRUE", rows_of("A"), _SCHEMA)
