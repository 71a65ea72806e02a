"""Spark's operators, by how strongly they bind."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TypeAlias

from trellis.algebra.expression import Expression, Operator, Raw
from trellis.errors import Span
from trellis.languages.cursor import Cursor

__all__ = ["BINARY", "LIKE_WORDS", "Level", "Parse", "raw", "wrapped"]


class Level(IntEnum):
    """How strongly an operator binds, as in Spark's grammar: what binds weakest comes first.

    A predicate (IS NULL, BETWEEN, IN, LIKE) binds weaker than a comparison: `a = b IS NULL` is `(a = b) IS NULL`.
    """

    NONE = 0
    OR = 1
    AND = 2
    NOT = 3
    PREDICATE = 4
    COMPARISON = 5
    BIT_OR = 6
    BIT_XOR = 7
    BIT_AND = 8
    SHIFT = 9
    SUM = 10
    PRODUCT = 11
    UNARY = 12


# Parsers of special forms get the parser of expressions as an argument, so that modules need not import each other.
Parse: TypeAlias = Callable[[Cursor, Level], Expression]

# Level and the symbol in the algebra; no symbol where only Spark knows the operator.
BINARY: dict[str, tuple[Level, str | None]] = {
    "OR": (Level.OR, "OR"),
    "AND": (Level.AND, "AND"),
    "=": (Level.COMPARISON, "="),
    "==": (Level.COMPARISON, "="),
    "<>": (Level.COMPARISON, "<>"),
    "!=": (Level.COMPARISON, "<>"),
    "<": (Level.COMPARISON, "<"),
    "<=": (Level.COMPARISON, "<="),
    ">": (Level.COMPARISON, ">"),
    ">=": (Level.COMPARISON, ">="),
    "<=>": (Level.COMPARISON, "<=>"),
    "|": (Level.BIT_OR, None),
    "^": (Level.BIT_XOR, None),
    "&": (Level.BIT_AND, None),
    "<<": (Level.SHIFT, None),
    ">>": (Level.SHIFT, None),
    ">>>": (Level.SHIFT, None),
    "+": (Level.SUM, "+"),
    "-": (Level.SUM, "-"),
    "||": (Level.SUM, "||"),
    "*": (Level.PRODUCT, "*"),
    "/": (Level.PRODUCT, "/"),
    "%": (Level.PRODUCT, "%"),
    "DIV": (Level.PRODUCT, "DIV"),
}

LIKE_WORDS = frozenset({"LIKE", "ILIKE", "RLIKE", "REGEXP"})


def raw(span: Span, *pieces: str | Expression) -> Raw:
    """Spark syntax with neighbouring texts joined, so that equal texts give equal values."""
    parts: list[str | Expression] = []
    for piece in pieces:
        if isinstance(piece, str) and parts and isinstance(parts[-1], str):
            parts[-1] += piece
        elif piece != "":
            parts.append(piece)
    return Raw(tuple(parts), span)


def wrapped(expression: Expression) -> tuple[str | Expression, ...]:
    """The pieces of an operand of Spark syntax: in brackets where an operator could be torn apart."""
    return ("(", expression, ")") if isinstance(expression, Operator) else (expression,)
