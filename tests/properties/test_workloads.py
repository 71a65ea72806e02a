"""Random workloads: every plan finds what the definition finds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_workloads import plan_patterns, run_plan
from naive_workloads import Pattern, clauses, components, variables_of
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
        (row["pattern"], row["match_number"], str(row["start"]), str(row["end"]), tuple(e["id"] for e in row["events"]))
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
