"""The plan of an event pattern: tests on the edges of its automaton, what runs remember, and what is returned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from trellis.algebra import expression as e
from trellis.algebra.bound import BoundQuery
from trellis.algebra.event_scan import AbsenceSpec, EdgeTests, EventResult, EventScan, EventSearch, PartSpec
from trellis.algebra.events import components_of
from trellis.algebra.expression import Expression
from trellis.algebra.plan import Plan
from trellis.algebra.query import RowsPerMatch, Wanted
from trellis.analysis.edges import Edge, EdgeKind
from trellis.analysis.source import Source
from trellis.errors import BindingError, UnsupportedError
from trellis.kernels import opcodes as o
from trellis.planning.before_match.bucket_keys import time_buckets
from trellis.planning.before_match.keep_events import of_event
from trellis.planning.before_match.plan import Wanting, plan_before_match
from trellis.planning.draft import Draft, Series, bind_keys
from trellis.planning.events.demands import event_cut, event_demand
from trellis.planning.events.registers import words_of
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.operators import ARITHMETIC
from trellis.planning.expressions.slots import SlotTable
from trellis.planning.expressions.unfailing import Safety
from trellis.planning.hints import Hints
from trellis.planning.rows.conditions import plan_conditions
from trellis.planning.rows.measures import RowMeasures
from trellis.planning.rows.merge_states import sets_of
from trellis.planning.rows.within import plan_within
from trellis.planning.rule import Firing
from trellis.planning.rules import KEEP_EVENTS

__all__ = ["lacking", "plan_events"]

_SEARCHES = {
    "auto": EventSearch.MERGED,
    "apart": EventSearch.APART,
    "backtrack": EventSearch.ONE_AT_A_TIME,
}

# More than any series has, and small enough to count with.
_MOST_EVENTS = 1 << 62

Tests = Mapping[Edge, tuple[Expression, ...]]


def plan_events(bound: BoundQuery, tests: Tests, source: Source, hints: Hints, rules: Firing) -> Plan:
    """Plan an event pattern."""
    query, events = bound.query, bound.query.events
    assert events is not None
    columns = Columns(source.types_of)
    keys = bind_keys(bound, columns)
    _check_absences(bound)
    _check_truth(tests, columns)
    safety = Safety.of(
        (row for conditions in tests.values() for row in map(of_event, conditions) if row is not None),
        columns,
        source.lenient,
    )
    named = _Named.of(bound.variables, tests)
    tested = replace(bound, variables=tuple(named.names), conditions=tuple(named.conditions.items()))
    conditions = plan_conditions(tested, columns, rules, lenient=source.lenient, constant=source.constant)
    if conditions.slots.pairs:
        raise lacking(next(iter(conditions.slots.pairs)), events.where)
    for one in named.tests.values():
        assert one.alone < 0 or conditions.conditions[one.alone].where != "kernel"
    parts, absences = _automaton(bound, named)
    result = _result(bound, absences)
    buckets = time_buckets(bound, columns, source.constant)
    wanting = Wanting(
        event_demand(bound, tests, keys, buckets, safety),
        event_cut(bound, keys, buckets, columns, result),
        lambda _: float(len(parts)),
        rules.apply(KEEP_EVENTS, query, tests, safety),
    )
    before = plan_before_match(wanting, source, hints, rules)
    measures = RowMeasures(columns, SlotTable(bound.variables), lenient=source.lenient)
    finished = tuple((name, measures.finish(measure)) for name, measure in bound.measures)
    grouped = measures.groups()
    within = plan_within(bound, columns, source.constant)
    aggregates, places = tuple(measures.aggregates), tuple(measures.places)

    def scan(series: Series) -> EventScan:
        return EventScan(
            keys=series.keys,
            variables=bound.variables,
            conditions=conditions.conditions,
            slots=tuple(conditions.slots.sources),
            program=conditions.program,
            places=conditions.places,
            aggregates=conditions.aggregates,
            sets=conditions.sets,
            within=within,
            rows_per_match=RowsPerMatch.ONE,
            measure_slots=tuple(measures.slots.sources),
            measure_places=places,
            measure_aggregates=aggregates,
            measure_sets=sets_of(places, aggregates),
            outputs=series.outputs,
            budget=hints.step_budget,
            chunk_rows=hints.chunk_rows,
            slices=series.slices,
            dropped=before.drops,
            parts=parts,
            absences=absences,
            words=words_of(parts, conditions),
            selection=query.selection,
            non_overlapping=query.wanted is Wanted.NON_OVERLAPPING,
            most_events=min(events.most_events or 0, _MOST_EVENTS),
            search=_search(bound, hints, distinct=any(one.previous != o.NO_CHAIN for one in conditions.aggregates)),
            result=result,
            timeouts=query.timeouts,
        )

    # Which of two simultaneous events comes first does not depend on what is returned of them.
    ordering = replace(tested, measures=())
    draft = Draft(bound, columns, keys, before, measures.outputs, finished, grouped=grouped, ordering=ordering)
    return draft.plan(scan, tuple(rules.fired))


def _check_truth(tests: Tests, columns: Columns) -> None:
    """Conditions of single events are truth values: each by itself, since AND joins them later."""
    for part in (part for conjuncts in tests.values() for part in conjuncts):
        row = of_event(part)
        if row is None or (isinstance(row, e.Operator) and row.symbol not in ARITHMETIC):
            continue
        type_ = columns.type_text(row)
        if type_ not in ("boolean", "void"):
            raise BindingError(
                f"The condition is of type {type_}, not a truth value.",
                cure="Compare it with something: a.x > 0.",
                span=part.span,
            )


def lacking(value: Expression, where: tuple[Expression, ...]) -> UnsupportedError:
    """The error for a function of two events, at the condition that calls it."""
    names = {node.function for node in e.walk(value) if isinstance(node, e.Call)}
    calls = [node for one in where for node in e.walk(one) if isinstance(node, e.Call) and node.function in names]
    what = (
        f"{calls[0].function} is a function of several events" if calls else "A condition computes with several events"
    )
    return UnsupportedError(
        f"{what}, and kernels lack it.",
        cure="Use operators between events, and functions of single events; or compute a column before.",
        span=calls[0].span if calls else where[0].span if where else None,
    )


def _search(bound: BoundQuery, hints: Hints, *, distinct: bool) -> EventSearch:
    search, events = _SEARCHES[hints.search], bound.query.events
    assert events is not None
    if bound.query.timeouts:
        # The windows of runs that are merged close at different times, and each may time out.
        return EventSearch.APART
    # Which match ends first, and which end together, is known only if all runs go side by side.
    together = events.compressed or bound.query.wanted is Wanted.NON_OVERLAPPING
    if together and search is EventSearch.ONE_AT_A_TIME:
        return EventSearch.APART
    # What counts once is known of all events of a run, which merged runs have not in common.
    return EventSearch.APART if distinct and search is EventSearch.MERGED else search


def _result(bound: BoundQuery, absences: tuple[AbsenceSpec, ...]) -> EventResult:
    events = bound.query.events
    assert events is not None
    if not events.compressed:
        counted = any(isinstance(node, e.OfMatches) for _, value in bound.measures for node in e.walk(value))
        return EventResult.COUNTS if counted else EventResult.MATCHES
    if any(one.tests.before >= 0 for one in absences):
        raise UnsupportedError(
            "Matches cannot be compressed where what must be absent is compared with other events: each match would "
            "have to be looked at.",
            cure="Compare by [column], or leave out compressed=True.",
            span=bound.query.definitions[0].span,
        )
    return EventResult.GRAPHS


@dataclass(slots=True)
class _Named:
    """The tests as conditions with names; those of the first events of components come first, by their variables."""

    names: list[str]
    conditions: dict[str, Expression] = field(default_factory=dict)
    tests: dict[Edge, EdgeTests] = field(default_factory=dict)

    @staticmethod
    def of(variables: tuple[str, ...], tests: Tests) -> _Named:
        """Split each test into what looks at the event alone, and what looks at those before."""
        named = _Named(list(variables))
        for edge, conjuncts in tests.items():
            alone = [part for part in conjuncts if of_event(part) is not None]
            before = [part for part in conjuncts if of_event(part) is None]
            named.tests[edge] = EdgeTests(named._add(str(edge), alone), named._add(f"{edge}, before", before))
        return named

    def _add(self, name: str, conjuncts: list[Expression]) -> int:
        if not conjuncts:
            return -1
        if name not in self.names:
            self.names.append(name)
        self.conditions[name] = conjuncts[0] if len(conjuncts) == 1 else e.Operator("AND", tuple(conjuncts))
        return self.names.index(name)


def _automaton(bound: BoundQuery, named: _Named) -> tuple[tuple[PartSpec, ...], tuple[AbsenceSpec, ...]]:
    parts: list[PartSpec] = []
    absences: list[AbsenceSpec] = []
    for component in components_of(bound.query.pattern):
        name = component.variable
        if component.absent:
            absences.append(AbsenceSpec(len(parts) - 1, named.tests[Edge(name, EdgeKind.ABSENT)]))
        elif component.repeated:
            edges = (named.tests[Edge(name, kind)] for kind in (EdgeKind.BEGIN, EdgeKind.TAKE, EdgeKind.PROCEED))
            parts.append(PartSpec(True, *edges))
        else:
            parts.append(PartSpec(False, named.tests[Edge(name, EdgeKind.BEGIN)]))
    return tuple(parts), tuple(absences)


def _check_absences(bound: BoundQuery) -> None:
    """What is absent before or after the other events needs a window: without one, nothing would ever be certain."""
    query = bound.query
    assert query.events is not None
    if query.within is not None or query.events.most_events is not None:
        return
    components = components_of(query.pattern)
    there = [number for number, component in enumerate(components) if not component.absent]
    for number, definition in enumerate(query.definitions):
        if not there[0] < number < there[-1] and components[number].absent:
            where = "beginning" if number < there[0] else "end"
            raise BindingError(
                f"{query.events.variables[number].name} must be absent at the {where} of the pattern, but nothing says "
                "for how long.",
                cure="Add WITHIN, for example WITHIN 10 minutes.",
                span=definition.span,
            )
