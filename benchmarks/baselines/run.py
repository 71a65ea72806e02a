"""The automata by the definition on a few rows, one kind against the other on all rows, and their times.

python -m benchmarks baselines --data FOLDER                     everything
python -m benchmarks baselines --data FOLDER --only times        the seconds of all parameter sets
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.baselines.automaton import AUTOMATON, run_program
from benchmarks.baselines.hand import HAND, Executor
from benchmarks.data import data_folder
from benchmarks.options import add_data, add_only, add_run
from benchmarks.pages import section, table
from benchmarks.segments.data import DATASETS, SegmentData, load, trim
from benchmarks.segments.templates import TEMPLATES, Parameters, Template, parameter_sets, some_sets
from benchmarks.segments.truth import SAMPLES, sample_of
from benchmarks.timing import in_turns

__all__ = ["add_options", "run"]

Array = np.ndarray[Any, Any]
_Case = tuple[str, str, SegmentData, list[Parameters]]
"""A template, what was done to its values, rows, and parameter sets."""

_PARTS = ("definition", "equality", "times")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    add_run(parser, 3, "runs of each parameter set; the best one counts")
    add_data(parser)
    add_only(parser, "part", _PARTS)
    add_only(parser, "template", TEMPLATES, "--templates")
    sets = "about so many parameter sets of each template are checked by the definition (default: 3)"
    parser.add_argument("--sets", type=int, default=3, help=sets)


def run(asked: argparse.Namespace) -> None:
    """Print what was asked for; automata that are wrong are an error."""
    wrong = 0
    if asked.quick:
        np.seterr(all="ignore")  # as in compiled code
    with data_folder(asked, tuple(DATASETS)) as folder:
        if "definition" in asked.only:
            truth = {name: _by_definition(name) for name in TEMPLATES}
            wrong += _compare("Hand-compiled automata against the definition", _samples(asked, folder), HAND, truth)
        if "equality" in asked.only:
            title = "The generic automaton against the hand-compiled ones"
            wrong += _compare(title, _all_rows(asked, folder), AUTOMATON, HAND)
        if "times" in asked.only:
            _times(asked, folder)
    if wrong:
        raise SystemExit(f"{wrong} results of automata DIFFER.")


def _work(asked: argparse.Namespace, folder: Path) -> Iterator[tuple[Template, SegmentData, list[Parameters]]]:
    for name in asked.templates:
        template = TEMPLATES[name]
        for dataset in template.datasets[: 1 if asked.quick else None]:
            sets = parameter_sets(template, dataset)
            yield template, load(dataset, folder), some_sets(sets, 1 if asked.quick else None)


def damaged(data: SegmentData, seed: int) -> SegmentData:
    """The data with NULLs, zeros, ties and constant runs, so that these are checked too."""
    random = np.random.default_rng(seed)
    columns = dict(data.columns)
    for name in ("price", "confirmed", "temp", "rides", "peak"):
        if name in columns:
            values = columns[name].copy()
            scale = np.nanstd(values) / 4 + 1e-9
            rough = random.random(len(values)) < 0.5
            values[rough] = np.round(values[rough] / scale) * scale
            values[random.random(len(values)) < 0.02] = np.nan
            values[random.random(len(values)) < 0.02] = 0.0
            columns[name] = values
    return SegmentData(data.name, data.unit, data.offsets, columns, data.keys)


def _by_definition(name: str) -> Executor:
    """A template by `tests/naive_segments.py`."""

    def run(data: SegmentData, parameters: Parameters) -> tuple[Array, Array]:
        found = np.array(sorted(SAMPLES[name].expected(data, parameters)), np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    return run


def _samples(asked: argparse.Namespace, folder: Path) -> Iterator[_Case]:
    """A few rows of each template, as they are and damaged, with some parameters as they are and loosened."""
    for template, data, sets in _work(asked, folder):
        sample, small = SAMPLES[template.name], sample_of(template.name, data)
        tried = some_sets(sets, asked.sets)
        tried += [sample.loosened(parameters) for parameters in tried] if sample.loose else []
        yield template.name, "as they are", small, tried
        for seed in range(1 if asked.quick else 2):
            yield template.name, f"damaged {seed}", damaged(small, seed), tried


def _all_rows(asked: argparse.Namespace, folder: Path) -> Iterator[_Case]:
    for template, data, sets in _work(asked, folder):
        yield template.name, "as they are", data, sets
        yield template.name, "damaged", damaged(data, 0), sets


def _compare(title: str, cases: Iterator[_Case], ours: Mapping[str, Executor], truth: Mapping[str, Executor]) -> int:
    """Print how results compare; how many differ."""
    rows, wrong = [], 0
    for name, kind, data, sets in cases:
        matches = differing = 0
        for parameters in sets:
            expected = truth[name](data, parameters)
            matches += len(expected[0])
            differing += not all(map(np.array_equal, ours[name](data, parameters), expected))
        rows.append((name, data.name, kind, f"{data.rows:,}", len(sets), f"{matches:,}", differing))
        wrong += differing
    head = ("template", "on", "values", "rows", "parameter sets", "segments", "sets that differ")
    print(section(title, table(head, rows)) + "\n", flush=True)
    return wrong


def _times(asked: argparse.Namespace, folder: Path) -> None:
    """The processor's seconds for all parameter sets together, the best run of each, compiled before."""
    rows = []
    for template, data, sets in _work(asked, folder):
        kinds: dict[str, Executor] = {
            "hand-compiled": HAND[template.name],
            "generic": AUTOMATON[template.name],
            "generic, without jumps": partial(run_program, template.name, jumps=False),
        }
        sums = dict.fromkeys(kinds, 0.0)
        for executor in kinds.values():
            executor(trim(data, 1, 100), sets[0])
        for parameters in sets:
            jobs = {kind: partial(executor, data, parameters) for kind, executor in kinds.items()}
            rounds = in_turns(jobs, asked.repeats, warm_up=False, clock=time.process_time, tell=False)
            sums = {kind: seconds + rounds.best(kind) for kind, seconds in sums.items()}
        rows.append((template.name, data.name, len(sets), *(f"{seconds:.4f}" for seconds in sums.values())))
    head = ("template", "on", "parameter sets", "hand-compiled, s", "generic, s", "generic without jumps, s")
    print(section("Times of the automata", table(head, rows)), flush=True)
