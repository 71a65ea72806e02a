"""The matches of several automata over the same rows as one list."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trellis.kernels.arrays import Ints, Matched

__all__ = ["in_turn"]


def in_turn(found: Sequence[Matched]) -> Matched:
    """All matches by their first row, then by automaton; what several found alike is there once.

    The automata are alike but for their conditions: they have the same elements in the same order.
    """
    sizes = [len(one.starts) for one in found]
    starts = np.concatenate([one.starts for one in found])
    owners = np.concatenate([one.owners for one in found])
    lengths = np.concatenate([np.diff(one.begins) for one in found])
    order = np.lexsort((np.repeat(np.arange(len(found)), sizes), starts))
    firsts = np.cumsum(lengths) - lengths
    rows, variables, shown = (
        np.concatenate([getattr(one, name) for one in found]) for name in ("rows", "variables", "shown")
    )
    elements = np.concatenate([_elements(one) for one in found])
    again = np.zeros(len(order), np.bool_)
    for place in (np.flatnonzero(np.diff(starts[order]) == 0) + 1).tolist():
        before = place - 1
        while before >= 0 and starts[order[before]] == starts[order[place]] and not again[place]:
            mine, theirs = (slice(firsts[match], firsts[match] + lengths[match]) for match in order[[place, before]])
            again[place] = np.array_equal(elements[mine], elements[theirs])
            before -= 1
    chosen = order[~again]
    sizes_kept = lengths[chosen]
    begins = np.append(0, np.cumsum(sizes_kept))
    at = np.arange(int(begins[-1])) + np.repeat(firsts[chosen] - begins[:-1], sizes_kept)
    return Matched(starts[chosen], owners[chosen], begins, rows[at], variables[at], shown[at])


def _elements(matched: Matched) -> Ints:
    """The number of each row's element: how often the variable has changed since the match began."""
    if not len(matched.variables):
        return np.zeros(0, np.int64)
    changes = np.append(0, np.cumsum(np.diff(matched.variables) != 0))
    lengths = np.diff(matched.begins)
    begun: Ints = changes[matched.begins[:-1]]
    found: Ints = changes - np.repeat(begun, lengths)
    return found
