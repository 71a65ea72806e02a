"""What a user writes after an option, read: `name=path`, `name:type=value`, `key=value`."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal

__all__ = ["guessed", "hint", "limit", "memory", "named", "pair", "parameter", "port", "sample", "table_option", "zoom"]

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]*)")
_REAL = re.compile(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][+-]?[0-9]+)?")
_WORDS = {"true": True, "false": False}


def pair(text: str) -> tuple[str, str]:
    """`key=value`; the value may hold further equals signs."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ArgumentTypeError(f"{text!r} is not of the form key=value: write a name and = before it")
    return key, value


def named(text: str) -> tuple[str, str]:
    """`name=value`, where the name can stand in SQL without quotes."""
    name, value = pair(text)
    if not _NAME.fullmatch(name):
        raise ArgumentTypeError(f"{name!r} is not a name: use letters, digits and underscores")
    if not value:
        raise ArgumentTypeError(f"there is nothing after {name}=")
    return name, value


def table_option(text: str) -> tuple[str, str, str]:
    """`name.key=value`: an option of Spark's reader for one table."""
    place, value = pair(text)
    name, dot, key = place.partition(".")
    if not dot or not name or not key:
        raise ArgumentTypeError(f"{text!r} is not of the form table.key=value")
    return name, key, value


def parameter(text: str) -> tuple[str, object]:
    """`name=value`, or `name:type=value` where a guess would be wrong."""
    place, value = pair(text)
    name, colon, kind = place.partition(":")
    if not _NAME.fullmatch(name):
        raise ArgumentTypeError(f"{name!r} is not a name: use letters, digits and underscores")
    if not colon:
        return name, guessed(value)
    if kind not in _TYPES:
        raise ArgumentTypeError(f"{kind!r} is not a type of parameters; the types are {', '.join(_TYPES)}")
    try:
        return name, _TYPES[kind](value)
    except (ArithmeticError, KeyError, ValueError):
        raise ArgumentTypeError(f"{value!r} is not of the type {kind}") from None


def hint(text: str) -> tuple[str, object]:
    """`name=value`; commas make a list."""
    name, value = pair(text)
    return name, tuple(value.split(",")) if "," in value else guessed(value)


def guessed(text: str) -> object:
    """A whole number, a real number, true or false; anything else, `007` too, stays text."""
    if _WHOLE.fullmatch(text):
        return int(text)
    if _REAL.fullmatch(text):
        return float(text)
    return _WORDS.get(text.lower(), text)


def limit(text: str) -> int:
    """A number of rows; `all` is 0."""
    if text == "all":
        return 0
    if not re.fullmatch(r"[0-9]+", text) or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is neither a number of rows nor the word all")
    return int(text)


def port(text: str) -> int:
    """A port of this machine; 0 lets the system choose."""
    if not re.fullmatch(r"[0-9]{1,5}", text) or int(text) > 65_535:
        raise ArgumentTypeError(f"{text!r} is not a port, a number from 0 to 65535")
    return int(text)


def sample(text: str) -> int:
    """A number of rows that can be a sample."""
    if not re.fullmatch(r"[0-9]+", text) or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a number of rows")
    return int(text)


def memory(text: str) -> str:
    """An amount of memory as Java writes it."""
    if not re.fullmatch(r"[1-9][0-9]*[kmgt]b?", text.lower()):
        raise ArgumentTypeError(f"{text!r} is not an amount of memory, such as 4g or 800m")
    return text.lower()


def _timestamp(text: str) -> datetime:
    return datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", text))  # Python 3.10 does not know Z


_TYPES: dict[str, Callable[[str], object]] = {
    "int": int,
    "double": float,
    "decimal": Decimal,
    "boolean": lambda text: _WORDS[text.lower()],
    "string": str,
    "date": date.fromisoformat,
    "timestamp": _timestamp,
}


def zoom(text: str) -> int | tuple[int, int]:
    """`20`, or `5,20`: rows before and after."""
    rows = text.split(",")
    if len(rows) > 2 or not all(one.isascii() and one.isdigit() for one in rows):
        raise ArgumentTypeError(f"{text!r} is not a number of rows, nor two of them such as 5,20")
    return int(rows[0]) if len(rows) == 1 else (int(rows[0]), int(rows[1]))
