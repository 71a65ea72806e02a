"""What an engine answers, and whether two answers are the same."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from naive import Row

SKIP = "skip"  # the refusal that both engines owe: AFTER MATCH SKIP to a row that cannot be
GIVEN_UP = "EXCEEDED_TIME_LIMIT"  # Trino's name for a query that it ended for want of time


@dataclass(frozen=True)
class Answer:
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Refusal:
    kind: str  # SKIP, or the name of the error
    message: str = ""


Outcome = Answer | Refusal


def is_given_up(outcome: Outcome) -> bool:
    return isinstance(outcome, Refusal) and outcome.kind == GIVEN_UP


def same(left: Outcome, right: Outcome) -> bool:
    """Equal rows as multisets, floats nearly; or both refuse for the same reason."""
    match left, right:
        case Answer(ours), Answer(theirs):
            return same_rows(ours, theirs)
        case Refusal(ours), Refusal(theirs):
            return ours == theirs
    return False


def same_rows(left: Sequence[Row], right: Sequence[Row]) -> bool:
    ours, theirs = [plain(row) for row in left], [plain(row) for row in right]
    if len(ours) != len(theirs):
        return False
    if Counter(ours) == Counter(theirs):
        return True
    # Sums of squares differ in their last digit: sort alike, then compare nearly.
    pairs = zip(sorted(ours, key=sort_key), sorted(theirs, key=sort_key), strict=True)
    return all(near(one, other) for one, other in pairs)


def plain(row: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """A row by the names of its columns. An array loses its NULLs, and an empty one is NULL (see docs/peers.md)."""
    return tuple(
        (name, tuple(item for item in value if item is not None) or None if isinstance(value, list | tuple) else value)
        for name, value in sorted(row.items())
    )


def sort_key(value: Any) -> Any:
    if isinstance(value, tuple):
        return 3, tuple(sort_key(item) for item in value)
    if value is None:
        return 0, 0
    if isinstance(value, str):
        return 2, value
    return 1, round(float(value), 6)


def near(left: Any, right: Any) -> bool:
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(near, left, right))
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)
    return bool(left == right)


def by_table(rows: Iterable[Row], tables: int) -> list[Answer]:
    """The rows of one answer, table by table."""
    parts: list[list[Row]] = [[] for _ in range(tables)]
    for row in rows:
        # A query without PARTITION BY is asked about one table, whose number it may not show.
        parts[row.get("c", 0)].append(row)
    return [Answer(tuple(part)) for part in parts]
