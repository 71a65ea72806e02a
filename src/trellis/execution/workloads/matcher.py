"""Chunks of sorted events through the nodes of a shared tree, the matches of all patterns out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from trellis.algebra.workload_scan import JoinSpec, RootSpec, WorkloadScan
from trellis.errors import ResourceError, TrellisError
from trellis.execution.chunks import Chunk
from trellis.execution.match_reader import MatchReader
from trellis.execution.open_series import EVER, NEVER, OpenSeries, Resumed
from trellis.execution.pulse import pulse
from trellis.execution.workloads.adapting import Adapt, Adapter, clock
from trellis.execution.workloads.found import Given, Waiting, take_matches, without
from trellis.execution.workloads.growth import Growing, is_open
from trellis.execution.workloads.loaded import LoadedChunk
from trellis.execution.workloads.nodes import TooManyError
from trellis.execution.workloads.outputs import write_workload
from trellis.execution.workloads.roots import list_specs, plan_root
from trellis.execution.workloads.running import RunningPlan
from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Bools, Ints
from trellis.kernels.instance_arrays import Instances, Matched
from trellis.kernels.instances import STEPS

__all__ = ["WorkloadMatcher"]

_FIRST_STRETCH = 1 << 16
"""How many rows are searched at a time, at first."""


class WorkloadMatcher(MatchReader):
    """A plan as arrays, ready for chunks; `adapt` finds better ones for the events that come.

    `running` is the plan as it stands, and `rebuilt` says how often it was another one before.
    """

    plan: WorkloadScan

    def __init__(self, plan: WorkloadScan, adapt: Adapt | None = None) -> None:
        super().__init__(plan)
        self.running = RunningPlan.of(plan)
        self.adapter = None if adapt is None else Adapter(plan, adapt)
        self.listed = list_specs(plan)
        self.roots = [plan_root(plan, root, self.listed) for root in plan.roots]
        self.stretch = _FIRST_STRETCH

    @property
    def instances(self) -> Ints:
        """The number of instances of each node of the plan that runs, for `explain`."""
        return self.running.instances

    @property
    def rebuilt(self) -> int:
        """How often the plan was changed."""
        return 0 if self.adapter is None else self.adapter.rebuilt

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
        growing = Growing.of(self.plan, chunk, search.loaded.windows, series, final, horizon)
        search.growing = growing
        starts = growing.starts(chunk)
        batches, counts = [], np.zeros(len(final), np.int64)
        for given in self._find(search, chunk):
            batches.append(write_workload(self.plan, chunk, given, numbered=False))
            for _, matches in given:
                counts += np.bincount(growing.series[matches.firsts], minlength=len(counts))
        firsts = starts.copy()
        if any(is_open(root) and not absence.after for root in self.plan.roots for absence in root.absences):
            there = starts < chunk.offsets[1:]
            back = np.min([window.earliest[starts[there]] for window in search.loaded.windows], axis=0)
            firsts[there] = back
        to_series = series.first - chunk.offsets[:-1]
        rest = OpenSeries(
            firsts + to_series,
            starts + to_series,
            series.matches + counts,
            chunk.offsets[1:] + to_series,
            growing.horizon,
        )
        return Resumed(batches, rest, growing.due(starts, chunk))

    def find(self, chunk: Chunk) -> Iterator[list[tuple[int, Given]]]:
        """The matches of a chunk, some at a time: patterns by number, each with matches."""
        yield from self._find(_Search(self, chunk), chunk)

    def _find(self, search: _Search, chunk: Chunk) -> Iterator[list[tuple[int, Given]]]:
        rows = chunk.table.num_rows
        adapter = self.adapter
        sample = None if adapter is None or rows == 0 else adapter.observer.load(search.loaded)
        begin = 0
        while begin < rows:
            end = begin + self.stretch
            if adapter is not None and sample is not None:
                end = min(end, adapter.end(sample, begin))
                better = adapter.better(sample, begin, end)
                if better is not None:
                    started = clock()
                    self.running = RunningPlan.of(better)
                    adapter.changed(clock() - started)
            end = min(end, rows)
            pulse.at(begin)
            started = clock()
            try:
                found = search.stretch(begin, end)
            except TooManyError:
                if end - begin == 1:
                    raise self._too_many(begin, chunk) from None
                self.stretch = (end - begin + 1) // 2
                continue
            if adapter is not None:
                adapter.searched(end - begin, clock() - started)
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
        self.matcher, self.chunk, self.plan = matcher, chunk, matcher.plan
        self.loaded = LoadedChunk(matcher, matcher.plan, chunk)
        self.status, self.progress = self.loaded.status, self.loaded.progress
        roots = self.plan.roots
        several = {root.pattern for one, root in enumerate(roots) if one and root.pattern == roots[one - 1].pattern}
        opened = {root.pattern for root in roots if is_open(root)}
        self.mixed = opened & {root.pattern for root in roots if not is_open(root)}
        self.growing: Growing | None = None
        self.waiting = {root.pattern: Waiting(self.loaded.groups(root.keys), root.pattern in several) for root in roots}

    def stretch(self, begin: int, end: int) -> dict[int, list[Matched]]:
        """The matches that begin in a stretch of rows."""
        matcher, running = self.matcher, self.matcher.running
        plan = running.scan
        reach = max(int(window.until[begin:end].max()) for window in self.loaded.windows)
        tables: list[Instances] = []
        counted = np.zeros_like(running.instances)
        for number, node in enumerate(plan.nodes):
            if isinstance(node, JoinSpec):
                tables.append(self._join(number, tables, begin, reach - begin))
            else:
                rows = self.loaded.leaf(node)
                inside = rows[np.searchsorted(rows, begin) : np.searchsorted(rows, reach)]
                tables.append(Instances(inside.reshape(1, -1), inside, inside))
            counted[number] = len(tables[-1].first)
        found: dict[int, list[Matched]] = {}
        told: dict[int, list[Matched]] = {}
        for root, made in zip(plan.roots, matcher.roots, strict=True):
            matched = made.run(
                tables[root.node],
                self.loaded.windows[root.window],
                self.loaded.reading,
                self.loaded.lists,
                self.progress,
                self.status,
                plan.budget,
                end,
                self.loaded.startable,
            )
            matcher.check(self.status, self.chunk)
            if matched is None:
                raise TooManyError
            if self.growing is not None:
                new, before = self._decided(matched, root, self.growing)
                if root.pattern in self.mixed:
                    told.setdefault(root.pattern, []).append(take_matches(matched, before))
                matched = take_matches(matched, new)
            if len(matched.begins) > 1:
                found.setdefault(root.pattern, []).append(matched)
        running.instances[:] += counted
        for pattern, given in told.items():
            found[pattern] = without(found.get(pattern, ()), given)
        return found

    def _decided(self, matched: Matched, root: RootSpec, growing: Growing) -> tuple[Ints, Ints]:
        """The matches that are decided now, and were not before; and those that may be found again when windows close.

        These were given out when their last event had come, and an open root of the same pattern may find them, too.
        """
        firsts, lasts = matched.rows[matched.begins[:-1]], matched.rows[matched.begins[1:] - 1]
        closing = growing.closing[root.window][firsts]
        if is_open(root):
            return np.flatnonzero(closing), np.zeros(0, np.int64)
        new = lasts >= growing.shown[growing.series[firsts]]
        return np.flatnonzero(new), np.flatnonzero(closing & ~new)

    def _join(self, number: int, tables: list[Instances], begin: int, rows: int) -> Instances:
        join = self.matcher.running.joins[number]
        assert join is not None
        loaded = self.loaded
        window = loaded.windows[join.window]
        found = join.run(
            tables[join.outer], tables[join.inner], window, loaded.slots, loaded.codes, self.progress, begin, rows
        )
        if self.progress[STEPS] > self.plan.budget:
            self.status[:2] = o.OUT_OF_STEPS, begin
            self.matcher.check(self.status, self.chunk)
        tested = self.matcher.running.filters[number]
        if tested is None:
            return found
        kept = self._kept(
            tested.run(
                found,
                window,
                self.loaded.reading,
                self.loaded.lists,
                self.progress,
                self.status,
                self.plan.budget,
                len(self.loaded.series),
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
        last = end == len(self.loaded.series)
        for pattern, waiting in self.waiting.items():
            waiting.add(found.get(pattern, ()))
            ready = waiting.give(len(self.loaded.series) if last else end)
            if ready is not None:
                given.append((pattern, ready))
        return given
