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


LOGINS = [{"t": t, "x": x, "k": k} for t, x, k in ((1, 7, 0), (2, 8, 0), (3, 8, 1), (4, 9, 0), (5, 7, 1), (6, 9, 1))]
LATER = """ORDER BY t MEASURES A.t AS s, B.t AS e{more} AFTER MATCH SKIP {skip} PATTERN (A X*? B) WITHIN 100
    DEFINE A AS k = 0, B AS k = 1 AND x = A.x"""


@pytest.mark.parametrize(
    ("skip", "more", "comes"),
    [
        # A start that still waits for its end does not hold back what begins behind it.
        ("TO NEXT ROW", "", [[], [], [(2, 3)], [], [(1, 5)], [(4, 6)]]),
        # It does where matches are counted, and where it may skip others.
        ("TO NEXT ROW", ", MATCH_NUMBER() AS n", [[], [], [], [], [(1, 5), (2, 3)], [(4, 6)]]),
        ("PAST LAST ROW", "", [[], [], [], [], [(1, 5)], []]),
    ],
)
def test_a_start_waits_for_others_only_where_they_matter(
    skip: str, more: str, comes: list[list[tuple[int, int]]]
) -> None:
    schema = [("t", "int"), ("x", "int"), ("k", "int")]
    clause = LATER.format(skip=skip, more=more)
    plan = local.plan_clause(clause, schema, watermark="t")
    running = Stream(plan, local.table_of(plan, LOGINS, schema))
    running.give(range(len(LOGINS)), -FAR)
    found = []
    for row in LOGINS:
        before = len(running.found)
        running.give((), row["t"] + 1)
        found.append([(row["s"], row["e"]) for row in running.found[before:]])
    assert found == comes
    running.give((), FAR, final=True)
    expected = local.run(clause, LOGINS, schema)
    assert sorted(running.found, key=repr) == sorted(expected, key=repr)
    assert not running.bucket.rows


@pytest.mark.parametrize(
    ("more", "comes"),
    [
        # Segments wait for their own rows only: not for the other rows of the window, nor for other segments.
        ("", [[], [], [(2, 3)], [(1, 4), (3, 4)], []]),
        # Where they are counted or skip others, all that begin with a row come when its window is full.
        (", MATCH_NUMBER() AS n", [[], [], [], [(1, 4)], [(2, 3)]]),
        ("AFTER MATCH SKIP TO NEXT ROW", [[], [], [], [(1, 4)], [(2, 3)]]),
    ],
)
def test_segments_come_with_their_last_row(more: str, comes: list[list[tuple[int, int]]]) -> None:
    schema = [("t", "int"), ("x", "int")]
    rows = [{"t": t, "x": x} for t, x in ((1, 5), (2, 4), (3, 5), (4, 6), (5, 0))]
    clause = f"ORDER BY t MEASURES first(t) AS s, last(t) AS e {more} PATTERN (RISE) "
    clause += "DEFINE SEGMENT RISE AS window(2, 4) AND last(x) - first(x) = 1"
    plan = local.plan_clause(clause, schema, watermark="t")
    running = Stream(plan, local.table_of(plan, rows, schema))
    running.give(range(len(rows)), -FAR)
    found = []
    for row in rows:
        before = len(running.found)
        running.give((), row["t"] + 1)
        found.append([(row["s"], row["e"]) for row in running.found[before:]])
    assert found == comes
    running.give((), FAR, final=True)
    assert sorted(running.found, key=repr) == sorted(local.run(clause, rows, schema), key=repr)


@pytest.mark.parametrize("search", ["auto", "backtrack"])
def test_what_others_wait_for_is_no_failure(search: str) -> None:
    """The way of an undecided search is open to later starts, too."""
    clause = LATER.format(skip="TO NEXT ROW", more="").replace("AND x = A.x", "AND x = 9").replace("WITHIN 100", "")
    schema = [("t", "int"), ("x", "int"), ("k", "int")]
    plan = local.plan_clause(clause, schema, watermark="t", allow_unbounded=True, search=search)
    running = Stream(plan, local.table_of(plan, LOGINS, schema))
    running.give(range(len(running.rows)), -FAR)
    for row in LOGINS:
        running.give((), row["t"] + 1)
    assert [(row["s"], row["e"]) for row in running.found] == [(1, 6), (2, 6), (4, 6)]


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
