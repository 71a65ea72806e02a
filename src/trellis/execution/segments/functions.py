"""The segment functions: for arrays of segments, from an index or from the rows.

Every function answers for arrays of (start, end) at once: values, and where there is one (no value is NULL). All pass
over NULL; regressions and trends also over NaN and infinities, SQL's aggregates not. Too few values give none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.algebra.segments import Function, Price
from trellis.errors import DataError
from trellis.execution.segments.rows import Rows
from trellis.kernels import moments as m
from trellis.kernels import trends
from trellis.kernels.arrays import Array, Bools, Floats, Ints

__all__ = [
    "MOMENTS",
    "Environment",
    "Extent",
    "Moments",
    "UserFunction",
    "column_pair",
    "evaluate_function",
    "extreme_rows",
    "is_built",
    "moment_index",
]

Extent = tuple[Ints, Ints]
Environment = Mapping[str, Extent]
"""The segments of each variable, as arrays of starts and ends of one length; a start of -1 is no segment."""

MOMENTS = {
    "linear_regression_r2": m.R2,
    "linear_regression_r2_signed": m.R2_SIGNED,
    "linear_regression_slope": m.SLOPE,
    "corr": m.CORRELATION,
    "sum": m.SUM,
    "avg": m.MEAN,
    "var_samp": m.VAR_SAMP,
    "var_pop": m.VAR_POP,
    "stddev_samp": m.STDDEV_SAMP,
    "stddev_pop": m.STDDEV_POP,
}
_MOVABLE = frozenset({"linear_regression_r2", "linear_regression_r2_signed", "linear_regression_slope", "corr"})
_BLOCK = 64
_TABLE_BYTES = 1 << 28


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A segment function that a user registered.

    `evaluate(columns, starts, ends)` gives an array of floats, NaN where there is no value; `index(columns, offsets)`
    and `lookup(index, starts, ends)` are the same in two steps. Columns are floats with NaN for NULL.
    """

    name: str
    evaluate: Callable[..., Any] | None
    index: Callable[..., Any] | None
    lookup: Callable[..., Any] | None
    arguments: int
    price: Price


def is_built(rows: Rows, function: Function) -> bool:
    """Whether the prefix sums of a function are there already."""
    return function.name in MOMENTS and rows.has(_moment_key(function.name, function.slots))


def evaluate_function(
    rows: Rows,
    function: Function,
    environment: Environment,
    index: bool,
    lengths: tuple[int, int],
    users: Mapping[str, UserFunction],
) -> tuple[Array, Bools]:
    """The values of a function; `lengths` bounds the numbers of rows that the segments have."""
    segments = [environment[name] for name in function.variables]
    starts, _ = segments[0]
    here = starts >= 0
    if here.all():
        return _evaluate(rows, function, segments, index, lengths, users)
    # A variable without a segment: COUNT is 0, all others have no value.
    known = here.copy()
    values: Array = np.zeros(len(starts), np.float64)
    if function.name in ("rows", "count"):
        values, known = np.zeros(len(starts), np.int64), np.ones(len(starts), np.bool_)
    if here.any():
        some = [(s[here], e[here]) for s, e in segments]
        found, there = _evaluate(rows, function, some, index, lengths, users)
        values = values.astype(found.dtype)
        values[here] = found
        known[here] = there
    return values, known


def _evaluate(
    rows: Rows,
    function: Function,
    segments: list[Extent],
    index: bool,
    lengths: tuple[int, int],
    users: Mapping[str, UserFunction],
) -> tuple[Array, Bools]:
    starts, ends = segments[0]
    name, slots = function.name, function.slots
    if name == "rows":
        return ends - starts + 1, np.ones(len(starts), np.bool_)
    if name == "count":
        return _difference(_counts(rows, slots[0]), starts, ends), np.ones(len(starts), np.bool_)
    if name == "sum_int":
        counts = _difference(_counts(rows, slots[0]), starts, ends)
        _check_totals(rows, slots[0], starts, ends)
        return _difference(_totals(rows, slots[0]), starts, ends), counts > 0
    if name in ("min", "max"):
        return _extreme(rows, slots[0], name == "max", starts, ends, index)
    if name in users:
        return _user(rows, users[name], slots, starts, ends, index)
    if name == "corr" and segments[0] is not segments[1] and function.variables[0] != function.variables[1]:
        return _correlate(rows, slots, segments)
    if name in MOMENTS:
        return _moments(rows, name, slots, starts, ends, index)
    if name == "mann_kendall_test":
        return _trend(rows, slots[0], starts, ends, index, lengths)
    if name == "zscore":
        values, there = _scores(rows, slots[0], int(function.constants[0]))
        return values[ends], there[ends]
    assert name == "equal_up_down_ticks", name
    steps, following, preceding = _steps(rows, slots[0])
    a, b = following[starts], preceding[ends]
    some = a <= b
    return np.where(some, steps[np.minimum(a, len(steps) - 1)] == steps[b], True).astype(np.int64), np.ones_like(some)


# Sums of integers and counts: exact differences of running totals.


def _counts(rows: Rows, slot: int) -> Ints:
    return rows.once(("counts", slot), lambda: np.append(0, np.cumsum(rows.slots.known[slot])).astype(np.int64))


def _totals(rows: Rows, slot: int) -> Ints:
    values, known = rows.slots.ints[slot], rows.slots.known[slot]
    return rows.once(("totals", slot), lambda: np.append(np.int64(0), np.cumsum(np.where(known, values, 0))))


def _check_totals(rows: Rows, slot: int, starts: Ints, ends: Ints) -> None:
    """A sum that leaves 64 bits is an error. Where values are small, none can."""
    values, known = rows.slots.ints[slot], rows.slots.known[slot]
    largest = rows.once(
        ("largest", slot), lambda: float(np.abs(np.where(known, values, 0).astype(np.float64)).max(initial=0))
    )
    if largest * rows.longest < 2.0**62:
        return
    sums = rows.once(("about", slot), lambda: np.append(0.0, np.cumsum(np.where(known, values, 0).astype(np.float64))))
    # A sum that left 64 bits is off by 2 ** 64 or more; how far floats are off is nothing beside that.
    wrapped = _difference(_totals(rows, slot), starts, ends)
    wrong = np.flatnonzero(np.abs(sums[ends + 1] - sums[starts] - wrapped) >= 2.0**63)
    if len(wrong):
        where = rows.where(int(starts[wrong[0]]))
        raise DataError(
            f"A sum over the segment from {where} is too large for its type.",
            cure="Cast to a wider type, or to DOUBLE.",
        )


def _difference(totals: Ints, starts: Ints, ends: Ints) -> Ints:
    result: Ints = totals[ends + 1] - totals[starts]
    return result


# Regression and spread.


def column_pair(rows: Rows, name: str, slots: tuple[int, ...]) -> tuple[Floats, Floats, Bools]:
    """The two columns of a function, and where both have values."""
    read = rows.numbers if name in _MOVABLE else rows.plain
    (x, x_known), (y, y_known) = read(slots[0]), read(slots[-1])
    key = ("both", slots[0], slots[-1])
    return x, y, x_known if slots[0] == slots[-1] else rows.once(key, lambda: x_known & y_known)


@dataclass(frozen=True, slots=True)
class Moments:
    """Prefix sums in blocks, and how far values stay equal."""

    blocks: Ints
    base: Ints
    sums: Floats
    runs_x: Ints
    runs_y: Ints


def _moments(
    rows: Rows, name: str, slots: tuple[int, ...], starts: Ints, ends: Ints, index: bool
) -> tuple[Array, Bools]:
    x, y, known = column_pair(rows, name, slots)
    values, there = np.empty(len(starts), np.float64), np.empty(len(starts), np.bool_)
    what = MOMENTS[name]
    if index:
        _look_up(what, (x, y, known), moment_index(rows, name, slots), starts, ends, values, there)
    else:
        m.sum_moments(what, x, y, known, starts, ends, values, there)
    if name not in _MOVABLE:
        _with_infinities(rows, name, slots[0], starts, ends, values, there)
    return values, there


def _with_infinities(rows: Rows, name: str, slot: int, starts: Ints, ends: Ints, values: Floats, there: Bools) -> None:
    """SQL's aggregates do not pass over NaN and infinities: segments that hold some are computed as SQL does."""
    if rows.whole[slot]:
        return
    held, given = rows.slots.floats[slot], rows.slots.known[slot]
    odd = given & ~np.isfinite(held)
    if not odd.any():
        return
    totals = rows.once(("odd", slot), lambda: np.append(0, np.cumsum(odd)).astype(np.int64))
    for i in np.flatnonzero(totals[ends + 1] > totals[starts]):
        some = slice(starts[i], ends[i] + 1)
        kept = held[some][given[some]]
        with np.errstate(invalid="ignore"):
            total = kept.sum()
        there[i] = len(kept) > 1 or name in ("sum", "avg", "var_pop", "stddev_pop")
        values[i] = total if name == "sum" else total / len(kept) if name == "avg" else np.nan


def _look_up(
    what: int,
    columns: tuple[Floats, Floats, Bools],
    built: Moments,
    starts: Ints,
    ends: Ints,
    values: Floats,
    there: Bools,
) -> None:
    x, y, known = columns
    m.look_up_moments(
        what,
        x,
        y,
        known,
        built.blocks,
        built.base,
        built.sums,
        built.runs_x,
        built.runs_y,
        starts,
        ends,
        values,
        there,
    )


def moment_index(rows: Rows, name: str, slots: tuple[int, ...]) -> Moments:
    """Prefix sums for a pair of columns, in blocks of one length or several."""

    def make() -> Moments:
        x, y, known = column_pair(rows, name, slots)
        blocks = [_BLOCK]
        while blocks[-1] < rows.longest:
            # With a bound on segments, one length of blocks is enough; it is at most eight times too long.
            grown = blocks[-1] * 8
            blocks = [grown] if rows.longest <= 8 * _BLOCK else [*blocks, grown]
        lengths = np.diff(rows.offsets)
        # A block reaches over the next one, and has an entry before its first row.
        rooms = [int((2 * lengths - (-lengths // block)).sum()) for block in blocks]
        base = np.empty((len(blocks), rows.count), np.int64)
        sums = np.empty((sum(rooms) + len(blocks), 8), np.float64)
        entry = 0
        for level, block in enumerate(blocks):
            entry = m.fill_moments(x, y, known, rows.offsets, block, entry, base[level], sums)
        runs_x, runs_y = np.empty(rows.count, np.int64), np.empty(rows.count, np.int64)
        m.fill_runs(x, known, rows.offsets, runs_x)
        m.fill_runs(y, known, rows.offsets, runs_y)
        return Moments(np.array(blocks, np.int64), base, sums, runs_x, runs_y)

    return rows.once(_moment_key(name, slots), make)


def _moment_key(name: str, slots: tuple[int, ...]) -> tuple[object, ...]:
    return "moments", name in _MOVABLE, slots[0], slots[-1]


def _correlate(rows: Rows, slots: tuple[int, ...], segments: list[Extent]) -> tuple[Array, Bools]:
    (starts, ends), (other_starts, other_ends) = segments
    (x, x_known), (y, y_known) = rows.numbers(slots[0]), rows.numbers(slots[1])
    values, there = np.zeros(len(starts), np.float64), np.zeros(len(starts), np.bool_)
    here = other_starts >= 0
    arrays = (starts[here], ends[here], other_starts[here], other_ends[here])
    found, known = np.empty(len(arrays[0]), np.float64), np.empty(len(arrays[0]), np.bool_)
    m.correlate_segments(x, x_known, y, y_known, *arrays, found, known)
    values[here], there[here] = found, known
    return values, there


# Trends.


@dataclass(frozen=True, slots=True)
class _Squeezed:
    rows: Ints
    series: Ints
    following: Ints
    preceding: Ints


def _squeezed(rows: Rows, slot: int) -> _Squeezed:
    """The rows of a slot that have values, numbered."""

    def make() -> _Squeezed:
        _, known = rows.numbers(slot)
        listed, following, preceding = (np.empty(rows.count, np.int64) for _ in range(3))
        count = trends.squeeze_rows(known, rows.offsets, listed, following, preceding)
        listed = listed[:count]
        # The end of the series of each value, in numbers of values.
        series = preceding[rows.stop[listed] - 1] + 1
        return _Squeezed(listed, series, following, preceding)

    return rows.once(("squeezed", slot), make)


def _trend(
    rows: Rows, slot: int, starts: Ints, ends: Ints, index: bool, lengths: tuple[int, int]
) -> tuple[Array, Bools]:
    x, known = rows.numbers(slot)
    if index:
        squeezed = _squeezed(rows, slot)
        least = lengths[0] if len(squeezed.rows) == rows.count else 2
        least, most = max(least, 2), max(min(lengths[1], rows.longest), 2)
        if (most - least + 1) * len(squeezed.rows) * 9 <= _TABLE_BYTES:
            return _trend_table(rows, slot, starts, ends, least, most)
    values, there = np.empty(len(starts), np.float64), np.empty(len(starts), np.bool_)
    room = np.empty(int((ends - starts).max(initial=0)) + 1, np.float64)
    trends.compare_all(x, known, starts, ends, room, values, there)
    return values, there


def _trend_table(rows: Rows, slot: int, starts: Ints, ends: Ints, least: int, most: int) -> tuple[Array, Bools]:
    squeezed = _squeezed(rows, slot)

    def make() -> tuple[Floats, Bools]:
        count = len(squeezed.rows)
        scores = np.zeros((count, most - least + 1), np.float64)
        there = np.zeros((count, most - least + 1), np.bool_)
        sums, shorter, equal, ties = (np.zeros(count + 1, np.int64) for _ in range(4))
        x, _ = rows.numbers(slot)
        trends.fill_trends(x, squeezed.rows, squeezed.series, least, sums, shorter, equal, ties, scores, there)
        return scores, there

    scores, there = rows.once(("trends", slot, least, most), make)
    a = squeezed.following[starts]
    n = squeezed.preceding[ends] - a + 1
    some = (n >= least) & (n <= most)
    a, n = np.where(some, a, 0), np.where(some, n, least)
    if len(scores) == 0:
        return np.zeros(len(starts), np.float64), np.zeros(len(starts), np.bool_)
    return scores[a, n - least], there[a, n - least] & some


def _scores(rows: Rows, slot: int, length: int) -> tuple[Floats, Bools]:
    def make() -> tuple[Floats, Bools]:
        x, known = rows.numbers(slot)
        values, there = np.empty(rows.count, np.float64), np.empty(rows.count, np.bool_)
        trends.score_outliers(x, known, rows.offsets, length, values, there)
        return values, there

    return rows.once(("zscore", slot, length), make)


def _steps(rows: Rows, slot: int) -> tuple[Ints, Ints, Ints]:
    squeezed = _squeezed(rows, slot)

    def make() -> Ints:
        x, _ = rows.numbers(slot)
        steps = np.zeros(max(len(squeezed.rows), 1), np.int64)
        trends.count_steps(x, squeezed.rows, squeezed.series, steps)
        return steps

    return rows.once(("steps", slot), make), squeezed.following, squeezed.preceding


# Extremes.


def extreme_rows(rows: Rows, function: Function, environment: Environment) -> Ints:
    """The rows that hold the least or the greatest values; -1 where there is none."""
    starts, ends = environment[function.variables[0]]
    found = np.full(len(starts), -1, np.int64)
    here = starts >= 0
    found[here] = _extreme_rows(rows, function.slots[0], function.name == "max", starts[here], ends[here], False)
    return found


def _extreme(rows: Rows, slot: int, greatest: bool, starts: Ints, ends: Ints, index: bool) -> tuple[Array, Bools]:
    found = _extreme_rows(rows, slot, greatest, starts, ends, index)
    values: Array = (rows.slots.ints if rows.whole[slot] else rows.slots.floats)[slot]
    return values[found], found >= 0


def _extreme_rows(rows: Rows, slot: int, greatest: bool, starts: Ints, ends: Ints, index: bool) -> Ints:
    keys = rows.once(("sortable", slot), lambda: _sortable(rows, slot))
    known = rows.slots.known[slot]
    found = np.empty(len(starts), np.int64)
    if index:
        key = ("extremes", slot, greatest)
        table = rows.once(key, lambda: trends.extreme_table(keys, known, greatest, rows.longest))
        trends.find_extremes(keys, greatest, table, starts, ends, found)
    else:
        trends.search_extremes(keys, known, greatest, starts, ends, found)
    return found


def _sortable(rows: Rows, slot: int) -> Ints:
    """Integers in the order of the values; floats by the usual turn of their bits, NaN last."""
    if rows.whole[slot]:
        held: Ints = rows.slots.ints[slot]
        return held
    values = rows.slots.floats[slot]
    bits: Ints = np.where(np.isnan(values), np.nan, values + 0.0).view(np.int64)
    turned: Ints = bits ^ ((bits >> 63) & np.int64(2**63 - 1))
    return turned


# Registered functions.


def _user(
    rows: Rows, user: UserFunction, slots: tuple[int, ...], starts: Ints, ends: Ints, index: bool
) -> tuple[Array, Bools]:
    columns = [rows.once(("with NaN", slot), lambda slot=slot: _with_nan(rows, slot)) for slot in slots]  # type: ignore[misc]
    if user.index is not None and user.lookup is not None and (index or user.evaluate is None):
        make = user.index
        built = rows.once(("user", user.name, slots), lambda: make(columns, rows.offsets))
        found = user.lookup(built, starts, ends)
    else:
        assert user.evaluate is not None
        found = user.evaluate(columns, starts, ends)
    values = np.asarray(found, np.float64)
    if values.shape != starts.shape:
        raise DataError(
            f"The segment function {user.name} gave an array of shape {values.shape} for {len(starts)} segments.",
            cure="It must give one number for each segment.",
        )
    there = ~np.isnan(values)
    return np.where(there, values, 0.0), there


def _with_nan(rows: Rows, slot: int) -> NDArray[np.float64]:
    values, known = rows.plain(slot)
    return np.where(known, values, np.nan)
