"""Pictures of matches: what is drawn, what is thinned, what is refused. Only the last tests need Spark."""

from __future__ import annotations

import builtins
import itertools
import re
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from plots.pictures import SIGHT, browse, count_of, difference, layers_of, pixels_of, plot, rows_of, spec_of
from trellis.errors import BindingError, ResourceError, UnsupportedError
from trellis.plots.bands import INNER
from trellis.plots.chart import ACCENT
from trellis.plots.frames import choose_series, numbers, show
from trellis.plots.panels import Band, panel, thin

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("vl_convert")


@pytest.fixture
def walks() -> pd.DataFrame:
    """Three series of a hundred days."""
    draw = np.random.default_rng(7)
    days = [date(2024, 1, 1) + timedelta(days=n) for n in range(100)]
    return pd.concat(
        pd.DataFrame({"city": city, "day": days, "temp": draw.normal(0, 1, 100).cumsum()})
        for city in ("Ur", "Aš", "Ee")
    )


@pytest.fixture
def dips() -> pd.DataFrame:
    rows = [("Ur", 5, 9, 1.25), ("Ur", 40, 40, 2.5), ("Ee", 70, 90, 12345.678)]
    first = date(2024, 1, 1)
    return pd.DataFrame(
        [(city, first + timedelta(days=a), first + timedelta(days=b), low) for city, a, b, low in rows],
        columns=["city", "start", "end", "low"],
    )


@pytest.fixture
def falls(dips: pd.DataFrame) -> pd.DataFrame:
    """The dips with an inner stretch each, but for the second one."""
    days = [date(2024, 1, 1) + timedelta(days=n) for n in (6, 8, 75, 79)]
    return dips.assign(fall_start=[days[0], None, days[2]], fall_end=[days[1], None, days[3]])


# ---- the files ----


def test_html_needs_no_network(walks: pd.DataFrame, dips: pd.DataFrame, tmp_path: Path) -> None:
    page = plot(dips, walks, x="day", y="temp", by="city", path=tmp_path / "new folder" / "m.html")
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"<script[^>]*\bsrc\s*=", text)
    assert not re.search(r"\bimport\s*\(?\s*[\"']https?:", text)
    markup = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r"https?:|<(link|img|iframe)\b|@import|url\(", markup)


@pytest.mark.slow
def test_html_is_drawn_by_a_real_browser(walks: pd.DataFrame, dips: pd.DataFrame, tmp_path: Path) -> None:
    drawn = browse(plot(dips, walks, x="day", y="temp", by="city", path=tmp_path / "m.html"), "--dump-dom")
    canvas = re.search(r'<canvas width="(\d+)" height="(\d+)"', drawn)
    assert canvas
    # Two panels of 190 pixels each; a title alone is below 100.
    assert int(canvas[1]) > 800
    assert int(canvas[2]) > 400


@pytest.mark.slow
def test_a_real_browser_draws_inner_stretches(walks: pd.DataFrame, falls: pd.DataFrame, tmp_path: Path) -> None:
    page = plot(falls, walks, x="day", y="temp", by="city", inner=("fall_start", "fall_end"), path=tmp_path / "m.html")
    browse(page, f"--screenshot={tmp_path / 'm.png'}", "--window-size=1100,900", "--hide-scrollbars")
    pixels = pixels_of((tmp_path / "m.png").read_bytes())
    assert count_of(ACCENT, pixels) > 50
    assert count_of(INNER[0], pixels) > 50


def test_values_cannot_break_the_page(walks: pd.DataFrame, dips: pd.DataFrame, tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script>"
    page = plot(
        dips.assign(note=evil), walks, x="day", y="temp", by="city", label="note", title=evil, path=tmp_path / "m.html"
    )
    assert page.read_text(encoding="utf-8").count("<script>") == 2
    assert spec_of(page)["title"]["text"] == evil


@pytest.mark.parametrize("suffix", [".png", ".PNG"])
def test_png_is_not_blank(walks: pd.DataFrame, dips: pd.DataFrame, tmp_path: Path, suffix: str) -> None:
    picture = plot(dips, walks, x="day", y="temp", by="city", path=tmp_path / f"m{suffix}", title="Dips")
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG")
    pixels = pixels_of(data)
    assert len({line.tobytes() for line in pixels}) > 200  # a blank picture has very few different lines
    assert count_of(ACCENT, pixels) > 50
    assert count_of(INNER[0], pixels) == 0


def test_svg(walks: pd.DataFrame, dips: pd.DataFrame, tmp_path: Path) -> None:
    text = plot(dips, walks, x="day", y="temp", by="city", path=tmp_path / "m.svg", title="Dips").read_text("utf-8")
    assert text.startswith("<svg")
    assert "Dips" in text and "Aš" in text


def test_the_summary_needs_no_title(walks: pd.DataFrame, dips: pd.DataFrame, tmp_path: Path) -> None:
    text = plot(dips, walks, x="day", y="temp", by="city", path=tmp_path / "m.svg").read_text("utf-8")
    assert ">3 matches in 2 of 3 series<" in text
    page = plot(dips, walks, x="day", y="temp", by="city", path=tmp_path / "m.html").read_text("utf-8")
    assert "<title>Matches</title>" in page


# ---- what is drawn ----


def test_bands_lines_and_tooltips(walks: pd.DataFrame, dips: pd.DataFrame, tmp_path: Path) -> None:
    spec = spec_of(plot(dips, walks, x="day", y="temp", by="city", label="low", path=tmp_path / "m.html"))
    assert spec["title"]["subtitle"] == "3 matches in 2 of 3 series"
    panels = {chart["title"]["text"]: chart for chart in spec["concat"]}
    assert list(panels) == ["Aš", "Ee", "Ur"]
    assert rows_of(panels["Aš"], "rect") == []
    (band,) = rows_of(panels["Ee"], "rect")
    assert (band["t0"], band["t1"], band["t2"]) == ("2024-03-11", "2024-03-31", "12,346")
    assert "12,346" in [
        row.get("label") for layer in layers_of(panels["Ee"], "text") for row in layer["data"]["values"]
    ]
    stretches = [row["s"] for row in rows_of(panels["Ur"], "line")]
    assert [stretches.count(n) for n in (-1, 0, 1)] == [94, 5, 1]
    assert sum(row["alone"] for row in rows_of(panels["Ur"], "line")) == 1


def test_inner_stretches_have_their_own_colour(walks: pd.DataFrame, falls: pd.DataFrame, tmp_path: Path) -> None:
    wanted = {"x": "day", "y": "temp", "by": "city", "inner": ("fall_start", "fall_end")}
    spec = spec_of(plot(falls, walks, **wanted, path=tmp_path / "m.html"))
    panels = {chart["title"]["text"]: chart for chart in spec["concat"]}
    outer, inner = layers_of(panels["Ur"], "rect")
    assert len(outer["data"]["values"]) == 2
    (fall,) = inner["data"]["values"]  # the other match has none
    assert (fall["x2"] - fall["x"]) / 86_400_000 == 2
    assert [fall[f"t{n}"] for n in range(3)] == [outer["data"]["values"][0][f"t{n}"] for n in range(3)]
    _, outer_line, inner_line = layers_of(panels["Ur"], "line")
    assert outer_line["mark"]["color"] == outer["mark"]["color"] == ACCENT
    assert inner_line["mark"]["color"] == inner["mark"]["color"] == INNER[0]
    rows = rows_of(panels["Ur"], "line")
    assert [n for n, row in enumerate(rows) if row["s1"] >= 0] == [6, 7, 8]
    assert [row["s"] >= 0 for row in rows].count(True) == 6
    for line, name in ((outer_line, "match"), (inner_line, "fall")):
        colour = line["encoding"]["color"]
        assert colour["datum"] == name
        assert colour["scale"] == {"domain": ["match", "fall"], "range": [ACCENT, INNER[0]]}
        assert colour["legend"]["orient"] == "top"
    assert len(layers_of(panels["Aš"], "line")) == 2  # no match, and still the legend
    assert layers_of(panels["Aš"], "line")[1]["encoding"]["color"]["scale"]["domain"] == ["match", "fall"]
    assert "color" not in outer["encoding"]
    text = plot(falls, walks, **wanted, outer="whole dip", path=tmp_path / "m.svg").read_text("utf-8")
    assert all(f">{name}<" in text for name in ("whole dip", "fall"))
    assert all(f'stroke="{colour}"' in text for colour in (ACCENT, INNER[0]))
    pixels = pixels_of(plot(falls, walks, **wanted, path=tmp_path / "m.png").read_bytes())
    assert count_of(ACCENT, pixels) > 50
    assert count_of(INNER[0], pixels) > 50


def test_without_inner_stretches_there_is_no_legend(walks: pd.DataFrame, falls: pd.DataFrame, tmp_path: Path) -> None:
    spec = spec_of(plot(falls, walks, x="day", y="temp", by="city", path=tmp_path / "m.html"))
    assert not any("color" in layer["encoding"] for chart in spec["concat"] for layer in chart["layer"])


def test_several_inner_stretches_with_names(walks: pd.DataFrame, falls: pd.DataFrame, tmp_path: Path) -> None:
    parts = {"steep fall": ("fall_start", "fall_end"), "bottom": ("fall_end", "fall_end"), "rise": ("end", "fall_end")}
    spec = spec_of(plot(falls, walks, x="day", y="temp", by="city", inner=parts, outer="dip", path=tmp_path / "m.html"))
    ur = next(chart for chart in spec["concat"] if chart["title"]["text"] == "Ur")
    lines = layers_of(ur, "line")[1:]
    assert [line["encoding"]["color"]["datum"] for line in lines] == ["dip", "steep fall", "bottom", "rise"]
    assert [line["mark"]["color"] for line in lines] == [ACCENT, *INNER]
    rows = rows_of(ur, "line")
    inside = [[n for n, row in enumerate(rows) if row[field] >= 0] for field in ("s1", "s2", "s3")]
    assert inside == [[6, 7, 8], [8], [8, 9]]  # a row may be in two; the order of a pair does not matter
    assert [n for n, row in enumerate(rows) if row["alone2"]] == [8]


@pytest.mark.parametrize(
    ("pair", "name"),
    [
        (("fall_start", "fall_end"), "fall"),
        (("steep_fall_start", "steep_fall_end"), "steep fall"),
        (("fall", "fall"), "fall"),
        (("from", "to"), "from – to"),
        (("start_a", "stop_a"), "start_a – stop_a"),
    ],
)
def test_legend_from_column_names(
    pair: tuple[str, str], name: str, walks: pd.DataFrame, dips: pd.DataFrame, tmp_path: Path
) -> None:
    matches = dips.assign(**{pair[0]: dips["start"], pair[1]: dips["end"]})
    spec = spec_of(plot(matches, walks, x="day", y="temp", by="city", inner=pair, path=tmp_path / "m.html"))
    line = layers_of(spec["concat"][0], "line")[1]
    assert line["encoding"]["color"]["scale"]["domain"] == ["match", name]


def test_inner_stretches_without_any_match(walks: pd.DataFrame, falls: pd.DataFrame, tmp_path: Path) -> None:
    for suffix in ("html", "png", "svg"):
        for matches in (falls[:0], falls[1:2]):
            wanted = {"inner": ("fall_start", "fall_end"), "path": tmp_path / f"m.{suffix}"}
            plot(matches, walks, x="day", y="temp", by="city", **wanted)


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_differ_for_every_reader(sight: str) -> None:
    for one, other in itertools.combinations((ACCENT, *INNER), 2):
        assert difference(one, other, sight) > 35


def test_no_matches_still_draws_the_series(walks: pd.DataFrame, dips: pd.DataFrame, tmp_path: Path) -> None:
    spec = spec_of(plot(dips[:0], walks, x="day", y="temp", by="city", path=tmp_path / "m.html"))
    assert spec["title"]["subtitle"] == "no matches"
    assert [len(rows_of(chart, "line")) for chart in spec["concat"]] == [100, 100, 100]


def test_nothing_at_all_is_an_empty_picture(walks: pd.DataFrame, dips: pd.DataFrame, tmp_path: Path) -> None:
    for suffix in ("html", "png"):
        plot(dips[:0], walks[:0], x="day", y="temp", path=tmp_path / f"m.{suffix}")
        plot(dips[:0], walks[:0], x="day", y="temp", by="city", path=tmp_path / f"m.{suffix}")


def test_all_rows_per_match(walks: pd.DataFrame, tmp_path: Path) -> None:
    rows = walks.reset_index(drop=True)
    matched = rows.assign(no=pd.Series([1, 1, 1, None, 2, 2], dtype="Int64"), v=pd.Series(list("ABB-AC")))[:6]
    spec = spec_of(plot(matched, rows, x="day", y="temp", by="city", match="no", label="v", path=tmp_path / "m.html"))
    ur = next(chart for chart in spec["concat"] if chart["title"]["text"] == "Ur")
    bands = rows_of(ur, "rect")
    assert [(band["t0"], band["t1"], band["t2"], band["t3"]) for band in bands] == [
        ("1", "2024-01-01", "2024-01-03", "3"),
        ("2", "2024-01-05", "2024-01-06", "2"),
    ]
    points = ur["layer"][-1]
    assert [row["label"] for row in points["data"]["values"]] == list("ABBAC")
    assert points["encoding"]["color"]["scale"]["domain"] == ["A", "B", "C"]
    bare = spec_of(plot(matched, rows, x="day", y="temp", by="city", match="no", path=tmp_path / "m.html"))
    assert bare["title"]["subtitle"] == spec["title"]["subtitle"] == "2 matches in 1 of 3 series"


def test_series_with_most_matches_come_first() -> None:
    series = pd.DataFrame({"k": list("abcde")})
    matched = pd.DataFrame({"k": list("dccbdd")})
    assert choose_series(matched, series, ["k"], 2) == ([("d",), ("c",)], True)
    assert choose_series(matched, series, ["k"], 5) == ([("a",), ("b",), ("c",), ("d",), ("e",)], False)
    assert choose_series(matched[:0], series, ["k"], 2) == ([("a",), ("b",)], True)


def test_null_is_a_key_like_any_other(tmp_path: Path) -> None:
    series = pd.DataFrame({"k": ["a", None, "a", None], "x": [0, 0, 1, 1], "y": [1.0, 2, 3, 4]})
    matches = pd.DataFrame({"k": [None], "start": [0], "end": [1]})
    spec = spec_of(plot(matches, series, x="x", y="y", by=["k"], path=tmp_path / "m.html"))
    assert [chart["title"]["text"] for chart in spec["concat"]] == ["a", "–"]
    assert len(rows_of(spec["concat"][1], "rect")) == 1


def test_matches_outside_the_drawn_time_are_left_out() -> None:
    bands = [Band(-5, -1, "", {}), Band(-5, 0, "", {}), Band(9, 12, "", {}), Band(10, 12, "", {})]
    shown = panel("", np.arange(10.0), np.zeros(10), bands, [], 100)
    assert shown.bands == bands[1:3]


# ---- thinning ----


def test_thinning_keeps_extremes_gaps_and_matches() -> None:
    x = np.arange(200_000.0)
    y = np.sin(x / 500)
    y[[77_777, 150_001]] = 40.0, -40.0
    y[120_000:120_003] = np.nan
    shown = panel("", x, y, [Band(60_000, 60_999, "", {})], [], 4_000)
    assert len(shown.x) <= 5_000
    assert (np.nanmax(shown.y), np.nanmin(shown.y)) == (40.0, -40.0)
    assert np.isnan(shown.y).any()
    assert (shown.stretch == 0).sum() == 1_000
    assert (shown.x[0], shown.x[-1]) == (0.0, 199_999.0)
    assert (np.diff(shown.x) > 0).all()


def test_thinning_bounds_a_series_that_matched_everywhere() -> None:
    x = np.arange(100_000.0)
    bands = [Band(n, n + 8, "", {}) for n in range(0, 100_000, 5_000)] + [Band(0, 90_000, "", {})]
    shown = panel("", x, x % 7, bands, [], 1_000)
    assert len(shown.x) < 3_000
    assert 90_000.0 in shown.x


def test_thinning_keeps_the_borders_of_inner_stretches() -> None:
    x = np.arange(100_000.0)
    shown = panel("", x, x % 7, [Band(0, 90_000, "", {}, ((40_001, 40_777),)), Band(5, 9, "", {}, (None,))], [], 1_000)
    assert len(shown.x) < 3_000
    (inner,) = shown.inner
    inside = shown.x[inner >= 0]
    assert (inside[0], inside[-1]) == (40_001.0, 40_777.0)


def test_short_and_constant_series_stay_whole() -> None:
    assert thin(np.arange(5.0), np.zeros(5), 5).tolist() == [0, 1, 2, 3, 4]
    assert 1 <= len(thin(np.zeros(50), np.arange(50.0), 8)) <= 8


# ---- values ----


@pytest.mark.parametrize(
    ("values", "expected", "temporal"),
    [
        ([1, 2], [1, 2], False),
        ([1.5, None], [1.5, np.nan], False),
        ([Decimal("1.25"), None], [1.25, np.nan], False),
        ([True, False], [1, 0], False),
        ([date(1970, 1, 2), None], [86_400_000, np.nan], True),
        ([date(1066, 10, 14), date(1970, 1, 1)], [-28_502_755_200_000, 0], True),
        ([datetime(1970, 1, 1, 0, 0, 1)], [1000], True),
        ([datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))], [3_600_000], True),
    ],
)
def test_numbers(values: list[Any], expected: list[float], temporal: bool) -> None:
    for given in (pd.Series(values), pd.Series(values, dtype=object)):
        found, is_time = numbers(given, "x")
        np.testing.assert_array_equal(found, expected)
        assert is_time == temporal


def test_dates_beside_every_kind_of_missing_value() -> None:
    found, is_time = numbers(pd.Series([date(1970, 1, 2), None, pd.NaT, pd.NA, float("nan")], dtype=object), "x")
    np.testing.assert_array_equal(found, [86_400_000.0, *[np.nan] * 4])
    assert is_time


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (float("nan"), "–"),
        (pd.NA, "–"),
        (pd.NaT, "–"),
        (0.1 + 0.2, "0.3"),
        (1234.5678, "1234.6"),
        (np.float64(1e6), "1,000,000"),
        (7, "7"),
        (date(2024, 1, 2), "2024-01-02"),
        (pd.Timestamp("2024-01-02"), "2024-01-02"),
        (pd.Timestamp("2024-01-02 03:04:05.678"), "2024-01-02 03:04:05.678"),
    ],
)
def test_show(value: Any, text: str) -> None:
    assert show(value) == text


# ---- what is refused ----


def test_unknown_column(walks: pd.DataFrame, dips: pd.DataFrame) -> None:
    with pytest.raises(BindingError, match=r"series have no column 'town'.\nTheir columns are city, day, temp"):
        plot(dips, walks, x="day", y="temp", by="town")
    with pytest.raises(BindingError, match=r"matches have no column 'begin'.\nTheir columns are city, start, end, low"):
        plot(dips, walks, x="day", y="temp", by="city", start="begin")


def test_what_has_no_place_on_an_axis(walks: pd.DataFrame, dips: pd.DataFrame) -> None:
    with pytest.raises(BindingError, match="'city' holds str values"):
        plot(dips, walks, x="city", y="temp")
    with pytest.raises(BindingError, match="'t' holds timedelta64"):
        plot(dips, walks.assign(t=pd.Timedelta(1, "s")), x="day", y="t")


def test_start_must_be_of_the_kind_of_x(walks: pd.DataFrame, dips: pd.DataFrame) -> None:
    with pytest.raises(BindingError, match=r"'low' of the matches and column 'day'.*\n.*FIRST\(day\)"):
        plot(dips, walks, x="day", y="temp", by="city", start="low", end="low")


def test_inner_needs_columns_that_are_there(walks: pd.DataFrame, falls: pd.DataFrame) -> None:
    with pytest.raises(BindingError, match=r"matches have no column 'fall_stop'.\nTheir columns are city, start, end"):
        plot(falls, walks, x="day", y="temp", by="city", inner=("fall_start", "fall_stop"))


def test_inner_needs_columns_that_fit_the_axis(walks: pd.DataFrame, falls: pd.DataFrame) -> None:
    with pytest.raises(BindingError, match="'city' holds str values"):
        plot(falls, walks, x="day", y="temp", by="city", inner=("city", "fall_end"))
    with pytest.raises(BindingError, match=r"'low' of the matches and column 'day'.*\n.*FIRST\(day\)"):
        plot(falls, walks, x="day", y="temp", by="city", inner=("fall_start", "low"))


@pytest.mark.parametrize("inner", ["fall_start", ("fall_start",), ("a", "b", "c"), (1, 2), 7, {"fall": "fall_start"}])
def test_inner_needs_pairs(inner: Any, walks: pd.DataFrame, falls: pd.DataFrame) -> None:
    with pytest.raises(BindingError, match=r"needs the names of two columns, not .*\nWrite inner=\("):
        plot(falls, walks, x="day", y="temp", by="city", inner=inner)


def test_names_of_the_legend_must_differ(walks: pd.DataFrame, falls: pd.DataFrame) -> None:
    with pytest.raises(BindingError, match=r"both the match and a part of it 'fall'.\n.*outer="):
        plot(falls, walks, x="day", y="temp", by="city", inner=("fall_start", "fall_end"), outer="fall")


def test_inner_needs_one_row_per_match(walks: pd.DataFrame, falls: pd.DataFrame) -> None:
    with pytest.raises(UnsupportedError, match=r"ALL ROWS PER MATCH.*\n.*CLASSIFIER\(\) in label="):
        plot(falls, walks, x="day", y="temp", by="city", match="low", inner=("fall_start", "fall_end"))


def test_unknown_suffix(walks: pd.DataFrame, dips: pd.DataFrame) -> None:
    with pytest.raises(UnsupportedError, match=r"\.html, \.png, \.svg or \.json"):
        plot(dips, walks, x="day", y="temp", path="m.jpeg")


def test_too_many_rows(walks: pd.DataFrame, dips: pd.DataFrame) -> None:
    with pytest.raises(ResourceError, match="more than 99 rows"):
        plot(dips, walks, x="day", y="temp", by="city", max_rows=99)


def test_missing_package(
    walks: pd.DataFrame, dips: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any, **more: Any) -> Any:
        if name == "vl_convert":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ResourceError, match=r"pip install 'trellis-spark\[plot\]'"):
        plot(dips, walks, x="day", y="temp", by="city", path=tmp_path / "m.html")


# ---- Spark ----


@pytest.mark.connect
def test_spark_frames(walks: pd.DataFrame, dips: pd.DataFrame, tmp_path: Path, spark: SparkSession) -> None:
    series, matches = spark.createDataFrame(walks), spark.createDataFrame(dips)
    wanted = {"x": "day", "y": "temp", "by": "city", "label": "low", "path": tmp_path / "m.html"}
    for most in (1, 12):
        from_spark = spec_of(plot(matches, series, max_series=most, **wanted))
        from_pandas = spec_of(plot(dips, walks, max_series=most, **wanted))
        assert from_spark == from_pandas


@pytest.mark.connect(thorough=True)
def test_spark_frames_with_inner_stretches(
    walks: pd.DataFrame, falls: pd.DataFrame, tmp_path: Path, spark: SparkSession
) -> None:
    series, matches = spark.createDataFrame(walks), spark.createDataFrame(falls)
    wanted = {"x": "day", "y": "temp", "by": "city", "inner": ("fall_start", "fall_end"), "path": tmp_path / "m.html"}
    assert spec_of(plot(matches, series, **wanted)) == spec_of(plot(falls, walks, **wanted))


@pytest.mark.connect(thorough=True)
def test_streams_are_refused(dips: pd.DataFrame, spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load()
    with pytest.raises(UnsupportedError, match="stream"):
        plot(dips, stream, x="timestamp", y="value")


def test_rows_of_arrow_are_drawn_as_those_of_pandas(tmp_path: Path) -> None:
    import pyarrow as pa

    days = pd.DataFrame({"day": range(5), "price": [5.0, 4, 3, 4, 5]})
    dips = pd.DataFrame({"start": [0], "end": [4]})
    plot(dips, days, x="day", y="price", path=tmp_path / "a.json")
    plot(pa.Table.from_pandas(dips), pa.Table.from_pandas(days), x="day", y="price", path=tmp_path / "b.json")
    assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text()
    with pytest.raises(TypeError, match="not list"):
        plot([1], days, x="day", y="price", path=tmp_path / "c.json")  # type: ignore[arg-type]
