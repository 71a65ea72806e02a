"""What every match of an event pattern needs, and how series of events may be cut."""

from __future__ import annotations

from collections.abc import Mapping

from trellis.algebra.bound import BoundQuery
from trellis.algebra.event_scan import EventResult
from trellis.algebra.events import components_of
from trellis.algebra.expression import Expression
from trellis.algebra.prefilter import Buckets
from trellis.algebra.query import Wanted
from trellis.analysis.edges import Edge, EdgeKind
from trellis.analysis.paths import Path
from trellis.planning.before_match.demands import RESERVED, Demand, has_reserved_names
from trellis.planning.before_match.keep_events import of_event
from trellis.planning.before_match.slices import Cut, least_buckets
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.unfailing import Safety, row_filter

__all__ = ["event_cut", "event_demand"]


def event_demand(
    bound: BoundQuery,
    tests: Mapping[Edge, tuple[Expression, ...]],
    keys: tuple[Expression, ...],
    buckets: Buckets | None,
    safety: Safety,
) -> Demand | str:
    """What a query demands, or the reason why no event must be dropped before the match.

    Every match has a first event for each component. Buckets that are dropped hold no event of a match, and none that
    a run takes which becomes one; events on both sides of a dropped bucket are more than one window apart.
    """
    if bound.query.timeouts:
        return "a match that timed out lacks what whole ones need"
    if buckets is None and not keys:
        return "there is neither a window of time nor a test like [id]"
    if has_reserved_names(bound.columns):
        return RESERVED
    conditions: dict[str, Expression] = {}
    dependent: dict[str, tuple[Expression, ...]] = {}
    for variable in bound.variables:
        begin = tests[Edge(variable, EdgeKind.BEGIN)]
        found = row_filter(tuple(row for row in map(of_event, begin) if row is not None), safety)
        if found is not None:
            conditions[variable] = found
        dependent[variable] = tuple(condition for condition in begin if of_event(condition) is None)
    if not conditions:
        return "no component has a condition on single events"
    components = components_of(bound.query.pattern)
    useful = tuple(name for name in bound.variables if name in conditions)
    # What must be absent is looked for beyond the events of a match. The last event of a repeated component may be
    # another one than its first.
    last = components[-1]
    path = Path(
        useful,
        starts=not components[0].absent and useful[0] == bound.variables[0],
        ends=not last.absent and not last.repeated and useful[-1] == bound.variables[-1],
    )
    single = frozenset(one.variable for one in components if not one.repeated and not one.absent)
    return Demand(keys, buckets, (path,), conditions, dependent, single, safety)


def event_cut(
    bound: BoundQuery, keys: tuple[Expression, ...], buckets: Buckets | None, columns: Columns, result: EventResult
) -> Cut | str:
    """How series of events may be cut, or the reason why they must stay whole.

    A slice has the matches that begin there.
    """
    query, events = bound.query, bound.query.events
    assert events is not None
    if buckets is None:
        buckets = least_buckets(bound.order_by, query.order_by, columns)
        if buckets is None or events.most_events is None:
            return "there is no window by which series could be cut"
    if components_of(query.pattern)[0].absent:
        return "something must be absent before the first event of a match"
    if query.wanted is Wanted.NON_OVERLAPPING:
        return "whether a match overlaps another is known only when all before are"
    if result is not EventResult.MATCHES:
        return "all matches that end at one event are one row"
    return Cut(keys, buckets, False, events.most_events)
