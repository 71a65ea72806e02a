"""One case on both sides: which tables agree, which differ for a known reason, which for none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from naive import NaiveQuery, Row
from peers.compare import SKIP, Answer, Outcome, Refusal, by_table, is_given_up, same
from peers.engines import Engine
from peers.known import explain, oracle
from peers.minimise import Rows, minimise
from peers.queries import Case

REFUSED_TABLES = 2  # of the tables of one query that a skip ends, so many are asked about: each needs a statement


@dataclass(frozen=True)
class Difference:
    query: NaiveQuery
    rows: Rows
    ours: Outcome
    theirs: Outcome
    between: tuple[str, str] = ("Trellis", "Trino")


@dataclass(frozen=True)
class Verdict:
    tables: int  # compared
    rows: int  # of Trellis's answers
    refused: int  # tables that both refuse
    given_up: bool = False  # Trino found no answer in its time
    known: frozenset[str] = frozenset()  # the differences that explain some table
    unexplained: tuple[Difference, ...] = ()


def answers(engine: Engine, case: Case) -> list[Outcome]:
    """An outcome for each table. One statement serves all; if it is refused, each table is asked about alone."""
    together = engine(case.query, case.rows)
    if isinstance(together, Answer):
        return list(by_table(together.rows, len(case.tables)))
    if len(case.tables) == 1 or together.kind != SKIP:
        return [together] * len(case.tables)
    return [engine(case.query, table) for table in case.tables]


def replies(case: Case, ours: Sequence[Outcome], other: Engine) -> dict[int, Outcome]:
    """The other engine's outcome for each table that is asked about: in one statement those that Trellis answers."""
    answered = [number for number, outcome in enumerate(ours) if isinstance(outcome, Answer)]
    refused = [number for number, outcome in enumerate(ours) if isinstance(outcome, Refusal)][:REFUSED_TABLES]
    theirs = among(case, answered, other) if answered else {}
    return theirs | {number: other(case.query, case.tables[number]) for number in refused}


def judge(case: Case, ours: Sequence[Outcome], theirs: dict[int, Outcome]) -> Verdict:
    """Trino's outcomes beside ours. For one thread at a time: `explain` changes the naive matcher."""
    given_up = {number for number, other in theirs.items() if is_given_up(other)}
    theirs = {number: other for number, other in theirs.items() if number not in given_up}
    known: set[str] = set()
    unexplained = []
    for number, other in theirs.items():
        if same(ours[number], other):
            continue
        names = explain(case.query, case.tables[number], ours[number], other)
        if names is None:
            unexplained.append(Difference(case.query, case.tables[number], ours[number], other))
        else:
            known.update(names)
    shown = sum(len(outcome.rows) for number in theirs if isinstance(outcome := ours[number], Answer))
    refused = sum(isinstance(outcome, Refusal) for outcome in theirs.values())
    return Verdict(len(theirs), shown, refused, bool(given_up), frozenset(known), tuple(unexplained))


def compare_spark(case: Case, ours: Sequence[Outcome], spark: Engine) -> list[Difference]:
    """What Trellis on Spark answers unlike Trellis alone; the first table is enough."""
    return [
        Difference(case.query, case.tables[number], outcome, ours[number], ("Trellis on Spark", "Trellis"))
        for number, outcome in replies(case, ours, spark).items()
        if not same(outcome, ours[number])
    ][:1]


def among(case: Case, numbers: list[int], engine: Engine) -> dict[int, Outcome]:
    """The outcomes for some tables of a case, asked about together if it can be."""
    together = engine(case.query, [row for number in numbers for row in case.tables[number]])
    if isinstance(together, Answer):
        parts = by_table(together.rows, len(case.tables))
        return {number: parts[number] for number in numbers}
    if together.kind != SKIP:
        return {numbers[0]: together}
    return {number: engine(case.query, case.tables[number]) for number in numbers}


def smallest(difference: Difference, left: Engine, right: Engine) -> Difference:
    """The same kind of difference in a case as small as can be."""

    def kinds(ours: Outcome, theirs: Outcome) -> tuple[str, ...]:
        return tuple(outcome.kind if isinstance(outcome, Refusal) else "rows" for outcome in (ours, theirs))

    wanted = kinds(difference.ours, difference.theirs)
    # Whose answer is the naive matcher's has to stay as it is, too: a case must not turn into another one.
    ours_right = agrees(difference.query, difference.rows, difference.ours)

    def shows(query: NaiveQuery, rows: Rows) -> bool:
        ours = attempt(left, query, rows)
        if isinstance(ours, Refusal) and ours.kind != wanted[0]:
            return False
        theirs = right(query, rows)
        if same(ours, theirs) or kinds(ours, theirs) != wanted:
            return False
        if ours_right is not None and agrees(query, rows, ours) not in (ours_right, None):
            return False
        return explain(query, rows, ours, theirs) is None

    query, rows = minimise(difference.query, difference.rows, shows)
    return replace(difference, query=query, rows=rows, ours=left(query, rows), theirs=right(query, rows))


def attempt(engine: Engine, query: NaiveQuery, rows: Sequence[Row]) -> Outcome:
    try:
        return engine(query, rows)
    except Exception as error:  # a smaller query may be no query at all
        return Refusal(type(error).__name__, str(error))


def agrees(query: NaiveQuery, rows: Rows, outcome: Outcome) -> bool | None:
    """Whether the naive matcher says the same; None if it cannot say."""
    try:
        expected = oracle(query, rows)
    except Exception:  # no query at all, see above
        return None
    return None if expected is None else same(outcome, expected)
