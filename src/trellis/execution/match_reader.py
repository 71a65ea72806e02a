"""What matchers share that map rows to variables: conditions of single rows, programs, and what measures read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from trellis.algebra.automaton import MatchScan
from trellis.algebra.query import RowsPerMatch
from trellis.errors import DataError, TrellisError
from trellis.execution import loading
from trellis.execution.chunks import Chunk
from trellis.execution.rows.outputs import Found, Graphs, Grown, write_outputs
from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Bools, Conditions, Edges, Ints, Matched, Program, Slots, Starts, Work
from trellis.kernels.expressions import evaluate_rows
from trellis.kernels.measures import find_aggregates, find_places, label_rows
from trellis.kernels.room import new_track
from trellis.kernels.vectors import evaluate_columns

__all__ = ["MatchReader"]

_MODES = {
    RowsPerMatch.ONE: o.ONE_ROW,
    RowsPerMatch.ALL: o.ALL_ROWS,
    RowsPerMatch.ALL_OMIT_EMPTY: o.ALL_OMIT_EMPTY,
    RowsPerMatch.ALL_WITH_UNMATCHED: o.ALL_UNMATCHED,
}
_KINDS = {"always": o.ALWAYS, "spark": o.BIT, "bit": o.BIT, "kernel": o.PROGRAM}
_CODED = ("code", "pair code")


class MatchReader(ABC):
    """A plan as arrays, as far as all these searches need it."""

    def __init__(self, plan: MatchScan) -> None:
        self.plan = plan
        variables = plan.variables
        self.places = loading.load_places(plan.places, plan.sets, measures=False)
        self.aggregates = loading.load_aggregates(plan.aggregates, plan.sets, len(plan.conditions))
        self.member = loading.load_member(plan.sets, variables)
        self.measure_member = loading.load_member(plan.measure_sets, variables)
        self.measure_places = loading.load_places(plan.measure_places, plan.measure_sets, measures=True)
        self.measure_aggregates = loading.load_aggregates(plan.measure_aggregates, plan.measure_sets, len(variables))
        self.measure_final = np.array([spec.final for spec in plan.measure_aggregates], np.bool_)
        self.code = np.array(plan.program.code, np.int32).reshape(len(plan.program.code), 3)
        texts = [text for _, text in plan.program.strings]
        self.constants = list(dict.fromkeys([*texts, *variables])) if self._uses_strings() else []

    def measure(
        self,
        chunk: Chunk,
        dictionary: loading.Dictionary | None,
        matched: Matched,
        following: Ints,
        grown: Grown | None = None,
        before: Ints | None = None,
        graphs: Graphs | None = None,
        timed_out: Bools | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """The output rows of matches; `before` are the matches of the same series that were given out earlier.

        Those that `timed_out` take no number: it is 0.
        """
        plan = self.plan
        status = np.zeros(3, np.int64)
        mode = _MODES[plan.rows_per_match]
        most = len(matched.starts) + (len(matched.rows) if mode != o.ONE_ROW else 0)
        most += chunk.table.num_rows if mode == o.ALL_UNMATCHED else 0
        row, match, number, seen = (np.empty(most, np.int64) for _ in range(4))
        rows = label_rows(chunk.offsets, matched, mode, row, match, number, seen)
        row, match, number, seen = row[:rows], match[:rows], number[:rows], seen[:rows]
        if timed_out is not None:
            before = -_counted_before(timed_out, matched.owners)
        if before is not None:
            number = number + before[match]
        if grown is not None:
            row, match, number, seen = grown.output_rows(chunk.offsets, row, match, number, seen)
        if timed_out is not None:
            number[timed_out[match]] = 0
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
            self.check(status, chunk)
        yield write_outputs(
            plan, chunk, Found(matched, following, row, match, number, seen, index, label, whole, real, known, graphs)
        )

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

    def dictionary(self, chunk: Chunk) -> loading.Dictionary | None:
        """The codes of strings in a chunk, where kernels compare any."""
        if not self._uses_strings():
            return None
        sources = (*self.plan.slots, *self.plan.measure_slots)
        columns = dict.fromkeys(source.column for source in sources if source.held in _CODED)
        return loading.Dictionary(chunk, list(columns), self.constants)

    def check(self, status: Ints, chunk: Chunk) -> None:
        """Raise what a kernel ran into."""
        if status[0] != o.DONE:
            raise self.error(int(status[0]), int(status[1]), chunk)

    @abstractmethod
    def error(self, kind: int, row: int, chunk: Chunk) -> TrellisError:
        """What went wrong at a row, for people."""
        ...

    def failure(self, kind: int, where: str) -> TrellisError:
        """What can go wrong in any condition."""
        match kind:
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


def _counted_before(chosen: Bools, owners: Ints) -> Ints:
    """For each match, how many of the chosen ones come before it in its series."""
    before: Ints = np.cumsum(chosen) - chosen
    firsts = np.flatnonzero(np.diff(owners, prepend=-1))
    counted: Ints = before - np.repeat(before[firsts], np.diff(np.append(firsts, len(owners))))
    return counted


def _widest(matched: Matched) -> int:
    """From how many rows the rows of a match are, those between them included."""
    full = np.flatnonzero(np.diff(matched.begins))
    firsts, lasts = matched.rows[matched.begins[full]], matched.rows[matched.begins[full + 1] - 1]
    return int((lasts - firsts + 1).max(initial=1))
