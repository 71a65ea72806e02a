"""Events that no component can take are dropped before the exchange.

Skip till next match and skip till any match pass over such an event in every state, so nothing changes without it.
Where contiguity is asked for, an event between two others ends a run; where the window counts events, each counts.
A match that times out does so without them, too: with a later event beyond its window, or with the end of the events.
"""

from __future__ import annotations

from collections.abc import Mapping

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.algebra.place import Place
from trellis.algebra.query import Query, Selection
from trellis.analysis.edges import Edge, EdgeKind
from trellis.planning.expressions.unfailing import Safety, row_filter, unfailing

__all__ = ["keep_events"]

_SKIPPING = (Selection.SKIP_TILL_NEXT_MATCH, Selection.SKIP_TILL_ANY_MATCH)


def keep_events(query: Query, tests: Mapping[Edge, tuple[Expression, ...]], safety: Safety) -> Expression | None:
    """The condition of events that must be kept, None if all must."""
    assert query.events is not None
    if query.selection not in _SKIPPING or query.events.most_events is not None:
        return None
    kept: list[Expression] = []
    for edge, conditions in tests.items():
        if edge.kind is EdgeKind.PROCEED:
            continue
        alone = tuple(row for row in map(of_event, conditions) if row is not None)
        found = row_filter(alone, safety)
        if found is None:
            return None
        failing = any(unfailing(part, safety) != part for part in alone)
        # Where a condition fails, the event must stay and fail the query.
        kept.append(e.Call("coalesce", (found, e.Literal("TRUE"))) if failing else found)
    different = tuple(dict.fromkeys(kept))
    return different[0] if len(different) == 1 else e.Operator("OR", different)


def of_event(condition: Expression) -> Expression | None:
    """A condition as an expression over the event alone; None if it reads others."""
    if any(
        isinstance(node, e.BoundAggregate) or (isinstance(node, e.At) and node.place != Place())
        for node in e.walk(condition)
    ):
        return None

    def bare(node: Expression) -> Expression:
        return node.value if isinstance(node, e.At) else e.rebuild(node, bare)

    return bare(condition)
