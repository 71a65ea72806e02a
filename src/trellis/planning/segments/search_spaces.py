"""Search spaces as the optimizer sees them: how large they are, never where (T-ReX, section 5.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from trellis.algebra.logical_tree import LogicalNode
from trellis.algebra.windows import Window
from trellis.planning.segments.cardinalities import Cardinalities, distinct

__all__ = ["EVERYWHERE", "SearchSpace", "Spaces"]


class SearchSpace(NamedTuple):
    """A search space: `full`, so many `start` or `end` rows, or so many segments (`exact`)."""

    kind: str
    amount: float

    def rounded(self) -> tuple[str, int]:
        """The space as a key: what differs little costs the same."""
        return self.kind, round(math.log2(max(self.amount, 0.01)))


EVERYWHERE = SearchSpace("full", 0.0)
# Up to this share the rows of a space are taken out of the others.
_FEW = 0.25


@dataclass(slots=True)
class Spaces:
    """Sizes of search spaces, and of those that operators give to their inputs."""

    cards: Cardinalities
    rows: float = field(init=False)
    _passed: dict[SearchSpace, float] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.rows = float(max(self.cards.statistics.rows, 1))

    def rows_in(self, space: SearchSpace) -> float:
        """How many rows operators pass over: all, unless the space has few."""
        if space.kind == "full":
            return self.rows
        if space not in self._passed:
            covered = max(self.inside(space).amount, 1.0)
            self._passed[space] = covered if covered < self.rows * _FEW else self.rows
        return self._passed[space]

    def anchors(self, space: SearchSpace) -> float:
        """How many anchors a space has."""
        return self.rows if space.kind == "full" else min(space.amount, self.rows)

    def candidates(self, window: Window, space: SearchSpace) -> float:
        """How many segments within a window a space holds."""
        cells = self.cards.cells(window)
        match space.kind:
            case "full":
                return cells
            case "exact":
                return min(space.amount, cells)
            case _:
                return cells * min(space.amount / self.rows, 1.0)

    def found(self, node: LogicalNode, space: SearchSpace) -> float:
        """How many segments of a node a space holds."""
        return self.share(self.cards.of(node), node.window, space)

    def share(self, card: float, window: Window, space: SearchSpace) -> float:
        """How many of so many segments within a window a space holds."""
        cells = max(self.cards.cells(window), 1.0)
        return card * min(self.candidates(window, space) / cells, 1.0)

    def left(self, space: SearchSpace) -> SearchSpace:
        """Where the left side of a concatenation is space for."""
        match space.kind:
            case "full" | "start":
                return space
            case "exact":
                return SearchSpace("start", distinct(space.amount, self.rows))
            case _:
                return self.inside(space)

    def right(self, space: SearchSpace) -> SearchSpace:
        """Where the right side of a concatenation is space for."""
        match space.kind:
            case "full" | "end":
                return space
            case "exact":
                return SearchSpace("end", distinct(space.amount, self.rows))
            case _:
                return self.inside(space)

    def inside(self, space: SearchSpace) -> SearchSpace:
        """Where parts inside of segments are space for."""
        if space.kind == "full":
            return space
        rows = min(space.amount * min(self.cards.statistics.longest, self.rows), self.rows)
        return SearchSpace("start", distinct(rows, self.rows))
