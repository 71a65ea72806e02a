"""Rates that change while events come: plans that stay as they are, beside plans that follow (figure 13)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from random import Random
from statistics import median

import pyarrow as pa

from benchmarks.pages import Bar, table
from benchmarks.sections import Section
from benchmarks.timing import in_turns, say
from benchmarks.workloads.measures import NONE, Bench
from benchmarks.workloads.plots import lines
from benchmarks.workloads.searches import Workload, make_workload
from benchmarks.workloads.streams import Stream
from trellis.planning.workloads.plan import SearchOptions

__all__ = ["reshuffle", "reshuffled"]

_AT_A_TIME = 5
_EVERY = (10, 30, 100, 300, 1_000)
_LASTING = (1_000, 10_000, 30_000)
_PLANS = (NONE, "static", "adaptive", "in hindsight")
_LEAST = 10.0
_WORKLOADS = 3


def reshuffled(bench: Bench) -> Section:
    """Every so many events, five types change places: in these events alone, as in the paper, or from there on."""
    few = replace(bench, most=_WORKLOADS)
    bodies, drawn, bars = [], [], []
    for name in ("stock", "traffic"):
        for lasting, points in ((False, _EVERY), (True, _LASTING)):
            rows = []
            for every in bench.some(points):
                say(f"  {name}: every {every} events{', lasting' if lasting else ''}")
                found = [_gains(few, name, every, lasting, seed) for seed in range(few.workloads())]
                gain, over_none, hindsight, rebuilt = (median(column) for column in zip(*found, strict=True))
                rows.append((f"{every:,}", f"{over_none:.1f}", f"{gain:.2f}", f"{hindsight:.2f}", f"{rebuilt:.0f}"))
                if not lasting:
                    drawn.append((1_000 / every, name, gain))
                    bars.append((f"{name}: rates reshuffled every {every:,} events, adaptive over static", gain))
            what = "and stay so: the rates drift away" if lasting else "in these events alone, as in the paper"
            columns = (
                "every … events",
                "static over none",
                "adaptive over static",
                "in hindsight over static",
                "plans",
            )
            bodies += [f"**{name}**: five types change places {what}.", table(columns, rows)]
    head = (
        "A hundred patterns as above. *Static* is the plan for the stream as it was before its types changed places, "
        "*adaptive* begins with that and follows the events, *in hindsight* is a plan for the rates of the whole "
        f"stream as it became. Medians of {few.workloads()} workloads; *plans* is how often the plan was made anew."
    )
    return Section(
        "reshuffled",
        "Rates that change",
        "\n\n".join([head, *bodies]),
        tuple(Bar(what, f"≥ {_LEAST:g}", f"{gain:.2f}", gain >= _LEAST) for what, gain in bars),
        pictures={"workloads_reshuffled": lines(drawn, "changes in 1,000 events", ("stock", "traffic"), _OVER_STATIC)},
    )


_OVER_STATIC = "throughput, adaptive over static"


def reshuffle(stream: Stream, every: int, lasting: bool, seed: int) -> Stream:
    """The stream, in whose events some types change places again and again: until the next change, or for good."""
    random = Random(f"{stream.name}/{every}/{seed}")
    names = sorted(stream.counts)
    now = {name: name for name in names}
    types: list[str] = []
    given = stream.table["type"].to_pylist()
    for begin in range(0, len(given), every):
        if not lasting:
            now = {name: name for name in names}
        chosen = random.sample(names, min(_AT_A_TIME, len(names)))
        moved = random.sample(chosen, len(chosen))
        there = [now[name] for name in moved]
        now.update(zip(chosen, there, strict=True))
        types += [now[name] for name in given[begin : begin + every]]
    table = stream.table.set_column(stream.table.schema.get_field_index("type"), "type", pa.array(types, pa.string()))
    return Stream(stream.name, table, stream.minutes, stream.compared)


def _gains(bench: Bench, name: str, every: int, lasting: bool, seed: int) -> tuple[float, float, float, float]:
    """Adaptive over static, static over none, in hindsight over static, and how often the plan was made anew."""
    stream = bench.stream(name)
    before = make_workload(stream, bench.recipe(name, bench.some((100,))[0]), seed)
    after = Workload(reshuffle(stream, every, lasting, seed), before.patterns)
    options = SearchOptions("annealing", seconds=bench.seconds(2.0))
    known = Workload(after.stream, before.patterns, before.statistics)
    static = known.plan(options)
    searches = {
        NONE: after.search(after.plan(SearchOptions(NONE))),
        "static": known.search(static),
        "adaptive": known.search(static, adapt=True),
        "in hindsight": after.search(after.plan(options)),
    }
    found = {plan: search.found() for plan, search in searches.items()}
    assert all(one == found[NONE] for one in found.values()), "plans find different matches"
    # A plan that follows begins anew in each round.
    jobs: dict[str, Callable[[], int]] = {plan: search.run_anew for plan, search in searches.items()}
    rounds = in_turns(jobs, bench.repeats, warm_up=False, clock=time.process_time, once_above=0.5, tell=False)
    seconds = {plan: rounds.median(plan) for plan in _PLANS}
    return (
        seconds["static"] / seconds["adaptive"],
        seconds[NONE] / seconds["static"],
        seconds["static"] / seconds["in hindsight"],
        float(searches["adaptive"].matcher.rebuilt),
    )
