"""What is read from matches once they are found: the rows that places mean, and aggregates.

`label_rows` lays the matches out as output rows; `find_places` and `find_aggregates` fill columns for them.
"""

from __future__ import annotations

import numpy as np

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Aggregates, Bools, Floats, Ints, Matched, Places, Shorts, Slots, Track
from trellis.kernels.compile import inlined, kernel
from trellis.kernels.expressions import finish_variance
from trellis.kernels.tracking import add_row, cut_rows

__all__ = ["find_aggregates", "find_places", "label_rows", "list_rows"]


@kernel
def label_rows(
    offsets: Ints,
    matched: Matched,
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
    counter = 0
    owner = -1
    free = np.int64(0)  # the first row not yet covered by a match, for WITH UNMATCHED ROWS
    for k in range(len(matched.starts)):
        start, begin = matched.starts[k], matched.begins[k]
        length = matched.begins[k + 1] - begin
        if matched.owners[k] != owner:
            owner = matched.owners[k]
            counter = 0
        counter += 1
        if mode == o.ALL_UNMATCHED:
            while free < start:
                row[n], match[n], number[n], seen[n] = free, -1, 0, 0
                n += 1
                free += 1
            free = max(free, start + 1)
            if length > 0:
                free = max(free, matched.rows[begin + length - 1] + 1)
        if mode == o.ONE_ROW or (length == 0 and mode != o.ALL_OMIT_EMPTY):
            row[n], match[n], number[n], seen[n] = start, k, counter, length
            n += 1
        elif length > 0:
            for i in range(length):
                if matched.shown[begin + i]:
                    row[n], match[n], number[n], seen[n] = matched.rows[begin + i], k, counter, i + 1
                    n += 1
    if mode == o.ALL_UNMATCHED:
        while free < rows_total:
            row[n], match[n], number[n], seen[n] = free, -1, 0, 0
            n += 1
            free += 1
    return n


@kernel
def find_places(
    offsets: Ints,
    matched: Matched,
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

    `rows` and `after` are room for the longest match: `rows[s, i]` is its i-th row in set `s`, `after[s, i]` how many
    of its first i rows are in `s`.
    """
    current = -1
    for n in range(len(match)):
        k = match[n]
        if k < 0:
            for p in range(len(places.sets)):
                index[p, n] = -1
                label[p, n] = -1
            continue
        begin = matched.begins[k]
        length = matched.begins[k + 1] - begin
        if k != current:
            current = k
            for s in range(len(member)):
                count = 0
                for i in range(length):
                    if member[s, matched.variables[begin + i]]:
                        rows[s, count] = matched.rows[begin + i]
                        count += 1
                    after[s, i + 1] = count
        low, high = offsets[matched.owners[k]], offsets[matched.owners[k] + 1]
        for p in range(len(places.sets)):
            limit = length if places.final[p] else seen[n]
            s = places.sets[p]
            count = limit if s == o.ANY_ROW else (limit if s == o.CURRENT_ROW else after[s, limit])
            at = places.offset[p] if places.from_first[p] else count - 1 - places.offset[p]
            found = np.int64(-1)
            if 0 <= at < count:
                found = matched.rows[begin + at] if s < 0 else rows[s, at]
                found += places.shift[p]
                if found < low or found >= high:
                    found = np.int64(-1)
            index[p, n] = found
            at = _position(k, found, matched)
            label[p, n] = matched.variables[at] if at >= 0 else -1


@inlined
def _position(k: int, row: int | np.int64, matched: Matched) -> int:
    """Where a row stands among the rows of all matches, if it belongs to match `k`; otherwise -1."""
    first, stop = int(matched.begins[k]), int(matched.begins[k + 1])
    if first == stop or row < matched.rows[first] or row > matched.rows[stop - 1]:
        return -1
    # Mostly the rows of a match follow each other.
    at = int(first + row - matched.rows[first])
    if at < stop and matched.rows[at] == row:
        return at
    last = stop - 1
    while first < last:
        middle = (first + last) >> 1
        if matched.rows[middle] < row:
            first = middle + 1
        else:
            last = middle
    return first if matched.rows[first] == row else -1


@kernel
def find_aggregates(
    matched: Matched,
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
        begin = matched.begins[k]
        length = matched.begins[k + 1] - begin
        if k != current:
            current = k
            cut_rows(np.int64(-1), track)
            start = matched.rows[begin] if length > 0 else matched.starts[k]
            between = start
            for i in range(length):
                variable, row = matched.variables[begin + i], matched.rows[begin + i]
                while between < row:
                    track.label[between - start] = -1
                    between += 1
                between = row + 1
                add_row(variable, row, start, start, slots, aggregates, track, status)
                if status[0] != o.DONE:
                    status[1] = row
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
                    real[g, n] = matched.variables[_position(k, whole[g, n], matched)]


@kernel
def list_rows(
    matched: Matched,
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
            begin = matched.begins[k]
            limit = matched.begins[k + 1] - begin if final else seen[n]
            for i in range(begin, begin + limit):
                if wanted[matched.variables[i]]:
                    if used < len(rows):
                        rows[used] = matched.rows[i]
                        labels[used] = matched.variables[i]
                    used += 1
        offsets[n + 1] = used
    return used
