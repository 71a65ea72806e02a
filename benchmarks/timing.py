"""Seconds: jobs that run in turns, their medians and ratios, with the spread."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Generic, TypeVar

__all__ = ["Clock", "Job", "Ratio", "Rounds", "best_of", "in_turns", "say", "seconds_of", "spread"]

Job = Callable[[], Any]
Clock = Callable[[], float]
Name = TypeVar("Name", bound=Hashable)


def say(text: str) -> None:
    """Progress goes to stderr, so that the page can go to stdout."""
    print(text, file=sys.stderr, flush=True)


def spread(seconds: Sequence[float]) -> str:
    """The least and the greatest."""
    return f"{min(seconds):.2f}–{max(seconds):.2f}"


@dataclass(frozen=True, slots=True)
class Ratio:
    """The ratio of two medians, with the least and the greatest ratio within one round."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f}–{self.high:.2f})"


@dataclass(frozen=True, slots=True)
class Rounds(Generic[Name]):
    """The seconds of jobs that ran in turns, infinite where a job gave up, and what each gave in its first timed run.

    The k-th times of all jobs belong to the same round.
    """

    times: Mapping[Name, list[float]]
    results: Mapping[Name, Any]

    def median(self, job: Name) -> float:
        """The median of a job."""
        return median(self.times[job])

    def best(self, job: Name) -> float:
        """The fastest run of a job: whatever disturbs a short run makes it longer."""
        return min(self.times[job])

    def ratio(self, job: Name, baseline: Name) -> Ratio:
        """How many times as long a job takes as its baseline."""
        paired = [mine / other for mine, other in zip(self.times[job], self.times[baseline], strict=True)]
        return Ratio(self.median(job) / self.median(baseline), min(paired), max(paired))

    def text(self, job: Name) -> str:
        """The median of a job, with the fastest and the slowest run."""
        return f"{self.median(job):.2f} ({spread(self.times[job])})"


def seconds_of(job: Job, clock: Clock = time.perf_counter) -> float:
    """How long a job takes."""
    began = clock()
    job()
    return clock() - began


def best_of(job: Job, repeats: int, clock: Clock = time.perf_counter) -> float:
    """The least time of some runs."""
    return min(seconds_of(job, clock) for _ in range(repeats))


def in_turns(
    jobs: Mapping[Name, Job],
    repeats: int,
    *,
    warm_up: bool = True,
    clock: Clock = time.perf_counter,
    once_above: float = math.inf,
    giving_up: tuple[type[Exception], ...] = (),
    tell: bool = True,
) -> Rounds[Name]:
    """Run jobs as A B C, A B C, …, so that what slows the machine down hits all alike.

    With `warm_up`, a first round is not timed. A job that takes longer than `once_above` seconds runs once; one that
    raises an exception of `giving_up` has no time but infinity.
    """
    times: dict[Name, list[float]] = {name: [] for name in jobs}
    results: dict[Name, Any] = {}
    for number in range(0 if warm_up else 1, repeats + 1):
        for name, job in jobs.items():
            if times[name] and times[name][0] > once_above:
                continue
            began = clock()
            try:
                result = job()
            except giving_up:
                times[name] = [math.inf]
                continue
            seconds = clock() - began
            if tell:
                say(f"  {f'round {number}' if number else 'warm-up'}: {name} {seconds:.2f} s")
            if number:
                times[name].append(seconds)
                results.setdefault(name, result)
    return Rounds(times, results)
