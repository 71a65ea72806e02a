"""A line on the terminal that says how far Spark is, and leaves no trace."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from types import TracebackType
from typing import TextIO

from pyspark.sql import SparkSession

from trellis.running import Watch

__all__ = ["Progress", "wanted"]

_PERIOD = 0.2


def wanted(stream: TextIO, *, quiet: bool) -> bool:
    """Whether somebody watches this stream."""
    return not quiet and stream.isatty() and os.environ.get("TERM") != "dumb"


class Progress:
    """Redraws the line from a thread of its own while it is shown; off, it does nothing at all.

    Leaving the block, in whatever way, removes the line.
    """

    def __init__(self, stream: TextIO, *, on: bool) -> None:
        self._stream = stream
        self._on = on
        self._text: str | None = None
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._watch = Watch() if on else None
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
        if self._watch is not None:
            self._watch.close()

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
        if self._watch is not None:
            self._watch.session(spark)

    def leave(self) -> None:
        """Count no more: the session is about to stop."""
        if self._watch is not None:
            self._watch.leave()

    def _run(self) -> None:
        assert self._watch is not None
        while not self._ended.wait(_PERIOD):
            progress = self._watch.now()
            with self._lock:
                if self._text is not None:
                    self._write(progress.line(self._text, shutil.get_terminal_size().columns))

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # the terminal is gone: nobody watches
            self._stream.write(f"\r\x1b[K{text}")
            self._stream.flush()
