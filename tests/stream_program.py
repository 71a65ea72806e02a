"""A program that tests kill: a pattern on a stream of files, into files, with a checkpoint.

`python stream_program.py FOLDER` reads FOLDER/in, a file for each micro-batch, and ends when all are read.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

import trellis

SCHEMA = "k int, at timestamp, x double"
QUERY = """SELECT * FROM {t} MATCH_RECOGNIZE (
    PARTITION BY k ORDER BY at
    MEASURES MATCH_NUMBER() AS number, A.at AS first, last(UP.at) AS last, min(DOWN.x) AS low
    PATTERN (A DOWN+ UP+)
    WITHIN INTERVAL '2' MINUTE
    DEFINE DOWN AS x < prev(x), UP AS x > prev(x))"""


def main(folder: Path) -> None:
    """Run the query over all files that are there."""
    spark = (
        SparkSession.builder.master("local[2,4]")  # a task that fails is run again
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.python.daemon.module", "trellis.spark.daemon")
        .config(
            "spark.sql.streaming.stateStore.providerClass",
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        )
        .getOrCreate()
    )
    rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(folder / "in"))
    found = trellis.sql(QUERY, t=rows.withWatermark("at", "30 seconds"))
    writer = found.writeStream.format("json").option("path", str(folder / "out")).trigger(availableNow=True)
    writer.option("checkpointLocation", str(folder / "checkpoint")).start().awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
