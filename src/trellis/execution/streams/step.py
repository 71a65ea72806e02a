"""One step of a stream: new rows and a watermark in, decided matches out.

1. No row to come is before the watermark. So the rows before it are complete, and are searched in their order; the
   others wait.
2. A search says from which row on it cannot tell yet (`OpenSeries`). These rows are kept, all others go. Of some of
   them it may be able to tell what begins there; these are settled.
3. A window that ends before the watermark has closed: no row to come lies in it. So a series is looked at again when
   the window of its first undecided row closes, even if it never sees another row.

So whatever way rows are cut into micro-batches, the rows of a series are searched in the same order, and a match is
given out once, when it is decided.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from trellis.algebra.plan import StreamSpec
from trellis.errors import DataError
from trellis.execution.chunks import Chunk
from trellis.execution.loading import is_known, sortable
from trellis.execution.open_series import NEVER, OpenSeries, Resumed, remembered, remembers_start
from trellis.execution.streams.bucket import Bucket
from trellis.execution.streams.checkpoint import check_types
from trellis.execution.streams.order import number_keys, sort_rows
from trellis.execution.task import MatchTask
from trellis.kernels.arrays import Bools, Ints

__all__ = ["Stepped", "StreamSearch"]


@dataclass(frozen=True, slots=True)
class Stepped:
    """What a step gives: output rows, what is kept, the rows that came too late, and how many matches were found."""

    outputs: list[pa.RecordBatch]
    bucket: Bucket
    late: pa.Table
    matches: int


class StreamSearch:
    """The search of a plan, over rows that come in several steps."""

    def __init__(self, task: MatchTask, spec: StreamSpec) -> None:
        self.spec = replace(spec, remembered=remembered(task.scan))
        self.matcher = task.matcher()
        self.remembers_start = remembers_start(task.scan)

    def step(self, bucket: Bucket, new: pa.Table, watermark: int, *, final: bool = False) -> Stepped:
        """Take new rows, and search those that are complete. If `final`, there are no rows to come."""
        # Before there is a watermark, a row without a time is late already.
        late, on_time = _split(new, self.times(new) < max(watermark, 1 - NEVER))
        if late.num_rows and self.spec.late == "error":
            raise self._too_late(late, watermark)
        # Between two runs the zone of the session, and with it the type of times, may have changed.
        check_types(bucket.waiting.schema, new.schema, self.spec)
        on_time = on_time.select(bucket.waiting.column_names).cast(bucket.waiting.schema)
        waiting = pa.concat_tables([bucket.waiting, on_time])
        ready, waiting = _split(waiting, (self.times(waiting) < watermark) | final)
        owners = number_keys(bucket.keys, ready)
        count = max(len(bucket.lengths), int(owners.max(initial=-1)) + 1)
        bucket = _with_series(bucket, ready, owners, count)
        touched = (bucket.due < watermark) | final
        touched[owners] = True
        if not touched.any():
            return Stepped([], bucket.holding(waiting), late, 0)
        searched, rest = _split_series(bucket, touched)
        place = np.cumsum(touched) - 1
        chunk = self._in_order(searched, ready, place[owners])
        resumed = self.matcher.resume(chunk, searched.series, np.full(len(searched.lengths), final), watermark)
        matches = int((resumed.series.matches - searched.series.matches).sum())
        kept = self._kept(searched, chunk, resumed)
        return Stepped(resumed.batches, rest.joined(kept).holding(waiting), late, matches)

    def times(self, table: pa.Table) -> Ints:
        """The event times; those of rows without one lie before everything."""
        column = table.column(self.spec.time).combine_chunks()
        times: Ints = np.where(is_known(column), sortable(column), -NEVER)
        return times

    def _too_late(self, late: pa.Table, watermark: int) -> DataError:
        column = late.column(self.spec.time).combine_chunks()
        known = is_known(column)
        said = []
        if known.any():
            behind = (watermark - self.times(late)[known]).max() / 1e6
            first = column.filter(pa.array(known))[0].as_py()
            said.append(f"{known.sum()} up to {behind:g} s behind the watermark ({first})")
        if not known.all():
            said.append(f"{(~known).sum()} without a time")
        return DataError(
            f"{late.num_rows} row{'s' if late.num_rows > 1 else ''} came too late: {', '.join(said)}.",
            cure="Give the watermark a longer delay, or drop such rows with the hint late.",
        )

    def _in_order(self, bucket: Bucket, ready: pa.Table, owners: Ints) -> Chunk:
        """The rows kept of each series, then its new ones in their order."""
        new = sort_rows(ready, owners, self.spec.sorted_by)
        kept = np.repeat(np.arange(len(bucket.lengths)), bucket.lengths)
        series = np.concatenate([kept, owners[new]])
        rows = np.concatenate([np.arange(len(kept)), new + len(kept)])[np.argsort(series, kind="stable")]
        table = pa.concat_tables([bucket.kept, ready]).take(pa.array(rows)).combine_chunks()
        offsets = np.append(0, np.cumsum(np.bincount(series, minlength=len(bucket.lengths))))
        settled = np.append(bucket.settled, np.zeros(len(new), np.bool_))[rows]
        return Chunk(table, offsets.astype(np.int64), settled=settled)

    def _kept(self, bucket: Bucket, chunk: Chunk, resumed: Resumed) -> Bucket:
        """What is left of the series that were searched."""
        series = resumed.series
        gone = series.first - bucket.series.first
        lengths = np.diff(chunk.offsets) - gone
        at = np.arange(chunk.table.num_rows) - np.repeat(chunk.offsets[:-1] + gone, np.diff(chunk.offsets))
        rows = chunk.table.filter(pa.array(at >= 0))
        settled = np.zeros(len(at), np.bool_) if resumed.settled is None else resumed.settled
        alive = lengths > 0
        if self.remembers_start:
            alive[:] = True
        if self.spec.remembered is not None and self.spec.remembered.numbers:
            alive |= series.matches > 0
        return Bucket(
            _some(bucket.keys, alive),
            series.take(alive),
            lengths[alive],
            resumed.due[alive],
            rows,
            settled[at >= 0],
            bucket.waiting,
        )


def _some(keys: pa.Table, chosen: Bools) -> pa.Table:
    """Some of the keys; a table without columns has no rows to choose from."""
    return keys.filter(pa.array(chosen)) if keys.num_columns else keys


def _split(table: pa.Table, chosen: Bools) -> tuple[pa.Table, pa.Table]:
    """The rows that are chosen, and the others."""
    if chosen.all():
        return table, table.slice(0, 0)
    return table.filter(pa.array(chosen)), table.filter(pa.array(~chosen))


def _with_series(bucket: Bucket, ready: pa.Table, owners: Ints, count: int) -> Bucket:
    """The bucket with the series that new rows begin; they have no rows in it yet."""
    known = len(bucket.lengths)
    if count == known:
        return bucket
    # Series are numbered as they first appear.
    _, firsts = np.unique(owners, return_index=True)
    firsts = np.sort(firsts[owners[firsts] >= known])
    none = np.zeros(count - known, np.int64)
    return Bucket(
        pa.concat_tables([bucket.keys, ready.take(pa.array(firsts)).select(bucket.keys.column_names)]),
        bucket.series.joined(OpenSeries.new(count - known)),
        np.append(bucket.lengths, none),
        np.append(bucket.due, none + NEVER),
        bucket.kept,
        bucket.settled,
        bucket.waiting,
    )


def _split_series(bucket: Bucket, chosen: Bools) -> tuple[Bucket, Bucket]:
    """The series that are chosen, and the others; both have the rows that wait."""
    rows = np.repeat(chosen, bucket.lengths)
    first, second = (
        Bucket(
            _some(bucket.keys, which),
            bucket.series.take(which),
            bucket.lengths[which],
            bucket.due[which],
            bucket.kept.filter(pa.array(mine)),
            bucket.settled[mine],
            bucket.waiting,
        )
        for which, mine in ((chosen, rows), (~chosen, ~rows))
    )
    return first, second
