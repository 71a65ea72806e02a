"""Questions to Spark whose refusal is an answer: PySpark logs nothing of it.

PySpark writes each refusal of a text to its own loggers, stack and all: pages of JSON on stderr, before an error of one
line says the same. Records of other threads pass, and so does what the user's own code asks of Spark.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.logger import PySparkLogger

__all__ = ["unlogged"]

_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_LOCK = threading.Lock()
_inside = threading.local()
_threads = 0


@contextmanager
def unlogged() -> Iterator[None]:
    """Inside this block, PySpark logs no refusal of this thread."""
    depth = getattr(_inside, "depth", 0)
    if depth == 0:
        _enter(1)
    _inside.depth = depth + 1
    try:
        yield
    finally:
        _inside.depth = depth
        if depth == 0:
            _enter(-1)


def _enter(change: int) -> None:
    """Count the threads inside; the filter is there as long as there are any."""
    global _threads
    with _LOCK:
        before, _threads = _threads, _threads + change
        if before and _threads:
            return
        for name in _LOGGERS:
            logger = PySparkLogger.getLogger(name)
            # A new list, since another thread may be going through the old one.
            others = [one for one in logger.filters if one is not _is_of_another]
            logger.filters = [*others, _is_of_another] if _threads else others


def _is_of_another(record: logging.LogRecord) -> bool:
    """Whether a record is none of a thread inside. Loggers filter in the thread that logs."""
    return getattr(_inside, "depth", 0) == 0
