"""Event patterns against their input: each condition goes to the edge at which the last of its events is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from trellis.algebra import expression as e
from trellis.algebra.bound import BoundQuery
from trellis.algebra.events import Component, EventClauses
from trellis.algebra.expression import Expression, text_literal
from trellis.algebra.place import Place
from trellis.algebra.query import Query, Selection, Wanted
from trellis.analysis.binding import Binder
from trellis.analysis.edges import Edge, EdgeKind
from trellis.analysis.event_binder import EventBinder
from trellis.analysis.parameters import check_width
from trellis.analysis.schema import Schema
from trellis.analysis.source import Source
from trellis.errors import BindingError, Span

__all__ = ["bind_events", "check_events", "check_type", "edges_of", "with_fields"]


def with_fields(query: Query, schema: Schema) -> Query:
    """The query with the type and the time of events as fields of columns, where they are no columns themselves."""
    events = query.events
    assert events is not None

    def named(node: Expression) -> Expression:
        if not isinstance(node, e.Name):
            return e.rebuild(node, named)
        column = node.parts[0]
        if len(node.parts) > 1 or schema.find(column) is not None:
            return node
        return replace(node, parts=tuple(e.Identifier(part, quoted=True) for part in column.text.split(".")))

    type_, time = named(events.type), named(events.time)
    assert isinstance(type_, e.Name) and isinstance(time, e.Name)
    return replace(
        query,
        definitions=tuple(replace(one, condition=named(one.condition)) for one in query.definitions),
        order_by=tuple(replace(key, expression=named(key.expression)) for key in query.order_by),
        events=replace(events, type=type_, time=time),
    )


def check_events(query: Query, source: Source) -> None:
    """Refuse names that say of no event, before Spark is asked about what stands around them."""
    assert query.events is not None
    EventBinder.of(query, query.events, source)
    if isinstance(query.within, e.Parameter):
        check_width(query.within, source.parameters)


def bind_events(query: Query, source: Source) -> tuple[BoundQuery, Mapping[Edge, tuple[Expression, ...]]]:
    """The query without its tests, and the tests of each edge, all of which must hold."""
    events = query.events
    assert events is not None
    binder = EventBinder.of(query, events, source)
    _check_types(events, binder, source)
    partitioned = query.selection is not Selection.STRICT_CONTIGUITY
    same = tuple(map(binder.same, events.same))
    tests: dict[Edge, list[Expression]] = {}
    for component, definition in zip(binder.components, query.definitions, strict=True):
        for kind in _edges_of(component):
            tests[Edge(component.variable, kind)] = []
            if kind is not EdgeKind.PROCEED:
                tests[Edge(component.variable, kind)].append(e.At(binder.row(definition.condition), Place()))
    for condition in events.where:
        edge = binder.edge_of(condition)
        tests[edge].append(binder.test(condition, edge))
    first = binder.positives[0]
    for column in same:
        # NULL equals nothing: such an event is in no match.
        tests[Edge(first.variable, EdgeKind.BEGIN)].append(e.At(e.Operator("IS NOT NULL", (column,)), Place()))
        if not partitioned:
            known = e.At(column, Place(frozenset({first.variable}), from_first=True))
            for edge, conditions in tests.items():
                if edge.kind is not EdgeKind.PROCEED and edge != Edge(first.variable, EdgeKind.BEGIN):
                    conditions.append(e.Operator("=", (e.At(column, Place()), known)))
    keys = Binder(source.schema, {}, frozenset(), source.parameters)
    bound = BoundQuery(
        query=query,
        variables=tuple(component.variable for component in binder.positives),
        partition_by=keys.keys(events.same, "partition") if partitioned else (),
        order_by=keys.keys(tuple(key.expression for key in query.order_by), "order"),
        columns=source.schema.names,
        skip_to=frozenset(),
        measures=_measures(query, events, binder),
    )
    return bound, {edge: tuple(conditions) for edge, conditions in tests.items()}


def edges_of(query: Query, source: Source) -> tuple[Edge, ...]:
    """The edge of each condition of WHERE."""
    assert query.events is not None
    binder = EventBinder.of(query, query.events, source)
    return tuple(map(binder.edge_of, query.events.where))


def _edges_of(component: Component) -> tuple[EdgeKind, ...]:
    if component.absent:
        return (EdgeKind.ABSENT,)
    return (EdgeKind.BEGIN, EdgeKind.TAKE, EdgeKind.PROCEED) if component.repeated else (EdgeKind.BEGIN,)


def _measures(query: Query, events: EventClauses, binder: EventBinder) -> tuple[tuple[str, Expression], ...]:
    """The attributes of a match as an event: a type and a time, then what is returned, or the whole of it."""
    first, last = binder.positives[0], binder.positives[-1]
    time = binder.column(events.time)
    # What timed out has not come to the last component.
    ending = binder.positives if query.timeouts else (last,)
    end = e.At(time, Place(frozenset(one.variable for one in ending), final=True))
    begin = e.At(time, Place(frozenset({first.variable}), from_first=True, final=True))
    carried: dict[str, Expression] = {
        events.type.parts[-1].text: text_literal(events.result_type),
        events.time.parts[-1].text: end,
    }
    if len(carried) == 1:
        raise BindingError(
            f"The type and the time of events are both called {events.type.parts[-1]}, and so would be two columns.",
            cure="Name one of them otherwise, with a column of its own.",
        )
    if events.compressed:
        return (*carried.items(), *_graph(query, binder))
    if query.measures:
        returned = {measure.name: binder.value(measure.expression) for measure in query.measures}
        _check_names(query)
        _check_counted(query, tuple(returned.values()), last, binder.written[last.variable])
        names = {name.lower() for name in returned}
        return (*((name, value) for name, value in carried.items() if name.lower() not in names), *returned.items())
    whole = binder.event
    listed: list[tuple[str, Expression]] = [("match_number", e.MatchNumber()), ("start_time", begin)]
    for component in binder.positives:
        members = frozenset({component.variable})
        listed.append(
            (
                binder.written[component.variable],
                e.BoundAggregate("array_agg", (whole,), members, final=True)
                if component.repeated
                else e.At(whole, Place(members, final=True)),
            )
        )
    _check_columns((*carried, *(name for name, _ in listed)), query)
    return (*carried.items(), *listed)


def _check_columns(names: tuple[str, ...], query: Query) -> None:
    """Without RETURN, components are columns."""
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            spans = {definition.variable.lower(): definition.span for definition in query.definitions}
            raise BindingError(
                f"The result would have two columns {name}: components are columns beside the type, the time, "
                "match_number and start_time.",
                cure="Give the component another name, or say what to RETURN.",
                span=spans.get(name.lower()),
            )
        seen.add(name.lower())


def _check_types(events: EventClauses, binder: EventBinder, source: Source) -> None:
    """The type of an event is a text; and what is returned has a type that nobody can take for a function."""
    check_type(binder.column(events.type), source)
    if events.result_span is not None and source.is_function(events.result_type):
        raise BindingError(
            f"{events.result_type} is a function, and its value has no name.",
            cure="Write AS and a name behind it; if it is the type of the result, put it in backquotes.",
            span=events.result_span,
        )


def check_type(column: e.Column, source: Source) -> None:
    """Refuse a column of types that holds no texts."""
    whole = len(column.path) == 1
    type_ = source.schema.type_of(column.path[0]) if whole else source.types_of([column])[0]
    name = ".".join(column.path)
    if type_ != "string" and not type_.startswith(("char", "varchar", "string")):
        raise BindingError(
            f"The column {name} holds values of the type {type_}, and the types of events are texts.",
            cure=f"Name another column as type=, or cast it: col({name!r}).cast('string').",
        )


def _check_names(query: Query) -> None:
    seen: set[str] = set()
    for measure in query.measures:
        if measure.name.lower() in seen:
            raise BindingError(
                f"The result would have two columns {measure.name}.",
                cure="Give one of them another name.",
                span=measure.span,
            )
        seen.add(measure.name.lower())


def _graph(query: Query, binder: EventBinder) -> Iterator[tuple[str, Expression]]:
    """How many matches end at an event, and the graph of them.

    A node is what a match would be of that event alone: so a match is the nodes of a way through the graph, put
    together. A node without any event is a choice.
    """
    if query.measures:
        raise BindingError(
            "Compressed matches have no values of their own to return.",
            cure="Leave out RETURN: trellis.decompress lists matches with all of their events.",
            span=query.measures[0].span,
        )
    _check_all_wanted(query, "Compressed matches are all matches", None)
    yield "matches", e.OfMatches()
    fields: list[str | Expression] = []
    for number, component in enumerate(binder.positives):
        value = "array(x)" if component.repeated else "x"
        name = text_literal(binder.written[component.variable])
        fields += [", " if fields else "", name, f", CASE WHEN p = {number} THEN {value} END"]
    pieces = (e.OfMatches("parts"), ", ", e.OfMatches("events", binder.event), ", (p, x) -> named_struct(", *fields)
    yield "nodes", e.Raw(("zip_with(", *pieces, "))"))
    ends = (e.OfMatches("sources"), ", ", e.OfMatches("targets"))
    yield "edges", e.Raw(("zip_with(", *ends, ", (s, t) -> named_struct('source', s, 'target', t))"))


def _check_counted(query: Query, returned: tuple[Expression, ...], last: Component, written: str) -> None:
    """Where matches are counted, a row stands for all that end at one event: they have but this event in common."""
    nodes = [node for value in returned for node in e.walk(value)]
    counted = next((node for node in nodes if isinstance(node, e.OfMatches)), None)
    if counted is None:
        return
    _check_all_wanted(query, "count(*) counts all matches", counted.span)
    end = Place(frozenset({last.variable}), final=True)
    for node in nodes:
        many = isinstance(node, e.BoundAggregate | e.MatchNumber)
        if many or (isinstance(node, e.At) and node.place != end):
            raise BindingError(
                "count(*) counts the matches that end at one event, and they have only this event in common.",
                cure=f"Return attributes of the last event ({written}) beside it, or leave count(*) out.",
                span=node.span,
            )


def _check_all_wanted(query: Query, what: str, span: Span | None) -> None:
    if query.wanted is not Wanted.ALL:
        raise BindingError(f"{what}, and OUTPUT NON_OVERLAP asks for some.", cure="Leave one of them out.", span=span)
