"""From instances to matches: the rest of repeated parts, conditions on them, and what must be absent."""

from __future__ import annotations

import numpy as np

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Bools, Ints, Shorts
from trellis.kernels.compile import inner, kernel
from trellis.kernels.expressions import evaluate
from trellis.kernels.instance_arrays import FIRST, LAST, SLOTS, Finish, Lists, Matched, Reading, Tests, Window
from trellis.kernels.instance_order import find_first
from trellis.kernels.tracking import add_row
from trellis.kernels.value_bounds import compare_values

__all__ = ["AT", "COUNT", "EACH_ROLE", "STEPS", "USED", "finish_matches"]

# What is counted: the next instance, matches, steps, and the rows of all matches.
AT, COUNT, STEPS, USED = range(4)

# Roles of operands; see `algebra.workload_scan.Role`.
_EVENT, _LAST, _CURRENT, _PREVIOUS, EACH_ROLE, _EARLIER, _ALL, _ABSENT = range(8)


@inner
def _holds(
    test: int,
    tests: Tests,
    reading: Reading,
    event: Shorts,
    set_of: Shorts,
    members: Shorts,
    sizes: Ints,
    only: int,
    absent: int,
    each: Ints,
    status: Ints,
) -> bool:
    """Whether a test holds: for each i, and for each member that it speaks of.

    If `only` is a number, i is this place alone.
    """
    begin, end = tests.first[test], tests.first[test + 1]
    low, high = 0, 1
    for operand in range(begin, end):
        role = tests.role[operand]
        each[operand - begin] = 0
        if role in (_CURRENT, _PREVIOUS, _EARLIER):
            low, high = 1, sizes[set_of[tests.slot[operand]]]
            if only > 0:
                low, high = only, only + 1
    for place in range(low, high):
        while True:
            left_row, right_row = np.int32(-1), np.int32(-1)
            if tests.is_program[test]:
                for number in range(len(reading.track.counts)):
                    reading.track.counts[number] = 0
            for operand in range(begin, end):
                role = tests.role[operand]
                slot = tests.slot[operand]
                row = np.int32(absent)
                if role == _EVENT:
                    row = event[slot]
                elif role == _LAST:
                    row = members[set_of[slot], sizes[set_of[slot]] - 1]
                elif role == _CURRENT:
                    row = members[set_of[slot], place]
                elif role == _PREVIOUS:
                    row = members[set_of[slot], place - 1]
                elif role == EACH_ROLE:
                    row = members[set_of[slot], each[operand - begin]]
                elif role in (_EARLIER, _ALL):
                    count = place if role == _EARLIER else sizes[set_of[slot]]
                    for member in range(count):
                        add_row(
                            tests.variable[operand],
                            members[set_of[slot], member],
                            0,
                            0,
                            reading.slots,
                            reading.aggregates,
                            reading.track,
                            status,
                        )
                    continue
                if tests.is_program[test]:
                    number = tests.set[operand]
                    if number >= 0:
                        reading.track.rows[number, 0] = row
                        reading.track.counts[number] = 1
                elif operand == begin:
                    left_row = row
                else:
                    right_row = row
            if status[0] != o.DONE:
                return False
            if tests.is_program[test]:
                fits = evaluate(
                    tests.begin[test],
                    tests.end[test],
                    reading.program,
                    reading.slots,
                    reading.places,
                    reading.aggregates,
                    0,
                    0,
                    0,
                    reading.slots.known.shape[1],
                    np.int64(0),
                    reading.track,
                    reading.stack,
                    status,
                )
            else:
                fits = compare_values(
                    reading.slots,
                    tests.value[begin],
                    left_row,
                    tests.value[begin + 1],
                    right_row,
                    tests.comparison[test],
                    tests.is_float[test],
                )
            if not fits:
                return False
            # The next choice of members.
            operand = begin
            while operand < end:
                if tests.role[operand] == EACH_ROLE:
                    each[operand - begin] += 1
                    if each[operand - begin] < sizes[set_of[tests.slot[operand]]]:
                        break
                    each[operand - begin] = 0
                operand += 1
            if operand == end:
                break
    return True


@inner
def _is_taken(row: int | np.int32, event: Shorts, set_of: Shorts, members: Shorts, sizes: Ints, sets: int) -> bool:
    """Whether a row is one of the single events, or in one of the first sets."""
    for slot in range(len(event)):
        if set_of[slot] < 0 and event[slot] == row:
            return True
    for number in range(sets):
        for member in range(sizes[number]):
            if members[number, member] == row:
                return True
    return False


@inner
def _is_absent(
    finish: Finish,
    lists: Lists,
    tests: Tests,
    reading: Reading,
    window: Window,
    event: Shorts,
    members: Shorts,
    sizes: Ints,
    first: int | np.int32,
    last: int | np.int32,
    each: Ints,
    progress: Ints,
    status: Ints,
) -> bool:
    """Whether nothing is there that must be absent."""
    sets = len(finish.set_slots)
    for number in range(len(finish.absent_lists)):
        least, most = window.earliest[last], window.until[first]
        for place in range(finish.after.shape[1]):
            slot = finish.after[number, place]
            if slot >= 0:
                inside = finish.set_of[slot]
                least = max(least, (event[slot] if inside < 0 else members[inside, sizes[inside] - 1]) + 1)
        for place in range(finish.before.shape[1]):
            slot = finish.before[number, place]
            if slot >= 0:
                most = min(most, event[slot])
        which = finish.absent_lists[number]
        low, high = lists.begins[which], lists.begins[which + 1]
        at = find_first(lists.rows, low, high, least)
        while at < high and lists.rows[at] < most:
            row = lists.rows[at]
            at += 1
            progress[STEPS] += 1
            if row < first and window.until[row] <= last:
                continue
            if _is_taken(row, event, finish.set_of, members, sizes, sets):
                continue
            there = True
            for test in range(finish.absent_tests[number], finish.absent_tests[number + 1]):
                there = _holds(test, tests, reading, event, finish.set_of, members, sizes, 0, row, each, status)
                if not there:
                    break
            if status[0] != o.DONE:
                status[1] = row
                return False
            if there:
                return False
    return True


@kernel
def finish_matches(
    pool: Shorts,
    end: int,
    stop: int,
    startable: Bools,
    finish: Finish,
    lists: Lists,
    tests: Tests,
    reading: Reading,
    window: Window,
    event: Shorts,
    members: Shorts,
    places: Ints,
    sizes: Ints,
    each: Ints,
    found: Matched,
    progress: Ints,
    budget: int,
    status: Ints,
) -> bool:
    """Write the matches of instances, until all before `end` are done, or there is no room for those of the next one.

    Matches begin before the row `stop`, and where `startable`, if that is not empty. `places` has the next candidate
    for each member of each set.
    """
    sets = len(finish.set_slots)
    slots = len(event)
    for at in range(progress[AT], end):
        progress[AT] = at
        matches, used = progress[COUNT], progress[USED]
        first, last = pool[at, FIRST], pool[at, LAST]
        limit = window.until[first]
        progress[STEPS] += 1
        if first >= stop or last >= limit or (len(startable) > 0 and not startable[first]):
            continue
        for slot in range(slots):
            event[slot] = pool[at, SLOTS + slot]
        level = 0
        entering = True
        while level >= 0:
            if level < sets and entering:
                # A set begins with its first event.
                sizes[level] = 1
                members[level, 0] = event[finish.set_slots[level]]
                which = finish.set_lists[level]
                places[level, 0] = find_first(
                    lists.rows,
                    lists.begins[which],
                    lists.begins[which + 1],
                    members[level, 0] + 1,
                )
                level += 1
                continue
            if level == sets:
                # All sets are chosen.
                progress[STEPS] += 1
                if progress[STEPS] > budget:
                    status[0] = o.OUT_OF_STEPS
                    status[1] = first
                    return True
                fits = True
                for test in range(finish.set_tests[sets], finish.whole_tests):
                    fits = _holds(test, tests, reading, event, finish.set_of, members, sizes, 0, -1, each, status)
                    if not fits:
                        break
                if status[0] != o.DONE:
                    status[1] = first
                    return True
                ends = last
                length = slots - sets
                for number in range(sets):
                    length += sizes[number]
                    ends = max(ends, members[number, sizes[number] - 1])
                if fits and len(finish.absent_lists) > 0:
                    fits = _is_absent(
                        finish,
                        lists,
                        tests,
                        reading,
                        window,
                        event,
                        members,
                        sizes,
                        first,
                        ends,
                        each,
                        progress,
                        status,
                    )
                    if status[0] != o.DONE:
                        return True
                if fits:
                    if matches + 1 >= len(found.begins) or used + length > len(found.rows):
                        return False
                    used = _write(finish, event, members, sizes, found, used)
                    found.source[matches] = at
                    matches += 1
                    found.begins[matches] = used
                entering = False
                level -= 1
                continue
            # The next event for this set; if there is none, its last one is given up.
            bound = limit
            for place in range(finish.bounds.shape[1]):
                if finish.bounds[level, place] >= 0:
                    bound = min(bound, event[finish.bounds[level, place]])
            behind = lists.begins[finish.set_lists[level] + 1]
            size = sizes[level]
            candidate = places[level, size - 1]
            added = False
            while candidate < behind and lists.rows[candidate] < bound:
                row = lists.rows[candidate]
                candidate += 1
                progress[STEPS] += 1
                if progress[STEPS] > budget:
                    status[0] = o.OUT_OF_STEPS
                    status[1] = first
                    return True
                taken = _is_taken(row, event, finish.set_of, members, sizes, level)
                for later in range(level + 1, sets):
                    # Its first event belongs to a set that is not chosen yet.
                    taken = taken or event[finish.set_slots[later]] == row
                if taken:
                    continue
                members[level, size] = row
                fits = True
                for test in range(finish.set_tests[level], finish.set_tests[level + 1]):
                    fits = _holds(test, tests, reading, event, finish.set_of, members, sizes, size, -1, each, status)
                    if not fits:
                        break
                if status[0] != o.DONE:
                    status[1] = row
                    return True
                if fits:
                    added = True
                    break
            places[level, size - 1] = candidate
            if added:
                places[level, size] = candidate
                sizes[level] = size + 1
                entering = True
                level += 1
            else:
                sizes[level] = size - 1
                entering = False
                if sizes[level] == 0:
                    level -= 1
        progress[COUNT], progress[USED] = matches, used
    progress[AT] = end
    return True


@inner
def _write(finish: Finish, event: Shorts, members: Shorts, sizes: Ints, found: Matched, used: int) -> int:
    """Write the rows of a match in order, with their labels."""
    begin = used
    for slot in range(len(event)):
        number = finish.set_of[slot]
        for member in range(1 if number < 0 else sizes[number]):
            row = event[slot] if number < 0 else members[number, member]
            place = used
            while place > begin and found.rows[place - 1] > row:
                found.rows[place] = found.rows[place - 1]
                found.labels[place] = found.labels[place - 1]
                place -= 1
            found.rows[place] = row
            found.labels[place] = finish.labels[slot]
            used += 1
    return used
