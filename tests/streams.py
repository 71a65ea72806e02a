"""A stream without Spark: rows come in micro-batches, a watermark follows them, and state is stored in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

import local
from trellis.algebra.plan import Plan
from trellis.execution.streams.bucket import Bucket
from trellis.execution.streams.step import Stepped, StreamSearch
from trellis.execution.task import MatchTask
from trellis.planning.segments.choose import choose_tree

FAR = 2**62
"""A watermark that everything lies before."""


class Stream:
    """A query over a stream of one bucket of keys. `rows` are all that will come, with the columns of the plan."""

    def __init__(self, plan: Plan, rows: pa.Table) -> None:
        assert plan.stream is not None
        self.search = StreamSearch(MatchTask(plan.scan, choose=choose_tree), plan.stream)
        self.spec = self.search.spec
        rows = rows.select([name for name, _ in self.spec.columns])
        self.plan, self.rows = plan, rows
        self.stored = Bucket.empty(rows.schema, plan.scan.keys).to_bytes(self.spec)
        self.found: list[dict[str, Any]] = []
        self.late = 0

    @property
    def bucket(self) -> Bucket:
        return Bucket.from_bytes(self.stored, self.spec)

    def give(self, numbers: Sequence[int], watermark: int, *, final: bool = False) -> Stepped:
        """A micro-batch of some of the rows."""
        stepped = self.search.step(self.bucket, self.rows.take(pa.array(numbers, pa.int64())), watermark, final=final)
        self.stored = stepped.bucket.to_bytes(self.spec)
        self.late += stepped.late.num_rows
        rows = [row for batch in stepped.outputs for row in batch.to_pylist()]
        self.found += [{name: local.evaluate(value, row) for name, value in self.plan.finished} for row in rows]
        return stepped


def run_stream(
    plan: Plan, rows: pa.Table, batches: Sequence[Sequence[int]], times: Sequence[int], delay: int
) -> Stream:
    """Give all rows in micro-batches; a watermark follows the greatest time seen so far by `delay`."""
    stream, greatest = Stream(plan, rows), -FAR
    for numbers in batches:
        stream.give(numbers, greatest - delay)
        greatest = max([greatest, *(times[number] for number in numbers)])
    stream.give((), FAR, final=True)
    return stream
