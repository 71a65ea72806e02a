"""How many tests of conditions a search makes (Zhu, Huang and Chaudhuri, PVLDB 16(5), section 4.2.2).

The automaton runs over as many rows as a window holds, with numbers of partial matches instead of partial matches: a
test that succeeds with the chance p takes the p-th part of them further.
"""

from __future__ import annotations

from collections.abc import Mapping

from trellis.algebra.automaton import Instruction, Op
from trellis.planning.rows.automaton import next_choices

__all__ = ["tests_from_a_row"]

_MOST_ROWS = 200
_MOST_TESTS = 1e6


def tests_from_a_row(
    instructions: tuple[Instruction, ...],
    chances: Mapping[int, float],
    window_rows: float,
    *,
    merged: bool,
) -> float:
    """The expected number of tests for one start; `chances` are those of variables, 1 if missing."""
    consumes = {pc for pc, instruction in enumerate(instructions) if instruction.op is Op.CONSUME}
    closures = {
        pc: [after for after in next_choices(instructions, pc) if after in consumes] for pc in range(len(instructions))
    }
    waiting: dict[int, float] = {}
    for pc in closures[0]:
        waiting[pc] = waiting.get(pc, 0.0) + 1.0
    tests = 0.0
    for _ in range(min(_MOST_ROWS, max(1, round(window_rows)))):
        following: dict[int, float] = {}
        for pc, partial in waiting.items():
            tests += partial
            taken = partial * chances.get(instructions[pc].variable, 1.0)
            if taken < 1e-9:
                continue
            for after in closures[instructions[pc].x]:
                following[after] = following.get(after, 0.0) + taken
        if merged:
            # Partial matches at one instruction and row are one state if nothing later looks back.
            following = {pc: min(1.0, partial) for pc, partial in following.items()}
        waiting = following
        if not waiting or tests > _MOST_TESTS:
            break
    return min(tests, _MOST_TESTS)
