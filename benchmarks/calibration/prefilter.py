"""The constants of the prefilters' cost model: queries run with many forced plans, solved for what each step costs.

As the paper does (section 4.3), but all constants at once: the model is linear in them, so each measured run is one
equation. What a run counts of each constant is asked of the model itself, with all other constants zero. The weight
`omega` of the paper is `test / join`: what a test of the matcher costs in units of a row that is joined.

python -m benchmarks calibration.prefilter --data FOLDER --work FOLDER                 print old and new constants
python -m benchmarks calibration.prefilter --data FOLDER --work FOLDER --write FILE    and write the new ones
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from statistics import median
from unittest import mock

import numpy as np
from pyspark.sql import DataFrame

import trellis
from benchmarks.calibration.fit import fit
from benchmarks.data import data_folder
from benchmarks.options import add_data, add_run
from benchmarks.prefilter.data import FULL_ROWS, QUICK_ROWS, add_work, choices_of, generate, sample_path, work_folder
from benchmarks.prefilter.queries import Query, instances
from benchmarks.prefilter.runner import HintValues, plan
from benchmarks.sessions import noop, session
from benchmarks.timing import Job, in_turns
from trellis.planning.before_match import choose_prefilter
from trellis.planning.before_match.costs import PrefilterCosts, default_prefilter_costs

__all__ = ["add_options", "run"]

_NAMES = tuple(field.name for field in fields(PrefilterCosts))
_PATTERNS = ("(A Z* B Z* C)", "(A B C D E F G)")
_INSTANCES = 1
# A quick table is too small for Spark's statistics to be asked for, and without any nothing is estimated.
_QUICK_STATISTICS = {"rows": QUICK_ROWS}


@dataclass(frozen=True, slots=True)
class _Run:
    """A forced plan: its seconds, and how often the model counts each constant."""

    name: str
    seconds: float
    counts: dict[str, float]


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    add_run(parser, 2, "runs of each plan; the best one counts")
    add_data(parser)
    add_work(parser)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the new constants to this file")


def run(asked: argparse.Namespace) -> None:
    """Measure, fit, print."""
    with data_folder(asked, ("crimes",)) as folder, work_folder(asked) as work, session() as (spark, _):
        sample = sample_path(folder)
        frame = spark.read.parquet(str(generate(sample, work, QUICK_ROWS if asked.quick else FULL_ROWS)))
        queries = [query for query in instances(choices_of(sample), _INSTANCES) if query.pattern in _PATTERNS]
        if asked.quick:
            queries = queries[:1]
        base: HintValues = {"off": ["eliminate_rows"], **({"statistics": _QUICK_STATISTICS} if asked.quick else {})}
        runs = [one for query in queries for one in _measure(query, frame, base, asked.repeats)]
    old = default_prefilter_costs()
    new = _fitted(runs, old)
    _print(runs, old, new)
    if asked.write:
        rounded = {name: round(value, 3) for name, value in asdict(new).items()}
        asked.write.write_text(json.dumps(rounded, indent=2) + "\n")


def _measure(query: Query, frame: DataFrame, base: HintValues, repeats: int) -> Iterator[_Run]:
    """A query without a prefilter, and with a few of those that were considered."""
    counted = {}
    for name in _NAMES:
        unit = PrefilterCosts(**{other: float(other == name) for other in _NAMES})
        with mock.patch.object(choose_prefilter, "default_prefilter_costs", lambda unit=unit: unit):
            considered = plan(query.text, frame, {**base, "prefilter": "always"}).considered
        counted[name] = {str(one.prefilter): one.cost for one in considered}
    first = counted[_NAMES[0]]
    wanted = ["None", *[text for text in first if text != "None"][:: max(1, len(first) // 4)]]
    jobs: dict[str, Job] = {}
    for text in wanted:
        hints: HintValues = {"off": ["eliminate_rows", "prefilter"]}
        if text != "None":
            form, names = text.split(" of ")
            symbols = [part.strip("()").split(", ") for part in names.split(" or ")]
            hints = {**base, "prefilter": form, "symbols": symbols[0] if len(symbols) == 1 else symbols}
        jobs[text] = partial(_run_query, query, frame, hints)
    rounds = in_turns(jobs, repeats, warm_up=False)
    for text in wanted:
        counts = {name: counted[name].get(text, 0.0) for name in _NAMES}
        print(f"{rounds.best(text):6.2f} s  {query.pattern:20} {query.definition:16} {text}", flush=True)
        yield _Run(f"{query.pattern} {query.definition} {text}", rounds.best(text), counts)


def _run_query(query: Query, frame: DataFrame, hints: HintValues) -> None:
    noop(trellis.sql(query.text, d=frame, hints=hints))


def _fitted(runs: list[_Run], old: PrefilterCosts) -> PrefilterCosts:
    counts = np.array([[run.counts[name] for name in _NAMES] for run in runs])
    measured = np.array([run.seconds * 1e9 for run in runs])
    found = fit(counts, np.zeros(len(runs)), measured, np.array([getattr(old, name) for name in _NAMES]))
    return PrefilterCosts(*found.tolist())


def _print(runs: list[_Run], old: PrefilterCosts, new: PrefilterCosts) -> None:
    for title, costs in (("old", old), ("new", new)):
        wrong = []
        for run in runs:
            estimated = sum(run.counts[name] * getattr(costs, name) for name in _NAMES) / 1e9
            wrong.append(max(estimated / run.seconds, run.seconds / estimated))
        constants = ", ".join(f"{name} {getattr(costs, name):,.1f}" for name in _NAMES)
        print(f"{title}: {constants}; omega {costs.test / costs.join:.3f}")
        print(f"     wrong by {median(wrong):.2f} in the median, by {max(wrong):.2f} at most")
