"""All matches of a chunk: every series, every start, AFTER MATCH SKIP."""

from __future__ import annotations

import numpy as np

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import (
    Aggregates,
    Automaton,
    Bools,
    Conditions,
    Ints,
    Merging,
    Places,
    Program,
    Shorts,
    Slots,
    Track,
    Window,
    Work,
)
from trellis.kernels.compile import inlined, kernel
from trellis.kernels.search import backtrack, fill_ends, follow_ends

__all__ = ["find_matches", "new_track", "new_work"]

# A key of a failed state is kept at most this often; beyond that the memory is better spent on rows.
_MEMO_LIMIT = 1 << 20


@kernel
def find_matches(
    offsets: Ints,
    automaton: Automaton,
    conditions: Conditions,
    program: Program,
    slots: Slots,
    places: Places,
    aggregates: Aggregates,
    merging: Merging,
    window: Window,
    member: Bools,
    tracked: bool,
    by_table: bool,
    skip: int,
    skip_to: Bools,
    budget: int,
    depth: int,
    status: Ints,
) -> tuple[Ints, Ints, Ints, Shorts]:
    """The matches of all series in order: start, end (exclusive), series, and the instruction of each of their rows.

    `status` is (kind, row, series, steps) and tells why the search stopped early, if it did.
    """
    longest = 0
    for k in range(len(offsets) - 1):
        longest = max(longest, offsets[k + 1] - offsets[k])
    width = len(automaton.op)
    track = new_track(member, len(aggregates.kind), longest, tracked)
    work = new_work(1024, longest, width, merging.width, depth, by_table)
    ends = np.empty((longest + 1 if by_table else 1, width), np.int32)
    path = np.empty(max(longest, 1), np.int32)
    starts = np.empty(256, np.int64)
    stops = np.empty(256, np.int64)
    owners = np.empty(256, np.int64)
    found = 0
    paths = np.empty(1024, np.int32)
    used = 0
    steps = np.zeros(2, np.int64)
    for series in range(len(offsets) - 1):
        low, high = offsets[series], offsets[series + 1]
        if by_table:
            fill_ends(low, high, automaton, conditions, ends)
        else:
            work.failed[: ((high - low + 1) * width >> 3) + 1] = 0
        match_number = 1
        steps[0] = budget
        latest = low
        start = low
        while start < high:
            if by_table:
                if not window.active:
                    end = follow_ends(start, low, high, automaton, ends, path)
                else:
                    latest = _latest(start, latest, high, window)
                    end = follow_ends(start, low, latest, automaton, ends, path)
            else:
                end = backtrack(
                    start,
                    low,
                    high,
                    match_number,
                    automaton,
                    conditions,
                    program,
                    slots,
                    places,
                    aggregates,
                    merging,
                    window,
                    track,
                    work,
                    steps,
                    status,
                )
                if end == o.NEEDS_ROOM:
                    work = _more_room(work)
                    continue
                if end >= 0:
                    _read_trail(start, steps[1], automaton, work, path)
            if end == o.STOPPED:
                status[1] = max(status[1], start)
                status[2] = series
                return starts[:found], stops[:found], owners[:found], paths[:used]
            if end == o.NO_MATCH:
                start += 1
                continue
            if found == len(starts):
                starts, stops, owners = _longer(starts), _longer(stops), _longer(owners)
            starts[found] = start
            stops[found] = end
            owners[found] = series
            found += 1
            while used + end - start > len(paths):
                paths = _longer_paths(paths)
            paths[used : used + end - start] = path[: end - start]
            used += end - start
            match_number += 1
            following = _next_start(start, end, skip, skip_to, automaton, path)
            if following < 0:
                status[0] = o.SKIP_MISSING if following == -1 else o.SKIP_TO_START
                status[1] = start
                status[2] = series
                return starts[:found], stops[:found], owners[:found], paths[:used]
            start = following
    return starts[:found], stops[:found], owners[:found], paths[:used]


@inlined
def _next_start(start: int, end: int, skip: int, skip_to: Bools, automaton: Automaton, path: Shorts) -> int:
    """Where the search goes on; -1 if the match has no row to skip to, -2 if that row is its first."""
    if skip == o.SKIP_NEXT:
        return start + 1
    if skip == o.SKIP_PAST_LAST:
        return max(end, start + 1)
    for k in range(end - start):
        at = k if skip == o.SKIP_FIRST else end - start - 1 - k
        if skip_to[automaton.variable[path[at]]]:
            return start + at if at > 0 else -2
    return -1


@inlined
def _latest(start: int, latest: int, high: int, window: Window) -> int:
    """The end of the rows that lie within the window from `start`; it only moves on, since rows are in order.

    A start whose key is unknown has no rows: nothing is known to lie within.
    """
    if not window.known[start]:
        return start
    latest = max(latest, start)
    while latest < high and window.known[latest] and window.key[latest] <= window.deadline[start]:
        latest += 1
    return latest


@inlined
def _read_trail(start: int, trail: int, automaton: Automaton, work: Work, path: Shorts) -> None:
    for k in range(trail):
        pc = work.trail_pc[k]
        if automaton.op[pc] == o.CONSUME:
            path[work.trail_row[k] - start] = pc


@kernel
def _longer(array: Ints) -> Ints:
    longer = np.empty(2 * len(array), np.int64)
    longer[: len(array)] = array
    return longer


@kernel
def _longer_paths(array: Shorts) -> Shorts:
    longer = np.empty(2 * len(array), np.int32)
    longer[: len(array)] = array
    return longer


@kernel
def new_track(member: Bools, aggregates: int, longest: int, active: bool) -> Track:
    """Empty stacks for matches of up to `longest` rows."""
    rows = longest if active else 0
    sets = len(member)
    return Track(
        active,
        member,
        np.empty((sets, rows), np.int32),
        np.zeros(sets, np.int64),
        np.empty(rows, np.int32),
        np.empty((aggregates, rows), np.int64),
        np.empty((aggregates, rows), np.int64),
        np.empty((aggregates, rows), np.float64),
        np.empty((aggregates, rows), np.float64),
    )


@kernel
def new_work(room: int, longest: int, width: int, key: int, depth: int, by_table: bool) -> Work:
    """Room for `room` choices; `key` is the length of the key of a state, `depth` that of the interpreter's stack."""
    marks = 1 if by_table else ((longest + 1) * width >> 3) + 1
    memo = 16
    if not by_table and key > 0:
        while memo < _MEMO_LIMIT and memo < longest * width * 4:
            memo *= 2
    cell = np.zeros(1, np.float64)
    epoch = np.zeros(2, np.int64)
    epoch[0] = 1
    return Work(
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(2 * room, np.int32),
        np.empty(2 * room, np.int32),
        np.zeros(marks, np.uint8),
        np.zeros((memo, max(key, 1)), np.int64),
        np.zeros(memo, np.int64),
        epoch,
        np.zeros(max(key, 1), np.int64),
        cell,
        cell.view(np.int64),
        np.zeros(depth, np.int64),
        np.zeros(depth, np.float64),
        np.zeros(depth, np.bool_),
    )


@kernel
def _more_room(work: Work) -> Work:
    """The same work with twice the room for choices; the search starts again, its failed states are still known."""
    room = 2 * len(work.choice_pc)
    return Work(
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(2 * room, np.int32),
        np.empty(2 * room, np.int32),
        work.failed,
        work.memo,
        work.memo_epoch,
        work.epoch,
        work.key,
        work.cell_float,
        work.cell_int,
        work.vi,
        work.vf,
        work.vk,
    )
