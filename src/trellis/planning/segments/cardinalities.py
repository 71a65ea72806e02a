"""How many segments a node holds, by the paper's model: shares of search spaces, and windows (T-ReX, section 5.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from trellis.algebra.logical_tree import Both, Chain, Either, Leaf, LogicalNode, Loop, Without
from trellis.algebra.statistics import SegmentStatistics
from trellis.algebra.windows import Window
from trellis.planning.segments.push_windows import fewest_rows

__all__ = ["FILTER_SHARE", "Cardinalities", "Part", "distinct", "distinct_rows", "interval_window"]

_STEPS = 8
_CLUMPED = 4.0
# Of conditions between variables nothing is known beforehand.
FILTER_SHARE = 0.33

Part = tuple[Chain, int, int]
"""Some parts of a chain, from the first to the last, both included."""


def distinct(draws: float, things: float) -> float:
    """How many different things so many draws hit."""
    if things <= 0:
        return 0.0
    return things * -math.expm1(-draws / things)


def distinct_rows(segments: float, rows: float) -> float:
    """In how many different rows so many matching segments start (or end).

    Segments that match lie together: moved by a row, one often matches still. So they hit fewer rows than they would
    by chance.
    """
    return distinct(segments / _CLUMPED, rows)


@dataclass(slots=True)
class Cardinalities:
    """Estimates over the whole of the rows, each made once."""

    statistics: SegmentStatistics
    _known: dict[int, float] = field(default_factory=dict)
    _parts: dict[tuple[int, int, int], float] = field(default_factory=dict)
    _windows: dict[tuple[int, int, int], Window] = field(default_factory=dict)
    _cells: dict[Window, float] = field(default_factory=dict)

    def window(self, chain: Chain, first: int, last: int) -> Window:
        """The window of some neighbouring parts of a chain."""
        key = (id(chain), first, last)
        if key not in self._windows:
            self._windows[key] = interval_window(chain, first, last)
        return self._windows[key]

    def cells(self, window: Window) -> float:
        """How many segments lie within a window."""
        if window not in self._cells:
            self._cells[window] = self._count_cells(window)
        return self._cells[window]

    def _count_cells(self, window: Window) -> float:
        statistics = self.statistics
        if window in statistics.cells:
            return statistics.cells[window]
        most = min(window.most or statistics.longest, statistics.longest)
        wide = max(most - window.least + 1, 0)
        # The ends of series cut windows short.
        mean = statistics.rows / max(statistics.series, 1)
        cells = statistics.rows * wide * max(1 - (window.least + most) / 2 / max(mean, 1), 0.05)
        for other, known in statistics.cells.items():
            if other.times and other.times == window.times:
                cells = min(cells, known * 2)
        return cells

    def length(self, window: Window) -> float:
        """The mean number of rows of the segments within a window."""
        if window in self.statistics.lengths:
            return max(self.statistics.lengths[window], 1.0)
        most = min(window.most or self.statistics.longest, self.statistics.longest)
        return max((window.least + most) / 2, 1.0)

    def of(self, node: LogicalNode) -> float:
        """How many segments a node holds."""
        # Nodes are told apart by identity: to hash a tree is to walk it.
        if id(node) not in self._known:
            self._known[id(node)] = min(self._estimate(node), self.cells(node.window))
        return self._known[id(node)]

    def _estimate(self, node: LogicalNode) -> float:
        cells = self.cells(node.window)
        match node:
            case Leaf(conditions=conditions, window=window):
                return cells * self.statistics.share(conditions, window)
            case Both(parts=parts, filters=filters, nested=nested):
                return cells * self.share_of(parts) * FILTER_SHARE ** (len(filters) + len(nested))
            case Either(parts=parts):
                return sum(self.of(part) for part in parts)
            case Without(body=body):
                return max(cells - self.of(body), cells * 0.001)
            case Loop():
                return self._loop(node)
            case Chain(parts=parts, filters=filters, nested=nested):
                whole = self.part((node, 0, len(parts) - 1))
                return whole * FILTER_SHARE ** (len(filters) + len(nested))

    def share_of(self, parts: tuple[LogicalNode, ...]) -> float:
        """Which share of a window is in all parts: leaves were sampled together, others count as independent."""
        numbers = tuple(number for part in parts if isinstance(part, Leaf) for number in part.conditions)
        windows = [part.window for part in parts if isinstance(part, Leaf)]
        share = self.statistics.share(numbers, windows[0]) if windows else 1.0
        for part in parts:
            if not isinstance(part, Leaf):
                share *= min(self.of(part) / max(self.cells(part.window), 1.0), 1.0)
        return share

    def part(self, part: Part) -> float:
        """How many segments some neighbouring parts of a chain hold."""
        chain, first, last = part
        key = (id(chain), first, last)
        if key not in self._parts:
            if first == last:
                result = self.of(chain.parts[first])
            else:
                left, right = (chain, first, last - 1), (chain, last, last)
                result = self.joined(left, right, self.window(*part))
                if all(chain.optional[first:last]):
                    result += self.part(right)
                if chain.optional[last]:
                    result += self.part(left)
            self._parts[key] = max(result, 1e-3)
        return self._parts[key]

    def joined(self, left: Part, right: Part, window: Window) -> float:
        """How many segments there are that begin with one side and end with the other, each counted once."""
        chain = left[0]
        cells = self.cells(window)
        if left[1] == left[2] and _wild(chain, left[1]):
            # Any start before: every end of the right side is reached from many.
            return min(distinct(self.part(right), self.statistics.rows) / self.statistics.rows * cells, cells)
        if right[1] == right[2] and _wild(chain, right[1]):
            return min(distinct(self.part(left), self.statistics.rows) / self.statistics.rows * cells, cells)
        pairs = self.part(left) * self.part(right) / max(self.statistics.rows, 1)
        return distinct(pairs * self.fit(self.window(*left), self.window(*right), window, chain.gap), cells)

    def fit(self, left: Window, right: Window, whole: Window, gap: int) -> float:
        """Which share of two segments in a row lies within a window, if lengths are spread evenly."""
        longest = self.statistics.longest
        hits = 0
        for i in range(_STEPS):
            for j in range(_STEPS):
                rows = _step(left, longest, i) + _step(right, longest, j) - (1 - gap)
                hits += whole.least - 0.5 <= rows <= (whole.most or longest) + 0.5
        return max(hits / _STEPS**2, 0.5 / _STEPS**2)

    def _loop(self, node: Loop) -> float:
        once = self.of(node.body)
        rows, cells = max(self.statistics.rows, 1), self.cells(node.window)
        fit = self.fit(node.body.window, node.body.window, node.window, node.gap)
        if node.least == 1:
            # Once and twice; more turns seldom add much (the paper's approximation).
            share = min(cells / max(self.cells(node.body.window), 1), 1)
            return distinct(once * share + once * once / rows * fit, cells)
        power = once
        for _ in range(node.least - 1):
            power = distinct(power * once / rows * fit, cells)
        return power


def _step(window: Window, longest: int, i: int) -> float:
    most = min(window.most or longest, longest)
    return window.least + (most - window.least) * (i + 0.5) / _STEPS


def _wild(chain: Chain, i: int) -> int:
    part = chain.parts[i]
    return part.wild if isinstance(part, Leaf) and chain.gap == 0 and not chain.optional[i] else 0


def interval_window(chain: Chain, first: int, last: int) -> Window:
    """The window of some neighbouring parts of a chain: that of the whole, less what the other parts take."""
    if first == last:
        return chain.parts[first].window
    if (first, last) == (0, len(chain.parts) - 1):
        return chain.window
    shared = 1 - chain.gap
    needs = [0 if chain.optional[i] else fewest_rows(part) - shared for i, part in enumerate(chain.parts)]
    others = sum(needs[:first]) + sum(needs[last + 1 :])
    own = [fewest_rows(chain.parts[i]) for i in range(first, last + 1) if not chain.optional[i]]
    most = None if chain.window.most is None else max(chain.window.most - others, 1)
    parts = [chain.parts[i].window.most for i in range(first, last + 1)]
    if all(bound is not None for bound in parts):
        total = sum(bound for bound in parts if bound is not None) - shared * (len(parts) - 1)
        most = total if most is None else min(most, total)
    times = tuple(replace(time, least=None) for time in chain.window.times if time.most is not None)
    return Window(max(sum(own) - shared * (len(own) - 1), 1), most, times)
