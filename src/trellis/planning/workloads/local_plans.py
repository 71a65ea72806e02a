"""The best plan of one clause, by dynamic programming over sets of its parts.

The cost of a set does not depend on how it is put together, so the best plan of a set is made of the best plans of two
smaller ones. A plan may be made to have a given set as a node (appendix B of the paper: *A* with a given sub-tree), and
it may take what others already have for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from trellis.planning.workloads.forms import Shape, Splits

__all__ = ["Choice", "as_written", "best_plan", "cheapest", "plan_cost", "sets_of"]

Choice = dict[int, tuple[int, int]]
"""Of each set that is a node of a tree, the two sets that it is put together from."""


def best_plan(shape: Shape, kept: int = 0, top: int = 0) -> Choice:
    """The cheapest plan of a clause, or of a set of its parts (`top`), that has the set `kept` as a node."""
    top = top or shape.full
    found = shape.best.get((kept, top))
    if found is None:
        found = shape.best[kept, top] = cheapest(shape, shape.costs.__getitem__, kept, top)
    return found


def cheapest(shape: Shape, cost_of: Callable[[int], float], kept: int, top: int) -> Choice:
    """As `best_plan`, with other costs: a set that costs nothing is there already, and needs no parts."""
    splits: Splits = shape.splits_around(kept) if kept else shape.splits
    best = {0: 0.0}
    for part in range(len(shape.clause.parts)):
        best[1 << part] = cost_of(1 << part)
    chosen: Choice = {}
    outside = ~top
    for mask, pairs in splits:
        if mask & outside:
            continue
        cost = cost_of(mask)
        if cost == 0.0 and mask != top:
            best[mask] = 0.0
            continue
        least = inf
        for pair in pairs:
            total = best.get(pair[0], inf) + best.get(pair[1], inf)
            if total < least:
                least = total
                chosen[mask] = pair
        best[mask] = least + cost
    return _tree(chosen, top)


def _tree(chosen: Choice, top: int) -> Choice:
    """The choices that are needed for a set."""
    found: Choice = {}
    pending = [top]
    while pending:
        mask = pending.pop()
        pair = chosen.get(mask)
        if pair is not None:
            found[mask] = pair
            pending += pair
    return found


def as_written(shape: Shape) -> Choice:
    """The parts one after the other."""
    return in_order(shape, range(len(shape.clause.parts)))


def in_order(shape: Shape, parts: range | list[int]) -> Choice:
    """The plan that adds parts one by one."""
    found: Choice = {}
    mask = 0
    for part in parts:
        bit = 1 << part
        if mask:
            found[mask | bit] = (mask, 0 if shape.table.left_deep else bit)
        mask |= bit
    return found


def sets_of(shape: Shape, choice: Choice) -> set[int]:
    """All nodes of a plan, as sets of parts; of an order, its prefixes."""
    found = set(choice)
    for pair in choice.values():
        found.update(mask for mask in pair if mask)
    return found or {shape.full}


def plan_cost(shape: Shape, choice: Choice) -> float:
    """What a plan costs by itself: `Cost_ord` or `Cost_tree`."""
    return sum(shape.costs[mask] for mask in sets_of(shape, choice))
