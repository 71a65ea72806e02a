"""How good plans are after how long, and what a thousand patterns need."""

from __future__ import annotations

from benchmarks.memory import forget_peak, held_now, peak_so_far
from benchmarks.pages import Bar, table
from benchmarks.sections import Section
from benchmarks.timing import say
from benchmarks.workloads.measures import Bench
from benchmarks.workloads.plots import lines
from benchmarks.workloads.searches import Workload, make_workload
from trellis.planning.workloads.plan import SearchOptions

__all__ = ["planning"]

_LONGEST, _SHORT, _WITHIN = 180.0, 5.0, 1.10
_TOLD = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 180.0)


def planning(bench: Bench) -> Section:
    """The cost over time, and large workloads."""
    longest = bench.seconds(_LONGEST)
    rows, bars, drawn = [], [], []
    for name in ("stock", "traffic"):
        say(f"  {name}: {longest:g} s")
        workload = make_workload(bench.stream(name), bench.recipe(name, bench.some((100,))[0]), 0)
        planned = workload.plan(SearchOptions("annealing", seconds=longest)).workload
        trace = [(seconds, cost) for _, seconds, cost in planned.trace]
        last = min(cost for _, cost in trace)
        for limit in _TOLD:
            if limit <= longest:
                cost = _cost_at(trace, limit)
                rows.append((name, f"{limit:g}", f"{cost:,.0f}", f"{cost / last:.3f}"))
                drawn.append((limit, name, cost / last))
        soon = _cost_at(trace, min(_SHORT, longest)) / last
        what = f"{name}: cost after {_SHORT:g} s over that after {_LONGEST:g} s, 100 patterns"
        bars.append(Bar.at_most(what, _WITHIN, soon))
    pictures = {"workloads_planning": lines(drawn, "seconds of planning", ("stock", "traffic"), "cost over the last")}
    body = "\n\n".join(
        (
            "The cost (instances in a window) of the best plan that annealing has seen after a time, in one run.",
            table(("stream", "seconds", "cost", "over the last"), rows),
            _large(bench),
        )
    )
    return Section("planning", "Planning", body, tuple(bars), pictures=pictures)


def _cost_at(trace: list[tuple[float, float]], limit: float) -> float:
    """The cost of the best plan so far; of the first plan before it is known."""
    return min([cost for seconds, cost in trace if seconds <= limit], default=trace[0][1])


def _large(bench: Bench) -> str:
    """A thousand patterns, bound and planned."""
    stream, recipe = bench.stream("stock"), bench.recipe("stock", bench.some((1_000,))[0])
    patterns = make_workload(stream, recipe, 1).patterns
    rows = []
    for strategy in ("none", "reordering", "merging", "annealing", "tabu"):
        workload = Workload(stream, patterns)
        forget_peak()
        before = held_now()
        planned = workload.plan(SearchOptions(strategy, seconds=bench.seconds(_SHORT)))
        rows.append(
            (
                strategy,
                f"{planned.seconds:.1f}",
                f"{max(0, peak_so_far() - before) / 1e6:.0f}",
                f"{len(planned.workload.plan):,}",
                f"{planned.workload.cost:,.0f}",
            )
        )
    head = ("strategy", "seconds", "MB more", "nodes", "cost")
    return f"{len(patterns):,} patterns, {_SHORT:g} s for the searches:\n\n{table(head, rows)}"
