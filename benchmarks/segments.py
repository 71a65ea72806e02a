"""Measure segment patterns: the eleven templates of the T-ReX paper, one core, kernels only. Prints Markdown.

python benchmarks/segments.py --data FOLDER                                        everything
python benchmarks/segments.py --data FOLDER --quick                                some parameter sets, one run each
python benchmarks/segments.py --data FOLDER --write docs/benchmarks/segments.md
python benchmarks/segments.py --data FOLDER --keep results.json                    keep the figures as well
python benchmarks/segment_report.py results.json --write docs/benchmarks/segments.md     write the page again
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import psutil
from segment_data import SegmentData, add_data_argument, load
from segment_growth import grow, large_shares, measure_memory
from segment_plans import Small, Timing, check_small, time_template
from segment_report import Results, machine_line, page
from segment_templates import TEMPLATES, Parameters, Template, parameter_sets

_QUICK = 3


def main() -> None:
    """Measure, then print or write the page."""
    asked = _arguments()
    # A plan that wants more memory than there is gives up, instead of taking the machine with it.
    limit = psutil.virtual_memory().available * 2 // 3
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    names = asked.only.split(",") if asked.only else list(TEMPLATES)
    unknown = [name for name in names if name not in TEMPLATES]
    if unknown:
        raise SystemExit(f"There is no template {unknown[0]}; the templates are {', '.join(TEMPLATES)}.")
    results = measure(asked.data, names, 1 if asked.quick else asked.repeats, asked.quick)
    if asked.keep:
        asked.keep.write_text(json.dumps(asdict(results), indent=1) + "\n")
    text = page(results)
    print(text)
    if asked.write:
        asked.write.parent.mkdir(parents=True, exist_ok=True)
        asked.write.write_text(text)


def measure(folder: Path, names: list[str], repeats: int, quick: bool) -> Results:
    """All figures of the page."""
    caption = machine_line(repeats, quick)
    small: list[Small] = []
    timings: list[Timing] = []
    for template, data, sets in _work(folder, names, quick):
        began = time.perf_counter()
        # A first run of every plan, not kept: kernels are compiled and loaded, memory is warm.
        time_template(template, data, sets[0], 1)
        small += [check_small(template, data, parameters) for parameters in sets]
        timings += [time_template(template, data, parameters, repeats) for parameters in sets]
        _say(f"{template.name} on {data.name}: {time.perf_counter() - began:.0f} s")
    _say("growth, planning, memory …")
    weather = load("weather_daily", folder)
    growth = grow(weather, repeats)
    shares = large_shares(timings, folder, min(repeats, 2))
    memory = measure_memory(folder)
    return Results(caption, small, timings, growth, shares, memory)


def _work(folder: Path, names: list[str], quick: bool) -> Iterator[tuple[Template, SegmentData, list[Parameters]]]:
    loaded: dict[str, SegmentData] = {}
    for name in names:
        template = TEMPLATES[name]
        for dataset in template.datasets:
            if dataset not in loaded:
                loaded[dataset] = load(dataset, folder)
            sets = parameter_sets(template, dataset)
            yield template, loaded[dataset], sets[:: max(1, len(sets) // _QUICK)] if quick else sets


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_argument(parser)
    parser.add_argument("--only", default="", help="templates, with commas between")
    parser.add_argument("--quick", action="store_true", help=f"about {_QUICK} parameter sets a template, one run each")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each plan; the best one counts")
    parser.add_argument("--write", type=Path, help="also write the page to this file")
    parser.add_argument("--keep", type=Path, help="also keep the figures in this file, as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
