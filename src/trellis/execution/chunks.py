"""Record batches in, chunks of whole series out.

Rows arrive sorted by key. A chunk ends where the key changes, so memory is bounded by the largest series and the size
of a chunk, never by the partition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from trellis.algebra.plan import Scan

__all__ = ["Chunk", "read_chunks", "series_starts"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows of whole series; series `k` has the rows `offsets[k]` to `offsets[k + 1]`.

    Of a series that comes in several chunks, `gone[k]` rows before these are gone. Rows that are `settled` begin no
    match that is still to be found.
    """

    table: pa.Table
    offsets: NDArray[np.int64]
    gone: NDArray[np.int64] | None = None
    settled: NDArray[np.bool_] | None = None

    def column(self, name: str) -> pa.Array:
        """A column as one array."""
        column = self.table.column(name)
        return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)

    def where(self, row: int, scan: Scan) -> str:
        """A row as people find it, for errors: its number in its series, and the keys of that."""
        series = int(np.searchsorted(self.offsets, row, side="right")) - 1
        gone = 0 if self.gone is None else int(self.gone[series])
        place = f"row {row - int(self.offsets[series]) + 1 + gone}"
        if scan.slices is not None:
            place = f"{place} (of a slice)"
        elif scan.dropped:
            place = f"{place} (of those that were not dropped before)"
        names = scan.keys if scan.slices is None else scan.keys[:-1]
        keys = ", ".join(repr(self.column(key)[row].as_py()) for key in names)
        return f"{place} of the partition ({keys})" if keys else place


@dataclass(slots=True)
class _Pending:
    batches: list[pa.RecordBatch] = field(default_factory=list)
    starts: list[NDArray[np.int64]] = field(default_factory=list)
    rows: int = 0


def read_chunks(batches: Iterator[pa.RecordBatch], keys: tuple[str, ...], chunk_rows: int) -> Iterator[Chunk]:
    """Gather batches until there are `chunk_rows` rows, then give out all series that are complete."""
    pending = _Pending()
    last: pa.RecordBatch | None = None
    for batch in batches:
        if batch.num_rows == 0:
            continue
        starts = series_starts(batch, last, keys)
        last = batch.slice(batch.num_rows - 1)
        if len(starts) and pending.rows + starts[-1] >= chunk_rows:
            cut = int(starts[-1])
            if cut:
                pending.batches.append(batch.slice(0, cut))
            pending.starts.append(starts[:-1] + pending.rows)
            pending.rows += cut
            if pending.rows:
                yield _chunk(pending)
            pending = _Pending([batch.slice(cut)], [np.zeros(1, np.int64)], batch.num_rows - cut)
        else:
            pending.batches.append(batch)
            pending.starts.append(starts + pending.rows)
            pending.rows += batch.num_rows
    if pending.rows:
        yield _chunk(pending)


def _chunk(pending: _Pending) -> Chunk:
    starts = np.concatenate(pending.starts)
    return Chunk(pa.Table.from_batches(pending.batches).combine_chunks(), np.append(starts, pending.rows))


def series_starts(batch: pa.RecordBatch, last: pa.RecordBatch | None, keys: Sequence[str]) -> NDArray[np.int64]:
    """The rows of a batch at which a series begins."""
    changed = np.zeros(batch.num_rows, np.bool_)
    changed[0] = last is None
    for key in keys:
        column = batch.column(key)
        changed[1:] |= _differs(column.slice(1), column.slice(0, len(column) - 1))
        if last is not None:
            changed[:1] |= _differs(column.slice(0, 1), last.column(key))
    return np.flatnonzero(changed).astype(np.int64)


def _differs(left: pa.Array, right: pa.Array) -> NDArray[np.bool_]:
    """Where two arrays differ; NULL equals NULL, and NaN equals NaN."""
    if pa.types.is_floating(left.type):
        as_int = pa.int64() if left.type == pa.float64() else pa.int32()
        left, right = left.view(as_int), right.view(as_int)
    unequal = pc.not_equal(left, right)
    if unequal.null_count:
        unequal = pc.fill_null(unequal, False)
        unequal = pc.or_(unequal, pc.xor(left.is_null(), right.is_null()))
    result: NDArray[np.bool_] = unequal.to_numpy(zero_copy_only=False)
    return result
