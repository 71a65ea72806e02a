"""Literals that kernels can hold, with their types."""

from __future__ import annotations

import re
from decimal import Decimal

from trellis.algebra.literals import interval_micros, read_number
from trellis.analysis.types import MOST_DIGITS, Kind, Type

__all__ = ["read_literal"]

_SUFFIX_BITS = {"Y": 8, "S": 16, "L": 64}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a"}


def read_literal(text: str) -> tuple[Type, int | float | str | None] | None:
    """The type and the value of a literal, None if Spark must read it. Decimals are scaled to an integer."""
    upper = text.upper()
    if upper == "NULL":
        return Type(Kind.NULL), None
    if upper in ("TRUE", "FALSE"):
        return Type(Kind.BOOLEAN), int(upper == "TRUE")
    if upper.startswith("INTERVAL"):
        micros = interval_micros(text)
        return None if micros is None else (Type(Kind.INTERVAL), micros)
    if re.fullmatch(r"'([^'\\]|\\.)*'", text, re.DOTALL):
        return _string(text[1:-1])
    return _number(upper)


def _number(text: str) -> tuple[Type, int | float | None] | None:
    match read_number(text):
        case int() as whole:
            bits = _SUFFIX_BITS.get(text[-1], 32 if whole < 2**31 else 64)
            if whole < 2**63:
                return Type(Kind.INTEGER, bits), whole
            digits = len(str(whole))
            return (Type(Kind.DECIMAL, precision=digits), whole) if digits <= MOST_DIGITS and text.isdigit() else None
        case float() as real:
            return Type(Kind.FLOAT, 32 if text.endswith("F") else 64), real
        case Decimal() as exact:
            scale = max(-int(exact.as_tuple().exponent), 0)
            digits = max(len(exact.as_tuple().digits), scale)
            if digits > MOST_DIGITS:
                return None
            # Python's own arithmetic of decimals would round to 28 digits.
            return Type(Kind.DECIMAL, precision=digits, scale=scale), int(f"{exact:f}".replace(".", ""))
        case None:
            return None


def _string(body: str) -> tuple[Type, str] | None:
    if re.search(r"\\[u0-9%_]", body):
        return None
    return Type(Kind.STRING), re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), body, flags=re.DOTALL)
