"""When matches come: with the rows that decide them, and no later, whatever becomes of their key."""

from __future__ import annotations

import pytest

import local
import local_workloads
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


EVENTS = [{"time": time, "type": type_} for time, type_ in ((1, "A"), (2, "C"), (8, "B"), (9, "A"))]


@pytest.mark.parametrize(
    ("patterns", "comes"),
    [
        # A match that both choices find comes once, with the first of them.
        ({"p": "PATTERN OR(SEQ(A a, ~(B b)), A a) WITHIN 3"}, [(2, "p", 1), (10, "p", 9)]),
        ({"p": "PATTERN OR(SEQ(A a, ~(B b)), SEQ(A a, C c)) WITHIN 3"}, [(3, "p", 1), (5, "p", 1), (13, "p", 9)]),
        # What must be absent is waited for as long as its own pattern has time, not those that have more.
        (
            {"p": "PATTERN SEQ(A a, ~(B b)) WITHIN 3", "q": "PATTERN SEQ(A a, ~(D d)) WITHIN 30"},
            [(5, "p", 1), (13, "p", 9), (32, "q", 1), (40, "q", 9)],
        ),
        (
            {"p": "PATTERN SEQ(A a, ~(B b)) WITHIN 3", "q": "PATTERN SEQ(A a, C c) WITHIN 3 EVENTS"},
            [(3, "q", 1), (5, "p", 1), (13, "p", 9)],
        ),
    ],
)
@pytest.mark.parametrize("steps", [range(50), range(0, 50, 7), range(49, 50)])
def test_a_match_of_a_workload_comes_once_and_with_its_own_window(
    patterns: dict[str, str], comes: list[tuple[int, str, int]], steps: range
) -> None:
    """At the first watermark beyond."""
    schema = [("time", "int"), ("type", "string")]
    plan = local_workloads.plan_patterns(patterns, schema, watermark="time")
    running = Stream(plan, local.table_of(plan, EVENTS, schema))
    running.give(range(len(running.rows)), -FAR)
    found = []
    for watermark in steps:
        before = len(running.found)
        running.give((), watermark)
        found += [(watermark, row["pattern"], row["start"]) for row in running.found[before:]]
    expected = [(next(step for step in steps if step >= at), name, start) for at, name, start in comes]
    assert sorted(found) == sorted(expected)
