"""What the standard asks for is what Trellis gives, where Trino is known to differ."""

from __future__ import annotations

import pytest

import local
from peers.demonstrations import DEMONSTRATIONS, Demonstration
from peers.known import KNOWN

ROWS = [
    {"id": 1, "x": 10, "b": None},
    {"id": 2, "x": None, "b": True},
    {"id": 3, "x": 30, "b": None},
    {"id": 4, "x": 0, "b": True},
]


@pytest.mark.parametrize("shown", DEMONSTRATIONS, ids=lambda shown: shown.name)
def test_trellis_follows_the_standard(shown: Demonstration) -> None:
    rows = ROWS if shown.column == "b" else ROWS[:3]
    found = local.run(shown.clause, rows, [("id", "int"), ("x", "int"), ("b", "boolean")])
    assert tuple((row["id"], row[shown.column]) for row in found) == shown.standard


def test_each_known_difference_is_demonstrated() -> None:
    assert {known.name for known in KNOWN} <= {shown.name for shown in DEMONSTRATIONS}
