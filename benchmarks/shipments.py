"""What a query hands to Spark's Python workers: the sorted rows, and the function that receives them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame

__all__ = ["Shipment", "ship"]

Function = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True, slots=True)
class Shipment:
    """What a query hands to `mapInArrow`: the sorted rows and the function."""

    frame: DataFrame
    function: Function

    def batches(self, rows: int = 10_000) -> list[pa.RecordBatch]:
        """All rows, in batches of Spark's default size."""
        collected: pa.Table = self.frame.toArrow()
        return list(collected.to_batches(max_chunksize=rows))

    def run(self, batches: list[pa.RecordBatch]) -> int:
        """Run the function here; the number of rows it gives."""
        return sum(batch.num_rows for batch in self.function(iter(batches)))


def ship(query: Callable[[], DataFrame]) -> Shipment:
    """Plan a query with one pattern and catch what it hands to the workers."""
    caught: list[Shipment] = []
    hand_over = ClassicFrame.mapInArrow

    def catch(frame: ClassicFrame, function: Any, *rest: Any, **options: Any) -> DataFrame:
        caught.append(Shipment(frame, function))
        return hand_over(frame, function, *rest, **options)

    with mock.patch.object(ClassicFrame, "mapInArrow", catch):
        query()
    (only,) = caught
    return only
