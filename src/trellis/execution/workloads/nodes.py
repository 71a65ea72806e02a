"""The nodes of a shared tree as arrays, and room for their instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from trellis.algebra.workload_scan import JoinSpec, LeafSpec, TestSpec, WorkloadScan
from trellis.execution.workloads.tests import as_comparison
from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Ints, Shorts
from trellis.kernels.instance_arrays import LISTS, SLOTS, Nodes

__all__ = ["NodePlan", "Pool", "TooManyError", "plan_nodes"]

_LEAST_ROOM = 1 << 14
_MOST_CELLS = 1 << 28
"""So much room instances have at most: a gigabyte."""
_KEPT_CELLS = 1 << 25
_SPARE = 4


class TooManyError(Exception):
    """There are more instances than can be held: the stretch of rows must be shorter."""


class Pool:
    """Room for the instances of all nodes; see `kernels.instance_arrays`. It is kept from one stretch to the next.

    `ranks` are for what is compared of instances.
    """

    def __init__(self, slots: int) -> None:
        self._make(_LEAST_ROOM, SLOTS + slots)

    def _make(self, room: int, width: int) -> None:
        self.rows: Shorts = np.empty((room, width), np.int32)
        self.ranks: Ints = np.empty(room, np.int64)

    def grow(self, needed: int) -> None:
        """Make room for so many instances, and keep those that are there."""
        before, width = self.rows, self.rows.shape[1]
        most = _MOST_CELLS // (width + 2)
        if needed > most:
            raise TooManyError
        # Up to the last step it doubles: to grow by what is needed next would copy everything again and again.
        self._make(min(most, max(2 * len(before), needed)), width)
        self.rows[: len(before)] = before

    def shrink(self, used: int) -> None:
        """Give back what few chunks need, when one has used much less: those that follow are probably alike."""
        if self.rows.size > _KEPT_CELLS and _SPARE * used < len(self.rows):
            self._make(_LEAST_ROOM, self.rows.shape[1])


@dataclass(frozen=True, slots=True)
class NodePlan:
    """The nodes of a plan; pair `k` of `pairs` are the values whose codes are in the rows `2 * k` and `2 * k + 1`.

    Of each node, `slots` are how many it has, `tests` those that are more than comparisons.
    """

    nodes: Nodes
    slots: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    tests: tuple[tuple[TestSpec, ...], ...]


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


def plan_nodes(plan: WorkloadScan, leaves: Mapping[LeafSpec, int]) -> NodePlan:
    """The nodes of a plan as arrays; `leaves` has the number of the list of each leaf."""
    orders = _Orders()
    pairs: dict[tuple[int, int], int] = {}
    joins = []
    for node in plan.nodes:
        orders.add(node)
        joins.append(_join(plan, node, orders, pairs) if isinstance(node, JoinSpec) else _leaf(leaves[node]))
    items: list[int] = []
    begins = []
    for join in joins:
        here = []
        for one in join.lists:
            here.append(len(items))
            items += one
        begins.append([*here, len(items)])
    nodes = Nodes(
        _shorts([join.outer for join in joins]),
        _shorts([join.inner for join in joins]),
        _shorts([join.window for join in joins]),
        _shorts([join.equation for join in joins]).reshape(len(joins), 4),
        np.array([bool(join.tests) for join in joins], np.bool_),
        _shorts(begins).reshape(len(joins), LISTS + 1),
        _shorts(items),
    )
    return NodePlan(nodes, tuple(orders.slots), tuple(pairs), tuple(join.tests for join in joins))


@dataclass(frozen=True, slots=True)
class _Join:
    """A node of `Nodes`."""

    outer: int
    inner: int
    window: int
    equation: tuple[int, int, int, int] = (-1, -1, -1, -1)
    lists: tuple[Sequence[int], ...] = ((),) * LISTS
    tests: tuple[TestSpec, ...] = ()


def _leaf(number: int) -> _Join:
    return _Join(number, -1, 0)


def _join(plan: WorkloadScan, node: JoinSpec, orders: _Orders, pairs: dict[tuple[int, int], int]) -> _Join:
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
    compared: list[int] = []
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
            code = 2 * pairs.setdefault((x, y), len(pairs))
            equation = (outer_slots.index(a), code, inner_slots.index(b), code + 1)
        else:
            compared += (one, left, other, right, how, is_float)
    return _Join(
        outer,
        inner,
        node.window,
        equation or (-1, -1, -1, -1),
        (
            outer_slots,
            inner_slots,
            above,
            below,
            [slot for pair in node.before for slot in pair],
            [slot for pair in node.distinct for slot in pair],
            compared,
        ),
        tuple(rest),
    )


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
