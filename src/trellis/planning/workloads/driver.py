"""Planning a workload around the search for its tree: what is bound before it, and the plan for Spark after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from trellis.algebra.plan import Plan
from trellis.algebra.prefilter import BeforeMatch, Buckets
from trellis.algebra.query import Query
from trellis.algebra.shared_tree import SharedTree
from trellis.analysis.contradictions import empty_patterns
from trellis.analysis.source import Source
from trellis.planning.hints import Hints
from trellis.planning.rule import Change, Firing, Rule
from trellis.planning.rules import NO_MATCH
from trellis.planning.streams import hints_for_streams, plan_stream
from trellis.planning.workloads.before import before_workload, widest_buckets
from trellis.planning.workloads.bound import BoundWorkload, bind_workload
from trellis.planning.workloads.scan import scan_plan

__all__ = ["DraftedWorkload", "draft_workload"]


@dataclass(frozen=True, slots=True)
class DraftedWorkload:
    """A workload of which everything is known but the tree. `empty` are patterns that nothing can match."""

    queries: Mapping[str, Query]
    workload: BoundWorkload
    before: BeforeMatch
    rules: Firing
    source: Source
    hints: Hints
    empty: tuple[str, ...]

    @property
    def buckets(self) -> Buckets | None:
        """The time of events in units of its own; None if it has none, or there is no window of time."""
        return widest_buckets(self.workload)

    def plan_of_rows(self) -> Plan:
        """A plan that finds nothing: it says which rows a search looks at, with which columns, in which order."""
        return scan_plan(self.workload, SharedTree((), ()), replace(self.before, slices=None), self.hints)

    def plan(self, tree: SharedTree) -> Plan:
        """The plan for Spark of a search along a tree."""
        plan = scan_plan(self.workload, tree, self.before, self.hints, tuple(self.rules.fired))
        warnings = tuple(f"The conditions of {name} contradict each other: it has no match." for name in self.empty)
        plan = replace(plan, warnings=(*plan.warnings, *warnings))
        if self.source.watermark is None:
            return plan
        text = "\n".join(f"{name}: {query}" for name, query in sorted(self.queries.items()))
        return plan_stream(plan, next(iter(self.queries.values())), self.source, self.hints, text)


def draft_workload(
    queries: Mapping[str, Query], partition_by: tuple[str, ...], source: Source, hints: Hints
) -> DraftedWorkload:
    """Bind the patterns of a workload, and decide what happens to events before they are searched."""
    asked = hints if source.watermark is None else hints_for_streams(hints)
    rules = Firing(frozenset(asked.off))
    bound = bind_workload(queries, partition_by, source, rules.off)
    empty = _empty(bound) if hints.on(_EMPTY.name) else ()
    workload = rules.apply(_EMPTY, bound, empty) or bound
    before = before_workload(workload, source, asked, rules)
    return DraftedWorkload(queries, workload, before, rules, source, hints, empty)


def _empty(workload: BoundWorkload) -> tuple[str, ...]:
    events = workload.bound.query.events
    assert events is not None
    return empty_patterns((one.clause for one in workload.clauses), workload.columns.type_of, events.time)


def _drop_empty(workload: BoundWorkload, empty: tuple[str, ...]) -> Change[BoundWorkload] | None:
    """The workload without patterns that nothing can match; one is kept, if all are such."""
    dropped = set(empty) if len(empty) < len(workload.names) else set(empty[1:])
    if not dropped:
        return None
    kept = tuple(one for one in workload.clauses if one.clause.pattern not in dropped)
    return Change(replace(workload, clauses=kept), f"not searched: {', '.join(sorted(dropped))}")


# The same as for rows, pattern by pattern.
_EMPTY = Rule(NO_MATCH.name, NO_MATCH.about, _drop_empty)
