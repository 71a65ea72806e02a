from __future__ import annotations

import io
import time
from types import SimpleNamespace
from typing import Any

import pytest

from trellis.cli import progress
from trellis.cli.progress import Progress, wanted


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Tracker:
    """A status tracker: stage 1 ends, then stage 2 is on its way."""

    def __init__(self) -> None:
        self.active: list[int] = [1]
        self.stages = {1: (4, 1), 2: (6, 3)}

    def getActiveStageIds(self) -> list[int]:
        return self.active

    def getStageInfo(self, number: int) -> Any:
        total, done = self.stages[number]
        return SimpleNamespace(numTasks=total, numCompletedTasks=done)


def classic(tracker: Tracker) -> Any:
    return SimpleNamespace(sparkContext=SimpleNamespace(statusTracker=lambda: tracker))


def test_who_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert wanted(Terminal(), quiet=False)
    assert not wanted(Terminal(), quiet=True)
    assert not wanted(io.StringIO(), quiet=False)
    monkeypatch.setenv("TERM", "dumb")
    assert not wanted(Terminal(), quiet=False)


def test_off_it_writes_nothing_and_starts_nothing() -> None:
    stream = Terminal()
    with Progress(stream, on=False) as bar:
        bar.show("matching")
        bar.watch(object())  # type: ignore[arg-type]
        bar.hide()
    assert stream.getvalue() == ""


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PERIOD", 0.01)


def shown_until(stream: Terminal, text: str) -> None:
    deadline = time.monotonic() + 10
    while text not in stream.getvalue() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert text in stream.getvalue()


@pytest.mark.usefixtures("quick")
def test_stages_that_end_count_as_done() -> None:
    stream, tracker = Terminal(), Tracker()
    with Progress(stream, on=True) as bar:
        bar.watch(classic(tracker))
        bar.show("matching")
        shown_until(stream, "1/4 tasks")
        tracker.active = [2]
        shown_until(stream, "7/10 tasks")
    assert stream.getvalue().endswith("\r\x1b[K")


@pytest.mark.usefixtures("quick")
def test_an_error_leaves_a_clean_line() -> None:
    stream = Terminal()
    with pytest.raises(KeyboardInterrupt), Progress(stream, on=True) as bar:
        bar.show("matching")
        shown_until(stream, "matching")
        raise KeyboardInterrupt
    assert stream.getvalue().endswith("\r\x1b[K")


@pytest.mark.usefixtures("quick")
def test_hidden_it_stays_hidden() -> None:
    stream = Terminal()
    with Progress(stream, on=True) as bar:
        bar.show("matching")
        shown_until(stream, "matching")
        bar.hide()
        before = stream.getvalue()
        time.sleep(0.05)
        assert stream.getvalue() == before


@pytest.mark.usefixtures("quick")
def test_a_tracker_that_fails_is_forgiven() -> None:
    stream = Terminal()
    broken = SimpleNamespace(sparkContext=SimpleNamespace(statusTracker=lambda: object()))
    with Progress(stream, on=True) as bar:
        bar.watch(broken)  # type: ignore[arg-type]
        bar.show("matching")
        shown_until(stream, "matching  0:0")


@pytest.mark.usefixtures("quick")
def test_spark_connect_tells_by_itself() -> None:
    class Connect:
        def __init__(self) -> None:
            self.handlers: list[Any] = []

        def registerProgressHandler(self, handler: Any) -> None:
            self.handlers.append(handler)

        def removeProgressHandler(self, handler: Any) -> None:
            self.handlers.remove(handler)

    stream, spark = Terminal(), Connect()
    with Progress(stream, on=True) as bar:
        bar.watch(spark)  # type: ignore[arg-type]
        bar.show("matching")
        stage = SimpleNamespace(num_completed_tasks=2, num_tasks=5)
        for operation in ("a", "b"):
            spark.handlers[0](stages=[stage], inflight_tasks=1, operation_id=operation, done=False)
        spark.handlers[0](stages=None, inflight_tasks=0, operation_id="b", done=True)
        shown_until(stream, "4/10 tasks")
    assert spark.handlers == []


def test_a_closed_terminal_is_forgiven() -> None:
    stream = Terminal()
    bar = Progress(stream, on=True)
    bar.show("matching")
    stream.close()
    bar.hide()
