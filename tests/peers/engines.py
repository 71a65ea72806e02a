"""Asking Trellis, without Spark and with it, and Trino."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import local
from naive import NaiveQuery, Row
from peers.client import Client, TrinoError
from peers.compare import GIVEN_UP, SKIP, Answer, Outcome, Refusal, is_given_up
from peers.queries import COLUMNS
from peers.server import Server
from peers.trino_text import statement
from properties.render import render_clause

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = [
    ("c", "int"),
    ("id", "int"),
    ("k", "int"),
    ("t", "int"),
    ("x", "int"),
    ("y", "double"),
    ("s", "string"),
    ("b", "boolean"),
]


class Engine(Protocol):
    def __call__(self, query: NaiveQuery, rows: Sequence[Row]) -> Outcome: ...


class TrellisOnSpark:
    """Trellis on a Spark session, which the first query starts: every layer."""

    def __init__(self) -> None:
        self._session: SparkSession | None = None

    def __enter__(self) -> TrellisOnSpark:
        return self

    def __exit__(self, *_: object) -> None:
        if self._session is not None:
            self._session.stop()

    def __call__(self, query: NaiveQuery, rows: Sequence[Row]) -> Outcome:
        import trellis

        if self._session is None:
            self._session = start_spark()
        schema = ", ".join(f"{name} {type_}" for name, type_ in SCHEMA)
        frame = self._session.createDataFrame([tuple(row[name] for name in COLUMNS) for row in rows], schema)
        text = f"SELECT * FROM {{rows}} MATCH_RECOGNIZE ({render_clause(query)})"
        try:
            return Answer(tuple(row.asDict() for row in trellis.sql(text, rows=frame).collect()))
        except Exception as error:
            return refusal_of(error)


def start_spark() -> SparkSession:
    from pyspark.sql import SparkSession

    from trellis.java import require_java

    require_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable  # workers must see the same packages as the driver
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    # Refused skips are expected, and each would print its trace.
    session.sparkContext.setLogLevel("OFF")
    logging.getLogger("SQLQueryContextLogger").disabled = True
    return session


class Trellis:
    """Trellis without a JVM, all but the Spark calls. What local.py cannot evaluate goes to Spark."""

    def __init__(self, on_spark: Engine) -> None:
        self._on_spark = on_spark

    def __call__(self, query: NaiveQuery, rows: Sequence[Row]) -> Outcome:
        try:
            return Answer(tuple(local.run(render_clause(query), rows, SCHEMA)))
        except Exception as error:  # an internal error is a difference to report, not the end of the run
            if str(error).startswith("the local evaluator does not know"):
                return self._on_spark(query, rows)
            return refusal_of(error)


class Trino:
    """A server on this machine; each thread has a connection of its own.

    The server says that it gave a query up, but goes on with it for ever, and others starve. So it is started anew,
    and the query is asked again while nobody else asks: only then it is known to be the slow one.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._threads = threading.local()
        self._turn = threading.Condition()
        self._asking = 0
        self._alone = False
        self._starts = 0

    def __call__(self, query: NaiveQuery, rows: Sequence[Row]) -> Outcome:
        text = statement(query, rows)
        with self._turn:
            self._turn.wait_for(lambda: not self._alone)
            self._asking += 1
            starts = self._starts
        try:
            outcome = self._ask(text)
        finally:
            with self._turn:
                self._asking -= 1
                self._turn.notify_all()
        return self._ask_alone(text, starts) if is_given_up(outcome) else outcome

    def _ask_alone(self, text: str, starts: int) -> Outcome:
        """Ask again; with a new process, if the one that was asked before is still there."""
        with self._turn:
            self._turn.wait_for(lambda: not self._alone)
            self._alone = True
            self._turn.wait_for(lambda: self._asking == 0)
        try:
            if self._starts == starts:
                self._restart()
            outcome = self._ask(text)
            if is_given_up(outcome):
                self._restart()
            return outcome
        finally:
            with self._turn:
                self._alone = False
                self._turn.notify_all()

    def _restart(self) -> None:
        self._server.restart()
        self._starts += 1
        self._threads = threading.local()

    def _ask(self, text: str) -> Outcome:
        if not hasattr(self._threads, "client"):
            self._threads.client = Client(self._server.port)
        try:
            result = self._threads.client.query(text)
        except TrinoError as error:
            kind = SKIP if error.message.startswith("AFTER MATCH SKIP failed") else error.name
            return Refusal(kind, error.message)
        except OSError as error:  # too busy with another query to answer at all
            return Refusal(GIVEN_UP, str(error))
        return Answer(tuple(dict(zip(result.columns, row, strict=True)) for row in result.rows))


def refusal_of(error: Exception) -> Refusal:
    # On Spark, a worker's error arrives as the text of another one.
    skip = "AFTER MATCH SKIP" in str(error)
    return Refusal(SKIP if skip else type(error).__name__, str(error))
