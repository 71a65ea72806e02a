"""What all pictures share."""

from __future__ import annotations

import pandas as pd
import pytest

from trellis.plots.chart import show_span, x_encoding


def at(text: str) -> float:
    return pd.Timestamp(text).timestamp() * 1000


@pytest.mark.parametrize(
    ("first", "last", "text"),
    [
        ("2024-05-06 05:50", "2024-05-06 09:20", "2024-05-06 05:50 – 09:20"),
        ("2024-05-06 05:50:01", "2024-05-06 09:20", "2024-05-06 05:50:01 – 09:20:00"),
        ("2024-05-06 05:50", "2024-05-07 09:20", "2024-05-06 05:50 – 2024-05-07 09:20"),
        ("2024-05-06", "2024-05-07", "2024-05-06 – 2024-05-07"),
        ("2024-05-06", "2024-05-06", "2024-05-06"),
        ("2024-05-06", "2024-05-06 09:20:30.5", "2024-05-06 – 2024-05-06 09:20:30.500"),
        ("2024-05-06 05:50", "2024-05-06 05:50", "2024-05-06 05:50"),
    ],
)
def test_a_span_of_time_says_nothing_twice(first: str, last: str, text: str) -> None:
    assert show_span(at(first), at(last), True) == text


def test_a_span_of_numbers() -> None:
    assert show_span(1.5, 20_000.0, False) == "1.5 – 20,000"


@pytest.mark.parametrize(
    ("first", "last", "title"),
    [
        ("2024-05-06 05:50", "2024-05-06 09:20", "6 May 2024"),
        ("2024-05-06", "2024-05-09", "May 2024"),
        ("2024-05-06", "2024-06-09", "2024"),
        ("2023-05-06", "2024-06-09", None),
    ],
)
def test_an_axis_of_time_says_what_its_ticks_leave_out(first: str, last: str, title: str | None) -> None:
    assert x_encoding("ts", True, 400, [at(first), at(last)])["axis"]["title"] == title
    assert x_encoding("n", False, 400, [1.0, 2.0])["axis"]["title"] == "n"
