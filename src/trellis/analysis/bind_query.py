"""A query against its input: keys, conditions, measures, and the names of the result."""

from __future__ import annotations

from dataclasses import replace

from trellis.algebra import expression as e
from trellis.algebra.bound import BoundQuery
from trellis.algebra.pattern import variables_of
from trellis.algebra.query import Query, VariableKind
from trellis.analysis.binding import Binder
from trellis.analysis.parameters import check_width
from trellis.analysis.segments import bind_segments
from trellis.analysis.source import Source
from trellis.errors import BindingError

__all__ = ["bind_query"]


def bind_query(query: Query, source: Source) -> BoundQuery:
    """Bind all expressions of a query, whose quantifiers have numbers, to the columns of its input."""
    variables = variables_of(query.pattern)
    sets = {name: frozenset({name}) for name in variables}
    sets |= {subset.name: frozenset(subset.variables) for subset in query.subsets}
    binder = Binder(source.schema, sets, frozenset(variables), source.parameters)
    skip = query.after_match.variable
    bound = BoundQuery(
        query=query,
        variables=variables,
        partition_by=binder.keys(query.partition_by, "partition"),
        order_by=binder.keys(tuple(key.expression for key in query.order_by), "order"),
        columns=source.schema.names,
        skip_to=sets[skip] if skip is not None else frozenset(),
    )
    bound = bind_segments(bound, binder, source) if query.kind is VariableKind.SEGMENT else _bind_rows(bound, binder)
    _check_names(bound)
    return bound


def _bind_rows(bound: BoundQuery, binder: Binder) -> BoundQuery:
    query = bound.query
    if isinstance(query.within, e.Parameter):
        check_width(query.within, binder.parameters)
    return replace(
        bound,
        conditions=tuple((one.variable, binder.condition(one.variable, one.condition)) for one in query.definitions),
        measures=tuple((one.name, binder.value(one.expression, not bound.all_rows)) for one in query.measures),
    )


def _check_names(bound: BoundQuery) -> None:
    """No two columns of the result have the same name."""
    shown = {name.lower() for name, _ in bound.partition_by}
    if bound.all_rows:
        shown |= {name.lower() for name in (*(name for name, _ in bound.order_by), *bound.columns)}
    for measure in bound.query.measures:
        if measure.name.lower() in shown:
            raise BindingError(
                f"The result would have two columns {measure.name}.",
                cure="Give the measure another name.",
                span=measure.span,
            )
