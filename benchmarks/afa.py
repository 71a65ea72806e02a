"""The baseline of the segment templates: an automaton for each, written by hand and compiled with Numba.

As the T-ReX paper did for AFA (section 6.3.1), the state transitions are tuned by hand: the automaton walks from every
start to the right, keeps its partial matches, checks the cheap conditions of a transition before the dear ones, gives
up as soon as a window's upper bound cannot be kept, shares prefix sums among regressions, and visits what depends on
nothing but the start, the state and the row only once. What it does not do is the point of the comparison: it never
looks at a later part of the pattern before an earlier one.

    python benchmarks/afa.py --data FOLDER --check     # against brute force, on tiny series
    python benchmarks/afa.py --data FOLDER --time      # all parameter sets on all data
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import afa_kernels as kernels
import numpy as np
from afa_check import MINUTE, brute_force, damaged
from segment_data import SegmentData, add_data_argument, load, trim
from segment_templates import TEMPLATES, Parameters, parameter_sets

__all__ = ["AFA", "Executor"]

Array = np.ndarray[Any, Any]
Executor = Callable[[SegmentData, Parameters], tuple[Array, Array]]

_CAP = 60.0  # seconds that a template may take in all


def _executor(kernel: Callable[..., Any], columns: str, parameters: str, whole: str = "") -> Executor:
    """Call a kernel with columns and parameters by name; the whole numbers among the parameters are named again."""
    names = parameters.split()

    def run(data: SegmentData, values: Parameters) -> tuple[Array, Array]:
        arrays = [data.columns[name] for name in columns.split()]
        numbers = [int(values[name]) if name in whole.split() else float(values[name]) for name in names]
        starts, ends = kernel(data.offsets, *arrays, *numbers)
        return starts, ends

    return run


def _stream(kernel: Callable[..., Any]) -> Executor:
    def run(data: SegmentData, values: Parameters) -> tuple[Array, Array]:
        ours = data.columns["ticker"] == values["ticker"]
        span = int(values["total"]) * MINUTE
        starts, ends = kernel(data.offsets, data.columns["tstamp"], ours, data.columns["peak"], span)
        return starts, ends

    return run


# Each gives all distinct matches as (starts, ends): rows of all data, both included, in the order of (start, end).
AFA: dict[str, Executor] = {
    "v_shape": _executor(kernels.v_shape, "tstamp price", "down_r2_max up_r2_min total", "total"),
    "head_shldr": _executor(kernels.head_shldr, "tstamp price", "t total r1 r2", "total"),
    "outlier": _executor(kernels.outlier, "tstamp price", "up_r2_min total context z_min", "total context"),
    "rebound": _executor(kernels.rebound, "tstamp confirmed", "t fall rise"),
    "cld_wave": _executor(kernels.cld_wave, "tstamp temp", "fall_diff down_r2_min"),
    "rptd_pttrn": _executor(kernels.rptd_pttrn, "tstamp rides", "t rise k", "k"),
    "limit_sell": _executor(kernels.limit_sell, "price", "rise fall total", "total"),
    "OpenCEP_Q1": _stream(kernels.opencep_q1),
    "OpenCEP_Q2": _stream(kernels.opencep_q2),
    "AFA_Q1": _executor(kernels.afa_q1, "price", "K ratio", "K"),
    "AFA_Q2": _executor(kernels.afa_q2, "price", "ratio"),
}

# For the check: how much of each series (series, rows, rows to skip) and parameters so loose that something matches.
_LOOSE: dict[str, tuple[tuple[int, int, int], list[Parameters]]] = {
    "v_shape": (
        (4, 45, 100),
        [
            {"down_r2_max": -0.2, "up_r2_min": 0.2, "total": 40},
            {"down_r2_max": -0.05, "up_r2_min": 0.1, "total": 33},
        ],
    ),
    "head_shldr": (
        (6, 45, 60),
        [
            {"t": 0.3, "total": 40, "r1": 1.0, "r2": 0.98},
            {"t": 0.5, "total": 25, "r1": 1.005, "r2": 0.9},
            {"t": 0.1, "total": 60, "r1": 1.0, "r2": 1.0},
        ],
    ),
    "outlier": (
        (6, 60, 0),
        [
            {"up_r2_min": 0.7, "total": 30, "context": 15, "z_min": 1.8},
            {"up_r2_min": 0.4, "total": 12, "context": 5, "z_min": 1.0},
        ],
    ),
    "rebound": (
        (6, 65, 12),
        [
            {"t": 0.7, "fall": 0.8, "rise": 1.5},
            {"t": 0.3, "fall": 0.9, "rise": 1.1},
            {"t": 0.7, "fall": 0.4, "rise": 3},
        ],
    ),
    "cld_wave": ((6, 60, 130), [{"fall_diff": 3, "down_r2_min": 0.5}, {"fall_diff": 6, "down_r2_min": 0.85}]),
    "rptd_pttrn": (
        (1, 260, 8560),
        [{"t": 0.5, "rise": 1.2, "k": k} for k in (1, 2)] + [{"t": 0.7, "rise": 3, "k": k} for k in (1, 3, 4)],
    ),
    "limit_sell": (
        (6, 60, 0),
        [{"rise": 1.02, "fall": 0.98, "total": 15}, {"rise": 1.0, "fall": 0.99, "total": 60}],
    ),
    "OpenCEP_Q1": ((1, 250, 0), [{"ticker": "GOOG", "total": 5}, {"ticker": "GOOG", "total": 20}]),
    "OpenCEP_Q2": ((1, 250, 0), [{"ticker": "GOOG", "total": 5}, {"ticker": "GOOG", "total": 20}]),
    "AFA_Q1": ((12, 60, 0), [{"K": 5, "ratio": 1.0}, {"K": 2, "ratio": 0.995}, {"K": 1, "ratio": 1.0}]),
    "AFA_Q2": ((6, 60, 0), [{"ratio": 1.0}, {"ratio": 0.99}]),
}


def check(folder: Path) -> bool:
    """Compare with brute force, on real values and on damaged ones (NULLs, zeros, ties)."""
    same = True
    for name, (part, loose) in _LOOSE.items():
        series, rows, skip = part
        tiny = trim(load(TEMPLATES[name].dataset, folder), series, rows, skip)
        kinds = [("real", tiny)] + [(f"damaged {seed}", damaged(tiny, seed)) for seed in range(2)]
        for parameters in loose:
            counts = []
            for kind, data in kinds:
                starts, ends = AFA[name](data, parameters)
                ours = list(zip(starts.tolist(), ends.tolist(), strict=True))
                theirs = brute_force(name, data, parameters)
                counts.append(str(len(theirs)))
                if ours != theirs:
                    same = False
                    odd = sorted(set(ours) ^ set(theirs))
                    print(f"{name} {parameters} {kind}: DIFFERS, {len(ours)} and {len(theirs)}, such as {odd[:5]}")
            print(f"{name} {parameters}: {' + '.join(counts)} matches (real + damaged)", flush=True)
    return same


def clock(folder: Path) -> None:
    """Print the seconds and the matches of every parameter set, compiled before."""
    for name, template in TEMPLATES.items():
        for dataset in template.datasets:
            data = load(dataset, folder)
            sets = parameter_sets(template, dataset)
            AFA[name](trim(data, 1, 100), sets[0])
            seconds: list[float] = []
            counts = []
            for parameters in sets:
                began = time.perf_counter()
                starts, _ = AFA[name](data, parameters)
                seconds.append(time.perf_counter() - began)
                counts.append(len(starts))
                if sum(seconds) > _CAP:
                    break
            capped = f" CAPPED after {len(seconds)} of {len(sets)}" if len(seconds) < len(sets) else ""
            print(
                f"{name} on {dataset}: {sum(seconds):.3f} s for {len(seconds)} sets{capped}, each "
                f"{min(seconds):.4f}–{max(seconds):.4f} (median {median(seconds):.4f}) s; matches {counts}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description="The automaton baseline of the segment templates.")
    add_data_argument(parser)
    parser.add_argument("--check", action="store_true", help="compare with brute force on tiny series")
    parser.add_argument("--time", action="store_true", help="time all parameter sets on all data")
    arguments = parser.parse_args()
    if arguments.check and not check(arguments.data):
        raise SystemExit("the automata and brute force differ")
    if arguments.time:
        clock(arguments.data)


if __name__ == "__main__":
    main()
