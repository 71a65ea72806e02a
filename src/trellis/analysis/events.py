"""Event patterns against their input: each condition goes to the edge at which the last of its events is known.

A component has up to three edges: `begin` takes its first event, `take` one more (of a repeated one), `proceed` leaves
it. In the tests of an edge the event under test is the current row, and everything else was taken before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from trellis.algebra import expression as e
from trellis.algebra.bound import BoundQuery
from trellis.algebra.events import Component, EventClauses, components_of
from trellis.algebra.expression import Expression, MemberIndex, text_literal
from trellis.algebra.place import Place
from trellis.algebra.query import Query, Selection, Wanted
from trellis.analysis.binding import Binder
from trellis.analysis.schema import Schema
from trellis.analysis.source import Source
from trellis.errors import BindingError, Span, UnsupportedError

__all__ = ["Edge", "EdgeKind", "bind_events", "edges_of"]


# Aggregates that may list whole events.
_LISTS = ("array_agg", "collect_list")


class EdgeKind(IntEnum):
    """In the order in which the events of a component become known."""

    BEGIN = 0
    TAKE = 1
    PROCEED = 2
    ABSENT = 3


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge of a component; its text is the name of its test."""

    variable: str
    kind: EdgeKind

    def __str__(self) -> str:
        return {
            EdgeKind.BEGIN: self.variable,
            EdgeKind.TAKE: f"{self.variable}[i]",
            EdgeKind.PROCEED: f"{self.variable}[LEN]",
            EdgeKind.ABSENT: f"~{self.variable}",
        }[self.kind]


def bind_events(query: Query, source: Source) -> tuple[BoundQuery, Mapping[Edge, tuple[Expression, ...]]]:
    """The query without its tests, and the tests of each edge, all of which must hold."""
    events = query.events
    assert events is not None
    binder = _EventBinder.of(query, events, source)
    _check_types(events, source)
    partitioned = query.selection is not Selection.STRICT_CONTIGUITY
    same = tuple(binder.column(name) for name in events.same)
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
    binder = _EventBinder.of(query, query.events, source)
    return tuple(map(binder.edge_of, query.events.where))


def _edges_of(component: Component) -> tuple[EdgeKind, ...]:
    if component.absent:
        return (EdgeKind.ABSENT,)
    return (EdgeKind.BEGIN, EdgeKind.TAKE, EdgeKind.PROCEED) if component.repeated else (EdgeKind.BEGIN,)


@dataclass(frozen=True, slots=True)
class _EventBinder:
    schema: Schema
    components: tuple[Component, ...]
    parameters: Mapping[str, object]
    written: Mapping[str, str]

    @staticmethod
    def of(query: Query, events: EventClauses, source: Source) -> _EventBinder:
        written = {one.variable: one.name for one in events.variables}
        return _EventBinder(source.schema, components_of(query.pattern), source.parameters, written)

    @property
    def positives(self) -> tuple[Component, ...]:
        return tuple(component for component in self.components if not component.absent)

    def column(self, name: e.Name) -> e.Column:
        first, *rest = name.parts
        return e.Column((self.schema.require(first, name.span), *(part.text for part in rest)), span=name.span)

    @property
    def event(self) -> e.Call:
        """An event with all of its columns."""
        columns = tuple(piece for name in self.schema.names for piece in (text_literal(name), e.Column((name,))))
        return e.Call("named_struct", columns)

    def component(self, identifier: e.Identifier) -> Component | None:
        name = identifier.text if identifier.quoted else identifier.text.upper()
        return next((component for component in self.components if component.variable == name), None)

    def row(self, expression: Expression) -> Expression:
        """An expression over one event, whose columns stand alone."""
        if isinstance(expression, e.Name):
            return self.column(expression)
        return e.rebuild(expression, self.row)

    # Edges.

    def edge_of(self, condition: Expression) -> Edge:
        """The edge at which the last event of a condition is known."""
        found = list(self._identifiers(condition))
        absent = {edge.variable for edge, _ in found if edge.kind is EdgeKind.ABSENT}
        running = next((span for edge, span in found if edge.kind is EdgeKind.TAKE), None)
        if absent:
            if len(absent) > 1:
                names = " and ".join(sorted(self.written[variable] for variable in absent))
                raise BindingError(
                    f"{names} must both be absent: a condition cannot compare them.",
                    cure="Compare each with events that are there.",
                    span=condition.span,
                )
            if running is not None:
                raise self._misplaced(running)
            return Edge(absent.pop(), EdgeKind.ABSENT)
        if not found:
            return Edge(self.positives[0].variable, EdgeKind.BEGIN)
        ranks = {component.variable: number for number, component in enumerate(self.positives)}
        last = max((edge for edge, _ in found), key=lambda edge: (ranks[edge.variable], edge.kind))
        for edge, span in found:
            if edge.kind is EdgeKind.TAKE and edge != last:
                raise self._misplaced(span)
        return last

    def _misplaced(self, span: Span | None) -> BindingError:
        return BindingError(
            "An index with i speaks of the event that is being taken, and later events are not known then.",
            cure="Write b[b.LEN] for the last event, or an aggregate over b[].",
            span=span,
        )

    def _identifiers(self, condition: Expression) -> Iterator[tuple[Edge, Span | None]]:
        for node in e.walk(condition):
            match node:
                case e.Name(parts=(first, *rest)):
                    component = self.component(first) if rest else None
                    if component is None:
                        raise BindingError(
                            f"{node} does not say of which event.",
                            cure=f"Put a variable before it: {self._names()}.",
                            span=node.span,
                        )
                    self._check_index(component, None, node.span)
                    kind = EdgeKind.ABSENT if component.absent else EdgeKind.BEGIN
                    yield Edge(component.variable, kind), node.span
                case e.Member(variable=variable, index=index):
                    component = self.component(variable)
                    assert component is not None
                    self._check_index(component, index, node.span)
                    kind = EdgeKind.TAKE if index.is_running else EdgeKind.PROCEED
                    yield Edge(component.variable, EdgeKind.BEGIN if index is MemberIndex.FIRST else kind), node.span
                case e.MatchNumber() | e.Classifier():
                    raise _unknown_in_events(node, "while events are taken")
                case e.Navigation():
                    raise BindingError(
                        f"{node.function} navigates in rows, and events have none between them.",
                        cure="Write b[1].price, b[i-1].price or b[b.LEN].price.",
                        span=node.span,
                    )
                case e.Parameter(name=name) if name not in self.parameters:
                    raise BindingError(
                        f"The parameter :{name} has no value.", cure=f"Pass args={{{name!r}: ...}}.", span=node.span
                    )
                case _:
                    pass

    def _check_index(self, component: Component, index: MemberIndex | None, span: Span | None) -> None:
        if component.repeated and index is None:
            raise BindingError(
                f"{self.written[component.variable]} is repeated: say which of its events.",
                cure="b[1], b[i], b[i-1], b[b.LEN], or b[] in an aggregate.",
                span=span,
            )
        if not component.repeated and index is not None:
            raise BindingError(
                f"{self.written[component.variable]} is a single event and has no index.",
                cure="Leave the index out.",
                span=span,
            )

    def _names(self) -> str:
        return ", ".join(self.written[component.variable] for component in self.components)

    # Values.

    def test(self, condition: Expression, edge: Edge) -> Expression:
        """A condition in the tests of an edge."""
        match condition:
            case e.Name(parts=(first, *_)):
                component = self.component(first)
                assert component is not None
                return self._at(condition.parts[1:], component, MemberIndex.LAST, edge, condition.span)
            case e.Member(variable=variable, index=index, path=path):
                component = self.component(variable)
                assert component is not None
                if index.is_range:
                    raise BindingError(
                        f"{condition} are several events.", cure="Put it into an aggregate.", span=condition.span
                    )
                return self._at(path, component, index, edge, condition.span)
            case e.Aggregate():
                return self._aggregate(condition, final=False)
            case _:
                return e.rebuild(condition, lambda child: self.test(child, edge))

    def value(self, expression: Expression) -> Expression:
        """An expression of RETURN."""
        match expression:
            case e.Name(parts=(first, *rest)):
                component = self.component(first)
                if component is None:
                    raise BindingError(
                        f"{expression} does not say of which event.",
                        cure=f"Put a variable before it: {self._names()}.",
                        span=expression.span,
                    )
                self._check_present(component, expression.span)
                self._check_index(component, None, expression.span)
                return self._final(tuple(rest), component, False, expression.span)
            case e.Member(variable=variable, index=index, path=path):
                component = self.component(variable)
                assert component is not None
                self._check_present(component, expression.span)
                self._check_index(component, index, expression.span)
                if index.is_running or index.is_range:
                    raise BindingError(
                        f"{expression} is no single event of a match.",
                        cure="Write b[1] or b[b.LEN], or an aggregate over b[].",
                        span=expression.span,
                    )
                return self._final(path, component, index is MemberIndex.FIRST, expression.span)
            case e.Classifier():
                raise _unknown_in_events(expression, "in RETURN")
            case e.Aggregate(function="count", arguments=(e.Star(variable=None),), condition=None, distinct=False):
                return e.OfMatches(span=expression.span)
            case e.Aggregate():
                return self._aggregate(expression, final=True)
            case _:
                return e.rebuild(expression, self.value)

    def _check_present(self, component: Component, span: Span | None) -> None:
        if component.absent:
            raise BindingError(
                f"{self.written[component.variable]} is absent from every match: there is nothing to return.", span=span
            )

    def _final(
        self, path: tuple[e.Identifier, ...], component: Component, first: bool, span: Span | None
    ) -> Expression:
        place = Place(frozenset({component.variable}), from_first=first, final=True)
        return e.At(self.column(e.Name(path, span)) if path else self.event, place, span=span)

    def _at(
        self,
        path: tuple[e.Identifier, ...],
        component: Component,
        index: MemberIndex,
        edge: Edge,
        span: Span | None,
    ) -> Expression:
        if not path:
            raise BindingError(
                "A whole event cannot be compared.", cure="Name an attribute of it, such as b[1].price.", span=span
            )
        column = self.column(e.Name(path, span))
        mine = edge.variable == component.variable
        current = mine and (
            index is MemberIndex.CURRENT
            or edge.kind is EdgeKind.ABSENT
            or (edge.kind is EdgeKind.BEGIN and index in (MemberIndex.FIRST, MemberIndex.LAST))
        )
        if current:
            return e.At(column, Place(), span=span)
        return e.At(column, Place(frozenset({component.variable}), from_first=index is MemberIndex.FIRST), span=span)

    def _aggregate(self, node: e.Aggregate, *, final: bool) -> Expression:
        members = [part for child in e.children(node) for part in e.walk(child) if isinstance(part, e.Member)]
        names = [part for child in e.children(node) for part in e.walk(child) if isinstance(part, (e.Name, e.Star))]
        kinds = {(member.variable, member.index) for member in members}
        if names or len(kinds) != 1:
            raise BindingError(
                f"{node.function} needs the events of one repeated variable.",
                cure="Write avg(b[].price), count(b[]), or avg(b[..i-1].price) in a condition on b[i].",
                span=node.span,
            )
        ((variable, index),) = kinds
        component = self.component(variable)
        assert component is not None
        self._check_index(component, index, node.span)
        if not index.is_range or (final and index is MemberIndex.EARLIER):
            raise BindingError(
                f"{members[0]} is a single event.", cure="Aggregate over b[] or b[..i-1].", span=members[0].span
            )
        counted = [argument for argument in node.arguments if isinstance(argument, e.Member) and not argument.path]
        listed = final and node.function in _LISTS
        if counted and not listed and (node.function != "count" or len(node.arguments) > 1 or node.distinct):
            raise BindingError(
                f"{counted[0]} stands alone in count only, and in array_agg.",
                cure="Name an attribute.",
                span=counted[0].span,
            )
        if node.order or node.nulls or node.alone:
            raise UnsupportedError(f"{node.function} is not supported in event patterns.", span=node.span)

        def member(part: Expression) -> Expression:
            if isinstance(part, e.Member):
                return self.column(e.Name(part.path, part.span)) if part.path else self.event
            return e.rebuild(part, member)

        return e.BoundAggregate(
            function=node.function,
            arguments=() if counted and not listed else tuple(map(member, node.arguments)),
            variables=frozenset({component.variable}),
            distinct=node.distinct,
            condition=None if node.condition is None else member(node.condition),
            final=final,
            span=node.span,
        )


def _unknown_in_events(node: e.MatchNumber | e.Classifier, where: str) -> BindingError:
    return BindingError(
        f"{node} is not known {where}.",
        cure="RETURN may hold MATCH_NUMBER(), and the variables of the pattern name their events.",
        span=node.span,
    )


def _measures(query: Query, events: EventClauses, binder: _EventBinder) -> tuple[tuple[str, Expression], ...]:
    """The attributes of a match as an event: a type and a time, then what is returned, or the whole of it."""
    first, last = binder.positives[0], binder.positives[-1]
    time = binder.column(events.time)
    # What timed out has not come to the last component.
    ending = binder.positives if query.timeouts else (last,)
    end = e.At(time, Place(frozenset(one.variable for one in ending), final=True))
    begin = e.At(time, Place(frozenset({first.variable}), from_first=True, final=True))
    carried: dict[str, Expression] = {
        events.type.parts[0].text: text_literal(events.result_type),
        events.time.parts[0].text: end,
    }
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
    """Without RETURN, variables are columns."""
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            spans = {definition.variable.lower(): definition.span for definition in query.definitions}
            raise BindingError(
                f"The result would have two columns {name}: variables are columns beside the type, the time, "
                "match_number and start_time.",
                cure="Give the variable another name, or say what to RETURN.",
                span=spans.get(name.lower()),
            )
        seen.add(name.lower())


def _check_types(events: EventClauses, source: Source) -> None:
    """The type of an event is a text; and what is returned has a type that nobody can take for a function."""
    column = source.schema.require(events.type.parts[0], events.type.span)
    type_ = source.schema.type_of(column)
    if type_ != "string" and not type_.startswith(("char", "varchar", "string")):
        raise BindingError(
            f"The column {column} holds values of the type {type_}, and the types of events are texts.",
            cure=f"Name another column as type=, or cast it: col({column!r}).cast('string').",
        )
    if events.result_span is not None and source.is_function(events.result_type):
        raise BindingError(
            f"{events.result_type} is a function, and its value has no name.",
            cure="Write AS and a name behind it; if it is the type of the result, put it in backquotes.",
            span=events.result_span,
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


def _graph(query: Query, binder: _EventBinder) -> Iterator[tuple[str, Expression]]:
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
