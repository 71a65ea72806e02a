"""What segment queries cost beyond one plan: growth with the data, the share of planning, memory of a long stream."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.memory import forget_peak, held_now, peak_so_far
from benchmarks.processes import json_lines
from benchmarks.segments.data import SegmentData, load
from benchmarks.segments.engine import prepare
from benchmarks.segments.plans import Timing, whole_run
from benchmarks.segments.templates import TEMPLATES, Parameters, parameter_sets
from benchmarks.timing import best_of
from trellis.algebra.segments import Choices

__all__ = ["FACTORS", "STREAMS", "Growth", "Memory", "Share", "grow", "large_shares", "memory_of", "repeated"]

FACTORS = (1, 2, 4, 8)
STREAMS = ("OpenCEP_Q1", "OpenCEP_Q2")
# So much longer than the least time the data is aimed at, since times vary.
_AIM = 1.3
_LARGEST_FACTOR = 24


@dataclass(frozen=True, slots=True)
class Growth:
    """So many times the series: seconds of all parameter sets together, without and with planning."""

    factor: int
    series: int
    rows: int
    seconds: float
    planning: float


@dataclass(frozen=True, slots=True)
class Share:
    """What planning takes of a query over enlarged data."""

    template: str
    parameters: Parameters
    factor: int
    rows: int
    planning: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Memory:
    """The peak of a process with one long stream, beyond what it held with the data loaded."""

    template: str
    parameters: Parameters
    held: int
    peak: int
    matches: int
    seconds: float


def repeated(data: SegmentData, times: int) -> SegmentData:
    """The series several times over."""
    if times == 1:
        return data
    moved = [data.offsets[1:] + data.rows * k for k in range(times)]
    offsets = np.concatenate([[0], *moved]).astype(np.int64)
    columns = {name: np.tile(values, times) for name, values in data.columns.items()}
    return SegmentData(data.name, data.unit, offsets, columns, data.keys * times)


def grow(data: SegmentData, factor: int, sets: list[Parameters], repeats: int) -> Growth:
    """cld_wave on so many times the series: these parameter sets, the best run of each."""
    template = TEMPLATES["cld_wave"]
    large = repeated(data, factor)
    seconds = planning = 0.0
    for parameters in sets:
        prepared = prepare(template, large, parameters)
        chosen = [prepared.choose(Choices()) for _ in range(repeats)]
        planning += min(took for _, _, took in chosen)
        seconds += best_of(partial(prepared.run, chosen[0][0].tree), repeats)
    return Growth(factor, len(large.keys), large.rows, seconds, planning)


def large_shares(timings: list[Timing], folder: Path, repeats: int, least: float = 1.0) -> Iterator[Share]:
    """The slowest parameter set of each template, with its series repeated until it takes more than `least` seconds."""
    slowest: dict[str, Timing] = {}
    for timing in timings:
        if timing.dataset == TEMPLATES[timing.template].dataset and math.isfinite(timing.whole()):
            known = slowest.get(timing.template)
            if known is None or timing.whole() > known.whole():
                slowest[timing.template] = timing
    for name, timing in slowest.items():
        factor = max(1, math.ceil(_AIM * least / timing.seconds["optimizer"]))
        while factor <= _LARGEST_FACTOR:  # else the data would have to be enlarged beyond reason
            large = repeated(load(timing.dataset, folder), factor)
            prepared = prepare(TEMPLATES[name], large, timing.parameters)
            planning, seconds = min((whole_run(prepared) for _ in range(repeats)), key=lambda run: run[1])
            if seconds > least:
                yield Share(name, timing.parameters, factor, large.rows, planning, seconds)
                break
            factor = max(factor + 1, math.ceil(factor * _AIM * least / seconds))


def memory_of(name: str, folder: Path) -> Memory:
    """A template of `STREAMS` over the long stream, with the widest window, in a process of its own."""
    (values,) = json_lines(__name__, name, str(folder))
    return Memory(**values)


def _peak_of(name: str, folder: Path) -> Memory:
    """Run a template once in this process, which should be a new one."""
    template = TEMPLATES[name]
    data = load("etf_minutes", folder)
    parameters = parameter_sets(template, "etf_minutes")[-1]
    small = prepare(template, load("nasdaq", folder), parameter_sets(template)[0])
    small.run(small.choose(Choices())[0].tree)  # compiled before it is measured
    prepared = prepare(template, data, parameters)
    forget_peak()
    held = held_now()
    chosen, _, _ = prepared.choose(Choices())
    began = time.perf_counter()
    starts, _ = prepared.run(chosen.tree)
    return Memory(name, parameters, held, peak_so_far(), len(starts), time.perf_counter() - began)


if __name__ == "__main__":
    print(json.dumps(asdict(_peak_of(sys.argv[1], Path(sys.argv[2])))))
