"""The eleven templates by brute force: every [i, j] tried against the definition, in plain Python, for tiny series."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import pairwise
from statistics import mean, stdev

import numpy as np
from segment_data import SegmentData

__all__ = ["brute_force", "damaged"]

Segment = Callable[[int, int], bool]
Values = list[float]
MINUTE = 60_000_000


# Patterns: a pattern is a function that says whether it matches [i, j].


def cat(*parts: Segment) -> Segment:
    """Concatenation, the parts sharing their boundary rows."""
    first, *rest = parts
    if not rest:
        return cache(first)
    head, tail = cache(first), cat(*rest)
    return cache(lambda i, j: any(head(i, k) and tail(k, j) for k in range(i, j + 1)))


def both(*parts: Segment) -> Segment:
    return cache(lambda i, j: all(part(i, j) for part in parts))


def negated(part: Segment) -> Segment:
    return lambda i, j: not part(i, j)


def plus(part: Segment) -> Segment:
    @cache
    def repeated(i: int, j: int) -> bool:
        return part(i, j) or any(part(i, k) and repeated(k, j) for k in range(i + 1, j + 1))

    return repeated


def point(holds: Callable[[int], bool]) -> Segment:
    return lambda i, j: i == j and holds(i)


def anything(_i: int, _j: int) -> bool:
    return True


def window(low: int, high: float) -> Segment:
    return lambda i, j: low <= j - i + 1 <= high


def exactly(rows: int) -> Segment:
    return window(rows, rows)


# Conditions. A NULL (NaN) makes every comparison false.


def r2(x: Values, y: Values) -> Callable[[int, int], float]:
    """R² with the sign of the slope, in exact arithmetic, rounded once."""
    return _r2(tuple(x), tuple(y))


@cache
def _r2(x: tuple[float, ...], y: tuple[float, ...]) -> Callable[[int, int], float]:
    @cache
    def value(i: int, j: int) -> float:
        pairs = [(Fraction(x[r]), Fraction(y[r])) for r in range(i, j + 1) if not math.isnan(y[r])]
        if len(pairs) < 2:
            return math.nan
        n = len(pairs)
        mean_x, mean_y = sum(a for a, _ in pairs) / n, sum(b for _, b in pairs) / n
        xx = sum((a - mean_x) ** 2 for a, _ in pairs)
        yy = sum((b - mean_y) ** 2 for _, b in pairs)
        xy = sum((a - mean_x) * (b - mean_y) for a, b in pairs)
        return math.nan if xx == 0 or yy == 0 else float(xy * abs(xy) / (xx * yy))

    return value


def quotient(y: Values) -> Callable[[int, int], float]:
    """last / first."""
    return lambda i, j: math.nan if y[i] == 0 else y[j] / y[i]


def z_score(y: Values, row: int, rows: int) -> float:
    if row + 1 < rows or math.isnan(y[row]):
        return math.nan
    known = [value for value in y[row + 1 - rows : row + 1] if not math.isnan(value)]
    if len(set(known)) < 2:
        return math.nan
    return (y[row] - mean(known)) / stdev(known)


def mann_kendall(values: Values) -> float:
    known = [value for value in values if not math.isnan(value)]
    n = len(known)
    s = sum((b > a) - (b < a) for k, a in enumerate(known) for b in known[k + 1 :])
    groups = [known.count(value) for value in set(known)]
    variance = (n * (n - 1) * (2 * n + 5) - sum(g * (g - 1) * (2 * g + 5) for g in groups)) / 18
    return 0.0 if s == 0 else (s - (1 if s > 0 else -1)) / math.sqrt(variance)


def equal_ticks(values: Values) -> bool:
    known = [value for value in values if not math.isnan(value)]
    steps = list(pairwise(known))
    return sum(b > a for a, b in steps) == sum(b < a for a, b in steps)


# Templates: each gives the pattern of one series.


def _v_shape(x: Values, y: Values, p: dict[str, float]) -> Segment:
    fit = r2(x, y)
    down = both(window(15, math.inf), lambda i, j: fit(i, j) <= p["down_r2_max"])
    up = both(window(15, math.inf), lambda i, j: fit(i, j) >= p["up_r2_min"])
    return both(window(1, p["total"]), cat(down, up))


def _head_shldr(x: Values, y: Values, p: dict[str, float]) -> Segment:
    fit, rise = r2(x, y), quotient(y)
    up = both(window(3, 10), lambda i, j: fit(i, j) >= p["t"])
    down = both(window(3, 10), lambda i, j: fit(i, j) <= -p["t"])

    def fall(i: int, j: int) -> float:
        return math.nan if y[j] == 0 else y[i] / y[j]

    left = both(cat(down, both(up, lambda i, j: rise(i, j) > p["r1"])), lambda i, j: rise(i, j) > p["r2"])
    right = both(cat(both(down, lambda i, j: fall(i, j) > p["r1"]), up), lambda i, j: fall(i, j) > p["r2"])
    return both(window(1, p["total"]), cat(up, left, right, down))


def _outlier(x: Values, y: Values, p: dict[str, float]) -> Segment:
    fit = r2(x, y)
    up = cache(lambda i, j: fit(i, j) >= p["up_r2_min"])
    odd = point(lambda i: z_score(y, i, int(p["context"])) > p["z_min"])
    return both(window(1, p["total"]), cat(up, odd, up))


def _rebound(x: Values, y: Values, p: dict[str, float]) -> Segment:
    fit, rise = r2(x, y), quotient(y)
    up = cache(lambda i, j: fit(i, j) >= p["t"])
    down = both(lambda i, j: fit(i, j) <= -p["t"], lambda i, j: rise(i, j) < p["fall"])
    return both(window(0, 60), cat(up, both(lambda i, j: rise(i, j) > p["rise"], cat(down, up))))


def _cld_wave(x: Values, y: Values, p: dict[str, float]) -> Segment:
    fit = r2(x, y)
    wave = both(window(1, 5), lambda i, j: y[j] - y[i] < -p["fall_diff"], lambda i, j: fit(i, j) <= -p["down_r2_min"])
    trend = both(window(25, 30), lambda i, j: mann_kendall(y[i : j + 1]) >= 3.0)
    return both(trend, cat(anything, wave, anything))


def _rptd_pttrn(x: Values, y: Values, p: dict[str, float]) -> Segment:
    fit, rise = r2(x, y), quotient(y)
    up = both(exactly(20), lambda i, j: rise(i, j) > p["rise"], lambda i, j: fit(i, j) >= p["t"])
    down = both(exactly(20), lambda i, j: rise(i, j) < 1 / p["rise"], lambda i, j: fit(i, j) <= -p["t"])
    once = both(exactly(48), cat(anything, up, exactly(4), down, anything))
    return cat(*[once] * int(p["k"]))


def _limit_sell(_x: Values, y: Values, p: dict[str, float]) -> Segment:
    rise = quotient(y)
    fallen = cat(lambda i, j: rise(i, j) < p["fall"], anything)
    return both(window(1, p["total"]), lambda i, j: rise(i, j) > p["rise"], negated(fallen))


def _opencep(data: SegmentData, low: int, high: int, p: dict[str, object], second: bool) -> Segment:
    time, peak = data.columns["tstamp"][low:high].tolist(), data.columns["peak"][low:high].tolist()
    ours = [ticker == p["ticker"] for ticker in data.columns["ticker"][low:high]]
    in_time: Segment = lambda i, j: time[j] - time[i] <= p["total"] * MINUTE  # noqa: E731
    if second:
        a = point(lambda i: ours[i])
        return both(in_time, plus(both(cat(a, anything, a), lambda i, j: peak[j] < peak[i])))

    def q1(i: int, j: int) -> bool:
        middle = (m for m in range(i, j + 1) if ours[m] and peak[m] > peak[i] and peak[j] > peak[m])
        return ours[i] and ours[j] and any(True for _ in middle)

    return both(in_time, q1)


def _steps(y: Values, p: dict[str, float]) -> tuple[Segment, Segment, Segment]:
    rise = quotient(y)
    large = both(exactly(2), lambda i, j: rise(i, j) < p["ratio"])
    fall = both(exactly(2), lambda i, j: y[j] < y[i])
    return large, fall, both(exactly(2), lambda i, j: y[j] > y[i])


def _afa_q1(_x: Values, y: Values, p: dict[str, float]) -> Segment:
    large, fall, rise = _steps(y, p)
    wave = cat(plus(fall), plus(rise))
    waves = both(lambda i, j: equal_ticks(y[i : j + 1]), cat(*[wave] * int(p["K"])))
    return both(window(0, 30), cat(large, waves))


def _afa_q2(_x: Values, y: Values, p: dict[str, float]) -> Segment:
    large, fall, rise = _steps(y, p)
    return both(window(0, 30), lambda i, j: y[j] >= y[i], cat(large, plus(cat(plus(fall), plus(rise)))))


_SERIES = {
    "v_shape": ("price", _v_shape),
    "head_shldr": ("price", _head_shldr),
    "outlier": ("price", _outlier),
    "rebound": ("confirmed", _rebound),
    "cld_wave": ("temp", _cld_wave),
    "rptd_pttrn": ("rides", _rptd_pttrn),
    "limit_sell": ("price", _limit_sell),
    "AFA_Q1": ("price", _afa_q1),
    "AFA_Q2": ("price", _afa_q2),
}


def brute_force(name: str, data: SegmentData, parameters: dict[str, object]) -> list[tuple[int, int]]:
    """All matches (start, end) of a template, in order."""
    found = []
    for low, high in zip(data.offsets[:-1].tolist(), data.offsets[1:].tolist(), strict=True):
        if name in _SERIES:
            column, template = _SERIES[name]
            rows = slice(low, high)
            matches = template(data.columns["tstamp"][rows].tolist(), data.columns[column][rows].tolist(), parameters)
        else:
            matches = _opencep(data, low, high, parameters, name == "OpenCEP_Q2")
        n = high - low
        found += [(low + i, low + j) for i in range(n) for j in range(i, n) if matches(i, j)]
    return found


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
