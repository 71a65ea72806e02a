"""Runs that later conditions cannot tell apart become one, with a choice of beginnings."""

from __future__ import annotations

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Ints, Slots
from trellis.kernels.compile import inlined
from trellis.kernels.event_arrays import Cells, Registers, Room, Runs, Step
from trellis.kernels.event_growth import later

__all__ = ["add_run", "new_cell"]

# So many runs are compared one by one: that is faster than to hash them.
_FEW = 8


@inlined
def _mix(key: int, value: int) -> int:
    # Without overflow, which plain Python would not know; floats differ in their upper bits.
    return ((key & 0xFFFFFFFF) * 1000003) ^ (key >> 32) ^ ((value ^ (value >> 29)) & 0x7FFFFFFFFFFF)


@inlined
def _key(state: int, words: Ints, registers: Registers, slots: Slots) -> int:
    """A number that runs share if they can be merged, and hardly any others."""
    key = state + 1
    for word in range(len(words)):
        if not registers.live[state, word]:
            continue
        row = words[word]
        if word >= 2 * registers.sets or registers.by_row[word] or row < 0:
            key = _mix(key, min(row, 1) if registers.as_known[word] else row)
            continue
        for number in range(registers.slots.shape[1]):
            slot = registers.slots[word, number]
            if slot < 0:
                break
            key = _mix(key, slots.ints[slot, row] if slots.known[slot, row] else 7)
    return key


@inlined
def _same(state: int, left: Ints, right: Ints, registers: Registers, slots: Slots) -> bool:
    """Whether conditions to come cannot tell two runs in one state apart."""
    for word in range(len(left)):
        if not registers.live[state, word] or left[word] == right[word]:
            continue
        one, other = left[word], right[word]
        if registers.as_known[word] and (one > 0) == (other > 0):
            continue
        if word >= 2 * registers.sets or registers.by_row[word] or one < 0 or other < 0:
            return False
        for number in range(registers.slots.shape[1]):
            slot = registers.slots[word, number]
            if slot < 0:
                break
            if slots.known[slot, one] != slots.known[slot, other]:
                return False
            if slots.known[slot, one] and slots.ints[slot, one] != slots.ints[slot, other]:
                return False
    return True


@inlined
def new_cell(cells: Cells, progress: Ints, row: int, part: int, left: int, right: int, latest: int) -> int:
    """Add an event, or a choice, to the graph."""
    cell = progress[o.CELLS]
    at = cell - progress[o.BASE]
    cells.row[at] = row
    cells.part[at] = part
    cells.left[at] = left
    cells.right[at] = right
    cells.latest[at] = latest
    progress[o.CELLS] += 1
    return int(cell)


@inlined
def add_run(runs: Runs, group: int, count: int, state: int, cell: int, start: int, step: Step, room: Room) -> int:
    """Add the run whose words stand at `count` already, or merge it with one that is there; how many there are then."""
    if step.automaton.merged and count > 0:
        other = _equal_run(runs, group, count, state, step, room)
        if other >= 0:
            progress = room.progress
            latest = later(runs.start[group, other], start, step)
            at = progress[o.AT_ROW]
            runs.cell[group, other] = new_cell(room.cells, progress, -1, at, runs.cell[group, other], cell, latest)
            runs.start[group, other] = latest
            progress[o.MERGED] += 1
            return count
    runs.state[group, count] = state
    runs.cell[group, count] = cell
    runs.start[group, count] = start
    return count + 1


@inlined
def _equal_run(runs: Runs, group: int, count: int, state: int, step: Step, room: Room) -> int:
    """A run that can be merged with the one that is about to be added, -1 if there is none. Many runs are hashed."""
    if count < _FEW:
        other = count - 1
        while other >= 0 and not (
            runs.state[group, other] == state
            and _same(state, runs.words[group, other], runs.words[group, count], step.registers, step.slots)
        ):
            other -= 1
        return other
    if room.progress[o.HASHED] != room.progress[o.STAMP]:
        room.progress[o.HASHED] = room.progress[o.STAMP]
        for other in range(count):
            _chain(
                runs,
                group,
                other,
                _key(runs.state[group, other], runs.words[group, other], step.registers, step.slots),
                room,
            )
    key = _key(state, runs.words[group, count], step.registers, step.slots)
    place = key & (len(room.heads) - 1)
    other = room.heads[place] if room.stamps[place] == room.progress[o.STAMP] else -1
    while other >= 0 and not (
        runs.key[group, other] == key
        and runs.state[group, other] == state
        and _same(state, runs.words[group, other], runs.words[group, count], step.registers, step.slots)
    ):
        other = runs.chain[group, other]
    if other < 0:
        _chain(runs, group, count, key, room)
    return int(other)


@inlined
def _chain(runs: Runs, group: int, run: int, key: int, room: Room) -> None:
    place, stamp = key & (len(room.heads) - 1), room.progress[o.STAMP]
    runs.key[group, run] = key
    runs.chain[group, run] = room.heads[place] if room.stamps[place] == stamp else -1
    room.heads[place] = run
    room.stamps[place] = stamp
