"""Matches of a pattern in the order of their numbers: by the last event, the first one, then all of them.

Matches are found by the stretch of rows in which they begin. Those that end before the next stretch does not begin
come before all that are still to be found; the others wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from trellis.execution.workloads.windows import Groups
from trellis.kernels.arrays import Ints, Shorts
from trellis.kernels.instance_arrays import Matched

__all__ = ["Given", "Waiting", "take_matches", "without"]

_NO_ROWS = Matched(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True)
class Given:
    """Matches that have their numbers: of match `m` the rows `begins[m]` to `begins[m + 1]`."""

    begins: Ints
    rows: Shorts
    numbers: Ints

    @property
    def firsts(self) -> Shorts:
        """The first row of each match."""
        return self.rows[self.begins[:-1]]

    @property
    def lasts(self) -> Shorts:
        """The last row of each match."""
        return self.rows[self.begins[1:] - 1]


@dataclass(slots=True)
class Waiting:
    """The matches of one pattern that have no number yet, and how many of each group have one.

    `distinct`: the same match may be found by several clauses.
    """

    groups: Groups
    distinct: bool
    matches: Matched = _NO_ROWS
    counts: Ints = field(init=False)

    def __post_init__(self) -> None:
        self.counts = np.zeros(self.groups.count, np.int64)

    def add(self, found: Sequence[Matched]) -> None:
        """Matches that begin in one stretch of rows."""
        pieces = [one for one in (self.matches, *found) if len(one.begins) > 1]
        if not pieces:
            return
        offsets = np.cumsum([0, *(len(one.rows) for one in pieces)])
        begins = [one.begins[:-1] + offset for one, offset in zip(pieces, offsets[:-1], strict=True)]
        self.matches = Matched(
            np.append(np.concatenate(begins), offsets[-1]),
            np.concatenate([one.rows for one in pieces]),
            np.concatenate([one.labels for one in pieces]),
            _NO_ROWS.instance,
        )

    def give(self, before: int) -> Given | None:
        """The matches that end before a row, from which on others may begin."""
        held = self.matches
        if len(held.begins) == 1:
            return None
        lasts = held.rows[held.begins[1:] - 1]
        ready = np.flatnonzero(lasts < before)
        if not len(ready):
            return None
        order = ready[_order(held, ready, self.distinct)]
        self.matches = take_matches(held, np.flatnonzero(lasts >= before))
        given = take_matches(held, order)
        return Given(given.begins, given.rows, self._numbers(given))

    def _numbers(self, given: Matched) -> Ints:
        groups = self.groups.of_row[given.rows[given.begins[:-1]]]
        order = np.argsort(groups, kind="stable")
        ordered = groups[order]
        places = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
        numbers = np.empty(len(groups), np.int64)
        numbers[order] = places + 1 + self.counts[ordered]
        self.counts += np.bincount(groups, minlength=len(self.counts))
        return numbers


def take_matches(matched: Matched, chosen: Ints) -> Matched:
    """Some of the matches, in the order that is given."""
    lengths = np.diff(matched.begins)[chosen]
    begins = np.append(0, np.cumsum(lengths))
    places = np.arange(begins[-1]) + np.repeat(matched.begins[:-1][chosen] - begins[:-1], lengths)
    return Matched(begins, matched.rows[places], matched.labels[places], _NO_ROWS.instance)


def without(found: Sequence[Matched], given: Sequence[Matched]) -> list[Matched]:
    """The matches that were not given before: the same events in the same places are the same match."""
    known = {key for one in given for key in _keys(one)}
    if not known:
        return list(found)
    return [
        take_matches(one, np.array([number for number, key in enumerate(_keys(one)) if key not in known], np.int64))
        for one in found
    ]


def _keys(matched: Matched) -> list[bytes]:
    cuts = zip(matched.begins[:-1].tolist(), matched.begins[1:].tolist(), strict=True)
    return [matched.rows[begin:end].tobytes() + matched.labels[begin:end].tobytes() for begin, end in cuts]


def _order(matched: Matched, chosen: Ints, distinct: bool) -> NDArray[np.intp]:
    """The chosen matches in the order of their numbers; where they must be `distinct`, each once."""
    begins, ends = matched.begins[:-1][chosen], matched.begins[1:][chosen]
    lengths = ends - begins
    longest = int(lengths.max())
    first, last = matched.rows[begins], matched.rows[ends - 1]
    columns: list[Shorts] = []
    for place in range(1, longest):
        # The end of a shorter match comes before any row.
        inside = np.minimum(begins + place, ends - 1)
        columns.append(np.where(place < lengths, matched.rows[inside], -1).astype(np.int32))
    if not distinct:
        return np.lexsort((*columns[::-1], first, last))
    for place in range(longest):
        inside = np.minimum(begins + place, ends - 1)
        columns.append(np.where(place < lengths, matched.labels[inside], -1).astype(np.int32))
    order = np.lexsort((*columns[::-1], first, last))
    different = np.zeros(len(order), np.bool_)
    different[:1] = True
    for column in (first, last, *columns):
        different[1:] |= column[order][1:] != column[order][:-1]
    return order[different]
