"""A line on the terminal that says how far Spark is, and leaves no trace."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, TextIO, TypeAlias

from pyspark.sql import SparkSession

__all__ = ["Progress", "line", "wanted"]

Counts: TypeAlias = "tuple[int, int] | None"
"""How many tasks are done, and of how many; None before the first task."""

_PERIOD = 0.2
_BAR = 30


def wanted(stream: TextIO, *, quiet: bool) -> bool:
    """Whether somebody watches this stream."""
    return not quiet and stream.isatty() and os.environ.get("TERM") != "dumb"


def line(text: str, counts: Counts, seconds: float, width: int) -> str:
    """What the terminal shows: a bar once there are tasks, what is going on before that."""
    clock = f"{int(seconds) // 60}:{int(seconds) % 60:02}"
    if counts is not None and counts[1]:
        done, total = counts
        filled = _BAR * done // total
        text = f"[{'#' * filled}{'-' * (_BAR - filled)}] {text}, {done}/{total} tasks"
    return f"{text}  {clock}"[: max(width - 1, 0)]


class Progress:
    """Redraws the line from a thread of its own while it is shown; off, it does nothing at all.

    Leaving the block, in whatever way, removes the line.
    """

    def __init__(self, stream: TextIO, *, on: bool) -> None:
        self._stream = stream
        self._on = on
        self._text: str | None = None
        self._count: Callable[[], Counts] = lambda: None
        self._began = time.monotonic()
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._forget: Callable[[], None] = lambda: None
        self._thread = threading.Thread(target=self._run, name="trellis-progress", daemon=True)

    def __enter__(self) -> Progress:
        if self._on:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.hide()
        if self._on:
            self._ended.set()
            self._thread.join()
        self.leave()

    def show(self, text: str) -> None:
        """From now on show what is going on."""
        self._text = text

    def hide(self) -> None:
        """Remove the line, before something else is printed."""
        with self._lock:
            if self._on and self._text is not None:
                self._write("")
            self._text = None

    def watch(self, spark: SparkSession) -> None:
        """Count the tasks of this session."""
        if not self._on:
            return
        if hasattr(spark, "sparkContext"):
            self._count = _classic_counts(spark)
        else:
            counter: Any = _ConnectCounts()  # a handler by its shape; the class of handlers needs gRPC
            spark.registerProgressHandler(counter)
            self._count = counter.sum
            self._forget = lambda: spark.removeProgressHandler(counter)

    def leave(self) -> None:
        """Count no more: the session is about to stop."""
        self._count = lambda: None
        with contextlib.suppress(Exception):
            self._forget()
        self._forget = lambda: None

    def _run(self) -> None:
        while not self._ended.wait(_PERIOD):
            counts = self._count()
            with self._lock:
                if self._text is not None:
                    width = shutil.get_terminal_size().columns
                    self._write(line(self._text, counts, time.monotonic() - self._began, width))

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # the terminal is gone: nobody watches
            self._stream.write(f"\r\x1b[K{text}")
            self._stream.flush()


def _classic_counts(spark: SparkSession) -> Callable[[], Counts]:
    """Ask the status tracker. A stage that is active no more is done."""
    tracker = spark.sparkContext.statusTracker()
    stages: dict[int, tuple[int, int]] = {}

    def count() -> Counts:
        with contextlib.suppress(Exception):  # a session that ends must not break what follows
            active = set(tracker.getActiveStageIds())
            for number, (_, total) in list(stages.items()):
                if number not in active:
                    stages[number] = (total, total)
            for number in active:
                stage = tracker.getStageInfo(number)
                if stage is not None:
                    stages[number] = (stage.numCompletedTasks, stage.numTasks)
        return _sum(stages.values())

    return count


class _ConnectCounts:
    """Is told by Spark Connect; each operation tells of its own stages."""

    def __init__(self) -> None:
        self._operations: dict[object, tuple[int, int]] = {}

    def __call__(self, stages: Iterable[Any] | None, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        told = _sum((stage.num_completed_tasks, stage.num_tasks) for stage in stages or ())
        if told is not None:
            self._operations[operation_id] = told

    def sum(self) -> Counts:
        return _sum(list(self._operations.values()))


def _sum(counts: Iterable[tuple[int, int]]) -> Counts:
    counts = list(counts)
    return (sum(done for done, _ in counts), sum(total for _, total in counts)) if counts else None
