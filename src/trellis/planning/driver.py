"""Planning, from a query and its input to a plan. Every way to use Trellis comes by here."""

from __future__ import annotations

from dataclasses import replace

from trellis.algebra.bound import BoundQuery
from trellis.algebra.pattern import is_possessive, with_counts
from trellis.algebra.plan import Plan
from trellis.algebra.query import Query, Selection, VariableKind, Wanted
from trellis.analysis.bind_query import bind_query
from trellis.analysis.events import bind_events, check_events, with_fields
from trellis.analysis.functions import settle_functions
from trellis.analysis.segments import segment_functions
from trellis.analysis.source import Source
from trellis.errors import BindingError, UnsupportedError, assert_never
from trellis.planning.events.plan import plan_events
from trellis.planning.expressions.registered import mark_registered
from trellis.planning.hints import Hints
from trellis.planning.rows.plan import plan_rows
from trellis.planning.rows.rewrite_rows import reads_segments
from trellis.planning.rows.within import spell_width
from trellis.planning.rule import Firing
from trellis.planning.rules import REWRITE_ROWS
from trellis.planning.segments.plan import plan_segments
from trellis.planning.streams import hints_for_streams, plan_stream

__all__ = ["bind_rows", "plan_query"]


def plan_query(query: Query, source: Source, hints: Hints) -> Plan:
    """Plan a query for its input: rewrite it, bind it, and let the engine for its variables plan it."""
    if source.watermark is None:
        return _plan(query, source, hints)
    plan = _plan(query, source, hints_for_streams(hints))
    return plan_stream(plan, query, source, hints)


def _plan(query: Query, source: Source, hints: Hints) -> Plan:
    rules = Firing(frozenset(hints.off))
    if query.kind is VariableKind.EVENT:
        query = with_fields(replace(query, within=spell_width(query.within)), source.schema)
        check_events(query, source)
        bound, tests = bind_events(settle_functions(query, source), source)
        return plan_events(mark_registered(bound, source), tests, source, hints, rules)
    bound = bind_rows(query, source, hints, rules)
    match bound.query.kind:
        case VariableKind.ROW:
            return plan_rows(bound, source, hints, rules)
        case VariableKind.SEGMENT:
            return plan_segments(bound, source, hints, rules)
        case VariableKind.EVENT:
            raise AssertionError("events are planned above")
    assert_never(bound.query.kind)


def bind_rows(query: Query, source: Source, hints: Hints, rules: Firing) -> BoundQuery:
    """A query of rows or segments, rewritten and bound: which of the two it is then, its kind says."""
    query = replace(query, pattern=with_counts(query.pattern, source.parameters))
    query = settle_functions(query, source, segment_functions(source))
    query = _rewritten(query, source, hints, rules)
    _check_search(query)
    bound = mark_registered(bind_query(query, source), source)
    if query.kind is VariableKind.ROW:
        bound = replace(bound, query=replace(query, within=spell_width(query.within)))
    return bound


def _rewritten(query: Query, source: Source, hints: Hints, rules: Firing) -> Query:
    """The query as a segment query, where its conditions speak of whole stretches of rows."""
    if query.kind is not VariableKind.ROW:
        return query
    functions = segment_functions(source)
    rewritten = rules.apply(REWRITE_ROWS, query, source, hints.rewrite == "always")
    call = reads_segments(query, functions)
    if rewritten is not None or call is None:
        return rewritten or query
    try:
        # Spark may have a function of that name, too.
        settled = settle_functions(query, source)
        if settled.definitions == query.definitions and reads_segments(settled, functions) is None:
            return settled
    except BindingError:
        pass
    raise UnsupportedError(
        f"{call.function} is a function of whole segments, and this row pattern cannot be rewritten into segments.",
        cure=query.words.segments,
        span=call.span,
    )


def _check_search(query: Query) -> None:
    """What a query may want, and no engine finds yet."""
    possessive = is_possessive(query.pattern) and query.kind is not VariableKind.ROW
    everything = query.wanted is Wanted.ALL and query.kind is VariableKind.ROW
    for missing, what in (
        (query.wanted is Wanted.NON_OVERLAPPING, "Only matches that do not overlap"),
        (everything, "Every match of a row pattern"),
        (query.selection is not Selection.PARTITION_CONTIGUITY, f"The selection strategy {query.selection.value}"),
        (possessive, "A possessive quantifier with segments"),
    ):
        if missing:
            raise UnsupportedError(
                f"{what} is not supported yet.", cure="Ask for it in another way: see docs/language.md."
            )
