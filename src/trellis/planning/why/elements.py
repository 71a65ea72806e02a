"""The elements of a pattern: each place where a row is taken, in the order in which they are written."""

from __future__ import annotations

from dataclasses import dataclass, field

from trellis.algebra import pattern as p
from trellis.algebra.automaton import Instruction, Op
from trellis.algebra.partial import Element
from trellis.algebra.pattern import Pattern

__all__ = ["FARTHEST", "number_elements", "rows_missing"]

# Beyond this, what is repeated a fixed number of times is one element.
_MOST = 64

FARTHEST = 30_000
"""No match is so many rows away: from there on, there is none."""


def number_elements(pattern: Pattern, variables: tuple[str, ...]) -> tuple[Pattern, tuple[Element, ...]]:
    """The same pattern with numbers of elements for names of variables, and the elements.

    `A{3} B+` becomes `0 1 2{1} 3+`: what is repeated a fixed number of times is several elements.
    """
    for unroll in (True, False):
        numbering = _Numbering(variables, unroll)
        numbered = numbering.number(pattern, "", 0)
        if len(numbering.elements) <= _MOST or not unroll:
            return numbered, tuple(numbering.elements)
    raise AssertionError("the second round returns")


@dataclass(slots=True)
class _Numbering:
    variables: tuple[str, ...]
    unroll: bool
    elements: list[Element] = field(default_factory=list)

    def number(self, pattern: Pattern, text: str, nth: int) -> Pattern:
        match pattern:
            case p.Var(name=name):
                return p.Var(self._element(name, text or str(pattern), False, nth))
            case p.Check(name=name):
                return p.Check(self._element(name, text or str(pattern), True, nth))
            case p.Repeat(body=body):
                return self._repeat(pattern, str(pattern) if isinstance(body, p.Var) else "", nth)
            case _:
                return p.rebuild(pattern, lambda child: self.number(child, "", nth))

    def _repeat(self, repeat: p.Repeat, text: str, nth: int) -> Pattern:
        least, most = p.counts(repeat)
        if len(self.elements) > _MOST:
            self.unroll = False
        copies = least if self.unroll and least > 1 else 1
        bodies = [self.number(repeat.body, text, copy + 1 if copies > 1 else nth) for copy in range(copies)]
        rest = None if most is None else most - copies + 1
        last = p.Repeat(bodies[-1], max(least - copies + 1, 0), rest, repeat.mode)
        return p.Concat((*bodies[:-1], last)) if copies > 1 else last

    def _element(self, name: str, text: str, checks: bool, nth: int) -> str:
        self.elements.append(Element(self.variables.index(name), text, checks, nth))
        return str(len(self.elements) - 1)


def rows_missing(code: tuple[Instruction, ...]) -> tuple[int, ...]:
    """For each instruction, how many rows a match needs at least from there on."""
    rows = [FARTHEST] * len(code)
    changed = True
    while changed:
        changed = False
        for at in range(len(code) - 1, -1, -1):
            step = code[at]
            match step.op:
                case Op.ACCEPT:
                    least = 0
                case Op.FAIL:
                    least = FARTHEST
                case Op.CONSUME:
                    least = min(FARTHEST, rows[step.x] + 1)
                case Op.SPLIT | Op.KEEP:
                    least = min(rows[step.x], rows[step.y])
                case _:
                    least = rows[step.x]
            if least != rows[at]:
                rows[at] = least
                changed = True
    return tuple(rows)
