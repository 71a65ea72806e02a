"""From a pattern to instructions.

SPLIT prefers its first branch: greedy loops go round first, reluctant ones leave first. No cycle of instructions
consumes nothing: a loop whose body can be empty goes round the non-empty part of the body only (`_pieces`), since an
iteration beyond the required ones that consumes nothing is no iteration.
"""

from __future__ import annotations

from dataclasses import dataclass
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
                if instruction.op not in (Op.CONSUME, Op.ACCEPT):
                    pending.append((instruction.x, False))
                    if instruction.op is Op.SPLIT:
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
            case Op.SPLIT:
                pending += [instruction.y, instruction.x]
            case _:
                pending.append(instruction.x)
    return list(found)


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
        if _is_nullable(body):
            pieces = [piece for piece, empty in _pieces(body) if not empty]
            if not pieces:
                return
            body = _alt(pieces)
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

    def _set_branches(self, split: int, mode: p.Mode) -> None:
        inside, outside = split + 1, self.next()
        self.patch(split, *((inside, outside) if mode is p.Mode.GREEDY else (outside, inside)))

    def emit_permute(self, parts: tuple[Pattern, ...], excluded: bool) -> None:
        """All orders, the order as written first.

        Where each part is a fixed sequence, orders that begin with the same parts are one way until they part, and
        those with the same parts still to come go the same way from there: one block for each set of parts to come.
        A part that can match in several ways spoils that, since the order is preferred before the ways.
        """
        if not all(map(_is_fixed, parts)):
            if len(parts) > 7:
                raise UnsupportedError(
                    "PERMUTE of more than 7 parts needs parts that match in one way only.",
                    cure="Take quantifiers and alternatives out of PERMUTE, or use fewer parts.",
                )
            self.emit_options(tuple(_concat(list(order)) for order in permutations(parts)), excluded)
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
        case p.Var() | p.Anchor() | p.Empty():
            return True
        case p.Concat(parts=parts):
            return all(map(_is_fixed, parts))
        case p.Exclude(body=body):
            return _is_fixed(body)
        case p.Repeat(body=body, least=least, most=most):
            return least == most and _is_fixed(body)
        case _:
            return False


def _is_nullable(pattern: Pattern) -> bool:
    """Whether the pattern can match without consuming a row."""
    match pattern:
        case p.Var():
            return False
        case p.Empty() | p.Anchor():
            return True
        case p.Concat(parts=parts) | p.Permute(parts=parts):
            return all(map(_is_nullable, parts))
        case p.Alt(options=options):
            return any(map(_is_nullable, options))
        case p.Exclude(body=body):
            return _is_nullable(body)
        case p.Repeat(body=body, least=least):
            return least == 0 or _is_nullable(body)
        case p.And() | p.Not():
            raise _no_automaton()


def _pieces(pattern: Pattern) -> list[tuple[Pattern, bool]]:
    """The pattern as options in order of preference, each of which always (True) or never (False) consumes nothing."""
    if len(str(pattern)) > LIMIT:
        raise _too_large()
    match pattern:
        case p.Var():
            return [(pattern, False)]
        case p.Empty() | p.Anchor():
            return [(pattern, True)]
        case p.Alt(options=options):
            return [piece for option in options for piece in _pieces(option)]
        case p.Exclude(body=body):
            return [(p.Exclude(piece), empty) for piece, empty in _pieces(body)]
        case p.Permute(parts=parts):
            if len(parts) > 5:
                raise _too_large()
            return _pieces(_alt([_concat(list(order)) for order in permutations(parts)]))
        case p.Concat(parts=parts):
            return _concat_pieces(parts)
        case p.And() | p.Not():
            raise _no_automaton()
        case p.Repeat(body=body, mode=mode):
            least, most = p.counts(pattern)
            extra = None if most is None else most - least
            if _is_nullable(body):
                if least > 50:
                    raise _too_large()
                inner = [piece for piece, empty in _pieces(body) if not empty]
                required = [body] * least
                if inner and extra != 0:
                    return _concat_pieces((*required, p.Repeat(_alt(inner), 0, extra, mode)))
                return _concat_pieces(tuple(required))
            if least > 0:
                return [(pattern, False)]
            if most == 0:
                return [(p.Empty(), True)]
            some: tuple[Pattern, bool] = (p.Repeat(body, 1, most, mode), False)
            none: tuple[Pattern, bool] = (p.Empty(), True)
            return [some, none] if mode is p.Mode.GREEDY else [none, some]


def _no_automaton() -> AssertionError:
    return AssertionError("a segment pattern has no automaton")


def _too_large() -> UnsupportedError:
    return UnsupportedError("A loop around a pattern that can be empty is too large.", cure="Simplify its body.")


def _concat_pieces(parts: tuple[Pattern, ...]) -> list[tuple[Pattern, bool]]:
    if not parts:
        return [(p.Empty(), True)]
    pieces: list[tuple[Pattern, bool]] = []
    for first, empty in _pieces(parts[0]):
        if empty:
            pieces.extend((_concat([first, rest]), none) for rest, none in _concat_pieces(parts[1:]))
        else:
            pieces.append((_concat([first, *parts[1:]]), False))
    return pieces


def _concat(parts: list[Pattern]) -> Pattern:
    flat = [part for part in parts if not isinstance(part, p.Empty)]
    return flat[0] if len(flat) == 1 else p.Concat(tuple(flat)) if flat else p.Empty()


def _alt(options: list[Pattern]) -> Pattern:
    return options[0] if len(options) == 1 else p.Alt(tuple(options))
