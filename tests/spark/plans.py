"""One query by several plans, in one job: a job for each would take most of its time to begin."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import trellis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

__all__ = ["find_by_plans"]


def find_by_plans(frame: DataFrame, clause: str, plans: Sequence[dict[str, Any]]) -> list[list[tuple[Any, ...]]]:
    """The rows that a MATCH_RECOGNIZE clause gives with each of some hints, sorted by their texts."""
    text = f"SELECT * FROM {{t}} MATCH_RECOGNIZE ({clause})"
    results = [
        trellis.sql(text, t=frame, hints=hints).selectExpr(f"{number} AS __plan", "*")
        for number, hints in enumerate(plans)
    ]
    found: list[list[tuple[Any, ...]]] = [[] for _ in plans]
    for row in reduce(lambda some, more: some.unionAll(more), results).collect():
        found[row[0]].append(tuple(row)[1:])
    return [sorted(rows, key=repr) for rows in found]
