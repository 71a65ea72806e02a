"""The numbers of segments, from rows and from indexes, against the oracle; also where digits are easily lost."""

from __future__ import annotations

import random
from typing import Any

import numba
import numpy as np
import pytest

import local_segments
import naive_segments as ns
from trellis.algebra.segments import Choices, Function
from trellis.execution.segments.functions import evaluate_function, extreme_rows
from trellis.execution.segments.rows import Rows
from trellis.execution.warmup import warmup
from trellis.kernels import bands, moments, pairs, scans, trends
from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Slots

FUNCTIONS: dict[str, Any] = {
    "linear_regression_r2": ns.linear_regression_r2,
    "linear_regression_r2_signed": ns.linear_regression_r2_signed,
    "linear_regression_slope": ns.linear_regression_slope,
    "corr": ns.corr,
    "mann_kendall_test": lambda xs, ys: ns.mann_kendall_test(ys),
    "equal_up_down_ticks": lambda xs, ys: ns.equal_up_down_ticks(ys),
    "count": lambda xs, ys: ns.count_of(ys),
    "sum": lambda xs, ys: ns.sum_of(ys),
    "avg": lambda xs, ys: ns.avg_of(ys),
    "stddev_samp": lambda xs, ys: ns.stddev_of(ys),
    "min": lambda xs, ys: ns.min_of(ys),
    "max": lambda xs, ys: ns.max_of(ys),
}
TWO = ("linear_regression_r2", "linear_regression_r2_signed", "linear_regression_slope", "corr")


def rows_of(series: list[list[tuple[Any, Any]]]) -> Rows:
    """Rows of two slots of floats; None is NULL."""
    flat = [row for rows in series for row in rows]
    ints = np.empty((2, len(flat)), np.int64)
    floats = ints.view(np.float64)
    known = np.empty((2, len(flat)), np.bool_)
    for slot in range(2):
        known[slot] = [row[slot] is not None for row in flat]
        floats[slot] = [0.0 if row[slot] is None else row[slot] for row in flat]
    offsets = np.append(0, np.cumsum([len(rows) for rows in series])).astype(np.int64)
    none = np.zeros(1, np.int64)
    slots = Slots(ints, floats, known, none, none.view(np.float64), np.zeros(1, np.bool_))
    return Rows(offsets, slots, (False, False), (1.0, 1.0), max(map(len, series)))


def segments_of(rows: Rows) -> tuple[Any, Any]:
    listed = [
        (start, end)
        for low, high in zip(rows.offsets, rows.offsets[1:], strict=False)
        for start in range(low, high)
        for end in range(start, high)
    ]
    array = np.array(listed, np.int64)
    return np.ascontiguousarray(array[:, 0]), np.ascontiguousarray(array[:, 1])


def close(mine: float, known: bool, expected: Any) -> bool:
    if expected is None:
        return not known
    if isinstance(expected, bool):
        return known and bool(mine) == expected
    return known and mine == pytest.approx(expected, rel=1e-7, abs=1e-9)


def series_of(kind: str) -> list[list[tuple[Any, Any]]]:
    source = random.Random(3)
    lengths = (1, 2, 9, 14)
    match kind:
        case "small":
            values = [[source.choice([0.0, 1.0, 2.0, 3.0, None]) for _ in range(n)] for n in lengths]
        case "constant":
            values = [[5.25] * n for n in lengths]
        case "far":  # a level that eats the digits of squares
            values = [[1e9 + source.random() for _ in range(n)] for n in lengths]
        case _:
            values = [[source.gauss(0, 1) * 10 ** source.randint(-3, 3) for _ in range(n)] for n in lengths]
    return [[(1.7e9 + 60.0 * i, value) for i, value in enumerate(one)] for one in values]


@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("kind", ["small", "constant", "far", "wild"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, kind: str, index: bool) -> None:
    series = series_of(kind)
    rows = rows_of(series)
    starts, ends = segments_of(rows)
    function = Function(name, (0, 1) if name in TWO else (1,), ("", "") if name in TWO else ("",))
    values, known = evaluate_function(rows, function, {"": (starts, ends)}, index, (1, rows.longest), {})
    flat = [row for one in series for row in one]
    for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
        xs, ys = zip(*flat[start : end + 1], strict=True)
        expected = FUNCTIONS[name](list(xs), list(ys))
        assert close(values[i], known[i], expected), (start, end, values[i], known[i], expected)


def test_long_blocks() -> None:
    """Segments that are longer than the shortest blocks of prefix sums use the next ones."""
    source = random.Random(5)
    rows = rows_of([[(float(i), 1e6 + i + source.random()) for i in range(700)]])
    starts = np.array([0, 3, 600, 10, 640], np.int64)
    ends = np.array([699, 90, 640, 11, 699], np.int64)
    function = Function("linear_regression_r2", (0, 1), ("", ""))
    looked, _ = evaluate_function(rows, function, {"": (starts, ends)}, True, (1, 700), {})
    summed, _ = evaluate_function(rows, function, {"": (starts, ends)}, False, (1, 700), {})
    assert looked == pytest.approx(summed, rel=1e-9)


def test_points_on_a_line_and_exact_thresholds() -> None:
    rows = rows_of([[(float(i), 0.1 * i) for i in range(12)], [(1.0, 2.0), (2.0, 2.0), (3.0, 5.0), (4.0, 3.0)]])
    function = Function("linear_regression_r2_signed", (0, 1), ("", ""))
    for index in (False, True):
        line = np.array([0], np.int64), np.array([11], np.int64)
        values, _ = evaluate_function(rows, function, {"": line}, index, (1, 12), {})
        assert values[0] == 1.0
        whole = np.array([12], np.int64), np.array([15], np.int64)
        values, _ = evaluate_function(rows, function, {"": whole}, index, (1, 12), {})
        assert values[0] == ns.linear_regression_r2([1, 2, 3, 4], [2, 2, 5, 3])


def test_two_segments() -> None:
    source = random.Random(9)
    values = [source.choice([0.0, 1.0, 4.0, None]) for _ in range(10)]
    rows = rows_of([[(float(i), value) for i, value in enumerate(values)]])
    one = np.array([0, 2, 5, 1], np.int64), np.array([4, 6, 9, 1], np.int64)
    other = np.array([4, 0, 1, -1], np.int64), np.array([9, 3, 3, -1], np.int64)
    found, known = evaluate_function(
        rows, Function("corr", (1, 1), ("A", "B")), {"A": one, "B": other}, False, (1, 10), {}
    )
    for i in range(4):
        expected = None
        if other[0][i] >= 0:
            expected = ns.corr2(values[one[0][i] : one[1][i] + 1], values[other[0][i] : other[1][i] + 1])
        assert close(found[i], known[i], expected)


@pytest.mark.parametrize("length", [2, 3, 5])
def test_outliers(length: int) -> None:
    for kind in ("small", "far", "constant", "wild"):
        series = series_of(kind)
        rows = rows_of(series)
        every = np.arange(rows.count, dtype=np.int64)
        function = Function("zscore", (1,), ("",), (float(length),))
        values, known = evaluate_function(rows, function, {"": (every, every)}, False, (1, 1), {})
        row = 0
        for one in series:
            for place in range(len(one)):
                assert close(values[row], known[row], ns.zscore([y for _, y in one], place, length)), (kind, row)
                row += 1


def test_rows_of_extremes() -> None:
    rows = rows_of([[(0.0, None), (0.0, 3.0), (0.0, 1.0)]])
    environment = {"X": (np.array([0, 0, 0, -1], np.int64), np.array([0, 1, 2, -1], np.int64))}
    assert extreme_rows(rows, Function("min", (1,), ("X",)), environment).tolist() == [-1, 1, 2, -1]
    assert extreme_rows(rows, Function("max", (1,), ("X",)), environment).tolist() == [-1, 1, 1, -1]


@pytest.mark.parametrize("by_end", [False, True])
@pytest.mark.parametrize("comparison", [o.LESS, o.LESS_EQUAL, o.GREATER, o.GREATER_EQUAL, o.EQUAL, o.UNEQUAL])
@pytest.mark.parametrize(
    "kind", [scans.LAST_LESS_FIRST, scans.FIRST_LESS_LAST, scans.LAST_BY_FIRST, scans.FIRST_BY_LAST]
)
def test_scans(kind: int, comparison: int, by_end: bool) -> None:
    x = np.array([1.0, 0.0, 2.0, -1.0, 2.0, 4.0, 0.0])
    known = np.array([True, True, True, True, False, True, True])
    anchors = np.arange(7, dtype=np.int64)
    low, high = (np.zeros(7, np.int64), anchors) if by_end else (anchors, np.full(7, 6, np.int64))
    starts, ends = np.empty(64, np.int64), np.empty(64, np.int64)
    bound = 1.0
    count = scans.scan_steps(kind, comparison, bound, x, known, by_end, anchors, low, high, starts, ends)
    tests = {
        o.LESS: lambda v: v < bound,
        o.LESS_EQUAL: lambda v: v <= bound,
        o.GREATER: lambda v: v > bound,
        o.GREATER_EQUAL: lambda v: v >= bound,
        o.EQUAL: lambda v: v == bound,
        o.UNEQUAL: lambda v: v != bound,
    }
    expected = set()
    for start in range(7):
        for end in range(start, 7):
            first, last = x[start], x[end]
            if kind in (scans.FIRST_LESS_LAST, scans.FIRST_BY_LAST):
                first, last = last, first
            divided = kind in (scans.LAST_BY_FIRST, scans.FIRST_BY_LAST)
            if not (known[start] and known[end]) or (divided and first == 0):
                continue
            if tests[comparison](last / first if divided else last - first):
                expected.add((start, end))
    assert set(zip(starts[:count].tolist(), ends[:count].tolist(), strict=True)) == expected


KERNELS = [
    function
    for module in (bands, pairs, moments, trends, scans)
    for name in module.__all__
    if hasattr(function := getattr(module, name), "signatures") and name != "coefficient"  # which others inline
]
SCHEMA = [("k", "int"), ("t", "int"), ("v", "double"), ("u", "int")]
CLAUSES = [
    "PATTERN ((X Y)+ & ~Z) DEFINE SEGMENT X AS last(X.v) < first(X.v), "
    "SEGMENT Y AS linear_regression_r2(Y.t, Y.v) > 0.5, SEGMENT Z AS min(Z.u) > 3",
    "MEASURES first(A.t) AS a AFTER MATCH SKIP PAST LAST ROW PATTERN (A W (B & C)) DEFINE A AS v > 1, "
    "SEGMENT W AS true, B AS zscore(v, 3) > 0, SEGMENT C AS C.v > first(A.v)",
    "PATTERN ((X & W){2,3} | Z) DEFINE SEGMENT X AS mann_kendall_test(X.v) > 0.5, SEGMENT W AS window(2, 5), "
    "SEGMENT Z AS equal_up_down_ticks(Z.v) AND corr(Z.v, Z.u) > 0.2 AND stddev(Z.v) > 1",
]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_one_signature_each() -> None:
    warmup()
    rows = [{"k": i // 60, "t": i, "v": float(i * 7 % 11), "u": i % 5} for i in range(150)]
    for clause in CLAUSES:
        for sets in ("bands", "pairs"):
            for join in ("merge", "probe"):
                plan = Choices(join=join, sets=sets)
                local_segments.run(f"PARTITION BY k ORDER BY t {clause}", rows, SCHEMA, {}, plan)
    for kernel in KERNELS:
        assert len(kernel.signatures) == 1, kernel.__name__
