"""The instances of all nodes of a shared tree, over a stretch of rows.

One call goes through the whole tree, so that a node costs what its instances cost, and nothing by itself. Memory is the
caller's: where the pool is too small the search says how much it needs, and goes on in a larger one.
"""

from __future__ import annotations

import numpy as np

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Ints, Shorts, Slots
from trellis.kernels.compile import inlined, inner, kernel
from trellis.kernels.instance_arrays import (
    ABOVE,
    BEFORE,
    BELOW,
    COMPARED,
    DISTINCT,
    FIRST,
    INNER,
    KEY,
    LAST,
    OUTER,
    SLOTS,
    Lists,
    Nodes,
    Windows,
)
from trellis.kernels.instance_order import find_first, find_in, find_near, move_instances, sort_instances
from trellis.kernels.value_bounds import UNKNOWN, bounds_of, compare_values, rank_of

__all__ = ["FILLED", "NEEDED", "NODE", "STATES", "STEPS", "find_instances"]

# What the search keeps in its state: where it stands in the tree and in the node, how much of the pool is filled, how
# much it needs, and how many pairs of instances it has tried.
NODE, FILLED, NEEDED, STEPS, _PHASE, _AT, _START, _COUNT, _SORTED, _GROUPS, _NEAR, _WIDTH = range(12)
STATES = 12
_BEGIN, _JOIN, _SORT = range(3)


@inner
def _read_leaf(
    which: int | np.int32, lists: Lists, begin: int, reach: int, pool: Shorts, begins: Ints, node: int, state: Ints
) -> bool:
    """The instances of a leaf: its events in the stretch. Whether there was room."""
    low = find_first(lists.rows, lists.begins[which], lists.begins[which + 1], begin)
    high = find_first(lists.rows, low, lists.begins[which + 1], reach)
    filled = state[FILLED]
    if filled + high - low > len(pool):
        state[NEEDED] = filled + high - low
        return False
    for place in range(low, high):
        row = lists.rows[place]
        pool[filled, FIRST] = row
        pool[filled, LAST] = row
        pool[filled, SLOTS] = row
        filled += 1
    state[FILLED] = filled
    begins[node + 1] = filled
    return True


@inner
def _group(
    nodes: Nodes, node: int, codes: Shorts, pool: Shorts, begins: Ints, width: int, places: Ints, state: Ints
) -> bool:
    """Copy the inner instances behind all others, in the order of their codes. Whether there was room."""
    inner = nodes.inner[node]
    low, high = begins[inner], begins[inner + 1]
    filled = state[FILLED]
    if filled + 2 * (high - low) + 1 > len(pool):
        state[NEEDED] = filled + 2 * (high - low) + 1
        return False
    slot, code = SLOTS + nodes.equation[node, 2], nodes.equation[node, 3]
    count = 0
    for other in range(low, high):
        key = codes[code, pool[other, slot]]
        if key < 0:
            continue
        for cell in range(width):
            pool[filled + count, cell] = pool[other, cell]
        pool[filled + count, KEY] = key
        count += 1
    sort_instances(pool, filled, count, KEY, width, places)
    state[_GROUPS] = filled
    state[_START] = filled + count
    return True


@inlined
def _first_test(nodes: Nodes, node: int) -> int | np.int32:
    """Where the first comparison of a join stands that gives bounds; -1 if there is none."""
    for item in range(nodes.begins[node, COMPARED], nodes.begins[node, COMPARED + 1], 6):
        if nodes.items[item + 4] != o.UNEQUAL:
            return np.int32(item)
    return np.int32(-1)


@inner
def _join(
    nodes: Nodes,
    node: int,
    windows: Windows,
    slots: Slots,
    codes: Shorts,
    pool: Shorts,
    ranks: Ints,
    begins: Ints,
    event: Shorts,
    places: Ints,
    budget: int,
    state: Ints,
) -> bool:
    """The instances of a join. False if there is no room, or the budget is used up."""
    lists = nodes.begins[node]
    items = nodes.items
    outer_slots = lists[OUTER + 1] - lists[OUTER]
    inner_slots = lists[INNER + 1] - lists[INNER]
    width = SLOTS + outer_slots + inner_slots
    until, earliest = windows.until[nodes.window[node]], windows.earliest[nodes.window[node]]
    outer, inner_node = nodes.outer[node], nodes.inner[node]
    grouped = nodes.equation[node, 0] >= 0
    if state[_PHASE] == _BEGIN:
        state[_AT] = begins[outer]
        state[_START] = state[FILLED]
        state[_COUNT], state[_NEAR], state[_WIDTH] = 0, 0, 0
        state[_SORTED] = 1
        if grouped and not _group(nodes, node, codes, pool, begins, SLOTS + inner_slots, places, state):
            return False
        state[_PHASE] = _JOIN
    start, count = state[_START], state[_COUNT]
    if state[_PHASE] == _JOIN:
        low, high = begins[inner_node], begins[inner_node + 1]
        if grouped:
            low, high = state[_GROUPS], start
        # Values that are compared first: of all inner instances side by side, and of each outer one as bounds for them.
        first_test = _first_test(nodes, node)
        inner_slot, inner_value, outer_slot, outer_value = np.int32(0), np.int32(0), np.int32(0), np.int32(0)
        how, is_float, turned = np.int32(0), np.int32(0), False
        if first_test >= 0:
            how, is_float = items[first_test + 4], items[first_test + 5]
            inner_slot, inner_value = items[first_test], items[first_test + 1]
            outer_slot, outer_value = items[first_test + 2], items[first_test + 3]
            turned = True
            for item in range(lists[OUTER], lists[OUTER + 1]):
                if items[item] == inner_slot:
                    turned = False
            if not turned:
                inner_slot, inner_value, outer_slot, outer_value = outer_slot, outer_value, inner_slot, inner_value
            for slot in range(inner_slots):
                if items[lists[INNER] + slot] == inner_slot:
                    for other in range(low, high):
                        ranks[other] = rank_of(slots, inner_value, pool[other, SLOTS + slot], is_float)
        latest = np.int32(-1)
        if count > 0:
            latest = pool[start + count - 1, FIRST]
        # Outer instances are in order, so what fits one is near what fits the one before.
        near, wide = state[_NEAR], state[_WIDTH]
        for at in range(state[_AT], begins[outer + 1]):
            for slot in range(outer_slots):
                event[items[lists[OUTER] + slot]] = pool[at, SLOTS + slot]
            first, last = pool[at, FIRST], pool[at, LAST]
            least, most = earliest[last], until[first]
            for item in range(lists[ABOVE], lists[ABOVE + 1]):
                least = max(least, event[items[item]] + 1)
            for item in range(lists[BELOW], lists[BELOW + 1]):
                most = min(most, event[items[item]])
            if grouped:
                code = codes[nodes.equation[node, 1], pool[at, SLOTS + nodes.equation[node, 0]]]
                if code < 0:
                    continue
                group = find_in(pool, KEY, low, high, code)
                end = find_in(pool, KEY, group, high, code + 1)
                begin = find_in(pool, FIRST, group, end, least)
                end = find_in(pool, FIRST, begin, end, most)
            else:
                near = find_near(pool, low, high, least, near)
                begin, end = near, find_near(pool, near, high, most, near + wide)
                wide = np.int64(end - begin)
            lowest: int | np.int64 = np.int64(UNKNOWN)
            highest: int | np.int64 = np.int64(0)
            if first_test >= 0:
                rank = rank_of(slots, outer_value, event[outer_slot], is_float)
                if rank == UNKNOWN:
                    continue
                lowest, highest = bounds_of(how, rank, turned)
            if start + count + end - begin > len(pool):
                state[_AT], state[_COUNT], state[_NEAR], state[_WIDTH] = at, count, near, wide
                state[NEEDED] = start + count + end - begin
                return False
            state[STEPS] += 1 + end - begin
            if state[STEPS] > budget:
                return False
            for other in range(begin, end):
                if first_test >= 0 and (ranks[other] < lowest or ranks[other] > highest):
                    continue
                begins_at, ends_at = min(first, pool[other, FIRST]), max(last, pool[other, LAST])
                if ends_at >= until[begins_at]:
                    continue
                for slot in range(inner_slots):
                    event[items[lists[INNER] + slot]] = pool[other, SLOTS + slot]
                fits = True
                for item in range(lists[BEFORE], lists[BEFORE + 1], 2):
                    if event[items[item]] >= event[items[item + 1]]:
                        fits = False
                        break
                if not fits:
                    continue
                for item in range(lists[DISTINCT], lists[DISTINCT + 1], 2):
                    if event[items[item]] == event[items[item + 1]]:
                        fits = False
                        break
                if not fits:
                    continue
                for item in range(lists[COMPARED], lists[COMPARED + 1], 6):
                    if not compare_values(
                        slots,
                        items[item + 1],
                        event[items[item]],
                        items[item + 3],
                        event[items[item + 2]],
                        items[item + 4],
                        items[item + 5],
                    ):
                        fits = False
                        break
                if not fits:
                    continue
                place = start + count
                pool[place, FIRST] = begins_at
                pool[place, LAST] = ends_at
                for slot in range(outer_slots + inner_slots):
                    pool[place, SLOTS + slot] = event[slot]
                if begins_at < latest:
                    state[_SORTED] = 0
                latest = begins_at
                count += 1
        state[_COUNT] = count
        state[_PHASE] = _SORT
    if state[_SORTED] == 0:
        if start + 2 * count + 1 > len(pool):
            state[NEEDED] = start + 2 * count + 1
            return False
        sort_instances(pool, start, count, FIRST, width, places)
    if start != state[FILLED]:
        # Over the groups, which are not needed any more.
        move_instances(pool, start, state[FILLED], count, width)
    state[FILLED] += count
    begins[node + 1] = state[FILLED]
    return True


@kernel
def find_instances(
    nodes: Nodes,
    windows: Windows,
    slots: Slots,
    codes: Shorts,
    lists: Lists,
    begin: int,
    reach: int,
    pool: Shorts,
    ranks: Ints,
    begins: Ints,
    event: Shorts,
    places: Ints,
    budget: int,
    state: Ints,
) -> bool:
    """All instances of all nodes with events in `begin` to `reach`: those of node `n` from `begins[n]` in the pool on.

    False if there is no room, or too many steps. Otherwise `state[NODE]` is behind the last node, or behind one that is
    paused. `ranks` has room for a number for each instance, `event` for the events of one, `places` for the counters of
    a sort.
    """
    for node in range(state[NODE], len(nodes.outer)):
        if nodes.inner[node] < 0:
            if not _read_leaf(nodes.outer[node], lists, begin, reach, pool, begins, node, state):
                return False
        elif not _join(nodes, node, windows, slots, codes, pool, ranks, begins, event, places, budget, state):
            return False
        state[_PHASE] = _BEGIN
        state[NODE] = node + 1
        if nodes.paused[node]:
            break
    return True
