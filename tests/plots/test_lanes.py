"""Pictures of matches with gaps: lanes, chains, pale events, limits. Only the last tests need Spark."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from plots.pictures import SIGHT, browse, count_of, difference, layers_of, pixels_of, plot, spec_of
from trellis.errors import BindingError, ResourceError, UnsupportedError
from trellis.plots.chart import PALE
from trellis.plots.frames import Limits
from trellis.plots.lane_chart import CHAINS
from trellis.plots.lane_panels import MOST_TRACKS, Around, Chain, Mark, lane_panel

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("vl_convert")

STREAM = [
    ("Order", 1, "x"),
    ("View", 2, "x"),
    ("Item", 3, "x"),
    ("Item", 4, "x"),
    ("Payment", 5, "x"),
    ("Order", 2, "y"),
    ("Item", 6, "y"),
    ("Order", 7, "y"),
]


def an_event(place: int) -> dict[str, Any]:
    return dict(zip(("type", "time", "shop"), STREAM[place], strict=True))


@pytest.fixture
def events() -> pd.DataFrame:
    return pd.DataFrame(STREAM, columns=["type", "time", "shop"])


@pytest.fixture
def found() -> pd.DataFrame:
    """SEQ(Order o, Item+ i[], Payment p) of shop x: with one of the items, with the other, with both."""
    chosen = [(0, [2], 4), (0, [3], 4), (0, [2, 3], 4)]
    return pd.DataFrame(
        [
            ("Match", 5, number, 1, an_event(o), [an_event(i) for i in items], an_event(p))
            for number, (o, items, p) in enumerate(chosen, start=1)
        ],
        columns=["type", "time", "match_number", "start_time", "o", "i", "p"],
    )


def lanes_of(chart: dict[str, Any]) -> str:
    return str(chart["layer"][0]["encoding"]["y"]["axis"]["labelExpr"])


def pale_of(chart: dict[str, Any]) -> list[tuple[str, int, float]]:
    return sorted((row["type"], row["x"], row["y"]) for row in chart["layer"][0]["data"]["values"])


def chains_of(chart: dict[str, Any]) -> dict[int, list[tuple[str, int]]]:
    chains: dict[int, list[tuple[str, int]]] = {}
    for row in chart["data"]["values"]:
        chains.setdefault(row["match"], []).append((row["variable"], row["x"]))
    return chains


# ---- what is drawn ----


def test_each_variable_has_a_lane_and_each_match_a_chain(
    events: pd.DataFrame, found: pd.DataFrame, tmp_path: Path
) -> None:
    spec = spec_of(plot(found, events, x="time", by="shop", path=tmp_path / "m.html", title="Paid"))
    assert spec["title"]["text"] == "Paid"
    assert spec["title"]["subtitle"] == "3 matches in 1 of 2 series · 8 events"
    x, y = spec["concat"]
    assert [x["title"]["text"], y["title"]["text"]] == ["x", "y"]
    lanes = '[["o", "Order"], ["i[]", "Item"], ["p", "Payment"], ["other", "types"]]'
    assert lanes_of(x) == lanes_of(y) == f"{lanes}[ceil(datum.value)]"
    assert chains_of(x) == {
        0: [("o", 1), ("i[]", 3), ("p", 5)],
        1: [("o", 1), ("i[]", 4), ("p", 5)],
        2: [("o", 1), ("i[]", 3), ("i[]", 4), ("p", 5)],
    }
    assert chains_of(y) == {}
    assert pale_of(x) == [("View", 2, 2.8)]
    assert pale_of(y) == [("Item", 6, 1), ("Order", 2, 0), ("Order", 7, 0)]


def test_chains_that_overlap_stand_beside_each_other(events: pd.DataFrame, found: pd.DataFrame, tmp_path: Path) -> None:
    chart, _ = spec_of(plot(found, events, x="time", by="shop", path=tmp_path / "m.html"))["concat"]
    heights = {row["match"]: row["y"] for row in chart["data"]["values"] if row["variable"] == "o"}
    assert heights == {0: 0, 1: -0.2, 2: 0.2}
    assert {row["match"]: row["colour"] for row in chart["data"]["values"]} == {0: 0, 1: 1, 2: 2}
    (numbers,) = layers_of(chart, "text")
    assert numbers["encoding"]["text"]["field"] == "number"


def test_tooltips(events: pd.DataFrame, found: pd.DataFrame, tmp_path: Path) -> None:
    chart, _ = spec_of(plot(found, events, x="time", by="shop", path=tmp_path / "m.html"))["concat"]
    pale, chosen = layers_of(chart, "circle")
    assert [(one["title"], one["field"]) for one in chosen["encoding"]["tooltip"]] == [
        ("match", "number"),
        ("variable", "variable"),
        ("type", "type"),
        ("time", "when"),
    ]
    assert [one["title"] for one in pale["encoding"]["tooltip"]] == ["passed over", "time"]
    row = chart["data"]["values"][-1]
    assert (row["number"], row["variable"], row["type"], row["when"]) == ("3", "p", "Payment", "5")


def test_an_event_stands_in_the_lanes_of_all_variables_that_take_its_type(tmp_path: Path) -> None:
    events = pd.DataFrame({"type": "S", "time": [1, 2, 3, 4]})
    one = [{"type": "S", "time": time} for time in (1, 2, 3)]
    chart = spec_of(plot(pd.DataFrame({"a": [one[:2]], "b": [one[2]]}), events, x="time", path=tmp_path / "m.html"))[
        "concat"
    ][0]
    assert pale_of(chart) == [("S", 1, 1), ("S", 2, 1), ("S", 3, 0), ("S", 4, 0), ("S", 4, 1)]
    assert layers_of(chart, "text") == []  # a single match needs no number


def test_without_by_there_is_one_panel(events: pd.DataFrame, found: pd.DataFrame, tmp_path: Path) -> None:
    spec = spec_of(plot(found, events, x="time", path=tmp_path / "m.html"))
    assert spec["title"]["subtitle"] == "3 matches · 8 events"
    (chart,) = spec["concat"]
    assert chart["title"] is None
    assert len(pale_of(chart)) == 4


def test_columns_of_other_names(events: pd.DataFrame, found: pd.DataFrame, tmp_path: Path) -> None:
    def renamed(event: dict[str, Any]) -> dict[str, Any]:
        return {"kind": event["type"], "at": datetime(2024, 5, 1) + timedelta(minutes=event["time"])}

    others = pd.DataFrame({"o": found["o"].map(renamed), "i": found["i"].map(lambda many: list(map(renamed, many)))})
    rows = pd.DataFrame([renamed(event) for event in events.to_dict("records")])
    spec = spec_of(plot(others, rows, x="at", type="kind", path=tmp_path / "m.html"))
    (chart,) = spec["concat"]
    assert chart["data"]["values"][0]["when"] == "2024-05-01 00:01:00"
    assert chart["layer"][0]["encoding"]["x"]["type"] == "temporal"
    assert [row["number"] for row in chart["data"]["values"] if row["order"] == 0] == ["1", "2", "3"]


def test_no_matches_still_draws_the_events(events: pd.DataFrame, found: pd.DataFrame, tmp_path: Path) -> None:
    spec = spec_of(plot(found[:0], events, x="time", by="shop", path=tmp_path / "m.html"))
    assert spec["title"]["subtitle"] == "no matches · 8 events"
    assert [len(pale_of(chart)) for chart in spec["concat"]] == [5, 3]
    assert lanes_of(spec["concat"][0]) == '[["events"]][ceil(datum.value)]'


def test_nothing_at_all_is_an_empty_picture(events: pd.DataFrame, found: pd.DataFrame, tmp_path: Path) -> None:
    for suffix in ("html", "png", "svg"):
        plot(found[:0], events[:0], x="time", path=tmp_path / f"m.{suffix}")
        plot(found[:0], events[:0], x="time", by="shop", path=tmp_path / f"m.{suffix}")
        plot(found, events[:0], x="time", path=tmp_path / f"m.{suffix}")


def test_events_without_a_time_have_no_place(tmp_path: Path) -> None:
    events = pd.DataFrame({"type": ["A", "A", "B"], "time": [1.0, None, 3.0]})
    matches = pd.DataFrame({"a": [{"type": "A", "time": None}], "b": [{"type": "B", "time": 3.0}]})
    (chart,) = spec_of(plot(matches, events, x="time", path=tmp_path / "m.html"))["concat"]
    assert chains_of(chart) == {0: [("b", 3.0)]}
    assert pale_of(chart) == [("A", 1.0, 0)]


# ---- the files ----


def test_png_shows_the_colours_of_matches(events: pd.DataFrame, found: pd.DataFrame, tmp_path: Path) -> None:
    pixels = pixels_of(plot(found, events, x="time", by="shop", path=tmp_path / "m.png").read_bytes())
    assert all(count_of(colour, pixels) > 50 for colour in CHAINS[:3])
    assert count_of(PALE, pixels) > 50
    assert count_of(CHAINS[3], pixels) == 0


def test_svg_shows_the_lanes(events: pd.DataFrame, found: pd.DataFrame, tmp_path: Path) -> None:
    text = plot(found, events, x="time", by="shop", path=tmp_path / "m.svg").read_text("utf-8")
    assert all(f">{name}<" in text for name in ("o", "Order", "i[]", "Item", "p", "Payment", "other", "types"))


@pytest.mark.slow
def test_a_real_browser_draws_chains(events: pd.DataFrame, found: pd.DataFrame, tmp_path: Path) -> None:
    page = plot(found, events, x="time", by="shop", path=tmp_path / "m.html")
    browse(page, f"--screenshot={tmp_path / 'm.png'}", "--window-size=1200,900", "--hide-scrollbars")
    pixels = pixels_of((tmp_path / "m.png").read_bytes())
    assert all(count_of(colour, pixels) > 20 for colour in CHAINS[:3])


def test_values_cannot_break_the_page(events: pd.DataFrame, found: pd.DataFrame, tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script>"
    page = plot(found.rename(columns={"o": evil}), events, x="time", path=tmp_path / "m.html")
    assert page.read_text(encoding="utf-8").count("<script>") == 2
    assert evil in lanes_of(spec_of(page)["concat"][0])


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_of_matches_differ_for_every_reader(sight: str) -> None:
    for one, other in itertools.combinations(CHAINS, 2):
        assert difference(one, other, sight) > 28
    assert all(difference(one, PALE, sight) > 28 for one in CHAINS)


# ---- limits ----


def limits(points: int = 4_000, matches: int = 100) -> Limits:
    return Limits(12, points, matches, 1_000_000)


def around(x: list[float]) -> Around:
    """Events of one type, which one variable takes."""
    return Around(np.array(x), np.zeros(len(x), np.int64), ["A"], {"A": [0]}, 1)


def test_tracks_are_used_again() -> None:
    spans = [(0, 4), (1, 2), (3, 6), (5, 9), (5, 8)]
    chains = [Chain(str(n), (Mark(a, 0, "A"), Mark(b, 1, "B"))) for n, (a, b) in enumerate(spans)]
    shown = lane_panel("", around([]), list(reversed(chains)), limits())
    assert [(chain.number, chain.track) for chain in shown.chains] == [
        ("0", 0),
        ("1", 1),
        ("2", 1),
        ("4", 0),
        ("3", 2),
    ]
    assert shown.tracks == 3


def test_there_are_at_most_so_many_tracks() -> None:
    chains = [Chain(str(n), (Mark(n, 0, "A"), Mark(1_000, 0, "A"))) for n in range(50)]
    shown = lane_panel("", around([]), chains, limits())
    assert shown.tracks == MOST_TRACKS
    assert {chain.track for chain in shown.chains} == set(range(MOST_TRACKS))


def test_the_first_matches_are_drawn(tmp_path: Path) -> None:
    events = pd.DataFrame({"type": "A", "time": range(50)})
    found = pd.DataFrame({"a": [{"type": "A", "time": time} for time in range(49, 9, -1)]})
    spec = spec_of(plot(found, events, x="time", max_matches=7, path=tmp_path / "m.html"))
    assert spec["title"]["subtitle"] == "40 matches, the first 7 drawn · 50 events"
    (chart,) = spec["concat"]
    assert [chain[0][1] for chain in chains_of(chart).values()] == list(range(10, 17))
    assert len(pale_of(chart)) == 43


def test_pale_events_are_thinned(tmp_path: Path) -> None:
    events = pd.DataFrame({"type": "A", "time": range(100_000)})
    found = pd.DataFrame({"a": [{"type": "A", "time": 55_555}]})
    spec = spec_of(plot(found, events, x="time", max_points=500, path=tmp_path / "m.html"))
    (chart,) = spec["concat"]
    pale = pale_of(chart)
    assert 400 <= len(pale) <= 500 and {pale[0][1], pale[-1][1]} == {0, 99_999}
    assert spec["title"]["subtitle"] == f"1 match · 100,000 events, those passed over drawn as {len(pale)} marks"


def test_equal_events_are_one_mark() -> None:
    shown = lane_panel("", around([1, 1, 2, np.nan]), [], limits())
    assert shown.pale == [Mark(1, 0, "A"), Mark(2, 0, "A")] and not shown.thinned
    assert shown.events == 4


def test_thinning_is_about_lanes() -> None:
    x = np.repeat(np.arange(10_000.0), 3)
    everything = Around(x, np.tile([0, 1, 2], 10_000), ["A", "B", "C"], {"A": [0], "B": [0]}, 1)
    shown = lane_panel("", everything, [Chain("", (Mark(0.0, 0, "A"),))], limits(points=200))
    assert shown.thinned and 150 < len(shown.pale) <= 200
    by_lane = [[mark.x for mark in shown.pale if mark.lane == lane] for lane in (0, 1)]
    assert [len(lane) for lane in by_lane] == [100, 100]
    assert all(np.diff(sorted(lane)).min() > 90 for lane in by_lane)


def test_series_with_most_matches(events: pd.DataFrame, found: pd.DataFrame, tmp_path: Path) -> None:
    spec = spec_of(plot(found, events, x="time", by="shop", max_series=1, path=tmp_path / "m.html"))
    assert spec["title"]["subtitle"] == "3 matches in 1 series, those without left out · 5 events"
    assert [chart["title"]["text"] for chart in spec["concat"]] == ["x"]


# ---- what is refused ----


def test_matches_without_their_events(events: pd.DataFrame) -> None:
    returned = pd.DataFrame({"type": ["Match"], "time": [5], "waited": [4]})
    with pytest.raises(BindingError, match=r"no column that holds events with 'time'.*\nLeave RETURN out.*y="):
        plot(returned, events, x="time")


def test_events_without_columns(events: pd.DataFrame, found: pd.DataFrame) -> None:
    with pytest.raises(BindingError, match=r"events have no column 'kind'.\nTheir columns are type, time, shop"):
        plot(found, events, x="time", type="kind")
    with pytest.raises(BindingError, match=r"events in column 'o' of the matches have no 'day'.\nThey have type, time"):
        plot(found, events.assign(day=1), x="time", by="day")


def test_matches_of_several_series(events: pd.DataFrame, found: pd.DataFrame) -> None:
    with pytest.raises(BindingError, match=r"events differ in 'time'.*\nName columns in by="):
        plot(found, events, x="time", by="time")


def test_times_of_another_kind(events: pd.DataFrame, found: pd.DataFrame) -> None:
    days = events.assign(time=pd.Timestamp("2024-01-01"))
    with pytest.raises(BindingError, match="'time' is not what it is in the events"):
        plot(found, days, x="time")


def test_arguments_of_lines(events: pd.DataFrame, found: pd.DataFrame) -> None:
    with pytest.raises(BindingError, match=r"Nothing says what to draw over.\nName a column in x="):
        plot(found, events)
    for name in ("match", "label", "inner", "y_title", "same_y"):
        with pytest.raises(BindingError, match=rf"{name}= is for a picture with lines.\n.* y="):
            plot(found, events, x="time", **{name: "o"})


def test_too_many_events(events: pd.DataFrame, found: pd.DataFrame) -> None:
    with pytest.raises(ResourceError, match="events have more than 7 rows"):
        plot(found, events, x="time", max_rows=7)


# ---- Spark ----


@pytest.mark.thorough
@pytest.mark.connect(thorough=True)
def test_spark_frames(tmp_path: Path, spark: SparkSession) -> None:
    import trellis

    start = datetime(2024, 5, 1, 12)
    rows = [(kind, start + timedelta(minutes=minute), shop) for kind, minute, shop in STREAM]
    events = spark.createDataFrame(rows, "type string, time timestamp, shop string")
    text = "PATTERN SEQ(Order o, Item+ i[], Payment p) WHERE skip_till_any_match { [shop] } WITHIN 1 hour"
    found = trellis.sase(text, events=events)
    spec = spec_of(plot(found, events, x="time", by="shop", path=tmp_path / "m.html"))
    assert spec["title"]["subtitle"] == "3 matches in 1 of 2 series · 8 events"
    x, y = spec["concat"]
    first = 1_714_564_860_000
    assert x["data"]["values"][0]["when"] == "2024-05-01 12:01:00"
    minutes = [[(name, (at - first) / 60_000) for name, at in chain] for chain in chains_of(x).values()]
    assert sorted(minutes) == [
        [("o", 0), ("i[]", 2), ("i[]", 3), ("p", 4)],
        [("o", 0), ("i[]", 2), ("p", 4)],
        [("o", 0), ("i[]", 3), ("p", 4)],
    ]
    assert [(kind, lane) for kind, _, lane in pale_of(x)] == [("View", 2.8)]
    assert len(pale_of(y)) == 3
    collected = spec_of(plot(found.toPandas(), events.toPandas(), x="time", by="shop", path=tmp_path / "m.html"))
    assert [chains_of(chart) for chart in collected["concat"]] == [chains_of(x), chains_of(y)]
    compressed = trellis.sase(text, events=events, compressed=True)
    listed = spec_of(plot(trellis.decompress(compressed), events, x="time", by="shop", path=tmp_path / "m.html"))
    assert sorted(chains_of(listed["concat"][0]).values()) == sorted(chains_of(x).values())
    with pytest.raises(BindingError, match="Decompress"):
        plot(compressed, events, x="time")
    with pytest.raises(ResourceError, match="events of the matches have more than 3 rows"):
        plot(found, events, x="time", max_rows=3)
    nothing = trellis.sase(text, events=events.where("type <> 'Payment'"))
    empty = spec_of(plot(nothing, events, x="time", by="shop", path=tmp_path / "m.html"))
    assert lanes_of(empty["concat"][0]).startswith('[["o"], ["i[]"], ["p"], ["events"]]')


@pytest.mark.connect(thorough=True)
def test_streams_are_refused(found: pd.DataFrame, spark: SparkSession) -> None:
    stream = (
        spark.readStream.format("rate").load().withColumnRenamed("timestamp", "time").selectExpr("*", "'A' AS type")
    )
    with pytest.raises(UnsupportedError, match="stream"):
        plot(found, stream, x="time")
