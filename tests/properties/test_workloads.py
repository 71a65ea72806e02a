"""Random workloads: every plan finds what the definition finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from local import sorted_rows
from local_workloads import plan_patterns, run_plan
from naive_workloads import Pattern, clauses, components, variables_of
from properties.test_streams import arrivals
from streams import run_stream
from trellis.planning.workloads.plan import STRATEGIES, SearchOptions
from workload_cases import TIME, Case, cases
from workload_traps import TRAPS, Trap

SCHEMA = (("id", "int"), ("type", "string"), ("time", "int"), ("x", "int"), ("y", "int"), ("k", "int"))

options = st.builds(
    SearchOptions,
    strategy=st.sampled_from(STRATEGIES),
    left_deep=st.booleans(),
    neighbours=st.sampled_from((2, 3, 4)),
    seconds=st.just(5.0),
    steps=st.sampled_from((1, 10, 40)),
    seed=st.integers(0, 3),
)


def found(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Results in a form that can be sorted, without what partitions they are of."""
    return sorted(
        (
            row["pattern"],
            row["match_number"] or 0,
            str(row["start"]),
            str(row["end"]),
            tuple(e["id"] for e in row["events"]),
        )
        for row in rows
    )


def expected(case: Case) -> list[tuple[Any, ...]]:
    return sorted(
        (one.pattern, one.match_number, str(one.start), str(one.end), tuple(event["id"] for event in one.events))
        for one in case.expected()
    )


def said(pattern: Pattern) -> Pattern:
    """The pattern without conditions between events that are never in one match: they are refused."""
    together = [{one.variable for one in components(clause)} for clause in clauses(pattern.structure)]
    kept = [one for one in pattern.conditions if any(variables_of(one) <= there for there in together)]
    return replace(pattern, conditions=tuple(kept))


@given(cases(), options)
def test_workloads(case: Case, options: SearchOptions) -> None:
    case = replace(case, patterns=tuple(map(said, case.patterns)))
    plan = plan_patterns(case.texts, SCHEMA, case.partition_by, TIME, options)
    assert found(run_plan(plan, case.rows, SCHEMA)) == expected(case)


@given(cases(), options, st.data())
def test_streams(case: Case, options: SearchOptions, data: DataObject) -> None:
    rows = [row for row in case.rows if row["time"] is not None]
    assume(rows)
    case = replace(case, patterns=tuple(map(said, case.patterns)), rows=tuple(rows))
    plan = plan_patterns(case.texts, SCHEMA, case.partition_by, TIME, options, watermark="time", allow_unbounded=True)
    assert plan.stream is not None
    table = sorted_rows(plan, case.rows, SCHEMA)
    times = table.column(plan.stream.time).to_pylist()
    batches, delay = arrivals(times, data)
    stream = run_stream(plan, table, batches, times, delay)
    assert stream.late == 0
    assert all(row["match_number"] is None for row in stream.found)
    assert without_numbers(found(stream.found)) == without_numbers(expected(case))


def without_numbers(matches: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Matches of streams have no numbers."""
    return sorted((pattern, *rest) for pattern, _, *rest in matches)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("trap", TRAPS, ids=str)
def test_traps(trap: Trap, strategy: str) -> None:
    # A width of zero is refused; where all times are equal, any other does the same.
    patterns = [replace(one, within=("time", 1)) if one.within == ("time", 0) else one for one in trap.patterns]
    case = Case(tuple(patterns), trap.rows)
    plan = plan_patterns(case.texts, SCHEMA, (), TIME, SearchOptions(strategy, steps=20))
    rows = run_plan(plan, case.rows, SCHEMA)
    for pattern, matches in trap.matches.items():
        mine = sorted((row["match_number"], row["events"]) for row in rows if row["pattern"] == pattern)
        assert [" ".join(str(event["id"]) for event in events) for _, events in mine] == matches
    assert found(rows) == expected(case)
