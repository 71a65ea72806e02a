"""Literals that kernels can hold, with their types."""

from __future__ import annotations

import re
from decimal import Decimal

from trellis.analysis.types import Kind, Type

__all__ = ["read_literal"]

_MICROSECONDS = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}
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
        return _interval(text)
    if re.fullmatch(r"'([^'\\]|\\.)*'", text, re.DOTALL):
        return _string(text[1:-1])
    return _number(upper)


def _number(text: str) -> tuple[Type, int | float | None] | None:
    whole = re.fullmatch(r"(\d+)([YSL]?)", text)
    if whole:
        value = int(whole[1])
        bits = _SUFFIX_BITS.get(whole[2], 32 if value < 2**31 else 64)
        return (Type(Kind.INTEGER, bits), value) if value < 2**63 else None
    floating = re.fullmatch(r"(\d+\.?\d*|\.\d+)(E[+-]?\d+)?([DF]?)", text)
    if floating and (floating[2] or floating[3]):
        return Type(Kind.FLOAT, 32 if floating[3] == "F" else 64), float(floating[1] + (floating[2] or ""))
    if floating or re.fullmatch(r"(\d+\.?\d*|\.\d+)BD", text):
        number = Decimal(text.removesuffix("BD"))
        scale = -int(number.as_tuple().exponent)
        digits = max(len(number.as_tuple().digits), scale)
        if digits > 18:
            return None
        return Type(Kind.DECIMAL, precision=digits, scale=scale), int(number.scaleb(scale))
    return None


def _interval(text: str) -> tuple[Type, int] | None:
    """`INTERVAL '10' MINUTE`, `INTERVAL 10 MINUTES`, `INTERVAL '10 minutes'`: the forms with one unit."""
    found = re.fullmatch(r"INTERVAL\s+(-?)\s*(?:'(-?\d+)'|(-?\d+))\s*(\w+)", text, re.IGNORECASE)
    if not found:
        found = re.fullmatch(r"INTERVAL\s+(-?)\s*'\s*(-?\d+)()\s+(\w+)\s*'", text, re.IGNORECASE)
    if not found:
        return None
    unit = found[4].upper().removesuffix("S")
    if unit not in _MICROSECONDS:
        return None
    value = int(found[2] or found[3]) * _MICROSECONDS[unit]
    return Type(Kind.INTERVAL), -value if found[1] else value


def _string(body: str) -> tuple[Type, str] | None:
    if re.search(r"\\[u0-9%_]", body):
        return None
    return Type(Kind.STRING), re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), body, flags=re.DOTALL)
