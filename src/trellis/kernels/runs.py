"""The search for events: all runs take one step with each event.

A run that can go on in several ways splits. Runs in the same state whose conditions to come read the same values go
the same ways from then on, so they become one, with a choice of beginnings. Matches are written down when an event
completes them, by walking back through the graph.
"""

from __future__ import annotations

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Ints, Slots
from trellis.kernels.compile import inlined, inner, kernel, spliced
from trellis.kernels.event_arrays import Cells, EventMatches, Registers, Room, Runs, Step
from trellis.kernels.event_matches import holds, is_open, write_matches
from trellis.kernels.tracking import add_row

__all__ = ["find_events", "find_events_alone"]


@inlined
def _load(is_run: bool, words: Ints, step: Step, room: Room) -> None:
    """What a run remembers, as conditions read it: of each set the first and the last row."""
    registers, aggregates, track = step.registers, step.aggregates, room.track
    cell, bits = room.float_cell, room.int_cell
    for number in range(registers.sets):
        first = words[2 * number] if is_run else -1
        track.counts[number] = 0
        if first >= 0:
            track.rows[number, 0] = first
            track.rows[number, 1] = words[2 * number + 1]
            track.counts[number] = 2
    at = 2 * registers.sets
    for number in range(registers.aggregates):
        if track.counts[aggregates.sets[number]] > 0:
            track.tally[number, 1] = words[at]
            track.whole[number, 1] = words[at + 1]
            if aggregates.kind[number] >= o.SUM_WIDE:
                track.high[number, 1] = words[at + 2]
            bits[0] = words[at + 3]
            track.real[number, 1] = cell[0]
            bits[0] = words[at + 4]
            track.spread[number, 1] = cell[0]
        at += o.AGGREGATE_WORDS


@inlined
def _store(words: Ints, step: Step, room: Room) -> None:
    registers, aggregates, track = step.registers, step.aggregates, room.track
    cell, bits = room.float_cell, room.int_cell
    for number in range(registers.sets):
        count = track.counts[number]
        words[2 * number] = track.rows[number, 0] if count > 0 else -1
        words[2 * number + 1] = track.rows[number, count - 1] if count > 0 else -1
    at = 2 * registers.sets
    for number in range(registers.aggregates):
        last = track.counts[aggregates.sets[number]] - 1
        for word in range(o.AGGREGATE_WORDS):
            words[at + word] = 0
        if last >= 0:
            words[at] = track.tally[number, last]
            words[at + 1] = track.whole[number, last]
            if aggregates.kind[number] >= o.SUM_WIDE:
                words[at + 2] = track.high[number, last]
            cell[0] = track.real[number, last]
            words[at + 3] = bits[0]
            cell[0] = track.spread[number, last]
            words[at + 4] = bits[0] if registers.reads_spread[number] else 0
        at += o.AGGREGATE_WORDS


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
            key = _mix(key, row)
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
def _new_cell(cells: Cells, progress: Ints, row: int, part: int, left: int, right: int, latest: int) -> int:
    cell = progress[o.CELLS]
    at = cell - progress[o.BASE]
    cells.row[at] = row
    cells.part[at] = part
    cells.left[at] = left
    cells.right[at] = right
    cells.latest[at] = latest
    progress[o.CELLS] += 1
    return int(cell)


@inner
def _add_run(runs: Runs, count: int, state: int, cell: int, start: int, step: Step, room: Room) -> int:
    """Add the run whose words stand at `count` already, or merge it with one that is there; how many there are then."""
    words, progress = runs.words[count], room.progress
    if step.automaton.merged:
        key = _key(state, words, step.registers, step.slots)
        runs.key[count] = key
        for other in range(count):
            if (
                runs.key[other] == key
                and runs.state[other] == state
                and _same(state, runs.words[other], words, step.registers, step.slots)
            ):
                latest = max(runs.start[other], start)
                at = progress[o.AT_ROW]
                runs.cell[other] = _new_cell(room.cells, progress, -1, at, runs.cell[other], cell, latest)
                runs.start[other] = latest
                progress[o.MERGED] += 1
                return count
    runs.state[count] = state
    runs.cell[count] = cell
    runs.start[count] = start
    return count + 1


@spliced
def _advance(row: int, low: int, high: int, runs: Runs, count: int, after: Runs, step: Step, room: Room) -> int:
    """One step of all runs with an event: the runs `after` it, how many there are; what it completes is in `final`.

    The last one is no run yet: the event may begin a match. (A run that is searched alone has begun already.)
    """
    automaton, progress, track = step.automaton, room.progress, room.track
    parts = len(automaton.repeated)
    found = 0
    progress[o.FINALS] = 0
    for k in range(count + (0 if automaton.alone and count > 0 else 1)):
        start, state, cell = row, 0, -1
        if k < count:
            start, state, cell = runs.start[k], runs.state[k], runs.cell[k]
            if not is_open(start, row, step):
                continue
        part = state >> 1
        inside = (state & 1) == 1
        began = part + 1 if inside else part
        goes_on, begins = False, False
        loaded = False
        # One place in the code for all tests: the interpreter is large, and every call of it is compiled.
        for test in range(3):
            if test == o.TAKE:
                wanted, bit, number = inside, automaton.take_bit[part], automaton.take_program[part]
            elif test == o.BEGIN:
                wanted, at = began < parts, min(began, parts - 1)
                bit, number = automaton.begin_bit[at], automaton.begin_program[at]
            else:
                wanted, bit, number = inside and begins, -1, automaton.proceed_program[part]
            if not wanted:
                continue
            passed = bit < 0 or step.conditions.bits[bit, row]
            if passed and number >= 0:
                if not loaded:
                    loaded = True
                    _load(k < count, runs.words[k], step, room)
                passed = holds(number, row, low, high, step, room)
            if test == o.TAKE:
                goes_on = passed
            else:
                begins = passed
        skips = automaton.selection == o.SKIP_ANY or (
            automaton.selection == o.SKIP_NEXT_MATCH and not (goes_on if inside else begins)
        )
        # The run that passes over the event, the one that goes on in its component, and the one that begins the next.
        for way in range(3):
            if way == 0:
                if not skips or k == count:
                    continue
                for word in range(runs.words.shape[1]):
                    after.words[found, word] = runs.words[k, word]
                grown, grown_cell = state, cell
            else:
                if not (goes_on if way == 1 else begins):
                    continue
                taken = part if way == 1 else began
                grown_cell = _new_cell(room.cells, progress, row, taken, cell, -1, start)
                _load(k < count, runs.words[k], step, room)
                add_row(taken, row, low, low, step.slots, step.aggregates, track, room.status)
                repeated = automaton.repeated[taken]
                if taken == parts - 1:
                    number = automaton.proceed_program[taken]
                    if number < 0 or holds(number, row, low, high, step, room):
                        room.final[progress[o.FINALS]] = grown_cell
                        progress[o.FINALS] += 1
                    if not repeated:
                        continue
                grown = 2 * taken + 1 if repeated else 2 * (taken + 1)
                _store(after.words[found], step, room)
            found = _add_run(after, found, grown, grown_cell, start, step, room)
    return found


@inner
def _forget_cells(row: int, step: Step, room: Room) -> int:
    """Move the cells down over those that no match to come can contain; how many there are left."""
    cells, progress = room.cells, room.progress
    used = progress[o.CELLS] - progress[o.BASE]
    first = 0
    while first < used and (cells.row[first] if cells.row[first] >= 0 else cells.part[first]) < progress[o.OPEN]:
        first += 1
    if first * 2 < used:
        return int(used)
    for at in range(first, used):
        cells.row[at - first] = cells.row[at]
        cells.part[at - first] = cells.part[at]
        cells.left[at - first] = cells.left[at]
        cells.right[at - first] = cells.right[at]
        cells.latest[at - first] = cells.latest[at]
    progress[o.BASE] += first
    return int(used - first)


@kernel
def find_events(
    offsets: Ints, step: Step, one: Runs, other: Runs, room: Room, matches: EventMatches, budget: int, full: int
) -> int:
    """Search series after series, from where `room.progress` says; FINISHED, or what the search needs to go on.

    FULL asks to take away the matches that were written.
    """
    progress = room.progress
    while progress[o.AT_SERIES] < len(offsets) - 1:
        low, high = offsets[progress[o.AT_SERIES]], offsets[progress[o.AT_SERIES] + 1]
        if progress[o.AT_ROW] < 0:
            progress[o.AT_ROW] = low
            progress[o.OPEN] = low
            progress[o.RUNS] = 0
            progress[o.CELLS] = 0
            progress[o.BASE] = 0
            progress[o.STEPS] = 0
        while progress[o.AT_ROW] < high:
            row = progress[o.AT_ROW]
            if progress[o.IS_ADVANCED] == 0:
                while progress[o.OPEN] < row and not is_open(progress[o.OPEN], row, step):
                    progress[o.OPEN] += 1
                count = progress[o.RUNS]
                most = 3 * count + 2
                if most > len(one.state):
                    return o.MORE_RUNS
                used = progress[o.CELLS] - progress[o.BASE]
                if used + 2 * most > len(room.cells.row) and _forget_cells(row, step, room) + 2 * most > len(
                    room.cells.row
                ):
                    return o.MORE_CELLS
                runs, after = one, other
                if progress[o.TURN] == 1:
                    runs, after = other, one
                progress[o.RUNS] = _advance(row, low, high, runs, count, after, step, room)
                progress[o.TURN] = 1 - progress[o.TURN]
                progress[o.IS_ADVANCED] = 1
                progress[o.STEPS] += count + 1
                if room.status[0] == o.DONE and progress[o.STEPS] > budget:
                    room.status[0] = o.OUT_OF_STEPS
                if room.status[0] != o.DONE:
                    room.status[1] = row
                    return o.FINISHED
            if progress[o.FINALS] > 0:
                given = write_matches(progress[o.AT_SERIES], row, low, high, step, room, matches, budget)
                if room.status[0] != o.DONE:
                    room.status[1] = row
                    return o.FINISHED
                if given < 0:
                    return o.MORE_MATCHES
                if given > 0 and step.automaton.one_by_one:
                    progress[o.RUNS] = 0
            progress[o.IS_ADVANCED] = 0
            progress[o.AT_ROW] += 1
            if progress[o.USED] >= full:
                return o.FULL
        progress[o.AT_SERIES] += 1
        progress[o.AT_ROW] = -1
    return o.FINISHED


@kernel
def find_events_alone(
    offsets: Ints,
    step: Step,
    one: Runs,
    other: Runs,
    waiting: Runs,
    next_row: Ints,
    mark: Ints,
    room: Room,
    matches: EventMatches,
    budget: int,
) -> int:
    """As `find_events`, one run after the other: what a run leaves for later waits on a stack.

    For comparison: each run reads the events after it once more. Room is asked for before a run goes on, but for
    matches: there must be enough for all of them.
    """
    progress = room.progress
    while progress[o.AT_SERIES] < len(offsets) - 1:
        low, high = offsets[progress[o.AT_SERIES]], offsets[progress[o.AT_SERIES] + 1]
        if progress[o.AT_ROW] < 0:
            progress[o.AT_ROW] = low
            progress[o.RUNS] = 0
            progress[o.CELLS] = 0
            progress[o.STEPS] = 0
        while progress[o.AT_ROW] < high:
            begun = progress[o.RUNS]
            if begun + 3 > len(waiting.state) or progress[o.CELLS] + 6 > len(room.cells.row):
                return o.MORE_RUNS
            row, count = progress[o.AT_ROW], 0
            if begun > 0:
                last = begun - 1
                row, count = next_row[last], 1
                one.state[0], one.cell[0], one.start[0] = waiting.state[last], waiting.cell[last], waiting.start[last]
                for word in range(one.words.shape[1]):
                    one.words[0, word] = waiting.words[last, word]
                # What later runs took is not needed any more.
                progress[o.CELLS] = mark[last]
                progress[o.RUNS] = last
            progress[o.OPEN] = progress[o.AT_ROW]
            found = _advance(row, low, high, one, count, other, step, room)
            progress[o.STEPS] += 1
            given = 0
            if progress[o.FINALS] > 0 and room.status[0] == o.DONE:
                given = write_matches(progress[o.AT_SERIES], row, low, high, step, room, matches, budget)
            if given < 0:
                return o.MORE_MATCHES
            if room.status[0] == o.DONE and progress[o.STEPS] > budget:
                room.status[0] = o.OUT_OF_STEPS
            if room.status[0] != o.DONE:
                room.status[1] = row
                return o.FINISHED
            if row + 1 < high:
                for k in range(found):
                    at = progress[o.RUNS]
                    waiting.state[at], waiting.cell[at], waiting.start[at] = (
                        other.state[k],
                        other.cell[k],
                        other.start[k],
                    )
                    for word in range(one.words.shape[1]):
                        waiting.words[at, word] = other.words[k, word]
                    next_row[at] = row + 1
                    mark[at] = progress[o.CELLS]
                    progress[o.RUNS] += 1
            if progress[o.RUNS] == 0:
                progress[o.AT_ROW] += 1
        progress[o.AT_SERIES] += 1
        progress[o.AT_ROW] = -1
    return o.FINISHED
