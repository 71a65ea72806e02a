"""The demonstration behind `make demo`: cold waves in the weather of twelve cities, as a table and as a picture.

Run it with `python -m trellis.demo`; it writes into the folder `demo` below the current one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from pyspark.sql import DataFrame, Row, SparkSession

import trellis as tr
from trellis import samples
from trellis.demo_session import local_builder
from trellis.errors import TrellisError, raising_worker_errors
from trellis.java import require_java
from trellis.plots import Picture, plot

__all__ = ["COLD_WAVES", "main"]

COLD_WAVES = """
    SELECT * FROM {weather} MATCH_RECOGNIZE (
        PARTITION BY city
        ORDER BY day
        MEASURES
            first(day)                              AS first_day,
            last(day)                               AS last_day,
            first(DOWN.day)                         AS fall_start,
            last(DOWN.day)                          AS fall_end,
            first(DOWN.temp)                        AS before,
            last(DOWN.temp)                         AS after,
            last(DOWN.temp) - first(DOWN.temp)      AS change,
            mann_kendall_test(temp)                 AS trend
        ONE ROW PER MATCH
        AFTER MATCH SKIP PAST LAST ROW
        PATTERN ((REST (DOWN & DEEP & DAYS) REST) & WARMER & MONTH)
        DEFINE
            SEGMENT DOWN   AS linear_regression_r2_signed(DOWN.day, DOWN.temp) <= -0.9,
            SEGMENT DEEP   AS last(DEEP.temp) - first(DEEP.temp) < -18,
            SEGMENT DAYS   AS window(1, 5),
            SEGMENT WARMER AS mann_kendall_test(WARMER.temp) >= 3.0,
            SEGMENT MONTH  AS window(25, 30),
            SEGMENT REST   AS true
    )
"""
"""A month that grows warmer (by the test of Mann and Kendall), and in it a nearly straight fall by more than 18 °C."""

SHOWN = 10
WINTER = (date(2015, 12, 1), date(2016, 4, 30))
CITIES = ("Chicago", "Indianapolis", "Kansas City", "Minneapolis", "New York", "Saint Louis")


def main(folder: str = "demo") -> int:
    """Run the demonstration; the answer is the exit code."""
    try:
        require_java()
        with _session() as spark, raising_worker_errors():
            _run(spark, Path(folder))
    except TrellisError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _run(spark: SparkSession, folder: Path) -> None:
    weather = spark.read.parquet(str(samples.path("weather_daily")))
    print(f"Asked of {weather.count():,} daily mean temperatures of 12 US cities, July 2014 to November 2017:")
    print("when did it get more than 18 °C colder within at most five days, nearly in a straight line,")
    print("in the course of 25 to 30 days that on the whole grew warmer?")
    print(COLD_WAVES)
    waves = tr.sql(COLD_WAVES, weather=weather).orderBy("change", "city")
    found = waves.collect()
    cities = len({wave["city"] for wave in found})
    print(f"Found: {len(found)} cold waves in {cities} cities. The {SHOWN} deepest falls:\n")
    for line in _table(found[:SHOWN]):
        print(f"  {line}")
    print(f"\n{_verdict(found)}\n")
    for picture in _draw(spark, found, weather, folder):
        print(f"Picture: {picture}")
    print("Open the HTML file in a browser: it needs no network; scroll to zoom, point at a band to read its measures.")


def _table(waves: Sequence[Row]) -> Iterator[str]:
    """The lines of a table, one for each cold wave."""
    head = ("city", "from", "to", "falls from", "to", "before", "after", "change", "trend")
    rows = [
        (
            wave["city"],
            *(f"{wave[name]}" for name in ("first_day", "last_day", "fall_start", "fall_end")),
            *(_degrees(wave[name], 1) for name in ("before", "after", "change")),
            f"{wave['trend']:.1f}",
        )
        for wave in waves
    ]
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    for row in (head, tuple("─" * width for width in widths), *rows):
        cells = zip(row, widths, strict=True)
        yield "  ".join(
            text.ljust(width) if column < 5 else text.rjust(width) for column, (text, width) in enumerate(cells)
        ).rstrip()


def _verdict(waves: Sequence[Row]) -> str:
    """What the list shows, in a sentence: the day on which the fall ended in most cities."""
    cities_by_day: dict[date, set[str]] = {}
    for wave in waves:
        cities_by_day.setdefault(wave["fall_end"], set()).add(wave["city"])
    day, cities = max(cities_by_day.items(), key=lambda item: (len(item[1]), item[0]))
    return f"Most at once: on {day} a fall ended in {len(cities)} of the 12 cities: {', '.join(sorted(cities))}."


def _draw(spark: SparkSession, waves: Sequence[Row], weather: DataFrame, folder: Path) -> Iterator[Picture]:
    """One winter in six cities, as HTML and as PNG."""
    first, last = WINTER
    winter = weather.where(weather["day"].between(first, last) & weather["city"].isin(*CITIES))
    labelled = [{**wave.asDict(), "fell": _degrees(wave["change"])} for wave in waves if wave["city"] in CITIES]
    for suffix in (".html", ".png"):
        yield plot(
            spark.createDataFrame(labelled),
            winter,
            x="day",
            y="temp",
            by="city",
            start="first_day",
            end="last_day",
            inner={"in them, a fall by more than 18 °C": ("fall_start", "fall_end")},
            outer="25 to 30 days that grow warmer",
            label="fell",
            title="Cold waves, December 2015 to April 2016",
            y_title="°C",
            same_y=True,
            path=folder / f"cold_waves{suffix}",
        )


def _degrees(value: float, digits: int = 0) -> str:
    return f"{value:.{digits}f}°".replace("-", "−")


@contextmanager
def _session() -> Iterator[SparkSession]:
    """A session that ends with the demonstration."""
    spark = local_builder("trellis demo").getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
