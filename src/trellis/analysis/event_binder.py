"""Names of event patterns: which event each column is of, at the edge where a condition is tested, or in a match."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trellis.algebra import expression as e
from trellis.algebra.events import Component, EventClauses, components_of
from trellis.algebra.expression import Expression, MemberIndex, text_literal
from trellis.algebra.place import Place
from trellis.algebra.query import Query
from trellis.algebra.validation import check_aggregate
from trellis.analysis.edges import Edge, EdgeKind
from trellis.analysis.padding import padded
from trellis.analysis.parameters import require_value
from trellis.analysis.schema import Schema
from trellis.analysis.source import Source
from trellis.errors import BindingError, Span, UnsupportedError

__all__ = ["EventBinder"]

# Aggregates that may list whole events.
_LISTS = ("array_agg", "collect_list")


@dataclass(frozen=True, slots=True)
class EventBinder:
    """Binds conditions of WHERE to edges, and values of RETURN to the events of a match."""

    schema: Schema
    components: tuple[Component, ...]
    parameters: Mapping[str, object]
    written: Mapping[str, str]

    @staticmethod
    def of(query: Query, events: EventClauses, source: Source) -> EventBinder:
        """The binder of a query whose names are names of components, or an error that says which is not."""
        written = {one.variable: one.name for one in events.variables}
        binder = EventBinder(source.schema, components_of(query.pattern), source.parameters, written)
        for expression in (*events.where, *(measure.expression for measure in query.measures)):
            binder._check_names(expression)
        return binder

    @property
    def positives(self) -> tuple[Component, ...]:
        """The components that take events."""
        return tuple(component for component in self.components if not component.absent)

    def column(self, name: e.Name) -> e.Column:
        """A column, or a field of one."""
        first, *rest = name.parts
        return e.Column((self.schema.require(first, name.span), *(part.text for part in rest)), span=name.span)

    def same(self, name: e.Name) -> e.Column:
        """A column in which all events agree."""
        if self.component(name.parts[0]) is not None and self.schema.find(name.parts[0]) is None:
            raise BindingError(
                f"[{name}] names a component, and all events agree in a column.",
                cure=f"Name the column alone: [{'.'.join(map(str, name.parts[1:])) or 'id'}].",
                span=name.span,
            )
        return self.column(name)

    @property
    def event(self) -> e.Call:
        """An event with all of its columns."""
        columns = tuple(piece for name in self.schema.names for piece in (text_literal(name), e.Column((name,))))
        return e.Call("named_struct", columns)

    def component(self, identifier: e.Identifier) -> Component | None:
        """The component of a name, None if there is none."""
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

    def _check_names(self, expression: Expression) -> None:
        """Columns stand behind components, and aggregates not inside of others."""
        for node in e.walk(expression):
            match node:
                case e.Name(parts=(first, *rest)):
                    component = self.component(first)
                    if component is None and rest and self.schema.find(first) is None:
                        raise BindingError(
                            f"{first} is not a component of the pattern.",
                            cure=f"The components are {self._names()}.",
                            span=node.span,
                        )
                    if component is None:
                        raise BindingError(
                            f"{node} does not say of which event.",
                            cure=f"Put a component before it: {self._names()}.",
                            span=node.span,
                        )
                case e.Aggregate():
                    check_aggregate(node)
                case e.Navigation():
                    raise BindingError(
                        f"{node.function} navigates in rows, and events have none between them.",
                        cure="Write b[1].price, b[i-1].price or b[b.LEN].price.",
                        span=node.span,
                    )
                case e.Parameter():
                    require_value(node, self.parameters)
                case _:
                    pass

    def _identifiers(self, condition: Expression) -> Iterator[tuple[Edge, Span | None]]:
        for node in e.walk(condition):
            match node:
                case e.Name(parts=(first, *_)):
                    component = self.component(first)
                    assert component is not None
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
                return padded(e.rebuild(condition, lambda child: self.test(child, edge)), self.schema)

    def value(self, expression: Expression) -> Expression:
        """An expression of RETURN."""
        match expression:
            case e.Name(parts=(first, *rest)):
                component = self.component(first)
                assert component is not None
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
                return padded(e.rebuild(expression, self.value), self.schema)

    def _check_present(self, component: Component, span: Span | None) -> None:
        if component.absent:
            raise BindingError(
                f"{self.written[component.variable]} is absent from every match: there is nothing to return.",
                cure="Return attributes of the others.",
                span=span,
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
                "A whole event cannot be compared.",
                cure="Name an attribute of it, such as a.price or b[1].price.",
                span=span,
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
                f"{node.function} needs the events of one repeated component.",
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
            raise UnsupportedError(
                f"{node.function} is not supported in event patterns.",
                cure="Return array_agg(...), and compute it of that array in a query around.",
                span=node.span,
            )

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
        cure="RETURN may hold MATCH_NUMBER(), and components have the names of their events.",
        span=node.span,
    )
