"""What runs in a Python worker for segment queries: chunks of sorted rows in, a row for each match out."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from trellis.algebra.query import RowsPerMatch, Wanted
from trellis.algebra.scan import First, Gather, Label, ListAggregate, Mark, Number, Output, Present, Value
from trellis.algebra.segments import WHOLE_MATCH, SegmentScan
from trellis.execution import loading
from trellis.execution.chunks import Chunk
from trellis.execution.open_series import EVER, NEVER, OpenSeries, Resumed, remembers_matches, rows_before
from trellis.execution.rows.outputs import take_rows
from trellis.execution.segments.conditions import row_of
from trellis.execution.segments.finder import Choose, Finder, SegmentMatches
from trellis.execution.segments.functions import Environment, UserFunction, evaluate_function, extreme_rows
from trellis.execution.segments.rows import Rows
from trellis.execution.slices import match_mark, row_marks
from trellis.kernels.arrays import Array, Bools, Ints, Program

__all__ = ["SegmentMatcher"]

_BATCH = 1 << 16
_MANY = 1e9
_LOG = logging.getLogger("trellis")


class SegmentMatcher:
    """A plan, ready for chunks."""

    def __init__(self, plan: SegmentScan, users: Mapping[str, UserFunction], choose: Choose) -> None:
        self.plan, self.users = plan, users
        self.finder = Finder(plan, choose, users)
        # Whether a match depends on no other: none is skipped, and none is counted.
        self.apart = plan.wanted is Wanted.ALL and not remembers_matches(plan)
        self._texts = [text for _, text in plan.program.strings]
        self._coded = list(dict.fromkeys(source.column for source in plan.slots if source.held == "code"))

    def run(self, chunk: Chunk) -> Iterator[pa.RecordBatch]:
        """The output rows of a chunk."""
        dictionary = self.dictionary(chunk)
        slots = loading.load_slots(chunk, self.plan.slots, dictionary)
        self._warn(chunk)
        spec = self.plan.slices
        start_before = None if spec is None else loading.load_starts(chunk, spec).ends
        rows, matches = self.finder.find(
            chunk.offsets, slots, self.program(dictionary), start_before, lambda row: chunk.where(row, self.plan)
        )
        for first in range(0, len(matches.starts), _BATCH):
            yield self._write(chunk, rows, _cut(matches, first, first + _BATCH))

    def resume(self, chunk: Chunk, series: OpenSeries, final: Bools, horizon: int = EVER) -> Resumed:
        """The output rows that are decided, and where the search through each series stands then.

        Of each series the chunk holds the rows from `first` on; if `final`, there will be no more. Rows to come have no
        smaller time than `horizon`. Where no window bounds the matches, and they depend on each other, none is decided
        before.
        """
        assert self.plan.slices is None, "a slice is no series"
        base, begun, numbers, shown, _ = series
        if chunk.table.num_rows == 0:
            return Resumed([], series, np.full(len(base), NEVER))
        to_series = base - chunk.offsets[:-1]
        chunk = replace(chunk, gone=base)
        dictionary = self.dictionary(chunk)
        slots = loading.load_slots(chunk, self.plan.slots, dictionary)
        rows, matches, undecided, due = self.finder.find_settled(
            chunk.offsets,
            slots,
            self.program(dictionary),
            begun - to_series,
            shown - to_series if self.apart else None,
            ~final,
            horizon,
            lambda row: chunk.where(row, self.plan),
        )
        owners = np.searchsorted(chunk.offsets, matches.starts, side="right") - 1
        matches = replace(matches, numbers=matches.numbers + numbers[owners])
        cuts = range(0, len(matches.starts), _BATCH)
        batches = [self._write(chunk, rows, _cut(matches, first, first + _BATCH)) for first in cuts]
        start, found = undecided + to_series, numbers + np.bincount(owners, minlength=len(base))
        after = series._replace(
            first=np.maximum(0, start - rows_before(self.plan)),
            start=start,
            matches=found,
            shown=chunk.offsets[1:] + to_series if self.apart else start,
        )
        return Resumed(batches, after, due)

    def _warn(self, chunk: Chunk) -> None:
        """Say how large the search is before it starts, where it is very large."""
        lengths = np.diff(chunk.offsets).astype(np.float64)
        most = self.plan.tree.window.most
        segments = float((lengths * (lengths if most is None else np.minimum(lengths, most))).sum()) / 2
        if segments > _MANY and not self.plan.tree.window.times:
            _LOG.warning(
                "%.3g segments to look at in %d series of up to %d rows; a window would make them fewer",
                segments,
                len(lengths),
                int(lengths.max()),
            )

    def dictionary(self, chunk: Chunk) -> loading.Dictionary | None:
        """Codes for the strings of a chunk."""
        if not self._coded and not self._texts:
            return None
        return loading.Dictionary(chunk, self._coded, list(dict.fromkeys(self._texts)))

    def program(self, dictionary: loading.Dictionary | None) -> Program:
        """The programs, with the codes of strings in this chunk."""
        spec = self.plan.program
        ints = np.array(spec.ints, np.int64)
        if dictionary is not None:
            for place, text in spec.strings:
                ints[place] = dictionary.constant(text)
        code = np.array(spec.code, np.int32).reshape(len(spec.code), 3)
        return Program(code, ints, np.array(spec.floats, np.float64), np.zeros(0, np.int64), spec.lenient)

    def _write(self, chunk: Chunk, rows: Rows, matches: SegmentMatches) -> pa.RecordBatch:
        count = len(matches.starts)
        owner, row = np.arange(count), matches.starts
        if self.plan.rows_per_match is not RowsPerMatch.ONE:
            lengths = matches.ends - matches.starts + 1
            owner = np.repeat(owner, lengths)
            row = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + matches.starts[owner]
        environment: Environment = {WHOLE_MATCH: (matches.starts, matches.ends), **matches.bindings}
        if not self.plan.outputs:
            return pa.RecordBatch.from_arrays([pa.nulls(len(row), pa.int64())], ["__m0"])
        columns = [
            self._column(output, chunk, rows, matches, environment, owner, row) for _, output in self.plan.outputs
        ]
        return pa.RecordBatch.from_arrays(columns, [name for name, _ in self.plan.outputs])

    def _column(
        self,
        output: Output,
        chunk: Chunk,
        rows: Rows,
        matches: SegmentMatches,
        environment: Environment,
        owner: Ints,
        row: Ints,
    ) -> pa.Array:
        match output:
            case Gather(column=column, place=-1):
                return chunk.column(column).take(pa.array(row))
            case Gather(column=column, place=place):
                return take_rows(chunk.column(column), self._row(place, rows, environment)[owner])
            case Present(place=place):
                return pa.array(self._row(place, rows, environment)[owner] >= 0)
            case Number():
                return pa.array(matches.numbers[owner])
            case First():
                return pa.array(np.diff(owner, prepend=-1) != 0)
            case Value(aggregate=number, columns=(column,)):
                found = extreme_rows(rows, self.plan.values[number], environment)
                return take_rows(chunk.column(column), found[owner])
            case Value(aggregate=number):
                function = self.plan.values[number]
                lengths = (1, rows.longest)
                found, known = evaluate_function(rows, function, environment, False, lengths, self.users)
                values: Array = found[owner]
                if function.name == "equal_up_down_ticks":
                    values = values.astype(np.bool_)
                return pa.array(values, mask=~known[owner])
            case Mark(what=what):
                return self._mark(what, chunk, matches, owner)
            case Label() | ListAggregate():
                raise AssertionError(output)

    def _mark(self, what: str, chunk: Chunk, matches: SegmentMatches, owner: Ints) -> pa.Array:
        if what == "row":
            return row_marks(owner)
        assert self.plan.slices is not None
        series = np.searchsorted(chunk.offsets, matches.starts, side="right") - 1
        marks = match_mark(what, self.plan.slices, chunk, series, matches.starts, matches.following)
        return pa.array(marks[owner])

    def _row(self, place: int, rows: Rows, environment: Environment) -> Ints:
        where = self.plan.places[place]
        return row_of(rows, environment[where.variable], where.from_first, where.offset, where.shift)


def _cut(matches: SegmentMatches, first: int, stop: int) -> SegmentMatches:
    bindings = {name: (s[first:stop], e[first:stop]) for name, (s, e) in matches.bindings.items()}
    cut = slice(first, stop)
    starts, ends, numbers, following = (
        part[cut] for part in (matches.starts, matches.ends, matches.numbers, matches.following)
    )
    return SegmentMatches(starts, ends, bindings, numbers, following)
