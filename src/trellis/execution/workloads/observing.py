"""How often events come, and how often conditions between two of them hold: seen in a stretch of rows, or in a sample.

Pairs are drawn as they could be in a match: an event of the rarer leaf, then one of the other leaf within the window
around it. A pair counts as often as there are others it could have been. All pairs of all conditions are drawn, and
most of them tested, at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from trellis.algebra.observed import Observed
from trellis.algebra.workload_scan import SampledPair, WorkloadScan
from trellis.errors import TrellisError
from trellis.execution.chunks import read_chunks
from trellis.execution.match_reader import MatchReader
from trellis.execution.workloads.loaded import LoadedChunk
from trellis.execution.workloads.roots import RootPlan, plan_filter
from trellis.execution.workloads.tests import as_comparison
from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Bools, Floats, Ints, Shorts, Slots
from trellis.kernels.instance_arrays import FIRST, LAST, SLOTS

__all__ = ["Observer", "observe_table"]

_DRAWN = 128
"""How many pairs are drawn for each condition."""
_ROWS = 1024
"""Of how many rows the reach of windows is looked at."""


class Observer:
    """A sample as arrays, ready for chunks."""

    def __init__(self, plan: WorkloadScan) -> None:
        self.plan = plan
        pairs = plan.sample.pairs
        self._first = np.array([pair.first for pair in pairs], np.int64)
        self._second = np.array([pair.second for pair in pairs], np.int64)
        self._side = np.array([pair.side for pair in pairs], np.int64)
        self._windows = np.array([pair.window for pair in pairs], np.int64)
        self._compared = _Comparisons(plan, pairs)
        self._programs: dict[int, RootPlan] = {
            number: plan_filter(plan, 2, [pair.test])
            for number, pair in enumerate(pairs)
            if as_comparison(plan, pair.test) is None
        }

    def load(self, loaded: LoadedChunk) -> LoadedSample:
        """The leaves of a chunk side by side."""
        return LoadedSample(loaded, [loaded.leaves[loaded.numbers[leaf]] for leaf in self.plan.sample.leaves])

    def observe(self, sample: LoadedSample, begin: int, end: int) -> Observed:
        """What is seen of a stretch of rows."""
        loaded = sample.loaded
        seen = np.unique(np.linspace(begin, end - 1, min(_ROWS, end - begin)).astype(np.int64))
        reaches = tuple(float((window.until[seen] - seen).mean()) - 1.0 for window in loaded.windows)
        counts = sample.counts(begin, end)
        pairs = len(self._first)
        if pairs == 0:
            return Observed(end - begin, reaches, tuple(map(int, counts)), (), ())
        random = np.random.default_rng(begin)
        one, other, weight = self._draw(sample, begin, end, counts, random)
        tried = (weight > 0).sum(axis=1)
        holds = self._compared.hold(loaded.slots, one, other)
        known = np.ones(pairs, np.bool_)
        for number, program in self._programs.items():
            drawn = np.flatnonzero(weight[number])
            kept = _run(program, loaded, self._windows[number], one[number, drawn], other[number, drawn])
            known[number] = kept is not None
            holds[number, drawn] = kept if kept is not None else False
        share = (weight * holds).sum(axis=1) / np.maximum(weight.sum(axis=1), 1)
        tried = np.where(known, tried, 0)
        return Observed(
            end - begin,
            reaches,
            tuple(map(int, counts)),
            tuple(map(float, tried)),
            tuple(map(float, tried * share)),
        )

    def _draw(
        self, sample: LoadedSample, begin: int, end: int, counts: Ints, random: np.random.Generator
    ) -> tuple[Ints, Ints, Ints]:
        """Rows for the first and the second event of each pair, and what each counts; nothing where there is none."""
        turned = counts[self._second] < counts[self._first]
        anchor = np.where(turned, self._second, self._first)
        mate = np.where(turned, self._first, self._second)
        side = np.where(turned, -self._side, self._side)
        drawn = random.random((2, len(anchor), _DRAWN))
        there = counts[anchor] > 0
        begins = sample.place(anchor, np.full(len(anchor), begin))
        place = begins[:, None] + (drawn[0] * counts[anchor][:, None]).astype(np.int64)
        row = sample.row(np.where(there[:, None], place, 0))
        low, high = np.empty_like(row), np.empty_like(row)
        for number in np.unique(self._windows):
            window, here = sample.loaded.windows[number], self._windows == number
            low[here], high[here] = window.earliest[row[here]], window.until[row[here]]
        low = np.where(side[:, None] > 0, row + 1, low)
        high = np.where(side[:, None] < 0, row, high)
        mates = np.broadcast_to(mate[:, None], row.shape)
        first = sample.place(mates, low)
        weight = np.maximum(sample.place(mates, high) - first, 0)
        found = sample.row(np.where(weight > 0, first + (drawn[1] * weight).astype(np.int64), 0))
        weight = np.where(there[:, None] & (found != row), weight, 0)
        swap = turned[:, None]
        return np.where(swap, found, row), np.where(swap, row, found), weight


class LoadedSample:
    """The rows of all leaves as one sorted array of keys, so that many of them are searched at once."""

    def __init__(self, loaded: LoadedChunk, leaves: Sequence[Shorts]) -> None:
        self.loaded = loaded
        self._stride = loaded.chunk.table.num_rows + 1
        keys = [rows + number * self._stride for number, rows in enumerate(one.astype(np.int64) for one in leaves)]
        # One more, so that there is always one to be read.
        self._keys: Ints = np.concatenate([*keys, np.full(1, len(leaves) * self._stride)])
        self._numbers = np.arange(len(leaves))

    def place(self, leaf: Ints, row: Ints) -> Ints:
        """Where the rows of leaves begin that are not before some rows."""
        places: Ints = np.searchsorted(self._keys, leaf * self._stride + row)
        return places

    def row(self, place: Ints) -> Ints:
        """The row at a place."""
        rows: Ints = self._keys[place] % self._stride
        return rows

    def counts(self, begin: int, end: int) -> Ints:
        """How many rows of each leaf are in a stretch."""
        return self.place(self._numbers, np.full(len(self._numbers), end)) - self.place(
            self._numbers, np.full(len(self._numbers), begin)
        )


class _Comparisons:
    """The tests of pairs that compare two values, as columns."""

    def __init__(self, plan: WorkloadScan, pairs: Sequence[SampledPair]) -> None:
        rows, left, right, how, floats = [], [], [], [], []
        for number, pair in enumerate(pairs):
            found = as_comparison(plan, pair.test)
            if found is not None:
                rows.append(number)
                left.append(found[0])
                right.append(found[1])
                how.append(found[2])
                floats.append(found[3])
        self._rows = np.array(rows, np.int64)
        self._left, self._right = np.array(left, np.int64), np.array(right, np.int64)
        self._how, self._floats = np.array(how, np.int64), np.array(floats, np.bool_)

    def hold(self, slots: Slots, one: Ints, other: Ints) -> Bools:
        """Whether the test of each pair holds; false where it is no comparison."""
        found = np.zeros(one.shape, np.bool_)
        for is_float in (False, True):
            chosen = np.flatnonzero(self._floats == is_float)
            if not len(chosen):
                continue
            values = slots.floats if is_float else slots.ints
            rows = self._rows[chosen]
            left, right = self._left[chosen][:, None], self._right[chosen][:, None]
            known = slots.known[left, one[rows]] & slots.known[right, other[rows]]
            found[rows] = known & _compare(values[left, one[rows]], values[right, other[rows]], self._how[chosen])
        return found


def _compare(left: Ints | Floats, right: Ints | Floats, how: Ints) -> Bools:
    less, equal = left < right, left == right
    wants_less = np.isin(how, (o.UNEQUAL, o.LESS, o.LESS_EQUAL))[:, None]
    wants_equal = np.isin(how, (o.EQUAL, o.LESS_EQUAL, o.GREATER_EQUAL))[:, None]
    wants_greater = np.isin(how, (o.UNEQUAL, o.GREATER, o.GREATER_EQUAL))[:, None]
    holds: Bools = np.where(equal, wants_equal, np.where(less, wants_less, wants_greater))
    return holds


def _run(program: RootPlan, loaded: LoadedChunk, window: int, one: Ints, other: Ints) -> Bools | None:
    """Which pairs pass a program; None where it fails for one."""
    pool = np.empty((len(one), SLOTS + 2), np.int32)
    pool[:, FIRST], pool[:, LAST] = np.minimum(one, other), np.maximum(one, other)
    pool[:, SLOTS], pool[:, SLOTS + 1] = one, other
    status = np.zeros(3, np.int64)
    found = program.run(
        pool,
        0,
        len(pool),
        loaded.windows[window],
        loaded.reading,
        loaded.lists,
        np.zeros(1, np.int64),
        status,
        loaded.plan.budget,
        loaded.chunk.table.num_rows,
        np.zeros(0, np.bool_),
    )
    if status[0] != o.DONE or found is None:
        return None
    kept = np.zeros(len(one), np.bool_)
    kept[found.source] = True
    return kept


class _Reader(MatchReader):
    """A plan as arrays, for nothing but a look."""

    def error(self, kind: int, row: int, chunk: object) -> TrellisError:
        """What went wrong at a row, for people."""
        return self.failure(kind, f"row {row}")


def observe_table(plan: WorkloadScan, table: pa.Table) -> Observed:
    """What is seen of a table of sorted rows, as the search would get them."""
    observer, reader = Observer(plan), _Reader(plan)
    for chunk in read_chunks(iter(table.combine_chunks().to_batches()), plan.keys, table.num_rows + 1):
        return observer.observe(observer.load(LoadedChunk(reader, plan, chunk)), 0, chunk.table.num_rows)
    sample = plan.sample
    return Observed(
        0,
        (0.0,) * len(plan.windows),
        (0,) * len(sample.leaves),
        (0.0,) * len(sample.pairs),
        (0.0,) * len(sample.pairs),
    )
