"""Pictures of shared plans: what is drawn, where it stands, what is labelled."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from planning.workloads.made import clauses, random_statistics, random_workload
from plots.pictures import SIGHT, browse, count_of, difference, layers_of, pixels_of, plot_plan, spec_of
from trellis.algebra.clauses import Clause
from trellis.errors import BindingError, ResourceError, UnsupportedError
from trellis.planning.describe.workloads import graph_of
from trellis.planning.workloads.plan import SearchOptions, plan_workload
from trellis.planning.workloads.statistics import WorkloadStatistics
from trellis.plots import PlanGraph, PlanNode
from trellis.plots.chart import INK
from trellis.plots.plan_chart import SHARES, draw_plan

pytest.importorskip("vl_convert")


def graph(made: list[Clause], seed: int | None = None, found: bool = False) -> PlanGraph:
    statistics = WorkloadStatistics() if seed is None else random_statistics(seed, made)
    tree = plan_workload(made, statistics, SearchOptions("sharing")).tree()
    actual = [3 * number for number in range(len(tree.nodes))] if found else None
    nodes, edges, absences = graph_of(tree, actual)
    return PlanGraph(tuple(PlanNode(*node) for node in nodes), edges, absences)


@pytest.fixture(scope="module")
def small() -> PlanGraph:
    return graph(
        clauses(
            "SEQ(A a, B b, ~(N n)) WITHIN 10",
            "SEQ(A a, B b, C c) WITHIN 5",
            "SEQ(A a, B b, C c) WITHIN 3",
            "OR(SEQ(A a, B b, D d), AND(C c, N n)) WITHIN 5",
            "SEQ(D d, C+ c[]) WHERE { d.x < c[1].x } WITHIN 5",
        )
    )


@pytest.fixture(scope="module")
def large() -> PlanGraph:
    return graph(random_workload(1, 120, "ABCDEFGHIJ"), 1)


def view(plan: PlanGraph) -> dict[str, Any]:
    (chart,) = draw_plan(plan, "Plan")["concat"]
    return chart


def nodes_of(chart: dict[str, Any]) -> list[dict[str, Any]]:
    (layer,) = layers_of(chart, "circle")
    return list(layer["data"]["values"])


def patterns_of(chart: dict[str, Any]) -> list[dict[str, Any]]:
    (layer,) = layers_of(chart, "square")
    return list(layer["data"]["values"])


def edges_of(chart: dict[str, Any], dashed: bool = False) -> list[list[tuple[float, float]]]:
    """The points of each edge; between two edges there is a gap."""
    routes: list[list[tuple[float, float]]] = [[]]
    for row in layers_of(chart, "line")[dashed]["data"]["values"]:
        if row["y"] is None:
            routes.append([])
        else:
            routes[-1].append((row["x"], row["y"]))
    assert routes.pop() == []
    return routes


# ---- what is drawn ----


def test_nodes_edges_and_patterns(small: PlanGraph) -> None:
    chart = view(small)
    nodes, patterns = nodes_of(chart), patterns_of(chart)
    assert [row["node"] for row in nodes] == [node.label for node in small.nodes]
    assert sorted(row["pattern"] for row in patterns) == ["p1", "p2", "p3", "p4", "p5"]
    places = {(row["x"], row["y"]): row["node"] for row in nodes} | {
        (row["x"], row["y"]): row["pattern"] for row in patterns
    }
    drawn = sorted((places[route[0]], places[route[-1]]) for route in edges_of(chart))
    labels = [node.label for node in small.nodes]
    wanted = [(labels[part], labels[whole]) for part, whole in small.edges]
    wanted += [(node.label, name) for node in small.nodes for name in node.results]
    assert drawn == sorted(wanted)
    (absent,) = edges_of(chart, dashed=True)
    assert (places[absent[0]][3:], places[absent[-1]]) == ("N", "p1")


def test_colours_say_how_many_patterns_use_a_node(small: PlanGraph) -> None:
    chart = view(small)
    classes = {row["node"][3:]: (row["class"], row["shared"]) for row in nodes_of(chart)}
    assert classes["A"] == ("3 to 4", True)
    assert classes["SEQ(A, B, C)"] == ("2 patterns", True)
    assert classes["SEQ(D, C+)"] == ("1 pattern", False)
    scale = layers_of(chart, "circle")[0]["encoding"]["color"]["scale"]
    assert scale == {"domain": ["1 pattern", "2 patterns", "3 to 4"], "range": list(SHARES[:3])}


def test_classes_of_many_patterns() -> None:
    def colour(users: int) -> str:
        names = tuple(map(str, range(users)))
        (row,) = nodes_of(view(PlanGraph((PlanNode("#0 A", "A a", names, (), 1.0),), ())))
        return str(row["class"])

    users = (1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 500)
    assert list(dict.fromkeys(map(colour, users))) == [
        *("1 pattern", "2 patterns", "3 to 4", "5 to 8", "9 to 16", "17 to 32", "33 or more")
    ]


def test_larger_circles_hold_more(small: PlanGraph, large: PlanGraph) -> None:
    for plan in (small, large):
        rows = nodes_of(view(plan))
        order = sorted(range(len(rows)), key=lambda number: plan.nodes[number].instances)
        sizes = [rows[number]["size"] for number in order]
        assert sizes == sorted(sizes) and 0 < sizes[0] < sizes[-1]


def test_real_counts_stand_in_for_estimates(small: PlanGraph) -> None:
    found = PlanGraph(
        tuple(
            PlanNode(one.label, one.text, one.patterns, one.results, one.estimate, 1_000 * place)
            for place, one in enumerate(small.nodes)
        ),
        small.edges,
    )
    row = nodes_of(view(found))[2]
    assert row["label"][1] == "found 2,000"
    assert row["instances"] == f"about {small.nodes[2].estimate:.3g}, found 2,000"
    assert draw_plan(found, "")["title"]["subtitle"].endswith("(as found)")
    assert draw_plan(small, "")["title"]["subtitle"].endswith("(estimated)")
    some = PlanGraph((found.nodes[0], *small.nodes[1:]), small.edges)
    assert draw_plan(some, "")["title"]["subtitle"].endswith("(as found or estimated)")


def test_the_line_below_the_title(small: PlanGraph) -> None:
    shared = sum(len(node.patterns) > 1 for node in small.nodes)
    assert draw_plan(small, "")["title"]["subtitle"].startswith(
        f"{len(small.nodes)} nodes for 5 patterns, {shared} shared (with a dark rim)"
    )


# ---- where it stands ----


def test_leaves_are_below_and_patterns_on_top(small: PlanGraph, large: PlanGraph) -> None:
    for plan in (small, large):
        chart = view(plan)
        heights = [row["y"] for row in nodes_of(chart)]
        wholes = {whole for _, whole in plan.edges}
        assert all((height == 0) == (number not in wholes) for number, height in enumerate(heights))
        assert all(heights[part] < heights[whole] for part, whole in plan.edges)
        assert {row["y"] for row in patterns_of(chart)} == {max(heights) + 1}


def test_places_are_distinct_and_inside(small: PlanGraph, large: PlanGraph) -> None:
    for plan in (small, large):
        chart = view(plan)
        rows = [*nodes_of(chart), *patterns_of(chart)]
        assert len({(row["x"], row["y"]) for row in rows}) == len(rows)
        domain = layers_of(chart, "circle")[0]["encoding"]["y"]["scale"]["domain"]
        for row in nodes_of(chart):
            half = row["size"] ** 0.5 / 2
            assert half <= row["x"] <= chart["width"] - half
            assert domain[0] < row["below"] < row["y"] < domain[1]
        points = [point for dashed in (False, True) for route in edges_of(chart, dashed) for point in route]
        assert all(0 <= x <= chart["width"] and domain[0] < y < domain[1] for x, y in points)


def test_circles_of_a_row_do_not_touch(small: PlanGraph, large: PlanGraph) -> None:
    for plan in (small, large):
        rows = sorted(nodes_of(view(plan)), key=lambda row: (row["y"], row["x"]))
        for one, other in pairwise(rows):
            if one["y"] == other["y"]:
                assert other["x"] - one["x"] >= (one["size"] ** 0.5 + other["size"] ** 0.5) / 2


# ---- labels ----


def test_a_small_plan_is_labelled_throughout(small: PlanGraph) -> None:
    chart = view(small)
    assert all(row["label"] for row in nodes_of(chart))
    assert {row["name"] for row in patterns_of(chart)} == {"p1", "p2", "p3", "p4", "p5"}


def test_of_a_large_plan_the_most_shared_are_labelled(large: PlanGraph) -> None:
    chart = view(large)
    rows = nodes_of(chart)
    written = [row for row in rows if row["label"]]
    assert 15 < len(written) < len(rows) / 2
    for height in {row["y"] for row in rows}:
        labelled = [row["label"] is not None for row in rows if row["y"] == height]
        users = [len(node.patterns) for node, row in zip(large.nodes, rows, strict=True) if row["y"] == height]
        assert labelled[max(range(len(users)), key=users.__getitem__)] or users.count(max(users)) > 1
        assert any(labelled)
    names = [row for row in patterns_of(chart) if row["name"]]
    assert 40 < len(names) <= 120
    assert all(other["x"] - one["x"] >= 11 for one, other in pairwise(names))


def test_labels_touch_neither_each_other_nor_the_border(small: PlanGraph, large: PlanGraph) -> None:
    for plan in (small, large):
        chart = view(plan)
        written = sorted((row for row in nodes_of(chart) if row["label"]), key=lambda row: (row["y"], row["x"]))
        spans = [(row["y"], row["x"], 2.8 * max(map(len, row["label"]))) for row in written]
        assert all(half <= x <= chart["width"] - half for _, x, half in spans)
        for (y, x, half), (next_y, next_x, next_half) in pairwise(spans):
            assert y != next_y or x + half < next_x - next_half


def test_long_names_are_shortened() -> None:
    name, label = "n" * 90, "#0 " + "T" * 90
    chart = view(PlanGraph((PlanNode(label, "T a", (name,), (name,), 1e40),), ()))
    (row,), (pattern,) = nodes_of(chart), patterns_of(chart)
    assert row["label"] == ["#0 " + "T" * 17, "T" * 19 + "…", "about 1e+40"]
    assert row["node"] == label
    assert pattern["name"] == "n" * 19 + "…" and pattern["pattern"] == name


# ---- files ----


def test_files(small: PlanGraph, tmp_path: Path) -> None:
    text = plot_plan(small, tmp_path / "p.svg", title="Five patterns").read_text("utf-8")
    assert all(f">{told}<" in text for told in ("Five patterns", "p1", "p5", "3 to 4", small.nodes[-1].label))
    spec = json.loads(plot_plan(small, tmp_path / "p.json").read_text("utf-8"))
    assert spec == spec_of(plot_plan(small, tmp_path / "p.html"))
    assert spec["title"]["text"] == "Shared plan"
    with pytest.raises(UnsupportedError, match=r"\.html, \.png, \.svg or \.json"):
        plot_plan(small, tmp_path / "p.gif")


def test_a_specification_needs_no_package(small: PlanGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    plot_plan(small, tmp_path / "new folder" / "p.json")
    with pytest.raises(ResourceError, match="vl-convert-python"):
        plot_plan(small, tmp_path / "another folder" / "p.svg")
    assert [one.name for one in tmp_path.iterdir()] == ["new folder"]


def test_png_shows_colours_and_leaves_the_border_free(small: PlanGraph, tmp_path: Path) -> None:
    pixels = pixels_of(plot_plan(small, tmp_path / "p.png").read_bytes())
    assert all(count_of(colour, pixels) > 50 for colour in (*SHARES[:3], INK))
    assert count_of(SHARES[3], pixels) == 0
    for border in (pixels[:20], pixels[-20:], pixels[:, :20], pixels[:, -20:]):
        assert (border == 255).all()


@pytest.mark.slow
def test_a_real_browser_draws_the_plan(large: PlanGraph, tmp_path: Path) -> None:
    page = plot_plan(large, tmp_path / "p.html")
    browse(page, f"--screenshot={tmp_path / 'p.png'}", "--window-size=1500,900", "--hide-scrollbars")
    pixels = pixels_of((tmp_path / "p.png").read_bytes())
    assert all(count_of(colour, pixels) > 5 for colour in SHARES[:5])


def test_nothing_at_all(tmp_path: Path) -> None:
    for suffix in ("html", "png", "svg", "json"):
        plot_plan(PlanGraph((), ()), tmp_path / f"p.{suffix}")


def test_values_cannot_break_the_page(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script>"
    plan = PlanGraph((PlanNode(evil, evil, (evil,), (evil,), 1.0),), ())
    page = plot_plan(plan, tmp_path / "p.html", title=evil)
    assert page.read_text(encoding="utf-8").count("<script>") == 2
    assert spec_of(page)["title"]["text"] == evil


@pytest.mark.parametrize("edge", [(1, 0), (0, 0), (0, 2), (-1, 1)])
def test_edges_lead_to_nodes_behind(edge: tuple[int, int]) -> None:
    nodes = tuple(PlanNode(f"#{number} A", "A a", ("p",), (), 1.0) for number in range(2))
    with pytest.raises(BindingError, match=rf"node {edge[1]} cannot be made of node {edge[0]}.\nNumber nodes from 0"):
        PlanGraph(nodes, (edge,))


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_differ_for_every_reader(sight: str) -> None:
    for one, other in pairwise(SHARES):
        assert difference(one, other, sight) > 16
