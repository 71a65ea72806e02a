"""What runs in a Python worker: chunks of sorted rows through the kernels, output rows out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from trellis.algebra.automaton import AutomatonScan, Search
from trellis.algebra.query import RowsPerMatch, SkipTo
from trellis.errors import DataError, ResourceError, TrellisError
from trellis.execution import loading
from trellis.execution.chunks import Chunk
from trellis.execution.open_series import OpenSeries, check_resumable, rows_back
from trellis.execution.rows.outputs import Found, Grown, write_outputs
from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Conditions, Edges, Ints, Matched, Matches, Program, Slots, Starts, Work
from trellis.kernels.expressions import evaluate_rows
from trellis.kernels.matches import find_matches
from trellis.kernels.measures import find_aggregates, find_places, label_rows
from trellis.kernels.room import in_order, longer_paths, more_room, new_matches, new_track, new_work
from trellis.kernels.vectors import evaluate_columns
from trellis.kernels.wide import has_wide

__all__ = ["RowMatcher"]

_SKIPS = {
    SkipTo.PAST_LAST_ROW: o.SKIP_PAST_LAST,
    SkipTo.NEXT_ROW: o.SKIP_NEXT,
    SkipTo.FIRST: o.SKIP_FIRST,
    SkipTo.LAST: o.SKIP_LAST,
}
_MODES = {
    RowsPerMatch.ONE: o.ONE_ROW,
    RowsPerMatch.ALL: o.ALL_ROWS,
    RowsPerMatch.ALL_OMIT_EMPTY: o.ALL_OMIT_EMPTY,
    RowsPerMatch.ALL_WITH_UNMATCHED: o.ALL_UNMATCHED,
}
_KINDS = {"always": o.ALWAYS, "spark": o.BIT, "bit": o.BIT, "kernel": o.PROGRAM}

_CODED = ("code", "pair code")

# Beyond this a table of ends would take more memory than the rows it speeds up.
_TABLE_BYTES = 1 << 29


class RowMatcher:
    """A plan as arrays, ready for chunks."""

    def __init__(self, plan: AutomatonScan) -> None:
        self.plan = plan
        variables = plan.variables
        self.automaton = loading.load_automaton(plan)
        self.places = loading.load_places(plan.places, plan.sets, measures=False)
        self.aggregates = loading.load_aggregates(plan.aggregates, plan.sets, len(variables))
        self.member = loading.load_member(plan.sets, variables)
        self.merging = loading.load_merging(plan)
        self.skip_to = np.array([name in plan.skip_to for name in variables], np.bool_)
        self.measure_member = loading.load_member(plan.measure_sets, variables)
        self.measure_places = loading.load_places(plan.measure_places, plan.measure_sets, measures=True)
        self.measure_aggregates = loading.load_aggregates(plan.measure_aggregates, plan.measure_sets, len(variables))
        self.measure_final = np.array([spec.final for spec in plan.measure_aggregates], np.bool_)
        self.tracked = any(condition.where == "kernel" for condition in plan.conditions)
        self.looks_back = any(spec.previous < -1 for spec in plan.aggregates)
        self.wide_sums = any(spec.kind >= o.SUM_WIDE for spec in plan.aggregates)
        self.wide = has_wide(plan.program.code)
        self.code = np.array(plan.program.code, np.int32).reshape(len(plan.program.code), 3)
        texts = [text for _, text in plan.program.strings]
        self.constants = list(dict.fromkeys([*texts, *variables])) if self._uses_strings() else []

    def run(self, chunk: Chunk) -> Iterator[pa.RecordBatch]:
        """The output rows of a chunk."""
        dictionary = self._dictionary(chunk)
        yield from self.measure(chunk, dictionary, self.find(chunk, dictionary))

    def resume(
        self, chunk: Chunk, states: Sequence[OpenSeries], final: Sequence[bool]
    ) -> tuple[list[pa.RecordBatch], list[OpenSeries]]:
        """The output rows that are decided, and where the search through each series stands then.

        Of each series the chunk holds the rows from `first` of its state on; if `final`, there will be no more.
        """
        check_resumable(self.plan)
        if chunk.table.num_rows == 0:
            return [], list(states)
        base, begun, numbers, shown = (
            np.array([getattr(state, name) for state in states], np.int64)
            for name in ("first", "start", "matches", "shown")
        )
        to_series = base - chunk.offsets[:-1]
        chunk = replace(chunk, gone=base)
        dictionary = self._dictionary(chunk)
        origins = loading.load_starts(chunk, None)._replace(begins=begun - to_series)
        edges = loading.load_edges(self.plan, chunk, states, final)
        matches = self.find(chunk, dictionary, origins, edges)
        grown = Grown(numbers, shown - to_series, edges.undecided)
        batches = list(self.measure(chunk, dictionary, matches, grown))
        count = int(matches.progress[2])
        starts, stops, owners = matches.starts[:count], matches.stops[:count], matches.owners[:count]
        seen = np.maximum(grown.shown, grown.undecided)
        np.maximum.at(seen, owners, np.maximum(stops, starts + 1))
        undecided, found = edges.undecided + to_series, numbers + np.bincount(owners, minlength=len(states))
        needed = np.maximum(0, undecided - rows_back(self.plan))
        columns = (needed, undecided, found, seen + to_series)
        return batches, [OpenSeries(*values) for values in zip(*(c.tolist() for c in columns), strict=True)]

    def find(
        self,
        chunk: Chunk,
        dictionary: loading.Dictionary | None,
        origins: Starts | None = None,
        edges: Edges | None = None,
    ) -> Matches:
        """The matches of a chunk, of whole series unless it is said where they begin and end."""
        origins = loading.load_starts(chunk, self.plan.slices) if origins is None else origins
        edges = loading.load_edges(self.plan, chunk, (), ()) if edges is None else edges
        plan = self.plan
        status = np.zeros(3, np.int64)
        slots = loading.load_slots(chunk, plan.slots, dictionary)
        program = self.program(dictionary)
        longest, width = int(np.diff(chunk.offsets).max()), len(plan.instructions)
        by_table = plan.search is Search.TABLE and longest * width * 4 <= _TABLE_BYTES
        keyed = self.tracked or plan.within is not None
        work = new_work(longest, width, self.merging.width, plan.program.depth, by_table, keyed, self.wide)
        conditions = self.conditions(chunk, slots, program, work, status, origins, edges)
        self._check(status, chunk)
        matches = self._search(chunk, origins, edges, conditions, program, slots, work, by_table, longest, status)
        self._check(status, chunk)
        return matches if plan.slices is None else in_order(matches)

    def measure(
        self, chunk: Chunk, dictionary: loading.Dictionary | None, matches: Matches, grown: Grown | None = None
    ) -> Iterator[pa.RecordBatch]:
        """The output rows of the matches of a chunk."""
        plan = self.plan
        status = np.zeros(3, np.int64)
        matched = self._matched(matches)
        following = matches.following[: len(matched.starts)]
        mode = _MODES[plan.rows_per_match]
        most = len(matched.starts) + (len(matched.rows) if mode != o.ONE_ROW else 0)
        most += chunk.table.num_rows if mode == o.ALL_UNMATCHED else 0
        row, match, number, seen = (np.empty(most, np.int64) for _ in range(4))
        rows = label_rows(chunk.offsets, matched, mode, row, match, number, seen)
        row, match, number, seen = row[:rows], match[:rows], number[:rows], seen[:rows]
        if grown is not None:
            row, match, number, seen = grown.output_rows(chunk.offsets, row, match, number, seen)
        if len(row) == 0:
            return
        most = int(np.diff(matched.begins).max(initial=1))
        index = np.empty((len(plan.measure_places), len(row)), np.int64)
        label = np.empty((len(plan.measure_places), len(row)), np.int32)
        if plan.measure_places:
            find_places(
                chunk.offsets,
                matched,
                self.measure_member,
                self.measure_places,
                np.empty((len(plan.measure_sets), most), np.int64),
                np.zeros((len(plan.measure_sets), most + 1), np.int64),
                match,
                seen,
                index,
                label,
            )
        shape = (len(plan.measure_aggregates), len(row))
        whole, real, known = np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape, np.bool_)
        if plan.measure_aggregates:
            find_aggregates(
                matched,
                new_track(self.measure_member, len(plan.measure_aggregates), _widest(matched), True),
                np.zeros((len(plan.measure_sets), most + 1), np.int64),
                self.measure_aggregates,
                self.measure_final,
                loading.load_slots(chunk, plan.measure_slots, dictionary),
                match,
                seen,
                whole,
                real,
                known,
                status,
            )
            self._check(status, chunk)
        yield write_outputs(
            plan, chunk, Found(matched, following, row, match, number, seen, index, label, whole, real, known)
        )

    def _matched(self, matches: Matches) -> Matched:
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
        unsure = np.empty((longest + 1 if by_table and (edges.last < 0).any() else 1, width), np.bool_)
        path = np.empty(longest, np.int32)
        steps = np.zeros(2, np.int64)
        while True:
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

    def conditions(
        self, chunk: Chunk, slots: Slots, program: Program, work: Work, status: Ints, origins: Starts, edges: Edges
    ) -> Conditions:
        """The bits of all conditions that look at a row and its neighbours only.

        They are not computed where a neighbour is gone or still to come: there they might fail.
        """
        planned = self.plan.conditions
        local = [condition for condition in planned if condition.where in ("spark", "bit")]
        bits = np.zeros((len(local), chunk.table.num_rows), np.bool_)
        for number, condition in enumerate(local):
            if condition.where == "spark":
                bits[number] = loading.bits_of(chunk, condition.column, condition.mask)
                continue
            columns = evaluate_columns(condition.begin, condition.end, program, slots, self.places, chunk.offsets)
            if columns is not None:
                bits[number] = columns
            elif status[0] == o.DONE:
                ahead = edges.ahead[planned.index(condition)]
                stops = np.where(edges.last < 0, chunk.offsets[1:] - ahead, chunk.offsets[1:])
                evaluate_rows(
                    condition.begin,
                    condition.end,
                    program,
                    slots,
                    self.places,
                    self.aggregates,
                    chunk.offsets,
                    origins.begins,
                    stops,
                    new_track(self.member, 0, 0, False),
                    work,
                    bits[number],
                    status,
                )
        places = [local.index(condition) if condition in local else -1 for condition in planned]
        return Conditions(
            np.array([_KINDS[condition.where] for condition in planned], np.int32),
            np.array(places, np.int32),
            np.array([condition.begin for condition in planned], np.int64),
            np.array([condition.end for condition in planned], np.int64),
            bits,
        )

    def program(self, dictionary: loading.Dictionary | None) -> Program:
        """The programs, with the codes of strings in this chunk."""
        spec = self.plan.program
        ints = np.array(spec.ints, np.int64)
        labels = np.zeros(len(self.plan.variables), np.int64)
        if dictionary is not None:
            for place, text in spec.strings:
                ints[place] = dictionary.constant(text)
            labels[:] = [dictionary.constant(name) for name in self.plan.variables]
        return Program(self.code, ints, np.array(spec.floats, np.float64), labels, spec.lenient)

    def _uses_strings(self) -> bool:
        plan = self.plan
        coded = any(source.held in _CODED for source in (*plan.slots, *plan.measure_slots))
        return coded or bool(plan.program.strings) or any(row[0] == o.LABEL for row in plan.program.code)

    def _dictionary(self, chunk: Chunk) -> loading.Dictionary | None:
        if not self._uses_strings():
            return None
        sources = (*self.plan.slots, *self.plan.measure_slots)
        columns = dict.fromkeys(source.column for source in sources if source.held in _CODED)
        return loading.Dictionary(chunk, list(columns), self.constants)

    def _check(self, status: Ints, chunk: Chunk) -> None:
        if status[0] != o.DONE:
            raise self._error(int(status[0]), int(status[1]), chunk)

    def _error(self, kind: int, row: int, chunk: Chunk) -> TrellisError:
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
            case o.FUNCTION_FAILED:
                return DataError(
                    f"A function of CLASSIFIER() fails at {where} for the variable that it finds.",
                    cure="Guard it with CASE WHEN CLASSIFIER() IN (...), or with try_cast and its like.",
                )
            case o.DIVISION_BY_ZERO:
                return DataError(f"A condition divides by zero at {where}.", cure="Guard it with NULLIF(divisor, 0).")
            case _:
                return DataError(
                    f"A number is too large for its type at {where}.", cure="Cast to a wider type, or to DOUBLE."
                )


def _widest(matched: Matched) -> int:
    """From how many rows the rows of a match are, those between them included."""
    full = np.flatnonzero(np.diff(matched.begins))
    firsts, lasts = matched.rows[matched.begins[full]], matched.rows[matched.begins[full + 1] - 1]
    return int((lasts - firsts + 1).max(initial=1))
