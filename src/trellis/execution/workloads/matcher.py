"""Chunks of sorted events through the nodes of a shared tree, the matches of all patterns out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trellis.algebra.workload_scan import JoinSpec, LeafSpec, RootSpec, WorkloadScan
from trellis.errors import ResourceError, TrellisError
from trellis.execution import loading
from trellis.execution.chunks import Chunk
from trellis.execution.match_reader import MatchReader
from trellis.execution.open_series import EVER, NEVER, OpenSeries, Resumed
from trellis.execution.workloads.found import Given, Waiting, take_matches
from trellis.execution.workloads.growth import Growing, is_open
from trellis.execution.workloads.nodes import TooManyError, join_plans
from trellis.execution.workloads.outputs import write_workload
from trellis.execution.workloads.roots import Lists, list_specs, plan_filter, plan_root
from trellis.execution.workloads.windows import Groups, load_window
from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Bools, Ints, Shorts
from trellis.kernels.instance_arrays import Instances, Matched, Reading
from trellis.kernels.instances import STEPS
from trellis.kernels.room import new_track, new_work
from trellis.kernels.wide import has_wide

__all__ = ["WorkloadMatcher"]

_FIRST_STRETCH = 1 << 16
"""How many rows are searched at a time, at first."""


class WorkloadMatcher(MatchReader):
    """A plan as arrays, ready for chunks. `instances` counts those of each node, for `explain`."""

    plan: WorkloadScan

    def __init__(self, plan: WorkloadScan) -> None:
        super().__init__(plan)
        self.wide = has_wide(plan.program.code)
        self.joins = join_plans(plan)
        self.filters = [
            plan_filter(plan, len(join.join.outer) + len(join.join.inner), join.tests)
            if join is not None and join.tests
            else None
            for join in self.joins
        ]
        self.listed = list_specs(plan)
        self.roots = [plan_root(plan, root, self.listed) for root in plan.roots]
        self.instances = np.zeros(len(plan.nodes), np.int64)
        self.stretch = _FIRST_STRETCH

    def run(self, chunk: Chunk) -> Iterator[pa.RecordBatch]:
        """The output rows of a chunk."""
        for given in self.find(chunk):
            yield write_workload(self.plan, chunk, given)

    def resume(self, chunk: Chunk, series: OpenSeries, final: Bools, horizon: int = EVER) -> Resumed:
        """The output rows that are decided, and where the search through each series stands then.

        Of each series the chunk holds the rows from `first` on; if `final`, there will be no more. Rows to come have no
        smaller time than `horizon`. Matches have no numbers: those of each pattern would have to be counted for ever.
        """
        if chunk.table.num_rows == 0:
            return Resumed([], series, np.full(len(final), NEVER))
        chunk = replace(chunk, gone=series.first)
        search = _Search(self, chunk)
        growing = Growing.of(self.plan, chunk, search.windows, series, final, horizon)
        search.growing = growing
        starts = growing.starts(chunk)
        search.until = starts
        batches, counts = [], np.zeros(len(final), np.int64)
        for given in self._find(search, chunk):
            batches.append(write_workload(self.plan, chunk, given, numbered=False))
            for _, matches in given:
                counts += np.bincount(growing.series[matches.firsts], minlength=len(counts))
        firsts = starts.copy()
        if any(is_open(root) and not absence.after for root in self.plan.roots for absence in root.absences):
            there = starts < chunk.offsets[1:]
            back = np.min([window.earliest[starts[there]] for window in search.windows], axis=0)
            firsts[there] = back
        to_series = series.first - chunk.offsets[:-1]
        rest = OpenSeries(
            firsts + to_series, starts + to_series, series.matches + counts, chunk.offsets[1:] + to_series
        )
        return Resumed(batches, rest, growing.due(firsts, chunk))

    def find(self, chunk: Chunk) -> Iterator[list[tuple[int, Given]]]:
        """The matches of a chunk, some at a time: patterns by number, each with matches."""
        yield from self._find(_Search(self, chunk), chunk)

    def _find(self, search: _Search, chunk: Chunk) -> Iterator[list[tuple[int, Given]]]:
        rows = chunk.table.num_rows
        begin = 0
        while begin < rows:
            end = min(begin + self.stretch, rows)
            try:
                found = search.stretch(begin, end)
            except TooManyError:
                if end - begin == 1:
                    raise self._too_many(begin, chunk) from None
                self.stretch = (end - begin + 1) // 2
                continue
            given = search.give(found, end)
            if given:
                yield given
            begin = end

    def _too_many(self, row: int, chunk: Chunk) -> TrellisError:
        return ResourceError(
            f"The matches that begin at {chunk.where(row, self.plan)} are too many to be held.",
            cure="Shorten WITHIN, or make conditions stricter.",
        )

    def error(self, kind: int, row: int, chunk: Chunk) -> TrellisError:
        """What went wrong at a row, for people."""
        where = chunk.where(row, self.plan)
        if kind == o.OUT_OF_STEPS:
            return ResourceError(
                f"The search was given up after {self.plan.budget:,} steps, at {where}.",
                cure="Shorten WITHIN, make conditions stricter, or raise the hint step_budget.",
            )
        return self.failure(kind, where)


class _Search:
    """The search through one chunk."""

    def __init__(self, matcher: WorkloadMatcher, chunk: Chunk) -> None:
        plan = matcher.plan
        self.matcher, self.chunk, self.plan = matcher, chunk, plan
        self.status = np.zeros(3, np.int64)
        self.progress = np.zeros(4, np.int64)
        dictionary = matcher.dictionary(chunk)
        self.slots = loading.load_slots(chunk, plan.slots, dictionary)
        program = matcher.program(dictionary)
        rows = chunk.table.num_rows
        work = new_work(1, 1, 1, plan.program.depth, True, False, matcher.wide)
        starts, edges = loading.load_starts(chunk, None), loading.load_edges(plan, chunk)
        conditions = matcher.conditions(chunk, self.slots, program, work, self.status, starts, edges)
        matcher.check(self.status, chunk)
        self.bits = {
            number: conditions.bits[conditions.bit[number]]
            for number in range(len(plan.conditions))
            if conditions.bit[number] >= 0
        }
        self.by_type = _rows_by_type(chunk.column(plan.type), plan)
        self.leaves = {spec: self._rows(spec) for spec in self._leaf_specs()}
        listed = [self.leaves[spec] for spec in matcher.listed]
        begins = np.append(0, np.cumsum([len(one) for one in listed])).astype(np.int64)
        self.lists = Lists(np.concatenate([np.zeros(0, np.int32), *listed]), begins)
        self._groups: dict[tuple[int, ...], Groups] = {}
        self._codes: dict[tuple[int, int], tuple[Shorts, Shorts, int]] = {}
        self.series = np.repeat(np.arange(len(chunk.offsets) - 1), np.diff(chunk.offsets))
        self.windows = [load_window(spec, chunk, self.groups(spec.keys)) for spec in plan.windows]
        self.startable = self._startable()
        looks_back = any(spec.previous < o.NO_CHAIN for spec in plan.aggregates)
        wide_sums = any(spec.kind >= o.SUM_WIDE for spec in plan.aggregates)
        track = new_track(
            matcher.member,
            len(plan.aggregates),
            self.lists.longest + 2,
            True,
            looks_back=looks_back,
            wide=wide_sums,
        )._replace(label=np.empty(rows, np.int32))
        self.reading = Reading(program, self.slots, matcher.places, matcher.aggregates, track, work.stack)
        several = {root.pattern for one, root in enumerate(plan.roots) if one and _same_pattern(plan, one)}
        self.growing: Growing | None = None
        self.until = np.zeros(0, np.int64)
        self.waiting = {root.pattern: Waiting(self.groups(root.keys), root.pattern in several) for root in plan.roots}

    def _leaf_specs(self) -> list[LeafSpec]:
        nodes = [node for node in self.plan.nodes if isinstance(node, LeafSpec)]
        return list(dict.fromkeys([*nodes, *self.matcher.listed]))

    def _rows(self, leaf: LeafSpec) -> Shorts:
        """The rows of a leaf."""
        found = [self.by_type[name] for name in leaf.types]
        rows = found[0] if len(found) == 1 else np.sort(np.concatenate(found))
        return rows if leaf.condition < 0 else np.ascontiguousarray(rows[self.bits[leaf.condition][rows]])

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

    def codes(self, one: int, other: int) -> tuple[Shorts, Shorts, int]:
        """Codes of the rows by two slots."""
        found = self._codes.get((one, other))
        if found is None:
            both = np.concatenate([self._values(one), self._values(other)])
            values, codes = np.unique(both, return_inverse=True)
            codes = np.where(np.concatenate([self.slots.known[one], self.slots.known[other]]), codes, -1)
            rows = len(both) // 2
            found = codes[:rows].astype(np.int32), codes[rows:].astype(np.int32), len(values)
            self._codes[one, other] = found
        return found

    def stretch(self, begin: int, end: int) -> dict[int, list[Matched]]:
        """The matches that begin in a stretch of rows."""
        plan, matcher = self.plan, self.matcher
        reach = max(int(window.until[begin:end].max()) for window in self.windows)
        tables: list[Instances] = []
        counted = np.zeros_like(matcher.instances)
        for number, node in enumerate(plan.nodes):
            if isinstance(node, JoinSpec):
                tables.append(self._join(number, tables, begin, reach - begin))
            else:
                rows = self.leaves[node]
                inside = rows[np.searchsorted(rows, begin) : np.searchsorted(rows, reach)]
                tables.append(Instances(inside.reshape(1, -1), inside, inside))
            counted[number] = len(tables[-1].first)
        found: dict[int, list[Matched]] = {}
        for root, made in zip(plan.roots, matcher.roots, strict=True):
            matched = made.run(
                tables[root.node],
                self.windows[root.window],
                self.reading,
                self.lists,
                self.progress,
                self.status,
                plan.budget,
                end,
                self.startable,
            )
            matcher.check(self.status, self.chunk)
            if matched is None:
                raise TooManyError
            if self.growing is not None:
                matched = self._decided(matched, root, self.growing)
            if len(matched.begins) > 1:
                found.setdefault(root.pattern, []).append(matched)
        matcher.instances += counted
        return found

    def _decided(self, matched: Matched, root: RootSpec, growing: Growing) -> Matched:
        """The matches that are decided now, and were not before."""
        firsts, lasts = matched.rows[matched.begins[:-1]], matched.rows[matched.begins[1:] - 1]
        series = growing.series[firsts]
        if is_open(root):
            new = (firsts >= growing.start[series]) & (firsts < self.until[series])
        else:
            new = lasts >= growing.shown[series]
        return take_matches(matched, np.flatnonzero(new))

    def _join(self, number: int, tables: list[Instances], begin: int, rows: int) -> Instances:
        join = self.matcher.joins[number]
        assert join is not None
        window = self.windows[join.window]
        found = join.run(
            tables[join.outer], tables[join.inner], window, self.slots, self.codes, self.progress, begin, rows
        )
        if self.progress[STEPS] > self.plan.budget:
            self.status[:2] = o.OUT_OF_STEPS, begin
            self.matcher.check(self.status, self.chunk)
        tested = self.matcher.filters[number]
        if tested is None:
            return found
        kept = self._kept(
            tested.run(
                found,
                window,
                self.reading,
                self.lists,
                self.progress,
                self.status,
                self.plan.budget,
                len(self.series),
                np.zeros(0, np.bool_),
            )
        )
        return Instances(np.ascontiguousarray(found.rows[:, kept]), found.first[kept], found.last[kept])

    def _kept(self, matched: Matched | None) -> Ints:
        self.matcher.check(self.status, self.chunk)
        if matched is None:
            raise TooManyError
        return matched.instance

    def give(self, found: dict[int, list[Matched]], end: int) -> list[tuple[int, Given]]:
        """The matches that have numbers when all that begin before a row are found."""
        given = []
        last = end == len(self.series)
        for pattern, waiting in self.waiting.items():
            waiting.add(found.get(pattern, ()))
            ready = waiting.give(len(self.series) if last else end)
            if ready is not None:
                given.append((pattern, ready))
        return given


def _same_pattern(plan: WorkloadScan, root: int) -> bool:
    return plan.roots[root].pattern == plan.roots[root - 1].pattern


def _rows_by_type(column: pa.Array, plan: WorkloadScan) -> dict[str, Shorts]:
    """The rows of each type that a pattern names."""
    leaves = [node for node in plan.nodes if isinstance(node, LeafSpec)]
    leaves += list_specs(plan)
    names = list(dict.fromkeys(name for leaf in leaves for name in leaf.types))
    codes = pc.index_in(column, value_set=pa.array(names, column.type))
    numbers = pc.fill_null(codes, len(names)).to_numpy(zero_copy_only=False)
    order = np.argsort(numbers, kind="stable").astype(np.int32)
    bounds = np.searchsorted(numbers[order], np.arange(len(names) + 1))
    return {name: order[bounds[code] : bounds[code + 1]].copy() for code, name in enumerate(names)}
