"""Segment generators: from an index or from rows, as bits or as pairs, whichever is cheaper in a space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trellis.algebra.logical_tree import Leaf
from trellis.algebra.physical_tree import ChosenTree, Generate
from trellis.algebra.segments import Choices, Function, SegmentCondition
from trellis.algebra.statistics import SegmentStatistics
from trellis.planning.segments.costs import Costs
from trellis.planning.segments.search_spaces import SearchSpace, Spaces

__all__ = ["Generators", "by_cost"]


def by_cost(chosen: ChosenTree) -> float:
    """The key by which trees are compared."""
    return chosen.cost


@dataclass(slots=True)
class Generators:
    """Chooses generators. `users` counts the conditions that share an index."""

    conditions: Sequence[SegmentCondition]
    statistics: SegmentStatistics
    costs: Costs
    choices: Choices
    spaces: Spaces
    users: dict[tuple[str, tuple[int, ...]], int] = field(init=False)

    def __post_init__(self) -> None:
        self.users = {}
        for condition in self.conditions:
            for value in condition.values:
                if isinstance(value, Function):
                    key = (value.name, value.slots)
                    self.users[key] = self.users.get(key, 0) + 1

    def best(self, node: Leaf, space: SearchSpace, kinds: tuple[bool, ...], one_pass: float) -> ChosenTree:
        """The cheapest generator of a leaf; `kinds` of sets it may give, `one_pass` over a band costs so much."""
        costs = self.costs
        pairs = self.spaces.candidates(node.window, space)
        found = self.spaces.found(node, space)
        length = self.spaces.cards.length(node.window)
        options: list[ChosenTree] = []
        indexed = [number for number in node.conditions if self._has_index(number)]
        anchors = self.spaces.anchors(space)
        for index in (True, False) if indexed else (False,):
            if indexed and self.choices.generator and index != (self.choices.generator == "index"):
                continue
            cost = costs.call + anchors * costs.row
            passed = pairs
            for place, number in enumerate(node.conditions):
                condition = self.conditions[number]
                cost += passed * costs.condition(condition, length, index, first=place == 0)
                passed *= self.statistics.share((number,), node.window)
                if index:
                    lengths = min(node.window.most or self.statistics.longest, self.statistics.longest)
                    cost += costs.build(condition, self.spaces.rows_in(space), lengths) / self._sharing(condition)
            if space.kind == "end":
                cost += found * costs.sort
            for dense in kinds:
                if not dense:
                    more = found * costs.pair + (0.0 if node.conditions else pairs * costs.pair)
                elif space.kind == "full" or (space.kind == "start" and not node.conditions):
                    more = one_pass + (found * costs.bit if node.conditions else 0.0)
                elif False in kinds:
                    continue  # a band for a few rows would be nearly empty
                else:
                    more = found * costs.pair
                tree = Generate(node.conditions, node.window, index, dense, node.binds, found)
                options.append(ChosenTree(cost + more, tree))
        return min(options, key=by_cost)

    def _has_index(self, number: int) -> bool:
        return any(
            isinstance(value, Function)
            and value.name in self.costs.functions
            and self.costs.functions[value.name].lookup > 0
            for value in self.conditions[number].values
        )

    def _sharing(self, condition: SegmentCondition) -> float:
        names = [(value.name, value.slots) for value in condition.values if isinstance(value, Function)]
        return float(max((self.users[name] for name in names), default=1))
