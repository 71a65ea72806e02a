"""Labels of matches: written without touching each other, also where matches are narrow and close together."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from trellis.plots.bands import Label, placed_labels
from trellis.plots.panels import Band

WIDTH, LETTER = 880, 5.6


def bands(*given: tuple[float, float, str]) -> list[Band]:
    return [Band(start, end, label, {}) for start, end, label in given]


def box(band: Band, label: Label, scale: float) -> tuple[float, float]:
    """From where to where the text goes, in pixels."""
    middle, full = (band.start + band.end) / 2 * scale, LETTER * len(label.text)
    left = {"left": middle, "center": middle - full / 2, "right": middle - full}[label.align]
    return left, left + full


def test_a_label_stands_over_the_middle_of_its_band() -> None:
    assert placed_labels(bands((100, 200, "a")), (0.0, 300.0), WIDTH) == {0: Label("a", 0, "center")}
    assert placed_labels(bands((100, 200, "")), (0.0, 300.0), WIDTH) == {}


def test_labels_stay_inside_the_panel() -> None:
    found = placed_labels(bands((0, 0, "the first row"), (300, 300, "the last row")), (0.0, 300.0), WIDTH)
    assert [found[0].align, found[1].align] == ["left", "right"]


def test_narrow_matches_close_together_all_keep_their_labels() -> None:
    close = bands((100, 101, "stuck sensor"), (104, 105, "stuck"), (108, 109, "stuck again"), (112, 200, "wide"))
    found = placed_labels(close, (0.0, 300.0), WIDTH)
    assert sorted(found) == [0, 1, 2, 3]
    assert len({label.row for label in found.values()}) > 1


def test_long_labels_are_cut() -> None:
    (label,) = placed_labels(bands((100, 200, "x" * 50)), (0.0, 300.0), WIDTH).values()
    assert label.text == "x" * 31 + "…"


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 40), st.text("ab", max_size=20)), max_size=40))
def test_labels_touch_neither_each_other_nor_lines(rows: list[tuple[int, int, str]]) -> None:
    given_bands = bands(*((start, min(start + more, 300), text) for start, more, text in rows))
    scale = WIDTH / 300
    found = placed_labels(given_bands, (0.0, 300.0), WIDTH)
    boxes = {place: box(given_bands[place], label, scale) for place, label in found.items()}
    for one, other in combinations(found, 2):
        (a, b), (c, d) = boxes[one], boxes[other]
        if found[one].row == found[other].row:
            assert b <= c or d <= a
        else:
            lower, higher = sorted((one, other), key=lambda place: found[place].row)
            line = (given_bands[higher].start + given_bands[higher].end) / 2 * scale
            assert not boxes[lower][0] + 2 < line < boxes[lower][1] - 2
    for left, right in boxes.values():
        assert left >= -2 and right <= WIDTH + 2
