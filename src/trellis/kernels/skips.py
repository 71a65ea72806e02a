"""Search by skipping, for patterns of elements one after the other whose conditions look at rows only.

`ends[t]` is where element `t` of the attempt ends, counted from 1; `ends[0]` is where it starts. Where an element
fails, the tables say how many elements the pattern moves on, and at which element the tests go on: rows that are known
to pass are not tested again.

A later attempt never is at a later element than an earlier one on the same row. So where it gives an element a row that
the last attempt which failed gave it, too, both go on alike: it is known where it fails, and no row is given to one
element by two attempts. This is why the search is linear, whatever the tables say.

A search that has read all rows is over. A later start would meet the same rows in the same repetitions, and what was
missing behind them is still missing.
"""

from __future__ import annotations

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Bools, Conditions, Ints, Matches, Shorts
from trellis.kernels.compile import kernel

__all__ = ["find_skipping"]

# What is known of an attempt that failed.
_UNTIL, _ELEMENT, _ROW = range(3)


@kernel
def find_skipping(
    offsets: Ints,
    elements: Shorts,
    stars: Bools,
    instructions: Shorts,
    shift: Shorts,
    following: Shorts,
    passes: Bools,
    conditions: Conditions,
    overlapping: bool,
    ends: Ints,
    doomed: Ints,
    matches: Matches,
    tests: Ints,
) -> int:
    """The matches of all series in order; DONE, or NEEDS_PATHS: called again with more room, it goes on.

    `following[j]` is the element to go on at when element `j` fails: 0 if the next match begins after the failed row at
    the earliest, -1 to try every start (which is for comparisons). Where `passes[j]`, that element passes there.
    `doomed` says of each element up to where its rows were part of an attempt that failed, and where that was: at which
    element and row. `tests[0]` counts how often an element was tested.
    """
    count = len(elements)
    progress = matches.progress
    tested = 0
    while progress[0] < len(offsets) - 1:
        series = progress[0]
        low, high = offsets[series], offsets[series + 1]
        if progress[1] < low:
            progress[1] = low
            progress[4] = 1
        at = progress[1]
        ends[0] = at
        element = 1
        taken = False
        while True:
            if element > count or (element == count and taken and at == high):
                start = ends[0]
                used = progress[3]
                if used + at - start > len(matches.paths):
                    progress[1] = start
                    tests[0] += tested
                    return o.NEEDS_PATHS
                found = progress[2]
                for k in range(count):
                    for row in range(ends[k], ends[k + 1]):
                        matches.paths[used + row - start] = instructions[k]
                matches.starts[found] = start
                matches.stops[found] = at
                matches.owners[found] = series
                progress[2] = found + 1
                progress[3] = used + at - start
                progress[4] += 1
                if overlapping:
                    at = start + 1
                matches.following[found] = at
                ends[0] = at
                element = 1
                taken = False
                continue
            if at == high:
                if following[1] < 0 and ends[0] + 1 < high:
                    # Every start is tried.
                    at = ends[0] + 1
                    ends[0] = at
                    element = 1
                    taken = False
                    continue
                break
            tested += 1
            variable = elements[element - 1]
            if conditions.kind[variable] == o.ALWAYS or conditions.bits[conditions.bit[variable], at]:
                if taken or at >= doomed[element, _UNTIL]:
                    at += 1
                    ends[element] = at
                    if stars[element - 1]:
                        taken = True
                    else:
                        element += 1
                    continue
                # From here on all goes as in that attempt: this one fails at the same element and row.
                failed, row = doomed[element, _ELEMENT], doomed[element, _ROW]
            elif taken:
                element += 1
                taken = False
                continue
            else:
                failed, row = element, at
            resumed = following[failed]
            if resumed < 0:
                at = ends[0] + 1
                ends[0] = at
                element = 1
                continue
            for k in range(1, element):
                doomed[k, _UNTIL] = ends[k]
                doomed[k, _ELEMENT] = failed
                doomed[k, _ROW] = row
            if resumed == 0:
                at = row + 1
                ends[0] = at
                element = 1
                continue
            moved = shift[failed]
            # Where elements end is known as far as this attempt has come.
            known = passes[failed] and resumed + moved == element
            element = min(resumed, element - moved)
            for k in range(element):
                ends[k] = ends[k + moved]
            at = ends[element - 1]
            if known:
                at += 1
                ends[element] = at
                if stars[element - 1]:
                    taken = True
                else:
                    element += 1
        progress[0] = series + 1
        progress[1] = -1
    tests[0] += tested
    return o.DONE
