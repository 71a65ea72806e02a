"""What Trellis asks of Spark while it plans prints nothing, and what users ask still does."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
from pyspark.logger import PySparkLogger

from trellis.spark.quiet import unlogged

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
from pyspark.sql import SparkSession
import trellis as tr

builder = SparkSession.builder
if sys.argv[1] == "connect":
    # The log of a server is elsewhere, but for one that runs beside its client.
    builder = builder.remote("local[1]").config("spark.log.level", "OFF")
else:
    builder = builder.master("local[1]")
spark = builder.getOrCreate()
spark.range(3).createOrReplaceTempView("numbers")
print("=== Trellis", file=sys.stderr, flush=True)
for text in (
    "SELECT * FROM numbers MATCH_RECOGNIZE (ORDER BY id PATTERN (A) DEFINE A AS id > perv(id))",
    "SELECT * FROM numbers MATCH_RECOGNIZE (ORDER BY id PATTERN (A) DEFINE A AS id > round(id, 1, 2))",
    "SELECT nope FROM numbers MATCH_RECOGNIZE (ORDER BY id MEASURES A.id AS a PATTERN (A))",
    "SELECT nope FROM numbers",
):
    try:
        tr.sql(text, spark=spark)
    except tr.errors.TrellisError as error:
        print(error.problem, file=sys.stderr, flush=True)
print("=== the user", file=sys.stderr, flush=True)
try:
    spark.sql("SELECT nope FROM numbers").columns
except Exception:
    pass
print("=== end", file=sys.stderr, flush=True)
"""


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["classic", pytest.param("connect", marks=pytest.mark.thorough)])
def test_stderr_has_the_error_only(kind: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "SPARK"))}
    environment |= {"PYTHONPATH": str(ROOT / "src"), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), kind],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    said = done.stderr.partition("=== Trellis\n")[2].partition("=== the user\n")
    assert said[0].splitlines() == [
        "There is no function perv.",
        "Spark does not accept this: [WRONG_NUM_ARGS.WITHOUT_SUGGESTION] The `round` requires [1, 2] parameters but "
        "the actual number is 3.",
        "There is no column nope here.",
        "There is no column nope here.",
    ]
    assert "UNRESOLVED_COLUMN" in said[2].partition("=== end")[0], "what the user asks is logged as before"


def test_other_threads_are_heard_and_nothing_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    monkeypatch.setattr(logger, "disabled", False)  # the command line disables it, for its process
    heard: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            heard.append(record.getMessage())

    ear = Ear()
    before, handlers, propagates = list(logger.filters), list(logger.handlers), logger.propagate
    logger.handlers, logger.propagate = [ear], False
    try:
        with unlogged():
            logger.error("of this thread")
            with unlogged():
                logger.error("of this thread, deeper")
            logger.error("of this thread, again")
            other = threading.Thread(target=logger.error, args=("of another",))
            other.start()
            other.join()
        logger.error("afterwards")
    finally:
        logger.handlers, logger.propagate = handlers, propagates
    assert heard == ["of another", "afterwards"]
    assert logger.filters == before


def test_many_threads_leave_the_logger_as_it_was() -> None:
    logger = PySparkLogger.getLogger("DataFrameQueryContextLogger")

    def mine(record: logging.LogRecord) -> bool:
        return True

    logger.addFilter(mine)
    before = list(logger.filters)

    def work() -> None:
        for _ in range(200):
            with unlogged():
                pass

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert logger.filters == before
    logger.removeFilter(mine)
