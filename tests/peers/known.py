"""Where Trino is known to differ from the standard: each difference by name, with a reason, and proved case by case.

A difference is explained only if two things hold for the whole answer: Trellis gives what the naive matcher (naive.py)
gives, and Trino gives what the naive matcher gives with the named mistakes put in. So nothing else can hide behind a
known difference.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import naive
from naive import Expr, Match, NaiveQuery, Path, Pattern, Row, Search
from peers.compare import SKIP, Answer, Outcome, Refusal, same
from peers.expressions import expressions, map_pattern, nodes, pattern_nodes
from peers.queries import COLUMNS

LIMIT = 300_000  # labels that the naive matcher tries


@dataclass(frozen=True)
class Known:
    name: str
    reason: str
    concerns: Callable[[NaiveQuery], bool]  # can the query show it at all?
    mistaken: Callable[[NaiveQuery], NaiveQuery]  # what Trino takes the query for
    mistake: Callable[[], Any]  # a context in which the naive matcher makes the mistake


def oracle(query: NaiveQuery, rows: tuple[Row, ...]) -> Outcome | None:
    """What the naive matcher answers; None if the case is too large for it."""
    try:
        return Answer(tuple(naive.run(list(rows), COLUMNS, query, limit=LIMIT)))
    except naive.SkipError as error:
        return Refusal(SKIP, str(error))
    except naive.TooManyCandidates:
        return None


def explain(query: NaiveQuery, rows: tuple[Row, ...], ours: Outcome, theirs: Outcome) -> tuple[str, ...] | None:
    """The names of the known differences that make Trino's answer out of ours; None if none do."""
    expected = oracle(query, rows)
    if expected is None or not same(ours, expected):
        return None
    concerned = [known for known in KNOWN if known.concerns(query)]
    for count in range(1, len(concerned) + 1):
        for chosen in itertools.combinations(concerned, count):
            answer = mistaken_oracle(chosen, query, rows)
            if answer is not None and same(theirs, answer):
                return tuple(known.name for known in chosen)
    return None


def mistaken_oracle(mistakes: tuple[Known, ...], query: NaiveQuery, rows: tuple[Row, ...]) -> Outcome | None:
    with ExitStack() as stack:
        for known in mistakes:
            query = known.mistaken(query)
            stack.enter_context(known.mistake())
        return oracle(query, rows)


# ---------------------------------------------------------------------------------------------------- FIRST


def reads_first(query: NaiveQuery) -> bool:
    """FIRST that is not FINAL, in the measures of ALL ROWS PER MATCH: elsewhere both see the same rows."""
    measured = (node for _, expr in query.measures for node in nodes(expr))
    return query.rows_per_match != "ONE" and any(
        node[0] == "nav" and node[1] == "FIRST" and node[4] != "FINAL" for node in measured
    )


@contextmanager
def first_looks_ahead() -> Iterator[None]:
    right = naive.navigated_row

    def navigated_row(nav: Expr, match: Match) -> int | None:
        return right((*nav[:4], "FINAL") if nav[1] == "FIRST" else nav, match)

    with mock.patch.object(naive, "navigated_row", navigated_row):
        yield


# ---------------------------------------------------------------------------------------------------- no such row


def navigates_an_expression(query: NaiveQuery) -> bool:
    """A navigation of more than a column."""
    return any(node[0] == "nav" and node[2][0] in ("op", "call", "case") for node in expressions(query))


NOWHERE = -1_000_000


@contextmanager
def missing_row_has_values() -> Iterator[None]:
    right, right_target = naive.evaluate, naive.target_row

    def evaluate(expr: Expr, match: Match) -> Any:
        if expr[0] == "nav" and naive.navigated_row(expr, match) is None:
            return evaluate(naive.navigated_value(expr), replace(match, at=NOWHERE))
        return right(expr, match)

    def target_row(match: Match, var: str | None) -> int | None:
        return None if match.at == NOWHERE else right_target(match, var)

    with mock.patch.object(naive, "evaluate", evaluate), mock.patch.object(naive, "target_row", target_row):
        yield


# ---------------------------------------------------------------------------------------------------- PERMUTE of one


def permutes_one(query: NaiveQuery) -> bool:
    return any(node[0] == "perm" and len(node[1]) == 1 for node in pattern_nodes(query.pattern))


def permute_is_a_variable(query: NaiveQuery) -> NaiveQuery:
    word = ("var", "PERMUTE")

    def change(node: tuple[Any, ...]) -> tuple[Any, ...]:
        match node:
            case ("perm", (part,)):
                return "cat", (word, part)
            # A quantifier after the bracket belongs to what is in it.
            case ("rep", ("cat", (("var", "PERMUTE"), part)), *count):
                return "cat", (word, ("rep", part, *count))
        return node

    return replace(query, pattern=map_pattern(change, query.pattern))


# ---------------------------------------------------------------------------------------------------- empty iterations


def repeats_what_can_be_empty(query: NaiveQuery) -> bool:
    """A greedy loop without a bound around what can be empty."""
    return any(
        node[0] == "rep" and node[3] is None and node[4] and can_be_empty(node[1])
        for node in pattern_nodes(query.pattern)
    )


def can_be_empty(pattern: Pattern) -> bool:
    match pattern:
        case ("var", *_):
            return False
        case ("cat" | "perm", parts):
            return all(map(can_be_empty, parts))
        case ("alt", parts):
            return any(map(can_be_empty, parts))
        case ("rep", body, least, *_):
            return least == 0 or can_be_empty(body)
        case ("excl", body):
            return can_be_empty(body)
    return True


@contextmanager
def only_the_first_iteration_is_empty() -> Iterator[None]:
    def repeated(pattern: Pattern, path: Path, search: Search, began: bool = False) -> Iterator[Path]:
        _, body, lo, hi, greedy = pattern
        if lo == 0 and not greedy:
            yield path
        if hi is None or hi > 0:
            rest = ("rep", body, max(lo - 1, 0), None if hi is None else hi - 1, greedy)
            for longer in naive.paths(body, path, search):
                taken = len(longer) > len(path)
                if lo > 0 or taken:
                    # A{2,} is A, and then the loop A+: what comes before that does not begin the loop.
                    yield from repeated(rest, longer, search, began or (taken and lo <= 1))
                elif not (began and greedy and hi is None):
                    yield longer
        if lo == 0 and greedy:
            yield path

    with mock.patch.object(naive, "repeated", repeated):
        yield


@contextmanager
def no_mistake() -> Iterator[None]:
    yield


def as_it_is(query: NaiveQuery) -> NaiveQuery:
    return query


KNOWN = (
    Known(
        "RUNNING FIRST looks ahead",
        "RUNNING sees the rows of the match up to the current row; Trino's FIRST finds rows after it, too",
        reads_first,
        as_it_is,
        first_looks_ahead,
    ),
    Known(
        "a row that does not exist has values",
        "navigation to a row that does not exist is NULL, whatever its argument makes of NULLs; Trino computes "
        "PREV(coalesce(x, 0)) from NULLs there, and answers 0",
        navigates_an_expression,
        as_it_is,
        missing_row_has_values,
    ),
    Known(
        "PERMUTE of one is a variable",
        "PERMUTE(A) is A; Trino takes the word for a variable without a condition, followed by A",
        permutes_one,
        permute_is_a_variable,
        no_mistake,
    ),
    Known(
        "only the first iteration may be empty",
        "an iteration that takes no row ends the loop, and the body of (D??)* prefers it; in Trino that is so in the "
        "first iteration, and after one that took rows another that takes rows is preferred",
        repeats_what_can_be_empty,
        as_it_is,
        only_the_first_iteration_is_empty,
    ),
)
