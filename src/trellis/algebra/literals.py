"""The values of numbers and intervals as SQL writes them. What is not understood here, Spark reads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

__all__ = ["MICROSECONDS", "Interval", "in_largest_unit", "interval_micros", "read_interval", "read_number"]

MICROSECONDS = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}
"""The units of fixed length."""

_MONTHS = {"MONTH": 1, "YEAR": 12}
# The units of `'1 02:03:04' DAY TO SECOND`, in order.
_FIELDS = ("DAY", "HOUR", "MINUTE", "SECOND")
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)(E[+-]?\d+)?(BD|[LSYDF])?", re.IGNORECASE)
_AMOUNT = re.compile(r"([+-]?)\s*(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-z]+)")


@dataclass(frozen=True, slots=True)
class Interval:
    """A length of time: months, which differ in length, and microseconds."""

    months: int
    micros: int


def read_number(text: str) -> int | float | Decimal | None:
    """The value of a number: whole (`1`, `1L`), floating (`1e3`, `1.5D`) or decimal (`1.5`, `1BD`)."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    digits, exponent, suffix = found[1], found[2] or "", (found[3] or "").upper()
    if suffix in ("D", "F") or (exponent and not suffix):
        return float(digits + exponent)
    if suffix == "BD":
        return Decimal(digits + exponent)
    if not digits.isdigit():
        return None if suffix else Decimal(digits)
    return None if exponent else int(digits)


def read_interval(text: str) -> Interval | None:
    """The length of `INTERVAL '2' HOUR`, `INTERVAL '1 day 2 hours'`, `INTERVAL '1 02:03' DAY TO MINUTE`."""
    words = re.fullmatch(r"INTERVAL\s+(.*)", text.strip(), re.IGNORECASE | re.DOTALL)
    if words is None:
        return None
    spanning = re.fullmatch(r"([+-]?)\s*(['\"])(.*)\2\s+([A-Za-z]+)\s+TO\s+([A-Za-z]+)", words[1], re.DOTALL)
    if spanning is not None:
        return _spanning(spanning[1] + spanning[3].strip(), spanning[4].upper(), spanning[5].upper())
    bare = re.sub(r"(?i)^interval\s", "", re.sub(r"['\"]", " ", words[1]).strip())
    amounts = _AMOUNT.findall(bare)
    if not amounts or _AMOUNT.sub("", bare).strip():
        return None
    months, micros = Decimal(0), Decimal(0)
    for sign, number, word in amounts:
        amount = Decimal(f"{sign}{number}")
        unit = word.upper() if word.upper() in (*MICROSECONDS, *_MONTHS) else word.upper().removesuffix("S")
        if unit in _MONTHS and amount == amount.to_integral_value():
            months += amount * _MONTHS[unit]
        elif unit in MICROSECONDS and (unit == "SECOND" or amount == amount.to_integral_value()):
            micros += amount * MICROSECONDS[unit]
        else:
            return None
    return Interval(int(months), int(micros)) if micros == micros.to_integral_value() else None


def interval_micros(text: str) -> int | None:
    """The microseconds of an interval of fixed length; None for others."""
    interval = read_interval(text)
    return None if interval is None or interval.months else interval.micros


def in_largest_unit(micros: int) -> tuple[int, str]:
    """Microseconds as a number of the largest unit that needs no fraction."""
    unit = next(unit for unit in reversed(MICROSECONDS) if micros % MICROSECONDS[unit] == 0)
    return micros // MICROSECONDS[unit], unit


def _spanning(value: str, first: str, last: str) -> Interval | None:
    """Numbers below one sign, from a unit to a smaller one."""
    sign = -1 if value.startswith("-") else 1
    value = value.lstrip("+-")
    if (first, last) == ("YEAR", "MONTH"):
        parts = re.fullmatch(r"(\d+)-(\d+)", value)
        return None if parts is None else Interval(sign * (int(parts[1]) * 12 + int(parts[2])), 0)
    if first not in _FIELDS or last not in _FIELDS or _FIELDS.index(first) >= _FIELDS.index(last):
        return None
    units = _FIELDS[_FIELDS.index(first) : _FIELDS.index(last) + 1]
    numbers = re.split(r"[ :]+", value)
    if len(numbers) != len(units) or not all(re.fullmatch(r"\d+(\.\d+)?", number) for number in numbers):
        return None
    if any("." in number and unit != "SECOND" for number, unit in zip(numbers, units, strict=True)):
        return None
    micros = sum(Decimal(number) * MICROSECONDS[unit] for number, unit in zip(numbers, units, strict=True))
    return Interval(0, sign * int(micros)) if micros == int(micros) else None
