"""Spark for a benchmark: a session that is stopped afterwards, and how its rows are computed and thrown away."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from benchmarks.processes import let_others_import
from trellis.java import require_java

__all__ = ["noop", "run_digested", "session"]


@contextmanager
def session(cores: int = 2) -> Iterator[tuple[SparkSession, Path]]:
    """A session with so many cores and Spark's own settings, and a folder for its data; both are gone afterwards."""
    require_java()
    let_others_import()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory(prefix="trellis-benchmark-") as name:
        folder = Path(name)
        spark: SparkSession = (
            SparkSession.builder.master(f"local[{cores}]")
            .appName("trellis benchmarks")
            .config("spark.driver.memory", "4g")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.local.dir", str(folder / "local"))
            .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
            .getOrCreate()
        )
        spark.sparkContext.setLogLevel("ERROR")
        try:
            yield spark, folder
        finally:
            spark.stop()


def noop(frame: DataFrame) -> None:
    """Compute all rows and columns, keep nothing."""
    frame.write.format("noop").mode("overwrite").save()


def run_digested(frame: DataFrame) -> tuple[int, str]:
    """Compute all rows and keep none, but for their number and a digest that does not depend on their order.

    The digest is an observation: a sum next to rows that are computed anyway, in the same job. So every timed run also
    tells whether its result is that of the other runs.
    """
    observation = Observation()
    hashed = F.xxhash64(*(F.col(f"`{name}`") for name in frame.columns)).cast("decimal(38,0)")
    whole = F.coalesce(F.sum(hashed), F.lit(0)).alias("digest")
    noop(frame.observe(observation, F.count(F.lit(1)).alias("n"), whole))
    seen = observation.get
    return int(seen["n"]), f"{seen['n']}:{seen['digest']}"
