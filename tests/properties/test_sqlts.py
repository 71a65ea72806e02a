"""SQL-TS against its definition: random elements, conditions and rows, every search, without Spark."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numba
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

import local
import naive_sqlts as naive
from naive_sqlts import Element, Expr, Query, SortKey
from trellis.algebra.automaton import AutomatonScan
from trellis.algebra.query import Wanted
from trellis.languages.statement import parse_statement

_SCHEMA = [("id", "int"), ("k", "int"), ("t", "int"), ("x", "int"), ("y", "double")]
_STEPS = {-2: "previous.previous.", -1: "previous.", 0: "", 1: "next."}
_FUNCTIONS = ("count", "sum", "min", "max", "avg", "first", "last")
_COMPARISONS = ("<", "<=", "=", "<>", ">=", ">")

more = settings(max_examples=settings().max_examples * (1 if numba.config.DISABLE_JIT else 3))


@st.composite
def tables(draw: DrawFn) -> list[dict[str, Any]]:
    """Rows of one or two clusters; some values are unknown."""
    return [
        {
            "id": number,
            "k": draw(st.sampled_from((1, 1, 1, 2, None))),
            "t": draw(st.sampled_from((0, 1, 2, 3, 4, 5, None))),
            "x": draw(st.sampled_from((0, 1, 2, 3, 4, None))),
            "y": draw(st.sampled_from((0.0, 0.5, 1.5, 2.0, None))),
        }
        for number in range(draw(st.integers(0, 12)))
    ]


@st.composite
def terms(draw: DrawFn, element: Element, *, current: bool) -> Expr:
    """A value of one element. A star that is over is spoken of by its ends and aggregates alone."""
    column = draw(st.sampled_from("xxy"))
    steps = draw(st.sampled_from((0, 0, 0, -1, -1, -2, 1)))
    kinds = ["attr"] if current or not element.starred else []
    if element.starred:
        kinds += ["edge", "continuous", "final"]
    match draw(st.sampled_from(kinds)):
        case "attr":
            return ("attr", element.name, steps, column)
        case "edge":
            return ("edge", draw(st.sampled_from(("FIRST", "LAST"))), element.name, steps, column)
        case kind:
            function = draw(st.sampled_from(_FUNCTIONS))
            whole = function == "count" and draw(st.booleans())
            return (kind, function, element.name, None if whole else column)


@st.composite
def conditions(draw: DrawFn, elements: Sequence[Element]) -> Expr:
    """A comparison at an element: with its neighbours, with an earlier element, with a number."""
    number = draw(st.integers(0, len(elements) - 1))
    other = elements[draw(st.integers(0, number))]
    left = draw(terms(elements[number], current=True))
    right: Expr = ("lit", draw(st.integers(0, 4)))
    if draw(st.booleans()):
        # What is over when the condition is tested must not be spoken of as if it were not.
        right = draw(terms(other, current=other is elements[number] and left[0] != "final"))
    if right[0] == "final" and left[0] == "attr" and elements[number].starred:
        left = ("edge", "LAST", *left[1:])
    if draw(st.integers(0, 3)) == 0:
        right = ("op", draw(st.sampled_from("+-*")), (right, ("lit", draw(st.integers(0, 2)))))
    comparison: Expr = ("op", draw(st.sampled_from(_COMPARISONS)), (left, right))
    if draw(st.integers(0, 5)) == 0:
        comparison = ("op", "OR", (comparison, ("op", "IS NULL", (left,))))
    return comparison


@st.composite
def queries(draw: DrawFn) -> Query:
    starred = draw(st.lists(st.booleans(), min_size=1, max_size=4))
    elements = tuple(Element(name, star) for name, star in zip("WXYZ", starred, strict=False))
    output: list[Expr] = []
    for element in elements:
        if element.starred:
            output += [("edge", "FIRST", element.name, 0, "id"), ("edge", "LAST", element.name, 0, "id")]
            output += [("final", draw(st.sampled_from(_FUNCTIONS)), element.name, "x")]
        else:
            output += [("attr", element.name, 0, "id"), ("attr", element.name, draw(st.integers(-2, 1)), "x")]
    clusters = draw(st.sampled_from(((), ("k",), ("k",))))
    key = SortKey("t", descending=draw(st.booleans()), nulls_first=draw(st.booleans()))
    return Query(
        elements=elements,
        conditions=tuple(draw(st.lists(conditions(elements), max_size=5))),
        cluster_by=clusters,
        sequence_by=(key, SortKey("id")),
        overlapping=draw(st.booleans()),
        output=(*(("key", column) for column in clusters), *output),
    )


@st.composite
def window_queries(draw: DrawFn) -> Query:
    """Queries with WITHIN, half of which ask for what timed out."""
    query = draw(queries())
    return replace(query, within=draw(st.sampled_from((1, 2, 4))), timeouts=draw(st.booleans()))


@st.composite
def row_values(draw: DrawFn, name: str) -> Expr:
    """A column of an element or of the row before it, or a multiple of it."""
    value: Expr = ("attr", name, draw(st.sampled_from((0, 0, -1))), draw(st.sampled_from("xxxy")))
    match draw(st.integers(0, 5)):
        case 0:
            return ("op", "*", (("lit", draw(st.sampled_from((0.5, 2, 3, -1)))), value))
        case 1:
            return ("op", draw(st.sampled_from("+-")), (value, ("lit", draw(st.integers(0, 2)))))
    return value


@st.composite
def row_conditions(draw: DrawFn, name: str) -> Expr:
    """A condition on a row and the one before it, of few forms, so that they often have to do with each other."""
    left: Expr = ("attr", name, 0, draw(st.sampled_from("xxxxxy")))
    right: Expr = ("attr", name, -1, left[3])
    if draw(st.booleans()):
        right = ("lit", draw(st.integers(0, 3))) if draw(st.booleans()) else draw(row_values(name))
    found: Expr = ("op", draw(st.sampled_from(("<", "<=", ">", ">=", ">=", "<=", "=", "<>"))), (left, right))
    if draw(st.integers(0, 5)) == 0:
        found = ("op", "OR", (found, draw(row_conditions(name))))
    return found


@st.composite
def row_queries(draw: DrawFn) -> Query:
    """Queries whose conditions look at rows only, so that the search may skip."""
    starred = draw(st.lists(st.booleans(), min_size=1, max_size=5))
    elements = tuple(Element(name, star) for name, star in zip("UVWXY", starred, strict=False))
    shapes = draw(st.lists(row_conditions("?"), min_size=1, max_size=4))
    listed = [
        of_element(draw(st.sampled_from(shapes)), element.name)
        for element in elements
        for _ in range(draw(st.sampled_from((1, 1, 1, 1, 1, 2, 0))))
    ]
    output: list[Expr] = [
        ("edge", "LAST", element.name, 0, "id") if element.starred else ("attr", element.name, 0, "id")
        for element in elements
    ]
    return Query(elements, tuple(listed), (), (SortKey("id"),), draw(st.booleans()), tuple(output))


@st.composite
def several_patterns(draw: DrawFn) -> Query:
    """A query with an OR between whole patterns."""
    query = draw(st.one_of(queries(), row_queries()))
    query = replace(query, within=draw(st.sampled_from((None, None, 1, 3))))
    patterns = draw(st.lists(st.lists(conditions(query.elements), min_size=2, max_size=3), min_size=2, max_size=3))
    # What is tested at one element is a condition of that element.
    assume(all(len({naive.tested_at(one, query) for one in pattern}) > 1 for pattern in patterns[1:]))
    single = len({naive.tested_at(one, query) for one in patterns[0]}) == 1
    patterns = [*patterns[1:], patterns[0]] if single else patterns
    return replace(query, conditions=query.conditions[:2], alternatives=tuple(map(tuple, patterns)))


def of_element(value: Expr, name: str) -> Expr:
    """The same condition of another element."""
    if value[0] == "attr":
        return ("attr", name, *value[2:])
    if value[0] == "op":
        return ("op", value[1], tuple(of_element(operand, name) for operand in value[2]))
    return value


@st.composite
def series(draw: DrawFn) -> list[dict[str, Any]]:
    """One long series of few values, mostly known and positive."""
    values = draw(st.sampled_from(((0, 1, 2, 3), (0, 1, 2, 2, 3, 3, 4, None), (-2, -1, 0, 1, 2))))
    chance = random.Random(draw(st.integers(0, 1_000_000)))
    return [
        {"id": number, "k": 1, "t": number, "x": chance.choice(values), "y": chance.choice((0.0, 0.5, 1.5))}
        for number in range(chance.randint(0, 60))
    ]


def text_of(query: Query) -> str:
    """The query in SQL-TS."""
    columns = ", ".join(f"{expression(value)} AS c{number}" for number, value in enumerate(query.output))
    clusters = f" CLUSTER BY {', '.join(query.cluster_by)}" if query.cluster_by else ""
    order = ", ".join(
        f"{key.column} {'DESC' if key.descending else 'ASC'} NULLS {'FIRST' if key.nulls_first else 'LAST'}"
        for key in query.sequence_by
    )
    elements = ", ".join(f"{'*' if element.starred else ''}{element.name}" for element in query.elements)
    tests = [expression(condition) for condition in query.conditions]
    if query.alternatives:
        patterns = (" AND ".join(map(expression, pattern)) for pattern in query.alternatives)
        tests.append(f"({' OR '.join(f'({pattern})' for pattern in patterns)})")
    where = f" WHERE {' AND '.join(tests)}" if tests else ""
    head = f"SELECT {'ALL' if query.overlapping else 'DISJOINT'} {columns}"
    window = "" if query.within is None else f" WITHIN {query.within}"
    window += " SHOW TIMEOUT MATCHES" if query.timeouts else ""
    return f"{head} FROM {{t}}{clusters} SEQUENCE BY {order} AS ({elements}){window}{where}"


def expression(value: Expr) -> str:
    match value:
        case ("lit", number):
            return str(number)
        case ("key", column):
            return str(column)
        case ("attr", element, steps, column):
            return f"{element}.{_STEPS[steps]}{column}"
        case ("edge", edge, element, steps, column):
            return f"{edge}({element}).{_STEPS[steps]}{column}"
        case ("continuous", function, element, column):
            name = function if function in ("first", "last") else f"c{function}"
            return f"{name}({element}{'' if column is None else f'.{column}'})"
        case ("final", function, element, column):
            return f"{function}(*{element}{'' if column is None else f'.{column}'})"
        case ("op", "IS NULL", (operand,)):
            return f"({expression(operand)} IS NULL)"
        case ("op", symbol, (left, right)):
            return f"({expression(left)} {symbol} {expression(right)})"
    raise AssertionError(value)


def run(query: Query, rows: list[dict[str, Any]], **options: Any) -> list[tuple[Any, ...]]:
    clause = parse_statement(text_of(query)).clauses[0]
    found = local.run(clause.query, rows, _SCHEMA, **options)
    return [tuple(row[measure.name] for measure in clause.query.measures) for row in found]


def in_clusters(query: Query, found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The matches of each cluster together, in the order that they have there."""
    return sorted(found, key=lambda row: repr(row[: len(query.cluster_by)]))


def is_same(mine: Any, theirs: Any) -> bool:
    if isinstance(theirs, float) and isinstance(mine, float):
        return math.isclose(mine, theirs, rel_tol=1e-9)
    return bool(mine == theirs)


options = st.fixed_dictionaries(
    {
        "search": st.sampled_from(("auto", "backtrack")),
        "off": st.lists(st.sampled_from(("hoist_slots", "merge_states")), unique=True),
        "chunk_rows": st.sampled_from((1, 4, 1000)),
        "batch_rows": st.sampled_from((1, 3, 1000)),
    }
)


@given(several_patterns(), tables(), options)
def test_several_patterns_are_searched_by_themselves(
    query: Query, rows: list[dict[str, Any]], options: dict[str, Any]
) -> None:
    clause = parse_statement(text_of(query)).clauses[0]
    assert clause.query.wanted is Wanted.EACH
    expected = in_clusters(query, naive.results(query, rows))
    event("matches" if expected else "no match")
    found = in_clusters(query, run(query, rows, **options))
    assert len(found) == len(expected), (text_of(query), found, expected)
    for mine, theirs in zip(found, expected, strict=True):
        assert all(map(is_same, mine, theirs)), (text_of(query), found, expected)


@given(row_queries(), series(), st.sampled_from(((), ("skip_search",), ("fix_distances",))))
def test_searches_that_skip_are_naive(query: Query, rows: list[dict[str, Any]], off: tuple[str, ...]) -> None:
    clause = parse_statement(text_of(query)).clauses[0]
    scan = local.plan_clause(clause.query, _SCHEMA, off=off).scan
    assert isinstance(scan, AutomatonScan)
    assert (scan.skips is None) == ("skip_search" in off)
    expected = naive.results(query, rows)
    if scan.skips is not None:
        far = max(scan.skips.shift) > 1 or max(scan.skips.next) > 1
        event(f"{'skips' if far else 'no skips'}, {'matches' if expected else 'no match'}")
    assert run(query, rows, off=off) == expected, text_of(query)


@more
@given(st.one_of(queries(), window_queries()), tables(), options)
def test_sequences_are_naive(query: Query, rows: list[dict[str, Any]], options: dict[str, Any]) -> None:
    expected = in_clusters(query, naive.results(query, rows))
    event("matches" if expected else "no match")
    found = in_clusters(query, run(query, rows, **options))
    assert len(found) == len(expected), (text_of(query), found, expected)
    for mine, theirs in zip(found, expected, strict=True):
        assert all(map(is_same, mine, theirs)), (text_of(query), found, expected)
