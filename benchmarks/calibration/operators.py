"""The experiments of `segments`: operators with given inputs, and how often formulas count each constant.

What is counted follows `planning/segments/optimizer.py`, `generators.py` and `segment_costs.py`, operator by operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.options import is_quick
from benchmarks.segments.data import SegmentData
from benchmarks.segments.engine import Prepared, prepare
from benchmarks.segments.templates import Template
from trellis.algebra.physical_tree import Complement, Generate, Join, Meet, Pad, PhysicalNode, Repetition, Union
from trellis.algebra.windows import Window
from trellis.execution.segments.executor import Executor
from trellis.execution.segments.sets import Segments
from trellis.execution.segments.spaces import Space

__all__ = ["Experiment", "experiments", "functions"]

Array = np.ndarray[Any, Any]
Counts = dict[str, float]
Given = dict[PhysicalNode, Segments]
_BUDGET = 10**12
_MANY = 5e6
_EVERYONE: frozenset[str] = frozenset()

_CALLS = {
    "linear_regression_r2": "linear_regression_r2(F.tstamp, F.price)",
    "linear_regression_r2_signed": "linear_regression_r2_signed(F.tstamp, F.price)",
    "linear_regression_slope": "linear_regression_slope(F.tstamp, F.price)",
    "corr": "corr(F.tstamp, F.price)",
    "sum": "sum(F.price)",
    "avg": "avg(F.price)",
    "var_samp": "var_samp(F.price)",
    "var_pop": "var_pop(F.price)",
    "stddev_samp": "stddev_samp(F.price)",
    "stddev_pop": "stddev_pop(F.price)",
    "min": "min(F.price)",
    "max": "max(F.price)",
    "mann_kendall_test": "mann_kendall_test(F.price)",
}
# The conditions of every query below, by number.
_STEP, _TWO, _FOUR, _FUNCTION = range(4)


def functions() -> tuple[str, ...]:
    """The functions whose constants are measured."""
    return tuple(_CALLS)


@dataclass(frozen=True, slots=True)
class Experiment:
    """`ready` gives the job to time; `counts` says how often the formula counts each constant.

    Without `fit` it is shown only: the formula leaves out what the operator does.
    """

    title: str
    ready: Callable[[], Callable[[], object]]
    counts: Counts
    function: str = ""
    fit: bool = True


def _series(series: int, rows: int) -> SegmentData:
    """Prices that wander, an even clock, and noise."""
    random = np.random.default_rng(1)
    count = series * rows
    columns = {
        "tstamp": np.tile(np.arange(rows, dtype=np.int64), series),
        "price": 100 * np.exp(np.cumsum(random.normal(size=(series, rows)) * 0.02, axis=1)).reshape(count),
        "temp": random.normal(size=count),
        "key": np.repeat(np.arange(series).astype(np.str_), rows),
    }
    offsets = (np.arange(series + 1) * rows).astype(np.int64)
    return SegmentData("made up", "day", offsets, columns, tuple(str(k) for k in range(series)))


def _query(call: str, total: int, step: float, data: SegmentData) -> Prepared:
    template = Template(
        "calibration",
        ("made up",),
        ("key",),
        ("tstamp",),
        "(R T Q F) & WIN",
        f"""SEGMENT R AS last(R.price) / first(R.price) > :step,
        SEGMENT T AS last(T.price) + first(T.price) > :none,
        SEGMENT Q AS last(Q.price) + first(Q.price) + last(Q.temp) + first(Q.temp) > :none,
        SEGMENT F AS {call} > :bound, SEGMENT WIN AS window(1, :total)""",
        {},
    )
    return prepare(template, data, {"step": step, "none": 1e9, "bound": 0.9, "total": total})


class _Bench:
    """A query over made-up rows, with what the formulas count in it."""

    def __init__(self, data: SegmentData, total: int, step: float = 1.1, call: str = _CALLS["sum"]) -> None:
        self.prepared = _query(call, total, step, data)
        self.rows = data.rows
        self.total = total
        self.words = max((min(total, int(np.diff(data.offsets).max())) + 63) >> 6, 1)
        self.title = f"{self.rows:,} rows, to {total}, step {step}"

    @property
    def band(self) -> float:
        """The words of a band: one pass."""
        return float(self.rows * self.words)

    def executor(self) -> Executor:
        rows = self.prepared.rows()
        return Executor(rows, self.prepared.conditions(rows), _BUDGET, self.prepared.plan.reach)

    def run(self, node: PhysicalNode, space: Space | None = None) -> Segments:
        return self.executor().run(node, space)

    def cells(self, window: Window) -> int:
        lengths = np.diff(self.prepared.offsets)
        most = self.total if window.most is None else min(window.most, self.total)
        sizes = np.arange(window.least, most + 1)
        return int(np.maximum(lengths[:, None] - sizes[None, :] + 1, 0).sum())

    def ready(self, node: PhysicalNode, given: Given, space: Space | None = None) -> Any:
        """A job over rows of which nothing is known yet; the inputs that are given cost nothing."""

        def make() -> Callable[[], object]:
            executor = self.executor()
            for below, found in given.items():
                executor.found[below, _EVERYONE] = _fresh(found)
            return lambda: executor.run(node, space)

        return make

    def experiment(self, title: str, node: PhysicalNode, counts: Counts, **more: Any) -> Experiment:
        given, space, function = more.get("given", {}), more.get("space"), more.get("function", "")
        fit = more.get("fit", True)
        return Experiment(f"{title}, {self.title}", self.ready(node, given, space), counts, function, fit)


def _fresh(found: Segments) -> Segments:
    """The set in the form that it was made in: conversions are remembered."""
    if found.is_band:
        return Segments(band=found.band(0, 0).copy())
    return Segments(found.pairs())


def _add(*parts: Counts) -> Counts:
    sums: Counts = {}
    for part in parts:
        for name, count in part.items():
            sums[name] = sums.get(name, 0.0) + count
    return sums


def experiments() -> Iterator[Experiment]:
    """All experiments."""
    if is_quick():
        small = _Bench(_series(2, 60), 20, 1.0)
        kinds = (_generators, _intersections, _concatenations, _others, _small_spaces)
        yield from (experiment for kind in kinds for experiment in kind(small))
        yield from _function("sum", small)
        return
    large = _series(200, 250)
    benches = [
        *(_Bench(large, total, step) for total in (30, 60, 240) for step in (1.05, 1.3)),
        _Bench(_series(2, 30), 20, 1.0),  # hardly any rows: what a call costs
        _Bench(_series(1, 10_000), 100),
    ]
    for bench in benches:
        yield from _generators(bench)
        yield from _intersections(bench)
        yield from _concatenations(bench)
        yield from _others(bench)
    yield from _small_spaces(_Bench(large, 60))
    yield from _small_spaces(_Bench(_series(2000, 250), 60))
    for name, call in _CALLS.items():
        yield from _function(name, _Bench(large, 60, 1.0, call))


# Generators.


def _generators(bench: _Bench) -> Iterator[Experiment]:
    window = Window(1, bench.total)
    cells, rows = bench.cells(window), bench.rows
    entered = {"call": 1.0, "row": float(rows)}
    yield bench.experiment("all pairs", Generate((), window, False, False), _add(entered, {"pair": 2.0 * cells}))
    yield bench.experiment("all bits", Generate((), window, False, True), _add(entered, {"word": bench.band}))
    for dense in (False, True):
        node = Generate((_STEP,), window, False, dense)
        found = len(bench.run(node))
        kept = {"word": bench.band, "bit": float(found)} if dense else {"pair": float(found)}
        yield bench.experiment(
            f"first and last, {'bits' if dense else 'pairs'}", node, _add(entered, {"step": float(cells)}, kept)
        )
    node = Generate((_STEP,), window, False, False)
    found = len(bench.run(node))
    yield bench.experiment(
        "first and last, by end",
        node,
        _add(entered, {"step": float(cells), "pair": float(found), "sort": float(found)}),
        space=_ends(bench),
    )
    for number, reads in ((_TWO, 2), (_FOUR, 4)):
        node = Generate((number,), window, False, False)
        tested = {"test": float(cells), "pair": float(cells), "read": float(reads * cells)}
        yield bench.experiment(f"a condition of {reads} values", node, _add(entered, tested))


def _ends(bench: _Bench) -> Space:
    offsets = bench.prepared.offsets
    every = np.arange(bench.rows, dtype=np.int64)
    return Space("end", every, np.repeat(offsets[:-1], np.diff(offsets)), every)


def _function(name: str, bench: _Bench) -> Iterator[Experiment]:
    """A function from rows in short and long segments, from its index alone, and after another condition."""
    rows = float(bench.rows)
    for least, most in ((2, 6), (14, 18), (50, 60)):
        window = Window(least, most)
        cells, length = float(bench.cells(window)), (least + most) / 2
        node = Generate((_FUNCTION,), window, False, False)
        found = float(len(bench.run(node)))
        entered = {"call": 1.0, "row": rows, "pair": found}
        tested = {"test": cells, "pair": cells, "read": cells}
        summed = {f"{name}.fixed": cells, f"{name}.row": cells * length, f"{name}.square": cells * length**2}
        yield bench.experiment(f"{name} of {least}–{most} rows", node, _add(entered, tested, summed), function=name)
    table = name == "mann_kendall_test"
    for least, most in ((2, 6), (2, 60)):
        window = Window(least, most)
        cells = float(bench.cells(window))
        tested = {"test": cells, "pair": cells, "read": cells}
        node = Generate((_FUNCTION,), window, True, False)
        found = float(len(bench.run(node)))
        entered = {"call": 1.0, "row": rows, "pair": found}
        built = {f"{name}.build": rows * (most if table else 1.0), f"{name}.lookup": cells}
        yield bench.experiment(
            f"{name} from its index, {least}–{most} rows",
            node,
            _add(entered, built, tested if table else {}),
            function=name,
        )
        second = Generate((_STEP, _FUNCTION), window, True, False)
        passed = float(len(bench.run(Generate((_STEP,), window, False, False))))
        found = float(len(bench.run(second)))
        tested = {"step": cells, "test": passed, "pair": passed + found, "read": passed}
        built = {f"{name}.build": rows * (most if table else 1.0), f"{name}.lookup": passed}
        yield bench.experiment(
            f"{name} from its index, second, {least}–{most} rows",
            second,
            _add({"call": 1.0, "row": rows}, tested, built),
            function=name,
        )


# Operators.


def _sides(bench: _Bench, most: int) -> tuple[Generate, Generate, dict[bool, Given]]:
    """Two generators, and what they find, as bits and as pairs."""
    one = Generate((_STEP,), Window(1, most), False, False)
    other = Generate((_STEP,), Window(2, most), False, False)
    pairs: Given = {node: bench.run(node) for node in (one, other)}
    bits = {node: Segments(band=found.band(bench.rows, bench.words)) for node, found in pairs.items()}
    pairs = {node: Segments(found.pairs()) for node, found in pairs.items()}
    return one, other, {False: pairs, True: bits}


def _intersections(bench: _Bench) -> Iterator[Experiment]:
    window = Window(1, bench.total)
    one, other, given = _sides(bench, bench.total)
    counts = [float(len(found)) for found in given[False].values()]
    both = sum(counts)
    dense: Counts = {"call": 1.0, "word": 2 * bench.band}
    converted: Counts = {"word": 2 * bench.band, "bit": both}
    lists: Counts = {"call": 1.0, "merge": both}
    yield bench.experiment("and, pairs", Meet(one, other, "merge", window, False), lists, given=given[False])
    yield bench.experiment("and, bits", Meet(one, other, "merge", window, True), dense, given=given[True])
    yield bench.experiment(
        "and, pairs made bits", Meet(one, other, "merge", window, True), _add(dense, converted), given=given[False]
    )
    yield bench.experiment(
        "and, bits made pairs", Meet(one, other, "merge", window, False), _add(lists, converted), given=given[True]
    )
    asked = Generate((_TWO,), window, False, False)
    looked = {"call": 1.0, "row": min(counts[0], float(bench.rows))}
    tested = {"probe": counts[0], "test": counts[0], "pair": counts[0], "read": 2 * counts[0]}
    probing = Meet(one, asked, "right", window, False)
    yield bench.experiment("and, probing", probing, _add(looked, tested), given={one: given[False][one]})
    bits = {"word": bench.band, "bit": counts[0]}
    yield bench.experiment("and, probing bits", probing, _add(looked, tested, bits), given={one: given[True][one]})


def _concatenations(bench: _Bench) -> Iterator[Experiment]:
    window = Window(1, bench.total)
    one, other, given = _sides(bench, bench.total // 2)
    rows = float(bench.rows)
    left, right = (float(len(found)) for found in given[False].values())
    entered = {"call": 1.0, "row": rows}
    for between in (0, 1):
        gap = " with a gap" if between else ""
        lists = Join(one, other, "merge", 0, between, False, False, window, False)
        bands = Join(one, other, "merge", 0, between, False, False, window, True)
        executor = bench.executor()
        executor.found.update({(node, _EVERYONE): _fresh(found) for node, found in given[False].items()})
        out = float(len(executor.run(lists)))
        joined = float(executor.spent)
        linked = {"link": left + right + joined, "pair": out}
        yield bench.experiment(f"then{gap}, pairs", lists, _add(entered, linked), given=given[False])
        shifted = {"shift": left * bench.words, "word": (6 if between else 4) * bench.band}
        yield bench.experiment(f"then{gap}, bits", bands, _add(entered, shifted), given=given[True])
    asked = Generate((_TWO,), Window(1, bench.total // 2), False, False)
    _, ends = given[False][one].pairs()
    anchors = np.unique(ends)
    stops = np.repeat(bench.prepared.offsets[1:], np.diff(bench.prepared.offsets))
    cells = float(np.minimum(stops[anchors] - anchors, bench.total // 2).sum())
    tested = {"test": cells, "pair": cells, "read": 2 * cells}
    probing = Join(one, asked, "right", 0, 0, False, False, window, False)
    counts = _add(entered, tested, {"call": 1.0, "row": float(len(anchors)), "probe": left, "link": left})
    yield bench.experiment("then, probing", probing, counts, given={one: given[False][one]})


def _others(bench: _Bench) -> Iterator[Experiment]:
    window = Window(1, bench.total)
    half = bench.total // 2
    one, other, given = _sides(bench, half)
    rows = float(bench.rows)
    left = float(len(given[False][one]))
    cells = float(bench.cells(window))
    inputs: dict[bool, Given] = {kind: {one: found[one]} for kind, found in given.items()}
    entered = {"call": 1.0, "row": rows}
    lists: PhysicalNode
    bands: PhysicalNode
    for before, after in ((1, 0), (0, 1)):
        side = "before" if before else "after"
        lists, bands = (Pad(one, before, after, window, dense) for dense in (False, True))
        out = left * half
        if out < _MANY:  # the formula takes all segments of the window instead
            out = float(_run_given(bench, lists, inputs[False])[1])
        padded = {"pair": out, "sort": out}
        if out < _MANY:
            yield bench.experiment(f"anything {side}, pairs", lists, _add(entered, padded), given=inputs[False])
        yield bench.experiment(
            f"anything {side}, bits", bands, _add(entered, {"word": 4 * bench.band}), given=inputs[True]
        )
    lists, bands = (Complement(one, False, window, dense) for dense in (False, True))
    merged = {"call": 1.0, "pair": cells, "merge": cells + left}
    yield bench.experiment("not, pairs", lists, merged, given=inputs[False])
    yield bench.experiment("not, bits", bands, {"call": 1.0, "word": 3 * bench.band}, given=inputs[True])
    lists, bands = (Union(one, other, window, dense) for dense in (False, True))
    count = float(len(_run_given(bench, lists, given[False])[0]))
    yield bench.experiment("or, pairs", lists, {"call": 1.0, "merge": count}, given=given[False], fit=False)
    yield bench.experiment("or, bits", bands, {"call": 1.0, "word": bench.band}, given=given[True], fit=False)
    lists, bands = (Repetition(one, 1, None, 0, window, dense) for dense in (False, True))
    out = float(len(_run_given(bench, lists, inputs[False])[0]))
    entered = {"call": 2.0, "row": rows}
    linked = {"link": (left + out) * (1 + left / rows), "row": rows}
    yield bench.experiment("again and again, pairs", lists, _add(entered, linked), given=inputs[False])
    shifted = {"shift": (left + out) * bench.words, "word": 19 * bench.band}
    yield bench.experiment("again and again, bits", bands, _add(entered, shifted), given=inputs[True])


def _run_given(bench: _Bench, node: PhysicalNode, given: Given) -> tuple[Segments, int]:
    """What a node finds, and how many segments it looked at."""
    executor = bench.executor()
    executor.found.update({(below, _EVERYONE): _fresh(found) for below, found in given.items()})
    return executor.run(node), executor.spent


def _small_spaces(bench: _Bench) -> Iterator[Experiment]:
    """Few starts among many rows: those that matter are taken out of the others."""
    window = Window(1, bench.total)
    half = Window(1, bench.total // 2)
    node = Join(
        Generate((_TWO,), half, False, False), Generate((_TWO,), half, False, False), "merge", 0, 0, False, False,
        window, False,
    )  # fmt: skip
    offsets = bench.prepared.offsets
    for every in (20, 5, 2):
        anchors = offsets[:-1:every].astype(np.int64)
        space = Space("start", anchors, anchors, np.minimum(anchors + bench.total - 1, offsets[1::every] - 1))
        covered = float((space.high - space.low + 1).sum())
        tested = float(len(anchors) * (bench.total // 2))
        # To find the rows, all rows are passed over; the formula leaves this out.
        passed = float(bench.rows + len(anchors))
        counts = {"copy": covered, "call": 2.0, "row": passed, "test": tested, "pair": tested, "read": 2 * tested}
        yield bench.experiment(f"few starts (1 in {every} series)", node, counts, space=space)
