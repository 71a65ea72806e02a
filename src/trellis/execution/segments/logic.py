"""And, Not, and parts that look at variables outside of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trellis.algebra.physical_tree import Complement, Generate, Meet, Where, bound_by
from trellis.execution.segments import sets
from trellis.execution.segments.bindings import combine, equal_places
from trellis.execution.segments.generate import generate
from trellis.execution.segments.sets import Segments
from trellis.execution.segments.spaces import Space, limits

if TYPE_CHECKING:
    from trellis.execution.segments.executor import Executor

__all__ = ["complement", "meet", "where"]


def meet(executor: Executor, node: Meet, space: Space, wanted: frozenset[str]) -> Segments:
    """The segments of both sides; a probed side is asked only about what the other one found."""
    first, second = (node.left, node.right) if node.method != "left" else (node.right, node.left)
    one = executor.run(first, space, wanted)
    if len(one) == 0:
        return Segments.empty(wanted & bound_by(node))
    if node.method == "merge":
        other = executor.run(second, space, wanted)
    else:
        starts, ends = one.pairs() if not one.bindings else one.keep((), executor.rows.count).pairs()
        other = executor.run(second, Space("exact", starts, ends, ends), wanted)
        if not one.bindings:
            # The other side looked at nothing else.
            return other
    if one.bindings or other.bindings:
        left, right = equal_places(one, other)
        starts, ends = one.pairs()
        return combine((starts[left], ends[left]), one, other, left, right).distinct()
    if node.dense and node.method == "merge":
        return Segments(band=executor.band(one) & executor.band(other))
    return sets.intersection(one, other)


def complement(executor: Executor, node: Complement, space: Space) -> Segments:
    """The segments within the window that the body does not hold."""
    if not node.probe and node.dense and space.kind == "start":
        body = executor.run(node.body, space)
        low, high = limits(executor.rows, space, node.window)
        return executor.in_space(
            Segments(band=executor.limit_mask(low, high) & ~executor.band(body)), node.window, space
        )
    window = Generate((), node.window, False, node.dense)
    candidates = generate(executor, window, space)
    if not node.probe:
        return sets.difference(candidates, executor.run(node.body, space))
    starts, ends = candidates.pairs()
    return sets.difference(candidates, executor.run(node.body, Space("exact", starts, ends, ends)))


def where(executor: Executor, node: Where, space: Space, wanted: frozenset[str]) -> Segments:
    """Ask the part about the segments of its stand-in, once for each combination of what it reads."""
    # What the body does not bind is known from further out.
    names = sorted(node.reads & bound_by(node.body))
    body = executor.run(node.body, space, wanted | node.reads | {node.alias})
    result = Segments.empty(wanted & bound_by(node))
    if len(body) == 0:
        return result
    count = executor.rows.count
    columns = [array for name in names for array in body.bindings[name]]
    groups = np.unique(np.stack(columns, axis=1), axis=0) if columns else np.zeros((1, 0), np.int64)
    for group in groups:
        same = [np.ones(len(body), np.bool_), *(c == value for c, value in zip(columns, group, strict=True))]
        some = body.take(np.flatnonzero(np.all(same, axis=0)))
        starts, _ = some.bindings[node.alias]
        absent = some.take(np.flatnonzero(starts < 0))
        some = some.take(np.flatnonzero(starts >= 0))
        found = _inside_of(executor, node, some, dict(zip(names, group.reshape(-1, 2).tolist(), strict=True)), wanted)
        result = sets.union(result, sets.union(found.keep(wanted, count), absent.keep(wanted, count)))
    return result


def _inside_of(
    executor: Executor, node: Where, some: Segments, group: dict[str, list[int]], wanted: frozenset[str]
) -> Segments:
    starts, ends = some.bindings[node.alias]
    asked = Segments((starts, ends)).distinct()
    outer, executor.outer = executor.outer, {**executor.outer, **{name: (s, e) for name, (s, e) in group.items()}}
    inner = executor.run(node.part, Space("exact", asked.pairs()[0], asked.pairs()[1], asked.pairs()[1]), wanted)
    executor.outer = outer
    order = np.argsort(sets.keys_of(starts, ends), kind="stable")
    by_alias = Segments((starts[order], ends[order]))
    left, right = equal_places(by_alias, inner)
    pairs = some.pairs()
    left = order[left]
    return combine((pairs[0][left], pairs[1][left]), some, inner, left, right).distinct()
