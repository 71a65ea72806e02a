"""The known differences, each on a few rows: asked before a comparison, to see whether this Trino still has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from peers.client import Client


@dataclass(frozen=True)
class Demonstration:
    name: str
    clause: str
    column: str  # shown beside `id`
    standard: tuple[tuple[Any, ...], ...]  # what the standard asks for
    source: str = "SELECT * FROM (VALUES (1, 10), (2, NULL), (3, 30)) AS input (id, x)"

    @property
    def statement(self) -> str:
        return f"SELECT id, {self.column} FROM ({self.source}) MATCH_RECOGNIZE ({self.clause}) ORDER BY id"


DEMONSTRATIONS = (
    Demonstration(
        "RUNNING FIRST looks ahead",
        "ORDER BY id MEASURES FIRST(id, 1) AS m ALL ROWS PER MATCH PATTERN (A+) DEFINE A AS TRUE",
        "m",
        ((1, None), (2, 2), (3, 2)),
    ),
    Demonstration(
        "a row that does not exist has values",
        "ORDER BY id MEASURES PREV(coalesce(x, 0)) AS m ALL ROWS PER MATCH PATTERN (A+) DEFINE A AS TRUE",
        "m",
        ((1, None), (2, 10), (3, 0)),
    ),
    Demonstration(
        "PERMUTE of one is a variable",
        "ORDER BY id MEASURES CLASSIFIER() AS m ALL ROWS PER MATCH PATTERN (PERMUTE(A)) DEFINE A AS TRUE",
        "m",
        ((1, "A"), (2, "A"), (3, "A")),
    ),
    Demonstration(
        "only the first iteration may be empty",
        "ORDER BY id MEASURES CLASSIFIER() AS m ALL ROWS PER MATCH PATTERN ((D??)* C? A) DEFINE A AS x = 30",
        "m",
        ((1, "D"), (2, "C"), (3, "A")),
    ),
    # A condition that is a column alone is not asked whether it is NULL. What is stored in the place of a NULL can be
    # TRUE after rows went from one stage of a plan to the next. A table of the server makes two stages.
    Demonstration(
        "a NULL condition may hold",
        "ORDER BY id ALL ROWS PER MATCH PATTERN (A) DEFINE A AS b",
        "b",
        ((2, True), (4, True)),
        "SELECT id, b FROM system.runtime.nodes "
        "CROSS JOIN UNNEST(ARRAY[1, 2, 3, 4], ARRAY[NULL, TRUE, NULL, TRUE]) AS input (id, b)",
    ),
)


def report(client: Client) -> list[str]:
    """A line for each known difference: what this server answers."""
    lines = []
    for shown in DEMONSTRATIONS:
        rows = tuple(client.query(shown.statement).rows)
        there = "is here" if rows != shown.standard else "is not here"
        lines.append(f"  {shown.name}: {there}: {rows}, by the standard {shown.standard}")
    return lines
