"""Workloads measured: several plans of one workload in turns, what each takes for the stream, and the streams."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from benchmarks.options import is_quick
from benchmarks.timing import in_turns
from benchmarks.workloads.patterns import Recipe
from benchmarks.workloads.searches import Workload, make_workload
from benchmarks.workloads.streams import Stream, made_up_stream, stock_stream, traffic_stream
from trellis.planning.workloads.plan import SearchOptions

__all__ = ["NONE", "RIVALS", "SEARCHES", "VARIANTS", "Bench", "Gains", "Measured", "searches"]

NONE = "none"
RIVALS = ("sharing", "reordering", "redundancy", "merging")
SEARCHES = ("annealing", "tabu")
_SECONDS = 2.0
# A search that takes longer is not repeated.
_LONG = 0.5

VARIANTS: Mapping[str, SearchOptions] = {
    f"{strategy}, {name}": SearchOptions(strategy, seconds=_SECONDS, neighbours=neighbours, left_deep=left_deep)
    for strategy in SEARCHES
    for name, neighbours, left_deep in (("vertex 4", 4, False), ("vertex 8", 8, False), ("prefixes", 2, True))
}
"""Other neighbourhoods than edge, and plans that share prefixes alone."""


def searches(*strategies: str) -> dict[str, SearchOptions]:
    """Plans of strategies, the neighbourhood edge."""
    return {name: SearchOptions(name, seconds=_SECONDS) for name in strategies}


@dataclass(frozen=True, slots=True)
class Measured:
    """One workload by several plans: the CPU seconds of each search, costs, seconds of planning; and its matches."""

    seconds: Mapping[str, float]
    costs: Mapping[str, float]
    planning: Mapping[str, float]
    matches: int
    events: int
    equal: bool
    density: float

    def gain(self, plan: str, over: str = NONE) -> float:
        """How many times the throughput of another plan this one has."""
        return self.seconds[over] / self.seconds[plan]

    def best_of(self, plans: tuple[str, ...]) -> str:
        """The plan with the highest throughput."""
        return min(plans, key=self.seconds.__getitem__)


@dataclass(slots=True)
class Gains:
    """Workloads of one kind."""

    of: list[Measured] = field(default_factory=list)

    def median(self, plan: str, over: str = NONE) -> float:
        """The median of the gains of all workloads."""
        return median(one.gain(plan, over) for one in self.of if plan in one.seconds)

    def over_rivals(self, plan: str) -> float:
        """The median of the gains over the best rival of each workload."""
        return median(one.gain(plan, one.best_of((NONE, *RIVALS))) for one in self.of)

    @property
    def matches(self) -> int:
        """The median of the matches of all patterns."""
        return round(median(one.matches for one in self.of))

    def seconds(self, plan: str) -> str:
        """The median of the seconds of planning."""
        return f"{median(one.planning[plan] for one in self.of):.1f}"

    def text(self, plan: str) -> str:
        """The median, with the least and the greatest."""
        gains = [one.gain(plan) for one in self.of if plan in one.seconds]
        return f"{median(gains):.1f} ({min(gains):.1f}–{max(gains):.1f})" if gains else "–"

    def rate(self, plan: str) -> str:
        """Events in a second of CPU time, in thousands."""
        return f"{median(one.events / one.seconds[plan] for one in self.of) / 1000:,.0f}"


@dataclass(slots=True)
class Bench:
    """A run: where its data lies, how large, and how often what is timed runs."""

    data: Path
    scale: float
    repeats: int
    most: int = 10
    _streams: dict[str, Stream] = field(default_factory=dict)

    def workloads(self, full: int | None = None) -> int:
        """How many workloads a point has."""
        return max(1, round((full or self.most) * self.scale))

    def some(self, points: tuple[int, ...]) -> tuple[int, ...]:
        """The points of a figure; few in a quick run."""
        return tuple(dict.fromkeys(max(2, point // 10) for point in points[:2])) if is_quick() else points

    def seconds(self, full: float) -> float:
        """A limit of planning; a quick run has hardly any time."""
        return min(full, 0.1) if is_quick() else full

    def recipe(self, name: str, patterns: int = 100) -> Recipe:
        """What the workloads of a stream are like, as far as nothing else is said."""
        if name == "stock":
            return Recipe(patterns)
        return Recipe(patterns, types=30, chains=True)

    def stream(self, name: str) -> Stream:
        """The stream `stock` or `traffic`, read once."""
        if name not in self._streams:
            self._streams[name] = self._quick(name) if is_quick() else self._read(name)
        return self._streams[name]

    def _read(self, name: str) -> Stream:
        return stock_stream(self.data, self.scale) if name == "stock" else traffic_stream(self.data, self.scale)

    def _quick(self, name: str) -> Stream:
        if name == "stock":
            return made_up_stream(name, 20, 0.2, 60, 1)
        return made_up_stream(name, 20, 0.2, 120, 2, ("vehicles", "speed"))

    def gains(
        self,
        name: str,
        recipe: Recipe,
        plans: Mapping[str, SearchOptions],
        rare: Mapping[str, SearchOptions] | None = None,
    ) -> Gains:
        """The gains of plans over patterns as written; those of `rare` ones in a third of the workloads."""
        found = Gains()
        count = self.workloads()
        for seed in range(count):
            workload = make_workload(self.stream(name), recipe, seed)
            here = {NONE: SearchOptions(NONE), **plans, **(rare or {} if 3 * seed < count else {})}
            found.of.append(self.measured(workload, here))
        return found

    def measured(self, workload: Workload, plans: Mapping[str, SearchOptions]) -> Measured:
        """One workload by several plans, in turns."""
        planned = {name: workload.plan(self._limited(one)) for name, one in plans.items()}
        searches = {name: workload.search(one) for name, one in planned.items()}
        # A first search, which also compiles what is not compiled yet, says whether all find the same.
        found = {name: search.found() for name, search in searches.items()}
        jobs: dict[str, Callable[[], int]] = {name: search.run for name, search in searches.items()}
        rounds = in_turns(jobs, self.repeats, warm_up=False, clock=time.process_time, once_above=_LONG, tell=False)
        first = next(iter(found.values()))
        return Measured(
            {name: rounds.median(name) for name in plans},
            {name: one.workload.cost for name, one in planned.items()},
            {name: one.seconds for name, one in planned.items()},
            sum(count for count, _ in first.values()),
            workload.stream.events,
            all(one == first for one in found.values()),
            workload.density,
        )

    def _limited(self, options: SearchOptions) -> SearchOptions:
        return replace(options, seconds=self.seconds(options.seconds))
