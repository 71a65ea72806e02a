"""Statistics of a chunk: how many segments windows hold, and for how many of a random few conditions hold."""

from __future__ import annotations

import numpy as np

from trellis.algebra.logical_tree import Leaf, walk_all
from trellis.algebra.segments import SegmentScan
from trellis.algebra.statistics import SegmentStatistics
from trellis.algebra.windows import Window
from trellis.execution.segments.conditions import SegmentTester
from trellis.execution.segments.rows import Rows
from trellis.execution.segments.spaces import Space, clip, full_space
from trellis.kernels.arrays import Ints
from trellis.kernels.pairs import fill_pairs

__all__ = ["sample_segments"]

_SAMPLES = 2048
_STARTS = 1 << 14
# Sampled segments are computed from their rows: long ones cost more, so fewer are taken.
_SAMPLED_ROWS = 200_000


def sample_segments(plan: SegmentScan, rows: Rows, conditions: SegmentTester) -> SegmentStatistics:
    """Test the conditions of all leaves on random segments within their windows."""
    random = np.random.default_rng(0)
    cells: dict[Window, float] = {}
    lengths: dict[Window, float] = {}
    samples: dict[Window, int] = {}
    hits: dict[tuple[int, Window], int] = {}
    everything, stride = _some(rows)
    clipped: dict[Window, Space] = {}
    drawn: dict[Window, tuple[Ints, Ints]] = {}
    for node in walk_all(plan.tree):
        window = node.window
        if window not in cells:
            space = clipped[window] = clip(rows, everything, window)
            counts = space.high - space.low + 1
            cells[window] = float(counts.sum()) * stride
            middle = (space.low + space.high) / 2 - space.anchors + 1
            lengths[window] = float((middle * counts).sum() / max(counts.sum(), 1))
        if not isinstance(node, Leaf) or not node.conditions:
            continue
        if window not in drawn:
            share = min(_SAMPLES, max(64, int(_SAMPLED_ROWS / max(lengths[window], 1))))
            drawn[window] = _draw(clipped[window], share, random)
            samples[window] = len(drawn[window][0])
        bounds = (window.least, window.most or rows.longest)
        for number in node.conditions:
            if (number, window) not in hits:
                held = conditions.hold((number,), {"": drawn[window]}, False, bounds)
                hits[number, window] = int.from_bytes(np.packbits(held, bitorder="little").tobytes(), "little")
    return SegmentStatistics(rows.count, len(rows.offsets) - 1, rows.longest, cells, lengths, samples, hits)


def _some(rows: Rows) -> tuple[Space, int]:
    """Every so many rows as starts: counting them all would cost as much as a quick query."""
    stride = max(rows.count // _STARTS, 1)
    space = full_space(rows)
    anchors, low, high = (np.ascontiguousarray(array[::stride]) for array in (space.anchors, space.low, space.high))
    return Space("start", anchors, low, high), stride


def _draw(space: Space, count: int, random: np.random.Generator) -> tuple[Ints, Ints]:
    """Random segments of a space, in order."""
    sums = np.append(0, np.cumsum(space.high - space.low + 1)).astype(np.int64)
    total = int(sums[-1])
    if total == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if total <= count:
        starts, ends = np.empty(total, np.int64), np.empty(total, np.int64)
        fill_pairs(sums, space.anchors, space.low, 0, starts, ends)
        return starts, ends
    numbers = np.sort(random.integers(0, total, count))
    places = np.searchsorted(sums, numbers, side="right") - 1
    return space.anchors[places], space.low[places] + (numbers - sums[places])
