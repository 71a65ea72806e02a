"""What is read from matches once they are found: the rows that places mean, and aggregates.

`label_rows` lays the matches out as output rows; `find_places` and `find_aggregates` fill columns for them.
"""

from __future__ import annotations

import numpy as np

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Aggregates, Automaton, Bools, Floats, Ints, Places, Shorts, Slots, Track
from trellis.kernels.compile import kernel
from trellis.kernels.expressions import finish_variance
from trellis.kernels.tracking import add_row, cut_rows

__all__ = ["find_aggregates", "find_places", "label_rows", "list_rows"]


@kernel
def label_rows(
    offsets: Ints,
    starts: Ints,
    stops: Ints,
    owners: Ints,
    paths: Shorts,
    automaton: Automaton,
    mode: int,
    row: Ints,
    match: Ints,
    number: Ints,
    seen: Ints,
) -> int:
    """Fill in the output rows; how many there are.

    An output row has the row that carries its columns, its match (-1: unmatched), the number of that match, and how
    many of its rows are seen.

    ONE ROW PER MATCH sees all rows of the match; so does no row of an empty match, which sees none.
    """
    rows_total = offsets[-1]
    n = 0
    used = 0
    counter = 0
    owner = -1
    free = np.int64(0)  # the first row not yet covered by a match, for WITH UNMATCHED ROWS
    for k in range(len(starts)):
        start, stop = starts[k], stops[k]
        if owners[k] != owner:
            owner = owners[k]
            counter = 0
        counter += 1
        length = stop - start
        if mode == o.ALL_UNMATCHED:
            while free < start:
                row[n], match[n], number[n], seen[n] = free, -1, 0, 0
                n += 1
                free += 1
            free = max(free, stop, start + 1)
        if mode == o.ONE_ROW or (length == 0 and mode != o.ALL_OMIT_EMPTY):
            row[n], match[n], number[n], seen[n] = start, k, counter, length
            n += 1
        elif length > 0:
            for i in range(length):
                if not automaton.excluded[paths[used + i]]:
                    row[n], match[n], number[n], seen[n] = start + i, k, counter, i + 1
                    n += 1
        used += length
    if mode == o.ALL_UNMATCHED:
        while free < rows_total:
            row[n], match[n], number[n], seen[n] = free, -1, 0, 0
            n += 1
            free += 1
    return n


@kernel
def find_places(
    offsets: Ints,
    starts: Ints,
    stops: Ints,
    owners: Ints,
    paths: Shorts,
    begins: Ints,
    automaton: Automaton,
    member: Bools,
    places: Places,
    rows: Ints,
    after: Ints,
    match: Ints,
    seen: Ints,
    index: Ints,
    label: Shorts,
) -> None:
    """For each place and output row, the row that the place means (`index`) and its variable (`label`), or -1.

    `begins` says where the rows of each match begin in `paths`. `rows` and `after` are room for the longest match:
    `rows[s, i]` is its i-th row in set `s`, `after[s, i]` how many of its first i rows are in `s`.
    """
    current = -1
    for n in range(len(match)):
        k = match[n]
        if k < 0:
            for p in range(len(places.sets)):
                index[p, n] = -1
                label[p, n] = -1
            continue
        start, length = starts[k], stops[k] - starts[k]
        if k != current:
            current = k
            for s in range(len(member)):
                count = 0
                for i in range(length):
                    if member[s, automaton.variable[paths[begins[k] + i]]]:
                        rows[s, count] = start + i
                        count += 1
                    after[s, i + 1] = count
        low, high = offsets[owners[k]], offsets[owners[k] + 1]
        for p in range(len(places.sets)):
            limit = length if places.final[p] else seen[n]
            s = places.sets[p]
            count = limit if s == o.ANY_ROW else (limit if s == o.CURRENT_ROW else after[s, limit])
            at = places.offset[p] if places.from_first[p] else count - 1 - places.offset[p]
            found = np.int64(-1)
            if 0 <= at < count:
                found = start + at if s < 0 else rows[s, at]
                found += places.shift[p]
                if found < low or found >= high:
                    found = np.int64(-1)
            index[p, n] = found
            label[p, n] = -1
            if start <= found < start + length:
                label[p, n] = automaton.variable[paths[begins[k] + found - start]]


@kernel
def find_aggregates(
    starts: Ints,
    stops: Ints,
    paths: Shorts,
    begins: Ints,
    automaton: Automaton,
    track: Track,
    after: Ints,
    aggregates: Aggregates,
    final: Bools,
    slots: Slots,
    match: Ints,
    seen: Ints,
    whole: Ints,
    real: Floats,
    known: Bools,
    status: Ints,
) -> None:
    """For each aggregate and output row, its value.

    For MIN and MAX the row that holds it (`whole`) and its variable (`real`).
    """
    member = track.member
    current = -1
    for n in range(len(match)):
        k = match[n]
        for g in range(len(aggregates.kind)):
            known[g, n] = False
        if k < 0:
            continue
        start, length = starts[k], stops[k] - starts[k]
        if k != current:
            current = k
            cut_rows(np.int64(-1), track)
            for i in range(length):
                variable = automaton.variable[paths[begins[k] + i]]
                add_row(variable, start + i, start, start, slots, aggregates, track, status)
                if status[0] != o.DONE:
                    status[1] = start + i
                    return
                for s in range(len(member)):
                    after[s, i + 1] = track.counts[s]
        for g in range(len(aggregates.kind)):
            kind = aggregates.kind[g]
            depth = after[aggregates.sets[g], length if final[g] else seen[n]]
            tally = track.tally[g, depth - 1] if depth > 0 else 0
            known[g, n] = tally > 0
            if kind == o.COUNT:
                whole[g, n] = tally
                known[g, n] = True
            elif tally > 0:
                spread = track.spread[g, depth - 1]
                if kind < o.SUM_FLOAT:
                    whole[g, n] = track.whole[g, depth - 1]
                elif kind == o.SUM_FLOAT:
                    real[g, n] = track.real[g, depth - 1]
                elif kind == o.AVG:
                    real[g, n] = track.real[g, depth - 1] / tally
                elif kind <= o.STDDEV_POP:
                    real[g, n] = finish_variance(kind, tally, spread)
                    known[g, n] = tally > 1 or kind == o.VAR_POP or kind == o.STDDEV_POP
                else:
                    whole[g, n] = np.int64(spread)
                    real[g, n] = track.label[whole[g, n] - start]


@kernel
def list_rows(
    starts: Ints,
    stops: Ints,
    paths: Shorts,
    begins: Ints,
    automaton: Automaton,
    wanted: Bools,
    final: bool,
    match: Ints,
    seen: Ints,
    offsets: Ints,
    rows: Ints,
    labels: Ints,
) -> int:
    """For each output row, the rows of its match that carry a wanted variable, and their variables.

    Output row `n` has `rows[offsets[n]:offsets[n + 1]]`. How many there are in all; where `rows` is too short for
    them, only `offsets` is right.
    """
    used = 0
    offsets[0] = 0
    for n in range(len(match)):
        k = match[n]
        if k >= 0:
            limit = stops[k] - starts[k] if final else seen[n]
            for i in range(limit):
                variable = automaton.variable[paths[begins[k] + i]]
                if wanted[variable]:
                    if used < len(rows):
                        rows[used] = starts[k] + i
                        labels[used] = variable
                    used += 1
        offsets[n + 1] = used
    return used
