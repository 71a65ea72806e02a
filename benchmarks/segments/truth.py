"""The segment templates by definition: `tests/naive_segments.py` on a few rows, for every parameter set.

Patterns and conditions are written here by hand from the templates, so that nothing of Trellis's parser or planner is
shared. Where a parameter set matches nothing in so few rows, its thresholds are loosened as well.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.options import is_quick
from benchmarks.segments.data import MINUTE, SegmentData, trim
from benchmarks.segments.templates import TICKERS, Parameters

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

import naive_segments as naive
from naive_segments import And, Concat, Not, Pattern, Point, Repeat, Row, Segment, Variable

__all__ = ["SAMPLES", "Sample", "Truth", "sample_of"]

Array = np.ndarray[Any, Any]
Test = Callable[["_Series", int, int], "bool | None"]


@dataclass(frozen=True)
class _Series:
    """One series: its rows for `naive_segments`, and columns with None for NULL."""

    columns: Mapping[str, list[Any]]
    _fits: dict[tuple[str, int, int], float | None] = field(default_factory=dict)
    _trends: dict[tuple[str, int, int], float | None] = field(default_factory=dict)

    @cached_property
    def rows(self) -> list[Row]:
        return [dict(zip(self.columns, values, strict=True)) for values in zip(*self.columns.values(), strict=True)]

    def fit(self, column: str, i: int, j: int) -> float | None:
        """The signed R² of a column over time: the same for all parameter sets, so computed once."""
        key = column, i, j
        if key not in self._fits:
            x, y = self.columns["tstamp"][i : j + 1], self.columns[column][i : j + 1]
            self._fits[key] = naive.linear_regression_r2_signed(x, y)
        return self._fits[key]

    def trend(self, column: str, i: int, j: int) -> float | None:
        key = column, i, j
        if key not in self._trends:
            self._trends[key] = naive.mann_kendall_test(self.columns[column][i : j + 1])
        return self._trends[key]


def _at_least(value: float | None, bound: float) -> bool | None:
    return None if value is None else value >= bound


def _rising(column: str, bound: float) -> Test:
    return lambda series, i, j: _at_least(series.fit(column, i, j), bound)


def _falling(column: str, bound: float) -> Test:
    def test(series: _Series, i: int, j: int) -> bool | None:
        value = series.fit(column, i, j)
        return None if value is None else value <= bound

    return test


def _steps(column: str, compare: Callable[[float, float], bool]) -> Test:
    """A condition on the first and the last value of a column."""

    def test(series: _Series, i: int, j: int) -> bool | None:
        first, last = series.columns[column][i], series.columns[column][j]
        return None if first is None or last is None else compare(first, last)

    return test


def _ratio(column: str, compare: Callable[[float], bool], turned: bool = False) -> Test:
    """A condition on last / first (`turned`: first / last); a zero below is NULL."""

    def test(series: _Series, i: int, j: int) -> bool | None:
        first, last = series.columns[column][i], series.columns[column][j]
        above, below = (first, last) if turned else (last, first)
        return None if above is None or below is None or below == 0 else compare(above / below)

    return test


def _rows(least: int | None, most: int | None) -> Test:
    return lambda series, i, j: naive.window(least, most, j - i + 1)


def _anything(series: _Series, i: int, j: int) -> bool:
    return True


def _minutes(most: float) -> Test:
    return lambda series, i, j: naive.time_window(
        series.columns["tstamp"][i], series.columns["tstamp"][j], 0, most * MINUTE
    )


@dataclass(frozen=True)
class Truth:
    """A pattern with the conditions of its variables; `reads` are the other variables that a condition looks at."""

    pattern: Pattern
    tests: Mapping[str, Test]
    reads: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def segments(self, series: _Series) -> set[tuple[int, int]]:
        variables = []
        for name, test in self.tests.items():
            variables.append(Variable(name, _of(series, test)))
        for name, (other, column) in self.reads.items():
            variables.append(Variable(name, _greater(other, column), frozenset({other})))
        if self.reads:
            return {(found[0], found[1]) for found in naive.find(self.pattern, variables, series.rows)}
        return naive.segments(self.pattern, variables, series.rows)


def _of(series: _Series, test: Test) -> naive.Condition:
    return lambda rows, i, j, bindings: test(series, i, j)


def _greater(other: str, column: str) -> naive.Condition:
    def condition(rows: Any, i: int, j: int, bindings: Mapping[str, naive.Binding]) -> bool | None:
        there = bindings[other]
        if there is None:
            return None
        mine, theirs = rows[i][column], rows[there[1]][column]
        return None if mine is None or theirs is None else mine > theirs

    return condition


def _s(*names: str) -> list[Segment]:
    return [Segment(name) for name in names]


def _both(*parts: Pattern) -> And:
    return And(parts)


def _cat(*parts: Pattern) -> Concat:
    return Concat(parts)


def _v_shape(p: Any) -> Truth:
    dn, up, w, win = _s("DN", "UP", "W", "WIN")
    tests = {
        "DN": _falling("price", p["down_r2_max"]),
        "UP": _rising("price", p["up_r2_min"]),
        "W": _rows(15, None),
        "WIN": _rows(1, p["total"]),
    }
    return Truth(_both(_cat(_both(dn, w), _both(up, w)), win), tests)


def _head_shldr(p: Any) -> Truth:
    up, dn, w, win = _s("UP", "DN", "W", "WIN")
    neck_head, head_neck, shoulder_head, head_shoulder = _s("NECK_HEAD", "HEAD_NECK", "SHOULDER_HEAD", "HEAD_SHOULDER")
    tests = {
        "UP": _rising("price", p["t"]),
        "DN": _falling("price", -p["t"]),
        "W": _rows(3, 10),
        "NECK_HEAD": _ratio("price", lambda ratio: ratio > p["r1"]),
        "HEAD_NECK": _ratio("price", lambda ratio: ratio > p["r1"], turned=True),
        "SHOULDER_HEAD": _ratio("price", lambda ratio: ratio > p["r2"]),
        "HEAD_SHOULDER": _ratio("price", lambda ratio: ratio > p["r2"], turned=True),
        "WIN": _rows(1, p["total"]),
    }
    left = _both(_cat(_both(dn, w), _both(up, w, neck_head)), shoulder_head)
    right = _both(_cat(_both(dn, w, head_neck), _both(up, w)), head_shoulder)
    return Truth(_both(_cat(_both(up, w), left, right, _both(dn, w)), win), tests)


def _outlier(p: Any) -> Truth:
    up, win = _s("UP", "WIN")

    def odd(series: _Series, i: int, j: int) -> bool | None:
        value = naive.zscore(series.columns["price"], i, p["context"])
        return None if value is None else value > p["z_min"]

    tests = {"UP": _rising("price", p["up_r2_min"]), "OUTLIER": odd, "WIN": _rows(1, p["total"])}
    return Truth(_both(_cat(up, Point("OUTLIER"), up), win), tests)


def _rebound(p: Any) -> Truth:
    up, down, fall, rise, win = _s("UP", "DOWN", "FALL", "RISE", "WIN")
    tests = {
        "UP": _rising("confirmed", p["t"]),
        "DOWN": _falling("confirmed", -p["t"]),
        "FALL": _ratio("confirmed", lambda ratio: ratio < p["fall"]),
        "RISE": _ratio("confirmed", lambda ratio: ratio > p["rise"]),
        "WIN": _rows(0, 60),
    }
    return Truth(_both(_cat(up, _both(_cat(_both(down, fall), up), rise)), win), tests)


def _cld_wave(p: Any) -> Truth:
    w1, w2, fall, down, up, win = _s("W1", "W2", "FALL", "DOWN", "UP_MK", "WIN")
    tests = {
        "W1": _anything,
        "W2": _rows(1, 5),
        "FALL": _steps("temp", lambda first, last: last - first < -p["fall_diff"]),
        "DOWN": _falling("temp", -p["down_r2_min"]),
        "UP_MK": lambda series, i, j: _at_least(series.trend("temp", i, j), 3.0),
        "WIN": _rows(25, 30),
    }
    return Truth(_both(_cat(w1, _both(down, fall, w2), w1), up, win), tests)


def _rptd_pttrn(p: Any) -> Truth:
    w1, w2, w3, win, up, down, rise, fall = _s("W1", "W2", "W3", "WIN", "UP", "DOWN", "RISE", "FALL")
    tests = {
        "W1": _anything,
        "W2": _rows(20, 20),
        "W3": _rows(4, 4),
        "WIN": _rows(48, 48),
        "UP": _rising("rides", p["t"]),
        "DOWN": _falling("rides", -p["t"]),
        "RISE": _ratio("rides", lambda ratio: ratio > p["rise"]),
        "FALL": _ratio("rides", lambda ratio: ratio < 1 / p["rise"]),
    }
    once = _both(_cat(w1, _both(up, rise, w2), w3, _both(down, fall, w2), w1), win)
    return Truth(Repeat(once, p["k"], p["k"]), tests)


def _limit_sell(p: Any) -> Truth:
    w, rise, fall, win = _s("W", "RISE", "FALL", "WIN")
    tests = {
        "W": _anything,
        "RISE": _ratio("price", lambda ratio: ratio > p["rise"]),
        "FALL": _ratio("price", lambda ratio: ratio < p["fall"]),
        "WIN": _rows(1, p["total"]),
    }
    return Truth(_both(rise, win, Not(_cat(fall, w))), tests)


def _named(p: Any) -> Test:
    return lambda series, i, j: series.columns["ticker"][i] == p["ticker"]


def _opencep_q1(p: Any) -> Truth:
    w, win = _s("W", "WIN")
    a1, a2, a3, inc1, inc2 = (Point(name) for name in ("A1", "A2", "A3", "INC1", "INC2"))
    named = _named(p)
    tests = {"W": _anything, "A1": named, "A2": named, "A3": named, "WIN": _minutes(p["total"])}
    pattern = _both(_cat(a1, w, _both(a2, inc1), w, _both(a3, inc2)), win)
    return Truth(pattern, tests, {"INC1": ("A1", "peak"), "INC2": ("A2", "peak")})


def _opencep_q2(p: Any) -> Truth:
    w, fall, win = _s("W", "FALL", "WIN")
    tests = {
        "W": _anything,
        "A": _named(p),
        "FALL": _steps("peak", lambda first, last: last < first),
        "WIN": _minutes(p["total"]),
    }
    return Truth(_both(Repeat(_both(_cat(Point("A"), w, Point("A")), fall), 1, None), win), tests)


def _price_steps(p: Any) -> dict[str, Test]:
    return {
        "W": _rows(2, 2),
        "LARGE": _ratio("price", lambda ratio: ratio < p["ratio"]),
        "FALL": _steps("price", lambda first, last: last < first),
        "RISE": _steps("price", lambda first, last: last > first),
        "WIN": _rows(0, 30),
    }


def _afa_q1(p: Any) -> Truth:
    w, large, fall, rise, equal, win = _s("W", "LARGE", "FALL", "RISE", "EQ", "WIN")
    wave = _cat(Repeat(_both(fall, w), 1, None), Repeat(_both(rise, w), 1, None))
    tests = {
        **_price_steps(p),
        "EQ": lambda series, i, j: naive.equal_up_down_ticks(series.columns["price"][i : j + 1]),
    }
    return Truth(_both(_cat(_both(large, w), _both(Repeat(wave, p["K"], p["K"]), equal)), win), tests)


def _afa_q2(p: Any) -> Truth:
    w, large, fall, rise, recover, win = _s("W", "LARGE", "FALL", "RISE", "RECOVER", "WIN")
    wave = _cat(Repeat(_both(fall, w), 1, None), Repeat(_both(rise, w), 1, None))
    tests = {**_price_steps(p), "RECOVER": _steps("price", lambda first, last: last >= first)}
    return Truth(_both(_cat(_both(large, w), Repeat(wave, 1, None)), recover, win), tests)


@dataclass(frozen=True)
class Sample:
    """How much of the data is looked at: series, rows of each, rows to skip; and how thresholds are loosened.

    `loose` moves a parameter to the share `loose[name][1]` of its distance from `loose[name][0]`. `thin`: of a stream
    only the rows of two tickers, in every so many minutes.
    """

    truth: Callable[[Any], Truth]
    part: tuple[int, int, int]
    loose: Mapping[str, tuple[float, float]]
    thin: int = 0

    def expected(self, data: SegmentData, parameters: Parameters) -> set[tuple[int, int]]:
        """All segments, by rows of the data."""
        truth = self.truth(parameters)
        found: set[tuple[int, int]] = set()
        for low, series in _series_of(data):
            found |= {(low + i, low + j) for i, j in truth.segments(series)}
        return found

    def loosened(self, parameters: Parameters) -> Parameters:
        """Parameters that match more."""
        moved = {
            name: neutral + (float(parameters[name]) - neutral) * share for name, (neutral, share) in self.loose.items()
        }
        return {**parameters, **moved}


SAMPLES: dict[str, Sample] = {
    "v_shape": Sample(_v_shape, (3, 60, 100), {"down_r2_max": (0, 0.25), "up_r2_min": (0, 0.25)}),
    "head_shldr": Sample(_head_shldr, (3, 60, 60), {"t": (0, 0.4), "r1": (1, 0.05), "r2": (0.98, 0.05)}),
    "outlier": Sample(_outlier, (3, 60, 0), {"z_min": (0, 0.6)}),
    "rebound": Sample(_rebound, (3, 65, 12), {"fall": (1, 0.2), "rise": (1, 0.1)}),
    "cld_wave": Sample(_cld_wave, (3, 70, 130), {"fall_diff": (0, 0.2), "down_r2_min": (0, 0.6)}),
    "rptd_pttrn": Sample(_rptd_pttrn, (1, 260, 8560), {"t": (0, 0.7), "rise": (1, 0.1)}),
    "limit_sell": Sample(_limit_sell, (3, 60, 0), {"rise": (1, 0.01), "fall": (1, 0.07)}),
    "OpenCEP_Q1": Sample(_opencep_q1, (6, 9, 0), {}, thin=2),
    "OpenCEP_Q2": Sample(_opencep_q2, (3, 60, 0), {}, thin=2),
    "AFA_Q1": Sample(_afa_q1, (12, 60, 0), {"ratio": (1, 0)}),
    "AFA_Q2": Sample(_afa_q2, (3, 60, 0), {"ratio": (1, 0.01)}),
}

_known: dict[int, tuple[SegmentData, list[tuple[int, _Series]]]] = {}


def _series_of(data: SegmentData) -> list[tuple[int, _Series]]:
    """The series of small data with the row that each begins at; kept, as parameter sets share what is computed."""
    if id(data) not in _known:
        bounds = zip(data.offsets[:-1].tolist(), data.offsets[1:].tolist(), strict=True)
        _known[id(data)] = data, [(low, _one_series(data, low, high)) for low, high in bounds]
    return _known[id(data)][1]


def _one_series(data: SegmentData, low: int, high: int) -> _Series:
    columns = {name: values[low:high].tolist() for name, values in data.columns.items()}
    return _Series({name: [None if value != value else value for value in held] for name, held in columns.items()})


def sample_of(name: str, data: SegmentData) -> SegmentData:
    """The part of a dataset that a template is checked on."""
    sample = SAMPLES[name]
    series, rows, skip = sample.part
    if is_quick():
        series, rows, skip = 1, min(rows, 50), 0
    if not sample.thin:
        return trim(data, series, rows, skip)
    ticker = TICKERS[data.name]
    tickers = data.columns["ticker"]
    other = next(str(one) for one in tickers if one != ticker)
    minutes = data.columns["tstamp"] // MINUTE
    kept = np.flatnonzero(((tickers == ticker) | (tickers == other)) & (minutes % sample.thin == 0))
    kept = kept[: series * rows]
    columns = {column: np.ascontiguousarray(values[kept]) for column, values in data.columns.items()}
    offsets = np.append(np.arange(0, len(kept), rows), len(kept)).astype(np.int64)
    return SegmentData(data.name, data.unit, offsets, columns, ("",) * (len(offsets) - 1))
