"""One query by several plans, in one job: a job for each would take most of its time to begin.

One plan has every rule; `make thorough` runs each test once more, with all of them.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import pytest

import trellis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

__all__ = ["OFF", "PLANS", "Hints", "find_by_plans"]

Hints = dict[str, Any]

OFF: Hints = {"off": ["prefilter", "eliminate_rows", "slices", "derive_window"]}
_ONE: list[Hints] = [{"slices": 1, "prefilter": "joins"}]
_ALL: list[Hints] = [
    OFF,
    {},
    {"prefilter": "masks", "off": ["eliminate_rows"]},
    {"prefilter": "joins", "off": ["eliminate_rows"]},
    {"prefilter": "ranges"},
    {"prefilter": "ranges", "symbols": ["A", "C"]},
    {"slices": 1, "off": ["eliminate_rows"]},
    {"slices": 2, "prefilter": "masks", "symbols": ["B"]},
]
PLANS = [pytest.param(_ONE, id="one"), pytest.param(_ALL, id="all", marks=pytest.mark.thorough)]


def find_by_plans(frame: DataFrame, clause: str, plans: Sequence[Hints]) -> list[list[tuple[Any, ...]]]:
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
