"""A baseline of the segment templates: one automaton executor, compiled once, that takes every query as data.

`hand` is code written for each query. Here a query is a program of states, arcs and conditions (see `programs`),
ordered by hand as the T-ReX paper did for AFA (section 6.3.1): an NFA with registers. The executor walks from every
start to the right, depth first, with a stack of partial matches (state, row, registers); where nothing that follows
depends on a register, a state and a row are visited once for each start. Regressions share prefix sums, Mann-Kendall
tests of a start go on from row to row, and a condition of a single row is evaluated once for every row; an arc whose
first condition is such a one jumps from row to row that holds, and so do the starts. It never looks at a later part of
the pattern before an earlier one.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from benchmarks.baselines.hand import Executor
from benchmarks.baselines.parts import append, compiled, excess, index, inlined, longest, scores, sweep, ticks_of, tied
from benchmarks.baselines.programs import (
    ACCEPT,
    COLUMNS,
    DIFFERENCE,
    FLAG,
    KENDALL,
    NOT_PREFIX,
    PROGRAMS,
    QUOTIENT,
    R2,
    SCORES,
    TICKS,
)
from benchmarks.segments.data import SegmentData
from benchmarks.segments.templates import Parameters

__all__ = ["AUTOMATON", "run_program"]

Array = np.ndarray[Any, Any]

_SIZE = 1024  # the first size of the output and of the stack
_SPARSE = 3  # a regression of fewer than one row in so many is looked up by row, else swept


@compiled
def _passes(value: float, side: float, bound: float, inclusive: bool) -> bool:
    return bool((side * value > side * bound) | (inclusive & (value == bound)))


@compiled
def _measure(kind: int, first: float, last: float) -> float:
    """The number of a cheap kind of condition."""
    if kind == DIFFERENCE:
        return last - first
    if kind == QUOTIENT:
        return last / first if first != 0.0 else math.nan
    return first / last if last != 0.0 else math.nan


@inlined
def _scan(
    kind: int,
    cells: Array,
    c: int,
    origin: int,
    low: int,
    high: int,
    side: float,
    bound: float,
    inclusive: bool,
    seen: Array,
    slot: int,
    stamp: int,
    out: Array,
) -> int:
    """The rows of low..high, not seen yet, for which a cheap condition holds."""
    count = 0
    first = cells[c, origin]
    if kind == DIFFERENCE:
        for j in range(low, high + 1):
            if _passes(cells[c, j] - first, side, bound, inclusive) and seen[slot, j] != stamp:
                out[count] = j
                count += 1
    elif kind == QUOTIENT:
        if first != 0.0:
            for j in range(low, high + 1):
                if seen[slot, j] != stamp and _passes(cells[c, j] / first, side, bound, inclusive):
                    out[count] = j
                    count += 1
    else:
        for j in range(low, high + 1):
            if seen[slot, j] != stamp and _passes(_measure(kind, first, cells[c, j]), side, bound, inclusive):
                out[count] = j
                count += 1
    return count


@compiled
def _kendall(cells: Array, c: int, i: int, j: int, state: Array, trend: Array) -> float:
    """The Mann-Kendall test of [i, j], carried on from that of an earlier row.

    `state` has the first and the last row that `trend` knows: S, the ties' term and the number of values for each row.
    """
    if state[0] != i:
        state[0] = i
        state[1] = i - 1
    if state[1] < j:
        column = cells[c]
        for r in range(state[1] + 1, j + 1):
            for k in range(3):
                trend[r, k] = trend[r - 1, k] if r > i else 0
            if not math.isnan(column[r]):
                more, ties = ticks_of(column, i, r)
                trend[r, 0] += more
                trend[r, 1] += ties
                trend[r, 2] += 1
        state[1] = j
    s = trend[j, 0]
    if s == 0:
        return 0.0
    return float((s - (1 if s > 0 else -1)) / math.sqrt((tied(trend[j, 2]) - trend[j, 1]) / 18.0))


@compiled
def _same_ticks(cells: Array, c: int, sums: int, i: int, j: int) -> bool:
    while i <= j and math.isnan(cells[c, i]):
        i += 1
    return i > j or cells[sums, i] == cells[sums, j]


@compiled
def _without(cells: Array, conditions: Array, bounds: Array, q: int, origin: int, low: int, high: int) -> bool:
    """Whether a cheap condition holds for no segment from the origin to a row of low..high."""
    kind, c, side, inclusive = conditions[q, 0], conditions[q, 1], float(conditions[q, 3]), conditions[q, 4] == 1
    first = cells[c, origin]
    for j in range(low, high + 1):
        if _passes(_measure(kind, first, cells[c, j]), side, bounds[q], inclusive):
            return False
    return True


@compiled
def _next_start(cells: Array, conditions: Array, bounds: Array, q: int, i: int, stop: int, ahead: int) -> int:
    """The first row from i on (before `stop`, or that) where a cheap condition holds of it and the row so far ahead."""
    kind, c, side, inclusive = conditions[q, 0], conditions[q, 1], float(conditions[q, 3]), conditions[q, 4] == 1
    while i < stop and not _passes(_measure(kind, cells[c, i], cells[c, i + ahead]), side, bounds[q], inclusive):
        i += 1
    return i


@compiled
def _tick_sums(values: Array, n: int, out: Array) -> None:
    """Rises less falls from one known value to the next, up to each row."""
    total = 0.0
    before = math.nan
    for r in range(n):
        if not math.isnan(values[r]):
            total += int(values[r] > before) - int(values[r] < before)
            before = values[r]
        out[r] = total


@compiled
def _prepare(
    n: int, columns: int, derived: Array, flags: Array, conditions: Array, bounds: Array, cells: Array, follow: Array
) -> None:
    """Compute the derived columns, and for each condition of a row the next row that holds, or n."""
    for d in range(len(derived)):
        source, out = cells[derived[d, 1]], cells[columns + d]
        if derived[d, 0] == SCORES:
            scores(source, n, derived[d, 2], out)
        else:
            _tick_sums(source, n, out)
    for f in range(len(flags)):
        q = flags[f]
        column, side, inclusive = cells[conditions[q, 1]], float(conditions[q, 3]), conditions[q, 4] == 1
        following = n
        follow[f, n] = n
        for r in range(n - 1, -1, -1):
            if _passes(column[r], side, bounds[q], inclusive):
                following = r
            follow[f, r] = following


@compiled
def _sort(found: Array, count: int, seen: Array, stamp: int, i: int, top: int) -> None:
    """Put the ends found for the start i in order."""
    if top - i > 16 * count:
        found[:count].sort()
        return
    k = 0
    for j in range(i, top + 1):
        if seen[j] == stamp:
            found[k] = j
            k += 1


@compiled
def _execute(
    offsets: Array,
    tstamp: Array,
    columns: Any,
    header: Array,
    states: Array,
    arcs: Array,
    conditions: Array,
    bounds: Array,
    derived: Array,
    flags: Array,
    jumps: bool,
) -> Any:
    starts, ends, used = np.empty(_SIZE, np.int64), np.empty(_SIZE, np.int64), 0
    width, slots, regression, given = header[0], header[1], header[2], header[3]
    start_flag, whole_least, whole_most, span = header[4], header[5], header[6], header[7]
    most = longest(offsets)
    cells, follow = np.empty((given + len(derived), most)), np.empty((len(flags), most + 1), np.int64)
    indexed = most if regression >= 0 else 0
    sums, x, y, run = np.empty((6, indexed + 1)), np.empty(indexed), np.empty(indexed), np.empty(indexed, np.int64)
    hits, out, found = np.empty(most), np.empty(most + 1, np.int64), np.empty(most, np.int64)
    seen = np.full((slots, most), -1, np.int64)  # by slot and row, the last start that came there; never in slot 0
    trend, trend_state = np.empty((most, 3), np.int64), np.empty(2, np.int64)
    stack, registers = np.empty((_SIZE, width + 1), np.int64), np.empty(width, np.int64)
    # If the first arc has one length and begins with a cheap condition, starts that fail there are not even begun.
    ahead, q = 0, arcs[0, 9]
    fixed = states[1] == 1 and arcs[0, 1] == arcs[0, 2] and arcs[0, 1] <= whole_least
    if fixed and q < arcs[0, 10] and FLAG < conditions[q, 0] < R2 and conditions[q, 2] <= 0:
        ahead = arcs[0, 1]
    for s in range(len(offsets) - 1):
        base = offsets[s]
        n = offsets[s + 1] - base
        for c in range(given):
            cells[c, :n] = columns[c][base : base + n]
        _prepare(n, given, derived, flags, conditions, bounds, cells, follow)
        if regression >= 0:
            index(tstamp, columns[regression], base, n, sums, x, y, run)
        trend_state[0] = -1
        limit = accepted = 0
        i = -1
        while True:
            i += 1
            if start_flag >= 0 and i < n:
                i = follow[start_flag, i]
            elif ahead > 0:
                i = _next_start(cells, conditions, bounds, arcs[0, 9], i, n - whole_least, ahead)
            if i >= n - whole_least:
                break
            if span < 0:
                limit = min(n - 1, i + whole_most)
            else:
                while limit < n - 1 and tstamp[base + limit + 1] - tstamp[base + i] <= span:
                    limit += 1
            stamp = base + i
            count_found, ascending, top = 0, True, -1
            stack[0, 0] = 0
            for g in range(1, width + 1):
                stack[0, g] = i
            registers[0] = i
            depth = 1
            while depth > 0:
                depth -= 1
                state, row = stack[depth, 0], stack[depth, 1]
                for g in range(1, width):
                    registers[g] = stack[depth, g + 1]
                for e in range(states[state + 1] - 1, states[state] - 1, -1):
                    target, mark, slot, begin, end = arcs[e, 0], arcs[e, 7], arcs[e, 8], arcs[e, 9], arcs[e, 10]
                    origin = registers[arcs[e, 4]]
                    low = max(row + arcs[e, 1], origin + arcs[e, 5])
                    high = min(min(row + arcs[e, 2], origin + arcs[e, 6]), limit - arcs[e, 3])
                    if low > high:
                        continue
                    # The ends that the first condition leaves, of those not seen yet.
                    q = begin
                    count = 0
                    kind = conditions[q, 0] if q < end else -1
                    if low == high or kind == -1 or kind > R2:
                        for j in range(low, high + 1):
                            out[count] = j
                            count += seen[slot, j] != stamp
                    elif kind == FLAG:
                        flag = conditions[q, 5]
                        if jumps:
                            j = follow[flag, low]
                            while j <= high:
                                out[count] = j
                                count += seen[slot, j] != stamp
                                j = follow[flag, j + 1]
                        else:
                            for j in range(low, high + 1):
                                out[count] = j
                                count += (follow[flag, j] == j) & (seen[slot, j] != stamp)
                        q += 1
                    elif kind == R2:
                        sweep(sums, x, y, run, row, low, high, bounds[q], float(conditions[q, 3]), hits)
                        for j in range(low, high + 1):
                            out[count] = j
                            count += (hits[j] >= 0.0) & (seen[slot, j] != stamp)
                        q += 1
                    else:
                        c, side, inclusive = conditions[q, 1], float(conditions[q, 3]), conditions[q, 4] == 1
                        origin = row if conditions[q, 2] < 0 else registers[conditions[q, 2]]
                        count = _scan(
                            kind, cells, c, origin, low, high, side, bounds[q], inclusive, seen, slot, stamp, out
                        )
                        q += 1
                    # The ends that the other conditions leave.
                    while q < end and count > 0:
                        kind, c, extra = conditions[q, 0], conditions[q, 1], conditions[q, 5]
                        side, inclusive, bound = float(conditions[q, 3]), conditions[q, 4] == 1, bounds[q]
                        origin = row if conditions[q, 2] < 0 else registers[conditions[q, 2]]
                        kept = 0
                        if kind == FLAG:
                            for k in range(count):
                                j = out[k]
                                out[kept] = j
                                kept += follow[extra, j] == j
                        elif kind < R2:
                            first = cells[c, origin]
                            for k in range(count):
                                j = out[k]
                                out[kept] = j
                                kept += _passes(_measure(kind, first, cells[c, j]), side, bound, inclusive)
                        elif kind == R2 and (count == 1 or count * _SPARSE <= out[count - 1] - out[0]):
                            for k in range(count):
                                j = out[k]
                                out[kept] = j
                                kept += side * excess(sums, x, y, run, origin, j, bound) >= 0.0
                        elif kind == R2:
                            sweep(sums, x, y, run, origin, out[0], out[count - 1], bound, side, hits)
                            for k in range(count):
                                j = out[k]
                                out[kept] = j
                                kept += hits[j] >= 0.0
                        elif kind == KENDALL:
                            for k in range(count):
                                j = out[k]
                                out[kept] = j
                                value = _kendall(cells, c, origin, j, trend_state, trend)
                                kept += _passes(value, side, bound, inclusive)
                        elif kind == TICKS:
                            for k in range(count):
                                j = out[k]
                                out[kept] = j
                                kept += _same_ticks(cells, c, extra, origin, j)
                        elif kind == NOT_PREFIX:
                            r = origin
                            while kept < count and _without(cells, conditions, bounds, extra, origin, r, out[kept]):
                                r = out[kept] + 1
                                kept += 1
                        count = kept
                        q += 1
                    if target == ACCEPT:
                        for k in range(count):
                            j = out[k]
                            seen[slot, j] = stamp
                            accepted = slot
                            ascending = ascending and j > top
                            top = max(top, j)
                            found[count_found] = j
                            count_found += 1
                        continue
                    if depth + count > len(stack):
                        larger = np.empty((2 * (depth + count), width + 1), np.int64)
                        larger[:depth] = stack[:depth]
                        stack = larger
                    for k in range(count - 1, -1, -1):
                        stack[depth, 0] = target
                        stack[depth, 1] = out[k]
                        for g in range(1, width):
                            stack[depth, g + 1] = registers[g]
                        if mark > 0:
                            stack[depth, mark + 1] = out[k]
                        if slot > 0:
                            seen[slot, out[k]] = stamp
                        depth += 1
            if count_found > 0:
                if not ascending:
                    _sort(found, count_found, seen[accepted], stamp, i, top)
                starts, ends, used = append(starts, ends, used, found, count_found, i, base)
    return starts[:used], ends[:used]


def run_program(name: str, data: SegmentData, parameters: Parameters, jumps: bool = True) -> tuple[Array, Array]:
    """All distinct matches as (starts, ends) in their order; without `jumps`, rows are tested one after another."""
    program = PROGRAMS[name](data, parameters)
    columns = tuple(program.columns + program.columns[-1:] * (COLUMNS - len(program.columns)))
    starts, ends = _execute(data.offsets, data.columns["tstamp"], columns, *program.tables(), jumps)
    return starts, ends


AUTOMATON: dict[str, Executor] = {name: partial(run_program, name) for name in PROGRAMS}
