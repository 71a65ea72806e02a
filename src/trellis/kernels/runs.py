"""The search for events: all runs take one step with each event.

A run that can go on in several ways splits. Runs in the same state whose conditions to come read the same values go
the same ways from then on, so they become one, with a choice of beginnings. Matches are written down when an event
completes them, by walking back through the graph.
"""

from __future__ import annotations

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Ints
from trellis.kernels.compile import inlined, inner, kernel, spliced
from trellis.kernels.event_arrays import EventGraphs, EventMatches, Room, Runs, Step
from trellis.kernels.event_graphs import write_graph
from trellis.kernels.event_growth import is_open, note_rest
from trellis.kernels.event_matches import holds, write_matches
from trellis.kernels.merged_runs import add_run, new_cell
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
def _label_path(start: int, row: int, low: int, cell: int, room: Room) -> None:
    """Label the events of a run that stays apart; others between them are no part of it."""
    cells, base = room.cells, room.progress[o.BASE]
    for other in range(start, row):
        room.track.label[other - low] = -1
    while cell >= 0:
        room.track.label[cells.row[cell - base] - low] = cells.part[cell - base]
        cell = cells.left[cell - base]


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


@spliced
def _advance(
    row: int, low: int, high: int, runs: Runs, group: int, count: int, fresh: int, step: Step, room: Room
) -> int:
    """One step of all runs of a group with an event, into the other group: how many are there then.

    What it completes is in `final`, and what has timed out is at the end of it. If `fresh` is 1, the last one is no
    run yet: the event may begin a match.
    """
    automaton, progress, track = step.automaton, room.progress, room.track
    parts, after = len(automaton.repeated), 1 - group
    found = 0
    is_behind = False
    progress[o.FINALS] = 0
    progress[o.TIMEOUTS] = 0
    progress[o.STAMP] += 1
    for k in range(count + fresh):
        start, state, cell = row, 0, -1
        finals, kept = progress[o.FINALS], found
        if k < count:
            start, state, cell = runs.start[group, k], runs.state[group, k], runs.cell[group, k]
            if not is_open(start, row, step):
                if automaton.timeouts and runs.key[group, k] == 0:
                    # Runs are in the order of their beginnings, and given out in it: then all that was given out began
                    # before all that is left. Mostly windows close in this order, too; one that does not waits.
                    if is_behind:
                        _copy_run(runs, k, group, runs, found, after)
                        runs.key[after, found] = 0
                        found += 1
                    else:
                        _note_timeout(cell, room)
                continue
            is_behind = True
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
                    _load(k < count, runs.words[group, k], step, room)
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
                for word in range(runs.words.shape[2]):
                    runs.words[after, found, word] = runs.words[group, k, word]
                grown, grown_cell = state, cell
            else:
                if not (goes_on if way == 1 else begins):
                    continue
                taken = part if way == 1 else began
                grown_cell = new_cell(room.cells, progress, row, taken, cell, -1, start)
                if not loaded:
                    _load(k < count, runs.words[group, k], step, room)
                loaded = False
                if step.registers.distinct:
                    _label_path(start, row, low, cell, room)
                add_row(taken, row, start, low, step.slots, step.aggregates, track, room.status)
                repeated = automaton.repeated[taken]
                if taken == parts - 1:
                    number = automaton.proceed_program[taken]
                    if number < 0 or holds(number, row, low, high, step, room):
                        room.final[progress[o.FINALS]] = grown_cell
                        progress[o.FINALS] += 1
                    if not repeated:
                        continue
                grown = 2 * taken + 1 if repeated else 2 * (taken + 1)
                _store(runs.words[after, found], step, room)
            found = add_run(runs, after, found, grown, grown_cell, start, step, room)
        if automaton.timeouts:
            # A run that has come to a match has not timed out, whatever it becomes.
            has_matched = progress[o.FINALS] > finals or (k < count and runs.key[group, k] > 0)
            for other in range(kept, found):
                runs.key[after, other] = 1 if has_matched else 0
    return found


@inlined
def _note_timeout(cell: int, room: Room) -> None:
    room.progress[o.TIMEOUTS] += 1
    room.final[len(room.final) - room.progress[o.TIMEOUTS]] = cell


@inlined
def _note_rest_of_runs(series: int, runs: Runs, step: Step, room: Room) -> None:
    """Note which runs have timed out at the end of a series; if it grows, those that began before all that is left."""
    progress = room.progress
    progress[o.TIMEOUTS] = 0
    for k in range(progress[o.RUNS]):
        if runs.key[progress[o.TURN], k] == 0 and runs.start[progress[o.TURN], k] < step.growth.starts[series]:
            _note_timeout(runs.cell[progress[o.TURN], k], room)


@inlined
def _may_begin(row: int, series: int, bit: int, step: Step) -> bool:
    """Whether a match may begin with an event; without a time it is in no window, not even its own."""
    growth, automaton = step.growth, step.automaton
    # Of matches that do not overlap, those before `begins` are none, but they may time out.
    early = row < growth.begins[series] and not (automaton.timeouts and automaton.one_by_one)
    if early or row >= growth.stops[series]:
        return False
    return (bit < 0 or step.conditions.bits[bit, row]) and is_open(row, row, step)


@inlined
def _close_window(row: int, step: Step, progress: Ints) -> None:
    """Move on the first row at which a match may begin that goes on at `row`."""
    while progress[o.OPEN] < row and not is_open(progress[o.OPEN], row, step):
        progress[o.OPEN] += 1


@inner
def _forget_cells(row: int, runs: Runs, step: Step, room: Room) -> int:
    """Move the cells down over those that no match to come can contain; how many there are left."""
    cells, progress = room.cells, room.progress
    _close_window(row, step, progress)
    least = progress[o.OPEN]
    if step.automaton.timeouts and progress[o.RUNS] > 0:
        # What times out is still to be written.
        least = min(least, runs.start[progress[o.TURN], 0])
    used = progress[o.CELLS] - progress[o.BASE]
    first = 0
    while first < used and (cells.row[first] if cells.row[first] >= 0 else cells.part[first]) < least:
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
    offsets: Ints,
    step: Step,
    runs: Runs,
    room: Room,
    matches: EventMatches,
    graphs: EventGraphs,
    budget: int,
    full: int,
) -> int:
    """Search series after series, from where `room.progress` says; FINISHED, or what the search needs to go on.

    FULL asks to take away what was written.
    """
    progress = room.progress
    first_bit = step.automaton.begin_bit[0]
    while progress[o.AT_SERIES] < len(offsets) - 1:
        series = progress[o.AT_SERIES]
        low, high = offsets[series], offsets[series + 1]
        if progress[o.AT_ROW] < 0:
            progress[o.AT_ROW] = low
            progress[o.OPEN] = low
            progress[o.RUNS] = 0
            progress[o.CELLS] = 0
            progress[o.BASE] = 0
            progress[o.STEPS] = 0
            progress[o.ENDED] = step.growth.begins[series] - 1
        undecided = False
        while progress[o.AT_ROW] < high:
            row = progress[o.AT_ROW]
            if progress[o.IS_ADVANCED] == 0:
                count = progress[o.RUNS]
                fresh = 1 if _may_begin(row, series, first_bit, step) else 0
                if count + fresh == 0:
                    progress[o.AT_ROW] += 1
                    continue
                most = 3 * count + 2
                if most > runs.state.shape[1]:
                    return o.MORE_RUNS
                used = progress[o.CELLS] - progress[o.BASE]
                if used + 2 * most > len(room.cells.row) and _forget_cells(row, runs, step, room) + 2 * most > len(
                    room.cells.row
                ):
                    return o.MORE_CELLS
                progress[o.RUNS] = _advance(row, low, high, runs, progress[o.TURN], count, fresh, step, room)
                progress[o.TURN] = 1 - progress[o.TURN]
                progress[o.IS_ADVANCED] = 1
                progress[o.STEPS] += count + 1
                if room.status[0] == o.DONE and progress[o.STEPS] > budget:
                    room.status[0] = o.OUT_OF_STEPS
                if room.status[0] != o.DONE:
                    room.status[1] = row
                    return o.FINISHED
            if progress[o.IS_ADVANCED] == 1 and progress[o.TIMEOUTS] > 0:
                given = write_matches(series, row, low, high, True, step, room, matches, budget)
                if room.status[0] != o.DONE:
                    room.status[1] = row
                    return o.FINISHED
                if given < 0:
                    return o.MORE_MATCHES
            progress[o.IS_ADVANCED] = 2
            if progress[o.FINALS] > 0 and step.automaton.wanted != o.NOTHING and row >= step.growth.shown[series]:
                _close_window(row, step, progress)
                if step.automaton.wanted == o.ALL_MATCHES:
                    given = write_matches(series, row, low, high, False, step, room, matches, budget)
                else:
                    given = write_graph(series, row, low, high, step, room, graphs, budget)
                if room.status[0] != o.DONE:
                    room.status[1] = row
                    return o.FINISHED
                if given == o.UNDECIDED:
                    # Matches come in order: whatever ends later waits, too.
                    undecided = True
                    break
                if given < 0:
                    return o.MORE_MATCHES
                if given > 0 and step.automaton.one_by_one:
                    progress[o.ENDED] = row
                    if not step.automaton.timeouts:
                        progress[o.RUNS] = 0
            progress[o.IS_ADVANCED] = 0
            progress[o.AT_ROW] += 1
            if max(progress[o.USED], progress[o.MATCHES], progress[o.NODES], progress[o.EDGES]) >= full:
                return o.FULL
        if step.growth.grows[series]:
            note_rest(series, low, progress[o.AT_ROW], undecided, step, runs, room)
        if step.automaton.timeouts:
            _note_rest_of_runs(series, runs, step, room)
            if progress[o.TIMEOUTS] > 0:
                given = write_matches(series, high, low, high, True, step, room, matches, budget)
                if room.status[0] != o.DONE:
                    room.status[1] = max(low, high - 1)
                    return o.FINISHED
                if given < 0:
                    return o.MORE_MATCHES
            if step.automaton.one_by_one:
                step.growth.starts[series] = max(step.growth.starts[series], progress[o.ENDED] + 1)
        progress[o.IS_ADVANCED] = 0
        progress[o.AT_SERIES] += 1
        progress[o.AT_ROW] = -1
    return o.FINISHED


@inlined
def _copy_run(source: Runs, run: int, group: int, target: Runs, to_run: int, to_group: int) -> None:
    target.state[to_group, to_run] = source.state[group, run]
    target.cell[to_group, to_run] = source.cell[group, run]
    target.start[to_group, to_run] = source.start[group, run]
    for word in range(source.words.shape[2]):
        target.words[to_group, to_run, word] = source.words[group, run, word]


@kernel
def find_events_alone(
    offsets: Ints,
    step: Step,
    runs: Runs,
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
            progress[o.ENDED] = low - 1
        while progress[o.AT_ROW] < high:
            begun = progress[o.RUNS]
            if begun + 3 > waiting.state.shape[1] or progress[o.CELLS] + 6 > len(room.cells.row):
                return o.MORE_RUNS
            row, count = progress[o.AT_ROW], 0
            if begun > 0:
                last = begun - 1
                row, count = next_row[last], 1
                _copy_run(waiting, last, 0, runs, 0, 0)
                # What later runs took is not needed any more.
                progress[o.CELLS] = mark[last]
                progress[o.RUNS] = last
            progress[o.OPEN] = progress[o.AT_ROW]
            # A run that is searched alone has begun already.
            fresh = 1 if count == 0 and _may_begin(row, progress[o.AT_SERIES], -1, step) else 0
            found = _advance(row, low, high, runs, 0, count, fresh, step, room)
            progress[o.STEPS] += 1
            given = 0
            if progress[o.FINALS] > 0 and room.status[0] == o.DONE:
                given = write_matches(progress[o.AT_SERIES], row, low, high, False, step, room, matches, budget)
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
                    _copy_run(runs, k, 1, waiting, at, 0)
                    next_row[at] = row + 1
                    mark[at] = progress[o.CELLS]
                    progress[o.RUNS] += 1
            if progress[o.RUNS] == 0:
                progress[o.AT_ROW] += 1
        progress[o.AT_SERIES] += 1
        progress[o.AT_ROW] = -1
    return o.FINISHED
