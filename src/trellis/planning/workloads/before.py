"""What happens to the events of a workload before they are searched: some are dropped, long series are cut."""

from __future__ import annotations

from dataclasses import replace

from trellis.algebra import expression as e
from trellis.algebra.clauses import Clause
from trellis.algebra.expression import Expression, text_literal
from trellis.algebra.prefilter import BeforeMatch, Buckets
from trellis.analysis.source import Source
from trellis.planning.before_match.bucket_keys import time_buckets
from trellis.planning.before_match.plan import Wanting, plan_before_match
from trellis.planning.before_match.slices import Cut
from trellis.planning.hints import Hints
from trellis.planning.rule import Change, Firing, Rule
from trellis.planning.rules import KEEP_EVENTS
from trellis.planning.workloads.bound import BoundWorkload

__all__ = ["before_workload", "widest_buckets"]


def before_workload(workload: BoundWorkload, source: Source, hints: Hints, rules: Firing) -> BeforeMatch:
    """Which events are dropped, and how series are cut."""
    wanting = Wanting(
        "patterns of a workload have little in common that all of their matches need",
        _cut(workload),
        lambda _: float(len(workload.clauses)),
        rules.apply(_KEEP, workload),
    )
    return plan_before_match(wanting, source, hints, rules)


def _keep_types(workload: BoundWorkload) -> Change[Expression] | None:
    """The condition of events that some pattern may take, or that must be absent; None if all must be kept."""
    clauses = [one.clause for one in workload.clauses]
    if any(clause.window.events is not None for clause in clauses):
        # Where a window counts events, each counts.
        return None
    events = workload.bound.query.events
    assert events is not None
    names = sorted({name for clause in clauses for name in _types(clause)})
    column = workload.binder.column(events.type)
    note = f"only events of the {len(names)} types that patterns name"
    return Change(e.Operator("IN", (column, *map(text_literal, names))), note)


# The same as for one pattern, with less to ask of an event.
_KEEP = Rule(KEEP_EVENTS.name, KEEP_EVENTS.about, _keep_types)


def _types(clause: Clause) -> set[str]:
    parts = (*clause.parts, *(absence.event for absence in clause.absences))
    return {name for part in parts for name in part.types}


def _cut(workload: BoundWorkload) -> Cut | str:
    """How series may be cut: a slice has the matches that begin there, of all patterns."""
    clauses = [one.clause for one in workload.clauses]
    if any(not absence.after for clause in clauses for absence in clause.absences):
        return "something must be absent before the first event of a match"
    if any(clause.keys for clause in clauses):
        return "matches are numbered for each value of a column that only some patterns agree in"
    if any(clause.window.width is None for clause in clauses):
        return "a pattern has no window of time"
    widest = widest_buckets(workload)
    return "the time of events cannot be cut" if widest is None else Cut(workload.keys, widest, False)


def widest_buckets(workload: BoundWorkload) -> Buckets | None:
    """The widest window of time, as what cuts series; None where there is none, or times cannot be counted in units."""
    widest: Buckets | None = None
    for width in dict.fromkeys(one.clause.window.width for one in workload.clauses):
        if width is None:
            continue
        bound = replace(workload.bound, query=replace(workload.bound.query, within=width))
        buckets = time_buckets(bound, workload.columns, workload.tests.source.constant)
        if buckets is None:
            return None
        if widest is None or buckets.width > widest.width:
            widest = buckets
    return widest
