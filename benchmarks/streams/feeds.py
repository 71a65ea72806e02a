"""Made-up prices as files, read as a table or as a stream of so many micro-batches."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

import trellis as tr

__all__ = ["FALLS_AND_RISES", "THREE_PRICES", "Bench", "Feed"]

_STORE = "spark.sql.streaming.stateStore"
# As docs/streaming.md says.
_SETTINGS = {
    f"{_STORE}.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    f"{_STORE}.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.shuffle.partitions": "2",
}
_DAY = 24 * 3600 * 1_000_000

FALLS_AND_RISES = """SELECT * FROM {t} MATCH_RECOGNIZE (
    PARTITION BY k ORDER BY at MEASURES A.at AS start, last(UP.at) AS stop, min(DOWN.price) AS low
    PATTERN (A DOWN+ UP+) WITHIN INTERVAL '30' MINUTE
    DEFINE DOWN AS price < prev(price), UP AS price > prev(price))"""
THREE_PRICES = """SELECT * FROM {t} MATCH_RECOGNIZE (
    PARTITION BY k ORDER BY at MEASURES A.at AS a, B.at AS b, C.at AS c
    PATTERN (A Z*? B Z*? C) WITHIN INTERVAL '30' MINUTE
    DEFINE A AS price < 5, B AS price > 195, C AS price BETWEEN 100 AND 102)"""


@dataclass(frozen=True, slots=True)
class Feed:
    """Files of prices in the order of time, as many as micro-batches; a last one moves the watermark past all."""

    spark: SparkSession
    folder: Path
    files: int

    def table(self) -> DataFrame:
        """All rows as a table."""
        return self.spark.read.parquet(str(self.folder / "in"))

    def stream(self) -> DataFrame:
        """All rows as a stream, a file for each micro-batch."""
        rows = self.spark.readStream.schema(self.table().schema).option("maxFilesPerTrigger", 1)
        return rows.parquet(str(self.folder / "in")).withWatermark("at", "10 seconds")

    def run(self, text: str, hints: dict[str, Any] | None = None) -> StreamingQuery:
        """The query over all files as a stream, into files; when all are read, it ends."""
        return self.write(tr.sql(text, t=self.stream(), hints=hints))

    def count(self) -> StreamingQuery:
        """What Spark itself can do with state: how many rows each key has in half an hour."""
        half = F.window("at", "30 minutes")
        return self.write(self.stream().groupBy("k", half).count().select("k", "window.start", "count"))

    def write(self, found: DataFrame) -> StreamingQuery:
        """A streaming DataFrame into files, until all are read."""
        self.clear()
        writer = found.writeStream.format("parquet").option("path", str(self.folder / "out"))
        query = writer.option("checkpointLocation", str(self.folder / "checkpoint")).trigger(availableNow=True).start()
        query.awaitTermination()
        return query

    def clear(self) -> None:
        """Forget what an earlier run has written."""
        for name in ("out", "checkpoint"):
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def found(self) -> int:
        """How many rows the stream has written."""
        return self.spark.read.parquet(str(self.folder / "out")).count()


@dataclass(slots=True)
class Bench:
    """A run: its session, where its files lie, how large and how often."""

    spark: SparkSession
    folder: Path
    scale: float
    repeats: int
    install_flink: bool = False

    def __post_init__(self) -> None:
        for name, value in _SETTINGS.items():
            self.spark.conf.set(name, value)

    def size(self, full: int) -> int:
        """A number of rows or keys at the scale of this run."""
        return max(100, round(full * self.scale))

    def feed(self, rows: int, keys: int, files: int, *, live: float = 1.0) -> Feed:
        """A day of prices. Only a share of the keys has prices after the first hour."""
        folder = self.folder / f"feed_{rows}_{keys}_{files}_{live:g}"
        if not folder.exists():
            (folder / "in").mkdir(parents=True)
            _write(folder / "in", rows, keys, files, live)
        return Feed(self.spark, folder, files + 1)


def _write(folder: Path, rows: int, keys: int, files: int, live: float) -> None:
    random = np.random.default_rng(1)
    times = np.sort(random.integers(0, _DAY, rows))
    chosen = random.integers(0, keys, rows)
    late = times > _DAY // 24
    chosen[late] = chosen[late] % max(1, round(keys * live))
    prices = random.integers(1, 200, rows).astype(np.float64)
    parts = [*np.array_split(np.arange(rows), files)]
    for number, part in enumerate(parts):
        _table(chosen[part], times[part], prices[part], folder / f"{number:04d}.parquet")
    # A row of its own key two days later closes all windows.
    _table(np.array([-1]), np.array([3 * _DAY]), np.array([1.0]), folder / f"{files:04d}.parquet")


def _table(keys: NDArray[Any], times: NDArray[Any], prices: NDArray[Any], path: Path) -> None:
    at = pa.array(times + 1_704_067_200_000_000, pa.timestamp("us", tz="UTC"))
    pq.write_table(pa.table({"k": pa.array(keys.astype(np.int32)), "at": at, "price": prices}), path)
    # Streams read files in the order in which they were written.
    second = int(path.stem)
    os.utime(path, (second, second))
