"""The matches that an event completes: walked back through the graph, without what must be absent, in order."""

from __future__ import annotations

from trellis.kernels import opcodes as o
from trellis.kernels.compile import inlined, inner, spliced
from trellis.kernels.event_arrays import EventMatches, Room, Step
from trellis.kernels.event_growth import have_to_wait, is_open
from trellis.kernels.expressions import evaluate
from trellis.kernels.tracking import add_row

__all__ = ["blocks", "holds", "write_matches"]


@inlined
def blocks(number: int, left: int, right: int, first: int, last: int, step: Step) -> bool:
    """Whether an event between two rows is one that must be absent, of a match from `first` to `last`.

    As far as such events alone say: without the conditions that compare them with others.
    """
    after, before = step.absences.after[number], step.absences.before
    if before[number, right] == before[number, left]:
        return False
    for row in range(left, right):
        if before[number, row + 1] == before[number, row]:
            continue
        if after == len(step.automaton.repeated) - 1:
            # Later ones are still further away.
            return is_open(first, row, step)
        if after >= 0 or is_open(row, last, step):
            return True
    return False


@spliced
def holds(number: int, row: int, low: int, high: int, step: Step, room: Room) -> bool:
    """Whether an event passes a condition that reads what was taken before it, as `room.track` says."""
    return evaluate(
        step.conditions.begin[number],
        step.conditions.end[number],
        step.program,
        step.slots,
        step.places,
        step.aggregates,
        row,
        low,
        low,
        high,
        1,
        room.track,
        room.stack,
        room.status,
    )


@inner
def write_matches(
    series: int,
    row: int,
    low: int,
    high: int,
    timed_out: bool,
    step: Step,
    room: Room,
    matches: EventMatches,
    budget: int,
) -> int:
    """Write down the matches that end at `row`; how many, or -1 (and nothing) if there is no room for them.

    UNDECIDED (and nothing) if rows to come may tell that one of them is none. If `timed_out`, write down what has timed
    out instead: one place in the code for both, since every call of the interpreter is compiled.
    """
    progress = room.progress
    before, used, steps = progress[o.MATCHES], progress[o.USED], progress[o.STEPS]
    matches.begins[before] = used
    for number in range(progress[o.TIMEOUTS] if timed_out else progress[o.FINALS]):
        cell = room.final[len(room.final) - 1 - number] if timed_out else room.final[number]
        if not _walk(series, cell, row, low, high, timed_out, step, room, matches, budget):
            progress[o.MATCHES], progress[o.USED], progress[o.STEPS] = before, used, steps
            return -1
        if room.status[0] != o.DONE:
            return 0
    given = progress[o.MATCHES] - before
    if not _are_in_order(before, given, matches):
        _put_in_order(before, given, matches)
    if timed_out:
        return int(given)
    if have_to_wait(series, high, before, given, step, matches):
        progress[o.MATCHES], progress[o.USED] = before, used
        return o.UNDECIDED
    if given > 1 and step.automaton.one_by_one:
        given = 1
        progress[o.MATCHES] = before + 1
        progress[o.USED] = matches.begins[before + 1]
    return int(given)


@spliced
def _walk(
    series: int,
    cell: int,
    row: int,
    low: int,
    high: int,
    timed_out: bool,
    step: Step,
    room: Room,
    matches: EventMatches,
    budget: int,
) -> bool:
    """All ways back from a cell to a row at which a match may begin; False if there is no room for what is found."""
    cells, progress = room.cells, room.progress
    base = progress[o.BASE]
    todo = 1
    room.todo_cell[0] = cell
    room.todo_depth[0] = 0
    while todo > 0:
        todo -= 1
        at = room.todo_cell[todo] - base
        depth = room.todo_depth[todo]
        while True:
            # What is gone began too early.
            if at < 0 or not (timed_out or is_open(cells.latest[at], row, step)):
                break
            if cells.row[at] < 0:
                room.todo_cell[todo] = cells.right[at]
                room.todo_depth[todo] = depth
                todo += 1
                at = cells.left[at] - base
                continue
            room.path_row[depth] = cells.row[at]
            room.path_part[depth] = cells.part[at]
            depth += 1
            if cells.left[at] >= 0:
                at = cells.left[at] - base
                continue
            progress[o.STEPS] += depth
            if progress[o.STEPS] > budget:
                room.status[0] = o.OUT_OF_STEPS
                return True
            if step.automaton.one_by_one and not timed_out and room.path_row[depth - 1] <= progress[o.ENDED]:
                break
            used, number = progress[o.USED], progress[o.MATCHES]
            if used + depth > len(matches.rows) or number + 1 >= len(matches.owners):
                return False
            for k in range(depth):
                matches.rows[used + k] = room.path_row[depth - 1 - k]
                matches.parts[used + k] = room.path_part[depth - 1 - k]
            if len(step.absences.after) == 0 or _is_clear(
                used, used + depth, low, high, timed_out, step, room, matches
            ):
                matches.owners[number] = -1 - series if timed_out else series
                matches.begins[number + 1] = used + depth
                progress[o.MATCHES] += 1
                progress[o.USED] += depth
            break
    return True


@spliced
def _is_clear(
    begin: int, end: int, low: int, high: int, timed_out: bool, step: Step, room: Room, matches: EventMatches
) -> bool:
    """Whether nothing stands where the pattern says that something is absent.

    Of what has timed out, that is between the components that it reached, and before the first.
    """
    absences = step.absences
    rows, parts = matches.rows, matches.parts
    first, last = rows[begin], rows[end - 1]
    loaded = False
    for number in range(len(absences.after)):
        after = absences.after[number]
        if timed_out and after >= parts[end - 1]:
            continue
        left, right = low, first
        if after == len(step.automaton.repeated) - 1:
            left, right = last + 1, high
        elif after >= 0:
            k = end - 1
            while parts[k] > after:
                k -= 1
            left, right = rows[k] + 1, rows[k + 1]
        if absences.before[number, right] == absences.before[number, left]:
            continue
        for row in range(left, right):
            if absences.before[number, row + 1] == absences.before[number, row]:
                continue
            if after == len(step.automaton.repeated) - 1 and not is_open(first, row, step):
                break
            if after < 0 and not is_open(row, last, step):
                continue
            if absences.program[number] < 0:
                return False
            if not loaded:
                loaded = True
                for one in range(step.registers.sets):
                    room.track.counts[one] = 0
                if step.registers.distinct:
                    for other in range(first, last):
                        room.track.label[other - low] = -1
                for k in range(begin, end):
                    _add(parts[k], rows[k], first, low, step, room)
            if holds(absences.program[number], row, low, high, step, room):
                return False
    return True


@inlined
def _add(part: int, row: int, first: int, low: int, step: Step, room: Room) -> None:
    """Let the track know one more event; of those before it only the first and the last one matter."""
    track = room.track
    for number in range(step.registers.sets):
        if track.counts[number] > 2:
            track.rows[number, 1] = track.rows[number, 2]
    for number in range(step.registers.aggregates):
        if track.counts[step.aggregates.sets[number]] > 2:
            track.tally[number, 1] = track.tally[number, 2]
            track.whole[number, 1] = track.whole[number, 2]
            if step.aggregates.kind[number] >= o.SUM_WIDE:
                track.high[number, 1] = track.high[number, 2]
            track.real[number, 1] = track.real[number, 2]
            track.spread[number, 1] = track.spread[number, 2]
    for number in range(step.registers.sets):
        track.counts[number] = min(track.counts[number], 2)
    add_row(part, row, first, low, step.slots, step.aggregates, track, room.status)


@inlined
def _are_in_order(before: int, given: int, matches: EventMatches) -> bool:
    k = before + 1
    while k < before + given and not _comes_first(k, k - 1, matches):
        k += 1
    return k >= before + given


@inner
def _put_in_order(before: int, given: int, matches: EventMatches) -> None:
    """Sort matches that end together: by their rows, and then by how few events their first components have."""
    order, spare = matches.order, matches.spare
    for k in range(given):
        order[k] = before + k
    width = 1
    while width < given:
        for left in range(0, given, 2 * width):
            middle, right = min(left + width, given), min(left + 2 * width, given)
            i, j = left, middle
            for k in range(left, right):
                if j >= right or (i < middle and not _comes_first(order[j], order[i], matches)):
                    spare[k] = order[i]
                    i += 1
                else:
                    spare[k] = order[j]
                    j += 1
        for k in range(given):
            order[k] = spare[k]
        width *= 2
    start = matches.begins[before]
    at = 0
    for k in range(given):
        for place in range(matches.begins[order[k]], matches.begins[order[k] + 1]):
            matches.spare_rows[at] = matches.rows[place]
            matches.spare_parts[at] = matches.parts[place]
            at += 1
        spare[k] = matches.begins[order[k] + 1] - matches.begins[order[k]]
    for place in range(at):
        matches.rows[start + place] = matches.spare_rows[place]
        matches.parts[start + place] = matches.spare_parts[place]
    for k in range(given):
        matches.begins[before + k + 1] = matches.begins[before + k] + spare[k]


@inlined
def _comes_first(one: int, other: int, matches: EventMatches) -> bool:
    begin, end = matches.begins[one], matches.begins[one + 1]
    begin_other, end_other = matches.begins[other], matches.begins[other + 1]
    for k in range(min(end - begin, end_other - begin_other)):
        if matches.rows[begin + k] != matches.rows[begin_other + k]:
            return bool(matches.rows[begin + k] < matches.rows[begin_other + k])
    if end - begin != end_other - begin_other:
        return bool(end - begin < end_other - begin_other)
    for k in range(end - begin):
        if matches.parts[begin + k] != matches.parts[begin_other + k]:
            return bool(matches.parts[begin + k] > matches.parts[begin_other + k])
    return False
