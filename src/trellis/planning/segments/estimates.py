"""How many segments each node of a chosen tree may give, in the space that it will be asked about.

For readers of `explain`: the optimizer itself compares logical parts, before there is a tree.
"""

from __future__ import annotations

from trellis.algebra.physical_tree import (
    Complement,
    Filter,
    Generate,
    Join,
    Meet,
    Pad,
    PhysicalNode,
    Repetition,
    Union,
    Where,
)
from trellis.algebra.statistics import SegmentStatistics
from trellis.planning.segments.cardinalities import FILTER_SHARE, Cardinalities, distinct, distinct_rows
from trellis.planning.segments.search_spaces import EVERYWHERE, Looked, Spaces

__all__ = ["estimate_tree"]


def estimate_tree(tree: PhysicalNode, statistics: SegmentStatistics) -> dict[int, float]:
    """The estimates by the identity of the nodes."""
    estimator = _Estimator(Spaces(Cardinalities(statistics)))
    estimator.count(tree, EVERYWHERE)
    return estimator.counts


class _Estimator:
    def __init__(self, spaces: Spaces) -> None:
        self.spaces = spaces
        self.counts: dict[int, float] = {}

    def count(self, node: PhysicalNode, looked: Looked) -> float:
        """How many segments a node gives in a space."""
        found = min(self._count(node, looked), self.spaces.candidates(node.window, looked))
        self.counts[id(node)] = found
        return found

    def _count(self, node: PhysicalNode, looked: Looked) -> float:
        spaces = self.spaces
        cells = max(spaces.candidates(node.window, looked), 1.0)
        match node:
            case Generate(conditions=conditions, window=window):
                return spaces.candidates(window, looked) * spaces.cards.statistics.share(conditions, window)
            case Meet(left=left, right=right, method=method):
                first, second = (right, left) if method == "left" else (left, right)
                one = self.count(first, looked)
                if method != "merge":
                    return self.count(second, Looked("exact", one))
                return one * self.count(second, looked) / cells
            case Join(left=left, right=right):
                return self._joined(node, left, right, looked)
            case Pad(body=body, before=before):
                inner = self.count(body, spaces.right(looked) if before else spaces.left(looked))
                return distinct(inner, spaces.rows) / spaces.rows * spaces.cards.cells(node.window)
            case Union(left=left, right=right):
                return self.count(left, looked) + self.count(right, looked)
            case Complement(body=body, probe=probe):
                return max(cells - self.count(body, Looked("exact", cells) if probe else looked), 0.0)
            case Repetition(body=body, least=least, gap=gap):
                once = self.count(body, spaces.inside(looked))
                fit = spaces.cards.fit(body.window, body.window, node.window, gap)
                again = once
                for _ in range(max(least - 1, 1)):
                    again = again * once / spaces.rows * fit
                return distinct(again + (once if least == 1 else 0.0), cells)
            case Filter(body=body, conditions=conditions):
                return self.count(body, looked) * FILTER_SHARE ** len(conditions)
            case Where(body=body, part=part):
                outer = self.count(body, looked)
                self.count(part, Looked("exact", max(outer / 10, 1.0)))
                return outer * FILTER_SHARE

    def _joined(self, node: Join, left: PhysicalNode, right: PhysicalNode, looked: Looked) -> float:
        spaces = self.spaces
        sides = {"left": spaces.left(looked), "right": spaces.right(looked)}
        if node.method == "left":
            second = self.count(right, sides["right"])
            anchors = distinct_rows(second, spaces.rows)
            first = self.count(left, Looked("end", anchors)) * spaces.rows / max(anchors, 1.0)
        else:
            first = self.count(left, sides["left"])
            probed = Looked("start", distinct_rows(first, spaces.rows)) if node.method == "right" else sides["right"]
            second = self.count(right, probed)
        starts = spaces.anchors(probed) if node.method == "right" else spaces.rows
        each = second / max(starts, 1.0) * (spaces.cards.length(node.window) if node.between else 1.0)
        fit = 1.0 if node.between else spaces.cards.fit(left.window, right.window, node.window, node.gap)
        return distinct(first * each * fit, max(spaces.candidates(node.window, looked), 1.0))
