"""The demonstration runs, and what it says of the weather is what a plain loop finds."""

from __future__ import annotations

from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
import pytest

import trellis as tr
from naive_segments import linear_regression_r2_signed, mann_kendall_test
from trellis import demo, samples

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Wave(NamedTuple):
    city: str
    first_day: date
    last_day: date
    fall_start: date
    fall_end: date
    change: float


@cache
def cold_waves_by_hand() -> list[Wave]:
    """Each cold wave, by loops over the days: first the falls, then the months around them that grow warmer."""
    found = []
    for city, rows in pd.read_parquet(samples.path("weather_daily")).groupby("city"):
        temp, day = rows["temp"].tolist(), rows["day"].tolist()
        falls = [
            (top, low)
            for top in range(len(temp))
            for low in range(top + 1, min(top + 5, len(temp)))
            if temp[low] - temp[top] < -18 and signed_r2(temp[top : low + 1]) <= -0.9
        ]
        free = 0
        for first in range(len(temp)):
            for last in range(first + 29, first + 23, -1):  # the longest month is preferred
                inside = [fall for fall in falls if first <= fall[0] and fall[1] <= last]
                if first < free or last >= len(temp) or not inside:
                    continue
                if trend(temp[first : last + 1]) >= 3:
                    top, low = min(inside)
                    found.append(Wave(city, day[first], day[last], day[top], day[low], temp[low] - temp[top]))
                    free = last + 1
    return found


def signed_r2(temps: list[float]) -> float:
    return linear_regression_r2_signed(range(len(temps)), temps) or 0.0


def trend(temps: list[float]) -> float:
    return mann_kendall_test(temps) or 0.0


@pytest.mark.connect(thorough=True)
def test_cold_waves(spark: SparkSession) -> None:
    weather = spark.createDataFrame(pd.read_parquet(samples.path("weather_daily")))
    rows = tr.sql(demo.COLD_WAVES, weather=weather).orderBy("city", "first_day").collect()
    assert [Wave(*(row[name] for name in Wave._fields)) for row in rows] == cold_waves_by_hand()


def test_the_picture_shows_a_wave_in_each_city() -> None:
    first, last = demo.WINTER
    drawn = [wave for wave in cold_waves_by_hand() if first <= wave.first_day and wave.last_day <= last]
    assert {wave.city for wave in drawn} == set(demo.CITIES)


def test_demo(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    demo._run(spark, tmp_path)
    said = capsys.readouterr().out
    waves = cold_waves_by_hand()
    assert f"Found: {len(waves)} cold waves in {len({wave.city for wave in waves})} cities" in said
    deepest = min(waves, key=lambda wave: wave.change)
    table = said[said.index("──") :].splitlines()
    assert [str(part) for part in deepest[:5]] == table[1].split()[:5]
    assert {file.name for file in tmp_path.iterdir()} == {"cold_waves.html", "cold_waves.png"}
    page = (tmp_path / "cold_waves.html").read_text(encoding="utf-8")
    assert '"domain": ["25 to 30 days that grow warmer", "in them, a fall by more than 18 °C"]' in page
