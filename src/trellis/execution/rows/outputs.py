"""From matches to Arrow columns: values are taken from the rows that the kernels point at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from trellis.algebra.automaton import MatchScan
from trellis.algebra.scan import First, Gather, Label, ListAggregate, Mark, Number, OfGraph, Output, Present, Value
from trellis.execution.chunks import Chunk
from trellis.execution.slices import match_mark, row_marks
from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Bools, Floats, Ints, Matched, Shorts
from trellis.kernels.measures import list_rows

__all__ = ["Found", "Graphs", "Grown", "take_rows", "write_outputs"]


@dataclass(frozen=True, slots=True)
class Graphs:
    """Of each output row the number of matches in two words, and their graph; see `kernels.event_arrays`."""

    high: Ints
    low: Ints
    nodes: Ints
    node_row: Ints
    node_part: Ints
    edges: Ints
    source: Ints
    target: Ints


@dataclass(frozen=True, slots=True)
class Found:
    """The matches of a chunk (`matched`, and where the search goes on after each), and its output rows (the rest).

    Those of matches that timed out have the `number` 0.
    `graphs` are there if an output row stands for all matches that end at one event.
    """

    matched: Matched
    following: Ints
    row: Ints
    match: Ints
    number: Ints
    seen: Ints
    index: Ints
    label: Shorts
    whole: Ints
    real: Floats
    known: Bools
    graphs: Graphs | None = None


@dataclass(frozen=True, slots=True)
class Grown:
    """Of series that still grow: matches found and rows shown before, and the rows from which they are undecided."""

    numbers: Ints
    shown: Ints
    undecided: Ints

    def output_rows(
        self, offsets: Ints, row: Ints, match: Ints, number: Ints, seen: Ints
    ) -> tuple[Ints, Ints, Ints, Ints]:
        """The output rows of whole series as those of growing ones; only unmatched rows that are settled and new."""
        series = np.searchsorted(offsets, row, side="right") - 1
        kept = (match >= 0) | ((row >= self.shown[series]) & (row < self.undecided[series]))
        return row[kept], match[kept], (number + self.numbers[series])[kept], seen[kept]


def write_outputs(plan: MatchScan, chunk: Chunk, found: Found) -> pa.RecordBatch:
    """One record batch with the outputs that the plan asks for."""
    if not plan.outputs:
        # A result without columns still has rows.
        return pa.RecordBatch.from_arrays([pa.nulls(len(found.row), pa.int64())], ["__m0"])
    columns = [_column(output, plan, chunk, found) for _, output in plan.outputs]
    return pa.RecordBatch.from_arrays(columns, [name for name, _ in plan.outputs])


def _column(output: Output, plan: MatchScan, chunk: Chunk, found: Found) -> pa.Array:
    match output:
        case Gather(column=column, place=-1):
            return chunk.column(column).take(pa.array(found.row))
        case Gather(column=column, place=place):
            return take_rows(chunk.column(column), found.index[place])
        case Present(place=place):
            return pa.array(found.index[place] >= 0)
        case Label(place=place):
            return take_rows(pa.array(plan.variables, pa.string()), found.label[place])
        case First():
            return pa.array((found.match >= 0) & (found.number > 0) & (np.diff(found.match, prepend=-1) != 0))
        case Mark(what=what):
            return _mark(what, plan, chunk, found)
        case Number():
            # What is no match has no number.
            return pa.array(found.number, mask=(found.match < 0) | (found.number <= 0))
        case Value(aggregate=number, columns=()):
            spec = plan.measure_aggregates[number]
            values = found.whole[number] if spec.kind < o.SUM_FLOAT else found.real[number]
            return pa.array(values, mask=~found.known[number])
        case Value(aggregate=number, columns=columns):
            rows = np.where(found.known[number], found.whole[number], -1)
            return _choose(chunk, columns, rows, found.real[number].astype(np.int64))
        case ListAggregate():
            return _list(output, plan, chunk, found)
        case OfGraph(what=what, column=name):
            assert found.graphs is not None
            return _of_graph(what, chunk.column(name) if name else None, found.graphs)


def _mark(what: str, plan: MatchScan, chunk: Chunk, found: Found) -> pa.Array:
    if what == "row":
        return row_marks(found.match)
    assert plan.slices is not None
    marks = match_mark(what, plan.slices, chunk, found.matched.owners, found.matched.starts, found.following)
    return pa.array(marks[found.match])


def _list(output: ListAggregate, plan: MatchScan, chunk: Chunk, found: Found) -> pa.Array:
    names = plan.variables
    wanted = np.array([output.variables is None or name in output.variables for name in names], np.bool_)
    offsets = np.empty(len(found.match) + 1, np.int64)
    room = len(found.matched.rows)
    while True:
        rows, labels = np.empty(room, np.int64), np.empty(room, np.int64)
        used = list_rows(
            found.matched,
            wanted,
            output.final,
            found.match,
            found.seen,
            offsets,
            rows,
            labels,
        )
        if used <= room:
            break
        room = used
    values = _choose(chunk, output.columns, rows[:used], labels[:used])
    return _lists(offsets, values)


def _of_graph(what: str, column: pa.Array | None, graphs: Graphs) -> pa.Array:
    match what:
        case "matches":
            # The bytes of decimals are the two words, the lower one first.
            words = np.ascontiguousarray(np.stack([graphs.low, graphs.high], axis=1))
            known = np.packbits(graphs.high >= 0, bitorder="little")
            buffers = [pa.py_buffer(known), pa.py_buffer(words)]
            return pa.Array.from_buffers(pa.decimal128(38, 0), len(words), buffers)
        case "parts":
            return _lists(graphs.nodes, pa.array(graphs.node_part.astype(np.int32)))
        case "events":
            assert column is not None
            return _lists(graphs.nodes, take_rows(column, graphs.node_row))
        case "sources":
            return _lists(graphs.edges, pa.array(graphs.source.astype(np.int32)))
        case _:
            return _lists(graphs.edges, pa.array(graphs.target.astype(np.int32)))


def _lists(offsets: Ints, values: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), values)


def take_rows(column: pa.Array, rows: NDArray[np.int64] | NDArray[np.int32]) -> pa.Array:
    """The values of rows, NULL where there is no row."""
    missing = rows < 0
    return column.take(pa.array(rows, mask=missing) if missing.any() else pa.array(rows))


def _choose(chunk: Chunk, columns: tuple[str, ...], rows: Ints, labels: Ints) -> pa.Array:
    """The values of rows, from the column that belongs to the label of each row."""
    if len(set(columns)) == 1:
        return take_rows(chunk.column(columns[0]), rows)
    stacked = pa.concat_arrays([chunk.column(name) for name in columns])
    return take_rows(stacked, np.where(rows >= 0, rows + labels * chunk.table.num_rows, -1))
