"""Room for kernels to work in. Allocated here, since what allocates is slow to compile."""

from __future__ import annotations

import numpy as np

from trellis.kernels.arrays import Bools, Matches, Stack, Track, Work
from trellis.kernels.decimals import LIMBS

__all__ = ["in_order", "longer_paths", "more_room", "new_matches", "new_track", "new_work"]

# How many failed states are remembered by key at most; beyond that the memory is better spent on rows.
_MEMO_LIMIT = 1 << 20


def new_track(
    member: Bools, aggregates: int, longest: int, active: bool, *, looks_back: bool = False, wide: bool = False
) -> Track:
    """Empty stacks for matches of up to `longest` rows.

    `looks_back`: an aggregate compares with all values before; `wide`: one is of numbers of two words.
    """
    rows = longest if active else 0
    sets = len(member)
    distinct = np.empty((aggregates, rows if looks_back else 0), np.int64)
    return Track(
        active,
        member,
        np.empty((sets, rows), np.int32),
        np.zeros(sets, np.int64),
        np.empty(rows, np.int32),
        np.empty((aggregates, rows), np.int64),
        np.empty((aggregates, rows), np.int64),
        np.empty((aggregates, rows if wide else 0), np.int64),
        np.empty((aggregates, rows), np.float64),
        np.empty((aggregates, rows), np.float64),
        distinct,
        np.empty_like(distinct),
        distinct.view(np.float64),
        np.zeros(aggregates, np.int64),
        np.zeros(aggregates, np.int64),
        np.zeros(aggregates, np.float64),
        np.zeros(aggregates, np.bool_),
    )


def new_work(longest: int, width: int, key: int, depth: int, by_table: bool, keyed: bool, wide: bool = False) -> Work:
    """Room for a search in a series of up to `longest` rows by an automaton of `width` instructions.

    `key` is the length of the key of a state, `depth` that of the interpreter's stack; `keyed` says whether there are
    states with keys at all, `wide` whether the interpreter meets numbers of two words.
    """
    room = 1 if by_table else 1024
    marks = 1 if by_table else ((longest + 1) * width >> 3) + 1
    memo = 16
    while keyed and not by_table and memo < min(_MEMO_LIMIT, longest * width * 4):
        memo *= 2
    cell = np.zeros(1, np.float64)
    return Work(
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(2 * room, np.int32),
        np.empty(2 * room, np.int32),
        np.zeros(marks, np.uint8),
        np.zeros((memo, key), np.int64),
        np.zeros(memo, np.int64),
        np.array([1, 0], np.int64),
        np.zeros(key, np.int64),
        cell,
        cell.view(np.int64),
        Stack(
            np.zeros(depth, np.int64),
            np.zeros(depth, np.float64),
            np.zeros(depth, np.bool_),
            np.zeros(depth, np.int64),
            np.zeros((4, LIMBS), np.int64) if wide else None,
            np.zeros(2, np.int64),
        ),
    )


def more_room(work: Work) -> Work:
    """The same work with twice the room for choices. The search starts again; its failed states are still known."""
    room = 2 * len(work.choice_pc)
    return work._replace(
        choice_pc=np.empty(room, np.int32),
        choice_row=np.empty(room, np.int32),
        choice_trail=np.empty(room, np.int32),
        trail_pc=np.empty(2 * room, np.int32),
        trail_row=np.empty(2 * room, np.int32),
    )


def new_matches(rows: int) -> Matches:
    """Room for the matches of a chunk."""
    return Matches(
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.empty(rows, np.int32),
        np.array([0, -1, 0, 0, 1, 0, 0, -1], np.int64),
    )


def in_order(matches: Matches) -> Matches:
    """The matches by series and first row; searches that begin at several rows find them in another order."""
    count = int(matches.progress[2])
    order = np.argsort(matches.starts[:count], kind="stable")
    if np.array_equal(order, np.arange(count)):
        return matches
    lengths = matches.stops[:count] - matches.starts[:count]
    begins = np.cumsum(lengths) - lengths
    moved = lengths[order]
    rows = np.arange(int(moved.sum())) - np.repeat(np.cumsum(moved) - moved, moved) + np.repeat(begins[order], moved)
    return matches._replace(
        starts=matches.starts[:count][order],
        stops=matches.stops[:count][order],
        owners=matches.owners[:count][order],
        following=matches.following[:count][order],
        paths=matches.paths[rows],
    )


def longer_paths(matches: Matches) -> Matches:
    """The same matches with twice the room for their rows."""
    return matches._replace(paths=np.append(matches.paths, np.empty_like(matches.paths)))
