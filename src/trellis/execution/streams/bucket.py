"""What is kept of a bucket of keys between two micro-batches, as columns, and its form as bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from trellis.algebra.plan import StreamSpec
from trellis.errors import UnsupportedError
from trellis.execution.open_series import EVER, NEVER, OpenSeries
from trellis.execution.streams.checkpoint import check_query, describe_spec
from trellis.execution.streams.packing import pack_table, unpack_table
from trellis.kernels.arrays import Bools, Ints

__all__ = ["FORMAT", "Bucket"]

FORMAT = 1
"""The form in which buckets are stored. A release that changes it still reads what earlier ones wrote."""

_NOTHING: Bools = np.zeros(0, np.bool_)
_NUMBERS = ("length", *OpenSeries._fields, "due")


@dataclass(frozen=True, slots=True)
class Bucket:
    """Series that are not settled, and rows whose turn has not come.

    Series `k` has the key `keys[k]` and the next `lengths[k]` rows of `kept`, in their order; what begins at those that
    are `settled` is known. From the time `due[k]` on
    it may be settled without new rows: its window has closed then. Rows in `waiting` are not behind the watermark yet.
    """

    keys: pa.Table
    series: OpenSeries
    lengths: Ints
    due: Ints
    kept: pa.Table
    settled: Bools
    waiting: pa.Table

    @staticmethod
    def empty(schema: pa.Schema, keys: tuple[str, ...]) -> Bucket:
        """A bucket of rows with these columns that has seen none."""
        rows, none = schema.empty_table(), np.zeros(0, np.int64)
        return Bucket(rows.select(list(keys)), OpenSeries.new(0), none, none, rows, _NOTHING, rows)

    @property
    def rows(self) -> int:
        """How many rows are held."""
        return int(self.kept.num_rows + self.waiting.num_rows)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to remember."""
        return len(self.lengths) == 0 and self.waiting.num_rows == 0

    def holding(self, waiting: pa.Table) -> Bucket:
        """The same series, with other rows that wait."""
        return replace(self, waiting=waiting)

    def joined(self, other: Bucket) -> Bucket:
        """These series, then those of another bucket; the rows that wait are these."""
        return Bucket(
            pa.concat_tables([self.keys, other.keys]),
            self.series.joined(other.series),
            np.append(self.lengths, other.lengths),
            np.append(self.due, other.due),
            pa.concat_tables([self.kept, other.kept]),
            np.append(self.settled, other.settled),
            self.waiting,
        )

    def next_due(self, time: Ints) -> int | None:
        """The first time that, once the watermark has passed it, something may happen; `time` is that of `waiting`."""
        least = min(int(self.due.min(initial=NEVER)), int(time.min(initial=NEVER)))
        return None if least == NEVER else least

    def to_bytes(self, spec: StreamSpec) -> bytes:
        """The bucket as bytes: a line of JSON, series with their numbers and keys, rows, and which of them are settled.

        Columns are stored by what they are; their names mean something in a plan only.
        """
        numbers = (self.lengths, *self.series, self.due)
        names = [*_NUMBERS, *(f"key {name}" for name in self.keys.column_names)]
        series = pa.table([*(pa.array(column) for column in numbers), *self.keys.columns], names=names)
        rows = pa.concat_tables([self.kept, self.waiting])
        parts = [pack_table(series), pack_table(rows)]
        if self.settled.any():
            parts.append(pack_table(pa.table({"settled": self.settled})))
        head = {
            "format": FORMAT,
            **describe_spec(spec),
            "waiting": self.waiting.num_rows,
            "parts": [len(part) for part in parts],
        }
        return b"".join([json.dumps(head).encode(), b"\n", *parts])

    @staticmethod
    def from_bytes(data: bytes, spec: StreamSpec) -> Bucket:
        """The bucket that `to_bytes` was called on, for a query that may have other measures."""
        line = data.index(b"\n")
        head = json.loads(data[:line])
        _check(head, spec)
        cuts = np.cumsum([line + 1, *head["parts"]]).tolist()
        series, rows, *more = (unpack_table(data[begin:end]) for begin, end in pairwise(cuts))
        lengths, *numbers, due = (_numbers(series, name) for name in _NUMBERS)
        stored = {text: name for name, text in head["columns"].items()}
        names = {name: stored[text] for name, text in spec.columns}
        renamed = {old: name for name, old in names.items()}
        keys = series.select([name for name in series.column_names if name.startswith("key ")])
        keys = keys.rename_columns([renamed[name.removeprefix("key ")] for name in keys.column_names])
        rows = rows.select(list(names.values())).rename_columns(list(names))
        kept = rows.num_rows - head["waiting"]
        settled = more[0].column(0).to_numpy() if more else np.zeros(kept, np.bool_)
        return Bucket(keys, OpenSeries(*numbers), lengths, due, rows.slice(0, kept), settled, rows.slice(kept))


def _numbers(series: pa.Table, name: str) -> Ints:
    """A number of each series; those that earlier releases did not store say nothing."""
    if name not in series.column_names:
        return np.full(series.num_rows, EVER)
    numbers: Ints = series.column(name).to_numpy().copy()
    return numbers


def _check(head: dict[str, Any], spec: StreamSpec) -> None:
    """Refuse what was stored in another form, or for another query."""
    if head["format"] != FORMAT:
        raise UnsupportedError(
            f"The state of this stream has the format {head['format']}; this release of Trellis knows {FORMAT}.",
            cure="Use the release that wrote it, or a newer one, or begin with a new checkpoint.",
        )
    check_query(head, spec)
