"""From failures, as they really look, to a few lines and an exit code."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException, ArithmeticException, PySparkRuntimeError, PythonException

from trellis.cli.failures import (
    BAD_QUERY,
    FAULT,
    FILE_TROUBLE,
    RUN_TIME,
    FileError,
    Told,
    describe,
)
from trellis.errors import (
    BindingError,
    DataError,
    QuerySyntaxError,
    ResourceError,
    Span,
    TrellisError,
    UnsupportedError,
)

CLASSIC = """
An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "/trellis/spark/worker.py", line 216, in _check
    raise self._error(int(status[0]), int(status[1]), chunk)
trellis.errors.DataError: AFTER MATCH SKIP TO LAST A would find the match again and again: it leads to its first row.
Skip to a later variable, or use SKIP TO NEXT ROW.
"""
CONNECT = """

  An exception was thrown from the Python worker. Please see the stack trace below.
[PYTHON_EXCEPTION] An exception was thrown from the Python worker: Traceback (most recent call last):
  File "/trellis/spark/worker.py", line 216, in _check
    raise self._error(int(status[0]), int(status[1]), chunk)
trellis.errors.ResourceError: The search was given up after 10 steps in one partition, at row 3.
Bound the pattern (WITHIN, {n,m}), make conditions stricter, or raise hints={'step_budget': ...}.
 SQLSTATE: 38000
"""
WRITING = """An error occurred while calling o61.parquet.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 2.0 failed 1 times, most recent \
failure: Lost task 0.0 in stage 2.0 (TID 2) (127.0.0.1 executor driver): org.apache.spark.api.python.PythonException: \
Traceback (most recent call last):
  File "/trellis/spark/worker.py", line 216, in _check
trellis.errors.DataError: A condition divides by zero at row 3.
Guard it with NULLIF(divisor, 0).

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:581)
"""
MALFORMED = """An error occurred while calling o202.collectToPython.
: org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///t.csv.  \
SQLSTATE: KD001
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.cannotReadFilesError(QueryExecutionErrors.scala:903)
Caused by: org.apache.spark.SparkException: [MALFORMED_RECORD_IN_PARSING] Malformed records: [3,null].
Parse Mode: FAILFAST. SQLSTATE: 22023
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.malformed(QueryExecutionErrors.scala:1617)
\t... 1 more
Caused by: org.apache.spark.SparkRuntimeException: [MALFORMED_CSV_RECORD] Malformed CSV record: 3 SQLSTATE: KD000
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.malformedCSV(QueryExecutionErrors.scala:1)
\t... 25 more
"""
NOT_WRITABLE = """An error occurred while calling o379.parquet.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 20.0 failed 1 times, most recent \
failure: Lost task 0.0 in stage 20.0 (TID 14) (127.0.0.1 executor driver): java.io.IOException: Mkdirs failed \
to create file:/proc/nope
\tat org.apache.hadoop.fs.ChecksumFileSystem.create(ChecksumFileSystem.java:774)

Driver stacktrace:
\tat org.apache.spark.scheduler.DAGScheduler.runJob(DAGScheduler.scala:1549)
Caused by: java.io.IOException: Mkdirs failed to create file:/proc/nope
\tat org.apache.hadoop.fs.ChecksumFileSystem.create(ChecksumFileSystem.java:774)
\t... 1 more
"""
NO_COLUMN = """[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `nope` cannot be resolved. \
SQLSTATE: 42703; line 1 pos 7;
'Project ['nope]
+- SubqueryAlias w
"""


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (QuerySyntaxError("x"), BAD_QUERY),
        (BindingError("x"), BAD_QUERY),
        (UnsupportedError("x"), BAD_QUERY),
        (TrellisError("x"), BAD_QUERY),
        (DataError("x"), RUN_TIME),
        (ResourceError("x"), RUN_TIME),
        (FileError("x"), FILE_TROUBLE),
        (Told(42, "x"), 42),
        (FileNotFoundError("x"), FILE_TROUBLE),
        (ConnectionResetError("x"), RUN_TIME),
        (ZeroDivisionError("x"), FAULT),
    ],
)
def test_codes(error: Exception, code: int) -> None:
    found, message = describe(error)
    assert found == code and "x" in message


def test_the_caret_is_kept() -> None:
    error = BindingError("There is no column nope.", cure="The columns are a.", span=Span(7, 11), text="SELECT nope")
    assert describe(error)[1].splitlines() == [
        "There is no column nope.",
        "line 1: SELECT nope",
        "               ^^^^",
        "The columns are a.",
    ]


def test_an_error_of_a_worker_classic() -> None:
    code, message = describe(PythonException(CLASSIC))
    assert code == RUN_TIME
    assert message == (
        "AFTER MATCH SKIP TO LAST A would find the match again and again: it leads to its first row.\n"
        "Skip to a later variable, or use SKIP TO NEXT ROW."
    )


def test_an_error_of_a_worker_connect_in_the_words_of_a_shell() -> None:
    code, message = describe(PythonException(CONNECT))
    assert code == RUN_TIME
    assert message == (
        "The search was given up after 10 steps in one partition, at row 3.\n"
        "Bound the pattern (WITHIN, {n,m}), make conditions stricter, or raise --hint step_budget=...."
    )


def test_an_error_of_a_worker_inside_an_error_of_java() -> None:
    assert describe(Exception(WRITING)) == (
        RUN_TIME,
        "A condition divides by zero at row 3.\nGuard it with NULLIF(divisor, 0).",
    )


def test_other_errors_of_a_worker() -> None:
    code, message = describe(PythonException(CLASSIC.replace("trellis.errors.DataError: AFTER", "ValueError: AFTER")))
    assert code == RUN_TIME and message.startswith("A Python worker of Spark failed: ValueError: AFTER MATCH")


def test_workers_without_trellis() -> None:
    text = (
        "Traceback (most recent call last):\n  File x\nModuleNotFoundError: No module named 'trellis'\n SQLSTATE: 38000"
    )
    code, message = describe(PythonException(text))
    assert code == RUN_TIME
    assert message.startswith("The Python workers of Spark have no package trellis.\nInstall Trellis where they run")


def test_a_class_that_is_no_error_of_trellis_is_not_believed() -> None:
    code, _ = describe(PythonException("Traceback\ntrellis.errors.OtherError: x"))
    assert code == RUN_TIME


def test_the_first_and_the_last_cause() -> None:
    assert describe(Exception(MALFORMED)) == (
        RUN_TIME,
        "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///t.csv.\n"
        "[MALFORMED_CSV_RECORD] Malformed CSV record: 3",
    )


def test_a_file_that_spark_cannot_write() -> None:
    code, message = describe(Exception(NOT_WRITABLE))
    assert code == FILE_TROUBLE
    assert message == "Mkdirs failed to create file:/proc/nope"


@pytest.mark.parametrize("condition", ["PATH_NOT_FOUND", "PATH_ALREADY_EXISTS", "UNABLE_TO_INFER_SCHEMA"])
def test_files_that_spark_misses(condition: str) -> None:
    assert describe(AnalysisException(f"[{condition}] It is file:/x. SQLSTATE: 42K03")) == (
        FILE_TROUBLE,
        f"[{condition}] It is file:/x.",
    )


def test_a_query_that_spark_refuses_without_its_plan() -> None:
    code, message = describe(AnalysisException(NO_COLUMN))
    assert code == BAD_QUERY
    assert message == (
        "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `nope` cannot be resolved.; line 1 pos 7"
    )


def test_arithmetic_at_run_time() -> None:
    text = "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n== SQL (line 1, position 8) ==\nselect 1/0\n"
    assert describe(ArithmeticException(text)) == (RUN_TIME, "[DIVIDE_BY_ZERO] Division by zero.")


def test_memory_names_the_option() -> None:
    code, message = describe(Exception(": java.lang.OutOfMemoryError: Java heap space\n\tat java.util.Arrays"))
    assert code == RUN_TIME and "Java heap space" in message and "--memory" in message


def test_a_plain_error_of_pyspark() -> None:
    assert describe(PySparkRuntimeError("no such thing"))[0] == RUN_TIME


def test_a_fault_says_so() -> None:
    code, message = describe(KeyError("slot"))
    assert code == FAULT and "KeyError: 'slot'" in message and "--debug" in message
