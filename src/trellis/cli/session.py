"""The Spark session of one command: quiet, as small as its task, stopped at the end."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator
from typing import IO, Any

from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from trellis.errors import ResourceError, TrellisError
from trellis.java import require_java

__all__ = ["is_local", "open_session", "remote_of", "wants_local"]

_ALWAYS = {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"}  # INT96 forgets whether there is a zone
_LOCAL = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}


def remote_of(args: Namespace) -> str | None:
    """The address of the Spark Connect server, if one is to be used."""
    return args.remote or (None if args.master else os.environ.get("SPARK_REMOTE"))


def wants_local(args: Namespace) -> bool:
    """Whether these arguments ask for a Spark that shares this machine's files."""
    return remote_of(args) is None and _master(args).startswith("local")


def is_local(spark: SparkSession) -> bool:
    """Whether a session runs in a JVM on this machine, without executors elsewhere."""
    return hasattr(spark, "sparkContext") and (spark.sparkContext.master or "").startswith("local")


@contextlib.contextmanager
def open_session(args: Namespace) -> Iterator[SparkSession]:
    """The session that the arguments ask for; where one runs already, a sister of it that is left running."""
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running.newSession()
        return
    if not args.debug:
        _hush()
    remote = remote_of(args)
    with _connected(remote, args) if remote else _started(args) as spark:
        yield spark


def _hush() -> None:
    """PySpark and py4j print errors that they also raise; these reach the user once, as a sentence."""
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
    logging.getLogger().addHandler(logging.NullHandler())  # else py4j's first message would add one that prints


@contextlib.contextmanager
def _connected(remote: str, args: Namespace) -> Iterator[SparkSession]:
    builder = SparkSession.builder.remote(remote).appName("trellis")
    for key, value in {**_ALWAYS, **dict(args.conf)}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        with contextlib.suppress(Exception):  # the work is done, or its own error tells more
            spark.stop()


@contextlib.contextmanager
def _started(args: Namespace) -> Iterator[SparkSession]:
    """A JVM of our own. What it prints goes to a file that is read only if the JVM dies."""
    os.environ.pop("SPARK_REMOTE", None)  # --master was given, and wins
    require_java()
    if wants_local(args):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers must see the packages of this process
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with tempfile.TemporaryFile() as log:
        java = None
        try:
            java = _launch(args, None if args.debug else log)
            spark = SparkSession.builder.getOrCreate()
            try:
                yield spark
            finally:
                with contextlib.suppress(Exception):  # the work is done, or its own error tells more
                    spark.stop()
        except PySparkRuntimeError as error:
            if java is not None:
                raise
            raise ResourceError(f"Spark did not start: {_last_words(log) or error}") from error
        except Exception as error:
            if not _died(java, error):
                raise
            raise ResourceError(
                f"The Java process of Spark ended too early. {_last_words(log)}".rstrip(),
                cure="If memory was short, change --memory; --debug shows all that Spark says.",
            ) from error


def _launch(args: Namespace, log: IO[bytes] | None) -> Any:
    """Start the JVM and the context in it; the answer is the process, or None if another one had been started."""
    from pyspark import SparkConf, SparkContext  # not in the package that has Spark Connect alone
    from pyspark.java_gateway import launch_gateway

    conf = SparkConf().setAll(list(_settings(args).items()))
    if getattr(SparkContext, "_gateway", None) is not None:
        SparkContext(conf=conf)
        return None
    launch: Callable[..., Any] = launch_gateway
    gateway = launch(conf, {"stdout": log, "stderr": log} if log else None)
    SparkContext(conf=conf, gateway=gateway)
    return gateway.proc


def _settings(args: Namespace) -> dict[str, str]:
    """The configuration: what quietness needs, what the options say, what --conf says."""
    settings = {
        "spark.app.name": "trellis",
        "spark.master": _master(args),
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "WARN" if args.debug else "ERROR",
        **_ALWAYS,
    }
    if wants_local(args):
        settings.update(_LOCAL)
    if args.memory:
        settings["spark.driver.memory"] = args.memory
    return {**settings, **dict(args.conf)}


def _master(args: Namespace) -> str:
    return args.master or "local[*]"


def _died(java: Any, error: Exception) -> bool:
    """Whether the end of the JVM is behind an error. An error that Spark itself raised shows that it lives."""
    if java is None or isinstance(error, (TrellisError, PySparkException)) or hasattr(error, "java_exception"):
        return False
    with contextlib.suppress(subprocess.TimeoutExpired):
        java.wait(timeout=1)
        return True
    return False


def _last_words(log: IO[bytes]) -> str:
    """The last lines that tell something, of what the JVM printed before it ended."""
    log.seek(0)
    lines = log.read().decode(errors="replace").splitlines()
    told = [line for line in lines if line.strip() and not re.match(r"\s+at |WARNING: |Using Spark's default", line)]
    return "\n".join(told[-4:])
