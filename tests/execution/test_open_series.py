"""From which row on an open series is undecided, on short strings."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import local
from trellis.errors import DataError, UnsupportedError
from trellis.execution.chunks import Chunk
from trellis.execution.open_series import EVER, NEVER, OpenSeries, rows_back
from trellis.execution.rows.matcher import RowMatcher

OPEN = np.array([False])
_SCHEMA = [("id", "int"), ("c", "string"), ("x", "int")]
_DEFINE = {"A": "c = 'A'", "B": "c = 'B'", "UP": "x < NEXT(x)", "LATE": "x > PREV(x, 2)"}


def prepared(
    pattern: str, text: str, *, within: str = "", measures: str = "count(*) AS n", skip: str = "", **hints: Any
) -> tuple[RowMatcher, Chunk]:
    """A matcher and the rows of a text; the variables of the pattern stand apart."""
    define = ", ".join(f"{name} AS {condition}" for name, condition in _DEFINE.items() if name in pattern.split())
    clause = f"ORDER BY id MEASURES {measures} {skip} PATTERN ({pattern}) {within} DEFINE {define}"
    plan = local.plan_clause(clause, _SCHEMA, off=["eliminate_rows"], **hints)
    rows = [{"id": number, "c": letter, "x": number * number} for number, letter in enumerate(text)]
    return RowMatcher(plan.scan), Chunk(local.sorted_rows(plan, rows, _SCHEMA), np.array([0, len(rows)]))


class Stand(NamedTuple):
    """Where the search through one series stands."""

    first: int
    start: int
    matches: int
    shown: int


def search(pattern: str, text: str, *, horizon: int = EVER, **options: Any) -> tuple[list[dict[str, Any]], Stand]:
    """The output rows and the state of an open series with the rows of a text."""
    matcher, chunk = prepared(pattern, text, **options)
    batches, series, _, _ = matcher.resume(chunk, OpenSeries.new(1), OPEN, horizon)
    return [row for batch in batches for row in batch.to_pylist()], Stand(*(int(number[0]) for number in series[:-1]))


@pytest.mark.parametrize("how", ["auto", "backtrack"])
@pytest.mark.parametrize(
    ("pattern", "text", "matches", "undecided"),
    [
        ("A B", "AB", 1, 2),
        ("A B", "ABA", 1, 2),  # a B may come
        ("A B", "BBB", 0, 3),
        ("A B", "AAB", 1, 3),
        ("A +", "AAA", 0, 0),  # it may grow
        ("A +", "AAB", 1, 3),
        ("A +?", "AAA", 3, 3),  # the preferred match is the shortest
        ("A + B", "AAB", 1, 3),
        ("A + B", "AAC", 0, 3),
        ("A + B", "CAA", 0, 1),
        ("A *", "CC", 2, 2),  # empty matches
        ("A *", "CCA", 2, 2),
        ("( A B | A )", "CA", 0, 1),
        ("( A | A B )", "CA", 1, 2),
        ("A $", "AA", 0, 1),  # no end is in sight
        ("A $ | B", "ABB", 2, 3),
        ("^ A", "AA", 1, 2),
        ("^ A +", "AA", 0, 0),
        ("UP", "AAA", 2, 2),  # its condition looks at the next row
        ("UP UP", "AAAA", 1, 2),
        ("LATE", "AAAA", 2, 4),
        ("A {2}", "AAAAA", 2, 4),
    ],
)
def test_undecided(pattern: str, text: str, matches: int, undecided: int, how: str) -> None:
    rows, state = search(pattern, text, search=how)
    assert (len(rows), state.matches, state.start) == (matches, matches, undecided)


@pytest.mark.parametrize("how", ["auto", "backtrack"])
@pytest.mark.parametrize(
    ("pattern", "within", "matches", "undecided"),
    [
        ("A +", 2, 1, 3),  # rows 0 to 2 fill a window of two, and row 3 is outside
        ("A +", 9, 0, 0),
        ("A + B", 2, 0, 1),  # a B may come at the time of row 3
        ("UP +", 2, 1, 3),
        ("UP +", 3, 0, 0),  # the condition of the last row in the window looks at a row that is not there
    ],
)
def test_windows(pattern: str, within: int, matches: int, undecided: int, how: str) -> None:
    rows, state = search(pattern, "AAAA", within=f"WITHIN {within}", search=how)
    assert (len(rows), state.start) == (matches, undecided)


@pytest.mark.parametrize("how", ["auto", "backtrack"])
@pytest.mark.parametrize(
    ("pattern", "horizon", "matches", "undecided"),
    [
        ("A +", 5, 0, 0),  # a row at 5 may come, and lies in the window of row 0
        ("A +", 6, 1, 4),  # the window has closed: the match is what there is
        ("A + B", 6, 0, 1),
        ("A + B", 8, 0, 3),
        ("A + B", 9, 0, 4),
        ("UP +", 9, 0, 0),  # the last row looks at one that is not there
        ("A $", 9, 0, 3),
        ("A $ | A", 9, 3, 3),
    ],
)
def test_windows_that_have_closed(pattern: str, horizon: int, matches: int, undecided: int, how: str) -> None:
    rows, state = search(pattern, "AAAA", within="WITHIN 5", horizon=horizon, search=how)
    assert (len(rows), state.start) == (matches, undecided)


def test_a_series_is_due_when_the_window_of_its_first_undecided_row_closes() -> None:
    matcher, chunk = prepared("A + B", "CAA", within="WITHIN 5")
    assert matcher.resume(chunk, OpenSeries.new(1), OPEN).due.tolist() == [6]
    assert matcher.resume(chunk, OpenSeries.new(1), OPEN, 7).due.tolist() == [7]
    assert matcher.resume(chunk, OpenSeries.new(1), OPEN, 8).due.tolist() == [NEVER]
    matcher, chunk = prepared("A + B", "CAA")
    assert matcher.resume(chunk, OpenSeries.new(1), OPEN, 8).due.tolist() == [NEVER]


def test_a_measure_that_looks_ahead() -> None:
    assert search("A", "AA", measures="NEXT(x) AS n")[1].start == 1
    assert search("A", "AAA", measures="NEXT(A.x, 2) AS n")[1].start == 1
    assert search("A *", "CC", measures="NEXT(x) AS n")[1].start == 2  # an empty match has no row to look from


def test_rows_that_are_kept() -> None:
    """PREV looks two rows back, so two rows before the undecided one are needed."""
    for pattern, rows in (("LATE B", 2), ("A LATE", 1), ("A ? LATE", 2), ("A B + LATE", 0), ("A B | A LATE", 1)):
        matcher, _ = prepared(pattern, "A")
        assert rows_back(matcher.plan) == rows, pattern
    assert search("LATE B", "AABAA")[1] == Stand(first=2, start=4, matches=0, shown=4)
    assert search("A B", "ABABA")[1] == Stand(first=4, start=4, matches=2, shown=4)


def test_skips() -> None:
    assert search("A + B", "AABA", skip="AFTER MATCH SKIP TO LAST B")[1] == Stand(3, 3, 1, 3)
    assert search("A A B", "AAB", skip="AFTER MATCH SKIP TO NEXT ROW")[1] == Stand(3, 3, 1, 3)
    with pytest.raises(DataError, match="row 1"):
        search("A B", "AB", skip="AFTER MATCH SKIP TO FIRST A")


def test_errors_count_rows_from_the_start_of_the_series() -> None:
    matcher, chunk = prepared("A B *", "CCCA", skip="AFTER MATCH SKIP TO LAST B")
    _, series, _, _ = matcher.resume(Chunk(chunk.table.slice(0, 2), np.array([0, 2])), OpenSeries.new(1), OPEN)
    with pytest.raises(DataError, match="row 4"):
        matcher.resume(Chunk(chunk.table.slice(2), np.array([0, 2])), series, ~OPEN)


def test_conditions_are_not_computed_where_a_neighbour_is_missing() -> None:
    """The last row has no next one yet, the first one kept no longer has one before: neither may divide by zero."""
    clause = """ORDER BY id MEASURES count(*) AS n PATTERN (A)
        DEFINE A AS 1 / coalesce(NEXT(x), if(id < 3, 0, 1)) > 0 AND 1 / coalesce(PREV(x), if(id > 0, 0, 1)) > 0"""
    plan = local.plan_clause(clause, _SCHEMA, off=["eliminate_rows"])
    table = local.sorted_rows(plan, [{"id": number, "c": "A", "x": 1} for number in range(4)], _SCHEMA)
    matcher, series, found = RowMatcher(plan.scan), OpenSeries.new(1), 0
    for end in range(1, 5):
        first = int(series.first[0])
        part = table.slice(first, end - first)
        batches, series, _, _ = matcher.resume(Chunk(part, np.array([0, part.num_rows])), series, np.array([end == 4]))
        found += sum(batch.num_rows for batch in batches)
    assert found == 4


def test_functions_of_all_pairs_need_the_whole_series() -> None:
    clause = "ORDER BY id MEASURES count(*) AS n PATTERN (A B) DEFINE B AS levenshtein(A.c, B.c) = 1"
    plan = local.plan_clause(clause, _SCHEMA)
    with pytest.raises(UnsupportedError, match="all pairs"):
        RowMatcher(plan.scan).resume(Chunk(None, np.array([0, 0])), OpenSeries.new(1), OPEN)
