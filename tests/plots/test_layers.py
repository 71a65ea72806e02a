"""Graphs in layers: places that are apart, and few crossings."""

from __future__ import annotations

from itertools import combinations, pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.plots import layers
from trellis.plots.layers import Layout, layered

Edges = list[tuple[int, int]]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[int], Edges]:
    """Vertices in rows, and edges upwards, some of which pass rows."""
    rows = draw(st.lists(st.integers(0, 4), min_size=1, max_size=25))
    rows = [sorted(set(rows)).index(row) for row in rows]
    upward = [(one, other) for one in range(len(rows)) for other in range(len(rows)) if rows[one] < rows[other]]
    edges = draw(st.lists(st.sampled_from(upward), unique=True, max_size=40)) if upward else []
    return rows, edges


def crossings(layout: Layout) -> int:
    """Pairs of pieces between two rows, whose ends are in different orders."""
    pieces = [piece for route in layout.routes for piece in pairwise(route)]
    return sum(
        one[0][1] == other[0][1] and (one[0][0] - other[0][0]) * (one[1][0] - other[1][0]) < -1e-9
        for one, other in combinations(pieces, 2)
    )


@given(graphs())
def test_vertices_are_apart_and_inside(graph: tuple[list[int], Edges]) -> None:
    rows, edges = graph
    layout = layered(rows, edges)
    assert list(layout.y) == rows
    assert all(0.5 - 1e-9 <= x <= layout.width - 0.5 + 1e-9 for x in layout.x)
    for row in set(rows):
        places = sorted(x for x, y in zip(layout.x, layout.y, strict=True) if y == row)
        assert all(after - before >= 1 - 1e-9 for before, after in pairwise(places))


@given(graphs())
def test_edges_go_up_row_by_row(graph: tuple[list[int], Edges]) -> None:
    rows, edges = graph
    layout = layered(rows, edges)
    for (first, last), route in zip(edges, layout.routes, strict=True):
        assert route[0] == (layout.x[first], rows[first])
        assert route[-1] == (layout.x[last], rows[last])
        assert [y for _, y in route] == list(range(rows[first], rows[last] + 1))
        assert all(0 <= x <= layout.width for x, _ in route)


@given(graphs())
def test_one_graph_has_one_layout(graph: tuple[list[int], Edges]) -> None:
    assert layered(*graph) == layered(*graph)


@pytest.mark.parametrize("seed", range(5))
def test_trees_have_no_crossings(seed: int) -> None:
    random = Random(seed)
    # A binary tree of 5 rows, its vertices numbered at random.
    names = list(range(31))
    random.shuffle(names)
    rows = [0] * 31
    edges = []
    for place in range(31):
        rows[names[place]] = 5 - (place + 1).bit_length()
        if place:
            edges.append((names[place], names[(place - 1) // 2]))
    random.shuffle(edges)
    layout = layered(rows, edges)
    assert crossings(layout) == 0


def test_crossings_that_need_not_be_are_gone() -> None:
    # The rows in opposite orders.
    layout = layered([0] * 8 + [1] * 8, [(number, 15 - number) for number in range(8)])
    assert crossings(layout) == 0
    assert all(below[0] == above[0] for below, above in layout.routes)


def test_sorting_rows_spares_crossings(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(3)
    rows = [row for row in range(4) for _ in range(10)]
    edges = [(below, 10 * (below // 10 + 1) + random.randrange(10)) for below in range(30) for _ in range(2)]
    sorted_rows = crossings(layered(rows, edges))
    monkeypatch.setattr(layers, "_SWEEPS", 0)
    assert sorted_rows < 0.8 * crossings(layered(rows, edges))


def test_edges_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    def across(layout: Layout) -> float:
        return sum(abs(one[0] - other[0]) for route in layout.routes for one, other in pairwise(route))

    graph = [0] * 12 + [1] * 3, [(0, 12), (1, 12), (2, 13), (3, 13), (4, 14), (5, 14)]
    moved = across(layered(*graph))
    monkeypatch.setattr(layers, "_SHIFTS", 0)
    assert moved < across(layered(*graph))


def test_nothing_at_all() -> None:
    assert layered([], []) == Layout((), (), (), 0.0)
    assert layered([0, 0], []).x == (0.5, 1.5)
