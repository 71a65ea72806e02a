"""All matches of a chunk: every series, every start, AFTER MATCH SKIP."""

from __future__ import annotations

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import (
    Aggregates,
    Automaton,
    Bools,
    Conditions,
    Edges,
    Ints,
    Matches,
    Merging,
    Places,
    Program,
    Shorts,
    Slots,
    Starts,
    Track,
    Within,
    Work,
)
from trellis.kernels.compile import inlined, kernel
from trellis.kernels.search import backtrack, fill_ends, fill_unsure, follow_ends, has_closed, keep_trail, read_trail

__all__ = ["find_matches"]


@kernel
def find_matches(
    offsets: Ints,
    origins: Starts,
    edges: Edges,
    automaton: Automaton,
    conditions: Conditions,
    program: Program,
    slots: Slots,
    places: Places,
    aggregates: Aggregates,
    merging: Merging,
    within: Within,
    track: Track,
    work: Work,
    by_table: bool,
    ends: Shorts,
    unsure: Bools,
    path: Shorts,
    skip: int,
    skip_to: Bools,
    budget: int,
    shown: Ints,
    settled: Bools,
    matches: Matches,
    steps: Ints,
    status: Ints,
) -> int:
    """The matches of all series in order; DONE, STOPPED (`status` says why: kind, row), or a wish for more room.

    Called again with more room, it goes on where it stopped: `matches.progress` holds the series and the start,
    how many matches and rows were found, the number of the next match, the end of the window, where this search
    began, and the first start that is undecided. In an open series it goes no further than to that (`edges`), unless
    `settled` has a place for each row: then no start depends on others. Those behind it are searched, too, if they are
    not settled, and marked when they are.
    `ends` (for `by_table`), `unsure` (for that in open series; twice, if conditions look ahead) and `path` are room for
    the longest series.

    Unless `steps[2]` is below 0, matches that timed out are found, too (by backtracking only): they take no number.
    Those that start before the row `shown[k]` are left out, since with SKIP PAST LAST ROW they would overlap others.
    """
    width = len(automaton.op)
    progress = matches.progress
    farthest = 0
    for variable in range(len(edges.ahead)):
        farthest = max(farthest, edges.ahead[variable])
    behind = len(unsure) // 2
    anchored = False
    for pc in range(width):
        anchored = anchored or automaton.op[pc] == o.ANCHOR_END
    while progress[0] < len(offsets) - 1:
        series = progress[0]
        low, high = offsets[series], offsets[series + 1]
        is_open = edges.last[series] < 0
        if progress[1] < low:
            progress[1] = origins.begins[series]
            progress[4] = edges.number[series]
            progress[5] = low
            progress[6] = low
            progress[7] = -1
            steps[0] = budget
            if by_table:
                fill_ends(series, low, high, automaton, conditions, edges, ends)
                if is_open:
                    head = edges.first[series]
                    fill_unsure(low, high, head, automaton, conditions, edges, ends, False, 0, unsure)
                    if farthest > 0:
                        fill_unsure(low, high, head, automaton, conditions, edges, ends, True, behind, unsure)
            else:
                for k in range(((high - low + 1) * width >> 3) + 1):
                    work.failed[k] = 0
                # The end of one series is the start of the next: what failed there says nothing here.
                work.epoch[0] += 1
                work.epoch[1] = 0
        sliced = origins.entries[series] > 1
        while True:
            start = progress[1]
            if start >= origins.ends[series] or (sliced and origins.seen[start]):
                # Searches that meet go on together.
                if progress[6] + 1 >= low + origins.entries[series]:
                    break
                progress[6] += 1
                progress[1] = progress[6]
                progress[5] = low
                continue
            if len(settled) > 0 and settled[start]:
                progress[1] = start + 1
                continue
            if by_table:
                latest = high
                if within.active:
                    latest = _latest(start, progress[5], high, within)
                    progress[5] = latest
                if not is_open:
                    end = follow_ends(start, low, latest, automaton, ends, path)
                elif latest < high or (has_closed(start, within, edges) and not anchored):
                    if latest + farthest <= high:
                        end = follow_ends(start, low, latest, automaton, ends, path)
                    elif unsure[behind + start - low, 0]:
                        # A window that has ended bounds the search, but not how far its conditions look.
                        end = o.UNDECIDED
                    else:
                        # The preferred match of all is that of the window, if it lies there.
                        end = follow_ends(start, low, high, automaton, ends, path)
                        end = o.UNDECIDED if end > latest else end
                elif unsure[start - low, 0]:
                    end = o.UNDECIDED
                else:
                    end = follow_ends(start, low, latest, automaton, ends, path)
            else:
                steps[2] = min(steps[2], 0)
                end = backtrack(
                    series,
                    start,
                    low,
                    high,
                    progress[4],
                    automaton,
                    conditions,
                    edges,
                    program,
                    slots,
                    places,
                    aggregates,
                    merging,
                    within,
                    track,
                    work,
                    path,
                    steps,
                    status,
                )
                if end == o.STOPPED:
                    status[1] = max(status[1], start)
                if end < o.NO_MATCH and end != o.UNDECIDED:
                    return end
                if end >= 0:
                    read_trail(start, steps[1], automaton, work, path)
            if end == o.UNDECIDED or (is_open and end > start and end + edges.measured > high):
                if len(settled) == 0:
                    break
                if end == o.UNDECIDED and not by_table:
                    keep_trail(steps[1], low, width, merging, within, work)
                if progress[7] < 0:
                    progress[7] = start
                progress[1] = start + 1
                continue
            timed_out = False
            if end == o.NO_MATCH:
                timed_out = steps[2] > 0 and start >= shown[series]
                if not timed_out:
                    if sliced:
                        origins.seen[start] = True
                    if progress[7] >= 0:
                        settled[start] = True
                    progress[1] = start + 1
                    continue
                end = start + steps[2]
                if is_open and end + edges.measured > high:
                    break
            used = progress[3]
            if used + end - start > len(matches.paths):
                # The same start is searched again: what failed must fail once more, to find what timed out.
                work.epoch[0] += 1
                work.epoch[1] = 0
                return o.NEEDS_PATHS
            if timed_out:
                following = o.TIMED_OUT
            else:
                following = _next_start(start, end, skip, skip_to, automaton, path)
            if following < 0 and not sliced and not timed_out:
                status[0] = o.SKIP_MISSING if following == -1 else o.SKIP_TO_START
                status[1] = start
                return o.STOPPED
            if sliced:
                origins.seen[start] = True
            if progress[7] >= 0:
                settled[start] = True
            found = progress[2]
            matches.following[found] = following
            matches.starts[found] = start
            matches.stops[found] = end
            matches.owners[found] = series
            for k in range(end - start):
                matches.paths[used + k] = path[k]
            progress[2] = found + 1
            progress[3] = used + end - start
            if timed_out:
                # It is no match: the search goes on as if it were not there.
                progress[1] = start + 1
                if skip == o.SKIP_PAST_LAST:
                    shown[series] = end
                continue
            progress[1] = following if following >= 0 else high
            progress[4] += 1
        edges.undecided[series] = min(progress[1], high) if progress[7] < 0 else progress[7]
        progress[0] = series + 1
        progress[1] = -1
    return o.DONE


@inlined
def _next_start(start: int, end: int, skip: int, skip_to: Bools, automaton: Automaton, path: Shorts) -> int:
    """Where the search goes on; -1 if the match has no row to skip to, -2 if that row is its first.

    After an empty match that is the next row, whatever the clause says: it speaks of the rows of a match.
    """
    if skip == o.SKIP_NEXT or end == start:
        return start + 1
    if skip == o.SKIP_PAST_LAST:
        return end
    for k in range(end - start):
        at = k if skip == o.SKIP_FIRST else end - start - 1 - k
        if skip_to[automaton.variable[path[at]]]:
            return start + at if at > 0 else -2
    return -1


@inlined
def _latest(start: int, latest: int, high: int, within: Within) -> int:
    """The end of the rows that lie within the window from `start`, from that of an earlier start on.

    It moves back only where clocks change: a day after a time that they skip is later than a day after the next one. A
    start whose key is unknown has no rows: nothing is known to lie within.
    """
    if not within.known[start]:
        return start
    latest = max(latest, start)
    while latest > start and within.key[latest - 1] > within.deadline[start]:
        latest -= 1
    while latest < high and within.known[latest] and within.key[latest] <= within.deadline[start]:
        latest += 1
    return latest
