"""Seconds and bytes: jobs timed in turns, and the peak memory of Spark's Python workers."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil

__all__ = ["Ratio", "Rounds", "WorkerMemory", "in_turns", "seconds_of"]

Job = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Ratio:
    """The ratio of two medians, with the least and the greatest ratio within one round."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f}–{self.high:.2f})"


@dataclass(frozen=True, slots=True)
class Rounds:
    """The seconds of jobs that ran in turns; the k-th times of all jobs belong to the same round."""

    times: Mapping[str, list[float]]

    def median(self, job: str) -> float:
        """The median of a job."""
        return median(self.times[job])

    def ratio(self, job: str, baseline: str) -> Ratio:
        """How many times as long a job takes as its baseline."""
        paired = [mine / other for mine, other in zip(self.times[job], self.times[baseline], strict=True)]
        return Ratio(self.median(job) / self.median(baseline), min(paired), max(paired))

    def text(self, job: str) -> str:
        """The median of a job, with the fastest and the slowest run."""
        times = self.times[job]
        return f"{median(times):.2f} ({min(times):.2f}–{max(times):.2f})"


def seconds_of(job: Job) -> float:
    """How long a job takes."""
    began = time.perf_counter()
    job()
    return time.perf_counter() - began


def in_turns(jobs: Mapping[str, Job], repeats: int) -> Rounds:
    """Run jobs as A B C, A B C, …, so that what slows the machine down hits all alike. The first round is not timed."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for number in range(repeats + 1):
        for name, job in jobs.items():
            seconds = seconds_of(job)
            print(
                f"  {f'round {number}' if number else 'warm-up'}: {name} {seconds:.2f} s", file=sys.stderr, flush=True
            )
            if number:
                times[name].append(seconds)
    return Rounds(times)


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
        self._before = {worker.pid for worker in _workers()}
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
        for worker in _workers():
            if worker.pid in self._before:
                continue
            try:
                self.peak = max(self.peak, _high_water(worker))
            except (psutil.Error, OSError):
                continue  # it ended meanwhile
            self._seen.add(worker.pid)
        self.workers = len(self._seen)


def _workers() -> list[psutil.Process]:
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


def _high_water(process: psutil.Process) -> int:
    """The most memory that a process has held so far, or where the system does not tell, what it holds now."""
    status = Path(f"/proc/{process.pid}/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return int(process.memory_info().rss)
