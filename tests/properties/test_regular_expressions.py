"""The matcher against Python's regular expressions: which rows the preferred match takes, and as which variables.

Patterns over variables that ask for a letter only are regular expressions over a text, with the same preferences. Every
place in the pattern has a variable of its own, so that the labels of a match tell the whole way through the pattern. Of
a group in a loop `re` remembers the last round only; so there is a group for each variable and row, and a place in the
pattern marks the group of the row that it took.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numba
from hypothesis import event, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

import local
import naive
from naive import Pattern
from properties.render import render_pattern
from properties.strategies import draw_shares

_SCHEMA = [("id", "int"), ("c", "string")]
_MOST_ROWS = 5
_COUNTS = ((0, None), (0, None), (1, None), (0, 1), (2, None), (0, 2), (1, 2), (2, 2), (0, 3), (1, 3), (2, 3), (0, 0))

more = settings(max_examples=settings().max_examples * (1 if numba.config.DISABLE_JIT else 5))

# Conditions of single rows are searched by the table or by backtracking; the others look at the match.
variants = st.sampled_from(
    [
        ("", {}),
        ("", {"search": "backtrack"}),
        ("", {"search": "backtrack", "off": ["merge_states"]}),
        (" AND FIRST(id) IS NOT NULL", {}),
        (" AND count(*) > 0", {}),
    ]
)


@dataclass(frozen=True)
class Case:
    pattern: Pattern
    letters: dict[str, str]  # the rows that each variable fits
    text: str


@st.composite
def cases(draw: DrawFn) -> Case:
    letters: dict[str, str] = {}
    pattern = draw_pattern(draw, draw(st.integers(1, 6)), 5, letters)
    if not letters:
        pattern = "cat", (pattern, draw_leaf(draw, letters, only_variables=True))
    return Case(pattern, letters, draw(st.text("aaab", min_size=1, max_size=_MOST_ROWS)))


def draw_pattern(draw: DrawFn, leaves: int, depth: int, letters: dict[str, str]) -> Pattern:
    if depth == 0 or (leaves == 1 and draw(st.booleans())):
        return draw_leaf(draw, letters)
    if leaves == 1 or draw(st.sampled_from((True, False, False))):
        least, most = draw(st.sampled_from(_COUNTS))
        return "rep", draw_pattern(draw, leaves, depth - 1, letters), least, most, draw(st.booleans())
    shares = draw_shares(draw, leaves, draw(st.integers(2, min(3, leaves))))
    kind = draw(st.sampled_from(("cat", "alt", "alt")))
    return kind, tuple(draw_pattern(draw, share, depth - 1, letters) for share in shares)


def draw_leaf(draw: DrawFn, letters: dict[str, str], only_variables: bool = False) -> Pattern:
    kind = draw(
        st.sampled_from(("var",) * 12 + (() if only_variables else ("empty", "empty", "empty", "start", "end")))
    )
    if kind != "var":
        return (kind,)
    name = f"V{len(letters)}"
    letters[name] = draw(st.sampled_from(("a", "b", "ab", "ab")))
    return kind, name


def expression(pattern: Pattern, letters: dict[str, str], marks: list[tuple[str, int]]) -> str:
    """The regular expression; `marks` gets the variable and the row that each group stands for."""
    match pattern:
        case ("var", name):
            rows = [f"(?<=\\A{'.' * (row + 1)})()" for row in range(_MOST_ROWS)]
            marks.extend((name, row) for row in range(_MOST_ROWS))
            return f"(?:[{letters[name]}](?:{'|'.join(rows)}))"
        case ("cat", parts):
            return "(?:" + "".join(expression(part, letters, marks) for part in parts) + ")"
        case ("alt", parts):
            return "(?:" + "|".join(expression(part, letters, marks) for part in parts) + ")"
        case ("rep", body, least, most, greedy):
            count = f"{{{least},{'' if most is None else most}}}"
            return f"(?:{expression(body, letters, marks)}){count}{'' if greedy else '?'}"
        case (kind,):
            return {"empty": "(?:)", "start": "(?:\\A)", "end": "(?:\\Z)"}[kind]
    raise AssertionError(pattern)


def by_expression(case: Case) -> list[str] | None:
    """The labels of the match at the first row; None if there is none."""
    marks: list[tuple[str, int]] = []
    found = re.match(expression(case.pattern, case.letters, marks), case.text)
    if found is None:
        return None
    labels = {row: name for (name, row), mark in zip(marks, found.groups(), strict=True) if mark is not None}
    assert sorted(labels) == list(range(found.end()))
    return [labels[row] for row in range(found.end())]


@more
@given(case=cases(), variant=variants)
def test_the_matcher(case: Case, variant: tuple[str, dict[str, Any]]) -> None:
    looking_back, hints = variant
    conditions = [f"{name} AS c IN ({', '.join(map(repr, fits))}){looking_back}" for name, fits in case.letters.items()]
    clause = f"""ORDER BY id MEASURES array_agg(CLASSIFIER()) AS labels
        PATTERN (^ {render_pattern(("cat", (case.pattern,)))}) DEFINE {", ".join(conditions)}"""
    rows = [{"id": number, "c": letter} for number, letter in enumerate(case.text)]
    expected = by_expression(case)
    event("no match" if expected is None else "an empty match" if not expected else "rows")
    assert [row["labels"] for row in local.run(clause, rows, _SCHEMA, **hints)] == [expected] * (expected is not None)


@more
@given(case=cases())
def test_the_oracle(case: Case) -> None:
    fits = {
        name: ("op", "IN", (("col", None, "c"), *(("lit", letter) for letter in letters)))
        for name, letters in case.letters.items()
    }
    query = naive.NaiveQuery(case.pattern, tuple(fits.items()))
    search = naive.Search(query, [{"c": letter} for letter in case.text], 0, 1, naive.Budget(None))
    path = next(naive.paths(case.pattern, (), search), None)
    assert (None if path is None else [label for label, _ in path]) == by_expression(case)
