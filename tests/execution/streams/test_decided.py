"""When matches come: with the rows that decide them, and no later, whatever becomes of their key."""

from __future__ import annotations

import pytest

import local
from streams import FAR, Stream

SCHEMA = [("t", "int"), ("x", "int")]
ROWS = [{"t": t, "x": x} for t, x in ((1, 2), (2, 1), (3, 3), (4, 2), (5, 0), (7, 0))]


def stream(pattern: str) -> Stream:
    clause = f"ORDER BY t MEASURES first(t) AS s, last(t) AS e {pattern}"
    plan = local.plan_clause(clause, SCHEMA, watermark="t")
    running = Stream(plan, local.table_of(plan, ROWS, SCHEMA))
    running.give(range(len(ROWS)), -FAR)
    return running


FALLS = """AFTER MATCH SKIP TO NEXT ROW PATTERN (A B* C) WITHIN 6
    DEFINE B AS x > 0 AND x < 3, C AS x > NEXT(x)"""


@pytest.mark.parametrize(
    ("pattern", "watermark", "found"),
    [
        # The rows that NEXT looks at are there, whether the windows of the matches are open or have closed.
        (FALLS, 6, [(1, 3), (2, 3)]),
        (FALLS, 9, [(1, 3), (2, 3), (3, 4)]),
        # The last row is a C if the next one is smaller, but no match asks: B is preferred.
        (FALLS.replace("B* C", "B+ C?").replace("x > 0 AND x < 3", "x > -1"), 14, [(s, 7) for s in (1, 2, 3, 4, 5)]),
        # Here one asks, from the row before it on.
        (FALLS.replace("B* C", "B*? C"), FAR, [(1, 3), (2, 3), (3, 4)]),
    ],
)
def test_a_condition_that_looks_ahead_waits_for_what_it_looks_at(
    pattern: str, watermark: int, found: list[tuple[int, int]]
) -> None:
    running = stream(pattern)
    running.give((), watermark)
    assert [(row["s"], row["e"]) for row in running.found] == found
    running.give((), FAR, final=True)
    clause = f"ORDER BY t MEASURES first(t) AS s, last(t) AS e {pattern}"
    assert running.found == local.run(clause, ROWS, SCHEMA)
