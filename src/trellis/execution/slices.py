"""Matches of slices: where each stands, and the last pass that decides between those of neighbouring slices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from trellis.algebra.plan import Scan
from trellis.algebra.scan import Gather, Mark, Number, Output, SliceSpec
from trellis.errors import DataError
from trellis.execution.chunks import Chunk, series_starts
from trellis.execution.loading import load_starts, slice_numbers
from trellis.kernels.arrays import Ints
from trellis.kernels.slices import resolve_slices

__all__ = ["ENDS", "MARKS", "NumberTask", "ResolveTask", "marks_of", "match_mark", "row_marks"]

# As many rows as no slice has.
_ALL = 1 << 62

_SLICE, _START, _NEXT, _ROWS, _ROW = "__slice", "__start", "__next", "__rows", "__row"
_MATCH = "__match"
MARKS = (_SLICE, _START, _MATCH, _ROW)
"""What `ResolveTask` expects its rows sorted by, after their keys."""
_BEYOND = f"{_NEXT} >= {_ROWS}"
ENDS = (f"{_SLICE} + IF({_BEYOND}, 1, 0)", f"{_NEXT} - IF({_BEYOND}, {_ROWS}, 0)")
"""The slice in which a match of events ends, and its last row there; the halo of a slice is the beginning of the next.

`NumberTask` expects its rows sorted by them, and then by `MARKS`.
"""


def match_mark(what: str, spec: SliceSpec, chunk: Chunk, series: Ints, starts: Ints, following: Ints) -> Ints:
    """A mark of each match: `series` are their series in the chunk, `starts` and `following` rows of it."""
    low = chunk.offsets[series]
    base = np.zeros(len(starts), np.int64)
    if spec.base:
        base = chunk.column(spec.base).take(pa.array(starts)).to_numpy(zero_copy_only=False).astype(np.int64)
    match what:
        case "start":
            return starts - low + base
        case "next":
            return np.where(following < 0, following, following - low + base)
        case "rows":
            return np.full(len(starts), _ALL) if spec.base else load_starts(chunk, spec).ends[series] - low
        case "slice" if spec.base:
            return base * 0
        case "slice":
            return slice_numbers(chunk, spec)[starts]
        case _:
            raise AssertionError(what)


def row_marks(match: Ints) -> pa.Array:
    """The number of each output row within its match; `match` numbers the matches of all output rows."""
    first = np.diff(match, prepend=-1) != 0
    return pa.array(np.arange(len(match)) - np.flatnonzero(first)[np.cumsum(first) - 1])


def marks_of(scan: Scan) -> tuple[tuple[str, Output], ...]:
    """The further outputs of the matcher that `resolve` reads."""
    assert scan.slices is not None
    keys = tuple((f"__key{number}", Gather(name, -1)) for number, name in enumerate(scan.keys[:-1]))
    return (
        *keys,
        (_SLICE, Mark("slice")),
        (_START, Mark("start")),
        (_NEXT, Mark("next")),
        (_ROWS, Mark("rows")),
        (_MATCH, Number()),
        (_ROW, Mark("row")),
    )


class ResolveTask:
    """Keeps the matches that a search through whole series finds, and numbers them. Workers run it."""

    def __init__(self, keys: list[str], columns: list[str], numbered: list[str], skip: str) -> None:
        self.keys, self.columns, self.numbered, self.skip = keys, columns, numbered, skip

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rows with their marks in, those that count out."""
        state = np.zeros(3, np.int64)
        last: pa.RecordBatch | None = None
        taken = np.zeros(1, np.int64)
        for batch in batches:
            if batch.num_rows == 0:
                continue
            new_series = np.zeros(batch.num_rows, np.bool_)
            new_series[series_starts(batch, last, self.keys)] = True
            rows = [_ints(batch, name) for name in (_SLICE, _START, _NEXT, _ROWS, _ROW)]
            first = rows[4] == 0
            chosen = [column[first] for column in rows]
            numbers = np.zeros(len(chosen[0]), np.int64)
            stuck = resolve_slices(new_series[first], chosen[0], chosen[1], chosen[2], chosen[3], state, numbers)
            if stuck >= 0:
                raise _stuck(self.skip, int(chosen[2][stuck]))
            # Rows before the first match of this batch belong to the last one of the batch before.
            numbered = np.append(taken, numbers)[np.cumsum(first)]
            taken, last = numbered[-1:], batch.slice(batch.num_rows - 1)
            keep = pa.array(numbered > 0)
            columns = [pa.array(numbered) if name in self.numbered else batch.column(name) for name in self.columns]
            yield pa.RecordBatch.from_arrays(columns, self.columns).filter(keep)


class NumberTask:
    """Numbers matches in the order in which they come; what timed out has no number. Workers run it."""

    def __init__(self, keys: list[str], columns: list[str], numbered: list[str]) -> None:
        self.keys, self.columns, self.numbered = keys, columns, numbered

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same rows, with their numbers within their series."""
        before, last = 0, None
        for batch in batches:
            if batch.num_rows == 0:
                continue
            is_match = batch.column(_MATCH).is_valid().to_numpy(zero_copy_only=False)
            number = np.cumsum(is_match)
            begins = np.asarray(series_starts(batch, last, self.keys), np.int64)
            # Where a series begins, its numbers do.
            offset = np.zeros(batch.num_rows, np.int64)
            offset[begins] = (number - is_match)[begins]
            offset = np.maximum.accumulate(offset)
            carried = batch.num_rows if len(begins) == 0 else int(begins[0])
            number = number - offset
            number[:carried] += before
            before, last = int(number[-1]), batch.slice(batch.num_rows - 1)
            numbers = pa.array(number, mask=~is_match)
            columns = [numbers if name in self.numbered else batch.column(name) for name in self.columns]
            yield pa.RecordBatch.from_arrays(columns, self.columns)


def _ints(batch: pa.RecordBatch, name: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    values: np.ndarray[tuple[int], np.dtype[np.int64]] = batch.column(name).to_numpy(zero_copy_only=False)
    return values.astype(np.int64)


def _stuck(skip: str, why: int) -> DataError:
    """The error that a search through a whole series gives, too; the row's number in the series is not known here."""
    if why == -1:
        return DataError(
            f"{skip} is impossible: a match has no such row.",
            cure="Skip to a variable that every match contains, or use SKIP TO NEXT ROW.",
        )
    return DataError(
        f"{skip} would find a match again and again: it leads to its first row.",
        cure="Skip to a later variable, or use SKIP TO NEXT ROW.",
    )
