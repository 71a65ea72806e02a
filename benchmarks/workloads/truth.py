"""Random workloads on short streams: the definition of the tests against every strategy."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.pages import Bar
from benchmarks.sections import Section
from benchmarks.workloads.measures import Bench
from benchmarks.workloads.patterns import Made, Recipe, draw_patterns, variable_of
from benchmarks.workloads.searches import Workload
from benchmarks.workloads.streams import Stream, made_up_stream
from trellis.planning.workloads.plan import STRATEGIES, SearchOptions

# The definition is that of the tests.
sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from naive_sase import Component, Expr
from naive_workloads import Node, Pattern, match_all

__all__ = ["results"]

_PATTERNS, _TYPES, _EVENTS_A_MINUTE, _MINUTES = 12, 6, 0.12, 30
_OTHERS = (
    SearchOptions("annealing", left_deep=True, steps=200),
    SearchOptions("annealing", neighbours=4, steps=200),
    SearchOptions("tabu", neighbours=8, steps=200),
)


def results(bench: Bench) -> Section:
    """Whether every plan finds what the definition finds."""
    streams = bench.workloads(40)
    wrong = compared = searched = 0
    for seed in range(streams):
        chains = seed % 2 == 1
        columns = ("vehicles", "speed") if chains else ("diff",)
        stream = made_up_stream("short", _TYPES, _EVENTS_A_MINUTE, _MINUTES, seed, columns)
        within = ("events", 15) if seed % 4 > 1 else ("minutes", 15)
        recipe = Recipe(_PATTERNS, size=3, types=_TYPES, within=within, chains=chains, most_matches=float("inf"))
        drawn = draw_patterns(stream, recipe, seed)
        patterns = [next(drawn) for _ in range(_PATTERNS)]
        expected = defined(stream, patterns)
        workload = Workload(stream, patterns)
        for options in (*(SearchOptions(name, steps=200) for name in STRATEGIES), *_OTHERS):
            found = workload.search(workload.plan(options)).rows()
            wrong += found != expected
            searched += 1
        compared += len(expected)
    bar = Bar("plans on short streams that differ from the definition", "0", str(wrong), wrong == 0)
    body = (
        f"{streams} random workloads of {_PATTERNS} patterns on short streams, {searched:,} plans of all strategies: "
        f"the definition of the tests, {compared:,} matches, against each. That all plans find the same matches on the "
        "streams below is checked where they are measured."
    )
    return Section("results", "Results", body, (bar,))


def defined(stream: Stream, patterns: list[Made]) -> list[tuple[str, int, tuple[int, ...]]]:
    """The matches by the definition: the pattern, the number of the match, and the events."""
    rows = stream.table.to_pylist()
    found = match_all([_pattern(one) for one in patterns], rows, (), ("time", "id"))
    return sorted((one.pattern, one.match_number, tuple(event["id"] for event in one.events)) for one in found)


def _pattern(made: Made) -> Pattern:
    components = tuple(
        Component(variable_of(place), (name,), kleene=place == made.repeated, negated=place == made.absent)
        for place, name in enumerate(made.types)
    )
    conditions: list[Expr] = []
    for one in made.conditions:
        right: Expr = ("attr", one.other, None, one.column)
        if one.margin:
            right = ("op", "+", (right, ("lit", one.margin)))
        conditions.append(("op", one.symbol, (("attr", one.one, None, one.column), right)))
    unit, size = made.within
    window = ("events", size) if unit == "events" else ("time", 60 * size)
    return Pattern(made.name, Node(made.operator, components), tuple(conditions), (), window)
