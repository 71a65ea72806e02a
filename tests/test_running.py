"""How far Spark is with what runs now."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import trellis as tr
from trellis import running
from trellis.errors import TrellisWarning
from trellis.execution.pulse import folder_of_pulses
from trellis.running import Progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def wait_until(there: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not there() and time.monotonic() < deadline:
        time.sleep(0.01)


def line(text: str, counts: tuple[int, int], seconds: float, width: int, **more: Any) -> str:
    return Progress(*counts, seconds=seconds, **more).line(text, width)


def test_what_the_line_says() -> None:
    assert line("starting Spark", (0, 0), 3.2, 80) == "starting Spark  0:03"
    assert line("matching", (0, 0), 61, 80, rows_read=5000) == "matching, 5,000 rows read  1:01"
    assert line("matching", (5, 10), 600, 80) == f"[{'#' * 15}{'-' * 15}] matching, 5/10 tasks  10:00"
    assert line("matching", (10, 10), 0, 80).startswith(f"[{'#' * 30}]")
    told = line("matching", (1, 2), 0, 80, rows_read=9, rows_searched=5, inside=0.5)
    assert told == f"[{'#' * 22}{'-' * 8}] matching, 1/2 tasks, 5 rows  0:00"


def test_the_line_never_wraps() -> None:
    assert len(line("matching", (5, 10), 0, 20)) == 19
    assert line("matching", (5, 10), 0, 0) == ""


def test_a_part_of_the_tasks() -> None:
    assert Progress().fraction is None
    assert Progress(done=1, tasks=4, inside=1.5).fraction == 0.625
    assert Progress(done=4, tasks=4, inside=0.5).fraction == 1.0


def test_the_callback_hears_the_end_and_the_folder_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_watches", 0)  # whatever another test has left open
    told: list[Progress] = []
    with tr.on_progress(told.append, every=0.01):
        assert Path(folder_of_pulses()).is_dir()
        with tr.on_progress(told.append, every=10):
            pass
        assert Path(folder_of_pulses()).is_dir()
        wait_until(lambda: len(told) > 2)
    assert not Path(folder_of_pulses()).exists()
    assert sum(one.finished for one in told) == 2 and told[-1].finished and len(told) > 3


def test_a_callback_that_fails_is_called_no_more_and_does_no_harm() -> None:
    calls = []

    def fail(progress: Progress) -> None:
        calls.append(progress)
        raise ValueError("no bar")

    with pytest.warns(TrellisWarning, match="no bar"), tr.on_progress(fail, every=0.01):
        wait_until(lambda: calls)
        time.sleep(0.05)
    assert len(calls) == 1


def test_a_bar_on_a_terminal_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with tr.progress_bar("looking", every=0.01):
        wait_until(stream.getvalue)
    assert "looking" in stream.getvalue() and stream.getvalue().endswith("\r\x1b[K")
    stream.truncate(0)
    with tr.progress_bar(on=False, every=0.01):
        time.sleep(0.03)
    assert not stream.getvalue().strip("\0")


def test_into_a_pipe_there_is_none_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with tr.progress_bar(every=0.01):
        time.sleep(0.03)
    assert stream.getvalue() == ""
    with tr.progress_bar(on=True, every=0.01):
        wait_until(stream.getvalue)
    assert "matching" in stream.getvalue()


def test_a_bar_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def display(shown: str, *, display_id: bool) -> Any:
        assert display_id
        seen.append(shown)
        return SimpleNamespace(update=seen.append)

    ipython = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", ipython)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(HTML=str, display=display))  # type: ignore[arg-type]
    with tr.progress_bar(every=0.01):
        wait_until(lambda: len(seen) > 2)
    assert len(seen) > 2 and "width:0.0%" in seen[0] and "matching" in seen[0]
    assert "width:220px" not in seen[-1] and "matching" in seen[-1]
    assert "width:50.0%" in running._html(Progress(done=1, tasks=2), "matching")


_ROWS = 60_000


@pytest.mark.spark
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="it takes minutes without machine code")
def test_one_long_task_shows_movement(spark: SparkSession) -> None:
    """Rows of one series, on one core: what is inside the task is told before the task is done."""
    from pyspark.sql import functions as F

    rows = spark.range(_ROWS).select(F.col("id").alias("t"), F.rand(3).alias("v"))
    # Each start searches hundreds of rows in vain.
    slow = tr.pattern("A B{300} C").define(B="v >= 0 AND t > A.t", C="v < 0").match(rows, order_by="t")
    told: list[Progress] = []
    with tr.on_progress(told.append, every=0.03):
        assert slow.count() == 0
    inside = [one for one in told if not one.finished and 0 < one.rows_searched < _ROWS]
    assert len({one.rows_searched for one in inside}) >= 3
    assert all(0 < one.inside < 1 for one in inside if one.rows_read == _ROWS)
    assert told[-1].rows_searched == told[-1].rows_read == _ROWS
    assert [one.rows_searched for one in told] == sorted(one.rows_searched for one in told)
