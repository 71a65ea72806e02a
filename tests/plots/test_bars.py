"""Pictures of how far runs came."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from plots.pictures import count_of, pixels_of, plot, spec_of
from trellis.errors import BindingError
from trellis.plots.chart import ACCENT, CALM

pytest.importorskip("vl_convert")


@pytest.fixture
def progress() -> pd.DataFrame:
    return pd.DataFrame(
        [
            ("Order o", "[id]", 1_200, Decimal(1_200), 5_000, 5_000),
            ("Item+ i[]", "[id] AND i[i].price > i[i-1].price", None, None, 5_000, 5_000),
            ("end of i[]", "count(i[]) > 3", 1, Decimal(10**20), 5_000, 5_000),
            ("Payment p", "[id] AND p.amount < o.amount", 0, Decimal(0), 5_000, 5_000),
            ("~(Refund r)", "[id]", 0, Decimal(0), 5_000, 5_000),
        ],
        columns=["component", "conditions", "events", "runs", "searched", "total"],
    )


def rows_of(page: Path) -> list[dict[str, Any]]:
    (chart,) = spec_of(page)["concat"]
    return list(chart["data"]["values"])


def test_each_component_has_a_bar(progress: pd.DataFrame, tmp_path: Path) -> None:
    page = plot(progress, title="Orders", path=tmp_path / "p.html")
    rows = rows_of(page)
    assert [(row["component"], row["told"]) for row in rows] == [
        ("Order o", "1,200 events"),
        ("Item+ i[]", "more than could be counted"),
        ("end of i[]", "1 event"),
        ("Payment p", "no event"),
        ("~(Refund r)", "no event"),
    ]
    assert [row["runs"] for row in rows] == ["1,200", "more than could be counted", "1e+20", "0", "0"]
    assert [row["fails"] for row in rows] == [False, False, False, True, False]
    assert [row["known"] for row in rows] == [True, False, True, True, True]
    lengths = [row["length"] for row in rows]
    assert lengths[0] == lengths[1] == 1_200 and 1 < lengths[2] < 10 and lengths[3:] == [0, 0]
    assert spec_of(page)["title"]["subtitle"] == "how many events can take each place, of 5,000 events"


def test_a_sample_is_called_one(progress: pd.DataFrame, tmp_path: Path) -> None:
    page = plot(progress.assign(total=70_000), path=tmp_path / "p.html")
    assert spec_of(page)["title"]["subtitle"].endswith("in a sample of 5,000 of 70,000 events")


def test_files(progress: pd.DataFrame, tmp_path: Path) -> None:
    text = plot(progress, path=tmp_path / "p.svg").read_text("utf-8")
    assert all(f">{told}<" in text for told in ("Order o", "end of i[]", "count(i[]) &gt; 3", "1,200 events"))
    pixels = pixels_of(plot(progress, path=tmp_path / "p.png").read_bytes())
    assert count_of(CALM, pixels) > 1_000 and count_of(ACCENT, pixels) > 20


def test_nothing_at_all(progress: pd.DataFrame, tmp_path: Path) -> None:
    for suffix in ("html", "png", "svg"):
        plot(progress[:0], path=tmp_path / f"p.{suffix}")
        plot(progress.assign(events=0), path=tmp_path / f"p.{suffix}")
        plot(progress.assign(events=None), path=tmp_path / f"p.{suffix}")


def test_matches_alone_are_refused(progress: pd.DataFrame) -> None:
    with pytest.raises(BindingError, match=r"Matches alone cannot be drawn.*\nPass the rows or events"):
        plot(progress.drop(columns="total"), x="time", y="price")
