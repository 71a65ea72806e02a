"""Concatenation: two sides in a row, perhaps with any segment between, before or after."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from trellis.algebra.physical_tree import Join, Pad, bound_by
from trellis.execution.segments import sets
from trellis.execution.segments.bindings import bindings_at, combine, following_places, pad_places
from trellis.execution.segments.sets import Segments, band_width, begins_of
from trellis.execution.segments.spaces import Space, inside, left_of, limits, right_of
from trellis.kernels.arrays import Ints
from trellis.kernels.bands import concat_bands, fill_after, pad_before
from trellis.kernels.pairs import concat_pairs, pad_pairs
from trellis.kernels.scans import spread_reach

if TYPE_CHECKING:
    from trellis.execution.segments.executor import Executor

__all__ = ["join", "join_bands", "link", "pad"]

_BLOCK = 1 << 15


def join(
    executor: Executor,
    node: Join,
    space: Space,
    wanted: frozenset[str],
    filters: tuple[int, ...] = (),
    kept: frozenset[str] | None = None,
) -> Segments:
    """The left side, then the right side; a probed side is looked for only where the other one leads.

    `filters` are conditions between variables of the two sides, tested before anything else is made of a pair; then
    only the bindings of `kept` are.
    """
    low, high = limits(executor.rows, space, node.window)
    method = node.method
    if (method == "right" and node.left_optional) or (method == "left" and node.right_optional):
        method = "merge"  # the side that may stand alone must be known whole
    if method == "left":
        right = executor.run(node.right, right_of(executor.rows, space), wanted)
        left = executor.run(node.left, _before(executor, node, right, space), wanted)
    else:
        left = executor.run(node.left, left_of(executor.rows, space), wanted)
        if len(left) == 0 and not node.left_optional:
            return Segments.empty(wanted & bound_by(node))
        after = right_of(executor.rows, space) if method == "merge" else _after(executor, node, left, low, high)
        right = executor.run(node.right, after, wanted)
    gap = node.gap if not node.between else node.between - 1
    if left.bindings or right.bindings:
        chosen = following_places(executor.rows, left, right, gap, node.between > 0, low, high, executor.spend)
        if filters:
            chosen = _passing(executor, left, right, chosen, filters)
        starts, ends = left.pairs()[0][chosen[0]], right.pairs()[1][chosen[1]]
        result = combine((starts, ends), left, right, *chosen, kept)
        result.in_order = False
    elif node.dense:
        result = join_bands(executor, left, right, gap, node.between > 0, low, high)
    else:
        kernel = pad_pairs if node.between else concat_pairs
        result = link(executor, kernel, left, right, node.between or gap, low, high)
    if node.left_optional:
        result = sets.union(result, executor.clipped(right, low, high))
    if node.right_optional:
        result = sets.union(result, executor.clipped(left, low, high))
    return executor.in_space(result, node.window, space)


def _passing(
    executor: Executor, left: Segments, right: Segments, chosen: tuple[Ints, Ints], filters: tuple[int, ...]
) -> tuple[Ints, Ints]:
    """The pairs of places for which conditions hold, a block at a time: what fails is never written out."""
    conditions = executor.conditions
    reads = {name for number in filters for name in conditions.conditions[number].reads}
    starts, ends = left.pairs()[0], right.pairs()[1]
    passing: list[tuple[Ints, Ints]] = []
    for cut in range(0, len(chosen[0]), _BLOCK):
        one, other = chosen[0][cut : cut + _BLOCK], chosen[1][cut : cut + _BLOCK]
        environment = {"": (starts[one], ends[other]), **executor.outer_extents(len(one))}
        environment.update(bindings_at(left, right, one, other, reads))
        passed = conditions.hold(filters, environment, False, (1, executor.rows.longest))
        passing.append((one[passed], other[passed]))
    if not passing:
        return chosen
    return np.concatenate([one for one, _ in passing]), np.concatenate([other for _, other in passing])


def _after(executor: Executor, node: Join, left: Segments, low: Ints, high: Ints) -> Space:
    """Where the right side may start once the left side is known, and how far it may reach."""
    starts, ends = left.pairs()
    ahead = ends + (node.gap if not node.between else node.between - 1)
    there = (ahead < executor.rows.stop[starts]) & (high[starts] >= ahead)
    starts, ahead = starts[there], ahead[there]
    furthest = np.full(executor.rows.count, -1, np.int64)
    nearest = np.full(executor.rows.count, executor.rows.count, np.int64)
    spread_reach(ahead, low[starts], high[starts], nearest, furthest)
    if node.between:
        furthest = np.maximum.accumulate(furthest)
        every = np.arange(executor.rows.count, dtype=np.int64)
        anchors = np.flatnonzero(furthest >= every).astype(np.int64)
        reach = np.minimum(furthest[anchors], executor.rows.stop[anchors] - 1)
        return Space("start", anchors, anchors, reach)
    anchors = np.flatnonzero(furthest >= 0).astype(np.int64)
    return Space("start", anchors, np.maximum(nearest[anchors], anchors), furthest[anchors])


def _before(executor: Executor, node: Join, right: Segments, space: Space) -> Space:
    """Where the left side may end once the right side is known, and how early it may start."""
    starts, ends = right.pairs()
    back = starts - (node.gap if not node.between else node.between - 1)
    there = back >= executor.rows.first[starts]
    starts, ends, back = starts[there], ends[there], back[there]
    earliest = executor.rows.first[ends]
    if node.window.most is not None:
        earliest = np.maximum(earliest, ends - (node.window.most - 1))
    for time in node.window.times:
        reach = executor.rows.reach_back(time)
        if reach is not None:
            earliest = np.maximum(earliest, reach[0][ends])
    first = np.full(executor.rows.count, executor.rows.count, np.int64)
    spread_reach(back, earliest, earliest, first, np.full(executor.rows.count, -1, np.int64))
    if node.between:
        # A segment may end anywhere before: the nearest right segment decides how early it may start.
        first = np.minimum.accumulate(first[::-1])[::-1]
        anchors = np.flatnonzero(first <= np.arange(executor.rows.count)).astype(np.int64)
        anchors = anchors[executor.rows.first[anchors] <= first[anchors]]
    else:
        anchors = np.flatnonzero(first < executor.rows.count).astype(np.int64)
    low = np.maximum(first[anchors], executor.rows.first[anchors])
    result = Space("end", anchors, low, anchors)
    if space.full or space.kind != "start":
        return result
    # Starts outside of the space are of no use: drop ends that no start of the space reaches.
    here = np.searchsorted(space.anchors, result.low)
    usable = here < len(space.anchors)
    usable[usable] = space.anchors[here[usable]] <= result.anchors[usable]
    return Space("end", result.anchors[usable], space.anchors[here[usable]], result.high[usable])


def join_bands(
    executor: Executor, left: Segments, right: Segments, gap: int, wild: bool, low: Ints, high: Ints
) -> Segments:
    """Concatenation of bits: a shift and an OR for each segment of the left side."""
    second = executor.band(right)
    if wild:
        padded = np.empty_like(second)
        pad_before(second, executor.rows.stop, padded)
        second = padded
    out = np.zeros_like(second)
    executor.spend(concat_bands(executor.band(left), second, gap, out))
    out &= executor.limit_mask(low, high)
    return Segments(band=out)


def link(
    executor: Executor, kernel: Callable[..., bool], left: Segments, right: Segments, number: int, low: Ints, high: Ints
) -> Segments:
    """Run a kernel that links pairs, with more room as long as it asks for it."""
    starts, ends = left.pairs()
    if len(starts) == 0:
        return Segments.empty()
    right_starts, right_ends = right.pairs()
    begins = begins_of(right_starts, executor.rows.count)
    marks = np.zeros(band_width(int(np.diff(executor.rows.offsets).max())) + 1, np.uint64)
    room = max(4 * (len(left) + len(right)), 1 << 12)
    progress = np.zeros(3, np.int64)
    out_starts, out_ends = np.empty(room, np.int64), np.empty(room, np.int64)
    while not kernel(starts, ends, begins, right_ends, number, low, high, marks, out_starts, out_ends, progress):
        executor.spend(int(progress[2]))
        progress[2] = 0
        room = 2 * len(out_starts) + len(marks) * 64
        executor.room(room)
        out_starts = np.append(out_starts[: progress[1]], np.empty(room, np.int64))
        out_ends = np.append(out_ends[: progress[1]], np.empty(room, np.int64))
    executor.spend(int(progress[2]))
    return Segments((out_starts[: progress[1]], out_ends[: progress[1]]))


def pad(executor: Executor, node: Pad, space: Space, wanted: frozenset[str]) -> Segments:
    """The body with any segments around it."""
    below = space
    if node.before:
        below = right_of(executor.rows, space)
    if node.after:
        below = left_of(executor.rows, space) if not node.before else inside(executor.rows, space)
    body = executor.run(node.body, below, wanted)
    low, high = limits(executor.rows, space, node.window)
    if not body.bindings and node.dense:
        result = _pad_band(executor, node, body, low, high)
    else:
        starts, ends, places = pad_places(executor.rows, body, node, low, high, executor.spend)
        bindings = {name: (s[places], e[places]) for name, (s, e) in body.bindings.items()}
        result = Segments((starts, ends), bindings=bindings).distinct()
    return executor.in_space(result, node.window, space)


def _pad_band(executor: Executor, node: Pad, body: Segments, low: Ints, high: Ints) -> Segments:
    band = executor.band(body)
    if node.before:
        padded = np.empty_like(band)
        pad_before(band, executor.rows.stop, padded)
        if node.before > 1:
            single = np.zeros_like(band)
            single[:, 0] = 1
            band = np.zeros_like(band)
            concat_bands(single, padded, node.before - 1, band)
            band &= executor.limit_mask(np.arange(executor.rows.count), executor.rows.stop - 1)
        else:
            band = padded
    if node.after:
        filled = np.empty_like(band)
        fill_after(band, executor.rows.stop, node.after, filled)
        band = filled
    return Segments(band=band & executor.limit_mask(low, high))
