"""The stateful function of a stream: Spark calls it for buckets of keys, with packed rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from trellis.algebra.plan import LATE, StreamSpec
from trellis.execution.open_series import EVER
from trellis.execution.streams.bucket import Bucket
from trellis.execution.streams.packing import ROWS, pack_table, unpack_table
from trellis.execution.streams.step import Stepped, StreamSearch
from trellis.execution.task import MatchTask

__all__ = ["COUNTS", "FOUND", "BucketProcessor"]

COUNTS = ("late", "matches", "keys", "rows", "bytes")
"""What a step counts: rows that came too late, matches, and the series, rows and bytes that are kept."""
FOUND = f"{ROWS} binary, {', '.join(f'{name} bigint' for name in COUNTS)}"


class BucketProcessor(StatefulProcessor):
    """A step of the search for each bucket that has rows, or whose time has come."""

    def __init__(self, task: MatchTask, spec: StreamSpec) -> None:
        self.task, self.spec = task, spec

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare what is stored of a bucket: the bucket, and when it wants to be called without new rows."""
        self.handle = handle
        self.stored = handle.getValueState("bucket", "stored binary, timer bigint")
        self.search: StreamSearch | None = None

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[pd.DataFrame]:
        """New rows of a bucket."""
        packed = [value for frame in rows for value in frame[ROWS]]
        yield from self._step(pa.concat_tables([unpack_table(value) for value in packed]), timerValues)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:
        """The time of a bucket has come: rows are complete, or a window has closed."""
        yield from self._step(None, timerValues)

    def close(self) -> None:
        """Nothing is held open."""

    def _step(self, new: Any, timer_values: Any) -> Iterator[pd.DataFrame]:
        if self.search is None:
            self.search = StreamSearch(self.task, self.spec)
        stored, timer = self.stored.get() or (None, None)
        if stored is None and new is None:
            return
        if stored is None:
            names = [name for name, _ in self.spec.columns]
            bucket = Bucket.empty(new.select(names).schema, self.task.scan.keys)
        else:
            bucket = Bucket.from_bytes(stored, self.search.spec)
        if new is None:
            new = bucket.kept.schema.empty_table()
        stepped = self.search.step(bucket, new, _watermark(timer_values))
        size = self._store(stepped.bucket, timer)
        yield _found(stepped, self.spec, size)

    def _store(self, bucket: Bucket, timer: int | None) -> int:
        """Store a bucket, and ask to be called when its time has come; how many bytes it has."""
        assert self.search is not None
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
