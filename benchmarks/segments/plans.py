"""The plans of segment templates, timed: the optimizer's choice, forced plans, and automata as baselines.

Equal trees are one plan and have one time, however they were asked for. All plans and baselines of a parameter set run
in turns (A B C, A B C, …), so that what slows the machine down hits all alike; the best run of each counts. Every run
is compared with the hand-compiled automaton: the same segments, in the same order.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar
from unittest import mock

import numpy as np

from benchmarks.baselines.automaton import AUTOMATON
from benchmarks.baselines.hand import HAND
from benchmarks.segments.data import SegmentData, trim
from benchmarks.segments.engine import Prepared, prepare
from benchmarks.segments.templates import Parameters, Template
from benchmarks.segments.truth import SAMPLES, sample_of
from benchmarks.timing import Job, in_turns, say
from trellis.algebra.physical_tree import PhysicalNode
from trellis.algebra.segments import Choices
from trellis.algebra.statistics import SegmentStatistics
from trellis.errors import ResourceError
from trellis.execution.segments import finder
from trellis.execution.segments.sample import sample_segments
from trellis.planning.segments.choose import choose_tree

__all__ = ["FORCED", "Small", "Timing", "check_small", "forms_of", "ndcg", "time_template", "whole_run"]

Array = np.ndarray[Any, Any]
T = TypeVar("T")

# A plan that looks at more segments, or wants more memory for bits, is given up.
_BUDGET = 200_000_000
_BAND_BYTES = 2 << 30
# What takes longer is run once.
_LONG = 2.0

FORCED = {
    "pr_left": Choices(order="left", join="probe"),
    "pr_right": Choices(order="right", join="probe"),
    "sm_left": Choices(order="left", join="merge"),
    "sm_right": Choices(order="right", join="merge"),
}
_OTHERS = {
    "batch": Choices(join="merge"),
    "index": Choices(generator="index"),
    "filter": Choices(generator="filter"),
    "bands": Choices(sets="bands"),
    "pairs": Choices(sets="pairs"),
}


def forms_of(template: Template) -> dict[str, Choices]:
    """The forced plans of the paper's table 4; where there is a negation, in both of its forms."""
    if "~" not in template.pattern:
        return dict(FORCED)
    materialized = {name: replace(choices, negation="materialize") for name, choices in FORCED.items()}
    probed = {f"{name}_pnot": replace(choices, negation="probe") for name, choices in FORCED.items()}
    return {**materialized, **probed}


@dataclass(frozen=True, slots=True)
class Timing:
    """One parameter set: seconds of each way to run it (infinite: given up), estimates, and what differed.

    `planning` is what statistics and the choice of the optimizer's plan took; `planning_batch` that of the batch plan.
    `plans` numbers the trees: equal numbers are equal trees.
    """

    template: str
    dataset: str
    parameters: Parameters
    matches: int
    rows: int
    seconds: dict[str, float]
    estimates: dict[str, float]
    plans: dict[str, int]
    planning: float
    planning_batch: float
    differing: list[str] = field(default_factory=list)

    def whole(self) -> float:
        """The optimizer's plan with its planning."""
        return self.seconds["optimizer"] + self.planning

    def methods(self) -> list[str]:
        """The plans that slow-downs and ranks are about."""
        return [name for name in self.plans if name not in ("index", "filter", "bands", "pairs")]

    def run(self) -> set[int]:
        """The plans that were run to the end."""
        return {number for name, number in self.plans.items() if math.isfinite(self.seconds[name])}

    def fastest(self) -> float:
        """The fastest of the plans."""
        return min(self.seconds[name] for name in self.methods())

    def score(self, *, distinct: bool = False) -> float:
        """NDCG of the plans; `distinct` counts equal plans once."""
        names = self.methods()
        if distinct:
            names = list({self.plans[name]: name for name in names}.values())
        return ndcg([self.estimates[name] for name in names], [self.seconds[name] for name in names])


def ndcg(estimates: Sequence[float], seconds: Sequence[float]) -> float:
    """How well the order of estimates agrees with that of times: 1 is the same order.

    The relevance of a plan is r = fastest / its time; the gain 2^r - 1 is divided by log2(place + 1).
    """
    relevance = [min(seconds) / one for one in seconds]
    order = sorted(range(len(estimates)), key=lambda i: estimates[i])

    def gain(values: Sequence[float]) -> float:
        return sum((2**value - 1) / math.log2(place + 2) for place, value in enumerate(values))

    return gain([relevance[i] for i in order]) / gain(sorted(relevance, reverse=True))


def _limited(prepared: Prepared) -> Prepared:
    return replace(prepared, plan=replace(prepared.plan, budget=_BUDGET))


def _too_wide(choices: Choices, statistics: SegmentStatistics) -> bool:
    words = max((statistics.longest + 63) >> 6, 1)
    return choices.sets == "bands" and statistics.rows * words * 8 > _BAND_BYTES


def time_template(template: Template, data: SegmentData, parameters: Parameters, repeats: int) -> Timing:
    """Run every plan and every baseline of a parameter set."""
    prepared = _limited(prepare(template, data, parameters))
    choices = {"optimizer": Choices(), **forms_of(template), **_OTHERS}
    trees: dict[PhysicalNode, int] = {}
    plans: dict[str, int] = {}
    estimates: dict[str, float] = {}
    planning: dict[str, float] = {}
    wide: set[str] = set()
    for name, one in choices.items():
        often = repeats if name in ("optimizer", "batch") else 1
        tried = [prepared.choose(one) for _ in range(often)]
        chosen, statistics, _ = tried[0]
        planning[name] = min(seconds for _, _, seconds in tried)
        estimates[name] = chosen.cost
        plans[name] = trees.setdefault(chosen.tree, len(trees))
        if _too_wide(one, statistics):
            wide.add(name)
    run = {plans[name] for name in plans if name not in wide}
    jobs: dict[int | str, Job] = {
        number: partial(prepared.run, tree) for tree, number in trees.items() if number in run
    }
    for name, executors in (("hand", HAND), ("automaton", AUTOMATON)):
        executor = executors[template.name]
        executor(trim(data, 1, 100), parameters)  # compiled before it is timed
        jobs[name] = partial(executor, data, parameters)
    giving_up = (ResourceError, MemoryError)
    rounds = in_turns(jobs, repeats, warm_up=False, once_above=_LONG, giving_up=giving_up, tell=False)
    truth = rounds.results["hand"]
    differing = [str(name) for name, pairs in rounds.results.items() if not all(map(np.array_equal, pairs, truth))]
    best = {name: rounds.best(name) for name in jobs}
    seconds = {name: best.get(plans[name], math.inf) for name in plans}
    seconds |= {name: best[name] for name in ("hand", "automaton")}
    return Timing(
        template.name,
        data.name,
        parameters,
        len(truth[0]),
        data.rows,
        seconds,
        estimates,
        plans,
        planning["optimizer"],
        planning["batch"],
        differing,
    )


def whole_run(prepared: Prepared) -> tuple[float, float]:
    """Seconds of planning, and of everything, as a worker does it: the plan is chosen with the first slice of rows."""
    planning = 0.0

    def timed(function: Callable[..., T]) -> Callable[..., T]:
        def call(*arguments: Any) -> T:
            nonlocal planning
            began = time.perf_counter()
            result = function(*arguments)
            planning += time.perf_counter() - began
            return result

        return call

    with mock.patch.object(finder, "sample_segments", timed(sample_segments)):
        began = time.perf_counter()
        finder.Finder(prepared.plan, timed(choose_tree)).find(prepared.offsets, prepared.slots, prepared.program)
        return planning, time.perf_counter() - began


@dataclass(frozen=True, slots=True)
class Small:
    """A parameter set on a few rows against the definition: how many segments, loosened or not, and what differed."""

    template: str
    dataset: str
    rows: int
    matches: int
    loosened: bool
    plans: int
    differing: list[str]


def check_small(template: Template, data: SegmentData, parameters: Parameters) -> Small:
    """All plans of a parameter set against `naive_segments`; with looser parameters too where nothing matches."""
    sample = SAMPLES[template.name]
    few = _small(template.name, data)
    differing: list[str] = []
    plans = 0
    tried = [parameters, sample.loosened(parameters)] if sample.loose else [parameters]
    for some in tried:
        expected = sample.expected(few, some)
        prepared = prepare(template, few, some)
        for name, one in {"optimizer": Choices(), **forms_of(template), **_OTHERS}.items():
            starts, ends = prepared.run(prepared.choose(one)[0].tree)
            plans += 1
            pairs = list(zip(starts.tolist(), ends.tolist(), strict=True))
            if set(pairs) != expected or len(pairs) != len(expected):
                differing.append(f"{name} {some}")
        if expected:
            break
    if differing:
        say(f"  {template.name}: DIFFERS {differing[:3]}")
    return Small(template.name, data.name, few.rows, len(expected), some is not parameters, plans, differing)


_samples: dict[tuple[str, str], SegmentData] = {}


def _small(name: str, data: SegmentData) -> SegmentData:
    if (name, data.name) not in _samples:
        _samples[name, data.name] = sample_of(name, data)
    return _samples[name, data.name]
