"""The two ways to find the preferred match that starts at a row.

`fill_ends` and `follow_ends` serve patterns whose conditions look only at a row and its neighbours. One pass backward
over a series fills the trellis: for each instruction and row, the earliest end of a match from there. One walk forward
then takes the preferred branch that can still end in time. It never turns back, so time is rows x instructions, with
or without WITHIN.

`backtrack` serves the rest: depth first in order of preference, with an explicit stack, so that a match of
millions of rows needs no recursion. A state that failed is not entered twice:

1. The automaton has no cycle that consumes nothing, so a state left without success has failed for good, unless what
   follows looks at the match so far.
2. If it does not (PURE), the state is (instruction, row), and its failure holds for every later start of the series.
3. If it does (KEYED), the state is (instruction, row, registers): the registers are all that later conditions can
   read. With WITHIN the start belongs to the state too.
4. States on the trail of a match found, or of a search that is undecided, did not fail: their marks are taken back
   (PURE) or all forgotten (KEYED).

A series may be open: more rows are to come. Then a search that asks for a row beyond those at hand, before it has
found the preferred match, is undecided: `backtrack` stops there, and `fill_unsure` finds the states of the trellis from
which that would happen. Where its window has closed, the rows at hand are all that it can ask for; but whether the last
of them is the last row of the series (`$`) stays unknown.
"""

from __future__ import annotations

import numpy as np

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import (
    Aggregates,
    Automaton,
    Bools,
    Conditions,
    Edges,
    Ints,
    Merging,
    Places,
    Program,
    Shorts,
    Slots,
    Track,
    Within,
    Work,
)
from trellis.kernels.compile import inlined, inner
from trellis.kernels.expressions import evaluate
from trellis.kernels.tracking import add_row, compute_arguments, cut_rows

__all__ = [
    "backtrack",
    "fill_ends",
    "fill_unsure",
    "fits_window",
    "follow_ends",
    "has_closed",
    "keep_trail",
    "read_trail",
    "was_entered",
]

_NEVER = np.int32(2**31 - 1)


@inner
def fill_ends(
    series: int, low: int, high: int, automaton: Automaton, conditions: Conditions, edges: Edges, ends: Shorts
) -> None:
    """For each instruction and row, the earliest row (exclusive) at which a match from there can end."""
    op, x, y = automaton.op, automaton.x, automaton.y
    head, tail = edges.first[series], edges.last[series]
    for row in range(high, low - 1, -1):
        at = row - low
        for k in range(len(automaton.backward)):
            pc = automaton.backward[k]
            kind = op[pc]
            end = _NEVER
            if kind == o.CONSUME:
                if row < high:
                    after = ends[at + 1, x[pc]]
                    if after != _NEVER:
                        variable = automaton.variable[pc]
                        if conditions.kind[variable] == o.ALWAYS or conditions.bits[conditions.bit[variable], row]:
                            end = after
            elif kind == o.SPLIT:
                end = min(ends[at, x[pc]], ends[at, y[pc]])
            elif kind == o.ACCEPT:
                end = np.int32(row)
            elif kind == o.JUMP or (kind == o.ANCHOR_START and row == head) or (kind == o.ANCHOR_END and row == tail):
                end = ends[at, x[pc]]
            ends[at, pc] = end


@inner
def fill_unsure(
    low: int,
    high: int,
    head: int,
    automaton: Automaton,
    conditions: Conditions,
    edges: Edges,
    ends: Shorts,
    closed: bool,
    base: int,
    unsure: Bools,
) -> None:
    """For each instruction and row of an open series, whether a search from there asks for rows that are not there yet.

    That is: before it finds its preferred match, or that there is none. Of the second branch of SPLIT it asks only
    where the first one leads to no match. If its window has `closed`, it takes no row to come, but conditions of rows
    that are there may still look at some. What is found stands from the row `base` on.
    """
    op, x, y = automaton.op, automaton.x, automaton.y
    for row in range(high, low - 1, -1):
        at = row - low
        for k in range(len(automaton.backward)):
            pc = automaton.backward[k]
            kind = op[pc]
            asks = False
            if kind == o.CONSUME:
                variable = automaton.variable[pc]
                if row + edges.ahead[variable] >= high:
                    asks = row < high or not closed
                elif conditions.kind[variable] == o.ALWAYS or conditions.bits[conditions.bit[variable], row]:
                    asks = unsure[base + at + 1, x[pc]]
            elif kind == o.SPLIT:
                asks = unsure[base + at, x[pc]] or (ends[at, x[pc]] == _NEVER and unsure[base + at, y[pc]])
            elif kind == o.ANCHOR_END:
                asks = row == high
            elif kind == o.JUMP or (kind == o.ANCHOR_START and row == head):
                asks = unsure[base + at, x[pc]]
            unsure[base + at, pc] = asks


@inner
def follow_ends(start: int, low: int, latest: int, automaton: Automaton, ends: Shorts, path: Shorts) -> int:
    """Walk along the preferred branches that end at `latest` or before; the end of the match, or NO_MATCH.

    `path[row - start]` becomes the instruction that consumed the row.
    """
    op, x, y = automaton.op, automaton.x, automaton.y
    if ends[start - low, 0] > latest:
        return o.NO_MATCH
    pc = 0
    row = start
    while op[pc] != o.ACCEPT:
        if op[pc] == o.SPLIT:
            pc = x[pc] if ends[row - low, x[pc]] <= latest else y[pc]
        else:
            if op[pc] == o.CONSUME:
                path[row - start] = pc
                row += 1
            pc = x[pc]
    return row


@inner
def backtrack(
    series: int,
    start: int,
    low: int,
    high: int,
    match_number: int,
    automaton: Automaton,
    conditions: Conditions,
    edges: Edges,
    program: Program,
    slots: Slots,
    places: Places,
    aggregates: Aggregates,
    merging: Merging,
    within: Within,
    track: Track,
    work: Work,
    path: Shorts,
    steps: Ints,
    status: Ints,
) -> int:
    """Search in order of preference; the end of the match, NO_MATCH, UNDECIDED, STOPPED (see `status`) or NEEDS_ROOM.

    `steps[0]` counts down to the end of the budget. The trail of the match, or of what is undecided, stays in
    `work`, its length in `steps[1]`.

    If `steps[2]` is 0 and there is no match, it becomes the number of rows of the match that timed out, and `path` gets
    their instructions. That is the first way to ask for a row when the window has no more. A state that is not entered
    again hides none: all that leads on from it was gone before, for the same start (which belongs to the state, since
    there is WITHIN), so where it leads to such a way, an earlier one was found.
    """
    op, x, y = automaton.op, automaton.x, automaton.y
    head, tail = edges.first[series], edges.last[series]
    width = len(op)
    choices = 0
    # Plain zeros are types of their own: what is called with them would be compiled twice.
    trail, pc = np.int64(0), np.int64(0)
    row = start
    if track.active:
        cut_rows(np.int64(-1), track)
    while True:
        steps[0] -= 1
        if steps[0] < 0:
            status[0] = o.OUT_OF_STEPS
            return o.STOPPED
        kind = op[pc]
        alive = False
        if kind == o.ACCEPT:
            keep_trail(trail, low, width, merging, within, work)
            steps[1] = trail
            return row
        if kind == o.JUMP or (kind == o.ANCHOR_START and row == head) or (kind == o.ANCHOR_END and row == tail):
            pc = x[pc]
            continue
        if kind == o.SPLIT or kind == o.CONSUME or kind == o.KEEP or kind == o.CHECK:
            if trail == len(work.trail_pc) or choices == len(work.choice_pc):
                keep_trail(trail, low, width, merging, within, work)
                return o.NEEDS_ROOM
            if not _failed_before(pc, row, start, low, width, kind, merging, within, track, work):
                work.trail_pc[trail] = pc
                work.trail_row[trail] = row
                trail += 1
                if kind == o.SPLIT or kind == o.KEEP:
                    work.choice_pc[choices] = y[pc]
                    work.choice_row[choices] = row
                    work.choice_trail[choices] = trail
                    choices += 1
                    pc = x[pc]
                    continue
                variable = automaton.variable[pc]
                # What is checked takes no row: it is tested where the match so far ends.
                at = row - 1 if kind == o.CHECK else row
                if (
                    tail < 0
                    and at + edges.ahead[variable] >= high
                    and (fits_window(at, start, within) if at < high else not has_closed(start, within, edges))
                ):
                    steps[1] = trail
                    return o.UNDECIDED
                if at < high and fits_window(at, start, within):
                    how = conditions.kind[variable]
                    alive = how == o.ALWAYS or (how == o.BIT and conditions.bits[conditions.bit[variable], row])
                    if track.active and at == row and (alive or how == o.PROGRAM):
                        if aggregates.computed:
                            compute_arguments(
                                variable,
                                program,
                                slots,
                                places,
                                aggregates,
                                row,
                                start,
                                low,
                                high,
                                match_number,
                                track,
                                work.stack,
                                status,
                            )
                        add_row(variable, row, start, low, slots, aggregates, track, status)
                    if how == o.PROGRAM and status[0] == o.DONE:
                        alive = evaluate(
                            conditions.begin[variable],
                            conditions.end[variable],
                            program,
                            slots,
                            places,
                            aggregates,
                            at,
                            start,
                            low,
                            high,
                            match_number,
                            track,
                            work.stack,
                            status,
                        )
                        if not alive:
                            cut_rows(row, track)
                    if status[0] != o.DONE:
                        status[1] = at
                        return o.STOPPED
                elif steps[2] == 0 and row > start and kind == o.CONSUME:
                    steps[2] = row - start
                    read_trail(start, trail - 1, automaton, work, path)
        elif kind == o.ANCHOR_END and tail < 0 and row == high:
            steps[1] = trail
            return o.UNDECIDED
        elif kind == o.FORGET:
            # The row is kept: what the split before it left open is not tried.
            choices -= 1
            pc = x[pc]
            continue
        if alive:
            if kind == o.CONSUME:
                row += 1
            pc = x[pc]
        else:
            if choices == 0:
                return o.NO_MATCH
            choices -= 1
            pc = work.choice_pc[choices]
            trail = work.choice_trail[choices]
            if track.active and work.choice_row[choices] < row:
                cut_rows(np.int64(work.choice_row[choices]), track)
            row = work.choice_row[choices]


@inlined
def read_trail(start: int, trail: int | np.int64, automaton: Automaton, work: Work, path: Shorts) -> None:
    """`path[row - start]` becomes the instruction that consumed the row."""
    for k in range(trail):
        pc = work.trail_pc[k]
        if automaton.op[pc] == o.CONSUME:
            path[work.trail_row[k] - start] = pc


@inlined
def has_closed(start: int, within: Within, edges: Edges) -> bool:
    """Whether no row to come lies in the window of a start."""
    return bool(within.active and (not within.known[start] or within.deadline[start] < edges.horizon))


@inlined
def fits_window(row: int, start: int, within: Within) -> bool:
    """Whether WITHIN allows a row in a match from a start."""
    if not within.active:
        return True
    return bool(within.known[row] and within.known[start] and within.key[row] <= within.deadline[start])


@inlined
def _failed_before(
    pc: int | np.int64,
    row: int,
    start: int,
    low: int,
    width: int,
    kind: int,
    merging: Merging,
    within: Within,
    track: Track,
    work: Work,
) -> bool:
    """Whether this state was entered before; if not, it is marked now."""
    how = merging.kind[pc]
    if how == o.NEVER:
        return False
    if how == o.PURE and not within.active:
        number = (row - low) * width + pc
        mask = np.uint8(1 << (number & 7))
        if work.failed[number >> 3] & mask:
            return True
        work.failed[number >> 3] |= mask
        return False
    # Between two splits a search cannot branch, so marks at splits alone bound it.
    if kind == o.CONSUME:
        return False
    return _remembered(pc, row, start, merging, within, track, work)


@inlined
def was_entered(
    pc: int | np.int64, row: int, start: int, merging: Merging, within: Within, track: Track, work: Work
) -> bool:
    """As `_failed_before`, for a search that looks for nothing: what every start asks is remembered by key."""
    if merging.kind[pc] == o.NEVER:
        return False
    return _remembered(pc, row, start, merging, within, track, work)


@inner
def _remembered(
    pc: int | np.int64, row: int, start: int, merging: Merging, within: Within, track: Track, work: Work
) -> bool:
    """Look the state up among the failed ones, by its whole key; put it there if it is new."""
    key = work.key
    key[0] = pc
    key[1] = row
    key[2] = start if within.active else 0
    n = 3
    for k in range(merging.begin[pc], merging.end[pc]):
        register = merging.registers[k, 0]
        number = merging.registers[k, 1]
        depth = merging.registers[k, 2]
        if register == o.MATCH_STATE:
            # The number of the match changes only when a match is found, and then all keys are forgotten.
            continue
        if register == o.AGGREGATE_STATE:
            count = track.counts[depth]
            key[n] = track.tally[number, count - 1] if count > 0 else 0
            key[n + 1] = track.whole[number, count - 1] if count > 0 else 0
            work.cell_float[0] = track.real[number, count - 1] if count > 0 else 0.0
            key[n + 2] = work.cell_int[0]
            work.cell_float[0] = track.spread[number, count - 1] if count > 0 else 0.0
            key[n + 3] = work.cell_int[0]
            # Only sums of decimals with two words have a second one.
            key[n + 4] = track.high[number, count - 1] if count > 0 and merging.wide[number] else 0
            n += 5
        elif number == o.ANY_ROW:
            # The rows of a match lie together: its start tells the first ones, its length the last ones.
            if register == o.FIRST_ROWS:
                key[n] = start
                key[n + 1] = min(row - start, depth + 1)
                n += 2
            else:
                key[n] = row - 1 - depth if row - 1 - depth >= start else -1
                n += 1
        elif register == o.FIRST_ROWS:
            for i in range(depth + 1):
                key[n] = track.rows[number, i] if i < track.counts[number] else -1
                n += 1
        else:
            count = track.counts[number]
            key[n] = track.rows[number, count - 1 - depth] if depth < count else -1
            n += 1
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for k in range(n):
        mixed = (mixed ^ np.uint64(key[k])) * np.uint64(0xD6E8FEB86659FD93)
        mixed ^= mixed >> np.uint64(32)
    size = len(work.memo_epoch)
    at = np.int64(mixed & np.uint64(size - 1))
    epoch = work.epoch[0]
    while work.memo_epoch[at] == epoch:
        same = True
        for k in range(n):
            if work.memo[at, k] != key[k]:
                same = False
                break
        if same:
            return True
        at = (at + 1) & (size - 1)
    if work.epoch[1] * 2 >= size:
        # Full: forgetting is always right, it only costs time.
        work.epoch[0] += 1
        work.epoch[1] = 0
        return False
    for k in range(n):
        work.memo[at, k] = key[k]
    work.memo_epoch[at] = epoch
    work.epoch[1] += 1
    return False


@inlined
def keep_trail(trail: int | np.int64, low: int, width: int, merging: Merging, within: Within, work: Work) -> None:
    """Take back the marks of states that did not fail: on the way to a match, to the end of the rows or of the room."""
    for k in range(trail):
        pc = work.trail_pc[k]
        if merging.kind[pc] == o.PURE and not within.active:
            number = (work.trail_row[k] - low) * width + pc
            work.failed[number >> 3] &= np.uint8(255 - (1 << (number & 7)))
    work.epoch[0] += 1
    work.epoch[1] = 0
