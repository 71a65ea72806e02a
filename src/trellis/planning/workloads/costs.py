"""How many instances a sub-pattern has at a time: the costs of the paper (section 3.3 and appendix C).

The cost of a node is that of its sub-pattern alone, whatever tree it is put together by: `W^k · Π r · Π sel`. An
order-based plan (`Cost_ord`) has a node for each prefix, a tree-based one (`Cost_tree`) for each sub-tree. Added here:

- Order is a condition, too. Of k events at random times, a partial order holds with the number of its linear extensions
  over k!; of a sequence that is 1/k!.
- A repeated part has an instance for each set of its events. If their number in a window is random with the mean λ
  (Poisson), there are e^λ − 1 sets that are not empty.
- What must be absent is looked for when a match is whole. That costs every plan the same, but for the events that have
  to be kept: the leaf is a node.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, factorial

from trellis.algebra.clauses import Clause, Part
from trellis.planning.workloads.statistics import WorkloadStatistics, compared

__all__ = ["Growth", "GrowthOf"]

# e^60 sets are as bad as any number: costs stay finite.
_MOST_SETS = 60.0
_EXACT_ORDER = 12
# What was never seen may still come; and zero is the cost of what is there already.
_LEAST = 1e-12


@dataclass(frozen=True, slots=True)
class Growth:
    """How the number of instances grows with the window: `share · W^singles · Π (e^(rate·W) − 1)`."""

    share: float
    singles: int
    repeated: tuple[float, ...] = ()

    def at(self, window: float) -> float:
        """The number of instances in a window."""
        found = self.share * window**self.singles
        for rate in self.repeated:
            found *= exp(min(rate * window, _MOST_SETS)) - 1.0
        return max(found, _LEAST)


class GrowthOf:
    """The sizes of the sub-patterns of a clause; sets of parts are numbers with a bit for each."""

    __slots__ = ("_agreement", "_before", "_conditions", "_extensions", "_rates", "_repeated", "_size")

    def __init__(self, clause: Clause, statistics: WorkloadStatistics) -> None:
        numbers = {part.variable: number for number, part in enumerate(clause.parts)}
        labels = {part.variable: part.label for part in clause.parts}
        self._size = len(clause.parts)
        self._rates = [statistics.rate(part) for part in clause.parts]
        self._repeated = [part.repeated for part in clause.parts]
        self._conditions = [
            (
                sum(1 << numbers[variable] for variable in one.variables),
                statistics.selectivity(compared(one, labels)),
            )
            for one in clause.conditions
        ]
        self._agreement = 1.0
        for key in clause.keys:
            self._agreement *= statistics.agreement(str(key))
        # The parts before each part, as sets.
        self._before = [0] * self._size
        for first, second in clause.order:
            self._before[second] |= 1 << first
        self._extensions: dict[int, int] = {0: 1}

    @staticmethod
    def of_leaf(part: Part, statistics: WorkloadStatistics) -> Growth:
        """The size of a part by itself."""
        rate = statistics.rate(part)
        return Growth(1.0, 0, (rate,)) if part.repeated else Growth(rate, 1)

    def of(self, mask: int) -> Growth:
        """The size of the sub-pattern of some parts."""
        parts = [part for part in range(self._size) if mask >> part & 1]
        share = self._agreement ** (len(parts) - 1) * self._in_order(mask, parts)
        for reads, selectivity in self._conditions:
            if reads & mask == reads:
                share *= selectivity
        repeated = []
        for part in parts:
            if self._repeated[part]:
                repeated.append(self._rates[part])
            else:
                share *= self._rates[part]
        return Growth(share, len(parts) - len(repeated), tuple(sorted(repeated)))

    def _in_order(self, mask: int, parts: list[int]) -> float:
        """How often events at random times are in the order that the parts want."""
        pairs = sum((self._before[part] & mask).bit_count() for part in parts)
        if pairs == 0:
            return 1.0
        size = len(parts)
        if pairs == size * (size - 1) // 2:
            return 1.0 / factorial(size)
        if size > _EXACT_ORDER:
            return 0.5**pairs
        return self._linear_extensions(mask) / factorial(size)

    def _linear_extensions(self, mask: int) -> int:
        """In how many orders the parts can come: each of them that nothing else comes before may be the first."""
        known = self._extensions.get(mask)
        if known is None:
            first = [p for p in range(self._size) if mask >> p & 1 and not self._before[p] & mask]
            known = self._extensions[mask] = sum(self._linear_extensions(mask & ~(1 << part)) for part in first)
        return known
