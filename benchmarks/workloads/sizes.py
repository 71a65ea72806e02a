"""How throughput grows with the number of patterns, beside other searches and beside rivals (figures 10 and 12)."""

from __future__ import annotations

from benchmarks.pages import Bar, table
from benchmarks.sections import Section
from benchmarks.timing import say
from benchmarks.workloads.measures import NONE, RIVALS, SEARCHES, VARIANTS, Bench, Gains, searches
from benchmarks.workloads.plots import lines

__all__ = ["stock_sizes", "traffic_sizes"]

_SIZES = (10, 50, 100, 200, 500)
_BARS = {"stock": 40, "traffic": 30}
_OVER_ALL, _OVER_LARGEST = 1.25, 2.0


def stock_sizes(bench: Bench) -> Section:
    """Figures 10 (a), 10 (b) and 12 (a)."""
    return _sizes(bench, "stock", "Prices: the number of patterns")


def traffic_sizes(bench: Bench) -> Section:
    """Figures 10 (c), 10 (d) and 12 (e)."""
    return _sizes(bench, "traffic", "Traffic: the number of patterns")


def _sizes(bench: Bench, name: str, title: str) -> Section:
    points: dict[int, Gains] = {}
    for size in bench.some(_SIZES):
        say(f"  {size} patterns")
        points[size] = bench.gains(name, bench.recipe(name, size), searches(*RIVALS, *SEARCHES), VARIANTS)
    others = (*RIVALS, *SEARCHES)
    variants = tuple(VARIANTS)
    rows = [
        (size, *(gains.text(plan) for plan in others), f"{gains.over_rivals('annealing'):.2f}")
        for size, gains in points.items()
    ]
    more = [(size, *(gains.text(plan) for plan in variants)) for size, gains in points.items()]
    rates = [
        (
            size,
            gains.rate(NONE),
            gains.rate("annealing"),
            f"{gains.matches:,}",
            *(gains.seconds(one) for one in SEARCHES),
        )
        for size, gains in points.items()
    ]
    usual = 100 if 100 in points else max(points)
    gain = points[usual].median("annealing")
    least = min(gains.over_rivals("annealing") for gains in points.values())
    largest = points[max(points)].over_rivals("annealing")
    unequal = sum(not one.equal for gains in points.values() for one in gains.of)
    bound = _BARS[name]
    bars = (
        Bar(
            f"{name}: {usual} patterns, annealing over patterns as written", f"≥ {bound}", f"{gain:.1f}", gain >= bound
        ),
        _bar(f"{name}: annealing over the best rival, least of all sizes", _OVER_ALL, least),
        _bar(f"{name}: annealing over the best rival, {max(points)} patterns", _OVER_LARGEST, largest),
        Bar(f"{name}: workloads whose plans find different matches", "0", str(unequal), unequal == 0),
    )
    count = len(points[usual].of)
    body = "\n\n".join(
        (
            f"The throughput of plans over that of patterns as written, of {count} workloads the median "
            "(least–greatest). The last column is annealing over the best rival of each workload, where patterns as "
            "written are one.",
            table(("patterns", *others, "over the best rival"), rows),
            "The same for other neighbourhoods, and for plans that share prefixes alone, of a third of the workloads. "
            "Above, the neighbourhood is edge.",
            table(("patterns", *variants), more),
            "Thousands of events in a second, matches, and the seconds of planning, medians.",
            table(("patterns", NONE, "annealing", "matches", *(f"planning, {one}" for one in SEARCHES)), rates),
        )
    )
    drawn = [(size, plan, gains.median(plan)) for size, gains in points.items() for plan in others]
    picture = {f"workloads_{name}": lines(drawn, "patterns", others)}
    return Section(f"{name}_sizes", title, body, bars, pictures=picture)


def _bar(what: str, least: float, measured: float) -> Bar:
    return Bar(what, f"≥ {least:g}", f"{measured:.2f}", measured >= least)
