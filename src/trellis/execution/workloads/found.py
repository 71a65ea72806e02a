"""Matches of all patterns in the order of their numbers: of each by the last event, the first one, then all of them.

Matches are found by the stretch of rows in which they begin. Those that end before the next stretch does not begin
come before all that are still to be found; the others wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.execution.workloads.windows import Groups
from trellis.kernels.arrays import Array, Bools, Ints, Shorts
from trellis.kernels.instance_arrays import Matched

__all__ = ["NO_MATCHES", "Given", "Waiting", "join_matches", "take_matches", "without"]

NO_MATCHES = Matched(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True)
class Given:
    """Matches that have their numbers: of match `m` the rows `begins[m]` to `begins[m + 1]`, and its pattern."""

    begins: Ints
    rows: Shorts
    patterns: Ints
    numbers: Ints

    @property
    def firsts(self) -> Shorts:
        """The first row of each match."""
        return self.rows[self.begins[:-1]]

    @property
    def lasts(self) -> Shorts:
        """The last row of each match."""
        return self.rows[self.begins[1:] - 1]


class Waiting:
    """The matches that have no number yet, and how many of each group of each pattern have one.

    `groups` are those of each pattern; `several` says whether the same match may be found by several clauses of it. The
    source of a match is its pattern here.
    """

    def __init__(self, groups: Sequence[Groups], several: Bools) -> None:
        self.matches = NO_MATCHES
        self._several = several
        different = list({id(one): one for one in groups}.values())
        self._of_pattern = np.array([[id(other) for other in different].index(id(one)) for one in groups], np.int64)
        self._groups = np.array([one.of_row for one in different])
        counts = [one.count for one in groups]
        self._offsets = np.append(0, np.cumsum(counts)).astype(np.int64)
        # The groups that have matches, in order, and how many.
        self._seen, self._counts = np.zeros(0, np.int64), np.zeros(0, np.int64)

    def add(self, found: Matched) -> None:
        """Matches that begin in one stretch of rows."""
        self.matches = join_matches([self.matches, found])

    def give(self, before: int) -> Given | None:
        """The matches that end before a row, from which on others may begin."""
        held = self.matches
        if not len(held.source):
            return None
        lasts = held.rows[held.begins[1:] - 1]
        ready = np.flatnonzero(lasts < before)
        if not len(ready):
            return None
        self.matches = take_matches(held, np.flatnonzero(lasts >= before)) if len(ready) < len(lasts) else NO_MATCHES
        given = take_matches(held, ready[_order(held, ready, self._several)])
        return Given(given.begins, given.rows, given.source, self._numbers(given))

    def _numbers(self, given: Matched) -> Ints:
        """Numbers of matches of which those of a pattern stand side by side."""
        firsts = given.rows[given.begins[:-1]]
        groups = self._offsets[given.source] + self._groups[self._of_pattern[given.source], firsts]
        order = np.argsort(groups, kind="stable")
        ordered = groups[order]
        here, places, counts = np.unique(ordered, return_index=True, return_counts=True)
        known = np.union1d(self._seen, here)
        before = np.zeros(len(known), np.int64)
        before[np.searchsorted(known, self._seen)] = self._counts
        at = np.searchsorted(known, here)
        numbers = np.empty(len(groups), np.int64)
        numbers[order] = np.arange(len(ordered)) + np.repeat(before[at] - places + 1, counts)
        before[at] += counts
        self._seen, self._counts = known, before
        return numbers


def join_matches(pieces: Sequence[Matched]) -> Matched:
    """The matches of all pieces."""
    some = [one for one in pieces if len(one.source)]
    if len(some) < 2:
        return some[0] if some else NO_MATCHES
    offsets = np.cumsum([0, *(len(one.rows) for one in some)])
    begins = [one.begins[:-1] + offset for one, offset in zip(some, offsets[:-1], strict=True)]
    return Matched(
        np.append(np.concatenate(begins), offsets[-1]),
        np.concatenate([one.rows for one in some]),
        np.concatenate([one.labels for one in some]),
        np.concatenate([one.source for one in some]),
    )


def take_matches(matched: Matched, chosen: Ints) -> Matched:
    """Some of the matches, in the order that is given."""
    lengths = np.diff(matched.begins)[chosen]
    begins = np.append(0, np.cumsum(lengths))
    places = np.arange(begins[-1]) + np.repeat(matched.begins[:-1][chosen] - begins[:-1], lengths)
    return Matched(begins, matched.rows[places], matched.labels[places], matched.source[chosen])


def without(found: Matched, given: Matched) -> Matched:
    """The matches that were not given before: the same events in the same places are the same match of a pattern."""
    known = {*_keys(given)}
    if not known:
        return found
    return take_matches(found, np.array([at for at, key in enumerate(_keys(found)) if key not in known], np.int64))


def _keys(matched: Matched) -> list[tuple[int, bytes]]:
    cuts = zip(matched.begins[:-1].tolist(), matched.begins[1:].tolist(), matched.source.tolist(), strict=True)
    return [
        (pattern, matched.rows[begin:end].tobytes() + matched.labels[begin:end].tobytes())
        for begin, end, pattern in cuts
    ]


def _order(matched: Matched, chosen: Ints, several: Bools) -> NDArray[np.intp]:
    """The chosen matches, those of a pattern side by side, in the order of their numbers; each once."""
    begins, ends, patterns = matched.begins[:-1][chosen], matched.begins[1:][chosen], matched.source[chosen]
    lengths = ends - begins
    longest = int(lengths.max())
    columns: list[Array] = [patterns, matched.rows[ends - 1], matched.rows[begins]]
    columns += [_at(matched.rows, begins, ends, place) for place in range(1, longest)]
    distinct = bool(several[patterns].any())
    if distinct:
        columns += [_at(matched.labels, begins, ends, place) for place in range(longest)]
    order = np.lexsort(columns[::-1])
    if not distinct:
        return order
    different = ~several[patterns[order]]
    different[:1] = True
    for column in columns:
        different[1:] |= column[order][1:] != column[order][:-1]
    return order[different]


def _at(values: Shorts, begins: Ints, ends: Ints, place: int) -> Ints:
    """The values at a place of all matches: the end of a shorter match comes before any of them."""
    inside = np.minimum(begins + place, ends - 1)
    return np.where(place < ends - begins, values[inside], -1).astype(np.int64)
