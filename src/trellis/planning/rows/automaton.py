"""From a pattern to instructions.

SPLIT prefers its first branch: greedy loops go round first, reluctant ones leave first. Beyond the required iterations,
one that takes no row is the last. So the body of a loop that can be empty is emitted with two ends (`emit_fresh`): ways
that took a row lead back to the loop, those that took none lead out of it. No cycle of instructions consumes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import permutations

from trellis.algebra import pattern as p
from trellis.algebra.automaton import Instruction, Op
from trellis.algebra.pattern import Pattern, variables_of
from trellis.errors import UnsupportedError

__all__ = ["LIMIT", "backward_order", "compile_pattern", "next_choices"]

LIMIT = 20_000


def compile_pattern(pattern: Pattern, variables: tuple[str, ...]) -> tuple[Instruction, ...]:
    """The instructions of a pattern; a search starts at the first one."""
    emitter = _Emitter(variables)
    emitter.emit(pattern, False)
    emitter.add(Instruction(Op.ACCEPT))
    return tuple(emitter.instructions)


def backward_order(instructions: tuple[Instruction, ...]) -> tuple[int, ...]:
    """All instructions, each after those that it leads to without consuming a row."""
    order: list[int] = []
    done = [False] * len(instructions)
    for root in range(len(instructions)):
        pending = [(root, False)]
        while pending:
            pc, ready = pending.pop()
            if ready:
                order.append(pc)
            elif not done[pc]:
                done[pc] = True
                pending.append((pc, True))
                instruction = instructions[pc]
                if instruction.op not in (Op.CONSUME, Op.ACCEPT, Op.FAIL):
                    pending.append((instruction.x, False))
                    if instruction.op in (Op.SPLIT, Op.KEEP):
                        pending.append((instruction.y, False))
    return tuple(order)


def next_choices(instructions: tuple[Instruction, ...], pc: int) -> list[int]:
    """The instructions that consume a row or accept which can come next from here, in order of preference."""
    found: dict[int, None] = {}
    pending, seen = [pc], set[int]()
    while pending:
        at = pending.pop()
        if at in seen:
            continue
        seen.add(at)
        instruction = instructions[at]
        match instruction.op:
            case Op.CONSUME | Op.ACCEPT:
                found[at] = None
            case Op.SPLIT | Op.KEEP:
                pending += [instruction.y, instruction.x]
            case Op.FAIL:
                pass
            case _:
                pending.append(instruction.x)
    return list(found)


@dataclass(frozen=True, slots=True)
class _Leaving:
    """What is to lead out of a loop: the split before an iteration, and the end of an iteration of no rows."""

    split: int | None
    empty: int
    mode: p.Mode


@dataclass(slots=True)
class _Emitter:
    variables: tuple[str, ...]
    instructions: list[Instruction]

    def __init__(self, variables: tuple[str, ...]) -> None:
        self.variables = variables
        self.instructions = []

    def add(self, instruction: Instruction) -> int:
        if len(self.instructions) >= LIMIT:
            raise UnsupportedError(
                f"The pattern needs more than {LIMIT} instructions.",
                cure="Use smaller counts or a smaller PERMUTE.",
            )
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def next(self) -> int:
        return len(self.instructions)

    def patch(self, at: int, x: int | None = None, y: int | None = None) -> None:
        old = self.instructions[at]
        self.instructions[at] = Instruction(
            old.op, old.variable, old.excluded, old.x if x is None else x, old.y if y is None else y
        )

    def emit(self, pattern: Pattern, excluded: bool) -> None:
        """Instructions that go on at the next free place."""
        match pattern:
            case p.Empty():
                pass
            case p.Var(name=name):
                self.add(Instruction(Op.CONSUME, self.variables.index(name), excluded, self.next() + 1))
            case p.Check(name=name):
                self.add(Instruction(Op.CHECK, self.variables.index(name), x=self.next() + 1))
            case p.Anchor(at_start=at_start):
                self.add(Instruction(Op.ANCHOR_START if at_start else Op.ANCHOR_END, x=self.next() + 1))
            case p.Concat(parts=parts):
                for part in parts:
                    self.emit(part, excluded)
            case p.Alt(options=options):
                self.emit_options(options, excluded)
            case p.Exclude(body=body):
                self.emit(body, True)
            case p.Repeat():
                self.emit_repeat(pattern, excluded)
            case p.Permute(parts=parts):
                self.emit_permute(parts, excluded)
            case p.And() | p.Not():
                raise _no_automaton()

    def emit_options(self, options: tuple[Pattern, ...], excluded: bool) -> None:
        jumps = []
        for option in options[:-1]:
            split = self.add(Instruction(Op.SPLIT, x=self.next() + 1))
            self.emit(option, excluded)
            jumps.append(self.add(Instruction(Op.JUMP)))
            self.patch(split, y=self.next())
        self.emit(options[-1], excluded)
        for jump in jumps:
            self.patch(jump, x=self.next())

    def emit_repeat(self, repeat: p.Repeat, excluded: bool) -> None:
        body = repeat.body
        least, most = p.counts(repeat)
        if repeat.mode is p.Mode.POSSESSIVE:
            self.emit_possessive(body, least, most, excluded)
            return
        if not variables_of(body):
            # What consumes nothing holds or does not, however often it is asked.
            if least > 0:
                self.emit(body, excluded)
            return
        for _ in range(least):
            self.emit(body, excluded)
        extra = None if most is None else most - least
        if extra == 0:
            return
        if extra != 1 and _is_nullable(body):
            self.emit_nullable_loop(body, extra, repeat.mode, excluded)
            return
        if extra is None:
            split = self.add(Instruction(Op.SPLIT))
            self.emit(body, excluded)
            self.add(Instruction(Op.JUMP, x=split))
            self._set_branches(split, repeat.mode)
            return
        splits = []
        for _ in range(extra):
            splits.append(self.add(Instruction(Op.SPLIT)))
            self.emit(body, excluded)
        for split in splits:
            self._set_branches(split, repeat.mode)

    def emit_possessive(self, body: Pattern, least: int, most: int | None, excluded: bool) -> None:
        """As many rows of a variable as there are. Bodies of several rows would need a choice for each."""
        if not isinstance(body, p.Var) or most is not None:
            raise UnsupportedError(
                "A possessive quantifier stands behind a variable, and has no upper bound.", cure="Write A++, or A*+."
            )
        for _ in range(least):
            self.emit(body, excluded)
        keep = self.add(Instruction(Op.KEEP, x=self.next() + 1))
        self.emit(body, excluded)
        self.add(Instruction(Op.FORGET, x=keep))
        self.patch(keep, y=self.next())

    def _set_branches(self, split: int, mode: p.Mode) -> None:
        inside, outside = split + 1, self.next()
        self.patch(split, *((inside, outside) if mode is p.Mode.GREEDY else (outside, inside)))

    def emit_nullable_loop(self, body: Pattern, extra: int | None, mode: p.Mode, excluded: bool) -> None:
        """`extra` iterations at most of a body that can be empty: one that takes no row is the last."""
        leaving = []
        for _ in range(1 if extra is None else extra):
            head = self.next()
            full, left = self._emit_round(body, mode, excluded)
            leaving.append(left)
            for jump in full:
                self.patch(jump, x=head if extra is None else self.next())
        for left in leaving:
            self._leave(left)

    def _emit_round(self, body: Pattern, mode: p.Mode, excluded: bool) -> tuple[list[int], _Leaving]:
        """An iteration, or none; the jumps of those that took rows, and what is to lead out of the loop."""
        greedy = mode is p.Mode.GREEDY
        # Where an iteration of no rows is sure to succeed, it is what leaving the loop would be.
        split = None if greedy and _is_nullable(body, anchored=False) else self.add(Instruction(Op.SPLIT))
        full = self.emit_fresh(body, excluded)
        # A reluctant loop has tried to leave before, and need not try again.
        empty = self.add(Instruction(Op.JUMP if greedy else Op.FAIL))
        return full, _Leaving(split, empty, mode)

    def _leave(self, leaving: _Leaving) -> None:
        """Lead what leaves a loop to the next free place."""
        if leaving.split is not None:
            self._set_branches(leaving.split, leaving.mode)
        if leaving.mode is p.Mode.GREEDY:
            self.patch(leaving.empty, x=self.next())

    def emit_fresh(self, pattern: Pattern, excluded: bool) -> list[int]:
        """Instructions that go on at the next free place if they took no row; the jumps of ways that took some.

        A concatenation is emitted twice, for as long as no row is taken, and for later; so is a loop.
        """
        if not _is_nullable(pattern):
            self.emit(pattern, excluded)
            return [self.add(Instruction(Op.JUMP))]
        if not variables_of(pattern):
            self.emit(pattern, excluded)
            return []
        match pattern:
            case p.Exclude(body=body):
                return self.emit_fresh(body, True)
            case p.Alt(options=options):
                return self._emit_fresh_options(options, excluded)
            case p.Permute(parts=parts):
                return self._emit_fresh_options(_orders(parts), excluded)
            case p.Concat(parts=parts):
                return self._emit_fresh_parts(parts, excluded)
            case p.Repeat(body=body, mode=mode):
                least, most = p.counts(pattern)
                extra = None if most is None else most - least
                if most == 0:
                    return []
                if least > 0:
                    return self._emit_fresh_parts((*[body] * least, p.Repeat(body, 0, extra, mode)), excluded)
                full, leaving = self._emit_round(body, mode, excluded)
                for jump in full:
                    self.patch(jump, x=self.next())
                self.emit(p.Repeat(body, 0, None if extra is None else extra - 1, mode), excluded)
                out = self.add(Instruction(Op.JUMP))
                self._leave(leaving)
                return [out]
            case _:
                raise AssertionError(f"{pattern} cannot be empty")

    def _emit_fresh_options(self, options: tuple[Pattern, ...], excluded: bool) -> list[int]:
        full, jumps = [], []
        for option in options[:-1]:
            split = self.add(Instruction(Op.SPLIT, x=self.next() + 1))
            full += self.emit_fresh(option, excluded)
            jumps.append(self.add(Instruction(Op.JUMP)))
            self.patch(split, y=self.next())
        full += self.emit_fresh(options[-1], excluded)
        for jump in jumps:
            self.patch(jump, x=self.next())
        return full

    def _emit_fresh_parts(self, parts: tuple[Pattern, ...], excluded: bool) -> list[int]:
        full = [self.emit_fresh(part, excluded) for part in parts]
        empty = self.add(Instruction(Op.JUMP))
        for part, entering in zip(parts[1:], full, strict=False):
            for jump in entering:
                self.patch(jump, x=self.next())
            self.emit(part, excluded)
        out = self.add(Instruction(Op.JUMP))
        self.patch(empty, x=self.next())
        return [out, *full[-1]]

    def emit_permute(self, parts: tuple[Pattern, ...], excluded: bool) -> None:
        """All orders, the order as written first.

        Where each part is a fixed sequence, orders that begin with the same parts are one way until they part, and
        those with the same parts still to come go the same way from there: one block for each set of parts to come.
        A part that can match in several ways spoils that, since the order is preferred before the ways.
        """
        if not all(map(_is_fixed, parts)):
            self.emit_options(_orders(parts), excluded)
            return
        everything = frozenset(range(len(parts)))
        entries: dict[frozenset[int], int] = {}
        jumps: list[tuple[int, frozenset[int]]] = []
        pending = [everything]
        while pending:
            left = pending.pop()
            if left in entries:
                continue
            entries[left] = self.next()
            remaining = sorted(left)
            for position, part in enumerate(remaining):
                last = position == len(remaining) - 1
                split = None if last else self.add(Instruction(Op.SPLIT, x=self.next() + 1))
                self.emit(parts[part], excluded)
                rest = left - {part}
                jumps.append((self.add(Instruction(Op.JUMP)), rest))
                if rest:
                    pending.append(rest)
                if split is not None:
                    self.patch(split, y=self.next())
        entries[frozenset()] = self.next()
        for jump, rest in jumps:
            self.patch(jump, x=entries[rest])


def _is_fixed(pattern: Pattern) -> bool:
    """Whether the pattern matches in one way only."""
    match pattern:
        case p.Var() | p.Anchor() | p.Empty() | p.Check():
            return True
        case p.Concat(parts=parts):
            return all(map(_is_fixed, parts))
        case p.Exclude(body=body):
            return _is_fixed(body)
        case p.Repeat(body=body, least=least, most=most):
            return least == most and _is_fixed(body)
        case _:
            return False


def _is_nullable(pattern: Pattern, *, anchored: bool = True) -> bool:
    """Whether the pattern can match without consuming a row; if not `anchored`, also where no anchor holds."""
    nullable = partial(_is_nullable, anchored=anchored)
    match pattern:
        case p.Var():
            return False
        case p.Empty():
            return True
        case p.Anchor() | p.Check():
            return anchored
        case p.Concat(parts=parts) | p.Permute(parts=parts):
            return all(map(nullable, parts))
        case p.Alt(options=options):
            return any(map(nullable, options))
        case p.Exclude(body=body):
            return nullable(body)
        case p.Repeat(body=body, least=least):
            return least == 0 or nullable(body)
        case p.And() | p.Not():
            raise _no_automaton()


def _no_automaton() -> AssertionError:
    return AssertionError("a segment pattern has no automaton")


def _orders(parts: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    """All orders of the parts of PERMUTE."""
    if len(parts) > 7:
        raise UnsupportedError(
            "PERMUTE of more than 7 parts needs parts that match in one way only.",
            cure="Take quantifiers and alternatives out of PERMUTE, or use fewer parts.",
        )
    return tuple(_concat(list(order)) for order in permutations(parts))


def _concat(parts: list[Pattern]) -> Pattern:
    flat = [part for part in parts if not isinstance(part, p.Empty)]
    return flat[0] if len(flat) == 1 else p.Concat(tuple(flat)) if flat else p.Empty()
