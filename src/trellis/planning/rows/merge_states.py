"""Which search states are the same: what the conditions still to come can read of the match so far.

A backward analysis over the instructions. A register is *live* before an instruction if some condition on a way from
there reads it before it is written. Mapping a row to a variable `v` of a set `S` makes the last row of `S` the current
row, and the last but k the last but k - 1 of before; first rows and aggregates keep what they had.
"""

from __future__ import annotations

from collections.abc import Mapping

from trellis.algebra import expression as e
from trellis.algebra.automaton import AggregateSpec, Instruction, Merge, Op, Register
from trellis.algebra.expression import Expression
from trellis.algebra.place import Place
from trellis.kernels import opcodes as o

__all__ = ["merge_states", "sets_of"]

_NEVER = Register(-1, 0, 0)
_FARTHEST = 16


def sets_of(places: tuple[Place, ...], aggregates: tuple[AggregateSpec, ...]) -> tuple[frozenset[str] | None, ...]:
    """The sets of variables whose rows a kernel must remember; None is the set of all."""
    named = [place.variables for place in places if place.variables is not None]
    return tuple(dict.fromkeys([*named, *(aggregate.variables for aggregate in aggregates)]))


def merge_states(
    instructions: tuple[Instruction, ...],
    variables: tuple[str, ...],
    reads: Mapping[str, frozenset[Register]],
    sets: tuple[frozenset[str] | None, ...],
) -> tuple[Merge, ...]:
    """For each instruction, when two states there are the same. `reads` are the registers of each condition."""
    live: list[frozenset[Register]] = [frozenset()] * len(instructions)
    changed = True
    while changed:
        changed = False
        for pc in range(len(instructions) - 1, -1, -1):
            now = _before(instructions[pc], live, variables, reads, sets)
            if now != live[pc]:
                live[pc] = now
                changed = True
    # What failed after a row was kept would look as if the row could not be taken; the split before it remembers.
    kept = {instruction.x for instruction in instructions if instruction.op is Op.KEEP}
    return tuple(Merge(o.NEVER) if pc in kept else _merge(registers) for pc, registers in enumerate(live))


def registers_of(
    condition: Expression,
    aggregate_numbers: Mapping[e.BoundAggregate, int],
    specs: tuple[AggregateSpec, ...],
    sets: tuple[frozenset[str] | None, ...],
) -> frozenset[Register]:
    """What a condition reads of the match so far, its own row included."""
    registers: set[Register] = set()
    for node in e.walk(condition):
        match node:
            case e.At(place=place) if place.numbered:
                registers.add(Register(o.MATCH_STATE, 0, 0))
            case e.At(place=place) if place.variables is not None or place.from_first or place.offset:
                if place.offset > _FARTHEST:
                    # Keys would grow with the offset.
                    registers.add(_NEVER)
                    continue
                number = o.ANY_ROW if place.variables is None else sets.index(place.variables)
                kind = o.FIRST_ROWS if place.from_first else o.LAST_ROWS
                registers.add(Register(kind, number, place.offset))
            case e.Pair(first=first, second=second):
                for place in (first, second):
                    registers |= registers_of(e.At(e.Literal("NULL"), place), aggregate_numbers, specs, sets)
            case e.ClassifierAt():
                registers.add(_NEVER)
            case e.MatchNumber():
                registers.add(Register(o.MATCH_STATE, 0, 0))
            case e.BoundAggregate():
                number = aggregate_numbers[node]
                if specs[number].previous != o.NO_CHAIN or len(set(specs[number].second)) > 1:
                    # What was seen before, or the label of the row that holds the extreme, is not in the state.
                    registers.add(_NEVER)
                registers.add(Register(o.AGGREGATE_STATE, number, sets.index(specs[number].variables)))
            case _:
                pass
    return frozenset(registers)


def key_width(merges: tuple[Merge, ...]) -> int:
    """The length of the longest key of a state: instruction, row, start, then the registers."""
    return max((3 + sum(map(_size, merge.registers)) for merge in merges), default=3)


def _size(register: Register) -> int:
    if register.kind == o.AGGREGATE_STATE:
        return 5
    if register.kind == o.MATCH_STATE:
        return 0
    if register.kind == o.FIRST_ROWS:
        return 2 if register.number == o.ANY_ROW else register.depth + 1
    return 1


def _before(
    instruction: Instruction,
    live: list[frozenset[Register]],
    variables: tuple[str, ...],
    reads: Mapping[str, frozenset[Register]],
    sets: tuple[frozenset[str] | None, ...],
) -> frozenset[Register]:
    match instruction.op:
        case Op.ACCEPT | Op.FAIL:
            return frozenset()
        case Op.SPLIT | Op.KEEP:
            return live[instruction.x] | live[instruction.y]
        case Op.CHECK:
            return live[instruction.x] | reads.get(variables[instruction.variable], frozenset())
        case Op.CONSUME:
            variable = variables[instruction.variable]
            after = live[instruction.x] | reads.get(variable, frozenset())
            return frozenset(before for register in after if (before := _unmap(register, variable, sets)) is not None)
        case _:
            return live[instruction.x]


def _unmap(register: Register, variable: str, sets: tuple[frozenset[str] | None, ...]) -> Register | None:
    """What must be known before a row is mapped to `variable`, so that the register is known after."""
    if register.kind != o.LAST_ROWS:
        return register
    members = None if register.number == o.ANY_ROW else sets[register.number]
    if members is not None and variable not in members:
        return register
    return None if register.depth == 0 else Register(register.kind, register.number, register.depth - 1)


def _merge(registers: frozenset[Register]) -> Merge:
    if _NEVER in registers:
        return Merge(o.NEVER)
    if not registers:
        return Merge(o.PURE)
    ordered = sorted(registers, key=lambda r: (r.kind, r.number, r.depth))
    return Merge(o.KEYED, tuple(ordered))
