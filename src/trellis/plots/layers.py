"""Graphs in layers: each vertex in its row, in an order with few crossings of edges, near what it is joined to.

After Sugiyama, Tagawa and Toda, 1981. An edge that passes rows *bends* in each of them, so it has a place there like a
vertex. Rows are sorted by the mean place of neighbours, to and fro, and the order with the fewest crossings is kept.
Then vertices move towards the mean of their neighbours, as far as those beside them let them.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Layout", "layered"]

_SWEEPS = 24
_SHIFTS = 12
_BEND = 0.3
"""How much room a bend takes, beside the 1 of a vertex."""

_Rows = list[list[int]]
_Neighbours = list[list[int]]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where vertices are: `x` from 0 to `width`, where two of a row are 1 apart at least. `y` are rows, from below.

    `routes` are the points that each edge goes through.
    """

    x: tuple[float, ...]
    y: tuple[int, ...]
    routes: tuple[tuple[tuple[float, int], ...], ...]
    width: float


def layered(rows: Sequence[int], edges: Sequence[tuple[int, int]]) -> Layout:
    """Place vertices, of which the rows are given. Edges go from a vertex to one in a higher row.

    Examples
    --------
    >>> crossed = layered([0, 0, 1, 1], [(0, 3), (1, 2)])
    >>> [x_below == x_above for (x_below, _), (x_above, _) in crossed.routes]
    [True, True]
    """
    levels, paths = list(rows), []
    for first, last in edges:
        path = [first]
        for level in range(rows[first] + 1, rows[last]):
            path.append(len(levels))
            levels.append(level)
        paths.append([*path, last])
    below: _Neighbours = [[] for _ in levels]
    above: _Neighbours = [[] for _ in levels]
    for path in paths:
        for one, other in pairwise(path):
            above[one].append(other)
            below[other].append(one)
    ordered = _with_few_crossings(_first_order(levels, below), below, above)
    sizes = [1.0] * len(rows) + [_BEND] * (len(levels) - len(rows))
    width = max((sum(sizes[vertex] for vertex in row) for row in ordered), default=0.0)
    x = _placed(ordered, sizes, width, below, above)
    routes = tuple(tuple((x[vertex], levels[vertex]) for vertex in path) for path in paths)
    return Layout(tuple(x[: len(rows)]), tuple(rows), routes, width)


def _first_order(levels: list[int], below: _Neighbours) -> _Rows:
    """Vertices in the order in which they are met from above: what belongs together begins together."""
    rows: _Rows = [[] for _ in range(max(levels, default=-1) + 1)]
    seen: set[int] = set()
    pending = sorted(range(len(levels)), key=lambda vertex: (levels[vertex], -vertex))
    while pending:
        vertex = pending.pop()
        if vertex not in seen:
            seen.add(vertex)
            rows[levels[vertex]].append(vertex)
            pending += reversed(below[vertex])
    return rows


def _with_few_crossings(rows: _Rows, below: _Neighbours, above: _Neighbours) -> _Rows:
    best, least = rows, _crossings(rows, above)
    for sweep in range(_SWEEPS):
        if not least:
            break
        upward = sweep % 2 == 0
        rows = _swept(rows if upward else rows[::-1], below if upward else above)
        rows = rows if upward else rows[::-1]
        count = _crossings(rows, above)
        if count < least:
            best, least = rows, count
    return best


def _swept(rows: _Rows, before: _Neighbours) -> _Rows:
    """Each row but the first, sorted by the mean place of neighbours in the row before it."""
    swept = rows[:1]
    for row in rows[1:]:
        places = {vertex: float(place) for place, vertex in enumerate(swept[-1])}
        share = len(swept[-1]) / len(row)
        means = {
            vertex: _mean([places[one] for one in before[vertex]], place * share) for place, vertex in enumerate(row)
        }
        swept.append(sorted(row, key=means.__getitem__))
    return swept


def _crossings(rows: _Rows, above: _Neighbours) -> int:
    """How often edges between rows cross: pairs of them whose ends are in another order than their beginnings."""
    count = 0
    for row, over in pairwise(rows):
        places = {vertex: place for place, vertex in enumerate(over)}
        ends: list[int] = []
        for vertex in row:
            own = sorted(places[one] for one in above[vertex])
            count += sum(len(ends) - bisect_right(ends, end) for end in own)
            for end in own:
                insort(ends, end)
    return count


def _placed(rows: _Rows, sizes: list[float], width: float, below: _Neighbours, above: _Neighbours) -> list[float]:
    x = [0.0] * len(sizes)
    for row in rows:
        gap = width / len(row) if row else 0.0
        for vertex, place in zip(
            row, _apart([gap * (n + 0.5) for n in range(len(row))], row, sizes, width), strict=True
        ):
            x[vertex] = place
    for shift in range(_SHIFTS):
        for row in rows if shift % 2 else rows[::-1]:
            wanted = [_mean([x[one] for one in (*below[vertex], *above[vertex])], x[vertex]) for vertex in row]
            for vertex, place in zip(row, _apart(wanted, row, sizes, width), strict=True):
                x[vertex] = place
    return x


def _apart(wanted: list[float], row: list[int], sizes: list[float], width: float) -> list[float]:
    """The places nearest to those that are wanted, in order, far enough apart, and inside the width.

    Less what those before it need, a vertex may be anywhere behind its neighbour: so this is to find the rising numbers
    that are nearest to given ones. Neighbours that fall are put together at their mean, until none do.
    """
    needed, taken = [], 0.0
    for vertex in row:
        needed.append(taken + sizes[vertex] / 2)
        taken += sizes[vertex]
    blocks: list[tuple[float, int]] = []
    for want, need in zip(wanted, needed, strict=True):
        sum_, count = want - need, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > sum_ / count:
            other = blocks.pop()
            sum_, count = sum_ + other[0], count + other[1]
        blocks.append((sum_, count))
    means = [sum_ / count for sum_, count in blocks for _ in range(count)]
    return [min(max(mean, 0.0), width - taken) + need for mean, need in zip(means, needed, strict=True)]


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
