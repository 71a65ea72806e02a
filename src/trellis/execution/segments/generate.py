"""Segment generators: all segments of a space within a window for which conditions hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from trellis.algebra.physical_tree import Generate
from trellis.algebra.segments import Function
from trellis.execution.segments import sets
from trellis.execution.segments.conditions import SegmentTester
from trellis.execution.segments.functions import Extent, is_built
from trellis.execution.segments.scans import ConditionScan, find_scan
from trellis.execution.segments.sets import Segments
from trellis.execution.segments.spaces import Space, clip, fits, unordered
from trellis.kernels.arrays import Ints
from trellis.kernels.bands import set_bits
from trellis.kernels.pairs import fill_pairs

if TYPE_CHECKING:
    from trellis.execution.segments.executor import Executor

__all__ = ["generate", "needs_index"]

_BLOCK = 1 << 15


def generate(executor: Executor, node: Generate, space: Space) -> Segments:
    """Expand the space block by block, and keep what passes."""
    rows = executor.rows
    small = not space.full
    space = clip(rows, space, node.window)
    out_of_order = unordered(rows, node.window)
    if not node.conditions and space.kind == "start" and node.dense and not out_of_order:
        return Segments(band=executor.mask(space))
    # A band for a few rows would be nearly empty.
    band = None
    if node.dense and not small:
        executor.room(rows.count * executor.width // 2)
        band = np.zeros((rows.count, executor.width), np.uint64)
    kept: list[Extent] = []
    held = 0
    lengths = (node.window.least, node.window.most or rows.longest)
    scan = None if out_of_order or not node.conditions else find_scan(executor.conditions, node)
    conditions = node.conditions if scan is None else node.conditions[1:]
    for starts, ends in _scanned(executor, space, scan) if scan is not None else _pairs(executor, space):
        chosen = starts, ends
        if out_of_order:
            fit = fits(rows, starts, ends, node.window)
            chosen = starts[fit], ends[fit]
        if conditions:
            environment = {"": chosen, **executor.outer_extents(len(chosen[0]))}
            passed = executor.conditions.hold(conditions, environment, node.index, lengths)
            chosen = chosen[0][passed], chosen[1][passed]
        if band is not None:
            set_bits(*chosen, band)
        else:
            kept.append(chosen)
            held += len(chosen[0])
            executor.room(held)
    if band is not None:
        return Segments(band=band)
    if not kept:
        return Segments.empty()
    starts, ends = (np.concatenate(arrays) for arrays in zip(*kept, strict=True))
    if space.kind == "end":
        order = np.argsort(sets.keys_of(starts, ends))
        starts, ends = starts[order], ends[order]
    return Segments((starts, ends))


def needs_index(conditions: SegmentTester, node: Generate) -> bool:
    """Whether a generator would have to build an index over all rows first."""
    values = [value for number in node.conditions for value in conditions.conditions[number].values]
    return any(isinstance(value, Function) and not is_built(conditions.rows, value) for value in values)


def _pairs(executor: Executor, space: Space) -> list[Extent] | _Blocks:
    if space.kind == "exact":
        executor.spend(len(space))
        cuts = range(0, len(space), _BLOCK)
        return [(space.anchors[cut : cut + _BLOCK], space.low[cut : cut + _BLOCK]) for cut in cuts]
    sums = np.append(0, np.cumsum(space.high - space.low + 1)).astype(np.int64)
    executor.spend(int(sums[-1]))
    return _Blocks(space, sums)


def _scanned(executor: Executor, space: Space, scan: ConditionScan) -> Iterator[Extent]:
    """What passes a scan, for some anchors at a time."""
    sums = np.zeros(len(space) + 1, np.int64)
    np.cumsum(space.high - space.low + 1, out=sums[1:])
    total = int(sums[-1])
    executor.spend(total)
    first = 0
    while first < len(space):
        stop = max(int(np.searchsorted(sums, sums[first] + _BLOCK, side="right")) - 1, first + 1)
        room = int(sums[stop] - sums[first])
        starts, ends = np.empty(room + 1, np.int64), np.empty(room + 1, np.int64)
        part = (space.anchors[first:stop], space.low[first:stop], space.high[first:stop])
        count = scan(space.kind == "end", *part, starts, ends)
        yield starts[:count], ends[:count]
        first = stop


class _Blocks:
    """The pairs of a space of ranges, block by block."""

    def __init__(self, space: Space, sums: Ints) -> None:
        self.space, self.sums = space, sums

    def __iter__(self) -> Iterator[Extent]:
        total = int(self.sums[-1])
        for first in range(0, total, _BLOCK):
            fixed = np.empty(min(_BLOCK, total - first), np.int64)
            moving = np.empty(len(fixed), np.int64)
            fill_pairs(self.sums, self.space.anchors, self.space.low, first, fixed, moving)
            yield (moving, fixed) if self.space.kind == "end" else (fixed, moving)
