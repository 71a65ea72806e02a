"""Bytes: the peak memory of Spark's Python workers, and of this process."""

from __future__ import annotations

import threading
from pathlib import Path

import psutil

__all__ = ["WorkerMemory", "forget_peak", "held_now", "peak_so_far", "workers_now"]


class WorkerMemory:
    """The peak resident memory of any one Python worker below this process, while a `with` block runs.

    Workers that lived before the block do not count: they may still hold what earlier jobs needed. The caller sees to
    it that the block gets new ones.
    """

    def __init__(self, interval: float = 0.05) -> None:
        self.peak = 0
        self.workers = 0
        self._interval = interval
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._poll, daemon=True)
        self._before: set[int] = set()
        self._seen: set[int] = set()

    def __enter__(self) -> WorkerMemory:
        self._before = {worker.pid for worker in workers_now()}
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self._look()

    def _poll(self) -> None:
        while not self._done.wait(self._interval):
            self._look()

    def _look(self) -> None:
        for worker in workers_now():
            if worker.pid in self._before:
                continue
            try:
                self.peak = max(self.peak, peak_so_far(worker.pid))
            except (psutil.Error, OSError):
                continue  # it ended meanwhile
            self._seen.add(worker.pid)
        self.workers = len(self._seen)


def workers_now() -> list[psutil.Process]:
    """The Python workers of Spark that descend from this process; without the daemons that fork them."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            parent = process.parent()
            if parent is not None and _is_python_worker(process) and _is_python_worker(parent):
                found.append(process)
        except psutil.Error:
            continue
    return found


def _is_python_worker(process: psutil.Process) -> bool:
    return any("pyspark.daemon" in word or "pyspark.worker" in word for word in process.cmdline())


def held_now(process: int | None = None) -> int:
    """The resident memory of a process, or of this one."""
    return int(psutil.Process(process).memory_info().rss)


def peak_so_far(process: int | None = None) -> int:
    """The most memory that a process has held so far, or where the system does not tell, what it holds now."""
    status = Path(f"/proc/{process or 'self'}/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return held_now(process)


def forget_peak() -> None:
    """Let the peak of this process start anew, where the system allows it."""
    switch = Path("/proc/self/clear_refs")
    if switch.exists():
        switch.write_text("5")
