"""Which kernel tests a condition over a whole search space, if one does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from trellis.algebra.physical_tree import Generate
from trellis.algebra.segments import Threshold
from trellis.execution.segments.conditions import SegmentTester
from trellis.execution.segments.functions import MOMENTS, column_pair, moment_index
from trellis.execution.segments.rows import Rows
from trellis.kernels import scans
from trellis.kernels.arrays import Ints

__all__ = ["ConditionScan", "find_scan"]

ConditionScan = Callable[[bool, Ints, Ints, Ints, Ints, Ints], int]
"""`scan(by_end, anchors, low, high, starts, ends)` writes the segments that pass, and says how many these are."""

_STEPS = {
    ("-", False): scans.LAST_LESS_FIRST,
    ("-", True): scans.FIRST_LESS_LAST,
    ("/", False): scans.LAST_BY_FIRST,
    ("/", True): scans.FIRST_BY_LAST,
}


def find_scan(conditions: SegmentTester, node: Generate) -> ConditionScan | None:
    """The scan of the first condition of a generator."""
    threshold = conditions.conditions[node.conditions[0]].threshold
    rows = conditions.rows
    if threshold is None or any(not _is_plain(rows, slot) for slot in threshold.slots):
        return None
    if threshold.step == "row":
        return _scan_rows(rows, threshold) if node.window.most == 1 else None
    if threshold.step in ("-", "/"):
        return None if rows.whole[threshold.slots[0]] else _scan_steps(rows, threshold)
    if threshold.step in MOMENTS and node.index:
        return _scan_moments(rows, threshold)
    return None


def _is_plain(rows: Rows, slot: int) -> bool:
    """Whether a slot holds only finite numbers and NULLs: NaN compares in a way of its own."""
    if rows.whole[slot]:
        return True
    return rows.once(("plain?", slot), lambda: bool(np.isfinite(rows.slots.floats[slot][rows.slots.known[slot]]).all()))


def _scan_rows(rows: Rows, threshold: Threshold) -> ConditionScan:
    """Segments of one row, by a truth value of that row."""
    true = (rows.slots.ints[threshold.slots[0]] != 0) & rows.slots.known[threshold.slots[0]]

    def scan(by_end: bool, anchors: Ints, low: Ints, high: Ints, starts: Ints, ends: Ints) -> int:
        found = anchors[true[anchors] & (low <= anchors) & (anchors <= high)]
        starts[: len(found)] = ends[: len(found)] = found
        return len(found)

    return scan


def _scan_steps(rows: Rows, threshold: Threshold) -> ConditionScan:
    kind = _STEPS[threshold.step, threshold.turned]
    x, known = rows.slots.floats[threshold.slots[0]], rows.slots.known[threshold.slots[0]]

    def scan(by_end: bool, anchors: Ints, low: Ints, high: Ints, starts: Ints, ends: Ints) -> int:
        return scans.scan_steps(
            kind, threshold.comparison, threshold.bound, x, known, by_end, anchors, low, high, starts, ends
        )

    return scan


def _scan_moments(rows: Rows, threshold: Threshold) -> ConditionScan:
    x, y, known = column_pair(rows, threshold.step, threshold.slots)
    index = moment_index(rows, threshold.step, threshold.slots)

    def scan(by_end: bool, anchors: Ints, low: Ints, high: Ints, starts: Ints, ends: Ints) -> int:
        return scans.scan_moments(
            MOMENTS[threshold.step],
            threshold.comparison,
            threshold.bound,
            x,
            y,
            known,
            index.blocks,
            index.base,
            index.sums,
            index.runs_x,
            index.runs_y,
            by_end,
            anchors,
            low,
            high,
            starts,
            ends,
        )

    return scan
