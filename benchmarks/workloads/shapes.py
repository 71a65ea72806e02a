"""How throughput depends on the size of patterns, the time for planning, and the window (figures 11, 12 b–d, f–h)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from benchmarks.options import is_quick
from benchmarks.pages import table
from benchmarks.sections import Section
from benchmarks.timing import say
from benchmarks.workloads.measures import RIVALS, SEARCHES, Bench, Gains, searches
from benchmarks.workloads.patterns import Recipe
from benchmarks.workloads.plots import lines

__all__ = ["shapes"]

_STREAMS = ("stock", "traffic")
_PARTS = (3, 4, 5, 6, 7, 8)
_MINUTES = (5, 10, 15, 20)
_EVENTS = {"stock": (2_000, 4_000, 6_000), "traffic": (300, 600, 900)}
# Of streams with some hundred events.
_QUICK_EVENTS = (20, 40)
_LIMITS = (0.1, 0.5, 1.0, 2.0, 5.0)
_PLANS = (*RIVALS, *SEARCHES)


def shapes(bench: Bench) -> Section:
    """Everything but the number of patterns."""
    bodies, drawn = [], []
    for name in _STREAMS:
        usual = bench.recipe(name, bench.some((100,))[0])
        sized = _points(bench, name, _PARTS, lambda size, usual=usual: replace(usual, size=size))  # type: ignore[misc]
        bodies += [f"**{name}**: the average size of a pattern.", _table("types", sized)]
        drawn += [(size, f"{name}, {plan}", gains.median(plan)) for size, gains in sized.items() for plan in SEARCHES]
        bodies += [f"**{name}**: the time limit of planning, in seconds.", _limits(bench, name, usual)]
        for unit, points in (("minutes", _MINUTES), ("events", _QUICK_EVENTS if is_quick() else _EVENTS[name])):
            windows = _points(
                bench,
                name,
                points,
                lambda width, usual=usual, unit=unit: replace(usual, within=(unit, width)),  # type: ignore[misc]
            )
            bodies += [f"**{name}**: the window, in {unit}.", _table(unit, windows)]
    series = [f"{name}, {plan}" for name in _STREAMS for plan in SEARCHES]
    pictures = {"workloads_shapes": lines(drawn, "average size of a pattern", series)}
    head = (
        f"{bench.some((100,))[0]} patterns as above, but for what is said; medians (least–greatest) of "
        f"{_few(bench).workloads()} workloads."
    )
    return Section("shapes", "Size, time limit, window", "\n\n".join([head, *bodies]), pictures=pictures)


def _few(bench: Bench) -> Bench:
    """Fewer workloads for each point, as there are many points."""
    return replace(bench, most=3)


def _points(bench: Bench, name: str, points: Sequence[int], recipe: Callable[[int], Recipe]) -> dict[int, Gains]:
    found = {}
    for point in points if bench.scale == 1 else points[:2]:
        say(f"  {name}: {point}")
        found[point] = _few(bench).gains(name, recipe(point), searches(*_PLANS))
    return found


def _table(what: str, points: dict[int, Gains]) -> str:
    rows = [
        (f"{point:,}", *(gains.text(plan) for plan in _PLANS), f"{gains.over_rivals('annealing'):.2f}")
        for point, gains in points.items()
    ]
    return table((what, *_PLANS, "over the best rival"), rows)


def _limits(bench: Bench, name: str, recipe: Recipe) -> str:
    plans = {
        f"{strategy} {limit:g}": replace(options, seconds=limit)
        for strategy, options in searches(*SEARCHES).items()
        for limit in _LIMITS
    }
    gains = _few(bench).gains(name, recipe, plans)
    rows = [(f"{limit:g}", *(gains.text(f"{one} {limit:g}") for one in SEARCHES)) for limit in _LIMITS]
    return table(("seconds", *SEARCHES), rows)
