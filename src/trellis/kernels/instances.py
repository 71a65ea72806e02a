"""Joins of instances: the nodes of a shared tree."""

from __future__ import annotations

import numpy as np

from trellis.kernels.arrays import Ints, Shorts, Slots
from trellis.kernels.compile import inlined, kernel
from trellis.kernels.expressions import compare_floats
from trellis.kernels.instance_arrays import Instances, Join, Window
from trellis.kernels.wide import compared

__all__ = ["AT", "COUNT", "SORTED", "STEPS", "compare_values", "find_first", "join_instances", "sort_instances"]

# What a join keeps count of: the next outer instance, instances that were made, steps, whether these are in order.
AT, COUNT, STEPS, SORTED = range(4)


@inlined
def find_first(rows: Shorts, begin: int | np.int64, end: int | np.int64, least: int | np.int64) -> int | np.int64:
    """The first place from `begin` on that holds at least so much; `end` if there is none."""
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if rows[middle] < least:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def find_near(
    rows: Shorts, begin: int | np.int64, end: int | np.int64, least: int | np.int64, guess: int | np.int64
) -> np.int64:
    """As `find_first`, quick where the place is near a guess."""
    low = min(max(guess, begin), end)
    high = low
    step = np.int64(1)
    if low > begin and rows[low - 1] >= least:
        # Before the guess.
        high = low - 1
        low = begin
        while high - step > begin:
            if rows[high - step] < least:
                low = high - step + 1
                break
            high -= step
            step *= 2
    else:
        high = end
        while low + step < end:
            if rows[low + step] >= least:
                high = low + step
                break
            low += step
            step *= 2
    return np.int64(find_first(rows, low, high, least))


@inlined
def compare_values(
    slots: Slots,
    left: int | np.int32,
    left_row: int | np.int32,
    right: int | np.int32,
    right_row: int | np.int32,
    comparison: int | np.int32,
    is_float: int | np.int32 | np.bool_,
) -> bool:
    """Whether a comparison of two known values holds."""
    if not (slots.known[left, left_row] and slots.known[right, right_row]):
        return False
    if is_float:
        order = compare_floats(slots.floats[left, left_row], slots.floats[right, right_row])
    else:
        one, other = slots.ints[left, left_row], slots.ints[right, right_row]
        order = int(one > other) - int(one < other)
    return bool(compared(int(comparison), order))


@kernel
def join_instances(
    join: Join,
    window: Window,
    slots: Slots,
    outer: Instances,
    outer_count: int,
    codes: Shorts,
    inner: Instances,
    groups: Ints,
    event: Shorts,
    found: Instances,
    progress: Ints,
) -> bool:
    """Join instances until all are, or there is no room for those that the next outer one may give.

    Where inner instances are looked up by a value, group `c` of them is `groups[c]` to `groups[c + 1]`, and `codes` has
    the group of each row of the first outer slot that is compared; otherwise all are in group 0, and `codes` is empty.
    `event` has room for the events of a joined instance.
    """
    room = found.rows.shape[1]
    count = progress[COUNT]
    latest = np.int32(-1)
    if count > 0:
        latest = found.first[count - 1]
    # Outer instances are in order, so what fits one is near what fits the one before.
    begin, width = np.int64(0), np.int64(0)
    for at in range(progress[AT], outer_count):
        progress[AT] = at
        for slot in range(len(join.outer)):
            event[join.outer[slot]] = outer.rows[slot, at]
        group = 0
        if len(codes) > 0:
            group = codes[at]
            if group < 0:
                continue
        first, last = outer.first[at], outer.last[at]
        least = window.earliest[last]
        for slot in join.above:
            least = max(least, event[slot] + 1)
        most = window.until[first]
        for slot in join.below:
            most = min(most, event[slot])
        begin = find_near(inner.first, groups[group], groups[group + 1], least, begin)
        end = find_near(inner.first, begin, groups[group + 1], most, begin + width)
        width = end - begin
        if count + (end - begin) > room:
            progress[COUNT] = count
            return False
        progress[STEPS] += 1 + end - begin
        for other in range(begin, end):
            begins = min(first, inner.first[other])
            ends = max(last, inner.last[other])
            if ends >= window.until[begins]:
                continue
            for slot in range(len(join.inner)):
                event[join.inner[slot]] = inner.rows[slot, other]
            fits = True
            for pair in range(len(join.before)):
                if event[join.before[pair, 0]] >= event[join.before[pair, 1]]:
                    fits = False
                    break
            if not fits:
                continue
            for pair in range(len(join.distinct)):
                if event[join.distinct[pair, 0]] == event[join.distinct[pair, 1]]:
                    fits = False
                    break
            if not fits:
                continue
            for test in range(len(join.compared)):
                if not compare_values(
                    slots,
                    join.compared[test, 1],
                    event[join.compared[test, 0]],
                    join.compared[test, 3],
                    event[join.compared[test, 2]],
                    join.compared[test, 4],
                    join.compared[test, 5],
                ):
                    fits = False
                    break
            if not fits:
                continue
            for slot in range(len(event)):
                found.rows[slot, count] = event[slot]
            found.first[count] = begins
            found.last[count] = ends
            if begins < latest:
                progress[SORTED] = 0
            latest = begins
            count += 1
    progress[AT] = outer_count
    progress[COUNT] = count
    return True


@kernel
def sort_instances(source: Instances, count: int, keys: Shorts, places: Ints, target: Instances) -> None:
    """The instances in the order of their keys, stable; `places` has a zero for each key and one more."""
    for number in range(count):
        places[keys[number] + 1] += 1
    for key in range(1, len(places)):
        places[key] += places[key - 1]
    for number in range(count):
        place = places[keys[number]]
        places[keys[number]] += 1
        for slot in range(source.rows.shape[0]):
            target.rows[slot, place] = source.rows[slot, number]
        target.first[place] = source.first[number]
        target.last[place] = source.last[number]
