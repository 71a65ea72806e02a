"""A known difference explains what it says, and nothing beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import naive
from naive import NaiveQuery
from peers.compare import Answer, Outcome, same
from peers.known import KNOWN, explain, oracle
from peers.queries import COLUMNS

ROWS = tuple(
    {"c": 0, "id": id_, "k": 1, "t": 0, "x": x, "y": 0.0, "s": "a", "b": True} for id_, x in enumerate((10, None, 30))
)
PLAIN = NaiveQuery(
    pattern=("rep", ("var", "A"), 1, None, True),
    define=(("A", ("lit", True)),),
    order_by=(("id", False, True),),
    partition_by=("c",),
    rows_per_match="ALL",
)
X = ("col", None, "x")


def measuring(expr: tuple[Any, ...], **changes: Any) -> NaiveQuery:
    return replace(PLAIN, measures=(("m", expr),), **changes)


def right(query: NaiveQuery) -> Outcome:
    return Answer(tuple(naive.run(list(ROWS), COLUMNS, query)))


def with_measures(query: NaiveQuery, *values: Any) -> Outcome:
    """The right rows with other values of the measure."""
    rows = naive.run(list(ROWS), COLUMNS, query)
    return Answer(tuple({**row, "m": value} for row, value in zip(rows, values, strict=True)))


# For each known difference a query, and what Trino 476 answers to it.
FIRST = measuring(("nav", "FIRST", X, 2, None))
MISSING = measuring(("nav", "PREV", ("call", "coalesce", (X, ("lit", 0))), None, None))
BOTH = measuring(("op", "+", (FIRST.measures[0][1], MISSING.measures[0][1])))
PERMUTE = measuring(("classifier", None), pattern=("perm", (("var", "A"),)))
SHOWN = [
    (FIRST, with_measures(FIRST, 30, 30, 30), (KNOWN[0].name,)),
    (MISSING, with_measures(MISSING, 0, 10, 0), (KNOWN[1].name,)),
    (BOTH, with_measures(BOTH, 30, 40, 30), (KNOWN[0].name, KNOWN[1].name)),
]


@pytest.mark.parametrize(("query", "theirs", "names"), SHOWN)
def test_what_trino_answers_is_explained(query: NaiveQuery, theirs: Outcome, names: tuple[str, ...]) -> None:
    assert explain(query, ROWS, right(query), theirs) == names


def test_permute_of_one_is_taken_for_a_variable() -> None:
    theirs = Answer(tuple({**row, "m": label} for row, label in zip(ROWS[:2], ("PERMUTE", "A"), strict=True)))
    assert explain(PERMUTE, ROWS, right(PERMUTE), theirs) == (KNOWN[2].name,)
    # PERMUTE(A){2} is a row of PERMUTE, and then A{2}.
    twice = replace(PERMUTE, pattern=("rep", PERMUTE.pattern, 2, 2, True))
    theirs = Answer(tuple({**row, "m": label} for row, label in zip(ROWS, ("PERMUTE", "A", "A"), strict=True)))
    assert explain(twice, ROWS, right(twice), theirs) == (KNOWN[2].name,)


@pytest.mark.parametrize(
    ("loop", "labels"),
    [
        (("rep", ("rep", ("var", "D"), 0, 1, False), 0, None, True), "DDA"),
        (("rep", ("rep", ("var", "D"), 0, None, False), 1, None, True), "DDA"),
        (("rep", ("rep", ("var", "D"), 0, None, False), 0, 5, True), "DCA"),  # with a bound it is right
        (("rep", ("rep", ("var", "D"), 0, None, False), 0, None, False), "DCA"),
    ],
)
def test_only_the_first_iteration_is_empty(loop: tuple[Any, ...], labels: str) -> None:
    query = measuring(
        ("classifier", None),
        pattern=("cat", (loop, ("rep", ("var", "C"), 0, 1, True), ("var", "A"))),
        define=(("A", ("op", "=", (X, ("lit", 30)))),),
    )
    assert right(query) == with_measures(query, *"DCA")
    explained = explain(query, ROWS, right(query), with_measures(query, *"DDA"))
    assert explained == ((KNOWN[3].name,) if labels == "DDA" else None)


@pytest.mark.parametrize(("least", "labels"), [(1, "BBC BC -"), (2, "BBC B -"), (3, "BB B -")])
def test_the_last_iteration_that_must_be_is_the_first_of_the_loop(least: int, labels: str) -> None:
    # B is x = 10 without a C before it. What Trino 476 answers for (B | C*?){least,} from each of three rows.
    rows = tuple({**row, "x": x} for row, x in zip(ROWS, (10, 10, None), strict=True))
    no_c_yet = ("op", "IS NULL", (("nav", "LAST", ("col", "C", "id"), 0, None),))
    query = measuring(
        ("classifier", None),
        pattern=("rep", ("alt", (("var", "B"), ("rep", ("var", "C"), 0, None, False))), least, None, True),
        define=(("B", ("op", "AND", (("op", "=", (X, ("lit", 10))), no_c_yet))),),
        skip=("NEXT_ROW",),
    )
    expected = Answer(tuple(naive.run(list(rows), COLUMNS, query)))
    shown = [(start + k, label) for start, labels in enumerate(labels.split()) for k, label in enumerate(labels)]
    theirs = Answer(tuple({**rows[at], "m": None if label == "-" else label} for at, label in shown))
    assert [row["m"] for row in expected.rows] == ["B", "B", "B", None]
    assert same(expected, theirs) == (least == 3)
    assert least == 3 or explain(query, rows, expected, theirs) == (KNOWN[3].name,)


@pytest.mark.parametrize(("query", "theirs", "names"), SHOWN)
def test_anything_else_is_not_explained(query: NaiveQuery, theirs: Outcome, names: tuple[str, ...]) -> None:
    assert isinstance(theirs, Answer)
    assert explain(query, ROWS, right(query), Answer(theirs.rows[:2])) is None
    assert explain(query, ROWS, right(query), with_measures(query, 1, 2, 3)) is None


@pytest.mark.parametrize(("query", "theirs", "names"), SHOWN)
def test_a_mistake_of_trellis_is_not_explained(query: NaiveQuery, theirs: Outcome, names: tuple[str, ...]) -> None:
    assert explain(query, ROWS, with_measures(query, 1, 2, 3), theirs) is None
    assert explain(query, ROWS, theirs, right(query)) is None


def test_a_query_without_the_feature_is_not_concerned() -> None:
    final = measuring(("nav", "FIRST", X, 2, "FINAL"))
    one_row = measuring(("nav", "FIRST", X, 2, None), rows_per_match="ONE")
    plain = measuring(("nav", "PREV", X, None, None))
    for query in (PLAIN, final, one_row, plain):
        assert not any(known.concerns(query) for known in KNOWN)


def test_the_naive_matcher_is_itself_again_afterwards() -> None:
    before = right(BOTH)
    explain(BOTH, ROWS, before, SHOWN[2][1])
    assert right(BOTH) == before


def test_a_case_that_is_too_large_is_not_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peers.known.LIMIT", 2)
    assert oracle(FIRST, ROWS) is None
    assert explain(FIRST, ROWS, right(FIRST), SHOWN[0][1]) is None
