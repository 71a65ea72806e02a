"""The interpreter of expression programs: a stack machine with three-valued logic.

A value is an integer (also booleans, dates, timestamps, codes of strings) or a float, and may be unknown (NULL).
Planning has checked all types, so an instruction knows which of the two stacks it works on.
"""

from __future__ import annotations

import math

import numpy as np

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Aggregates, Bools, Floats, Ints, Places, Program, Slots, Stack, Track, Work
from trellis.kernels.compile import inlined, inner, kernel
from trellis.kernels.decimals import SUM_OVERFLOWED
from trellis.kernels.wide import compared, run_wide

__all__ = ["compare_floats", "evaluate", "evaluate_rows", "finish_variance", "place_row", "sum_overflows"]

_MOST = np.int64(2**63 - 1)
_LEAST = np.int64(-(2**63))


@inlined
def place_row(
    place: int, places: Places, row: int, start: int, low: int, high: int, match_number: int | np.int64, track: Track
) -> int:
    """The row that a running place means while `row` is the last row of the match so far; -1 if there is none."""
    number = places.sets[place]
    offset = places.offset[place]
    found = row
    if number == o.ANY_ROW:
        found = start + offset if places.from_first[place] else row - offset
        if found < start or found > row:
            return -1
    elif number >= 0:
        count = track.counts[number]
        if offset >= count:
            return -1
        found = track.rows[number, offset if places.from_first[place] else count - 1 - offset]
    elif number == o.NUMBERED_ROW:
        # There are no more matches than rows.
        found = low + int(match_number) - 1
    found += places.shift[place]
    return found if low <= found < high else -1


@inlined
def compare_floats(left: float, right: float) -> int:
    """-1, 0 or 1. NaN equals NaN and is greater than every other value, as in Spark."""
    if left < right:
        return -1
    if left > right:
        return 1
    if left == right:
        return 0
    left_nan = left != left
    right_nan = right != right
    return int(left_nan) - int(right_nan)


@inlined
def _function(which: int, x: float) -> float:
    if which == o.SQRT:
        return math.sqrt(x) if x >= 0 else math.nan
    if which == o.EXP:
        return float(np.exp(x))
    if which == o.LN:
        return math.log(x) if x > 0 else math.nan
    if which == o.LOG10:
        return math.log10(x) if x > 0 else math.nan
    if which == o.LOG2:
        return math.log2(x) if x > 0 else math.nan
    if which == o.FLOOR:
        return float(np.floor(x))
    if which == o.CEIL:
        return float(np.ceil(x))
    if which == o.TO_SINGLE:
        return np.float64(np.float32(x))
    return 0.0 if x == 0 else math.copysign(1.0, x)


@inlined
def _aggregate(number: int, low: int, aggregates: Aggregates, slots: Slots, track: Track) -> tuple[int, float, bool]:
    """The running value of an aggregate: as an integer, as a float, and whether it is known."""
    depth = track.counts[aggregates.sets[number]]
    kind = aggregates.kind[number]
    if depth == 0:
        return 0, 0.0, kind == o.COUNT
    tally = track.tally[number, depth - 1]
    whole = track.whole[number, depth - 1]
    real = track.real[number, depth - 1]
    spread = track.spread[number, depth - 1]
    if kind == o.COUNT:
        return tally, 0.0, True
    if tally == 0:
        return 0, 0.0, False
    if kind == o.AVG:
        return 0, real / tally, True
    if kind >= o.VAR_SAMP and kind <= o.STDDEV_POP:
        return 0, finish_variance(kind, tally, spread), tally > 1 or kind == o.VAR_POP or kind == o.STDDEV_POP
    if aggregates.second[number, 0] >= 0:
        row = int(spread)
        second = aggregates.second[number, track.label[row - low]]
        return slots.ints[second, row], slots.floats[second, row], slots.known[second, row]
    return whole, real, True


@inlined
def _aggregate_high(number: int, low: int, aggregates: Aggregates, slots: Slots, track: Track) -> int:
    """The second word of the running value of an aggregate."""
    depth = track.counts[aggregates.sets[number]]
    if depth == 0:
        return 0
    if aggregates.second[number, 0] >= 0:
        row = int(track.spread[number, depth - 1])
        return int(slots.ints[aggregates.second[number, track.label[row - low]] + 1, row])
    return int(track.high[number, depth - 1])


@inlined
def finish_variance(kind: int, tally: int, spread: float) -> float:
    """Variance or standard deviation from the sum of squared differences; the sample forms need two values."""
    sample = kind == o.VAR_SAMP or kind == o.STDDEV_SAMP
    below = tally - 1 if sample else tally
    if below <= 0:
        return 0.0
    variance = spread / below
    return math.sqrt(variance) if kind == o.STDDEV_SAMP or kind == o.STDDEV_POP else variance


@inner
def evaluate(
    begin: int,
    end: int,
    program: Program,
    slots: Slots,
    places: Places,
    aggregates: Aggregates,
    row: int,
    start: int,
    low: int,
    high: int,
    match_number: int | np.int64,
    track: Track,
    stack: Stack,
    status: Ints,
) -> bool:
    """Run the instructions `begin` to `end` for `row`; True only if the result is known and true.

    The result is left at the bottom of the stack, an error of arithmetic in `status[0]`.
    """
    vi, vf, vk = stack.ints, stack.floats, stack.known
    code = program.code
    lenient = program.lenient
    top = -1
    pc = begin
    while pc < end:
        op = code[pc, 0]
        a = code[pc, 1]
        pc += 1
        if op == o.LOAD_INT or op == o.LOAD_FLOAT:
            top += 1
            at = place_row(code[pc - 1, 2], places, row, start, low, high, match_number, track)
            vk[top] = at >= 0 and slots.known[a, at]
            if vk[top]:
                if op == o.LOAD_INT:
                    vi[top] = slots.ints[a, at]
                else:
                    vf[top] = slots.floats[a, at]
        elif op == o.COMPARE_INT:
            top -= 1
            vk[top] = vk[top] and vk[top + 1]
            if vk[top]:
                left, right = vi[top], vi[top + 1]
                vi[top] = compared(a, int(left > right) - int(left < right))
        elif op == o.COMPARE_FLOAT:
            top -= 1
            vk[top] = vk[top] and vk[top + 1]
            if vk[top]:
                vi[top] = compared(a, compare_floats(vf[top], vf[top + 1]))
        elif op == o.CONST_INT:
            top += 1
            vk[top] = True
            vi[top] = program.ints[a]
        elif op == o.CONST_FLOAT:
            top += 1
            vk[top] = True
            vf[top] = program.floats[a]
        elif op == o.CONST_NULL:
            top += 1
            vk[top] = False
        elif op == o.GO:
            pc = a
        elif op == o.GO_IF_FALSE:
            if vk[top] and vi[top] == 0:
                pc = a
        elif op == o.GO_IF_TRUE:
            if vk[top] and vi[top] != 0:
                pc = a
        elif op == o.GO_UNLESS_TRUE:
            if not (vk[top] and vi[top] != 0):
                pc = a
            top -= 1
        elif op == o.GO_IF_KNOWN:
            if vk[top]:
                pc = a
            else:
                top -= 1
        elif op == o.AND:
            top -= 1
            false = (vk[top] and vi[top] == 0) or (vk[top + 1] and vi[top + 1] == 0)
            vk[top] = false or (vk[top] and vk[top + 1])
            vi[top] = 0 if false else 1
        elif op == o.OR:
            top -= 1
            true = (vk[top] and vi[top] != 0) or (vk[top + 1] and vi[top + 1] != 0)
            vk[top] = true or (vk[top] and vk[top + 1])
            vi[top] = 1 if true else 0
        elif op == o.NOT:
            vi[top] = 1 if vi[top] == 0 else 0
        elif op == o.IS_NULL:
            vi[top] = 0 if vk[top] else 1
            vk[top] = True
        elif op == o.IS_TRUE:
            vi[top] = 1 if vk[top] and vi[top] != 0 else 0
            vk[top] = True
        elif op == o.IS_FALSE:
            vi[top] = 1 if vk[top] and vi[top] == 0 else 0
            vk[top] = True
        elif op == o.LABEL:
            top += 1
            at = place_row(code[pc - 1, 2], places, row, start, low, high, match_number, track)
            vk[top] = start <= at <= row
            if vk[top]:
                vi[top] = program.labels[track.label[at - low]]
        elif op == o.PRESENT:
            top += 1
            vk[top] = True
            vi[top] = place_row(code[pc - 1, 2], places, row, start, low, high, match_number, track) >= 0
        elif op == o.ROW:
            top += 1
            vi[top] = place_row(code[pc - 1, 2], places, row, start, low, high, match_number, track)
            vk[top] = vi[top] >= 0
        elif op == o.LOAD_PAIR:
            top -= 1
            vk[top] = vk[top] and vk[top + 1]
            if vk[top]:
                at = slots.ints[a, vi[top + 1]] + vi[top] - low
                vk[top] = slots.pair_known[at]
                vi[top] = slots.pair_ints[at]
                vf[top] = slots.pair_floats[at]
        elif op == o.MATCH_NUMBER:
            top += 1
            vk[top] = True
            vi[top] = match_number
        elif op == o.AGGREGATE_INT or op == o.AGGREGATE_FLOAT:
            top += 1
            whole, real, known = _aggregate(a, low, aggregates, slots, track)
            vi[top] = whole
            vf[top] = real
            vk[top] = known
        elif op == o.TO_FLOAT:
            vf[top] = vi[top]
        elif op == o.TO_INT:
            vi[top] = np.int64(vf[top]) if vk[top] else 0
        elif op == o.UNSCALE:
            vf[top] = vi[top] / program.floats[a]
        elif op == o.NEGATE_FLOAT:
            vf[top] = -vf[top]
        elif op == o.ABS_FLOAT:
            vf[top] = abs(vf[top])
        elif op == o.FUNCTION:
            if vk[top]:
                # Spark: logarithms outside their domain are NULL, a square root is NaN.
                vk[top] = not ((a == o.LN or a == o.LOG10 or a == o.LOG2) and vf[top] <= 0)
                vf[top] = _function(a, vf[top])
        elif op == o.RANGE_CHECK:
            if vk[top] and (vi[top] < program.ints[a] or vi[top] > program.ints[a + 1]):
                status[0] = o.OVERFLOW
                return False
        elif op == o.NEGATE_INT or op == o.ABS_INT:
            if vk[top]:
                if vi[top] == _LEAST:
                    status[0] = o.OVERFLOW
                    return False
                if op == o.NEGATE_INT or vi[top] < 0:
                    vi[top] = -vi[top]
        elif op == o.SCALE_INT:
            if vk[top]:
                if not _product_overflows(vi[top], program.ints[a]):
                    vi[top] = vi[top] * program.ints[a]
                elif code[pc - 1, 2] == 1:
                    vi[top] = _MOST if vi[top] > 0 else _LEAST
                else:
                    status[0] = o.OVERFLOW
                    return False
        elif op == o.SAME_INT or op == o.SAME_FLOAT:
            top -= 1
            both = vk[top] and vk[top + 1]
            if op == o.SAME_INT:
                same = both and vi[top] == vi[top + 1]
            else:
                same = both and compare_floats(vf[top], vf[top + 1]) == 0
            vi[top] = 1 if same or (not vk[top] and not vk[top + 1]) else 0
            vk[top] = True
        elif op == o.SMALLER_INT or op == o.LARGER_INT or op == o.SMALLER_FLOAT or op == o.LARGER_FLOAT:
            top -= 1
            _choose(op, top, vi, vf, vk)
        elif op == o.FAIL:
            status[0] = o.FUNCTION_FAILED
            return False
        elif op >= o.LOAD_WIDE:
            if op == o.LOAD_WIDE:
                top += 1
                at = place_row(code[pc - 1, 2], places, row, start, low, high, match_number, track)
                vk[top] = at >= 0 and slots.known[a, at]
                if vk[top]:
                    vi[top], stack.highs[top] = slots.ints[a, at], slots.ints[a + 1, at]
                continue
            problem = o.DONE
            if op == o.AGGREGATE_WIDE:
                top += 1
                whole, real, known = _aggregate(a, low, aggregates, slots, track)
                vi[top], vk[top] = whole, known
                stack.highs[top] = _aggregate_high(a, low, aggregates, slots, track)
                if known and stack.highs[top] == SUM_OVERFLOWED:
                    problem = o.OVERFLOW
            else:
                top += 1 if op == o.CONST_WIDE else -1 if op < o.WIDEN else 0
                problem = run_wide(op, a, top, program, stack, stack.limbs)
            if problem != o.DONE:
                if not lenient:
                    status[0] = problem
                    return False
                vk[top] = False
        else:
            top -= 1
            vk[top] = vk[top] and vk[top + 1]
            if vk[top]:
                problem = _arithmetic(op, top, vi, vf)
                if problem == o.DIVISION_BY_ZERO and lenient:
                    vk[top] = False
                elif problem != o.DONE:
                    status[0] = problem
                    return False
    return bool(vk[0] and vi[0] != 0)


@kernel
def evaluate_rows(
    begin: int,
    end: int,
    program: Program,
    slots: Slots,
    places: Places,
    aggregates: Aggregates,
    offsets: Ints,
    begins: Ints,
    stops: Ints,
    track: Track,
    work: Work,
    bits: Bools,
    status: Ints,
) -> None:
    """Run a program that looks only at a row and its neighbours, for the rows `begins[k]` to `stops[k]` of each series.

    On an error of arithmetic, `status` holds the kind and the row.
    """
    for series in range(len(offsets) - 1):
        low, high = offsets[series], offsets[series + 1]
        for row in range(begins[series], stops[series]):
            bits[row] = evaluate(
                begin,
                end,
                program,
                slots,
                places,
                aggregates,
                row,
                row,
                low,
                high,
                np.int64(0),
                track,
                work.stack,
                status,
            )
            if status[0] != o.DONE:
                status[1] = row
                return


@inlined
def _choose(op: int, top: int, vi: Ints, vf: Floats, vk: Bools) -> None:
    """LEAST and GREATEST of two: an unknown one gives way."""
    if not vk[top + 1]:
        return
    if op == o.SMALLER_INT:
        take = vi[top + 1] < vi[top]
    elif op == o.LARGER_INT:
        take = vi[top + 1] > vi[top]
    elif op == o.SMALLER_FLOAT:
        take = compare_floats(vf[top + 1], vf[top]) < 0
    else:
        take = compare_floats(vf[top + 1], vf[top]) > 0
    if take or not vk[top]:
        vi[top] = vi[top + 1]
        vf[top] = vf[top + 1]
        vk[top] = True


@inlined
def sum_overflows(left: int, right: int) -> bool:
    """Whether a sum leaves int64. Asked before adding: compilers take it for granted that sums do not overflow."""
    if right > 0:
        return bool(left > _MOST - right)
    return bool(left < _LEAST - right)


@inlined
def _product_overflows(left: int, right: int) -> bool:
    if left == 0 or right == 0 or left == 1 or right == 1:
        return False
    if left == _LEAST or right == _LEAST:
        return True
    if left == -1 or right == -1:
        return False
    if (left > 0) == (right > 0):
        return bool(abs(left) > _MOST // abs(right))
    # The least product is one further from zero than the greatest.
    most = _MOST // abs(right)
    return bool(abs(left) > (most + 1 if _MOST - most * abs(right) == abs(right) - 1 else most))


@inlined
def _arithmetic(op: int, top: int, vi: Ints, vf: Floats) -> int:
    """A binary operation on known values; SQL's errors instead of wrapped integers."""
    if op == o.ADD_FLOAT:
        vf[top] = vf[top] + vf[top + 1]
    elif op == o.SUBTRACT_FLOAT:
        vf[top] = vf[top] - vf[top + 1]
    elif op == o.MULTIPLY_FLOAT:
        vf[top] = vf[top] * vf[top + 1]
    elif op == o.POWER:
        vf[top] = vf[top] ** vf[top + 1]
    elif op == o.DIVIDE_FLOAT or op == o.MODULO_FLOAT:
        if vf[top + 1] == 0:
            return o.DIVISION_BY_ZERO
        vf[top] = vf[top] / vf[top + 1] if op == o.DIVIDE_FLOAT else np.fmod(vf[top], vf[top + 1])
    else:
        left, right = vi[top], vi[top + 1]
        if op == o.ADD_INT:
            if sum_overflows(left, right):
                return o.OVERFLOW
            vi[top] = left + right
        elif op == o.SUBTRACT_INT:
            if right == _LEAST:
                # Its negative does not exist.
                if left >= 0:
                    return o.OVERFLOW
            elif sum_overflows(left, -right):
                return o.OVERFLOW
            vi[top] = left - right
        elif op == o.MULTIPLY_INT:
            if _product_overflows(left, right):
                return o.OVERFLOW
            vi[top] = left * right
        else:
            if right == 0:
                return o.DIVISION_BY_ZERO
            if left == _LEAST and right == -1:
                if op == o.DIVIDE_INT:
                    return o.OVERFLOW
                vi[top] = 0
            else:
                # SQL truncates towards zero, Python floors.
                quotient = abs(left) // abs(right)
                if (left < 0) != (right < 0):
                    quotient = -quotient
                vi[top] = quotient if op == o.DIVIDE_INT else left - quotient * right
    return o.DONE
