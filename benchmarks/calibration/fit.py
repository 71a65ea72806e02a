"""Constants of a cost model from measured times."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["fit"]

Array = np.ndarray[Any, Any]

_STEPS = 60
# How strongly constants are held to their old values, against one measurement.
_HELD = 0.05


def fit(counts: Array, rest: Array, measured: Array, old: Array) -> Array:
    """The constants for which `counts @ constants + rest` comes nearest to the measured times, in ratios.

    Least squares of log(estimated / measured), by Levenberg and Marquardt; constants stay positive, and near their old
    values where the measurements leave them open.
    """
    start = np.log(old)
    held = math.sqrt(_HELD)

    def residuals(logs: Array) -> tuple[Array, Array]:
        shares = counts * np.exp(logs)
        estimated = shares.sum(axis=1) + rest
        errors = np.concatenate([np.log(estimated / measured), held * (logs - start)])
        return errors, np.vstack([shares / estimated[:, None], held * np.eye(len(old))])

    logs, damping = start.copy(), 1e-2
    errors, slopes = residuals(logs)
    for _ in range(_STEPS):
        square = slopes.T @ slopes
        step = np.linalg.solve(square + damping * np.diag(np.diag(square)), -slopes.T @ errors)
        tried = logs + np.clip(step, -1, 1)
        new_errors, new_slopes = residuals(tried)
        if new_errors @ new_errors < errors @ errors:
            logs, errors, slopes, damping = tried, new_errors, new_slopes, damping / 3
        else:
            damping *= 4
    return np.exp(logs)
