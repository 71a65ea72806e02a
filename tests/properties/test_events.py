"""Event patterns against their definition: random queries and streams, every strategy, without Spark."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any
from unittest import mock

import numba
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

import local
import naive_sase as naive
from naive_sase import Component, EventQuery, Expr, Strategy
from trellis.algebra.automaton import WithinSpec
from trellis.algebra.scan import OfGraph, Output
from trellis.errors import UnsupportedError
from trellis.execution import loading
from trellis.execution.chunks import Chunk
from trellis.execution.events import decompress, matcher
from trellis.execution.events.decompress import Decompress
from trellis.execution.loading import load_within
from trellis.execution.task import MatchTask
from trellis.kernels.arrays import Within
from trellis.kernels.event_room import Sizes
from trellis.languages.sase import parse_sase_text

_SCHEMA = [("id", "int"), ("type", "string"), ("time", "int"), ("x", "int"), ("y", "double"), ("k", "int")]
_MOST_EVENTS = 9
# One run at a time is for comparisons: its kernel is compiled by nobody else, and that takes ten seconds.
_SEARCHES = ("auto", "apart", "backtrack") if numba.config.DISABLE_JIT else ("auto", "apart")
_STRATEGIES = {
    Strategy.STRICT: "strict_contiguity",
    Strategy.PARTITION: "partition_contiguity",
    Strategy.NEXT: "skip_till_next_match",
    Strategy.ANY: "skip_till_any_match",
}


@st.composite
def streams(draw: DrawFn) -> list[dict[str, Any]]:
    """Events in the order of time; equal times are in the order of `id`, which breaks ties."""
    count = draw(st.integers(0, _MOST_EVENTS))
    times = sorted(draw(st.lists(st.integers(0, 12), min_size=count, max_size=count)))
    return [
        {
            "id": number,
            "type": draw(st.sampled_from("AABC")),
            "time": time,
            "x": draw(st.sampled_from((0, 1, 2, 3, 4, None))),
            "y": draw(st.sampled_from((0.0, 0.5, 1.5, 2.0, None))),
            "k": draw(st.sampled_from((1, 1, 1, 2, None))),
        }
        for number, time in enumerate(times)
    ]


@st.composite
def queries(draw: DrawFn, least: int = 1, most: int = 3) -> EventQuery:
    count = draw(st.integers(least, most))
    kinds = [draw(st.sampled_from(("one", "one", "many", "many", "none"))) for _ in range(count)]
    if set(kinds) == {"none"}:
        kinds[0] = "many"
    components = tuple(
        Component(
            "abcd"[number],
            tuple(draw(st.sampled_from((("A",), ("A",), ("B",), ("A", "B"), ("C", "A"))))),
            kleene=kind == "many",
            negated=kind == "none",
        )
        for number, kind in enumerate(kinds)
    )
    outside = components[0].negated or components[-1].negated
    widths = [("time", draw(st.integers(1, 8))), ("events", draw(st.integers(1, 6)))]
    query = EventQuery(
        components,
        draw(st.sampled_from(Strategy)),
        tuple(draw_predicate(draw, components) for _ in range(draw(st.integers(0, 3)))),
        draw(st.sampled_from(((), ("k",), ("k",)))),
        draw(st.sampled_from(widths if outside else [*widths, None])),
        draw(st.sampled_from((False, False, True))),
    )
    may_time_out = query.within is not None and query.strategy is not Strategy.ANY
    return replace(query, timeouts=may_time_out and draw(st.booleans()))


@st.composite
def hurried(draw: DrawFn) -> EventQuery:
    """Queries that ask for what timed out, and take several steps to a match."""
    query = draw(queries(2, 4))
    assume(sum(not component.negated for component in query.components) > 1)
    return replace(
        query,
        strategy=Strategy.NEXT if query.strategy is Strategy.ANY else query.strategy,
        predicates=query.predicates[: draw(st.integers(0, 2))],
        within=query.within or ("time", draw(st.integers(1, 8))),
        timeouts=True,
    )


def draw_predicate(draw: DrawFn, components: tuple[Component, ...]) -> Expr:
    """A comparison whose last event is of one component, so that every edge gets some."""
    target = draw(st.integers(0, len(components) - 1))
    component = components[target]
    known = [other for other in components[:target] if not other.negated]
    if component.negated:
        known = [other for other in components if not other.negated]
    column = draw(st.sampled_from(("x", "x", "y")))
    edge = "one"
    if component.kleene:
        edge = draw(st.sampled_from(("first", "take", "take", "last")))
    index = {"one": None, "first": 1, "take": "i", "last": "LEN"}[edge]
    left: Expr = ("attr", component.variable, index, column)
    if edge == "last" and draw(st.booleans()):
        left = draw_aggregate(draw, component.variable, "all")
    right: Expr = ("lit", draw(st.integers(0, 3)))
    choice = draw(st.sampled_from(("literal", "before", "before", "own", "own")))
    if choice == "own" and edge == "take":
        right = draw(
            st.sampled_from(
                [
                    ("attr", component.variable, "i-1", column),
                    ("attr", component.variable, "i-1", column),
                    ("attr", component.variable, 1, column),
                    draw_aggregate(draw, component.variable, "..i-1"),
                ]
            )
        )
    elif choice == "own" and edge == "last":
        right = ("attr", component.variable, 1, column)
    elif choice == "before" and known:
        other = draw(st.sampled_from(known))
        if other.kleene:
            right = draw(
                st.sampled_from(
                    [
                        ("attr", other.variable, 1, column),
                        ("attr", other.variable, "LEN", column),
                        draw_aggregate(draw, other.variable, "all"),
                    ]
                )
            )
        else:
            right = ("attr", other.variable, None, column)
    symbol = draw(st.sampled_from(("<", "<=", ">", ">=", "=", "<>", ">", ">=")))
    return "op", symbol, (left, right)


def draw_aggregate(draw: DrawFn, variable: str, members: str) -> Expr:
    function = draw(st.sampled_from(("count", "sum", "avg", "min", "max", "count distinct", "sum distinct")))
    column = draw(st.sampled_from(("x", "y")))
    if function == "count" and draw(st.booleans()):
        return "agg", "count", variable, members, None
    return "agg", function, variable, members, column


def render(query: EventQuery) -> str:
    parts = []
    for component in query.components:
        types = component.types[0] if len(component.types) == 1 else f"({' | '.join(component.types)})"
        marks = ("+", "[]") if component.kleene else ("", "")
        text = f"{types}{marks[0]} {component.variable}{marks[1]}"
        parts.append(f"~({text})" if component.negated else text)
    conditions = [*(f"[{', '.join(query.equivalence)}]" for _ in query.equivalence[:1])]
    conditions += [render_expr(predicate) for predicate in query.predicates]
    lines = [
        f"PATTERN SEQ({', '.join(parts)})",
        f"WHERE {_STRATEGIES[query.strategy]} {{ {' and '.join(conditions)} }}",
    ]
    if query.within is not None:
        lines.append(f"WITHIN {query.within[1]}{' events' if query.within[0] == 'events' else ''}")
    returned = [
        f"array_agg({c.variable}[].id) AS {c.variable}" if c.kleene else f"{c.variable}.id AS {c.variable}"
        for c in query.components
        if not c.negated
    ]
    lines.append(f"RETURN {', '.join(returned)}, MATCH_NUMBER() AS number")
    if query.non_overlap:
        lines.append("OUTPUT NON_OVERLAP")
    if query.timeouts:
        lines.append("SHOW TIMEOUT MATCHES")
    return "\n".join(lines)


def render_expr(expr: Expr) -> str:
    match expr:
        case ("lit", value):
            return str(value)
        case ("attr", variable, None, column):
            return f"{variable}.{column}"
        case ("attr", variable, "LEN", column):
            return f"{variable}[{variable}.LEN].{column}"
        case ("attr", variable, index, column):
            return f"{variable}[{index}].{column}"
        case ("agg", function, variable, members, column):
            member = f"{variable}[{'' if members == 'all' else members}]"
            name, _, distinct = function.partition(" ")
            return f"{name}({f'{distinct} ' if distinct else ''}{member}{'' if column is None else f'.{column}'})"
        case ("op", symbol, (left, right)):
            return f"{render_expr(left)} {symbol} {render_expr(right)}"
    raise AssertionError(expr)


def found(query: EventQuery, stream: list[dict[str, Any]], **hints: object) -> list[tuple[int | None, Any]]:
    """The matches with their numbers. What timed out has none, and no events where it did not come to a component."""
    variables = [component for component in query.components if not component.negated]
    rows = local.run(parse_sase_text(render(query), time_columns=("time", "id")), stream, _SCHEMA, **hints)
    return [(row["number"], tuple(positions(row[c.variable], kleene=c.kleene) for c in variables)) for row in rows]


def positions(value: Any, *, kleene: bool) -> tuple[int, ...]:
    return tuple(value) if kleene else () if value is None else (value,)


def expected(query: EventQuery, stream: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [tuple(positions for _, positions in match) for match in naive.matches(query, stream)]


def timed_out(query: EventQuery, stream: list[dict[str, Any]]) -> list[tuple[int | None, Any]]:
    """What timed out, if the query asks for that, as `found` gives it."""
    variables = [component.variable for component in query.components if not component.negated]
    partial = [dict(match) for match in naive.timed_out(query, stream)] if query.timeouts else []
    return [(None, tuple(match.get(variable, ()) for variable in variables)) for match in partial]


def numbered(
    query: EventQuery, stream: list[dict[str, Any]], matches: list[tuple[Any, ...]]
) -> list[tuple[int | None, Any]]:
    """The matches with their numbers: in each partition, they are counted in the order in which they stand here."""
    keys = () if query.strategy is Strategy.STRICT else query.equivalence
    counts: Counter[tuple[Any, ...]] = Counter()
    result: list[tuple[int | None, Any]] = []
    for match in matches:
        key = tuple(stream[match[0][0]][name] for name in keys)
        counts[key] += 1
        result.append((counts[key], match))
    return result


@st.composite
def rooms(draw: DrawFn) -> Sizes:
    """Room for the search, mostly too small: it grows, is handed on, and is cleared in the middle of a series."""
    runs, cells = draw(st.sampled_from((2, 4, 64))), draw(st.sampled_from((4, 16, 1024)))
    rows, full = draw(st.sampled_from((1, 3, 8, 1024))), draw(st.sampled_from((1, 2, 5, 1 << 20)))
    return Sizes(runs, cells, rows, full)


@given(st.one_of(queries(), hurried()), streams(), st.sampled_from(_SEARCHES), st.booleans(), rooms())
def test_matches_are_those_of_the_definition(
    query: EventQuery, stream: list[dict[str, Any]], search: str, kept: bool, sizes: Sizes
) -> None:
    wanted = expected(query, stream)
    late = timed_out(query, stream)
    event(f"{query.strategy.value}: {'some' if wanted else 'no'} matches")
    event(f"{query.strategy.value}: {'some' if late else 'nothing'} timed out")
    hints = {"search": search, "off": [] if kept else ["keep_events"]}
    with mock.patch.object(matcher, "_SIZES", sizes):
        given = found(query, stream, **hints)
    expectation = [*numbered(query, stream, wanted), *late]
    assert sorted(given, key=repr) == sorted(expectation, key=repr), render(query)


@given(queries(), streams(), st.sampled_from(_SEARCHES), rooms())
def test_counting_needs_no_list(query: EventQuery, stream: list[dict[str, Any]], search: str, sizes: Sizes) -> None:
    query = replace(query, non_overlap=False, timeouts=False)
    last = [component for component in query.components if not component.negated][-1]
    end = f"{last.variable}[{last.variable}.LEN]" if last.kleene else last.variable
    text = render(query).partition("RETURN")[0] + f"RETURN {end}.id AS at, count(*) AS n"
    with mock.patch.object(matcher, "_SIZES", sizes):
        rows = local.run(parse_sase_text(text, time_columns=("time", "id")), stream, _SCHEMA, search=search)
    wanted = Counter(match[-1][-1] for match in expected(query, stream))
    assert [(row["at"], int(row["n"])) for row in rows] == [(row["at"], wanted[row["at"]]) for row in rows], text
    assert {row["at"] for row in rows} == set(wanted), text


@given(queries(), streams(), st.sampled_from(_SEARCHES), rooms(), st.sampled_from((1, 5, 1000)))
def test_compressed_matches_are_the_matches(
    query: EventQuery, stream: list[dict[str, Any]], search: str, sizes: Sizes, at_once: int
) -> None:
    query = replace(query, non_overlap=False, timeouts=False)
    text = render(query).partition("RETURN")[0]
    parsed = parse_sase_text(text, time_columns=("time", "id"), compressed=True)
    try:
        plan = local.plan_clause(parsed, _SCHEMA, search=search)
    except UnsupportedError:
        event("what is absent is compared")
        assert any(component.negated for component in query.components)
        return
    with mock.patch.object(matcher, "_SIZES", sizes):
        batches = list(MatchTask(plan.scan)(local.sorted_rows(plan, stream, _SCHEMA).to_batches()))
    graphs = [read_graph(row, dict(plan.scan.outputs)) for batch in batches for row in batch.to_pylist()]
    positives = [component for component in query.components if not component.negated]
    with mock.patch.object(decompress, "_WAYS", at_once), mock.patch.object(decompress, "_NODES", at_once):
        listed = [tuple(match) for graph in graphs for match in decompressed(graph, positives)]
    wanted = expected(query, stream)
    event(f"{query.strategy.value}: {'some' if wanted else 'no'} matches")
    assert sorted(listed) == sorted(wanted), text
    assert [graph["matches"] for graph in graphs] == [
        sum(match[-1][-1] == graph["events"][-2 if graph["parts"][-1] < 0 else -1]["id"] for match in wanted)
        for graph in graphs
    ]
    taking_part = {
        (part, event["id"])
        for graph in graphs
        for part, event in zip(graph["parts"], graph["events"], strict=True)
        if event
    }
    assert taking_part == {(part, at) for match in wanted for part, ids in enumerate(match) for at in ids}


@given(queries(), streams(), st.sampled_from(_SEARCHES), st.lists(st.integers(0, 9), min_size=9, max_size=9))
def test_windows_may_end_in_any_order(
    query: EventQuery, stream: list[dict[str, Any]], search: str, widths: list[int]
) -> None:
    """Months do: 31 January and a month is before 29 January 23:00 and a month."""
    # What must be absent at an end is looked for in the window, too: the definition does not know such windows.
    assume(not any(component.negated for component in query.components))
    query = replace(query, within=("time", 4), non_overlap=False, timeouts=False)
    listed = expected(replace(query, within=None), stream)
    deadlines = [event["time"] + width for event, width in zip(stream, widths, strict=False)]

    def uneven(chunk: Chunk, spec: WithinSpec | None) -> Within:
        found = load_within(chunk, spec)
        ids = chunk.column(next(name for name, value in plan.projected if str(value) == "`id`"))
        return found._replace(deadline=np.array([deadlines[number] for number in ids.to_pylist()], np.int64))

    parsed = parse_sase_text(render(query), time_columns=("time", "id"))
    plan = local.plan_clause(parsed, _SCHEMA, search=search)
    with mock.patch.object(loading, "load_within", uneven):
        given = [match for _, match in found(query, stream, search=search)]
    wanted = [match for match in listed if stream[match[-1][-1]]["time"] <= deadlines[match[0][0]]]
    assert sorted(given) == sorted(wanted), render(query)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    "compared", [("attr", "a", "i-1", "x"), ("agg", "avg", "a", "..i-1", "x"), ("agg", "min", "a", "..i-1", "x")]
)
def test_many_runs_are_hashed(seed: int, compared: Expr) -> None:
    """More runs at once than are compared one by one, some of which are merged."""
    values = random.Random(seed).choices(range(0, 1000, 100), k=10)
    stream = [{"id": n, "type": "A", "time": n, "x": x, "y": 0.0, "k": 1} for n, x in enumerate(values)]
    components = (Component("a", ("A",), kleene=True), Component("b", ("A",)))
    condition: Expr = ("op", ">", (("attr", "a", "i", "x"), compared))
    query = EventQuery(components, Strategy.ANY, (condition,))
    wanted = numbered(query, stream, expected(query, stream))
    assert len(wanted) > 50
    assert found(query, stream) == wanted


@pytest.mark.parametrize("strategy", [Strategy.NEXT, Strategy.ANY])
@pytest.mark.parametrize("sizes", [Sizes(), Sizes(2, 4, 1, 1)])
def test_matches_of_the_same_events_are_in_order(strategy: Strategy, sizes: Sizes) -> None:
    """Those whose first component has fewer of them come first."""
    stream = [{"id": n, "type": "A", "time": n, "x": 0, "y": 0.0, "k": 1} for n in range(6)]
    query = EventQuery((Component("a", ("A",), kleene=True), Component("b", ("A",), kleene=True)), strategy)
    with mock.patch.object(matcher, "_SIZES", sizes):
        assert found(query, stream) == numbered(query, stream, expected(query, stream))


@pytest.mark.parametrize("search", _SEARCHES)
def test_an_event_without_a_time_is_in_no_window(search: str) -> None:
    stream = [{"id": n, "type": "A", "time": t, "x": 0, "y": 0.0, "k": 1} for n, t in enumerate((None, 5, 6))]
    query = parse_sase_text("PATTERN SEQ(A+ a[]) WITHIN 10 RETURN a[1].id AS a", time_columns=("time", "id"))
    assert [row["a"] for row in local.run(query, stream, _SCHEMA, search=search)] == [1, 1, 2]


def test_a_window_of_more_events_than_there_are() -> None:
    stream = [{"id": n, "type": "A", "time": n, "x": 0, "y": 0.0, "k": 1} for n in range(3)]
    query = parse_sase_text("PATTERN SEQ(A a, A b) WITHIN 99999999999999999999 events RETURN a.id AS a")
    assert len(local.run(query, stream, _SCHEMA)) == 2


@pytest.mark.parametrize(("types", "counts"), [("A" * 30 + "B", [2**30 - 1]), ("AACAB", [1 + 2 + 4])])
def test_counting_where_nothing_can_be_compared(types: str, counts: list[int]) -> None:
    """What must be absent is compared with each match only if there is such an event."""
    stream = [{"id": n, "type": kind, "time": n, "x": 0, "y": 0.0, "k": 1} for n, kind in enumerate(types)]
    text = "PATTERN SEQ(A+ a[], ~(C c), B b) WHERE skip_till_any_match { c.x > b.x } RETURN count(*) AS n"
    assert [int(row["n"]) for row in local.run(parse_sase_text(text), stream, _SCHEMA)] == counts


@pytest.mark.parametrize("text", ["", "RETURN count(*) AS n", "RETURN b.x AS x"])
def test_what_is_returned_does_not_say_which_simultaneous_event_comes_first(text: str) -> None:
    pattern = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match { b.time = a.time }"
    plans = [
        local.plan_clause(parse_sase_text(f"{pattern} {returned}"), _SCHEMA) for returned in (text, "RETURN a.id AS a")
    ]
    orders = []
    for plan in plans:
        names = {str(value): name for name, value in plan.projected}
        orders.append([name for name in names if "xxhash64" in name])
    assert orders[0] == orders[1] and orders[0]


def read_graph(row: dict[str, Any], outputs: dict[str, Output]) -> dict[str, Any]:
    """What the worker says of a graph."""
    return {output.what: row[name] for name, output in outputs.items() if isinstance(output, OfGraph)}


def decompressed(graph: dict[str, Any], positives: list[Component]) -> list[list[tuple[int, ...]]]:
    """The matches of a graph, by the function that Spark's workers run."""
    names = [component.variable for component in positives]
    nodes = [
        {
            name: None if part != number else [event["id"]] if positives[number].kleene else event["id"]
            for number, name in enumerate(names)
        }
        for part, event in zip(graph["parts"], graph["events"], strict=True)
    ]
    edges = [{"source": s, "target": t} for s, t in zip(graph["sources"], graph["targets"], strict=True)]
    types = [(c.variable, pa.list_(pa.int64()) if c.kleene else pa.int64()) for c in positives]
    ends = pa.struct([("source", pa.int32()), ("target", pa.int32())])
    batch = pa.record_batch(
        [pa.array([1]), pa.array([nodes], pa.list_(pa.struct(types))), pa.array([edges], pa.list_(ends))],
        ["row", "nodes", "edges"],
    )
    rows = [row for out in Decompress(("row",))(iter([batch])) for row in out.to_pylist()]
    return [[tuple(row[c.variable]) if c.kleene else (row[c.variable],) for c in positives] for row in rows]
