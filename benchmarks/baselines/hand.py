"""The baseline of the segment templates: an automaton for each, written by hand and compiled with Numba.

As the T-ReX paper did for AFA (section 6.3.1), the state transitions are tuned by hand: the automaton walks from every
start to the right, keeps its partial matches, checks cheap conditions of a transition before expensive ones, gives
up as soon as a window's upper bound cannot be kept, shares prefix sums among regressions, and visits what depends on
nothing but the start, the state and the row only once. What it does not do is the point of the comparison: it never
looks at a later part of the pattern before an earlier one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.baselines import kernels
from benchmarks.segments.data import MINUTE, SegmentData
from benchmarks.segments.templates import Parameters

__all__ = ["HAND", "Executor"]

Array = np.ndarray[Any, Any]
Executor = Callable[[SegmentData, Parameters], tuple[Array, Array]]


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
HAND: dict[str, Executor] = {
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
