"""The eleven templates of the T-ReX paper on one core, kernels only: plans, cost model, baselines, growth, memory.

python -m benchmarks segments --data FOLDER --write docs/benchmarks/segments.md     all parameter sets
python -m benchmarks segments --data FOLDER --sets 3 --repeats 1                    a look at some of them
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.data import data_folder
from benchmarks.options import add_data, add_only, add_page, add_run
from benchmarks.pages import machine, show
from benchmarks.results import Results
from benchmarks.segments.data import DATASETS, SegmentData, load
from benchmarks.segments.growth import FACTORS, STREAMS, Growth, Memory, Share, grow, large_shares, memory_of
from benchmarks.segments.page import page_of
from benchmarks.segments.plans import Small, Timing, check_small, time_template
from benchmarks.segments.tables import Measured
from benchmarks.segments.templates import TEMPLATES, Parameters, Template, parameter_sets, some_sets
from benchmarks.timing import say

__all__ = ["add_options", "run"]


@dataclass(frozen=True, slots=True)
class About:
    """A session: its machine, and whether its rows were made up."""

    caption: str
    quick: bool


Figure = About | Small | Timing | Growth | Share | Memory


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    add_run(parser, 3, "runs of each plan; the best one counts")
    add_data(parser)
    add_only(parser, "template", TEMPLATES)
    parser.add_argument("--sets", type=int, help="about so many parameter sets of each template (default: all)")
    add_page(parser, "docs/benchmarks/segments.md")


def run(asked: argparse.Namespace) -> None:
    """Measure, then print or write the page."""
    results: Results[Figure] = Results(asked.keep, About, Small, Timing, Growth, Share, Memory)
    if not asked.report:
        # A plan that wants more memory than there is gives up, instead of taking the machine with it.
        limit = psutil.virtual_memory().available * 2 // 3
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
        with data_folder(asked, tuple(DATASETS)) as folder:
            _measure(asked, folder, results)
    measured = Measured(
        [one.caption for one in results if isinstance(one, About)],
        [one for one in results if isinstance(one, Small)],
        [one for one in results if isinstance(one, Timing)],
        [one for one in results if isinstance(one, Growth)],
        [one for one in results if isinstance(one, Share)],
        [one for one in results if isinstance(one, Memory)],
    )
    show(page_of(measured), asked.write)


def _measure(asked: argparse.Namespace, folder: Path, results: Results[Figure]) -> None:
    """All figures of the page that are not held yet."""
    if any(isinstance(one, About) and one.quick for one in results):
        raise SystemExit(f"{asked.keep} holds figures of made-up rows: use another file.")
    results.add(About(_caption(asked), asked.quick))
    for template, data, sets in _work(asked, folder):
        _measure_template(template, data, sets, asked, results)
    say("growth, planning, memory …")
    weather = load("weather_daily", folder)
    waves = some_sets(parameter_sets(TEMPLATES["cld_wave"]), 1 if asked.quick else None)
    grown = {one.factor for one in results if isinstance(one, Growth)}
    for factor in FACTORS[: 2 if asked.quick else None]:
        if factor not in grown:
            results.add(grow(weather, factor, waves, asked.repeats))
    timings = [one for one in results if isinstance(one, Timing)]
    if not any(isinstance(one, Share) for one in results):
        for share in list(large_shares(timings, folder, min(asked.repeats, 2), 0.0 if asked.quick else 1.0)):
            results.add(share)
    streamed = {one.template for one in results if isinstance(one, Memory)}
    for name in STREAMS[: 1 if asked.quick else None]:
        if name not in streamed:
            results.add(memory_of(name, folder))


def _measure_template(
    template: Template,
    data: SegmentData,
    sets: list[Parameters],
    asked: argparse.Namespace,
    results: Results[Figure],
) -> None:
    began = time.perf_counter()
    held = [
        one for one in results if isinstance(one, Timing) and (one.template, one.dataset) == (template.name, data.name)
    ]
    missing = [parameters for parameters in sets if parameters not in [one.parameters for one in held]]
    if missing and not asked.quick:
        # A first run of every plan, not kept: kernels are compiled and loaded, memory is warm.
        time_template(template, data, sets[0], 1)
    for parameters in missing:
        small = check_small(template, data, parameters)
        timing = time_template(template, data, parameters, asked.repeats)
        results.add(small)
        results.add(timing)
    say(f"{template.name} on {data.name}: {time.perf_counter() - began:.0f} s")


def _work(asked: argparse.Namespace, folder: Path) -> Iterator[tuple[Template, SegmentData, list[Parameters]]]:
    loaded: dict[str, SegmentData] = {}
    for name in asked.only:
        template = TEMPLATES[name]
        for dataset in template.datasets[: 1 if asked.quick else None]:
            if dataset not in loaded:
                loaded[dataset] = load(dataset, folder)
            sets = some_sets(parameter_sets(template, dataset), 1 if asked.quick else asked.sets)
            yield template, loaded[dataset], sets


def _caption(asked: argparse.Namespace) -> str:
    runs = f"best of {asked.repeats} runs" if asked.repeats > 1 else "one run each"
    size = "some parameter sets" if asked.sets else "all parameter sets"
    return machine(f"one core, no Spark, {runs}", "made-up rows" if asked.quick else size)
