"""Why an event pattern did not match: the events that each component could take alone, and how far runs came."""

from __future__ import annotations

from dataclasses import replace

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from trellis.algebra import expression as e
from trellis.algebra.events import component_text, components_of
from trellis.algebra.expression import Expression
from trellis.algebra.pattern import Pattern
from trellis.algebra.query import Query, Wanted
from trellis.analysis.condition_kinds import row_value
from trellis.analysis.edges import Edge, EdgeKind
from trellis.analysis.events import bind_events, with_fields
from trellis.analysis.functions import settle_functions
from trellis.planning.hints import Hints
from trellis.reasons.findings import compared_in, values_that_no_row_has
from trellis.reasons.report import Part, Step, Variable, Why, Words
from trellis.spark.session import Session
from trellis.spark.source import source_of
from trellis.stage_counts import Counted, count_each, count_query

__all__ = ["why_events"]

_WORDS = Words(
    alone="Events that a component could take, by what is asked of the event alone",
    funnel="How far runs come: events that they take into each component, of {}",
    match="end a match",
)


def why_events(query: Query, events: DataFrame, session: Session, hints: Hints, sample: int | None) -> Why:
    """The report of an event pattern."""
    counted, excerpt = count_each(query, events, session, hints, sample or 2**62)
    parts = _parts(query, events, session)
    variables = _variables(parts, excerpt.frame, session)
    last = counted[-1]
    runs = None if last.runs is None else int(last.runs)
    notes = [
        f"the search for {one.stage.component} was given up after {hints.step_budget:,} steps in one partition"
        for one in counted
        if one.events is None
    ]
    if query.wanted is Wanted.NON_OVERLAPPING:
        notes.append("matches that overlap are counted too")
    assert query.events is not None
    within = "" if query.within is None else str(query.within)
    if query.events.most_events is not None:
        within = f"{query.events.most_events} events"
    why = Why(
        pattern=", ".join(_component_texts(query)),
        rows=excerpt.rows,
        total=excerpt.total,
        partitions=0,
        longest=0,
        shortest=0,
        matches=runs,
        starts=excerpt.rows,
        matched=last.events or 0,
        variables=variables,
        funnel=tuple(
            Step(one.stage.component, one.events, None if one.runs is None else int(one.runs)) for one in counted
        ),
        within=within,
        notes=tuple(notes),
        words=_WORDS,
    )
    return replace(why, findings=_findings(why, query, parts, counted, excerpt.frame, session, hints))


def _component_texts(query: Query) -> list[str]:
    assert query.events is not None
    pairs = zip(components_of(query.pattern), query.events.variables, strict=True)
    return [component_text(component, variable) for component, variable in pairs]


_Parts = list[tuple[str, list[Expression]]]


def _parts(query: Query, events: DataFrame, session: Session) -> _Parts:
    """For each component, what is asked of an event alone, over its columns."""
    source = source_of(events, session, {})
    query = with_fields(query, source.schema)
    _, tests = bind_events(settle_functions(query, source), source)
    found = []
    for component, text in zip(components_of(query.pattern), _component_texts(query), strict=True):
        edge = Edge(component.variable, EdgeKind.ABSENT if component.absent else EdgeKind.BEGIN)
        rows = [row_value(test) for test in tests[edge]]
        found.append((text, [row for row in rows if row is not None]))
    return found


def _variables(parts: _Parts, events: DataFrame, session: Session) -> tuple[Variable, ...]:
    """How many events pass the parts of each component, one after the other; one job."""
    named = []
    for number, (_, tests) in enumerate(parts):
        for at in range(len(tests)):
            together = tests[0] if at == 0 else e.Operator("AND", tuple(tests[: at + 1]))
            named.append((f"t{number}_{at}", together))
    counts: dict[str, int] = {}
    if named:
        row = session.project(events, named).agg(*(F.count_if(name).alias(name) for name, _ in named)).collect()[0]
        counts = {name: int(row[name]) for name, _ in named}
    variables = []
    for number, (text, tests) in enumerate(parts):
        told = tuple(Part(_plain(test), counts[f"t{number}_{at}"]) for at, test in enumerate(tests))
        variables.append(
            Variable(text, " and ".join(part.text for part in told), told[-1].rows or 0 if told else 0, told)
        )
    return tuple(variables)


def _findings(
    why: Why, query: Query, parts: _Parts, counted: list[Counted], events: DataFrame, session: Session, hints: Hints
) -> tuple[str, ...]:
    if why.rows == 0:
        return ("There are no events in the input.",)
    told: list[str] = []
    for (name, tests), variable, component in zip(parts, why.variables, components_of(query.pattern), strict=True):
        # What must be absent may well be.
        if variable.rows or component.absent:
            continue
        zero = next(at for at, part in enumerate(variable.parts) if part.rows == 0)
        passing = tests[:zero]
        asked = compared_in(tests[zero])
        frame = events
        if passing:
            frame = session.where(events, passing[0] if len(passing) == 1 else e.Operator("AND", tuple(passing)))
        before = (
            "" if not zero else f" of the {variable.parts[zero - 1].rows:,} that pass {variable.parts[zero - 1].text}"
        )
        told += values_that_no_row_has(name, asked, frame, session, what="event") or [
            f"No event{before} passes {variable.parts[zero].text} ({name})."
        ]
    stopped = next((at for at, one in enumerate(counted) if one.events == 0), None)
    if told or stopped is None:
        return tuple(told)
    stage = counted[stopped].stage
    came = "" if stopped == 0 else f" of the runs that reach {counted[stopped - 1].stage.component}"
    asked_for = f": {' and '.join(stage.conditions)}" if stage.conditions else ""
    told.append(f"None{came} goes on to {stage.component}{asked_for}.")
    if why.within:
        unbounded = _without_window(stage.query)
        try:
            freed, _ = count_query(unbounded, events, session, hints)
        except PySparkException:
            freed = None
        if freed is None:
            told.append(f"Without WITHIN {why.within}, the search for {stage.component} takes too many steps to tell.")
        else:
            other = "it would take" if freed else "it would still take"
            told.append(f"Without WITHIN {why.within}, {other} {freed:,} event{'' if freed == 1 else 's'}.")
    return tuple(told)


def _without_window(query: Query) -> Query:
    assert query.events is not None
    return replace(query, within=None, events=replace(query.events, most_events=None))


def _plain(test: Expression | Pattern) -> str:
    return str(test).replace("`", "")
