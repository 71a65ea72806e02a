"""How far Spark is with what runs now: tasks, and the rows inside those that run on this machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TextIO, TypeAlias

from pyspark.sql import SparkSession

from trellis.errors import TrellisWarning
from trellis.execution.pulse import Told, folder_of_pulses, read_pulses

__all__ = ["Progress", "Watch", "on_progress", "progress_bar"]

Counts: TypeAlias = "tuple[int, int] | None"
"""How many tasks are done, and of how many; None before the first task."""

_BAR = 30
_LOCK = threading.Lock()
_watches = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far Spark is, as `trellis.on_progress` tells it.

    Attributes
    ----------
    done, tasks : int
        How many tasks are done, and how many there are so far: Spark plans the later stages of a query when it comes to
        them. Both are 0 before the first task.
    rows_read, rows_searched : int
        How many rows tasks on this machine have read and searched since the watching began, running ones included.
        0 on a cluster, whose tasks tell nothing before they are done.
    inside : float
        The part of the running tasks that is done, in tasks: 0.5 for one that has searched half of its rows. Tasks that
        have not read all of their rows count as 0.
    seconds : float
        Since the watching began.
    finished : bool
        Whether the watching has ended; this is the last time.
    """

    done: int = 0
    tasks: int = 0
    rows_read: int = 0
    rows_searched: int = 0
    inside: float = 0.0
    seconds: float = 0.0
    finished: bool = False

    @property
    def fraction(self) -> float | None:
        """Which part of the tasks that are known is done; None before the first task."""
        return min(1.0, (self.done + self.inside) / self.tasks) if self.tasks else None

    def line(self, text: str, width: int) -> str:
        """What a terminal shows: a bar once there are tasks, what is going on before that.

        Examples
        --------
        >>> from trellis.running import Progress
        >>> Progress(done=1, tasks=3, rows_searched=1_200_000, inside=0.5, seconds=7).line("matching", 80)
        '[###############---------------] matching, 1/3 tasks, 1,200,000 rows  0:07'
        """
        clock = f"{int(self.seconds) // 60}:{int(self.seconds) % 60:02}"
        if self.tasks:
            filled = int(_BAR * (self.fraction or 0.0))
            text = f"[{'#' * filled}{'-' * (_BAR - filled)}] {text}, {self.done}/{self.tasks} tasks"
        if self.rows_searched:
            text = f"{text}, {self.rows_searched:,} rows"
        elif self.rows_read:
            text = f"{text}, {self.rows_read:,} rows read"
        return f"{text}  {clock}"[: max(width - 1, 0)]


class Watch:
    """Asks Spark, and the tasks of this machine, how far they are; until it is closed."""

    def __init__(self, spark: SparkSession | None = None) -> None:
        self._count: Callable[[], Counts] = lambda: None
        self._forget: Callable[[], None] = lambda: None
        self._began = time.monotonic()
        self._read = self._searched = 0
        self._open = True
        _open_folder()
        if spark is not None:
            self.session(spark)

    def session(self, spark: SparkSession) -> None:
        """Count the tasks of this session."""
        if hasattr(spark, "sparkContext"):
            self._count = _classic_counts(spark)
        else:
            counter: Any = _ConnectCounts()  # a handler by its shape; the class of handlers needs gRPC
            spark.registerProgressHandler(counter)
            self._count = counter.sum
            self._forget = lambda: spark.removeProgressHandler(counter)

    def now(self, *, finished: bool = False) -> Progress:
        """How far they are."""
        done, tasks = self._count() or (0, 0)
        running = self._pulses()
        return Progress(
            done,
            tasks,
            self._read + sum(told.read for told in running),
            self._searched + sum(told.searched for told in running),
            sum(told.searched / told.read for told in running if told.all_read and told.read),
            time.monotonic() - self._began,
            finished,
        )

    def leave(self) -> None:
        """Count tasks no more: the session is about to stop."""
        self._count = lambda: None
        with contextlib.suppress(Exception):
            self._forget()
        self._forget = lambda: None

    def close(self) -> None:
        """Watch no more."""
        self.leave()
        if self._open:
            self._open = False
            _close_folder()

    def _pulses(self) -> list[Told]:
        """What running tasks tell; those that are done are added up."""
        told = read_pulses(folder_of_pulses())
        self._read += sum(one.read for one in told if one.done)
        self._searched += sum(one.searched for one in told if one.done)
        return [one for one in told if not one.done]


@contextlib.contextmanager
def on_progress(
    callback: Callable[[Progress], object], *, every: float = 0.5, spark: SparkSession | None = None
) -> Iterator[None]:
    """Tell how far Spark is, again and again, while the block runs.

    Spark says how many tasks are done. What is inside a running task is known where its worker runs on this machine, as
    it does with `local[*]`: also one long task of one core shows how many rows it has read and searched. On a cluster
    only whole tasks are counted. What Spark does before rows come to the search, such as reading and sorting, counts as
    tasks alone, and so does a search by skipping between two matches.

    Parameters
    ----------
    callback : function of a Progress
        Called from a thread of its own, with `done` and `tasks`, `rows_read` and `rows_searched`, `fraction`, `seconds`
        and `finished`; once more at the end of the block. If it raises an error, there is a warning, and it is called
        no more.
    every : float
        So many seconds lie between two calls.
    spark : SparkSession, optional
        The session whose tasks are counted, by default the one that is active when the block begins.

    Examples
    --------
    >>> import trellis as tr
    >>> ticks = spark.createDataFrame([(1, 5.0), (2, 4.0), (3, 6.0)], "day int, price double")
    >>> told = []
    >>> dip = tr.pattern("DOWN+ UP").define(DOWN="price < prev(price)", UP="price > prev(price)")
    >>> with tr.on_progress(told.append):
    ...     rows = dip.match(ticks, order_by="day").collect()
    >>> told[-1].finished, told[-1].rows_searched
    (True, 3)
    """
    # Which session is active, the thread that watches cannot ask.
    with _watching(Watch(spark or SparkSession.getActiveSession()), callback, every):
        yield


@contextlib.contextmanager
def progress_bar(
    text: str = "matching", *, on: bool | None = None, every: float = 0.3, spark: SparkSession | None = None
) -> Iterator[None]:
    """Show how far Spark is while the block runs: a line on a terminal, a bar in a notebook.

    What it can know is what `on_progress` tells. It leaves no trace on a terminal.

    Parameters
    ----------
    text : str
        What is going on.
    on : bool, optional
        Whether it shows; by default in a notebook, and where standard error is a terminal.
    every : float
        So many seconds lie between two looks.
    spark : SparkSession, optional
        The session whose tasks are counted, by default the one that is active when the block begins.

    Examples
    --------
    >>> import trellis as tr
    >>> ticks = spark.createDataFrame([(1, 5.0), (2, 4.0), (3, 6.0)], "day int, price double")
    >>> with tr.progress_bar():
    ...     ticks.transform(tr.pattern("A B").match, order_by="day").count()
    1
    """
    shown = _shown(text, sys.stderr) if on is not False else None
    if shown is None and on:
        shown = _line_on(text, sys.stderr)
    if shown is None:
        yield
        return
    with _watching(Watch(spark or SparkSession.getActiveSession()), shown, every):
        yield


@contextlib.contextmanager
def _watching(watch: Watch, callback: Callable[[Progress], object], every: float) -> Iterator[None]:
    ended = threading.Event()
    faults: list[BaseException] = []

    def tell(*, finished: bool = False) -> None:
        if faults:
            return
        try:
            callback(watch.now(finished=finished))
        except Exception as fault:
            faults.append(fault)

    def run() -> None:
        while not ended.wait(every):
            tell()

    thread = threading.Thread(target=run, name="trellis-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        tell(finished=True)
        watch.close()
        for fault in faults:
            warnings.warn(f"Progress could not be shown: {fault!r}", TrellisWarning, stacklevel=4)


def _shown(text: str, stream: TextIO) -> Callable[[Progress], object] | None:
    """What shows it here, if somebody looks."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is not None and hasattr(shell, "kernel"):
        shown: Any = import_module("IPython.display")
        handle = shown.display(shown.HTML(_html(Progress(), text)), display_id=True)
        return lambda progress: handle.update(shown.HTML(_html(progress, text)))
    return _line_on(text, stream) if stream.isatty() and os.environ.get("TERM") != "dumb" else None


def _line_on(text: str, stream: TextIO) -> Callable[[Progress], object]:
    """A line on a terminal."""

    def show(progress: Progress) -> None:
        line = "" if progress.finished else progress.line(text, shutil.get_terminal_size().columns)
        with contextlib.suppress(OSError, ValueError):  # the terminal is gone: nobody watches
            stream.write(f"\r\x1b[K{line}")
            stream.flush()

    return show


def _html(progress: Progress, text: str) -> str:
    """A bar, and the words of the line; at the end the words alone."""
    words = progress.line(text, 1000).partition("] ")[2] or progress.line(text, 1000)
    if progress.finished:
        return f'<div style="color:#66727f">{words}</div>'
    part = 100 * (progress.fraction or 0.0)
    bar = f'<div style="width:{part:.1f}%;height:100%;background:#445263"></div>'
    return (
        f'<div style="display:flex;align-items:center;gap:10px"><div style="width:220px;height:8px;'
        f'background:#e6e9ed;border-radius:4px;overflow:hidden">{bar}</div><span>{words}</span></div>'
    )


def _open_folder() -> None:
    global _watches
    with _LOCK:
        _watches += 1
        with contextlib.suppress(OSError):  # no room to write: then tasks tell nothing
            os.makedirs(folder_of_pulses(), mode=0o700, exist_ok=True)


def _close_folder() -> None:
    global _watches
    with _LOCK:
        _watches -= 1
        if not _watches:
            shutil.rmtree(folder_of_pulses(), ignore_errors=True)


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
        """Of all operations."""
        return _sum(list(self._operations.values()))


def _sum(counts: Iterable[tuple[int, int]]) -> Counts:
    counts = list(counts)
    return (sum(done for done, _ in counts), sum(total for _, total in counts)) if counts else None
