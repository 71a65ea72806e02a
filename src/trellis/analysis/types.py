"""The types that kernels know, and how Spark's types map to them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

__all__ = [
    "MOST_DIGITS",
    "NARROW_DIGITS",
    "Kind",
    "Type",
    "as_decimal",
    "bounds_of",
    "common_type",
    "decimal_result",
    "type_from_spark",
]


class Kind(Enum):
    """How a value is held: floats in float64, all else in int64; decimals of more than 18 digits in two of them."""

    NULL = "void"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "double"
    STRING = "string"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMP_NTZ = "timestamp_ntz"
    INTERVAL = "interval day to second"


@dataclass(frozen=True, slots=True)
class Type:
    """A kind, for integers the number of bits, for decimals precision and scale, for floats 32 or 64 bits."""

    kind: Kind
    bits: int = 64
    precision: int = 0
    scale: int = 0

    @property
    def is_float(self) -> bool:
        """Whether values lie in float64."""
        return self.kind is Kind.FLOAT

    @property
    def is_wide(self) -> bool:
        """Whether values need two words."""
        return self.kind is Kind.DECIMAL and self.precision > NARROW_DIGITS

    @property
    def is_number(self) -> bool:
        """Whether the type takes part in arithmetic."""
        return self.kind in (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)


_SIMPLE = {
    "void": Type(Kind.NULL),
    "boolean": Type(Kind.BOOLEAN),
    "tinyint": Type(Kind.INTEGER, 8),
    "smallint": Type(Kind.INTEGER, 16),
    "int": Type(Kind.INTEGER, 32),
    "bigint": Type(Kind.INTEGER, 64),
    "float": Type(Kind.FLOAT, 32),
    "double": Type(Kind.FLOAT, 64),
    "string": Type(Kind.STRING),
    "binary": Type(Kind.STRING, 8),
    "date": Type(Kind.DATE),
    "timestamp": Type(Kind.TIMESTAMP),
    "timestamp_ntz": Type(Kind.TIMESTAMP_NTZ),
}

NARROW_DIGITS = 18
"""How many digits of a decimal fit into int64, whatever they are."""
MOST_DIGITS = 38
"""How many digits a decimal of Spark has at most."""

# How many decimal digits hold every value of an integer type; as in Spark.
_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}


def type_from_spark(text: str, digits: int = NARROW_DIGITS) -> Type | None:
    """The kernel type of a Spark type (`simpleString`), None if it cannot be held; `digits` are those of decimals."""
    if text in _SIMPLE:
        return _SIMPLE[text]
    if re.fullmatch(r"(var)?char\(\d+\)", text):
        return _SIMPLE["string"]
    decimal = re.fullmatch(r"decimal\((\d+),(-?\d+)\)", text)
    if decimal:
        precision, scale = int(decimal[1]), int(decimal[2])
        return Type(Kind.DECIMAL, precision=precision, scale=scale) if precision <= digits else None
    if text.startswith("interval") and not re.search("year|month", text):
        return Type(Kind.INTERVAL)
    return None


def bounds_of(type_: Type) -> tuple[int, int] | None:
    """The least and the greatest value of an integer type narrower than 64 bits."""
    if type_.kind is Kind.INTEGER and type_.bits < 64:
        return -(2 ** (type_.bits - 1)), 2 ** (type_.bits - 1) - 1
    return None


def common_type(left: Type, right: Type) -> Type | None:
    """The type to which both sides of a comparison (or all branches of a CASE) are brought; None if there is none."""
    if left == right or right.kind is Kind.NULL:
        return left
    if left.kind is Kind.NULL:
        return right
    if left.is_number and right.is_number:
        if left.is_float or right.is_float:
            both = left.is_float and right.is_float
            return Type(Kind.FLOAT, max(left.bits, right.bits) if both else 64)
        if left.kind is Kind.INTEGER and right.kind is Kind.INTEGER:
            return left if left.bits >= right.bits else right
        a, b = as_decimal(left), as_decimal(right)
        scale = max(a.scale, b.scale)
        return Type(Kind.DECIMAL, precision=scale + max(a.precision - a.scale, b.precision - b.scale), scale=scale)
    instants = {Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ}
    if left.kind in instants and right.kind in instants:
        return Type(Kind.TIMESTAMP if Kind.TIMESTAMP in (left.kind, right.kind) else Kind.TIMESTAMP_NTZ)
    return left if left.kind is right.kind and left.bits == right.bits else None


def decimal_result(symbol: str, left: Type, right: Type) -> Type:
    """The type of an operation on two decimals by Spark's rules, without the limit of 38 digits."""
    whole, scale = (left.precision - left.scale, right.precision - right.scale), max(left.scale, right.scale)
    match symbol:
        case "*":
            return Type(Kind.DECIMAL, precision=left.precision + right.precision + 1, scale=left.scale + right.scale)
        case "/":
            scale = max(6, left.scale + right.precision + 1)
            return Type(Kind.DECIMAL, precision=whole[0] + right.scale + scale, scale=scale)
        case "%":
            return Type(Kind.DECIMAL, precision=min(whole) + scale, scale=scale)
        case _:
            return Type(Kind.DECIMAL, precision=max(whole) + scale + 1, scale=scale)


def as_decimal(type_: Type) -> Type:
    """An integer type as a decimal type."""
    if type_.kind is Kind.DECIMAL:
        return type_
    return Type(Kind.DECIMAL, precision=_DIGITS[type_.bits], scale=0)
