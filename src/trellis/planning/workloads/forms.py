"""Sub-patterns as numbers (*forms*), and clauses as sets of forms: all that the search for a plan looks at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

from trellis.algebra.clauses import Clause
from trellis.algebra.subpatterns import Projector, SubPattern
from trellis.planning.workloads.costs import Growth, GrowthOf
from trellis.planning.workloads.statistics import WorkloadStatistics

__all__ = ["Forms", "Shape", "Splits"]

# Of more parts, not every set is looked at, but those that stand side by side: as written, and from rare to frequent.
MOST_PARTS = 9

Splits = tuple[tuple[int, tuple[tuple[int, int], ...]], ...]
"""Sets of two parts or more, smaller ones first, and the pairs of sets that each can be put together from."""


class Forms:
    """All sub-patterns of a workload. What has windows of different scales is not the same, whatever else is.

    `left_deep`: plans are orders, so a set is put together from one of its subsets and a single part, which is not
    counted as a node of its own.
    """

    __slots__ = ("_numbers", "growths", "left_deep", "patterns", "places", "statistics")

    def __init__(self, statistics: WorkloadStatistics, *, left_deep: bool = False) -> None:
        self.statistics = statistics
        self.left_deep = left_deep
        self.patterns: list[SubPattern] = []
        self.growths: list[Growth] = []
        # A clause that has the sub-pattern, and the set of its parts there.
        self.places: list[tuple[Shape, int]] = []
        self._numbers: dict[tuple[str, SubPattern], int] = {}

    def number(self, scale: str, pattern: SubPattern, growth: Growth | None, place: tuple[Shape, int]) -> int:
        """The number of a sub-pattern."""
        key = (scale, pattern)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.patterns)
            self.patterns.append(pattern)
            self.growths.append(growth if growth is not None else place[0].growth.of(place[1]))
            self.places.append(place)
        return found

    def restate(self, statistics: WorkloadStatistics, shapes: Iterable[Shape]) -> None:
        """Count with other statistics from now on; plans that were made before know nothing of it."""
        self.statistics = statistics
        shapes = tuple(shapes)
        for shape in shapes:
            shape.growth = GrowthOf(shape.clause, statistics)
            shape.window = statistics.duration(shape.clause.window)
            shape.best = {}
        self.growths[:] = [
            shape.growth.of(mask) if mask > 0 else GrowthOf.of_leaf(shape.clause.absences[-1 - mask].event, statistics)
            for shape, mask in self.places
        ]
        for shape in shapes:
            shape.costs = {mask: self.growths[form].at(shape.window) for mask, form in shape.forms.items()}


@dataclass(slots=True, eq=False)
class Shape:
    """A clause for the search: `forms` and `costs` of its sets of parts, and the sets in which each form is found.

    `private` clauses share nothing with others. `window` is in units of time. `absent` are the forms of what must be
    absent; `full` is the set of all parts. `best` remembers plans (see `local_plans`).
    """

    clause: Clause
    table: Forms
    private: str = ""
    projector: Projector = field(init=False)
    growth: GrowthOf = field(init=False)
    window: float = field(init=False)
    full: int = field(init=False)
    splits: Splits = field(init=False)
    forms: dict[int, int] = field(init=False)
    costs: dict[int, float] = field(init=False)
    masks: dict[int, list[int]] = field(init=False)
    absent: tuple[int, ...] = field(init=False)
    best: dict[tuple[int, int], dict[int, tuple[int, int]]] = field(init=False)
    _around: dict[int, Splits] = field(init=False)

    def __post_init__(self) -> None:
        clause, table = self.clause, self.table
        count = len(clause.parts)
        self.projector = Projector(clause)
        self.growth = GrowthOf(clause, table.statistics)
        self.window = table.statistics.duration(clause.window)
        self.full = (1 << count) - 1
        self.splits = (
            all_splits(count, table.left_deep) if count <= MOST_PARTS else _splits_side_by_side(self, table.left_deep)
        )
        self.forms, self.costs, self.masks, self.best, self._around = {}, {}, {}, {}, {}
        for mask in (*(1 << part for part in range(count)), *(mask for mask, _ in self.splits)):
            pattern, _ = self.projector.project(mask)
            form = table.number(self._scale, pattern, None, (self, mask))
            self.forms[mask] = form
            self.costs[mask] = table.growths[form].at(self.window)
            self.masks.setdefault(form, []).append(mask)
        self.absent = tuple(self._absent(number) for number in range(len(clause.absences)))

    @property
    def _scale(self) -> str:
        return f"{self.private}{self.clause.window.scale}"

    def _absent(self, number: int) -> int:
        event = self.clause.absences[number].event
        pattern = SubPattern((event.label,))
        place = (self, -1 - number)
        return self.table.number(self._scale, pattern, GrowthOf.of_leaf(event, self.table.statistics), place)

    def splits_around(self, kept: int) -> Splits:
        """The sets and their pairs in trees that have a given set as a node."""
        found = self._around.get(kept)
        if found is None:
            shared = len(self.clause.parts) <= MOST_PARTS
            found = self._around[kept] = (
                _all_splits_around(len(self.clause.parts), self.table.left_deep, kept)
                if shared
                else _splits_around(self.splits, kept)
            )
        return found


@cache
def all_splits(count: int, left_deep: bool) -> Splits:
    """All sets of some parts, and all pairs that make each of them."""
    masks = sorted(range(1, 1 << count), key=lambda mask: (mask.bit_count(), mask))
    return tuple((mask, tuple(_pairs(mask, left_deep))) for mask in masks if mask & (mask - 1))


def _pairs(mask: int, left_deep: bool) -> list[tuple[int, int]]:
    if left_deep:
        # The single part is no node: the empty set stands for it.
        return [(mask & ~bit, 0) for bit in _bits(mask)]
    lowest = mask & -mask
    rest = mask & ~lowest
    found = []
    inside = rest
    while inside:
        # Each pair once: the left one has the lowest part.
        found.append((mask & ~inside, inside))
        inside = (inside - 1) & rest
    return found


def _bits(mask: int) -> list[int]:
    return [1 << part for part in range(mask.bit_length()) if mask >> part & 1]


@lru_cache(maxsize=4096)
def _all_splits_around(count: int, left_deep: bool, kept: int) -> Splits:
    return _splits_around(all_splits(count, left_deep), kept)


def _splits_around(splits: Splits, kept: int) -> Splits:
    found = []
    for mask, pairs in splits:
        inside = mask & kept
        if not inside or inside == mask:
            found.append((mask, pairs))
        elif inside == kept:
            found.append((mask, tuple(pair for pair in pairs if kept & pair[0] == kept or kept & pair[1] == kept)))
    return tuple(found)


def _splits_side_by_side(shape: Shape, left_deep: bool) -> Splits:
    """The sets of parts that stand side by side, as written or from rare to frequent, and pairs of such sets."""
    count = len(shape.clause.parts)
    rates = [shape.table.statistics.rate(part) for part in shape.clause.parts]
    found: dict[int, set[tuple[int, int]]] = {}
    for order in (range(count), sorted(range(count), key=rates.__getitem__)):
        for mask, pairs in _intervals(list(order), left_deep):
            found.setdefault(mask, set()).update(pairs)
    masks = sorted(found, key=lambda mask: (mask.bit_count(), mask))
    return tuple((mask, tuple(sorted(found[mask]))) for mask in masks)


def _intervals(order: Sequence[int], left_deep: bool) -> list[tuple[int, list[tuple[int, int]]]]:
    found = []
    for first in range(len(order)):
        for last in range(first + 1, len(order)):
            bits = [1 << part for part in order[first : last + 1]]
            mask = sum(bits)
            if left_deep:
                pairs = [(mask & ~bits[0], 0), (mask & ~bits[-1], 0)]
            else:
                pairs = [(sum(bits[:cut]), sum(bits[cut:])) for cut in range(1, len(bits))]
            found.append((mask, pairs))
    return found
