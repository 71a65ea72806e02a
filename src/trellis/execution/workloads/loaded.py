"""A chunk of events as the arrays that the search for many patterns reads; no plan changes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trellis.algebra.workload_scan import LeafSpec, WorkloadScan
from trellis.execution import loading
from trellis.execution.chunks import Chunk
from trellis.execution.match_reader import MatchReader
from trellis.execution.workloads.roots import list_specs
from trellis.execution.workloads.windows import Groups, load_window
from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Bools, Ints, Shorts
from trellis.kernels.instance_arrays import Lists, Reading, Window, Windows
from trellis.kernels.room import new_track, new_work
from trellis.kernels.wide import has_wide

__all__ = ["LoadedChunk", "leaves_of"]


class LoadedChunk:
    """The events of a chunk: values, the rows of each leaf, windows, and what programs read."""

    def __init__(self, reader: MatchReader, plan: WorkloadScan, chunk: Chunk) -> None:
        self.plan, self.chunk = plan, chunk
        self.status = np.zeros(3, np.int64)
        dictionary = reader.dictionary(chunk)
        self.slots = loading.load_slots(chunk, plan.slots, dictionary)
        program = reader.program(dictionary)
        rows = chunk.table.num_rows
        work = new_work(1, 1, 1, plan.program.depth, True, False, has_wide(plan.program.code))
        starts, edges = loading.load_starts(chunk, None), loading.load_edges(plan, chunk)
        conditions = reader.conditions(chunk, self.slots, program, work, self.status, starts, edges)
        reader.check(self.status, chunk)
        self.bits = {
            number: conditions.bits[conditions.bit[number]]
            for number in range(len(plan.conditions))
            if conditions.bit[number] >= 0
        }
        self.numbers = specs = leaves_of(plan)
        by_type = _rows_by_type(chunk.column(plan.type), specs)
        self.leaves = [self._leaf(spec, by_type) for spec in specs]
        begins = np.append(0, np.cumsum([len(one) for one in self.leaves])).astype(np.int64)
        self.lists = Lists(np.concatenate([np.zeros(0, np.int32), *self.leaves]), begins)
        self._groups: dict[tuple[int, ...], Groups] = {}
        self._codes: dict[tuple[int, int], Shorts] = {}
        self.series = np.repeat(np.arange(len(chunk.offsets) - 1), np.diff(chunk.offsets))
        windows = [load_window(spec, chunk, self.groups(spec.keys)) for spec in plan.windows]
        self.all_windows = Windows(
            *(np.array(column).reshape(len(windows), rows) for column in zip(*windows, strict=True))
        )
        self.windows = [Window(*columns) for columns in zip(*self.all_windows, strict=True)]
        self.startable = self._startable()
        looks_back = any(spec.previous < o.NO_CHAIN for spec in plan.aggregates)
        wide_sums = any(spec.kind >= o.SUM_WIDE for spec in plan.aggregates)
        track = new_track(
            reader.member,
            len(plan.aggregates),
            max((len(self.leaves[specs[one]]) for one in list_specs(plan)), default=0) + 2,
            True,
            looks_back=looks_back,
            wide=wide_sums,
        )._replace(label=np.empty(rows, np.int32))
        self.reading = Reading(program, self.slots, reader.places, reader.aggregates, track, work.stack)

    def _leaf(self, leaf: LeafSpec, by_type: Mapping[str, Shorts]) -> Shorts:
        """The rows of a leaf."""
        found = [by_type[name] for name in leaf.types]
        rows = found[0] if len(found) == 1 else np.sort(np.concatenate(found))
        if leaf.condition >= 0:
            rows = rows[self.bits[leaf.condition][rows]]
        return rows

    def _startable(self) -> Bools:
        """Where matches may begin: in a slice, not in its halo, and where something agrees; everywhere, if empty."""
        if self.plan.slices is None and not self.plan.agreed:
            return np.zeros(0, np.bool_)
        ends = loading.load_starts(self.chunk, self.plan.slices).ends
        startable: Bools = np.arange(len(self.series)) < ends[self.series]
        for name in self.plan.agreed:
            startable &= loading.is_known(self.chunk.column(name))
        return startable

    def groups(self, keys: tuple[int, ...]) -> Groups:
        """Rows of each series that agree in slots."""
        if keys not in self._groups:
            values = tuple((self._values(slot), self.slots.known[slot]) for slot in keys)
            self._groups[keys] = Groups(self.series, values)
        return self._groups[keys]

    def _values(self, slot: int) -> Ints:
        """The values of a slot as numbers that are equal where the values are."""
        if self.plan.slots[slot].held != "float":
            ints: Ints = self.slots.ints[slot]
            return ints
        floats = self.slots.floats[slot]
        bits: Ints = np.where(np.isnan(floats), np.nan, floats + 0.0).view(np.int64)
        return bits

    def codes(self, pairs: Sequence[tuple[int, int]]) -> Shorts:
        """Codes of the rows by the first and by the second value of each pair: the same for equal ones, -1 for none."""
        rows = len(self.series)
        found = np.empty((2 * len(pairs), rows), np.int32)
        for number, pair in enumerate(pairs):
            if pair not in self._codes:
                both = np.concatenate([self._values(slot) for slot in pair])
                codes = np.unique(both, return_inverse=True)[1]
                known = np.concatenate([self.slots.known[slot] for slot in pair])
                self._codes[pair] = np.where(known, codes, -1).astype(np.int32).reshape(2, rows)
            found[2 * number : 2 * number + 2] = self._codes[pair]
        return found


def leaves_of(plan: WorkloadScan) -> dict[LeafSpec, int]:
    """The number of the list of each leaf, which is the same for all plans of a workload."""
    nodes = [node for node in plan.nodes if isinstance(node, LeafSpec)]
    return {leaf: number for number, leaf in enumerate(dict.fromkeys([*nodes, *plan.sample.leaves, *list_specs(plan)]))}


def _rows_by_type(column: pa.Array, specs: Iterable[LeafSpec]) -> dict[str, Shorts]:
    """The rows of each type that a leaf names."""
    names = list(dict.fromkeys(name for leaf in specs for name in leaf.types))
    codes = pc.index_in(column, value_set=pa.array(names, column.type))
    numbers = pc.fill_null(codes, len(names)).to_numpy(zero_copy_only=False)
    # Short numbers are sorted by their digits.
    numbers = numbers.astype(np.min_scalar_type(len(names)))
    order = np.argsort(numbers, kind="stable").astype(np.int32)
    bounds = np.searchsorted(numbers[order], np.arange(len(names) + 1))
    return {name: order[bounds[code] : bounds[code + 1]].copy() for code, name in enumerate(names)}
