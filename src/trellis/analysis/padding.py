"""Texts of a fixed length (CHAR), compared as Spark compares them in one row.

Spark fills a CHAR column up with spaces when it reads it; where two of different lengths are compared, or one with a
constant, the shorter one is filled up to the longer. That it does by the columns themselves, so it cannot where the two
are read from two rows. Beside texts without a fixed length (STRING), spaces count.

    A.code = B.short, code CHAR(5), short CHAR(3)      A.code = rpad(B.short, 5, ' ')
"""

from __future__ import annotations

import re
from dataclasses import replace

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.analysis.schema import Schema

__all__ = ["padded"]

_COMPARED = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>", "IN", "BETWEEN"})
_TEXT = re.compile(r"'([^'\\]*)'")


def padded(node: Expression, schema: Schema) -> Expression:
    """A comparison, bound, with texts of different lengths filled up; anything else as it is."""
    if not schema.lengths or not isinstance(node, e.Operator) or node.symbol not in _COMPARED:
        return node
    known = dict(schema.lengths)
    lengths = [_length(operand, known) for operand in node.operands]
    if not any(_column(operand, known) is not None for operand in node.operands) or None in lengths:
        return node
    longest = max(length for length in lengths if length is not None)
    filled = (
        operand if length == longest else _filled(operand, longest)
        for operand, length in zip(node.operands, lengths, strict=True)
    )
    return replace(node, operands=tuple(filled))


def _column(operand: Expression, known: dict[str, int]) -> int | None:
    value = operand.value if isinstance(operand, e.At) and operand.absent is None else operand
    return known.get(value.path[0]) if isinstance(value, e.Column) and len(value.path) == 1 else None


def _length(operand: Expression, known: dict[str, int]) -> int | None:
    if isinstance(operand, e.Literal) and (text := _TEXT.fullmatch(operand.text)):
        return len(text[1])
    return _column(operand, known)


def _filled(operand: Expression, length: int) -> Expression:
    match operand:
        case e.Literal(text=text):
            return replace(operand, text=f"'{text[1:-1].ljust(length)}'")
        case e.At(value=value):
            return replace(operand, value=_filled(value, length))
        case _:
            return e.Call("rpad", (operand, e.Literal(str(length)), e.Literal("' '")))
