"""What the stateful function of a stream does: a step of the search for a bucket of keys, and what is stored of it."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyarrow as pa

from trellis.algebra.plan import LATE, StreamSpec
from trellis.execution.open_series import EVER
from trellis.execution.streams.bucket import Bucket
from trellis.execution.streams.packing import ROWS, pack_table, unpack_table
from trellis.execution.streams.step import Stepped, StreamSearch

__all__ = ["COUNTS", "FOUND", "BucketSteps"]

COUNTS = ("late", "matches", "keys", "rows", "bytes")
"""What a step counts: rows that came too late, matches, and the series, rows and bytes that are kept."""
FOUND = f"{ROWS} binary, {', '.join(f'{name} bigint' for name in COUNTS)}"


class BucketSteps:
    """The steps of one task of Spark, whose `handle` and state `stored` belong to the bucket that is called."""

    def __init__(self, packed: bytes, handle: Any, stored: Any) -> None:
        task, self.spec = pickle.loads(packed)
        self.search, self.keys = StreamSearch(task, self.spec), task.scan.keys
        self.handle, self.stored = handle, stored

    def with_rows(self, rows: Iterator[Any], timer_values: Any) -> Iterator[pd.DataFrame]:
        """New rows of a bucket."""
        packed = [value for frame in rows for value in frame[ROWS]]
        yield from self._step(pa.concat_tables([unpack_table(value) for value in packed]), timer_values)

    def without_rows(self, timer_values: Any) -> Iterator[pd.DataFrame]:
        """The time of a bucket has come: rows are complete, or a window has closed."""
        yield from self._step(None, timer_values)

    def _step(self, new: Any, timer_values: Any) -> Iterator[pd.DataFrame]:
        stored, timer = self.stored.get() or (None, None)
        if stored is None and new is None:
            return
        if stored is None:
            names = [name for name, _ in self.spec.columns]
            bucket = Bucket.empty(new.select(names).schema, self.keys)
        else:
            bucket = Bucket.from_bytes(stored, self.spec)
        if new is None:
            new = bucket.kept.schema.empty_table()
        stepped = self.search.step(bucket, new, _watermark(timer_values))
        size = self._store(stepped.bucket, timer)
        yield _found(stepped, self.spec, size)

    def _store(self, bucket: Bucket, timer: int | None) -> int:
        """Store a bucket, and ask to be called when its time has come; how many bytes it has."""
        due = bucket.next_due(self.search.times(bucket.waiting))
        # Timers count milliseconds, and are due once the watermark has reached them.
        wanted = None if due is None else due // 1000 + 1
        if wanted != timer:
            if timer is not None:
                self.handle.deleteTimer(timer)
            if wanted is not None:
                self.handle.registerTimer(wanted)
        if bucket.is_empty:
            self.stored.clear()
            return 0
        data = bucket.to_bytes(self.search.spec)
        self.stored.update((data, wanted))
        return len(data)


def _watermark(timer_values: Any) -> int:
    """The watermark in microseconds; before there is one, Spark says 0."""
    millis = int(timer_values.getCurrentWatermarkInMs())
    return millis * 1000 if millis else EVER


def _found(stepped: Stepped, spec: StreamSpec, size: int) -> pd.DataFrame:
    """What a step gives, a row for all counts; matches and late rows are packed apart."""
    bucket = stepped.bucket
    counts = (stepped.late.num_rows, stepped.matches, len(bucket.lengths), bucket.rows, size)
    tables = [pa.Table.from_batches(stepped.outputs)] if stepped.outputs else []
    if spec.late == "column" and stepped.late.num_rows:
        tables.append(stepped.late.select([LATE]))
    rows: list[tuple[Any, ...]] = [(None, *counts)]
    rows += [(pack_table(table), *[0] * len(counts)) for table in tables]
    return pd.DataFrame(rows, columns=[ROWS, *COUNTS])
