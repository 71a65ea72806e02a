"""The choice of a tree for the rows at hand, as workers and `explain` ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from trellis.algebra.physical_tree import ChosenTree
from trellis.algebra.segments import Price, SegmentScan
from trellis.algebra.statistics import SegmentStatistics
from trellis.planning.segments.costs import Costs, FunctionCost, default_costs, read_costs
from trellis.planning.segments.optimizer import optimize

__all__ = ["choose_tree"]


def choose_tree(scan: SegmentScan, statistics: SegmentStatistics, prices: Mapping[str, Price]) -> ChosenTree:
    """The cheapest tree by these statistics; `prices` are those of registered functions."""
    return optimize(scan.tree, scan.conditions, scan.tracked, statistics, _costs(scan, prices), scan.choices)


def _costs(scan: SegmentScan, prices: Mapping[str, Price]) -> Costs:
    costs = default_costs() if scan.costs is None else read_costs(scan.costs)
    return replace(costs, functions={**costs.functions, **{name: _cost(price) for name, price in prices.items()}})


def _cost(price: Price) -> FunctionCost:
    return FunctionCost(
        fixed=price.nanoseconds if price.growth == "constant" else 0.0,
        row=price.nanoseconds if price.growth == "linear" else 0.0,
        square=price.nanoseconds if price.growth == "quadratic" else 0.0,
        build=100.0 if price.has_index else 0.0,
        lookup=20.0 if price.has_index else 0.0,
        per_length=False,
    )
