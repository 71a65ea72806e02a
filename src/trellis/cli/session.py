"""The Spark session of one command: quiet, as small as its task, stopped at the end."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import socket
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator
from typing import IO, Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from pyspark.errors import PySparkRuntimeError
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from trellis.cli.failures import Told, describe
from trellis.errors import ResourceError
from trellis.java import require_java

__all__ = ["is_local", "open_session", "remote_of", "wants_local"]

_ALWAYS = {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"}  # INT96 forgets whether there is a zone
_LOCAL = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}
_IDLE_TALK = re.compile(r"\s+at |WARNING: |Using Spark's default|Setting |To adjust logging|\S+ \S+ WARN ")


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
    _require_server(remote)
    if remote.startswith("local"):
        _share_packages()
    builder = SparkSession.builder.remote(remote).appName("trellis")
    for key, value in {**_ALWAYS, **dict(args.conf)}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    try:
        yield spark
    except BrokenPipeError:  # of stdout, not of ours
        raise
    except Exception as error:
        raise Told(*describe(error)) from error
    finally:
        with contextlib.suppress(Exception):  # the work is done, or its own error tells more
            spark.stop()


def _require_server(remote: str) -> None:
    """Knock first: PySpark would try for ten minutes to reach a server that is not there, and ten more to leave it."""
    place = urlsplit(remote)
    if place.scheme != "sc" or any(getproxies().get(kind) for kind in ("http", "https", "grpc")):
        return
    try:
        socket.create_connection((place.hostname or "", place.port or 15002), timeout=10).close()
    except (OSError, ValueError) as error:
        raise ResourceError(
            f"No Spark Connect server answers at {remote}: {error}.",
            cure="Start the server, or correct --remote sc://host:port; without it, Spark runs here.",
        ) from error


@contextlib.contextmanager
def _started(args: Namespace) -> Iterator[SparkSession]:
    """A JVM of our own. What it prints goes to a file that is read only if the JVM dies."""
    os.environ.pop("SPARK_REMOTE", None)  # --master was given, and wins
    require_java()
    if wants_local(args):
        _share_packages()
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    spark: SparkSession | None = None
    with tempfile.TemporaryFile() as log:
        try:
            _launch(args, None if args.debug else log)
            spark = SparkSession.builder.getOrCreate()
            yield spark
        except BrokenPipeError:  # of stdout, not of ours
            raise
        except PySparkRuntimeError as error:
            if spark is not None:
                raise
            raise ResourceError(
                f"Spark did not start: {_last_words(log) or error}", cure="See all that it says with --debug."
            ) from error
        except Exception as error:
            raise _told(error, log) from error
        finally:
            if spark is not None:
                with contextlib.suppress(Exception):  # the work is done, or its own error tells more
                    spark.stop()


def _share_packages() -> None:
    """Workers on this machine shall see the packages of this process, whether its environment is activated or not."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def _launch(args: Namespace, log: IO[bytes] | None) -> None:
    """Start the JVM, and the context in it."""
    from pyspark import SparkConf, SparkContext  # not in the package that has Spark Connect alone
    from pyspark.java_gateway import launch_gateway

    conf = SparkConf().setAll(list(_settings(args).items()))
    launch: Callable[..., Any] = launch_gateway
    running = getattr(SparkContext, "_gateway", None)  # of an earlier command in this process
    gateway = running or launch(conf, {"stdout": log, "stderr": log} if log else None)
    SparkContext(conf=conf, gateway=gateway)


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


def _told(error: Exception, log: IO[bytes]) -> Exception:
    """The error in words, while there is somebody to ask: the text of an error of Java is still in the JVM."""
    try:
        code, message = describe(error)
    except Exception:
        return _death(log)
    kinds = {type(error).__name__, type(error.__context__).__name__}
    if isinstance(error, ConnectionError) or "Py4JNetworkError" in kinds or "SparkContext was shut down" in message:
        return _death(log)
    return Told(code, message)


def _death(log: IO[bytes]) -> ResourceError:
    """What to say when the JVM is gone."""
    if "OutOfMemoryError" in _said(log):
        return ResourceError("Spark ran out of memory.", cure="Give it more with --memory, such as --memory 8g.")
    told = f"The Java process of Spark ended too early. {_last_words(log)}".rstrip()
    return ResourceError(told, cure="If memory was short, change --memory; --debug shows all that Spark says.")


def _last_words(log: IO[bytes]) -> str:
    """The last lines that tell something, of what the JVM printed before it ended."""
    told = [line for line in _said(log).splitlines() if line.strip() and not _IDLE_TALK.match(line)]
    return "\n".join(told[-4:])


def _said(log: IO[bytes]) -> str:
    log.seek(0)
    return log.read().decode(errors="replace")
