"""Fit the constants of the prefilters' cost model: run queries with many forced plans, and solve for what steps cost.

As the paper does (section 4.3), but all constants at once: the model is linear in them, so each measured run is one
equation. What a run counts of each constant is asked of the model itself, with all other constants zero. The weight
`omega` of the paper is `test / join`: what a test of the matcher costs in units of a row that is joined.

python benchmarks/calibrate.py --prefilter FOLDER --data FOLDER                 print old and new constants
python benchmarks/calibrate.py --prefilter FOLDER --data FOLDER --write FILE    and write the new ones
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import median
from unittest import mock

import numpy as np
from bench import noop, spark_session
from fit import fit
from prefilter_data import choices_of, generate, sample_path
from prefilter_queries import DEFINITIONS, Query, instances
from prefilter_runs import plan
from pyspark.sql import DataFrame

import trellis
from trellis.planning.before_match import plan as before_match
from trellis.planning.before_match.costs import PrefilterCosts, default_prefilter_costs

__all__ = ["calibrate_prefilter"]

_NAMES = tuple(field.name for field in fields(PrefilterCosts))
_PATTERNS = ("(A Z* B Z* C)", "(A B C D E F G)")
_INSTANCES = 1


@dataclass(frozen=True, slots=True)
class _Run:
    """A forced plan: its seconds, and how often the model counts each constant."""

    name: str
    seconds: float
    counts: dict[str, float]


def calibrate_prefilter(data: Path, work: Path, target: Path | None = None) -> None:
    """Measure, fit, print; `data` has the real sample, the generated table lies in `work` or is made there."""
    sample = sample_path(data)
    table = generate(sample, work)
    with tempfile.TemporaryDirectory(prefix="trellis-calibration-") as folder:
        spark = spark_session(Path(folder))
        try:
            frame = spark.read.parquet(str(table))
            queries = [
                query
                for query in instances(choices_of(sample), _INSTANCES)
                if query.pattern in _PATTERNS and query.definition in DEFINITIONS
            ]
            runs = [run for query in queries for run in _measure(query, frame)]
        finally:
            spark.stop()
    old = default_prefilter_costs()
    new = _fitted(runs, old)
    _print(runs, old, new)
    if target:
        target.write_text(json.dumps({name: round(value, 3) for name, value in asdict(new).items()}, indent=2) + "\n")


def _measure(query: Query, frame: DataFrame) -> Iterator[_Run]:
    """A query without a prefilter, and with a few of those that were considered."""
    base = {"off": ["eliminate_rows"]}
    counted = {}
    for name in _NAMES:
        unit = PrefilterCosts(**{other: float(other == name) for other in _NAMES})
        with mock.patch.object(before_match, "default_prefilter_costs", lambda unit=unit: unit):
            considered = plan(query.text, frame, {**base, "prefilter": "always"}).considered
        counted[name] = {str(one.prefilter): one.cost for one in considered}
    first = counted[_NAMES[0]]
    wanted = ["None", *[text for text in first if text != "None"][:: max(1, len(first) // 4)]]
    for text in wanted:
        hints = {**base, "off": ["eliminate_rows", "prefilter"]}
        if text != "None":
            form, names = text.split(" of ")
            symbols = [part.strip("()").split(", ") for part in names.split(" or ")]
            hints = {**base, "prefilter": form, "symbols": symbols[0] if len(symbols) == 1 else symbols}
        taken = []
        for _ in range(2):
            began = time.perf_counter()
            noop(trellis.sql(query.text, d=frame, hints=hints))
            taken.append(time.perf_counter() - began)
        counts = {name: counted[name].get(text, 0.0) for name in _NAMES}
        print(f"{min(taken):6.2f} s  {query.pattern:20} {query.definition:16} {text}", flush=True)
        yield _Run(f"{query.pattern} {query.definition} {text}", min(taken), counts)


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
