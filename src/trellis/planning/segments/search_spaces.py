"""Search spaces as the optimizer sees them: how large they are, never where (T-ReX, section 5.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from trellis.algebra.logical_tree import LogicalNode
from trellis.algebra.windows import Window
from trellis.planning.segments.cardinalities import Cardinalities, distinct

__all__ = ["EVERYWHERE", "Looked", "Spaces"]


class Looked(NamedTuple):
    """A search space: `full`, so many `start` or `end` rows, or so many segments (`exact`)."""

    kind: str
    amount: float

    def rounded(self) -> tuple[str, int]:
        """The space as a key: what differs little costs the same."""
        return self.kind, round(math.log2(max(self.amount, 0.01)))


EVERYWHERE = Looked("full", 0.0)
# Up to this share the rows of a space are taken out of the others.
_FEW = 0.25


@dataclass(slots=True)
class Spaces:
    """Sizes of search spaces, and of those that operators give to their inputs."""

    cards: Cardinalities
    rows: float = field(init=False)
    _passed: dict[Looked, float] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.rows = float(max(self.cards.statistics.rows, 1))

    def rows_in(self, looked: Looked) -> float:
        """How many rows operators pass over: all, unless the space has few."""
        if looked.kind == "full":
            return self.rows
        if looked not in self._passed:
            covered = max(self.inside(looked).amount, 1.0)
            self._passed[looked] = covered if covered < self.rows * _FEW else self.rows
        return self._passed[looked]

    def anchors(self, looked: Looked) -> float:
        """How many anchors a space has."""
        return self.rows if looked.kind == "full" else min(looked.amount, self.rows)

    def candidates(self, window: Window, looked: Looked) -> float:
        """How many segments within a window a space holds."""
        cells = self.cards.cells(window)
        match looked.kind:
            case "full":
                return cells
            case "exact":
                return min(looked.amount, cells)
            case _:
                return cells * min(looked.amount / self.rows, 1.0)

    def found(self, node: LogicalNode, looked: Looked) -> float:
        """How many segments of a node a space holds."""
        return self.share(self.cards.of(node), node.window, looked)

    def share(self, card: float, window: Window, looked: Looked) -> float:
        """How many of so many segments within a window a space holds."""
        cells = max(self.cards.cells(window), 1.0)
        return card * min(self.candidates(window, looked) / cells, 1.0)

    def left(self, looked: Looked) -> Looked:
        """Where the left side of a concatenation is looked for."""
        match looked.kind:
            case "full" | "start":
                return looked
            case "exact":
                return Looked("start", distinct(looked.amount, self.rows))
            case _:
                return self.inside(looked)

    def right(self, looked: Looked) -> Looked:
        """Where the right side of a concatenation is looked for."""
        match looked.kind:
            case "full" | "end":
                return looked
            case "exact":
                return Looked("end", distinct(looked.amount, self.rows))
            case _:
                return self.inside(looked)

    def inside(self, looked: Looked) -> Looked:
        """Where parts inside of segments are looked for."""
        if looked.kind == "full":
            return looked
        rows = min(looked.amount * min(self.cards.statistics.longest, self.rows), self.rows)
        return Looked("start", distinct(rows, self.rows))
