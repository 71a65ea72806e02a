"""How far runs come, against the definition: simulate all runs, and look at which events they take, and where."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

from hypothesis import event, given

import local
import naive_sase as naive
from naive_sase import Event, EventQuery, Match, Run
from properties.test_events import queries, render, streams
from trellis.analysis.stages import stages_of
from trellis.languages.sase import parse_sase_text

_SCHEMA = [("id", "int"), ("type", "string"), ("time", "int"), ("x", "int"), ("y", "double"), ("k", "int")]


def expected(query: EventQuery, events: list[Event]) -> list[set[Match]]:
    """For each stage the runs that come so far, as the events that they have taken by then.

    A repeated component with conditions on the whole of it has two stages: taken into it, and complete with it. What
    must be absent comes last: the matches that are left.
    """
    stages: list[set[Match]] = []
    seen = {run.buffer for run in every_run(query, events)}
    for component in naive.positive(query):
        inside = {buffer for buffer in seen if buffer[-1][0] == component.variable}
        stages.append(inside)
        if (component.variable, "proceed") in places(query):
            stages.append({buffer for buffer in inside if naive.proceed(query, events, component, buffer)})
    left = naive.accepted(query, events)
    for number, component in enumerate(query.components):
        if component.negated:
            left = {
                match
                for match in left
                if not any(
                    naive.contradicts(query, events, match, component, position)
                    for position in naive.forbidden(query, events, match, number, partial=False)
                )
            }
            stages.append(left)
    return stages


def every_run(query: EventQuery, events: list[Event]) -> set[Run]:
    """Every run at every time, those that fail later, too."""
    seen: set[Run] = set()
    runs: set[Run] = set()
    for position in range(len(events)):
        moved = {new for run in [*runs, Run((), 0)] for new in naive.moves(query, events, run, position)}
        seen |= moved
        runs = {run for run in moved if naive.automaton(query)[run.state].component is not None}
    return seen


def places(query: EventQuery) -> set[tuple[str, str]]:
    """The edges that have conditions."""
    negated = naive.negated(query)
    return {naive.edge_of(one, query) for one in query.predicates if not naive.variables_of(one) & negated}


@given(queries(), streams())
def test_stages_are_what_runs_take(query: EventQuery, stream: list[dict[str, Any]]) -> None:
    wanted = expected(query, stream)
    event(f"{sum(map(bool, wanted))} of {len(wanted)} stages are reached")
    stages = stages_of(parse_sase_text(render(query), time_columns=("time", "id")), local.source_of(_SCHEMA))
    found = [local.run(stage.query, stream, _SCHEMA) for stage in stages]
    # One row for each event that is taken, with the number of runs that take it.
    taken = [Counter(map(naive.last_event, runs)) for runs in wanted]
    assert [sorted((row["time"], int(row["runs"])) for row in rows) for rows in found] == [
        sorted((stream[position]["time"], runs) for position, runs in counted.items()) for counted in taken
    ], render(query)
    for earlier, later in pairwise(wanted):
        assert earlier or not later  # so no stage after an empty one need be searched
