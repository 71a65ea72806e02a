"""Rows as bytes, and back.

Spark hands rows to a stateful function one by one, as Python objects. So before the exchange the rows of a bucket of
keys are packed into one value, in the format of Arrow, and the function sees a few of these; its results go back in the
same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

__all__ = ["BUCKET", "ROWS", "Pack", "Unpack", "pack_table", "unpack_table"]

# pandas renames what begins with an underscore.
BUCKET, ROWS = "bucket", "packed"
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


def pack_table(table: pa.Table) -> bytes:
    """A table as bytes, with its schema."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=_OPTIONS) as writer:
        writer.write_table(table.combine_chunks())
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def unpack_table(data: bytes) -> pa.Table:
    """The table that `pack_table` was given."""
    return pa.ipc.open_stream(pa.py_buffer(data)).read_all()


@dataclass(frozen=True, slots=True)
class Pack:
    """The function of `mapInArrow` before the exchange: the rows of each bucket become one value.

    The column BUCKET says which bucket a row belongs to; it is no part of what is packed. Rows are gathered until there
    are `most_rows`.
    """

    most_rows: int = 1 << 17

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rows in, packed rows out."""
        gathered: list[pa.RecordBatch] = []
        rows = 0
        for batch in batches:
            gathered.append(batch)
            rows += batch.num_rows
            if rows >= self.most_rows:
                yield _packed(gathered)
                gathered, rows = [], 0
        if rows:
            yield _packed(gathered)


def _packed(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    table = pa.Table.from_batches(batches)
    bucket = table.column(BUCKET).combine_chunks().to_numpy(zero_copy_only=False)
    order = np.argsort(bucket, kind="stable")
    begins = np.flatnonzero(np.diff(bucket[order], prepend=-1))
    sorted_rows = table.drop_columns([BUCKET]).take(pa.array(order))
    ends = np.append(begins[1:], len(order))
    packed = [pack_table(sorted_rows.slice(begin, end - begin)) for begin, end in zip(begins, ends, strict=True)]
    numbers = pa.array(bucket[order][begins].astype(np.int32))
    return pa.RecordBatch.from_arrays([numbers, pa.array(packed, pa.binary())], [BUCKET, ROWS])


@dataclass(frozen=True, slots=True)
class Unpack:
    """The function of `mapInArrow` behind the search: packed rows in, rows out; columns that they lack are NULL."""

    schema: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Packed rows in, rows out."""
        for batch in batches:
            for packed in batch.column(ROWS).to_pylist():
                yield from self._whole(unpack_table(packed)).to_batches()

    def _whole(self, table: pa.Table) -> pa.Table:
        columns = [
            table.column(field.name) if field.name in table.column_names else pa.nulls(table.num_rows, field.type)
            for field in self.schema
        ]
        return pa.table(columns, names=self.schema.names)
