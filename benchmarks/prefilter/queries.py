"""The queries of the paper on row pattern joins: six patterns, three definitions, random instances, two families."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import TypeVar

from benchmarks.options import is_quick
from benchmarks.prefilter.data import SEED, Choices

__all__ = [
    "ALTERNATIVES",
    "DEFINITIONS",
    "PATTERNS",
    "SEQUENCE",
    "Query",
    "alternatives",
    "build",
    "instance",
    "instances",
    "literal",
    "sequence",
    "some",
    "variables_of",
]

T = TypeVar("T")

SEQUENCE = "(A Z* B Z* C)"
ALTERNATIVES = "((A|B) (C|D))"
PATTERNS = (
    SEQUENCE,
    "(A B C D E F G)",
    "(A B+ C D+ E F+)",
    "(A (B+ C)+ D)",
    ALTERNATIVES,
    "(A Z* (B+|C+) Z* D)",
)
"""Table 1 of the paper. Z is not defined: any report."""
DEFINITIONS = ("WithinDistrict", "PartByBeat", "DyGeoBox")

_BOX = 0.025  # degrees
_LOOPED = re.compile(r"([A-Y])\+|\(([^()]*)\)\+")


@dataclass(frozen=True, slots=True)
class Query:
    """An instance: its text (of the table `{d}`), its conditions on single rows, and the columns that it reads."""

    pattern: str
    definition: str
    number: int
    minutes: int
    text: str
    conditions: tuple[str, ...]
    columns: tuple[str, ...]

    @property
    def name(self) -> str:
        """What results are kept under."""
        window = "" if self.minutes == 30 else f" {self.minutes // 60} h"
        return f"{self.pattern} {self.definition}{window} {self.number}"


def variables_of(pattern: str) -> tuple[str, ...]:
    """The defined variables, in order."""
    return tuple(dict.fromkeys(re.findall("[A-Y]", pattern)))


def sequence(length: int) -> str:
    """The paper's first family: `(A Z* B)`, `(A Z* B Z* C)`, …"""
    return f"({' Z* '.join('ABCDEF'[:length])})"


def alternatives(length: int) -> str:
    """The paper's second family: `((A|B) (C|D))`, `((A|B) (C|D) (E|F))`, …"""
    letters = "ABCDEFGHIJKL"
    return f"({' '.join(f'({letters[2 * k]}|{letters[2 * k + 1]})' for k in range(length))})"


def instances(choices: Choices, count: int) -> list[Query]:
    """All patterns with all definitions, so many of each; the first of each come first. In a quick run, one query."""
    asked = list(product(range(count), PATTERNS, DEFINITIONS))
    return [instance(choices, pattern, definition, number) for number, pattern, definition in some(asked)]


def some(points: Sequence[T]) -> Sequence[T]:
    """All points of an axis; the first alone in a quick run."""
    return points[:1] if is_quick() else points


def instance(
    choices: Choices, pattern: str, definition: str, number: int, minutes: int = 30, seed: int = SEED
) -> Query:
    """One random instance: each variable has a type of its own, and all are in one district if the definition says so.

    The draw does not depend on the window, so that wider windows ask for the same reports.
    """
    random = Random(f"{seed} {pattern} {definition} {number}")
    types = random.sample(choices.types, len(variables_of(pattern)))
    return build(pattern, definition, number, types, random.choice(choices.districts), minutes)


def build(
    pattern: str, definition: str, number: int, types: Sequence[str], district: int | None, minutes: int = 30
) -> Query:
    """The query for these types, in the order of the variables; the district is for WithinDistrict."""
    where = f" AND district = {district}" if definition == "WithinDistrict" else ""
    named = zip(variables_of(pattern), types, strict=True)
    conditions = {name: f"primary_type = {literal(value)}{where}" for name, value in named}
    text = _text(pattern, definition, conditions, minutes)
    extra = {"WithinDistrict": ("district",), "PartByBeat": ("beat",), "DyGeoBox": ("longitude", "latitude")}
    columns = ("id", "tstamp", "primary_type", *extra[definition])
    return Query(pattern, definition, number, minutes, text, tuple(conditions.values()), columns)


def literal(text: str) -> str:
    """A string as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def _text(pattern: str, definition: str, conditions: dict[str, str], minutes: int) -> str:
    parts = ["PARTITION BY beat"] if definition == "PartByBeat" else []
    parts += ["ORDER BY tstamp, id", f"MEASURES {', '.join(_measures(pattern))}", "AFTER MATCH SKIP TO NEXT ROW"]
    parts += [f"PATTERN {pattern}", f"WITHIN INTERVAL '{minutes}' MINUTE"]
    firsts = _firsts(pattern)
    defined = []
    for name, condition in conditions.items():
        near = f" AND {_near(name, firsts)}" if definition == "DyGeoBox" and name not in firsts else ""
        defined.append(f"{name} AS {condition}{near}")
    parts.append(f"DEFINE {', '.join(defined)}")
    return f"SELECT * FROM {{d}} MATCH_RECOGNIZE ({' '.join(parts)})"


def _firsts(pattern: str) -> Sequence[str]:
    """The variables that the first report of a match may have."""
    found = re.match(r"\(*([A-Y](?:\|[A-Y])*)", pattern)
    assert found is not None
    return found[1].split("|")


def _near(name: str, firsts: Sequence[str]) -> str:
    """In the box around the first report. Where that may be one of several variables, it is the match's first row."""
    origin = f"{firsts[0]}.{{0}}" if len(firsts) == 1 else "FIRST({0})"
    return " AND ".join(
        f"{name}.{column} BETWEEN {origin.format(column)} - {_BOX} AND {origin.format(column)} + {_BOX}"
        for column in ("longitude", "latitude")
    )


def _measures(pattern: str) -> Iterator[str]:
    """The report of each variable; where it may have several, the first and the last."""
    looped = {letter for one, group in _LOOPED.findall(pattern) for letter in one + group if letter.isalpha()}
    for name in variables_of(pattern):
        if name in looped:
            yield f"FIRST({name}.id) AS {name.lower()}, LAST({name}.id) AS {name.lower()}_last"
        else:
            yield f"{name}.id AS {name.lower()}"
