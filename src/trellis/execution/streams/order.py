"""Rows in the order of a plan, as Spark sorts them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from trellis.execution.loading import is_known, sortable
from trellis.kernels.arrays import Ints

__all__ = ["number_keys", "sort_rows"]


def sort_rows(table: pa.Table, series: Ints, sorted_by: Sequence[tuple[str, bool, bool]]) -> Ints:
    """The rows series by series, each in its order: names of columns, whether they fall, whether NULLs come first."""
    keys: list[NDArray[np.int64]] = []
    for name, descending, nulls_first in sorted_by:
        column = _one(table.column(name))
        known, values = is_known(column), _ranked(column)
        keys.append(known.astype(np.int64) if nulls_first else (~known).astype(np.int64))
        keys.append(np.where(known, ~values if descending else values, 0))
    order: Ints = np.lexsort((*reversed(keys), series))
    return order


def number_keys(known: pa.Table, rows: pa.Table) -> Ints:
    """For each row the number of its key: that in `known`, or further ones as they first appear.

    The columns of `known` are the keys. NULL equals NULL, and NaN equals NaN.
    """
    numbers = np.zeros(known.num_rows + rows.num_rows, np.int64)
    for name in known.column_names:
        column = pa.concat_arrays([_one(known.column(name)), _one(rows.column(name))])
        if pa.types.is_floating(column.type):
            column = column.view(pa.int64() if column.type == pa.float64() else pa.int32())
        codes = column.dictionary_encode(null_encoding="encode").indices.to_numpy(zero_copy_only=False)
        numbers = numbers * (int(codes.max(initial=0)) + 1) + codes
        if len(known.column_names) > 1:
            numbers = pa.array(numbers).dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers[known.num_rows :].astype(np.int64)


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _ranked(column: pa.Array) -> Ints:
    """Integers in the order of the values, whatever their type."""
    type_ = column.type
    texts = pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_binary(type_)
    if texts or (pa.types.is_decimal(type_) and type_.precision > 18):
        ranks: Ints = pc.rank(column, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64)
        return ranks
    return sortable(column)
