"""The demonstration runs, and what it says of the weather is what a plain loop finds."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

import trellis as tr
from trellis import demo, samples

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def cold_waves_by_hand() -> list[tuple[str, date, date, float]]:
    """City, first and last day and fall of each cold wave, by a loop over the days."""
    found = []
    for city, rows in pd.read_parquet(samples.path("weather_daily")).groupby("city"):
        temp, day = rows["temp"].tolist(), rows["day"].tolist()
        first = 0
        while first < len(temp):
            last = first
            for fall in range(5, 0, -1):  # the longest fall is preferred
                low = first + fall
                if low >= len(temp) or any(temp[n] <= temp[n + 1] for n in range(first, low)):
                    continue
                if temp[first] - temp[low] >= 15:
                    half = (temp[first] + temp[low]) / 2
                    thaw = next((n for n in range(low + 1, len(temp)) if temp[n] > half), None)
                    if thaw is not None:
                        found.append((city, day[first], day[thaw], temp[first] - temp[low]))
                        last = thaw
                        break
            first = last + 1
    return found


@pytest.mark.connect
def test_cold_waves(spark: SparkSession) -> None:
    weather = spark.createDataFrame(pd.read_parquet(samples.path("weather_daily")))
    rows = tr.sql(demo.COLD_WAVES, weather=weather).orderBy("city", "first_day").collect()
    found = [(row["city"], row["first_day"], row["last_day"], row["fall"]) for row in rows]
    assert found == cold_waves_by_hand()


def test_demo(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    demo._run(spark, tmp_path)
    said = capsys.readouterr().out
    waves = cold_waves_by_hand()
    assert f"Found: {len(waves)} cold waves in 12 cities" in said
    deepest = max(waves, key=lambda wave: wave[3])
    table = said[said.index("──") :].splitlines()
    assert [str(part) for part in deepest[:3]] == table[1].split()[:3]
    assert {file.name for file in tmp_path.iterdir()} == {"cold_waves.html", "cold_waves.png"}
