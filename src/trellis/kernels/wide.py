"""Instructions on decimals of more than 18 digits, which have two words on the stack: `ints` and `highs`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Ints, Program, Shorts, Stack
from trellis.kernels.compile import inlined, inner
from trellis.kernels.decimals import calculate, compare_words, negate_words, rescale, to_float

__all__ = ["compared", "has_wide", "run_wide"]


def has_wide(code: Iterable[Sequence[int]] | Shorts) -> bool:
    """Whether there are such instructions among those of a program; kernels have a variant for it."""
    return any(op >= o.LOAD_WIDE for op, _, _ in code)


@inlined
def compared(comparison: int, order: int) -> bool:
    """Whether a comparison holds between values in this order: -1, 0 or 1."""
    if comparison == o.EQUAL:
        return order == 0
    if comparison == o.UNEQUAL:
        return order != 0
    if comparison == o.LESS:
        return order < 0
    if comparison == o.LESS_EQUAL:
        return order <= 0
    if comparison == o.GREATER:
        return order > 0
    return order >= 0


@inner
def run_wide(op: int, a: int, top: int, program: Program, stack: Stack, limbs: Ints | None) -> int:
    """Run an instruction whose result belongs at `top`; DONE, or an error of arithmetic.

    Without `limbs`, which programs that have no such instruction leave out, nothing of this is compiled: it takes as
    long as all the rest.
    """
    if limbs is None:
        return o.DONE
    ints, highs, known = stack.ints, stack.highs, stack.known
    constants = program.ints
    if op == o.CONST_WIDE:
        ints[top], highs[top], known[top] = constants[a], constants[a + 1], True
    elif op == o.WIDEN:
        highs[top] = ints[top] >> 63
    elif op == o.COMPARE_WIDE or op == o.DECIMAL:
        known[top] = known[top] and known[top + 1]
        if known[top] and op == o.COMPARE_WIDE:
            ints[top] = compared(a, _order(top, stack))
        elif known[top]:
            problem = calculate(
                constants[a],
                highs[top],
                ints[top],
                highs[top + 1],
                ints[top + 1],
                constants[a + 1],
                constants[a + 2],
                constants[a + 3],
                constants[a + 4],
                limbs,
                stack.words,
            )
            highs[top], ints[top] = stack.words[0], stack.words[1]
            return problem
    elif op == o.SAME_WIDE:
        both = known[top] and known[top + 1]
        ints[top] = (both and _order(top, stack) == 0) or not (known[top] or known[top + 1])
        known[top] = True
    elif op == o.SMALLER_WIDE or op == o.LARGER_WIDE:
        # An unknown one gives way.
        wanted = -1 if op == o.LARGER_WIDE else 1
        if known[top + 1] and (not known[top] or _order(top, stack) == wanted):
            ints[top], highs[top], known[top] = ints[top + 1], highs[top + 1], True
    elif known[top]:
        if op == o.RESCALE:
            up, down, precision = constants[a], constants[a + 1], constants[a + 2]
            problem = rescale(highs[top], ints[top], up, down, precision, limbs, stack.words)
            highs[top], ints[top] = stack.words[0], stack.words[1]
            return problem
        if op == o.WIDE_TO_FLOAT:
            stack.floats[top] = to_float(highs[top], ints[top], a, limbs)
        elif op == o.NEGATE_WIDE or highs[top] < 0:
            highs[top], ints[top] = negate_words(highs[top], ints[top])
    return o.DONE


@inlined
def _order(top: int, stack: Stack) -> int:
    return compare_words(stack.highs[top], stack.ints[top], stack.highs[top + 1], stack.ints[top + 1])
