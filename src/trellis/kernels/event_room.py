"""Room for the search for events, which grows as the search asks for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Ints, Stack, Track
from trellis.kernels.event_arrays import Cells, EventGraphs, EventMatches, Room, Runs

__all__ = ["Sizes", "longer_runs", "more_cells", "more_runs", "new_graphs", "new_matches", "new_room", "new_runs"]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Room at first: for so many runs, cells, rows of matches; and how much is written before it is handed on.

    The number of runs is a power of two.
    """

    runs: int = 64
    cells: int = 1024
    rows: int = 1024
    full: int = 1 << 20


def new_runs(count: int, words: int) -> Runs:
    """Room for so many runs in each group."""
    state, cell, start, key, chain = (np.empty((2, count), np.int64) for _ in range(5))
    return Runs(state, cell, start, key, chain, np.empty((2, count, words), np.int64))


def longer_runs(runs: Runs) -> Runs:
    """The same runs with twice the room."""
    return Runs(*(np.concatenate([array, np.empty_like(array)], axis=1) for array in runs))


def new_room(track: Track, stack: Stack, status: Ints, longest: int, sizes: Sizes) -> Room:
    """Room for a search in series of at most `longest` events."""
    cell = np.zeros(1, np.float64)
    progress = np.zeros(o.COUNTERS, np.int64)
    progress[o.AT_ROW] = -1
    runs, cells = sizes.runs, sizes.cells
    return Room(
        track,
        stack,
        Cells(*(np.empty(cells, np.int64) for _ in range(5))),
        np.empty(runs, np.int64),
        np.empty(4 * runs, np.int64),
        np.zeros(4 * runs, np.int64),
        np.empty(longest, np.int64),
        np.empty(longest, np.int32),
        np.empty(cells, np.int64),
        np.empty(cells, np.int64),
        progress,
        cell,
        cell.view(np.int64),
        status,
    )


def more_runs(room: Room) -> Room:
    """Room for twice as many runs."""
    count = 2 * len(room.final)
    return room._replace(
        final=np.empty(count, np.int64), heads=np.empty(4 * count, np.int64), stamps=np.zeros(4 * count, np.int64)
    )


def more_cells(room: Room) -> Room:
    """Room for twice as many cells."""
    cells = Cells(*(np.concatenate([array, np.empty_like(array)]) for array in room.cells))
    todo = np.empty(len(cells.row), np.int64)
    return room._replace(cells=cells, todo_cell=todo, todo_depth=np.empty_like(todo))


def new_matches(rows: int) -> EventMatches:
    """Room for matches with so many rows together."""
    owners, begins, places, order, spare, spare_places = (np.empty(rows + 1, np.int64) for _ in range(6))
    parts, spare_parts = np.empty(rows + 1, np.int32), np.empty(rows + 1, np.int32)
    return EventMatches(owners, begins, places, parts, order, spare, spare_places, spare_parts)


def new_graphs(graphs: int, nodes: int, cells: int) -> EventGraphs:
    """Room for so many graphs with so many nodes together, made of so many cells."""
    owners, rows, high, low = (np.empty(graphs, np.int64) for _ in range(4))
    first_nodes, first_edges = np.zeros(graphs + 1, np.int64), np.zeros(graphs + 1, np.int64)
    node_row, node_part = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    source, target = np.empty(2 * nodes, np.int64), np.empty(2 * nodes, np.int64)
    number, paths_high, paths_low = (np.empty(cells, np.int64) for _ in range(3))
    return EventGraphs(
        owners,
        rows,
        high,
        low,
        first_nodes,
        node_row,
        node_part,
        first_edges,
        source,
        target,
        np.empty(cells, np.int32),
        number,
        paths_high,
        paths_low,
    )
