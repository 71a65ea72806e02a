"""The plan of a segment query: the logical tree with its conditions, and what is dropped before the match.

The physical tree is chosen by the workers, from statistics of the rows that they get.
"""

from __future__ import annotations

from trellis.algebra import expression as e
from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression
from trellis.algebra.logical_tree import LogicalNode
from trellis.algebra.place import Place
from trellis.algebra.plan import Plan
from trellis.algebra.prefilter import BeforeMatch
from trellis.algebra.scan import SlotSource
from trellis.algebra.segments import WHOLE_MATCH, Function, SegmentCondition, SegmentScan
from trellis.algebra.windows import Window
from trellis.analysis.source import Source
from trellis.planning.before_match.plan import Wanting, plan_before_match
from trellis.planning.draft import Draft, Series, bind_keys, result_columns
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.unfailing import Safety
from trellis.planning.hints import Hints
from trellis.planning.rule import Firing
from trellis.planning.segments.conditions import SegmentConditions
from trellis.planning.segments.demands import segment_buckets, segment_cut, segment_demand
from trellis.planning.segments.measures import SegmentMeasures
from trellis.planning.segments.stretches import check_nested, check_stretches
from trellis.planning.segments.values import SegmentValues

__all__ = ["plan_segments"]

# What the search costs for each row, in tests of a row pattern; far from the truth for many queries, which it can be:
# moving rows is what prefilters save.
_TESTS = 50.0


def plan_segments(bound: BoundQuery, source: Source, hints: Hints, rules: Firing) -> Plan:
    """Plan a segment query."""
    columns = Columns(source.types_of)
    keys = bind_keys(bound, columns)
    values = SegmentValues(columns)
    planned = SegmentConditions(bound, values)
    tree = planned.tree(rules)
    measures = SegmentMeasures(values)
    finished = result_columns(bound, measures, _listed(bound))
    tracked = _tracked(bound, measures)
    for name in tracked:
        planned.check_bound(tree, name)
    check_stretches(bound, tree)
    check_nested(tree)
    before = _plan_before(bound, keys, columns, tree.window, tuple(values.sources), source, hints, rules)
    conditions = tuple(planned.conditions)
    query = bound.query

    def scan(series: Series) -> SegmentScan:
        return SegmentScan(
            keys=series.keys,
            tree=tree,
            conditions=conditions,
            slots=tuple(values.sources),
            scales=tuple(values.scales),
            program=values.finish(),
            tracked=tracked,
            places=tuple(measures.places),
            values=tuple(measures.functions),
            outputs=series.outputs,
            wanted=query.wanted,
            skip=query.after_match.to,
            skip_to=query.after_match.variable or "",
            preference=query.preference,
            rows_per_match=query.rows_per_match,
            reach=_reach(conditions),
            budget=hints.step_budget,
            chunk_rows=hints.chunk_rows,
            choices=hints.choices,
            costs=hints.costs,
            slices=series.slices,
            dropped=before.drops,
        )

    draft = Draft(bound, columns, keys, before, measures.outputs, finished)
    return draft.plan(scan, tuple(rules.fired), _warnings(keys, tree, hints))


def _listed(bound: BoundQuery) -> tuple[tuple[str, Expression], ...]:
    """The measures; without any nothing would tell the segments apart."""
    rewritten = bool(bound.query.preference)
    if bound.measures or rewritten or bound.all_rows:
        return bound.measures
    listed: list[tuple[str, Expression]] = [("match_rows", e.SegmentCall("rows", (), (None,)))]
    if bound.order_by:
        key = bound.order_by[0][1]
        listed = [("match_start", e.At(key, Place(from_first=True))), ("match_end", e.At(key, Place()))]
    taken = {name.lower() for name, _ in bound.partition_by}
    return tuple((f"{name}_" if name in taken else name, measure) for name, measure in listed)


def _tracked(bound: BoundQuery, measures: SegmentMeasures) -> tuple[str, ...]:
    """The variables whose segments are kept beside each match: measures, the skip or the preference read them."""
    names = {place.variable for place in measures.places}
    names = names.union(*(function.variables for function in measures.functions), bound.skip_to)
    names |= {boundary.variable for boundary in bound.query.preference if boundary.variable is not None}
    return tuple(sorted(names - {WHOLE_MATCH}))


def _plan_before(
    bound: BoundQuery,
    keys: tuple[Expression, ...],
    columns: Columns,
    window: Window,
    sources: tuple[SlotSource, ...],
    source: Source,
    hints: Hints,
    rules: Firing,
) -> BeforeMatch:
    """What happens to the rows before they come to the matcher."""
    buckets = segment_buckets(bound, window, sources, columns)
    cut = segment_cut(bound, keys, buckets, window, columns)
    safety = Safety.of((condition for _, condition in bound.conditions), columns, source.lenient)
    demand = segment_demand(bound, keys, buckets, safety)
    return plan_before_match(Wanting(demand, cut, lambda _: _TESTS), source, hints, rules)


def _warnings(keys: tuple[Expression, ...], tree: LogicalNode, hints: Hints) -> tuple[str, ...]:
    """One long series and a pattern without a window: every pair of rows is a segment."""
    bounded = tree.window.most is not None or any(time.most is not None for time in tree.window.times)
    if bounded or keys:
        return ()
    return (
        "The pattern has no window and the query no PARTITION BY: n rows have n * n / 2 segments "
        f"(100,000 rows: 5,000,000,000; the search gives up after {hints.step_budget:,}). "
        "Bound it: `(...) & WIN` with SEGMENT WIN AS window(1, 100).",
    )


def _reach(conditions: tuple[SegmentCondition, ...]) -> int:
    """How many rows beyond a segment its conditions may read."""
    reach = 1
    for condition in conditions:
        for value in condition.values:
            if isinstance(value, Function):
                reach = max(reach, *(int(number) for number in value.constants), 1)
            else:
                reach = max(reach, abs(value.shift))
    return reach
