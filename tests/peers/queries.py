"""Random queries that Spark and Trino both know, and random tables for them; one seed gives one list."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from naive import Expr, NaiveQuery, Pattern, Row
from peers.expressions import map_expr, map_pattern, pattern_nodes
from properties.render import render_clause
from properties.strategies import MAX_ROWS, Scope, draw_mode, draw_name, queries, variables_in

COLUMNS = ["c", "id", "k", "t", "x", "y", "s", "b"]
ROUND = 500  # queries that Hypothesis draws at a time


@dataclass(frozen=True)
class Case:
    """One query and the tables that it is asked about, told apart by the column `c`."""

    query: NaiveQuery
    tables: tuple[tuple[Row, ...], ...]

    @property
    def rows(self) -> list[Row]:
        return [row for table in self.tables for row in table]


def cases(seed: int, tables: int) -> Iterator[Case]:
    """Cases without end, each with a query text that none before had."""
    dice = random.Random(seed)
    seen: set[str] = set()
    for number, query in enumerate(drawn(seed)):
        text = render_clause(query)
        if text not in seen:
            seen.add(text)
            yield case_of(query, dice, tables, alone=not query.partition_by and number % 4 == 0)


def case_of(query: NaiveQuery, dice: random.Random, tables: int, alone: bool) -> Case:
    """Tables for a query. They are series of one statement, except that some have no PARTITION BY: one table then."""
    if alone:
        return Case(query, (table(dice, 0),))
    keyed = replace(query, partition_by=("c", *query.partition_by))
    return Case(keyed, tuple(table(dice, number) for number in range(tables)))


def table(dice: random.Random, number: int) -> tuple[Row, ...]:
    # Few rows make few matches: the larger sizes are more likely.
    size = max(dice.randint(0, MAX_ROWS), dice.randint(0, MAX_ROWS))
    ids = dice.sample(range(size), size)
    return tuple(
        {
            "c": number,
            "id": id_,
            "k": dice.choice((1, 1, 1, 2, 2, None)),
            "t": dice.choice((0, 1, 2, 3, 4, 5, 6, None)),
            "x": dice.choice((0, 1, 2, 3, 4, -1, None)),
            "y": dice.choice((0.0, 0.25, 0.5, 1.0, 1.75, 3.0, -0.5, None)),
            "s": dice.choice(("a", "a", "b", "b", "c", None)),
            "b": dice.choice((True, True, True, False, False, None)),
        }
        for id_ in ids
    )


def drawn(seed: int) -> Iterator[NaiveQuery]:
    """What Hypothesis draws, round by round; a round is one run of a property that only takes notes."""
    while True:
        notes: list[NaiveQuery] = []

        @with_seed(seed)
        @settings(
            max_examples=ROUND,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(peer_queries())
        def take_note(query: NaiveQuery) -> None:
            notes.append(query)  # noqa: B023  # called in this round alone

        take_note()
        yield from notes
        seed += 1


# ---------------------------------------------------------------------------------------------------- queries


@st.composite
def peer_queries(draw: DrawFn) -> NaiveQuery:
    """The queries of the property tests, without what Trino lacks, with more of what engines get wrong."""
    query = portable(draw(queries()))
    names = (*sorted(variables_in(query.pattern)), *(name for name, _ in query.subsets))
    query = replace(query, pattern=draw_twist(draw, query.pattern))
    if draw(st.integers(0, 3)) == 0:
        measure = draw_labelled(draw, Scope(names))
        query = replace(query, measures=(*query.measures, (f"m{len(query.measures)}", measure)))
    if query.define and draw(st.integers(0, 7)) == 0:
        (name, condition), *rest = query.define
        limit = "op", "<=", (draw_labelled(draw, Scope(names, own=name)), ("lit", draw(st.integers(0, 9))))
        lenient = "call", "coalesce", (limit, ("lit", True))
        query = replace(query, define=((name, ("op", "AND", (condition, lenient))), *rest))
    return query


def portable(query: NaiveQuery) -> NaiveQuery:
    """Without WITHIN and DISTINCT, which Trino does not have here."""

    def plain(expr: Expr) -> Expr:
        return (*expr[:4], False, expr[5]) if expr[0] == "agg" else expr

    return replace(
        query,
        within=None,
        timeouts=False,
        measures=tuple((name, map_expr(plain, expr)) for name, expr in query.measures),
        define=tuple((name, map_expr(plain, expr)) for name, expr in query.define),
    )


def draw_twist(draw: DrawFn, pattern: Pattern) -> Pattern:
    """Now and then a loop around what can be empty, or PERMUTE of one, in the place of one variable."""
    twist = draw(st.sampled_from(("none",) * 60 + ("nullable",) * 39 + ("permute",)))
    if twist == "none":
        return pattern
    places = sum(node[0] == "var" for node in pattern_nodes(pattern))
    chosen = draw(st.integers(0, places - 1))
    seen = -1

    def change(node: Pattern) -> Pattern:
        nonlocal seen
        seen += node[0] == "var"
        if node[0] != "var" or seen != chosen:
            return node
        return ("perm", (node,)) if twist == "permute" else draw_nullable(draw, node)

    return map_pattern(change, pattern)


def draw_nullable(draw: DrawFn, variable: Pattern) -> Pattern:
    bodies = (
        ("alt", (("empty",), variable)),
        ("alt", (variable, ("empty",))),
        ("rep", variable, 0, 1, False),
        ("rep", variable, 0, None, False),
        ("rep", variable, 0, None, True),
        ("cat", (("rep", variable, 0, 1, True), ("rep", variable, 0, 1, False))),
    )
    lo, hi = draw(st.sampled_from(((0, None), (1, None), (0, 1), (2, None), (0, 2), (1, 3), (2, 2))))
    return "rep", draw(st.sampled_from(bodies)), lo, hi, draw(st.booleans())


def draw_labelled(draw: DrawFn, scope: Scope) -> Expr:
    """An aggregate whose argument asks for the label of its rows, or for the number of the match."""
    name = draw_name(draw, scope)
    column = "col", name, "x"
    label = "op", "=", (("classifier", name), ("lit", draw(st.sampled_from(("A", "B", "C")))))
    arguments = (
        ("case", ((label, column),), None),
        ("case", ((label, ("lit", 1)),), ("lit", 0)),
        ("op", "+", (column, ("match_number",))),
        ("op", "*", (("match_number",), column)),
    )
    function = draw(st.sampled_from(("sum", "min", "max", "count")))
    return "agg", function, (draw(st.sampled_from(arguments)),), None, False, draw_mode(draw, scope)
