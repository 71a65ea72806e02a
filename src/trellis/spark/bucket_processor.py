"""The stateful function of a stream: Spark calls it for buckets of keys, with packed rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.serializers import CloudPickleSerializer
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

if TYPE_CHECKING:
    import pandas as pd

    from trellis.algebra.plan import StreamSpec
    from trellis.execution.task import MatchTask
    from trellis.spark.bucket_steps import BucketSteps

__all__ = ["BucketProcessor"]


class BucketProcessor(StatefulProcessor):
    """A step of the search for each bucket that has rows, or whose time has come.

    At the start of a query Spark runs a Python process on the driver that asks this object for nothing but its state,
    and waits for it before anything else. So it imports nothing that it does not need for that: the search stays
    pickled, and what computes is imported with the first rows.
    """

    def __init__(self, task: MatchTask, spec: StreamSpec) -> None:
        self._packed = CloudPickleSerializer().dumps((task, spec))  # type: ignore[no-untyped-call]

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare what is stored of a bucket: the bucket, and when it wants to be called without new rows."""
        self._handle = handle
        self._stored = handle.getValueState("bucket", "stored binary, timer bigint")
        self._steps: BucketSteps | None = None

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[pd.DataFrame]:
        """New rows of a bucket."""
        yield from self._unpacked().with_rows(rows, timerValues)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:
        """The time of a bucket has come: rows are complete, or a window has closed."""
        yield from self._unpacked().without_rows(timerValues)

    def close(self) -> None:
        """Nothing is held open."""

    def _unpacked(self) -> BucketSteps:
        if self._steps is None:
            from trellis.spark.bucket_steps import BucketSteps

            self._steps = BucketSteps(self._packed, self._handle, self._stored)
        return self._steps
