"""The data of the row pattern queries, and the baselines that Trellis is measured against."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

__all__ = ["FOUR", "Bench", "consume", "identity", "with_lag"]

FOUR = ("sym", "ts", "price", "qty")


@dataclass(slots=True)
class Bench:
    """A run: its session, where its data lies, how large and how often."""

    spark: SparkSession
    folder: Path
    scale: float
    repeats: int
    quick: bool = False
    _fresh: int = 0

    def size(self, full: int) -> int:
        """A number of rows or series at the scale of this run."""
        return max(1, round(full * self.scale))

    def times(self, full: int) -> int:
        """How often something runs that does not depend on the number of rows."""
        return 1 if self.quick else full

    def ticks(self, series: int, length: int) -> DataFrame:
        """So many series of one length: sym int, ts long, price double, qty long; written once, the same in every run.

        Rows lie in order of time, as data arrives. Prices are noise, so a V shape is found every few rows: a hard case
        for a matcher, since there is much to give out.
        """
        path = self.folder / f"ticks_{series}_{length}"
        if not path.exists():
            rows = self.spark.range(0, series * length, 1, numPartitions=8)
            rows.select(
                (F.col("id") % series).cast("int").alias("sym"),
                F.expr(f"id div {series}").alias("ts"),
                (F.rand(seed=7) * 100).alias("price"),
                (F.rand(seed=8) * 1_000).cast("long").alias("qty"),
            ).write.parquet(str(path))
        return self.spark.read.parquet(str(path))

    def new_workers(self) -> None:
        """Let the next Python jobs run in new processes: Spark keeps workers apart that have different environments."""
        self._fresh += 1
        self.spark.sparkContext.environment["TRELLIS_BENCHMARK"] = str(self._fresh)


def with_lag(ticks: DataFrame, *columns: str) -> DataFrame:
    """Some columns, and the price of the row before."""
    window = Window.partitionBy("sym").orderBy("ts")
    return ticks.select(*columns, F.lag("price").over(window).alias("before"))


def consume(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Receive all rows, give none."""
    for _ in batches:
        pass
    return iter(())


def identity(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Give every row back."""
    yield from batches
