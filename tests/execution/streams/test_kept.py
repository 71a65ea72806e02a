"""What `explain` says is kept of a key for ever is what is kept of keys that are never seen again."""

from __future__ import annotations

import pytest

import local
import local_workloads
from streams import FAR, Stream
from trellis.algebra.plan import Plan
from trellis.errors import DataError
from trellis.execution.open_series import EVER, kept_for_ever
from trellis.languages.sase import parse_sase_text
from trellis.planning.describe.plan import describe_parts

SCHEMA = [("k", "string"), ("t", "int"), ("type", "string"), ("x", "int")]
ROWS = [{"k": "ab"[n % 2], "t": n, "type": "AB"[n // 2 % 2], "x": n * 7 % 5} for n in range(15)]
NUMBER, BEGUN = "the number of its last match", "that it has begun (`^`)"
OPEN, AHEAD = "what waits for its next rows (no window of time closes)", "what waits for its next rows (NEXT)"


def of_rows(pattern: str, measures: str = "first(t) AS s") -> Plan:
    clause = f"PARTITION BY k ORDER BY t MEASURES {measures} {pattern}"
    return local.plan_clause(clause, SCHEMA, watermark="t", allow_unbounded=True)


def of_events(window: str, measures: str = "RETURN a.t AS s") -> Plan:
    query = parse_sase_text(f"PATTERN SEQ(A a, B b) WHERE {{ [k] }} WITHIN {window} {measures}", time_columns="t")
    return local.plan_clause(query, SCHEMA, watermark="t")


def of_workload(window: str) -> Plan:
    patterns = {"p": f"PATTERN SEQ(A a, B b) WITHIN {window}"}
    return local_workloads.plan_patterns(patterns, SCHEMA, ("k",), time=("t",), watermark="t")


@pytest.mark.parametrize(
    ("plan", "kept"),
    [
        (of_rows("PATTERN (A B+) WITHIN 5 DEFINE B AS x > 1"), []),
        (of_rows("PATTERN (A DOWN+) WITHIN 5 DEFINE DOWN AS x < PREV(x)"), []),
        (of_rows("PATTERN (DOWN+) WITHIN 5 DEFINE DOWN AS x < PREV(x)"), ["its last row (PREV)"]),
        (of_rows("PATTERN (A) WITHIN 5", "PREV(x, 3) AS p"), ["its last 3 rows (PREV)"]),
        (of_rows("PATTERN (^ A B) WITHIN 5"), [BEGUN]),
        (of_rows("PATTERN (A B) WITHIN 5", "match_number() AS n"), [NUMBER]),
        (of_rows("ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A B) WITHIN 5 DEFINE B AS x > A.x"), []),
        (of_rows("PATTERN (A | B) DEFINE B AS x > 1"), []),
        (of_rows("PATTERN (A B?) DEFINE B AS x > 1"), [OPEN]),
        (of_rows("PATTERN (A)", "next(t) AS s"), [AHEAD]),
        (of_rows("PATTERN (A) WITHIN 5", "next(t) AS s"), [AHEAD]),
        (of_rows("PATTERN (A B) WITHIN 5 DEFINE A AS x <= NEXT(x, 2)"), [AHEAD]),
        (of_rows("PATTERN (A B+) DEFINE B AS x > 1"), [OPEN]),
        (of_rows("PATTERN (W) DEFINE SEGMENT W AS window(2, 3) AND last(x) > first(x)"), [OPEN]),
        (of_events("4"), []),
        (of_events("4", ""), [NUMBER]),
        (of_events("4 events"), [OPEN]),
        (of_workload("4"), []),
        (of_workload("4 events"), [OPEN]),
    ],
)
def test_keys_that_are_never_seen_again(plan: Plan, kept: list[str]) -> None:
    assert kept_for_ever(plan.scan) == kept
    assert f"never seen again, {' and '.join(kept) or 'nothing'} is kept" in describe_parts(plan, kept=kept)
    stream = Stream(plan, local.table_of(plan, ROWS, SCHEMA))
    stream.give(range(len(ROWS)), -FAR)
    for watermark in (10**6, FAR):
        stream.give((), watermark)
    bucket = stream.bucket
    assert (len(bucket.lengths) > 0) == bool(kept)
    assert (bucket.rows > 0) == any(what in (OPEN, AHEAD) or "PREV" in what for what in kept)


@pytest.mark.parametrize("watermark", [EVER, -FAR, 3])
def test_rows_without_a_time_are_late_even_before_there_is_a_watermark(watermark: int) -> None:
    plan = of_rows("ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A B) WITHIN 5 DEFINE B AS x > A.x")
    rows = [*ROWS[3:6], {"k": "a", "t": None, "type": "A", "x": 0}]
    stream = Stream(plan, local.table_of(plan, rows, SCHEMA))
    stream.give(range(len(rows)), watermark)
    stream.give((), FAR)
    assert stream.late == 1
    assert sorted(row["t"] for row in stream.found) == [3, 4, 5]


def test_late_rows_that_end_a_query_are_told_apart() -> None:
    clause = "PARTITION BY k ORDER BY t MEASURES t AS s PATTERN (A) WITHIN 5"
    plan = local.plan_clause(clause, SCHEMA, watermark="t", late="error")
    rows = [{**ROWS[0], "t": time} for time in (7, 3, None, 4)]
    stream = Stream(plan, local.table_of(plan, rows, SCHEMA))
    with pytest.raises(DataError, match=r"3 rows came too late: 2 up to 2e-06 s behind the watermark \(3\), 1 without"):
        stream.give(range(len(rows)), 5)
    with pytest.raises(DataError, match=r"1 row came too late: 1 without a time\."):
        stream.give([2], EVER)
