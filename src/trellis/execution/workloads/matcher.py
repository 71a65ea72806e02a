"""Chunks of sorted events through the nodes of a shared tree, the matches of all patterns out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from trellis.algebra.workload_scan import WorkloadScan
from trellis.errors import ResourceError, TrellisError
from trellis.execution.chunks import Chunk
from trellis.execution.match_reader import MatchReader
from trellis.execution.open_series import EVER, NEVER, OpenSeries, Resumed
from trellis.execution.pulse import pulse
from trellis.execution.workloads.adapting import Adapt, Adapter, clock
from trellis.execution.workloads.found import Given, Waiting, join_matches
from trellis.execution.workloads.growth import Growing, is_open
from trellis.execution.workloads.loaded import LoadedChunk, leaves_of
from trellis.execution.workloads.nodes import Pool, TooManyError
from trellis.execution.workloads.outputs import write_workload
from trellis.execution.workloads.roots import RootPlan, is_plain, new_matches, plan_root
from trellis.execution.workloads.running import RunningPlan
from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Bools, Ints
from trellis.kernels.instance_arrays import Matched, Window
from trellis.kernels.instance_order import DIGITS
from trellis.kernels.instances import FILLED, NEEDED, NODE, STATES, STEPS, find_instances
from trellis.kernels.plain_matches import write_plain_matches

__all__ = ["WorkloadMatcher"]

_FIRST_STRETCH = 1 << 16
"""How many rows are searched at a time, at first."""
_MOST_ROWS = 1 << 28
"""Of the matches of one stretch, so many rows are held at most."""
_ANYWHERE: Bools = np.zeros(0, np.bool_)


class WorkloadMatcher(MatchReader):
    """A plan as arrays, ready for chunks; `adapt` finds better ones for the events that come.

    `running` is the plan as it stands, and `rebuilt` says how often it was another one before.
    """

    plan: WorkloadScan

    def __init__(self, plan: WorkloadScan, adapt: Adapt | None = None) -> None:
        super().__init__(plan)
        self.leaves = leaves_of(plan)
        self.running = RunningPlan.of(plan, self.leaves)
        self.adapter = None if adapt is None else Adapter(plan, adapt)
        self.roots = {
            number: plan_root(plan, root, self.leaves) for number, root in enumerate(plan.roots) if not is_plain(root)
        }
        self.patterns = np.array([root.pattern for root in plan.roots], np.int64)
        self.pool = Pool(max(len(root.variables) for root in plan.roots))
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
            counts += np.bincount(growing.series[given.firsts], minlength=len(counts))
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

    def find(self, chunk: Chunk) -> Iterator[Given]:
        """The matches of a chunk, some at a time."""
        yield from self._find(_Search(self, chunk), chunk)

    def _find(self, search: _Search, chunk: Chunk) -> Iterator[Given]:
        rows = chunk.table.num_rows
        adapter = self.adapter
        if adapter is not None:
            adapter.open(search.loaded)
        begin = 0
        while begin < rows:
            end = begin + self.stretch
            if adapter is not None:
                end = min(end, adapter.end(begin))
                better = adapter.better(begin, end)
                if better is not None:
                    started = clock()
                    self.running = RunningPlan.of(better, self.leaves)
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
            search.waiting.add(found)
            given = search.waiting.give(end)
            if given is not None:
                yield given
            begin = end
        self.pool.shrink(search.most)

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
    """The search through one chunk. `steps` are those so far, `most` the most instances of a stretch."""

    def __init__(self, matcher: WorkloadMatcher, chunk: Chunk) -> None:
        self.matcher, self.chunk, self.plan = matcher, chunk, matcher.plan
        self.loaded = LoadedChunk(matcher, matcher.plan, chunk)
        self.status, self.steps = self.loaded.status, np.zeros(1, np.int64)
        self.most = 0
        self.growing: Growing | None = None
        self.waiting = _waiting(self.plan, self.loaded)

    def stretch(self, begin: int, end: int) -> Matched:
        """The matches that begin in a stretch of rows; their source is their pattern."""
        matcher, running, loaded = self.matcher, self.matcher.running, self.loaded
        begins = self._instances(begin, int(loaded.all_windows.until[:, begin:end].max()))
        self.most = max(self.most, int(begins[-1]))
        found = [self._plain(begins, end)]
        for number, made in matcher.roots.items():
            root = running.scan.roots[number]
            low, high = begins[root.node], begins[root.node + 1]
            if low == high:
                continue
            window = loaded.windows[root.window]
            matched = self._finished(made, low, high, window, end, loaded.startable)
            found.append(matched._replace(source=np.full(len(matched.source), number, np.int64)))
        matched = join_matches(found)
        running.instances[:] += np.diff(begins)
        if self.growing is not None:
            return self.growing.decided(matched)
        return matched._replace(source=matcher.patterns[matched.source])

    def _instances(self, begin: int, reach: int) -> Ints:
        """Find the instances of all nodes; where those of each begin in the pool."""
        running, loaded, pool = self.matcher.running, self.loaded, self.matcher.pool
        nodes = running.made.nodes
        codes = loaded.codes(running.made.pairs)
        begins = np.zeros(len(nodes.outer) + 1, np.int64)
        event, places = np.zeros(pool.rows.shape[1], np.int32), np.zeros(DIGITS, np.int64)
        state = np.zeros(STATES, np.int64)
        state[STEPS] = self.steps[0]
        while state[NODE] < len(nodes.outer):
            if not find_instances(
                nodes,
                loaded.all_windows,
                loaded.slots,
                codes,
                loaded.lists,
                begin,
                reach,
                pool.rows,
                pool.ranks,
                begins,
                event,
                places,
                self.plan.budget,
                state,
            ):
                if state[STEPS] > self.plan.budget:
                    self.status[:2] = o.OUT_OF_STEPS, begin
                    self.matcher.check(self.status, self.chunk)
                pool.grow(int(state[NEEDED]))
                continue
            self.steps[0] = state[STEPS]
            node = int(state[NODE]) - 1
            if node in running.filters:
                low, high = begins[node], begins[node + 1]
                window = loaded.windows[nodes.window[node]]
                tested = self._finished(running.filters[node], low, high, window, len(loaded.series), _ANYWHERE)
                begins[node + 1] = state[FILLED] = low + len(tested.source)
                pool.rows[low : begins[node + 1]] = pool.rows[tested.source]
                state[STEPS] = self.steps[0]
        return begins

    def _plain(self, begins: Ints, end: int) -> Matched:
        """The matches of plain roots."""
        plain = self.matcher.running.plain
        counts = begins[plain.node + 1] - begins[plain.node]
        used = int((counts * np.diff(plain.begins)).sum())
        if used > _MOST_ROWS:
            raise TooManyError
        found = new_matches(int(counts.sum()), used)
        count = write_plain_matches(
            plain, self.loaded.all_windows, self.matcher.pool.rows, begins, end, self.loaded.startable, found
        )
        rows = int(found.begins[count])
        return Matched(found.begins[: count + 1], found.rows[:rows], found.labels[:rows], found.source[:count])

    def _finished(
        self, made: RootPlan, low: np.int64, high: np.int64, window: Window, stop: int, startable: Bools
    ) -> Matched:
        matched = made.run(
            self.matcher.pool.rows,
            int(low),
            int(high),
            window,
            self.loaded.reading,
            self.loaded.lists,
            self.steps,
            self.status,
            self.plan.budget,
            stop,
            startable,
        )
        self.matcher.check(self.status, self.chunk)
        if matched is None:
            raise TooManyError
        return matched


def _waiting(plan: WorkloadScan, loaded: LoadedChunk) -> Waiting:
    keys = {root.pattern: root.keys for root in plan.roots}
    several = np.bincount([root.pattern for root in plan.roots], minlength=len(plan.patterns)) > 1
    return Waiting([loaded.groups(keys[pattern]) for pattern in range(len(plan.patterns))], several)
