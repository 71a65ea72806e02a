"""What every match of a segment query needs: rows of its point variables, first and last rows of its segments."""

from __future__ import annotations

from dataclasses import replace

from trellis.algebra import expression as e
from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression
from trellis.algebra.place import Place
from trellis.algebra.prefilter import Buckets
from trellis.algebra.query import RowsPerMatch, SkipTo, Wanted
from trellis.algebra.scan import SlotSource
from trellis.algebra.windows import Window
from trellis.analysis.condition_kinds import at_row
from trellis.analysis.paths import is_anchored, paths_of
from trellis.planning.before_match.bucket_keys import bucket_key
from trellis.planning.before_match.demands import RESERVED, Demand, has_reserved_names
from trellis.planning.before_match.slices import Cut, least_buckets
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.unfailing import Safety, row_filter

__all__ = ["segment_buckets", "segment_cut", "segment_demand"]

_WIDEST = 1 << 62


def segment_buckets(
    bound: BoundQuery, window: Window, sources: tuple[SlotSource, ...], columns: Columns
) -> Buckets | None:
    """Buckets of the time that a whole match may take; None if it is not bounded in the order key."""
    if not bound.order_by or bound.query.order_by[0].descending:
        return None
    key = bound.order_by[0][1]
    cut = bucket_key(key, columns)
    name = columns.names.get(key)
    for time in window.times:
        if cut is not None and time.most is not None and name is not None and sources[time.slot].column == name:
            return Buckets(cut[0], cut[1], max(2, time.most)) if time.most <= _WIDEST else None
    return None


def segment_demand(
    bound: BoundQuery, keys: tuple[Expression, ...], buckets: Buckets | None, safety: Safety
) -> Demand | str:
    """What a segment query demands, or the reason why rows must not be dropped; as `demand_of` for row patterns."""
    reason = _reason(bound)
    if reason:
        return reason
    if has_reserved_names(bound.columns):
        return RESERVED
    if buckets is None and not keys:
        return "there is neither a window of the order key nor PARTITION BY"
    useful: dict[str, Expression] = {}
    at_end: set[str] = set()
    for variable, condition in bound.conditions:
        parts = tuple(e.conjuncts(condition))
        point = variable not in bound.query.segments
        first = _of_row(parts, variable, None if point else True, safety)
        last = first if point else _of_row(parts, variable, False, safety)
        chosen = first if first is not None else last
        if chosen is not None:
            useful[variable] = chosen
            if first is None:
                at_end.add(variable)
    paths = paths_of(bound.query.pattern, frozenset(useful))
    if not all(path.variables for path in paths):
        return "a match need not contain a variable with a condition on single rows"
    settled = tuple(
        replace(
            path,
            # The first row of a segment need not be the last row of the match, and the other way round.
            starts=path.starts and path.variables[0] not in at_end,
            ends=path.ends and (path.variables[-1] not in bound.query.segments or path.variables[-1] in at_end),
        )
        for path in paths
    )
    return Demand(keys, buckets, settled, useful)


def _reason(bound: BoundQuery) -> str:
    if bound.query.rows_per_match is RowsPerMatch.ALL_WITH_UNMATCHED:
        return "unmatched rows are part of the result"
    if is_anchored(bound.query.pattern):
        return "an anchor asks for the first or the last row of all"
    for _, expression in (*bound.conditions, *bound.measures):
        for node in e.walk(expression):
            if isinstance(node, e.At) and node.place.shift:
                return "PREV or NEXT may look outside the match"
            if isinstance(node, e.SegmentCall) and node.constants:
                return f"{node.function} looks at rows before the segment"
    return ""


def segment_cut(
    bound: BoundQuery, keys: tuple[Expression, ...], buckets: Buckets | None, window: Window, columns: Columns
) -> Cut | str:
    """How the series of a segment query may be cut, or the reason why they must stay whole."""
    rows = None
    if buckets is None:
        rows = window.most
        buckets = least_buckets(bound.order_by, bound.query.order_by, columns)
        if buckets is None or rows is None:
            return "there is no window by which series could be cut"
    skips = bound.query.wanted is Wanted.PREFERRED and bound.query.after_match.to is not SkipTo.NEXT_ROW
    nulls_first = not bound.query.order_by or bound.query.order_by[0].nulls_first
    return _reason(bound) or Cut(keys, buckets, skips, rows, nulls_first)


def _of_row(parts: tuple[Expression, ...], variable: str, first: bool | None, safety: Safety) -> Expression | None:
    """The conditions on one row of a variable: its first, its last, or (None) its only one."""

    def struct(place: Place) -> str | None:
        own = place.variables == frozenset({variable}) and not place.offset and not place.shift
        return "" if own and first in (None, place.from_first) else None

    reading = [part for part in parts if any(isinstance(node, e.At) for node in e.walk(part))]
    moved = [at_row(part, struct) for part in reading]
    return row_filter(tuple(part for part in moved if part is not None), safety)
