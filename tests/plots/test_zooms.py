"""Panels that show one match each, with the rows around it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from plots.pictures import layers_of, plot, rows_of, spec_of
from trellis.errors import BindingError

pytest.importorskip("vl_convert")


@pytest.fixture
def walks() -> pd.DataFrame:
    return pd.DataFrame(
        [(key, place, float(place % 7)) for key in ("a", "b") for place in range(100)], columns=["key", "t", "v"]
    )


@pytest.fixture
def found() -> pd.DataFrame:
    return pd.DataFrame({"key": ["b", "a", "b"], "start": [50, 2, 97], "end": [53, 4, 97], "n": ["x", "y", "z"]})


def shown(spec: dict[str, Any]) -> list[tuple[str, int, int, int]]:
    """Of each panel its name, its first and last place, and how many rows of it matched."""
    panels = []
    for chart in spec["concat"]:
        rows = rows_of(chart, "line")
        matched = sum(row["s"] >= 0 for row in rows)
        panels.append((chart["title"]["text"], int(rows[0]["x"]), int(rows[-1]["x"]), matched))
    return panels


@pytest.mark.parametrize(
    ("zoom", "expected"),
    [
        (True, [("b", 45, 58, 4), ("a", 0, 9, 3), ("b", 92, 99, 1)]),
        (2, [("b", 48, 55, 4), ("a", 0, 6, 3), ("b", 95, 99, 1)]),
        ((0, 1), [("b", 50, 54, 4), ("a", 2, 5, 3), ("b", 97, 98, 1)]),
    ],
)
def test_each_match_has_a_panel_in_the_order_of_the_result(
    zoom: Any, expected: list[Any], walks: pd.DataFrame, found: pd.DataFrame, tmp_path: Path
) -> None:
    spec = spec_of(plot(found, walks, x="t", y="v", by="key", label="n", zoom=zoom, path=tmp_path / "m.html"))
    assert shown(spec) == expected
    assert spec["title"]["subtitle"] == "3 matches, with the rows around them"
    assert [param["views"] for param in spec["params"]] == [["zoom0"], ["zoom1"], ["zoom2"]]
    ends = [layers_of(chart, "line")[0]["encoding"]["x"]["scale"]["domain"] for chart in spec["concat"]]
    assert ends == [[first, last] for _, first, last, _ in expected]


def test_of_too_many_matches_the_first_are_drawn(walks: pd.DataFrame, found: pd.DataFrame, tmp_path: Path) -> None:
    wanted = {"x": "t", "y": "v", "by": "key", "zoom": 3, "path": tmp_path / "m.html"}
    spec = spec_of(plot(found, walks, max_series=2, **wanted))
    assert spec["title"]["subtitle"] == "3 matches, the first 2 drawn, with the rows around them"
    assert [name for name, *_ in shown(spec)] == ["b", "a"]
    one = spec_of(plot(found[:1], walks, **wanted))
    assert one["title"]["subtitle"] == "1 match, with the rows around it"


def test_without_keys_the_place_is_the_name(walks: pd.DataFrame, found: pd.DataFrame, tmp_path: Path) -> None:
    spec = spec_of(plot(found[:1], walks[:100], x="t", y="v", zoom=True, path=tmp_path / "m.html"))
    assert [name for name, *_ in shown(spec)] == ["50 – 53"]


def test_rows_of_all_rows_per_match(walks: pd.DataFrame, tmp_path: Path) -> None:
    matched = walks[50:54].assign(no=1, var=["A", "B", "B", "C"])
    wanted = {"x": "t", "y": "v", "by": "key", "match": "no", "label": "var", "zoom": 1}
    spec = spec_of(plot(matched, walks, **wanted, path=tmp_path / "m.html"))
    assert shown(spec) == [("a", 49, 54, 4)]
    assert [row["label"] for row in spec["concat"][0]["layer"][-1]["data"]["values"]] == ["A", "B", "B", "C"]


def test_no_matches_and_matches_without_a_place(walks: pd.DataFrame, found: pd.DataFrame, tmp_path: Path) -> None:
    wanted = {"x": "t", "y": "v", "by": "key", "zoom": True, "path": tmp_path / "m.svg"}
    assert ">no matches<" in plot(found[:0], walks, **wanted).read_text("utf-8")
    empty = found.assign(start=None, end=None)
    assert ">no matches<" in plot(empty, walks, **wanted).read_text("utf-8")
    plot(found, walks[:0], **wanted)


@pytest.mark.parametrize("zoom", [-1, (1, 2, 3), "5", 2.5, (1, -1)])
def test_zoom_needs_numbers_of_rows(zoom: Any, walks: pd.DataFrame, found: pd.DataFrame) -> None:
    with pytest.raises(BindingError, match=r"zoom= needs a number of rows, not .*\nWrite True"):
        plot(found, walks, x="t", y="v", by="key", zoom=zoom)


def test_zoom_is_for_lines(walks: pd.DataFrame, found: pd.DataFrame) -> None:
    with pytest.raises(BindingError, match="zoom= is for a picture with lines"):
        plot(found, walks, x="t", zoom=True)
