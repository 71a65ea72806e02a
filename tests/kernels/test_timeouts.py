"""Matches that timed out, over short strings: each letter is a row, and a row follows the other after one unit of time.

Each variable fits the rows with its letter, X fits all. A match is written as the number of its first row and its
labels, those of excluded rows in lower case; one that timed out has a `?` behind it: `0:AB 2:A?`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import local
import naive
from trellis.algebra.pattern import variables_of
from trellis.execution.chunks import Chunk
from trellis.execution.open_series import NEVER, OpenSeries
from trellis.execution.rows.matcher import RowMatcher
from trellis.languages.match_recognize import parse_clause_text

_SCHEMA = [("id", "int"), ("c", "string")]
_PAST, _NEXT = "PAST LAST ROW", "TO NEXT ROW"

# How conditions are tested: on rows alone, or on the match so far; states are merged, or not.
_VARIANTS: dict[str, dict[str, Any]] = {
    "bits": {},
    "bits, no merging": {"off": ["merge_states"]},
    "no rules": {"off": ["hoist_slots", "merge_states", "eliminate_rows", "no_match", "skip_search"]},
    "first row": {"more": " AND FIRST(id) IS NOT NULL"},
    "count, no merging": {"more": " AND count(*) > 0", "off": ["merge_states"]},
}

TABLE = (
    # The next row lies beyond the window, or there is none.
    ("A B", 1, "AB", _PAST, "0:AB"),
    ("A B", 1, "AA", _PAST, "1:A?"),
    ("A B", 1, "AC", _PAST, ""),
    ("A X B", 1, "AXB", _PAST, "0:AX?"),
    ("A X*? B", 3, "ACCCCACB", _PAST, "0:AXXX? 5:AXB"),
    ("A X*? B", 9, "ACC", _PAST, "0:AXX?"),
    ("A C* B", 2, "ACCC", _PAST, "0:ACC?"),
    ("A C* B", 9, "ACCD", _PAST, ""),
    # Those that begin in another one are left out, unless the search goes on with the next row.
    ("A X*? B", 3, "AACCC", _PAST, "0:AXXX?"),
    ("A X*? B", 3, "AACCC", _NEXT, "0:AXXX? 1:AXXX?"),
    ("A X*? B", 2, "AACAC", _PAST, "0:AXX? 3:AX?"),
    ("A X*? B", 3, "AACCB", _PAST, "0:AXXX? 1:AXXB"),  # a match does not care
    ("A X*? B", 3, "AACCBA", "TO LAST B", "0:AXXX? 1:AXXB 5:A?"),
    # Of several ways the first one counts.
    ("A X* B | A C", 2, "ACAA", _PAST, "0:AC 2:AX?"),
    ("(A B C | A B D)", 1, "AB", _PAST, "0:AB?"),
    ("A (B | C)+ D", 9, "ABCB", _PAST, "0:ABCB?"),
    ("(A | X) B", 9, "CA", _PAST, "1:A?"),
    ("(X A | A X) B", 1, "CA", _PAST, "0:XA?"),
    ("PERMUTE(A, B, C)", 9, "CAACB", _PAST, "2:ACB"),
    ("PERMUTE(A, B, C)", 9, "CA", _PAST, "0:CA?"),
    # What asks for no row does not time out.
    ("A $", 9, "AA", _PAST, "1:A"),
    ("A X+ $", 1, "AXX", _PAST, "0:AX?"),
    ("^ A B", 9, "AA", _PAST, ""),
    ("^ A C* B", 9, "ACCA", _PAST, ""),
    ("^ A C* B", 9, "ACC", _PAST, "0:ACC?"),
    # Empty matches are matches.
    ("A*", 1, "BA", _PAST, "0: 1:A"),
    ("(A B)?", 1, "A", _PAST, "0:"),
    ("A {- C* -} B", 2, "ACCC", _PAST, "0:Acc?"),
)


def found(pattern: str, width: int, text: str, skip: str, options: dict[str, Any]) -> str:
    options = dict(options)
    more = options.pop("more", "")
    names = variables_of(parse_clause_text(f"PATTERN ({pattern})").pattern)
    define = ", ".join(f"{name} AS {'TRUE' if name == 'X' else f'c = {name!r}'}{more}" for name in names)
    clause = f"""ORDER BY id MEASURES FIRST(id) AS f, FINAL count(*) AS n, MATCH_NUMBER() AS m, CLASSIFIER() AS v
        ALL ROWS PER MATCH SHOW TIMEOUT MATCHES AFTER MATCH SKIP {skip} PATTERN ({pattern}) WITHIN {width}
        DEFINE {define}"""
    rows = [{"id": number, "c": letter} for number, letter in enumerate(text)]
    written: dict[tuple[Any, ...], dict[int, str]] = {}
    for row in local.run(clause, rows, _SCHEMA, **options):
        start = row["id"] if row["f"] is None else row["f"]
        labels = written.setdefault((start, row["m"], row["n"]), {})
        if row["v"] is not None:
            labels[row["id"] - start] = row["v"]
    numbers = [number for _, number, _ in written if number is not None]
    assert numbers == list(range(1, len(numbers) + 1))
    texts = []
    for (start, number, length), labels in written.items():
        path = "".join(labels.get(at, text[start + at].lower()) for at in range(length))
        texts.append(f"{start}:{path}{'?' if number is None else ''}")
    return " ".join(texts)


@pytest.mark.parametrize("variant", _VARIANTS)
@pytest.mark.parametrize(("pattern", "width", "text", "skip", "expected"), TABLE)
def test_table(pattern: str, width: int, text: str, skip: str, expected: str, variant: str) -> None:
    assert found(pattern, width, text, skip, _VARIANTS[variant]) == expected


def test_the_definition_says_so_too() -> None:
    define = (
        ("A", ("op", "=", (("col", None, "c"), ("lit", "A")))),
        ("B", ("op", "=", (("col", None, "c"), ("lit", "B")))),
    )
    query = naive.NaiveQuery(
        ("cat", (("var", "A"), ("rep", ("var", "X"), 0, None, False), ("var", "B"))),
        define,
        measures=(("n", ("agg", "count", (), "*", False, None)), ("m", ("match_number",))),
        order_by=(("id", False, True),),
        within=3,
        timeouts=True,
    )
    rows = [{"id": number, "c": letter} for number, letter in enumerate("AACCBAC")]
    assert naive.run(rows, ["id", "c"], query) == [{"n": 4, "m": None}, {"n": 4, "m": 1}, {"n": 2, "m": None}]


def test_more_rows_than_there_is_room_for_at_first() -> None:
    """The same start is searched again with more room, and finds the same."""
    clause = """ORDER BY id MEASURES count(*) AS n ONE ROW PER MATCH SHOW TIMEOUT MATCHES AFTER MATCH SKIP TO NEXT ROW
        PATTERN ({} (A | X)+ B) WITHIN {} DEFINE A AS c = 'A', B AS c = 'B'"""
    rows = [{"id": number, "c": "A"} for number in range(60)]
    lengths = [row["n"] for row in local.run(clause.format("", 20), rows, _SCHEMA)]
    assert lengths == [min(21, 60 - start) for start in range(60)]
    rows = [{"id": number, "c": "A"} for number in range(2500)]
    assert local.run(clause.format("^", 9000), rows, _SCHEMA) == [{"n": 2500}]


def test_measures_are_of_what_was_taken() -> None:
    clause = """ORDER BY id MEASURES A.id AS a, B.id AS b, count(B.*) AS n, sum(B.id) AS s, FINAL LAST(id) AS z,
        NEXT(LAST(id)) AS beyond, CLASSIFIER() AS v
        ONE ROW PER MATCH SHOW TIMEOUT MATCHES PATTERN (A X*? B) WITHIN 2 DEFINE A AS c = 'A', B AS c = 'B'"""
    rows = [{"id": number, "c": letter} for number, letter in enumerate("ACCC")]
    (row,) = local.run(clause, rows, _SCHEMA)
    assert row == {"a": 0, "b": None, "n": 0, "s": None, "z": 2, "beyond": 3, "v": "X"}


class Growing:
    """A series that grows by letters."""

    def __init__(
        self, pattern: str, width: int, measures: str = "FIRST(id) AS f, count(*) AS n", skip: str = _PAST
    ) -> None:
        clause = f"""ORDER BY id MEASURES {measures} ONE ROW PER MATCH SHOW TIMEOUT MATCHES AFTER MATCH SKIP {skip}
            PATTERN ({pattern}) WITHIN {width} DEFINE A AS c = 'A', B AS c = 'B'"""
        self.plan = local.plan_clause(clause, _SCHEMA)
        self.matcher = RowMatcher(self.plan.scan)
        self.series, self.text, self.due = OpenSeries.new(1), "", NEVER

    def give(self, letters: str, horizon: int, *, final: bool = False) -> list[tuple[Any, ...]]:
        """What is given out when letters come, and none of those to come is before the horizon."""
        self.text += letters
        first = int(self.series.first[0])
        rows = [{"id": number, "c": letter} for number, letter in enumerate(self.text)][first:]
        chunk = Chunk(local.sorted_rows(self.plan, rows, _SCHEMA), np.array([0, len(rows)]))
        batches, self.series, due, _ = self.matcher.resume(chunk, self.series, np.array([final]), horizon)
        self.due = int(due[0])
        found = [row for batch in batches for row in batch.to_pylist()]
        return [tuple(local.evaluate(value, row) for _, value in self.plan.finished) for row in found]


def test_it_comes_when_its_window_has_closed() -> None:
    growing = Growing("A X*? B", 3)
    assert growing.give("AC", 2) == [] and growing.due == 3
    assert growing.give("", 3) == []  # a row at 3 may come
    assert growing.give("", 4) == [(0, 2)] and growing.due == NEVER
    assert growing.series.start.tolist() == growing.series.first.tolist() == [2]
    assert growing.series.matches.tolist() == [0]


def test_it_comes_when_a_row_beyond_its_window_is_there() -> None:
    growing = Growing("A X*? B", 1)
    assert growing.give("A", 1) == []
    assert growing.give("CC", 1) == [(0, 2)]


def test_what_overlaps_one_that_was_given_out_is_left_out() -> None:
    growing = Growing("A X*? B", 3)
    assert growing.give("AAAA", 4) == [(0, 4)] and growing.due == 4
    assert growing.series.shown.tolist() == [4]
    assert growing.give("CA", 8) == []  # those of rows 1 to 3 are left out, the last one is open
    assert growing.give("", 9) == [(5, 1)]
    growing = Growing("A X*? B", 3, skip=_NEXT)
    assert growing.give("AAAA", 4) == [(0, 4)]
    assert growing.give("CA", 8) == [(1, 4), (2, 4), (3, 3)]


def test_a_match_may_overlap_it() -> None:
    growing = Growing("A X*? B", 3, "FIRST(id) AS f, MATCH_NUMBER() AS m")
    assert growing.give("AACC", 4) == [(0, None)]
    assert growing.give("BA", 4) == [(1, 1)]
    assert growing.give("B", 4) == [(5, 2)]
    assert growing.series.matches.tolist() == [2]


def test_measures_that_look_ahead_wait() -> None:
    growing = Growing("A X*? B", 1, "FIRST(id) AS f, NEXT(LAST(id)) AS n")
    assert growing.give("A", 9) == []
    assert growing.give("C", 9) == []
    assert growing.give("C", 9) == [(0, 2)]
    growing = Growing("A X*? B", 1, "FIRST(id) AS f, NEXT(LAST(id)) AS n")
    assert growing.give("AC", 9) == []
    assert growing.give("", 9, final=True) == [(0, None)]
