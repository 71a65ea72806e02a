"""Plain PySpark, no Trellis: one query fails while its second task waits for a worker; what becomes of another query?

    python tests/stress/lost_workers.py true      # as Spark is by default
    python tests/stress/lost_workers.py false     # with spark.sql.execution.interruptOnCancel off

PySpark 4.3.0 prints `died` for the first and `survived` for the second: see "A worker that died" in docs/cluster.md.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


def fate_of_another_query(spark: SparkSession, folder: Path) -> str:
    """A query whose task runs until the other one has failed."""
    begun, over = folder / "begun", folder / "over"
    fate = []

    def rest(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        time.sleep(5)  # until the other task has a worker, too
        yield from batches

    def wait(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        begun.touch()
        while not over.exists():
            time.sleep(0.1)
        yield from batches

    def fail(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        time.sleep(1)  # until the other task asks for a worker
        raise ValueError("on purpose")
        yield from batches

    def run_other() -> None:
        try:
            spark.range(0, 1, 1, 1).mapInArrow(wait, "id LONG").collect()
            fate.append("survived")
        except Exception as error:
            fate.append("died" if "Python worker exited unexpectedly" in str(error) else str(error))

    spark.range(0, 2, 1, 2).mapInArrow(rest, "id LONG").collect()  # leaves two workers
    other = threading.Thread(target=run_other)  # takes one of them
    other.start()
    while not begun.exists():
        time.sleep(0.1)
    try:
        # The first task takes the other worker, and fails while the second waits for a new one.
        spark.range(0, 2, 1, 2).mapInArrow(fail, "id LONG").collect()
    except Exception as error:
        assert "on purpose" in str(error), error
    time.sleep(3)
    over.touch()
    other.join()
    return fate[0]


def main(interrupt: str) -> None:
    from pyspark.sql import SparkSession

    here = Path(__file__).parent
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(here), os.environ.get("PYTHONPATH"))))
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.python.daemon.module": "slow_daemon",
        "spark.sql.execution.interruptOnCancel": interrupt,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[4]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    with tempfile.TemporaryDirectory() as folder:
        print(fate_of_another_query(spark, Path(folder)))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
