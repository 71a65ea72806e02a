"""The constants of the segment cost model: operators run on made-up series, solved for what each step costs.

Every experiment runs one operator through `trellis.execution`, its inputs given, and says how often the optimizer's
formula for it counts each constant (with the true numbers of segments, so that nothing is blamed on estimates). The
constants are then those whose sums come nearest to the measured times, in ratios; where experiments leave a constant
open, it stays near its old value. Time is that of the processor, so that other work on the machine matters less.

python -m benchmarks calibration.segments                           print old and new constants
python -m benchmarks calibration.segments --write costs.json        and write the new ones
python -m benchmarks calibration.segments --check --data FOLDER     and compare plans of the templates under both
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.calibration.fit import fit
from benchmarks.calibration.operators import Experiment, experiments, functions
from benchmarks.data import data_folder
from benchmarks.options import add_data, add_run
from benchmarks.segments.data import DATASETS, load
from benchmarks.segments.engine import prepare
from benchmarks.segments.plans import forms_of, ndcg
from benchmarks.segments.templates import TEMPLATES, parameter_sets, some_sets
from benchmarks.timing import in_turns, seconds_of
from trellis.algebra.segments import Choices
from trellis.planning.segments.costs import Costs, FunctionCost, default_costs

__all__ = ["add_options", "run"]


@dataclass(frozen=True, slots=True)
class _Run:
    """An experiment with its nanoseconds."""

    experiment: Experiment
    measured: float

    def estimated(self, constants: Mapping[str, float]) -> float:
        return sum(constants[name] * count for name, count in self.experiment.counts.items())


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    add_run(parser, 5, "runs of each experiment; the best one counts")
    parser.add_argument("--old", help="a file of constants to start from; otherwise those that come with Trellis")
    parser.add_argument("--new", help="a file of constants to compare with these, instead of measuring")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the new constants to this file")
    parser.add_argument("--check", action="store_true", help="compare the plans of the templates; needs --data")
    add_data(parser)
    parser.add_argument("--sets", type=int, default=4, help="about so many parameter sets of each template")


def run(asked: argparse.Namespace) -> None:
    """Measure, fit, print."""
    old = default_costs(asked.old)
    if asked.new:
        new = default_costs(asked.new)
    else:
        runs = measure(asked.repeats)
        new = fitted(old, runs)
        _print_runs(runs, _flat(old), _flat(new))
    _print_constants(old, new)
    if asked.write:
        asked.write.write_text(new.to_json())
    if asked.check or asked.quick:
        with data_folder(asked, tuple(DATASETS)) as folder:
            for title, costs in (("old", old), ("new", new)):
                print(f"\nPlans of the templates with the {title} constants")
                compare(folder, costs, 1 if asked.quick else asked.sets, asked.repeats)


def measure(repeats: int) -> list[_Run]:
    """The least nanoseconds of each experiment."""
    runs = []
    for experiment in experiments():
        best = min(seconds_of(experiment.ready(), time.process_time) for _ in range(repeats + 1))
        runs.append(_Run(experiment, best * 1e9))
    return runs


# Fitting.


def _flat(costs: Costs) -> dict[str, float]:
    """All constants by name; those of functions as `name.part`."""
    flat = {item.name: getattr(costs, item.name) for item in fields(costs) if item.name != "functions"}
    for name, function in costs.functions.items():
        for part in ("fixed", "row", "square", "build", "lookup"):
            flat[f"{name}.{part}"] = getattr(function, part)
    return flat


def _nested(flat: Mapping[str, float], like: Costs) -> Costs:
    made = {}
    for name, function in like.functions.items():
        parts = {part: _short(flat[f"{name}.{part}"]) for part in ("fixed", "row", "square", "build", "lookup")}
        made[name] = FunctionCost(**parts, per_length=function.per_length, scanned=function.scanned)
    plain = {item.name: _short(flat[item.name]) for item in fields(like) if item.name != "functions"}
    return Costs(**plain, functions=made)


def _short(value: float) -> float:
    """Two significant digits: more would claim too much."""
    return float(f"{value:.2g}")


def fitted(old: Costs, runs: list[_Run]) -> Costs:
    """The constants of the operators first, then those of each function, with the operators' known."""
    flat = _flat(old)
    names = set(functions())
    of_function = {name: [run for run in runs if run.experiment.function == name] for name in names}
    flat = _solve(flat, [run for run in runs if run.experiment.function == "" and run.experiment.fit])
    for name, some in of_function.items():
        flat = _solve(flat, some, only=f"{name}.")
    return _nested(flat, old)


def _solve(flat: dict[str, float], runs: Iterable[_Run], only: str = "") -> dict[str, float]:
    """The constants whose names begin with `only`, the others known."""
    runs = list(runs)
    used = {name for run in runs for name, count in run.experiment.counts.items() if count > 0}
    names = sorted(name for name in used if name.startswith(only) and flat[name] > 0)
    if not names:
        return flat
    counts = np.array([[run.experiment.counts.get(name, 0.0) for name in names] for run in runs])
    known = {name: 0.0 if name in names else value for name, value in flat.items()}
    rest = np.array([run.estimated(known) for run in runs])
    found = fit(counts, rest, np.array([run.measured for run in runs]), np.array([flat[name] for name in names]))
    return {**flat, **dict(zip(names, found.tolist(), strict=True))}


# Output.


def _print_runs(runs: list[_Run], old: Mapping[str, float], new: Mapping[str, float]) -> None:
    print(f"{'experiment':72s} {'µs':>9s} {'old/true':>9s} {'new/true':>9s}")
    for run in runs:
        ratios = [run.estimated(constants) / run.measured for constants in (old, new)]
        mark = "" if run.experiment.fit else "  not fitted"
        print(f"{run.experiment.title:72s} {run.measured / 1e3:9.1f} {ratios[0]:9.2f} {ratios[1]:9.2f}{mark}")
    for title, constants in (("old", old), ("new", new)):
        logs = [math.log(run.estimated(constants) / run.measured) for run in runs]
        within = sum(abs(value) <= math.log(2) for value in logs)
        error = math.exp(math.sqrt(sum(value * value for value in logs) / len(logs)))
        print(f"{title}: off by a factor {error:.2f} (root mean square), within a factor 2 {within} of {len(runs)}")


def _print_constants(old: Costs, new: Costs) -> None:
    before, after = _flat(old), _flat(new)
    print(f"\n{'constant, ns':44s} {'old':>9s} {'new':>9s}")
    for name, value in before.items():
        if value or after[name]:
            print(f"{name:44s} {value:9g} {after[name]:9g}")


# The templates, with given constants.


def compare(folder: Path, costs: Costs, sets: int, repeats: int) -> None:
    """Slow-down of the chosen plan, NDCG, and estimated over measured time of the chosen plan, by template."""
    print(f"{'template':12s} {'slow-down':>9s} {'worst':>6s} {'NDCG':>6s} {'est/true':>9s}  range")
    for name, template in TEMPLATES.items():
        data = load(template.dataset, folder)
        every = parameter_sets(template)
        slow, scores, ratios = [], [], []
        for parameters in some_sets(every, sets):
            prepared = prepare(template, data, parameters)
            wanted = {"optimizer": Choices(), **forms_of(template), "batch": Choices(join="merge")}
            chosen = {method: prepared.choose(choices, costs)[0] for method, choices in wanted.items()}
            jobs = {one.tree: partial(prepared.run, one.tree) for one in chosen.values()}
            rounds = in_turns(jobs, repeats, warm_up=False, clock=time.process_time, tell=False)
            seconds = {method: rounds.best(one.tree) for method, one in chosen.items()}
            slow.append(seconds["optimizer"] / min(seconds.values()))
            scores.append(ndcg([one.cost for one in chosen.values()], list(seconds.values())))
            ratios.append(chosen["optimizer"].cost / 1e9 / seconds["optimizer"])
        print(
            f"{name:12s} {median(slow):9.2f} {max(slow):6.2f} {median(scores):6.2f} {median(ratios):9.2f}  "
            f"{min(ratios):.2f}–{max(ratios):.2f}",
            flush=True,
        )
