"""The data of the segment templates, as plain arrays: series one after another, each in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

__all__ = ["DATASETS", "MINUTE", "SegmentData", "load", "trim"]

Array = np.ndarray[Any, Any]

MINUTE = 60_000_000  # microseconds
_YEAR = 252  # trading days


@dataclass(frozen=True, slots=True)
class SegmentData:
    """Series s holds the rows `offsets[s]` up to `offsets[s + 1]` (exclusive) of every column.

    Times are int64 in `unit`s ("day" or "us"), numbers float64 with NaN for NULL, tickers strings.
    """

    name: str
    unit: str
    offsets: Array
    columns: Mapping[str, Array]
    keys: tuple[str, ...]

    @property
    def rows(self) -> int:
        """How many rows all series have together."""
        return int(self.offsets[-1])


@dataclass(frozen=True, slots=True)
class _Source:
    """How a file becomes series: the key of a series, the order within it, and the templates' name of each column."""

    key: str | None
    order: tuple[str, ...]
    columns: Mapping[str, str]
    last: int | None = None


_BARS = {name: name for name in ("tstamp", "ticker", "open", "peak", "lowest", "close")}

DATASETS: Mapping[str, _Source] = {
    "sp500": _Source("ticker", ("date",), {"date": "tstamp", "open": "price"}, _YEAR),
    "covid": _Source("county", ("tstamp",), {"tstamp": "tstamp", "confirmed": "confirmed"}),
    "weather_daily": _Source("city", ("tstamp",), {"tstamp": "tstamp", "temp": "temp"}),
    "taxi": _Source(None, ("tstamp",), {"tstamp": "tstamp", "rides": "rides"}),
    "nasdaq": _Source(None, ("tstamp", "ticker"), _BARS),
    "etf_minutes": _Source(None, ("tstamp", "ticker"), _BARS),
}


def load(name: str, folder: Path | str) -> SegmentData:
    """Read one dataset from the folder of Parquet files."""
    source = DATASETS[name]
    table = pq.read_table(Path(folder) / f"{name}.parquet")
    order = ((source.key,) if source.key else ()) + source.order
    table = table.sort_by([(column, "ascending") for column in order])
    if source.key is None:
        keys, offsets = ("",), np.array([0, table.num_rows], dtype=np.int64)
    else:
        encoded = table.column(source.key).combine_chunks().dictionary_encode()
        codes = encoded.indices.to_numpy()
        keys = tuple(encoded.dictionary.to_pylist())
        offsets = np.append(np.flatnonzero(np.diff(codes, prepend=-1)), len(codes)).astype(np.int64)
    unit = "day" if pa.types.is_date(table.schema.field(source.order[0]).type) else "us"
    columns = {ours: _plain(table.column(theirs)) for theirs, ours in source.columns.items()}
    data = SegmentData(name, unit, offsets, columns, keys)
    if source.last is None:
        return data
    return _take(data, np.maximum(offsets[:-1], offsets[1:] - source.last), offsets[1:])


def trim(data: SegmentData, series: int | None = None, rows: int | None = None, skip: int = 0) -> SegmentData:
    """The first series, and of each the first rows after those to skip."""
    lows = np.minimum(data.offsets[:-1] + skip, data.offsets[1:])
    highs = data.offsets[1:] if rows is None else np.minimum(lows + rows, data.offsets[1:])
    return _take(data, lows[:series], highs[:series])


def _take(data: SegmentData, lows: Array, highs: Array) -> SegmentData:
    kept = np.concatenate([np.arange(low, high) for low, high in zip(lows, highs, strict=True)])
    offsets = np.concatenate([[0], np.cumsum(highs - lows)]).astype(np.int64)
    columns = {name: np.ascontiguousarray(column[kept]) for name, column in data.columns.items()}
    return SegmentData(data.name, data.unit, offsets, columns, data.keys[: len(lows)])


def _plain(column: pa.ChunkedArray) -> Array:
    """A writable copy: Numba would compile a function once more for an array that may not be written."""
    if pa.types.is_string(column.type):
        return np.array(column.to_pylist(), dtype=np.str_)
    if pa.types.is_date(column.type):
        column = column.cast(pa.int32()).cast(pa.int64())
    elif pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us")).cast(pa.int64())
    else:
        column = pc.fill_null(column.cast(pa.float64()), float("nan"))
    copied: Array = column.to_numpy().copy()
    return copied
