"""How far a task has come, told while it runs: in a small file, to whoever watches on the same machine.

Spark hears from a Python worker when its task is done, and not before. So each task carries the name of a folder of the
process that planned it. The folder is there only while somebody watches, and only on the machine of that process: where
a task finds it, it writes a few numbers into a file of its own, four times a second, from a thread of its own. Kernels
run without the interpreter lock, and keep in an array how far they are, so the thread reads it there.
"""

from __future__ import annotations

import os
import secrets
import struct
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from trellis.kernels.arrays import Ints

__all__ = ["Pulse", "Told", "folder_of_pulses", "pulse", "read_pulses", "telling"]

_PERIOD = 0.25
_NUMBERS = struct.Struct("<qq??")


@cache
def folder_of_pulses() -> str:
    """The folder of this process; nobody can guess its name, and it need not be there."""
    return str(Path(tempfile.gettempdir()) / f"trellis-{os.getpid()}-{secrets.token_hex(8)}")


@dataclass(frozen=True, slots=True)
class Told:
    """How many rows a task has read and searched; whether it has `all_read`, and whether it is `done`."""

    read: int
    searched: int
    all_read: bool
    done: bool


@dataclass(slots=True)
class Pulse:
    """How far the task of this process has come. A worker does one at a time.

    The chunk that is searched begins after `searched` rows; in it the search is at a row, or says in an array where.
    """

    read: int = 0
    searched: int = 0
    all_read: bool = False
    row: int = 0
    progress: Ints | None = None
    place: int = 0

    def reading(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches, whose rows are counted."""
        for batch in batches:
            self.read += batch.num_rows
            yield batch
        self.all_read = True

    def follow(self, progress: Ints, place: int) -> None:
        """From now on an element of an array is the row of the chunk where the search is."""
        self.place, self.progress = place, progress

    def at(self, row: int) -> None:
        """The search is at a row of the chunk."""
        self.row, self.progress = row, None

    def chunk_is_done(self, rows: int) -> None:
        """A chunk of so many rows was searched."""
        self.at(0)
        self.searched += rows

    def told(self, *, done: bool = False) -> Told:
        """How far the task has come."""
        progress = self.progress
        row = self.row if progress is None else int(progress[self.place])
        searched = self.read if done else min(self.searched + max(0, row), self.read)
        return Told(self.read, searched, self.all_read, done)


pulse = Pulse()
"""Of the task that this process does."""


@contextmanager
def telling(folder: str) -> Iterator[Pulse]:
    """Tell of a task from here on, if the folder is there."""
    pulse.__init__()  # type: ignore[misc]
    if not folder or not os.path.isdir(folder):
        yield pulse
        return
    path = Path(folder) / f"{os.getpid()}-{secrets.token_hex(4)}"
    ended = threading.Event()

    def tell() -> None:
        with suppress(OSError):  # nobody watches any more
            while not ended.wait(_PERIOD):
                _write(path, pulse.told())

    thread = threading.Thread(target=tell, name="trellis-pulse", daemon=True)
    thread.start()
    try:
        yield pulse
    finally:
        ended.set()
        thread.join()
        with suppress(OSError):
            _write(path, pulse.told(done=True))
        pulse.at(0)


def _write(path: Path, told: Told) -> None:
    # Put in place at once, so that nobody reads half of it.
    fresh = path.with_suffix(".new")
    fresh.write_bytes(_NUMBERS.pack(told.read, told.searched, told.all_read, told.done))
    fresh.replace(path)


def read_pulses(folder: str) -> list[Told]:
    """What the tasks have told. Of those that are done it is told once: their files are removed."""
    found: list[Told] = []
    with suppress(OSError):
        for path in Path(folder).iterdir():
            with suppress(OSError, struct.error):
                if path.suffix:
                    continue
                told = Told(*_NUMBERS.unpack(path.read_bytes()))
                if told.done:
                    path.unlink()
                found.append(told)
    return found
