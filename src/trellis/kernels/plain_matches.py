"""Matches of roots where each instance is one: nothing is repeated, nothing must be absent, no test is left."""

from __future__ import annotations

from trellis.kernels.arrays import Bools, Ints, Shorts
from trellis.kernels.compile import kernel
from trellis.kernels.instance_arrays import FIRST, LAST, SLOTS, Matched, Plain, Windows

__all__ = ["write_plain_matches"]


@kernel
def write_plain_matches(
    plain: Plain, windows: Windows, pool: Shorts, begins: Ints, stop: int, startable: Bools, found: Matched
) -> int:
    """Write the matches that begin before a row, and where `startable`, if that is not empty. How many there are.

    There is room for a match of each instance.
    """
    count, used = 0, 0
    found.begins[0] = 0
    for root in range(len(plain.node)):
        until = windows.until[plain.window[root]]
        labels = plain.begins[root]
        slots = plain.begins[root + 1] - labels
        for at in range(begins[plain.node[root]], begins[plain.node[root] + 1]):
            first, last = pool[at, FIRST], pool[at, LAST]
            if first >= stop:
                # Instances are in the order of their first rows.
                break
            if last >= until[first] or (len(startable) > 0 and not startable[first]):
                continue
            for slot in range(slots):
                row = pool[at, SLOTS + slot]
                place = used + slot
                while place > used and found.rows[place - 1] > row:
                    found.rows[place] = found.rows[place - 1]
                    found.labels[place] = found.labels[place - 1]
                    place -= 1
                found.rows[place] = row
                found.labels[place] = plain.labels[labels + slot]
            used += slots
            found.source[count] = plain.number[root]
            count += 1
            found.begins[count] = used
    return count
