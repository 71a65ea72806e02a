"""What gains depend on: how much patterns have in common, and how much the rates of their types differ (figure 14)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import median

from benchmarks.options import is_quick
from benchmarks.pages import table
from benchmarks.sections import Section
from benchmarks.timing import say
from benchmarks.workloads.measures import Bench, Gains, searches
from benchmarks.workloads.patterns import Recipe
from benchmarks.workloads.plots import lines

__all__ = ["sensitivity"]

_PLANS = ("sharing", "reordering", "annealing", "tabu")
_TYPES = {"stock": (10, 20, 50, 100), "traffic": (8, 12, 20, 30)}
_DIFFERENCES = (0.25, 0.5, 0.75, 1.0)


def sensitivity(bench: Bench) -> Section:
    """Fewer types give patterns more in common; types of like rates leave less to reorder."""
    few = replace(bench, most=3)
    bodies, pictures = [], {}
    for name in ("stock", "traffic"):
        usual = bench.recipe(name, bench.some((100,))[0])
        shared = {
            types: _gains(few, name, replace(usual, types=types)) for types in _TYPES[name][-2 if is_quick() else 0 :]
        }
        bodies += [
            f"**{name}**: fewer types. The density is the share of all other patterns with which a pattern has a "
            "sub-pattern in common, on average.",
            table(
                ("types", "density", *_PLANS),
                [(types, f"{_density(gains):.2f}", *map(gains.text, _PLANS)) for types, gains in shared.items()],
            ),
        ]
        spread = {
            share: _gains(few, name, replace(usual, difference=share))
            for share in _DIFFERENCES[-2 if is_quick() else 0 :]
        }
        bodies += [
            f"**{name}**: the greatest difference of the rates of two types of a pattern, as a share of that of all "
            "types.",
            table(
                ("difference", *_PLANS),
                [(f"{share:g}", *map(gains.text, _PLANS)) for share, gains in spread.items()],
            ),
        ]
        dense = {_density(gains): gains for gains in shared.values()}
        pictures[f"workloads_{name}_density"] = _drawn(dense, "density")
        pictures[f"workloads_{name}_difference"] = _drawn(spread, "difference of rates")
    head = f"100 patterns as above, but for what is said; medians (least–greatest) of {few.workloads()} workloads."
    return Section("sensitivity", "What gains depend on", "\n\n".join([head, *bodies]), pictures=pictures)


def _gains(bench: Bench, name: str, recipe: Recipe) -> Gains:
    say(f"  {name}: {recipe.types} types, difference {recipe.difference:g}")
    return bench.gains(name, recipe, searches(*_PLANS))


def _density(gains: Gains) -> float:
    return median(one.density for one in gains.of)


def _drawn(points: Mapping[float, Gains], x: str) -> dict[str, object]:
    drawn = [(at, plan, gains.median(plan)) for at, gains in points.items() for plan in _PLANS]
    return lines(drawn, x, _PLANS)
