"""How far partial matches come, from every row of a chunk.

A *partial match* maps rows from its start on to elements of the pattern, in an order that the pattern allows, so that
all conditions hold. An *attempt* is an element that the pattern allows behind a partial match, and the row that it
would take. It fails where there is no such row, where a part of the condition does not hold, or where the row lies
beyond the window. Of all failed attempts from a start the *nearest* is told: the fewest rows are missing to a match,
the one that it asks for included; then the fewest parts of the condition were left; then the latest row; then the
preferred way.

`sweep` serves conditions that look at rows only, without WITHIN: what can be reached from (instruction, row) follows
from what can be reached at the next row, so one pass from the last row to the first is enough. `explore` serves the
rest: depth first in order of preference, all ways, each state once for each start.

Both stop nowhere: a match that is found ends a way, not the search.
"""

from __future__ import annotations

import numpy as np

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import (
    Aggregates,
    Automaton,
    Bools,
    Bytes,
    Conditions,
    Elements,
    Ints,
    Merging,
    Places,
    Program,
    Shorts,
    Slots,
    Track,
    Within,
    Words,
    Work,
)
from trellis.kernels.compile import inlined, inner, kernel
from trellis.kernels.expressions import evaluate
from trellis.kernels.search import fits_window, was_entered
from trellis.kernels.tracking import add_row, compute_arguments, cut_rows

__all__ = ["LAST_ROW", "LEFT_BITS", "NOTHING", "NO_ROW", "ROW_BITS", "explore", "sweep"]

ROW_BITS = 39
LEFT_BITS = 8
NO_ROW = (1 << LEFT_BITS) - 1
LAST_ROW = (1 << ROW_BITS) - 1
NOTHING = 1 << 62


@inlined
def _rank(missing: int, left: int, row: int) -> int:
    """A failed attempt as a number: the nearer the smaller."""
    # Of 64 bits also where nothing is compiled: elements are of 32.
    high = np.int64(missing) << (LEFT_BITS + ROW_BITS)
    return int(high | (np.int64(min(left, NO_ROW)) << ROW_BITS) | (LAST_ROW - np.int64(row)))


@kernel
def sweep(
    offsets: Ints,
    automaton: Automaton,
    elements: Elements,
    conditions: Conditions,
    rank: Ints,
    place: Shorts,
    whole: Bools,
    marks: Words,
    ranks: Ints,
    places: Shorts,
    outcomes: Bytes,
    reached: Ints,
) -> None:
    """For each row as a start, its nearest failed attempt and whether it has a match; for each element, who reaches it.

    `rank`, `place`, `whole` and `marks` are room for two rows, `[row, instruction]`.
    """
    op, x, y = automaton.op, automaton.x, automaton.y
    words = marks.shape[2]
    for series in range(len(offsets) - 1):
        low, high = offsets[series], offsets[series + 1]
        for row in range(high, low - 1, -1):
            now, after = row & 1, (row + 1) & 1
            for k in range(len(automaton.backward)):
                pc = automaton.backward[k]
                kind = op[pc]
                # Where the state is the same as another one: that one, at this row or at the next.
                source, at = -1, now
                rank[now, pc], place[now, pc], whole[now, pc] = NOTHING, pc, False
                for word in range(words):
                    marks[now, pc, word] = 0
                if kind == o.CONSUME:
                    if row == high:
                        rank[now, pc] = _rank(elements.missing[pc], NO_ROW, row)
                    else:
                        left = _left_of_bits(automaton.variable[pc], row, elements, conditions)
                        if left == 0:
                            source, at = x[pc], after
                        else:
                            rank[now, pc] = _rank(elements.missing[pc], left, row)
                elif kind == o.SPLIT or kind == o.KEEP:
                    source = x[pc]
                    taken = x[pc]
                    keeps = (
                        kind == o.KEEP
                        and row < high
                        and _left_of_bits(automaton.variable[taken], row, elements, conditions) == 0
                    )
                    if not keeps:
                        other = y[pc]
                        if rank[now, other] < rank[now, source]:
                            source = other
                        whole[now, pc] = whole[now, taken] or whole[now, other]
                        rank[now, pc], place[now, pc] = rank[now, source], place[now, source]
                        for word in range(words):
                            marks[now, pc, word] = marks[now, taken, word] | marks[now, other, word]
                        source = -1
                elif kind == o.ACCEPT:
                    whole[now, pc] = True
                elif (kind == o.ANCHOR_START and row != low) or (kind == o.ANCHOR_END and row != high):
                    rank[now, pc] = _rank(elements.missing[pc], 1, row)
                elif kind != o.FAIL:
                    source = x[pc]
                if source >= 0:
                    rank[now, pc], place[now, pc] = rank[at, source], place[at, source]
                    whole[now, pc] = whole[at, source]
                    for word in range(words):
                        marks[now, pc, word] = marks[at, source, word]
                    if kind == o.CONSUME:
                        element = automaton.variable[pc]
                        marks[now, pc, element >> 6] |= np.uint64(1) << np.uint64(element & 63)
            if row == high:
                continue
            ranks[row], places[row] = rank[now, 0], place[now, 0]
            outcomes[row] = o.REACHES_MATCH if whole[now, 0] else o.REACHES_NONE
            for element in range(len(reached)):
                if marks[now, 0, element >> 6] >> np.uint64(element & 63) & np.uint64(1):
                    reached[element] += 1


@inlined
def _left_of_bits(element: int, row: int, elements: Elements, conditions: Conditions) -> int:
    """How many parts of the condition of an element are left where the first one does not hold; 0 if all hold."""
    begin, end = elements.begin[element], elements.end[element]
    for k in range(begin, end):
        if not conditions.bits[conditions.bit[elements.tests[k]], row]:
            return int(end - k)
    return 0


@kernel
def explore(
    offsets: Ints,
    owners: Ints,
    numbers: Ints,
    starts: Ints,
    automaton: Automaton,
    elements: Elements,
    conditions: Conditions,
    program: Program,
    slots: Slots,
    read: Places,
    aggregates: Aggregates,
    merging: Merging,
    within: Within,
    track: Track,
    work: Work,
    stamps: Ints,
    ranks: Ints,
    places: Shorts,
    outcomes: Bytes,
    reached: Ints,
    path: Shorts,
    progress: Ints,
    start_steps: int,
    status: Ints,
) -> int:
    """The same for the rows `starts`, one after the other; DONE, or NEEDS_ROOM: then it goes on with more.

    `owners` says to which series a row belongs, `numbers` which number a match from it would have. `progress` counts:
    the starts, the steps that are left for all, tests that failed with an error, and starts with a way that the window
    cut off. If `path` has room for a series, the way to the nearest attempt is written there.
    """
    writes = len(path) > 1
    while progress[0] < len(starts):
        start = starts[progress[0]]
        series = owners[start]
        if progress[1] <= 0:
            return o.DONE
        outcome = _explore_start(
            series,
            start,
            offsets[series],
            offsets[series + 1],
            numbers[start],
            automaton,
            elements,
            conditions,
            program,
            slots,
            read,
            aggregates,
            merging,
            within,
            track,
            work,
            stamps,
            ranks,
            places,
            reached,
            path,
            writes,
            progress,
            start_steps,
            status,
        )
        if outcome == o.NEEDS_ROOM:
            return outcome
        outcomes[start] = outcome
        progress[0] += 1
    return o.DONE


@inner
def _explore_start(
    series: int,
    start: int,
    low: int,
    high: int,
    number: int,
    automaton: Automaton,
    elements: Elements,
    conditions: Conditions,
    program: Program,
    slots: Slots,
    read: Places,
    aggregates: Aggregates,
    merging: Merging,
    within: Within,
    track: Track,
    work: Work,
    stamps: Ints,
    ranks: Ints,
    places: Shorts,
    reached: Ints,
    path: Shorts,
    writes: bool,
    progress: Ints,
    start_steps: int,
    status: Ints,
) -> int:
    op, x, y = automaton.op, automaton.x, automaton.y
    best, best_pc = NOTHING, np.int64(0)
    found, cut = False, False
    steps = np.int64(0)
    choices = 0
    trail, pc = np.int64(0), np.int64(0)
    row = start
    # What was entered from another start says nothing about this one.
    work.epoch[0] += 1
    work.epoch[1] = 0
    if track.active:
        cut_rows(np.int64(-1), track)
    outcome = o.REACHES_NONE
    while True:
        steps += 1
        if steps > start_steps:
            outcome = o.REACHES_UNKNOWN
            break
        kind = op[pc]
        alive = False
        if kind == o.ACCEPT:
            found = True
        elif kind == o.JUMP or (kind == o.ANCHOR_START and row == low) or (kind == o.ANCHOR_END and row == high):
            pc = x[pc]
            continue
        elif kind == o.FORGET:
            # The row is kept: what the split before it left open is not tried.
            choices -= 1
            pc = x[pc]
            continue
        elif kind == o.SPLIT or kind == o.KEEP:
            if choices == len(work.choice_pc) or trail + 1 >= len(work.trail_pc):
                return o.NEEDS_ROOM
            if not was_entered(pc, row, start, merging, within, track, work):
                work.choice_pc[choices] = y[pc]
                work.choice_row[choices] = row
                work.choice_trail[choices] = trail
                choices += 1
                pc = x[pc]
                continue
        elif kind == o.CONSUME or kind == o.CHECK:
            if trail + 1 >= len(work.trail_pc):
                return o.NEEDS_ROOM
            # What is checked takes no row: it is tested where the match so far ends.
            at = max(start, row - 1) if kind == o.CHECK else row
            rank = _rank(elements.missing[pc], NO_ROW, row)
            if at < high:
                element = automaton.variable[pc]
                left = _left(
                    element,
                    at,
                    row,
                    start,
                    low,
                    high,
                    number,
                    elements,
                    conditions,
                    program,
                    slots,
                    read,
                    aggregates,
                    track,
                    work,
                    progress,
                    status,
                )
                inside = fits_window(at, start, within)
                rank = _rank(elements.missing[pc], left, row)
                if left == 0 and inside:
                    alive = True
                    work.trail_pc[trail] = pc
                    work.trail_row[trail] = row
                    trail += 1
                    if stamps[element] != start:
                        stamps[element] = start
                        reached[element] += 1
                else:
                    cut = cut or left == 0
                    if track.active and at == row:
                        cut_rows(row, track)
            if not alive and rank < best:
                best, best_pc = rank, pc
                if writes:
                    _write_path(start, trail, automaton, work, path)
        elif kind != o.FAIL:
            rank = _rank(elements.missing[pc], 1, row)
            if rank < best:
                best, best_pc = rank, pc
                if writes:
                    _write_path(start, trail, automaton, work, path)
        if alive:
            if kind == o.CONSUME:
                row += 1
            pc = x[pc]
            continue
        if choices == 0:
            break
        choices -= 1
        pc = work.choice_pc[choices]
        trail = work.choice_trail[choices]
        if track.active and work.choice_row[choices] < row:
            cut_rows(np.int64(work.choice_row[choices]), track)
        row = work.choice_row[choices]
    progress[1] -= steps
    ranks[start], places[start] = best, best_pc
    if found:
        return o.REACHES_MATCH
    if cut:
        progress[3] += 1
    return outcome


@inner
def _left(
    element: int,
    at: int,
    row: int,
    start: int,
    low: int,
    high: int,
    number: int,
    elements: Elements,
    conditions: Conditions,
    program: Program,
    slots: Slots,
    read: Places,
    aggregates: Aggregates,
    track: Track,
    work: Work,
    progress: Ints,
    status: Ints,
) -> int:
    """How many parts of the condition are left where the first one does not hold; 0 if all do.

    The row belongs to the match then, and also where a part that looks at the match does not hold. A part that fails
    with an error does not hold: the query itself need not come by here.
    """
    begin, end = elements.begin[element], elements.end[element]
    mapped = not track.active or at != row
    variable = elements.variable[element]
    for k in range(begin, end + 1):
        is_program = k < end and conditions.kind[elements.tests[k]] == o.PROGRAM
        if not mapped and (k == end or is_program):
            mapped = True
            if aggregates.computed:
                compute_arguments(
                    variable,
                    program,
                    slots,
                    read,
                    aggregates,
                    row,
                    start,
                    low,
                    high,
                    number,
                    track,
                    work.stack,
                    status,
                )
            add_row(variable, row, start, low, slots, aggregates, track, status)
        if k == end:
            break
        test = elements.tests[k]
        if is_program:
            holds = False
            if status[0] == o.DONE:
                holds = evaluate(
                    conditions.begin[test],
                    conditions.end[test],
                    program,
                    slots,
                    read,
                    aggregates,
                    at,
                    start,
                    low,
                    high,
                    number,
                    track,
                    work.stack,
                    status,
                )
        else:
            holds = conditions.bits[conditions.bit[test], at]
        if status[0] != o.DONE:
            status[0] = o.DONE
            progress[2] += 1
            holds = False
        if not holds:
            return int(end - k)
    if status[0] != o.DONE:
        status[0] = o.DONE
        progress[2] += 1
        return 1
    return 0


@inlined
def _write_path(start: int, trail: int | np.int64, automaton: Automaton, work: Work, path: Shorts) -> None:
    """`path[row - start]` becomes the element of each row of the way."""
    for k in range(len(path)):
        path[k] = -1
    for k in range(trail):
        pc = work.trail_pc[k]
        if automaton.op[pc] == o.CONSUME:
            path[work.trail_row[k] - start] = automaton.variable[pc]
