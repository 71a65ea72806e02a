"""The matches that an event completes, without listing them: how many there are, and their graph.

Cells that come later in the graph have larger numbers, so one pass down finds what leads to the event, one pass up
counts the ways, and a third one, down again, leaves out what only ways led to that are no matches.
"""

from __future__ import annotations

from trellis.kernels import opcodes as o
from trellis.kernels.compile import inlined, inner
from trellis.kernels.decimals import SUM_OVERFLOWED, sum_words
from trellis.kernels.event_arrays import EventGraphs, Room, Step
from trellis.kernels.event_growth import is_open, later, reaches, wait_for
from trellis.kernels.event_matches import blocks

__all__ = ["write_graph"]

# What is known of a cell.
_UNSEEN, _REACHED, _ALIVE, _KEPT = range(4)


@inner
def write_graph(
    series: int, row: int, low: int, high: int, step: Step, room: Room, graphs: EventGraphs, budget: int
) -> int:
    """Write down how many matches end at `row`, and their graph if it is wanted; 1, 0 if there are none.

    -1 (and nothing is written) if there is no room; UNDECIDED (and nothing) if rows to come may tell that there are
    fewer.
    """
    progress, cells = room.progress, room.cells
    base, finals = progress[o.BASE], progress[o.FINALS]
    number = progress[o.MATCHES]
    if number + 1 >= len(graphs.owners) or progress[o.CELLS] - base > len(graphs.state):
        return -1
    bottom = top = room.final[0] - base
    for k in range(finals):
        top = max(top, room.final[k] - base)
    for at in range(top + 1):
        graphs.state[at] = _UNSEEN
    for k in range(finals):
        graphs.state[room.final[k] - base] = _REACHED
    for at in range(top, -1, -1):
        if graphs.state[at] == _REACHED:
            bottom = at
            # What is gone, or was begun too early, leads to nothing.
            if not is_open(cells.latest[at], row, step):
                graphs.state[at] = _UNSEEN
                continue
            _mark(cells.left[at] - base, _UNSEEN, _REACHED, graphs)
            if cells.row[at] < 0:
                _mark(cells.right[at] - base, _UNSEEN, _REACHED, graphs)
    progress[o.STEPS] += top - bottom
    if progress[o.STEPS] > budget:
        room.status[0] = o.OUT_OF_STEPS
        return 0
    for at in range(bottom, top + 1):
        if graphs.state[at] == _REACHED:
            _count(at, row, low, high, step, room, graphs)
    paths_high, paths_low = 0, 0
    ends = 0
    for k in range(finals):
        at = room.final[k] - base
        if graphs.state[at] == _ALIVE:
            ends += 1
            paths_high, paths_low = _sum(paths_high, paths_low, graphs.paths_high[at], graphs.paths_low[at])
    if ends == 0:
        return 0
    if step.growth.waits[series] and _has_to_wait(series, high, bottom, top, step, room, graphs):
        return o.UNDECIDED
    if step.automaton.wanted == o.GRAPHS and not _write_nodes(bottom, top, ends, step, room, graphs):
        progress[o.STEPS] -= top - bottom
        return -1
    graphs.owners[number] = series
    graphs.rows[number] = row
    graphs.high[number], graphs.low[number] = paths_high, paths_low
    graphs.nodes[number + 1] = progress[o.NODES]
    graphs.edges[number + 1] = progress[o.EDGES]
    progress[o.MATCHES] += 1
    return 1


@inlined
def _mark(at: int, before: int, after: int, graphs: EventGraphs) -> None:
    if at >= 0 and graphs.state[at] == before:
        graphs.state[at] = after


@inlined
def _sum(left_high: int, left_low: int, right_high: int, right_low: int) -> tuple[int, int]:
    """The sum of two numbers of ways; SUM_OVERFLOWED if it has more than 38 digits."""
    if left_high == SUM_OVERFLOWED or right_high == SUM_OVERFLOWED:
        return SUM_OVERFLOWED, 0
    high, low, fits = sum_words(left_high, left_low, right_high, right_low)
    return (high, low) if fits else (SUM_OVERFLOWED, 0)


@inlined
def _count(at: int, row: int, low: int, high: int, step: Step, room: Room, graphs: EventGraphs) -> None:
    """Count the ways to a cell; it is alive if there are any."""
    cells, base = room.cells, room.progress[o.BASE]
    paths_high, paths_low = 0, 0
    alive = False
    left = cells.left[at] - base
    if cells.row[at] >= 0 and cells.left[at] < 0:
        alive = _may_begin(cells.row[at], row, low, high, step)
        paths_low = 1
    elif cells.row[at] < 0:
        for side in range(2):
            child = left if side == 0 else cells.right[at] - base
            if child >= 0 and graphs.state[child] == _ALIVE:
                alive = True
                paths_high, paths_low = _sum(paths_high, paths_low, graphs.paths_high[child], graphs.paths_low[child])
    elif _is_guarded(at, step, room):
        todo, child = _next_before(_push(left, 0, room), at, step, room, graphs)
        while child >= 0:
            alive = True
            paths_high, paths_low = _sum(paths_high, paths_low, graphs.paths_high[child], graphs.paths_low[child])
            todo, child = _next_before(todo, at, step, room, graphs)
    elif left >= 0 and graphs.state[left] == _ALIVE:
        alive = True
        paths_high, paths_low = graphs.paths_high[left], graphs.paths_low[left]
    if alive:
        graphs.state[at] = _ALIVE
        graphs.paths_high[at], graphs.paths_low[at] = paths_high, paths_low


@inner
def _has_to_wait(series: int, high: int, bottom: int, top: int, step: Step, room: Room, graphs: EventGraphs) -> bool:
    """Whether a match of what is alive is undecided: what must be absent after it may still come.

    `number` is meanwhile, of the rows at which such matches of a cell begin, the one whose window ends last.
    """
    cells, base = room.cells, room.progress[o.BASE]
    for at in range(bottom, top + 1):
        if graphs.state[at] != _ALIVE:
            continue
        row, left, last = cells.row[at], cells.left[at] - base, -1
        if row >= 0 and cells.left[at] < 0:
            last = row if reaches(row, high, step.growth.horizon[series], step) else -1
        elif row >= 0 and _is_guarded(at, step, room):
            todo, child = _next_before(_push(left, 0, room), at, step, room, graphs)
            while child >= 0:
                last = later(last, graphs.number[child], step)
                todo, child = _next_before(todo, at, step, room, graphs)
        else:
            last = _waiting(left, graphs)
            if row < 0:
                last = later(last, _waiting(cells.right[at] - base, graphs), step)
        graphs.number[at] = last
    last = -1
    for k in range(room.progress[o.FINALS]):
        last = later(last, _waiting(room.final[k] - base, graphs), step)
    if last >= 0:
        wait_for(last, series, step)
    return last >= 0


@inlined
def _waiting(at: int, graphs: EventGraphs) -> int:
    return int(graphs.number[at]) if at >= 0 and graphs.state[at] == _ALIVE else -1


@inlined
def _push(at: int, todo: int, room: Room) -> int:
    if at >= 0:
        room.todo_cell[todo] = at
        return todo + 1
    return todo


@inlined
def _next_before(todo: int, at: int, step: Step, room: Room, graphs: EventGraphs) -> tuple[int, int]:
    """One more event that may stand before that of a cell, -1 if there is none; choices are looked through."""
    cells, base = room.cells, room.progress[o.BASE]
    while todo > 0:
        todo -= 1
        child = room.todo_cell[todo]
        if graphs.state[child] < _ALIVE:
            continue
        if cells.row[child] < 0:
            todo = _push(cells.right[child] - base, _push(cells.left[child] - base, todo, room), room)
        elif _may_follow(child, at, step, room):
            return todo, int(child)
    return 0, -1


@inlined
def _may_begin(first: int, last: int, low: int, high: int, step: Step) -> bool:
    """Whether nothing that must be absent before the first event, or after the last one, stands there."""
    for number in range(len(step.absences.after)):
        after = step.absences.after[number]
        if after < 0 and blocks(number, low, first, first, last, step):
            return False
        if after == len(step.automaton.repeated) - 1 and blocks(number, last + 1, high, first, last, step):
            return False
    return True


@inlined
def _is_guarded(at: int, step: Step, room: Room) -> bool:
    """Whether something must be absent before the event of a cell, if it is the first one of its component."""
    part, guarded = room.cells.part[at], False
    for number in range(len(step.absences.after)):
        guarded = guarded or (part > 0 and step.absences.after[number] == part - 1)
    return guarded


@inlined
def _may_follow(before: int, at: int, step: Step, room: Room) -> bool:
    """Whether nothing that must be absent stands between the events of two cells."""
    cells = room.cells
    if cells.part[before] == cells.part[at]:
        return True
    for number in range(len(step.absences.after)):
        if step.absences.after[number] == cells.part[before] and blocks(
            number, cells.row[before] + 1, cells.row[at], 0, 0, step
        ):
            return False
    return True


@inner
def _write_nodes(bottom: int, top: int, ends: int, step: Step, room: Room, graphs: EventGraphs) -> bool:
    """Write the graph of what is alive; False if there is no room."""
    progress, cells = room.progress, room.cells
    base, finals = progress[o.BASE], progress[o.FINALS]
    first_node, first_edge = progress[o.NODES], progress[o.EDGES]
    for k in range(finals):
        _mark(room.final[k] - base, _ALIVE, _KEPT, graphs)
    for at in range(top, bottom - 1, -1):
        if graphs.state[at] != _KEPT:
            continue
        if cells.row[at] >= 0 and _is_guarded(at, step, room):
            todo, child = _next_before(_push(cells.left[at] - base, 0, room), at, step, room, graphs)
            while child >= 0:
                graphs.state[child] = _KEPT
                todo, child = _next_before(todo, at, step, room, graphs)
        else:
            _mark(cells.left[at] - base, _ALIVE, _KEPT, graphs)
            if cells.row[at] < 0:
                _mark(cells.right[at] - base, _ALIVE, _KEPT, graphs)
    for at in range(bottom, top + 1):
        if graphs.state[at] == _KEPT and not _write_node(at, first_node, step, room, graphs):
            progress[o.NODES], progress[o.EDGES] = first_node, first_edge
            return False
    if ends > 1:
        node = progress[o.NODES] - first_node
        if progress[o.NODES] >= len(graphs.node_row) or progress[o.EDGES] + ends > len(graphs.source):
            progress[o.NODES], progress[o.EDGES] = first_node, first_edge
            return False
        graphs.node_row[progress[o.NODES]] = graphs.node_part[progress[o.NODES]] = -1
        progress[o.NODES] += 1
        for k in range(finals):
            if graphs.state[room.final[k] - base] == _KEPT:
                _write_edge(graphs.number[room.final[k] - base], node, room, graphs)
    return True


@inlined
def _write_node(at: int, first_node: int, step: Step, room: Room, graphs: EventGraphs) -> bool:
    """Write a cell as a node, with the edges that lead to it; a choice of one thing is that thing."""
    progress, cells = room.progress, room.cells
    base = progress[o.BASE]
    left, right = cells.left[at] - base, -1
    if cells.row[at] < 0:
        right = cells.right[at] - base
        has_left = left >= 0 and graphs.state[left] == _KEPT
        has_right = right >= 0 and graphs.state[right] == _KEPT
        if not (has_left and has_right):
            graphs.number[at] = graphs.number[left if has_left else right]
            return True
    if progress[o.NODES] >= len(graphs.node_row) or progress[o.EDGES] + 2 > len(graphs.source):
        return False
    node = progress[o.NODES] - first_node
    graphs.node_row[progress[o.NODES]] = cells.row[at]
    graphs.node_part[progress[o.NODES]] = cells.part[at] if cells.row[at] >= 0 else -1
    graphs.number[at] = node
    progress[o.NODES] += 1
    if cells.row[at] >= 0 and cells.left[at] < 0:
        return True
    if cells.row[at] >= 0 and _is_guarded(at, step, room):
        todo, child = _next_before(_push(left, 0, room), at, step, room, graphs)
        while child >= 0:
            if progress[o.EDGES] >= len(graphs.source):
                return False
            _write_edge(graphs.number[child], node, room, graphs)
            todo, child = _next_before(todo, at, step, room, graphs)
        return True
    _write_edge(graphs.number[left], node, room, graphs)
    if right >= 0:
        _write_edge(graphs.number[right], node, room, graphs)
    return True


@inlined
def _write_edge(source: int, target: int, room: Room, graphs: EventGraphs) -> None:
    at = room.progress[o.EDGES]
    graphs.source[at] = source
    graphs.target[at] = target
    room.progress[o.EDGES] += 1
