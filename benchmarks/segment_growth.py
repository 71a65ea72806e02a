"""What segment queries cost beyond one plan: growth with the data, the share of planning, memory of a long stream."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from segment_data import SegmentData, load
from segment_engine import prepare
from segment_plans import Timing, whole_run
from segment_templates import TEMPLATES, Parameters, parameter_sets

from trellis.algebra.segments import Choices

__all__ = ["Growth", "Memory", "Share", "grow", "large_shares", "measure_memory", "peak_of", "repeated"]

_FACTORS = (1, 2, 4, 8)
_LARGE_SECONDS = 1.3
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


def grow(data: SegmentData, repeats: int) -> list[Growth]:
    """cld_wave on more and more series: all its parameter sets, the best run of each."""
    template = TEMPLATES["cld_wave"]
    found = []
    for factor in _FACTORS:
        large = repeated(data, factor)
        seconds = planning = 0.0
        for parameters in parameter_sets(template):
            prepared = prepare(template, large, parameters)
            chosen = [prepared.choose(Choices()) for _ in range(repeats)]
            planning += min(took for _, _, took in chosen)
            seconds += min(prepared.run(chosen[0][0].tree)[2] for _ in range(repeats))
        found.append(Growth(factor, len(large.keys), large.rows, seconds, planning))
    return found


def large_shares(timings: list[Timing], folder: Path, repeats: int) -> list[Share]:
    """The slowest parameter set of each template, with its series repeated until it takes more than a second."""
    slowest: dict[str, Timing] = {}
    for timing in timings:
        if timing.dataset == TEMPLATES[timing.template].dataset and math.isfinite(timing.whole()):
            known = slowest.get(timing.template)
            if known is None or timing.whole() > known.whole():
                slowest[timing.template] = timing
    shares = []
    for name, timing in slowest.items():
        factor = math.ceil(_LARGE_SECONDS / timing.seconds["optimizer"])
        while factor <= _LARGEST_FACTOR:  # else the data would have to be enlarged beyond reason
            large = repeated(load(timing.dataset, folder), factor)
            prepared = prepare(TEMPLATES[name], large, timing.parameters)
            planning, seconds = min((whole_run(prepared) for _ in range(repeats)), key=lambda run: run[1])
            if seconds > 1:
                shares.append(Share(name, timing.parameters, factor, large.rows, planning, seconds))
                break
            factor = max(factor + 1, math.ceil(factor * _LARGE_SECONDS / seconds))
    return shares


def measure_memory(folder: Path) -> list[Memory]:
    """OpenCEP's templates over the long stream, with the widest window, each in a process of its own."""
    found = []
    for name in ("OpenCEP_Q1", "OpenCEP_Q2"):
        command = [sys.executable, __file__, name, str(folder)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found.append(Memory(**json.loads(output.splitlines()[-1])))
    return found


def peak_of(name: str, folder: Path) -> Memory:
    """Run a template once in this process, which should be a new one."""
    template = TEMPLATES[name]
    data = load("etf_minutes", folder)
    parameters = parameter_sets(template, "etf_minutes")[-1]
    small = prepare(template, load("nasdaq", folder), parameter_sets(template)[0])
    small.run(small.choose(Choices())[0].tree)  # compiled before it is measured
    prepared = prepare(template, data, parameters)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    held = _status("VmRSS")
    chosen, _, _ = prepared.choose(Choices())
    starts, _, seconds = prepared.run(chosen.tree)
    return Memory(name, parameters, held, _status("VmHWM"), len(starts), seconds)


def _status(key: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{key}:"))


if __name__ == "__main__":
    measured = peak_of(sys.argv[1], Path(sys.argv[2]))
    print(json.dumps({field: getattr(measured, field) for field in measured.__slots__}))
