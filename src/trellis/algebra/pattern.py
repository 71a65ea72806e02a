"""Row patterns: regular expressions over pattern variables.

The text form of a pattern is SQL:2016's, with no more brackets than needed: `str(pattern)` can be parsed back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from trellis.errors import Span

__all__ = [
    "Alt",
    "Anchor",
    "Concat",
    "Empty",
    "Exclude",
    "Pattern",
    "Permute",
    "Repeat",
    "Var",
    "variables_of",
    "walk",
]


@dataclass(frozen=True, slots=True)
class Var:
    """One row that satisfies the condition of a variable."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        # PERMUTE before a bracket would read as the keyword.
        plain = self.name.isidentifier() and self.name.isupper() and self.name != "PERMUTE"
        return self.name if plain else f"`{self.name.replace('`', '``')}`"


@dataclass(frozen=True, slots=True)
class Empty:
    """No row at all: `()`."""

    def __str__(self) -> str:
        return "()"


@dataclass(frozen=True, slots=True)
class Anchor:
    """The place before the first row (`^`) or after the last row (`$`) of a series."""

    at_start: bool

    def __str__(self) -> str:
        return "^" if self.at_start else "$"


@dataclass(frozen=True, slots=True)
class Concat:
    """The parts, one after the other; at least two."""

    parts: tuple[Pattern, ...]

    def __str__(self) -> str:
        return " ".join(f"({part})" if isinstance(part, Alt) else str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Alt:
    """One of the options, the earlier preferred; at least two."""

    options: tuple[Pattern, ...]

    def __str__(self) -> str:
        return " | ".join(str(option) for option in self.options)


@dataclass(frozen=True, slots=True)
class Repeat:
    """The body, `least` to `most` times (`None`: without bound); greedy prefers more, reluctant fewer."""

    body: Pattern
    least: int
    most: int | None
    greedy: bool = True

    def __str__(self) -> str:
        bare = isinstance(self.body, (Var, Permute, Empty, Exclude))
        body = str(self.body) if bare else f"({self.body})"
        match (self.least, self.most):
            case (0, None):
                count = "*"
            case (1, None):
                count = "+"
            case (0, 1):
                count = "?"
            case (least, None):
                count = f"{{{least},}}"
            case (least, most) if least == most:
                count = f"{{{least}}}"
            case (least, most):
                count = f"{{{least},{most}}}"
        return f"{body}{count}{'' if self.greedy else '?'}"


@dataclass(frozen=True, slots=True)
class Permute:
    """All orders of the parts; the order as written is preferred, then lexicographically."""

    parts: tuple[Pattern, ...]

    def __str__(self) -> str:
        return f"PERMUTE({', '.join(str(part) for part in self.parts)})"


@dataclass(frozen=True, slots=True)
class Exclude:
    """Rows that belong to the match but not to the output of ALL ROWS PER MATCH: `{- body -}`."""

    body: Pattern

    def __str__(self) -> str:
        return f"{{- {self.body} -}}"


Pattern: TypeAlias = Var | Empty | Anchor | Concat | Alt | Repeat | Permute | Exclude


def walk(pattern: Pattern) -> Iterator[Pattern]:
    """The pattern and all its parts, outermost first, left to right."""
    pending = [pattern]
    while pending:
        node = pending.pop()
        yield node
        match node:
            case Concat(parts) | Permute(parts):
                pending.extend(reversed(parts))
            case Alt(options):
                pending.extend(reversed(options))
            case Repeat(body=body) | Exclude(body):
                pending.append(body)
            case _:
                pass


def variables_of(pattern: Pattern) -> tuple[str, ...]:
    """The names of the variables, in the order of their first appearance."""
    return tuple(dict.fromkeys(node.name for node in walk(pattern) if isinstance(node, Var)))
