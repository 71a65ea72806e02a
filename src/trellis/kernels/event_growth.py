"""Series of events that still grow: which matches have to wait, and which rows matches to come need."""

from __future__ import annotations

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Ints
from trellis.kernels.compile import inlined, inner
from trellis.kernels.event_arrays import EventMatches, Room, Runs, Step

__all__ = ["have_to_wait", "is_open", "later", "note_rest", "reaches", "wait_for"]

# A time that no row to come lies behind.
_NEVER = 2**63 - 1


@inlined
def is_open(first: int, row: int, step: Step) -> bool:
    """Whether an event is in the window of another that comes before it."""
    within = step.within
    if step.most_events > 0 and row - first >= step.most_events:
        return False
    if not within.active:
        return True
    return bool(within.known[first] and within.known[row] and within.key[row] <= within.deadline[first])


@inlined
def reaches(first: int, row: int, time: int, step: Step) -> bool:
    """Whether an event at a row or later, and at a time or later, may be in the window of an event."""
    within = step.within
    if step.most_events > 0 and row - first >= step.most_events:
        return False
    return bool(not within.active or (within.known[first] and within.deadline[first] >= time))


@inlined
def later(one: int, other: int, step: Step) -> int:
    """That of two rows whose window ends later; of months, or where the clock changes, it may be the earlier row.

    -1 is no row.
    """
    if one < 0 or other < 0:
        return max(one, other)
    if step.within.active and step.within.deadline[one] != step.within.deadline[other]:
        return one if step.within.deadline[one] > step.within.deadline[other] else other
    return max(one, other)


@inlined
def wait_for(first: int, series: int, step: Step) -> None:
    """Note that nothing more is decided before the window of an event has closed."""
    step.growth.due[series] = step.within.deadline[first] if step.within.active else _NEVER


@inlined
def have_to_wait(series: int, high: int, before: int, given: int, step: Step, matches: EventMatches) -> bool:
    """Whether one of the matches that end at an event is undecided: what must be absent may still come.

    They are in order. Of those that do not overlap only the first one counts, since it rules out the others.
    """
    growth = step.growth
    if not growth.waits[series]:
        return False
    last = -1
    for k in range(before, before + (min(given, 1) if step.automaton.one_by_one else given)):
        first = matches.rows[matches.begins[k]]
        if reaches(first, high, growth.horizon[series], step):
            last = later(last, first, step)
    if last >= 0:
        wait_for(last, series, step)
    return last >= 0


@inner
def note_rest(series: int, low: int, row: int, undecided: bool, step: Step, runs: Runs, room: Room) -> None:
    """Note what is needed of a series for matches that end at `row` or later. An `undecided` one ends there."""
    growth, progress, cells, within = step.growth, room.progress, room.cells, step.within
    time = within.key[row] if undecided and within.active else growth.horizon[series]
    start, last = row, -1
    _mark_begun(undecided, runs, room)
    base, marks = progress[o.BASE], room.todo_depth
    # Whatever stands before a cell has a smaller number.
    for at in range(progress[o.CELLS] - base - 1, -1, -1):
        if marks[at] == 0:
            continue
        if cells.row[at] < 0:
            _mark(cells.right[at] - base, marks)
        if cells.row[at] < 0 or cells.left[at] >= 0:
            _mark(cells.left[at] - base, marks)
        elif reaches(cells.row[at], row, time, step):
            start = min(start, cells.row[at])
            last = later(last, cells.row[at], step)
    first = start
    absences = step.absences
    for number in range(len(absences.after)):
        if absences.after[number] >= 0:
            continue
        for other in range(low, row):
            if absences.before[number, other + 1] == absences.before[number, other]:
                continue
            if reaches(other, row, time, step):
                first = min(first, other)
                last = later(last, other, step)
            elif step.automaton.timeouts and other < start < row and is_open(other, start, step):
                # What times out may have no event that is later than this window.
                first = min(first, other)
    growth.ends[series], growth.starts[series], growth.firsts[series] = row, start, first
    # All of the rest is settled at once, when the last window has closed: not each time that one does. But what times
    # out is told then.
    if not undecided and last >= 0:
        wait_for(start if step.automaton.timeouts and start < row else last, series, step)


@inlined
def _mark_begun(undecided: bool, runs: Runs, room: Room) -> None:
    """Mark the cells of all runs, and of what the current event completes if that is undecided."""
    progress, marks = room.progress, room.todo_depth
    base = progress[o.BASE]
    for at in range(progress[o.CELLS] - base):
        marks[at] = 0
    for k in range(progress[o.RUNS]):
        _mark(runs.cell[progress[o.TURN], k] - base, marks)
    if undecided:
        for k in range(progress[o.FINALS]):
            _mark(room.final[k] - base, marks)


@inlined
def _mark(at: int, marks: Ints) -> None:
    # What is gone began too early.
    if at >= 0:
        marks[at] = 1
