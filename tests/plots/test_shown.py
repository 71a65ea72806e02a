"""Matches as a table, each with a small picture of its rows."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import trellis as tr
from plots.pictures import browse, count_of, pixels_of
from trellis.errors import BindingError, ResourceError
from trellis.origins import origin_of
from trellis.plots.chart import ACCENT, LINE
from trellis.plots.shown import shown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def walks() -> pd.DataFrame:
    return pd.DataFrame(
        [(key, place, float(place % 8)) for key in ("a", "b") for place in range(100)], columns=["key", "t", "v"]
    )


@pytest.fixture
def found() -> pd.DataFrame:
    return pd.DataFrame({"key": ["b", "a", "b"], "start": [48, 7, 97], "end": [55, 8, 97], "name": ["up", "<b>", None]})


def table_of(matches: Any, series: Any, n: int = 20, **how: Any) -> Any:
    given = {"x": "t", "y": "v", "by": "key", "ends": ("start", "end"), "match": None, "zoom": True, "max_rows": 1000}
    return shown(matches, series, n, **(given | how))


def test_a_terminal_gets_letters(
    walks: pd.DataFrame, found: pd.DataFrame, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    tr.show(found, walks, x="t", y="v", by="key")
    assert capsys.readouterr().out.splitlines() == [
        "key  start  end  name  picture",
        "---  -----  ---  ----  --------",
        "b       48   55  up    ▁▂▃▄▅▆▇█",
        "a        7    8  <b>   █▁",
        "b       97   97  –     ▅",
        "(3 rows)",
    ]
    tr.show(found[["start", "name"]], n=2)
    assert capsys.readouterr().out.splitlines()[2:] == ["   48  up", "    7  <b>", "(2 rows; there are more)"]
    tr.show(found[:0], walks, x="t", y="v", by="key")
    assert capsys.readouterr().out == "(no rows)\n"


def test_a_notebook_gets_html(walks: pd.DataFrame, found: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    ipython = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", ipython)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=seen.append))  # type: ignore[arg-type]
    tr.show(found, walks, x="t", y="v", by="key")
    assert repr(seen[0]) == str(seen[0])
    text = seen[0]._repr_html_()
    assert text.count("<svg") == 3 and "&lt;b&gt;" in text and "<b>" not in text
    lines = re.findall(rf'<polyline points="([^"]*)" fill="none" stroke="({LINE}|{ACCENT})"', text)
    assert [len(points.split()) for points, _ in lines] == [24, 8, 12, 2, 8, 1]


@pytest.mark.slow
def test_a_real_browser_draws_the_table(walks: pd.DataFrame, found: pd.DataFrame, tmp_path: Path) -> None:
    page = tmp_path / "table.html"
    page.write_text(f"<html><body>{table_of(found, walks)._repr_html_()}</body></html>", encoding="utf-8")
    browse(page, f"--screenshot={tmp_path / 'm.png'}", "--window-size=900,400", "--hide-scrollbars")
    assert count_of(ACCENT, pixels_of((tmp_path / "m.png").read_bytes())) > 20


def test_words_are_told_in_their_order(found: pd.DataFrame) -> None:
    pages = pd.DataFrame({"t": range(6), "v": ["home", "item", "item", "cart", "paid", "home"]})
    visits = pd.DataFrame({"start": [1], "end": [4]})
    table = table_of(visits, pages, by=None)
    assert "item ×2 → cart → paid" in str(table)
    html = table._repr_html_()
    assert html.count("<circle") == 6 and html.count(f'fill="{ACCENT}"') == 5  # the band, and four marks


def test_long_matches_become_few_letters(walks: pd.DataFrame) -> None:
    matches = pd.DataFrame({"key": ["a"], "start": [0], "end": [99]})
    letters = str(table_of(matches, walks)).splitlines()[2].split()[-1]
    assert len(letters) == 24


def test_all_rows_per_match_are_one_line_each(walks: pd.DataFrame) -> None:
    rows = walks[:100].assign(no=[1] * 8 + [None] * 88 + [2] * 4)
    table = table_of(rows, walks, match="no")
    assert table.names == ("key", "no", "first row", "last row", "rows")
    assert [row[2:] for row in table.rows] == [("0", "7", "8"), ("96", "99", "4")]
    assert "▁▂▃▄▅▆▇█" in str(table)


def test_a_match_without_a_place_has_no_picture(walks: pd.DataFrame, found: pd.DataFrame) -> None:
    table = table_of(found.assign(start=[48, None, 97]), walks)
    assert [panel is None for panel in table.panels] == [False, True, False]
    assert table._repr_html_().count("<svg") == 2
    nothing = table_of(found[:1].assign(start=500, end=501), walks)
    assert "picture" in str(nothing) and "<svg" not in nothing._repr_html_()


def test_what_is_refused(walks: pd.DataFrame, found: pd.DataFrame) -> None:
    with pytest.raises(BindingError, match="what to draw"):
        tr.show(found, walks, x="t")
    with pytest.raises(BindingError, match="n must be"):
        tr.show(found, n=0)
    with pytest.raises(BindingError, match="no column 'begin'"):
        tr.show(found, walks, x="t", y="v", start="begin")
    with pytest.raises(ResourceError, match="more than 5 rows"):
        tr.show(found, walks, x="t", y="v", by="key", max_rows=5)


@pytest.mark.spark
def test_spark_frames(walks: pd.DataFrame, found: pd.DataFrame, spark: SparkSession) -> None:
    series, matches = spark.createDataFrame(walks), spark.createDataFrame(found[:2])
    for n in (1, 5):
        assert str(table_of(matches, series, n)) == str(table_of(found[:2], walks, n))


@pytest.mark.spark
def test_a_result_knows_what_to_draw(spark: SparkSession, walks: pd.DataFrame) -> None:
    rows = spark.createDataFrame(walks[:100].assign(w=1.0))
    fall = {"F": "v < prev(v)", "G": "v > prev(v)"}
    falls = tr.pattern("A F G").define(**fall).measures(at="A.t", low="F.v", until="LAST(g.T)")
    assert str(table_of(falls.match(rows, "key", "t"), None, 2)).splitlines() == [
        "key  at  low  until  picture",
        "---  --  ---  -----  -------",
        "a     7    0      9  █▁▂",
        "a    15    0     17  █▁▂",
        "(2 rows; there are more)",
    ]

    def sql(columns: str, measures: str, key: str = "key") -> Any:
        clause = f"PARTITION BY {key} ORDER BY t MEASURES {measures} PATTERN (A F) DEFINE F AS v < prev(v)"
        return tr.sql(f"SELECT {columns} FROM {{rows}} MATCH_RECOGNIZE ({clause})", rows=rows)

    named = sql("*", "t AS last, first(t) AS start, v AS t2")
    origin = origin_of(named)
    assert origin is not None and (origin.x, origin.y, origin.by) == ("t", "v", ("key",))
    assert origin.places == ("last", "start")
    # Nothing is known of what was made of it, nor where a key or the places are not in the result.
    assert origin_of(named.orderBy("start")) is None
    assert "picture" not in str(table_of(named.orderBy("start"), None, 2))
    assert origin_of(sql("last", "t AS last")) is None
    assert origin_of(sql("key", "t AS last")) is None
    assert origin_of(sql("*", "v AS low")) is None
    assert origin_of(sql("*", "t AS last", key="upper(key)")) is None
