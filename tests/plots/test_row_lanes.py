"""Rows whose values are words: a lane for each, in the order in which they come."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from plots.pictures import layers_of, plot, rows_of, spec_of
from trellis.plots.panels import panel
from trellis.plots.row_lanes import is_text, row_lanes

pytest.importorskip("vl_convert")

FIRST = datetime(2024, 5, 1, 12)


@pytest.fixture
def visits() -> pd.DataFrame:
    """Two visits, hours apart."""
    pages = {"ann": ["home", "item", "cart", "item", "paid"], "bob": ["home", "item", "home"]}
    rows = [
        (who, FIRST + timedelta(hours=30 * number, minutes=minute), page)
        for number, (who, seen) in enumerate(pages.items())
        for minute, page in enumerate(seen)
    ]
    return pd.DataFrame(rows, columns=["who", "at", "page"])


@pytest.fixture
def bought() -> pd.DataFrame:
    return pd.DataFrame(
        {"who": ["ann"], "start": [FIRST + timedelta(minutes=2)], "end": [FIRST + timedelta(minutes=4)]}
    )


def test_each_word_has_a_lane_and_rows_are_marks(visits: pd.DataFrame, bought: pd.DataFrame, tmp_path: Path) -> None:
    spec = spec_of(plot(bought, visits, x="at", y="page", by="who", path=tmp_path / "m.html"))
    assert spec["title"]["subtitle"] == "1 match in 1 of 2 series"
    ann, bob = spec["concat"]
    axis = layers_of(ann, "line")[0]["encoding"]["y"]["axis"]
    assert axis["labelExpr"] == '["home", "item", "cart", "paid"][datum.value]'
    assert [(row["y"], row["what"], row["s"]) for row in rows_of(ann, "line")] == [
        (0.0, "home", -1),
        (1.0, "item", -1),
        (2.0, "cart", 0),
        (1.0, "item", 0),
        (3.0, "paid", 0),
    ]
    every, matched = layers_of(ann, "circle")
    assert every["mark"]["opacity"] == 1 and matched["transform"] == [{"filter": "datum.s >= 0"}]
    assert len(rows_of(bob, "line")) == 3


def test_series_that_hardly_overlap_have_their_own_axes(
    visits: pd.DataFrame, bought: pd.DataFrame, tmp_path: Path
) -> None:
    def domains(rows: pd.DataFrame) -> set[tuple[float, ...]]:
        spec = spec_of(plot(bought, rows, x="at", y="page", by="who", path=tmp_path / "m.html"))
        assert len(spec["params"]) == (1 if len(spec["params"][0]["views"]) == 2 else 2)
        return {tuple(layers_of(chart, "line")[0]["encoding"]["x"]["scale"]["domain"]) for chart in spec["concat"]}

    assert len(domains(visits)) == 2
    together = visits.assign(at=visits["at"].where(visits["who"] == "ann", visits["at"] - timedelta(hours=30)))
    assert len(domains(together)) == 1


def test_variables_colour_the_marks(visits: pd.DataFrame, tmp_path: Path) -> None:
    ann = visits[visits["who"] == "ann"]
    matched = ann[2:].assign(no=1, v=["CART", "ITEM", "PAID"])
    spec = spec_of(plot(matched, ann, x="at", y="page", match="no", label="v", path=tmp_path / "m.html"))
    points = spec["concat"][0]["layer"][-1]
    assert [(row["label"], row["y"], row["what"]) for row in points["data"]["values"]] == [
        ("CART", 2.0, "cart"),
        ("ITEM", 1.0, "item"),
        ("PAID", 3.0, "paid"),
    ]


def test_no_matches(visits: pd.DataFrame, bought: pd.DataFrame, tmp_path: Path) -> None:
    text = plot(bought[:0], visits, x="at", y="page", by="who", path=tmp_path / "m.svg").read_text("utf-8")
    assert text.count("no matches<") >= 3  # below the title, and in each panel
    plot(bought[:0], visits[:0], x="at", y="page", by="who", path=tmp_path / "m.svg")


def test_words_are_told_from_numbers() -> None:
    assert is_text(pd.Series(["a", None])) and is_text(pd.Series([None, "a"], dtype="string"))
    assert is_text(pd.Series(["a"], dtype="category"))
    assert not any(is_text(pd.Series(values)) for values in ([1.5], [FIRST], [FIRST.date()], [None]))


def test_lanes_stand_in_the_order_in_which_they_come() -> None:
    lanes = row_lanes([pd.Series(["b", "a", None, "c"]), pd.Series(["b", "c", "c"])], [])
    assert lanes.names == ("b", "a", "c")
    np.testing.assert_array_equal(lanes.heights(pd.Series(["c", None, "b"])), [2, np.nan, 0])


def test_of_too_many_words_those_of_matches_have_lanes() -> None:
    seen = pd.Series([f"w{number}" for number in range(30) for _ in range(2 + number // 10)])
    lanes = row_lanes([seen], [pd.Series(["w3", "w3"])])
    assert len(lanes.names) == 14 and lanes.names[-1] == "17 other values"
    assert "w3" in lanes.names and "w4" not in lanes.names and "w29" in lanes.names
    assert lanes.places["w4"] == 13


def test_a_long_log_is_thinned_lane_by_lane() -> None:
    x, y = np.arange(90_000.0), np.arange(90_000.0) % 3
    y[50_000] = 3.0  # once only
    shown = panel("", x, y, [], [], 1_000, lanes=True)
    assert len(shown.x) <= 1_010
    assert set(shown.y) == {0.0, 1.0, 2.0, 3.0}
