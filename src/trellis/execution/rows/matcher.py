"""What runs in a Python worker: chunks of sorted rows through the kernels, output rows out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from trellis.algebra.automaton import AutomatonScan, Search, SkipSpec
from trellis.algebra.query import RowsPerMatch, SkipTo
from trellis.errors import DataError, ResourceError, TrellisError
from trellis.execution import loading
from trellis.execution.chunks import Chunk
from trellis.execution.match_reader import MatchReader
from trellis.execution.open_series import (
    EVER,
    NEVER,
    OpenSeries,
    Resumed,
    check_resumable,
    remembers_matches,
    rows_back,
)
from trellis.execution.pulse import pulse
from trellis.execution.rows.in_turn import in_turn
from trellis.execution.rows.outputs import Grown
from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Bools, Conditions, Edges, Ints, Matched, Matches, Program, Slots, Starts, Work
from trellis.kernels.matches import find_matches
from trellis.kernels.room import in_order, longer_paths, more_room, new_matches, new_track, new_work
from trellis.kernels.skips import find_skipping
from trellis.kernels.wide import has_wide

__all__ = ["RowMatcher"]

_SKIPS = {
    SkipTo.PAST_LAST_ROW: o.SKIP_PAST_LAST,
    SkipTo.NEXT_ROW: o.SKIP_NEXT,
    SkipTo.FIRST: o.SKIP_FIRST,
    SkipTo.LAST: o.SKIP_LAST,
}
# Beyond this a table of ends would take more memory than the rows it speeds up.
_TABLE_BYTES = 1 << 29
_NOTHING: Bools = np.zeros(0, np.bool_)


class RowMatcher(MatchReader):
    """A plan as arrays, ready for chunks."""

    plan: AutomatonScan

    def __init__(self, plan: AutomatonScan) -> None:
        super().__init__(plan)
        self.automaton = loading.load_automaton(plan)
        self.others = [RowMatcher(other) for other in plan.others]
        self.merging = loading.load_merging(plan)
        self.skip_to = np.array([name in plan.skip_to for name in plan.variables], np.bool_)
        self.tracked = any(condition.where == "kernel" for condition in plan.conditions)
        self.looks_back = any(spec.previous < o.NO_CHAIN for spec in plan.aggregates)
        self.wide_sums = any(spec.kind >= o.SUM_WIDE for spec in plan.aggregates)
        self.wide = has_wide(plan.program.code)
        # Whether what begins at a row of an open series depends on no row before it: no match skips or numbers others.
        self.apart = (
            plan.skip is SkipTo.NEXT_ROW
            and plan.rows_per_match is not RowsPerMatch.ALL_WITH_UNMATCHED
            and not (plan.timeouts or remembers_matches(plan))
        )
        # How often a search by skipping has tested an element.
        self.tests = np.zeros(1, np.int64)

    def run(self, chunk: Chunk) -> Iterator[pa.RecordBatch]:
        """The output rows of a chunk."""
        dictionary = self.dictionary(chunk)
        if self.others:
            found = [matcher.matched(matcher.find(chunk, dictionary)) for matcher in (self, *self.others)]
            each = in_turn(found)
            yield from self.measure(chunk, dictionary, each, each.rows[each.begins[1:] - 1] + 1)
            return
        yield from self.results(chunk, dictionary, self.find(chunk, dictionary))

    def resume(self, chunk: Chunk, series: OpenSeries, final: Bools, horizon: int = EVER) -> Resumed:
        """The output rows that are decided, and where the search through each series stands then.

        Of each series the chunk holds the rows from `first` on; if `final`, there will be no more. Rows to come have no
        smaller key of WITHIN than `horizon`.
        """
        check_resumable(self.plan)
        base, begun, numbers, shown, _ = series
        if chunk.table.num_rows == 0:
            return Resumed([], series, np.full(len(base), NEVER))
        to_series = base - chunk.offsets[:-1]
        chunk = replace(chunk, gone=base)
        dictionary = self.dictionary(chunk)
        origins = loading.load_starts(chunk, None)._replace(begins=begun - to_series)
        edges = loading.load_edges(self.plan, chunk, series, final, horizon)
        seen = shown - to_series
        settled = np.zeros(chunk.table.num_rows if self.apart else 0, np.bool_)
        if self.apart and chunk.settled is not None:
            settled[:] = chunk.settled
        matches = self.find(chunk, dictionary, origins, edges, seen, settled)
        grown = Grown(numbers, shown - to_series, edges.undecided)
        batches = list(self.results(chunk, dictionary, matches, grown))
        count = int(matches.progress[2])
        starts, stops, owners = matches.starts[:count], matches.stops[:count], matches.owners[:count]
        if not self.plan.timeouts:
            seen = np.maximum(grown.shown, grown.undecided)
            np.maximum.at(seen, owners, np.maximum(stops, starts + 1))
        given = owners[~_timed_out(matches)]
        undecided, found = edges.undecided + to_series, numbers + np.bincount(given, minlength=len(base))
        needed = np.maximum(0, undecided - rows_back(self.plan))
        due = self._due(chunk, edges.undecided)
        after = series._replace(first=needed, start=undecided, matches=found, shown=seen + to_series)
        return Resumed(batches, after, due, settled if self.apart else None)

    def _due(self, chunk: Chunk, undecided: Ints) -> Ints:
        """For each series, when the window of its first undecided row has closed."""
        due = np.full(len(undecided), NEVER)
        waits = undecided < chunk.offsets[1:]
        within = loading.load_within(chunk, self.plan.within)
        if within.active:
            due[waits] = within.deadline[undecided[waits]]
        return due

    def find(
        self,
        chunk: Chunk,
        dictionary: loading.Dictionary | None,
        origins: Starts | None = None,
        edges: Edges | None = None,
        shown: Ints | None = None,
        settled: Bools = _NOTHING,
    ) -> Matches:
        """The matches of a chunk, of whole series unless it is said where they begin and end.

        Matches that time out before the rows `shown` are not given out; the rows are moved on. Nothing is searched at
        rows that are `settled`; further ones are marked.
        """
        whole = origins is None and edges is None and self.plan.slices is None
        origins = loading.load_starts(chunk, self.plan.slices) if origins is None else origins
        edges = loading.load_edges(self.plan, chunk) if edges is None else edges
        plan = self.plan
        status = np.zeros(3, np.int64)
        slots = loading.load_slots(chunk, plan.slots, dictionary)
        program = self.program(dictionary)
        longest, width = int(np.diff(chunk.offsets).max()), len(plan.instructions)
        by_table = plan.search is Search.TABLE and longest * width * 4 <= _TABLE_BYTES
        keyed = self.tracked or plan.within is not None
        work = new_work(longest, width, self.merging.width, plan.program.depth, by_table, keyed, self.wide)
        conditions = self.conditions(chunk, slots, program, work, status, origins, edges)
        self.check(status, chunk)
        if whole and plan.skips is not None:
            return self._skip(plan.skips, chunk, conditions, slots)
        shown = np.zeros(len(origins.begins), np.int64) if shown is None else shown
        matches = self._search(
            chunk, origins, edges, conditions, program, slots, work, by_table, longest, shown, settled, status
        )
        self.check(status, chunk)
        return matches if plan.slices is None else in_order(matches)

    def results(
        self, chunk: Chunk, dictionary: loading.Dictionary | None, matches: Matches, grown: Grown | None = None
    ) -> Iterator[pa.RecordBatch]:
        """The output rows of the matches of a chunk."""
        matched = self.matched(matches)
        following = matches.following[: len(matched.starts)]
        timed_out = _timed_out(matches) if self.plan.timeouts else None
        return self.measure(chunk, dictionary, matched, following, grown, timed_out=timed_out)

    def matched(self, matches: Matches) -> Matched:
        """The matches as measures read them; those of row patterns have no rows between theirs."""
        count, used = int(matches.progress[2]), int(matches.progress[3])
        starts, paths = matches.starts[:count], matches.paths[:used]
        lengths = matches.stops[:count] - starts
        begins = np.append(0, np.cumsum(lengths))
        rows = np.arange(used) + np.repeat(starts - begins[:-1], lengths)
        automaton = self.automaton
        return Matched(
            starts, matches.owners[:count], begins, rows, automaton.variable[paths], ~automaton.excluded[paths]
        )

    def _skip(self, skips: SkipSpec, chunk: Chunk, conditions: Conditions, slots: Slots) -> Matches:
        """Search series that are whole by skipping."""
        sure = bool(skips.sure_next) and bool(slots.known[list(skips.present)].all())
        sure = sure and not any(loading.has_negative(slots, self.plan.slots, slot) for slot in skips.positive)
        shift, following, passes = skips.shift, skips.next, skips.passes
        if sure:
            shift, following, passes = skips.sure_shift, skips.sure_next, skips.sure_passes
        matches = new_matches(chunk.table.num_rows)
        ends, doomed = np.zeros(len(skips.stars) + 1, np.int64), np.zeros((len(skips.stars) + 1, 3), np.int64)
        while True:
            pulse.follow(matches.progress, 1)
            outcome = find_skipping(
                chunk.offsets,
                np.array(skips.elements, np.int32),
                np.array(skips.stars, np.bool_),
                np.array(skips.instructions, np.int32),
                np.array(shift, np.int32),
                np.array(following, np.int32),
                np.array(passes, np.bool_),
                conditions,
                self.plan.skip is SkipTo.NEXT_ROW,
                ends,
                doomed,
                matches,
                self.tests,
            )
            if outcome == o.DONE:
                return matches
            matches = longer_paths(matches)

    def _search(
        self,
        chunk: Chunk,
        origins: Starts,
        edges: Edges,
        conditions: Conditions,
        program: Program,
        slots: Slots,
        work: Work,
        by_table: bool,
        longest: int,
        shown: Ints,
        settled: Bools,
        status: Ints,
    ) -> Matches:
        """Search the chunk; the kernel comes back for more room where it needs it."""
        plan = self.plan
        matches = new_matches(chunk.table.num_rows)
        within = loading.load_within(chunk, plan.within)
        track = new_track(
            self.member, len(plan.aggregates), longest, self.tracked, looks_back=self.looks_back, wide=self.wide_sums
        )
        width = len(plan.instructions)
        ends = np.empty((longest + 1 if by_table else 1, width), np.int32)
        tables = (2 if edges.ahead.any() else 1) if by_table and (edges.last < 0).any() else 0
        unsure = np.empty((tables * (longest + 1) or 1, width), np.bool_)
        path = np.empty(longest, np.int32)
        steps = np.array([0, 0, 0 if plan.timeouts else -1], np.int64)
        while True:
            pulse.follow(matches.progress, 1)
            outcome = find_matches(
                chunk.offsets,
                origins,
                edges,
                self.automaton,
                conditions,
                program,
                slots,
                self.places,
                self.aggregates,
                self.merging,
                within,
                track,
                work,
                by_table,
                ends,
                unsure,
                path,
                _SKIPS[plan.skip],
                self.skip_to,
                plan.budget,
                shown,
                settled,
                matches,
                steps,
                status,
            )
            if outcome == o.NEEDS_ROOM:
                work = more_room(work)
            elif outcome == o.NEEDS_PATHS:
                matches = longer_paths(matches)
            else:
                return matches

    def error(self, kind: int, row: int, chunk: Chunk) -> TrellisError:
        """What went wrong at a row, for people."""
        where = chunk.where(row, self.plan)
        skip = f"AFTER MATCH {self.plan.skip.value} {'|'.join(sorted(self.plan.skip_to))}".rstrip()
        match kind:
            case o.OUT_OF_STEPS:
                return ResourceError(
                    f"The search was given up after {self.plan.budget:,} steps in one partition, at {where}.",
                    cure="Bound the pattern (WITHIN, {n,m}), make conditions stricter, or raise the hint step_budget.",
                )
            case o.SKIP_MISSING:
                return DataError(
                    f"{skip} is impossible: the match at {where} has no such row.",
                    cure="Skip to a variable that every match contains, or use SKIP TO NEXT ROW.",
                )
            case o.SKIP_TO_START:
                return DataError(
                    f"{skip} would find the match at {where} again and again: it leads to its first row.",
                    cure="Skip to a later variable, or use SKIP TO NEXT ROW.",
                )
            case _:
                return self.failure(kind, where)


def _timed_out(matches: Matches) -> Bools:
    """Which of the matches are none, but timed out."""
    timed_out: Bools = matches.following[: int(matches.progress[2])] == o.TIMED_OUT
    return timed_out
