"""The nodes of a shared tree over a stretch of rows: events that fit leaves, and joins of instances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from trellis.algebra.workload_scan import JoinSpec, LeafSpec, TestSpec, WorkloadScan
from trellis.execution.workloads.tests import as_comparison
from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Ints, Shorts, Slots
from trellis.kernels.instance_arrays import Instances, Join, Window
from trellis.kernels.instances import COUNT, SORTED, STEPS, join_instances, sort_instances

__all__ = ["JoinPlan", "TooManyError", "join_plans", "new_instances"]

_LEAST_ROOM = 1024
_MOST_CELLS = 1 << 26
"""So many rows of instances are held for one node at most: a quarter of a gigabyte."""

Codes = Callable[[int, int], tuple[Shorts, Shorts, int]]
"""Of two values the code of each row by either, the same for equal ones, -1 where there is none; how many there are."""


class TooManyError(Exception):
    """There are more instances than can be held: the stretch of rows must be shorter."""


def new_instances(slots: int, room: int) -> Instances:
    """Room for instances."""
    return Instances(np.empty((slots, room), np.int32), np.empty(room, np.int32), np.empty(room, np.int32))


@dataclass(frozen=True, slots=True)
class JoinPlan:
    """A join as arrays: which node is outer, by which value inner instances are looked up, and tests that are left.

    `equation` is (outer slot, its value, inner slot, its value).
    """

    outer: int
    inner: int
    window: int
    join: Join
    equation: tuple[int, int, int, int] | None
    tests: tuple[TestSpec, ...]

    def run(
        self,
        outer: Instances,
        inner: Instances,
        window: Window,
        slots: Slots,
        codes: Codes,
        progress: Ints,
        base: int,
        rows: int,
    ) -> Instances:
        """All joined instances, in the order of their first rows, which are in `base` to `base + rows`."""
        counts = np.array([0, 0, 0, 1], np.int64)
        width = len(self.join.outer) + len(self.join.inner)
        count = outer.rows.shape[1]
        groups, of_outer = np.array([0, inner.rows.shape[1]], np.int64), np.zeros(0, np.int32)
        if self.equation is not None:
            inner, groups, of_outer = self._grouped(outer, inner, codes)
        found = new_instances(width, max(_LEAST_ROOM, 2 * count))
        event = np.zeros(width, np.int32)
        while not join_instances(self.join, window, slots, outer, count, of_outer, inner, groups, event, found, counts):
            found = _longer(found, int(counts[COUNT]), inner.rows.shape[1])
        progress[STEPS] += counts[STEPS]
        made = int(counts[COUNT])
        if not counts[SORTED]:
            ordered = new_instances(width, made)
            sort_instances(found, made, found.first[:made] - np.int32(base), np.zeros(rows + 1, np.int64), ordered)
            return ordered
        return Instances(
            np.ascontiguousarray(found.rows[:, :made]), found.first[:made].copy(), found.last[:made].copy()
        )

    def _grouped(self, outer: Instances, inner: Instances, codes: Codes) -> tuple[Instances, Ints, Shorts]:
        assert self.equation is not None
        outer_slot, outer_value, inner_slot, inner_value = self.equation
        by_outer, by_inner, count = codes(outer_value, inner_value)
        # What has no value stands behind all groups.
        keys = by_inner[inner.rows[inner_slot]]
        keys = np.where(keys < 0, count, keys).astype(np.int32)
        ordered = new_instances(len(inner.rows), inner.rows.shape[1])
        places = np.zeros(count + 2, np.int64)
        sort_instances(inner, len(keys), keys, places, ordered)
        groups = np.append(0, np.cumsum(np.bincount(keys, minlength=count + 1)))[: count + 1].astype(np.int64)
        return ordered, groups, by_outer[outer.rows[outer_slot]]


def _longer(found: Instances, count: int, needed: int) -> Instances:
    most = _MOST_CELLS // (len(found.rows) + 2)
    if count + needed > most:
        raise TooManyError
    # Up to the last step it doubles: to grow by what is needed next would copy everything again and again.
    room = min(most, max(2 * found.rows.shape[1], count + needed))
    longer = new_instances(len(found.rows), room)
    longer.rows[:, :count] = found.rows[:, :count]
    longer.first[:count], longer.last[:count] = found.first[:count], found.last[:count]
    return longer


@dataclass(slots=True)
class _Orders:
    """Which slots of each node are known to be in order."""

    pairs: list[set[tuple[int, int]]] = field(default_factory=list)
    slots: list[int] = field(default_factory=list)

    def add(self, node: LeafSpec | JoinSpec) -> None:
        if isinstance(node, LeafSpec):
            self.pairs.append(set())
            self.slots.append(1)
            return
        pairs = set(node.before)
        for inside, names in ((node.left, node.left_slots), (node.right, node.right_slots)):
            pairs |= {(names[a], names[b]) for a, b in self.pairs[inside]}
        self.pairs.append(pairs)
        self.slots.append(len(node.left_slots) + len(node.right_slots))

    def first(self, node: int) -> int | None:
        """The slot whose event is before all others."""
        for slot in range(self.slots[node]):
            if all((slot, other) in self.pairs[node] for other in range(self.slots[node]) if other != slot):
                return slot
        return None


def join_plans(plan: WorkloadScan) -> list[JoinPlan | None]:
    """How each node is joined; None for leaves."""
    orders = _Orders()
    found: list[JoinPlan | None] = []
    for node in plan.nodes:
        orders.add(node)
        found.append(_join_plan(plan, node, orders) if isinstance(node, JoinSpec) else None)
    return found


def _join_plan(plan: WorkloadScan, node: JoinSpec, orders: _Orders) -> JoinPlan:
    sides = ((node.left, node.left_slots), (node.right, node.right_slots))
    bounds = [_bounds(node, *outer, *inner, orders) for outer, inner in (sides, sides[::-1])]
    first = orders.first(len(orders.slots) - 1)
    # The node whose events bound those of the other better is the outer one; then the one that begins.
    scores = [
        (bool(above) + bool(below), first in names) for (above, below), (_, names) in zip(bounds, sides, strict=True)
    ]
    turned = scores[1] > scores[0]
    (outer, outer_slots), (inner, inner_slots) = sides[::-1] if turned else sides
    above, below = bounds[turned]
    compared: list[tuple[int, ...]] = []
    rest: list[TestSpec] = []
    equation = None
    for test in node.tests:
        comparison = as_comparison(plan, test)
        if comparison is None:
            rest.append(test)
            continue
        left, right, how, is_float = comparison
        one, other = (operand.slot for operand in test.operands)
        if how == o.EQUAL and equation is None:
            pair = ((one, left), (other, right))
            (a, x), (b, y) = pair if one in outer_slots else pair[::-1]
            equation = (outer_slots.index(a), x, inner_slots.index(b), y)
        else:
            compared.append((one, left, other, right, how, is_float))
    join = Join(
        _shorts(outer_slots),
        _shorts(inner_slots),
        _shorts(above),
        _shorts(below),
        _shorts(node.before).reshape(len(node.before), 2),
        _shorts(node.distinct).reshape(len(node.distinct), 2),
        _shorts(compared).reshape(len(compared), 6),
    )
    return JoinPlan(outer, inner, node.window, join, equation, tuple(rest))


def _bounds(
    node: JoinSpec,
    outer: int,
    outer_slots: tuple[int, ...],
    inner: int,
    inner_slots: tuple[int, ...],
    orders: _Orders,
) -> tuple[list[int], list[int]]:
    """The outer slots whose events are before the first event of an inner instance, and those behind it."""
    first = orders.first(inner)
    above = [] if first is None else [a for a, b in node.before if a in outer_slots and b == inner_slots[first]]
    below = [b for a, b in node.before if b in outer_slots and a in inner_slots]
    return sorted(set(above)), sorted(set(below))


def _shorts(values: Sequence[object]) -> Shorts:
    return np.array(values, np.int32)
