"""The demonstration behind `make demo`: cold waves in the weather of twelve cities, as a table and as a picture.

Run it with `python -m trellis.demo`; it writes into the folder `demo` below the current one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from pyspark.sql import DataFrame, Row, SparkSession

import trellis as tr
from trellis import samples
from trellis.errors import TrellisError
from trellis.java import require_java
from trellis.plots import plot

__all__ = ["COLD_WAVES", "main"]

COLD_WAVES = """
    SELECT * FROM {weather} MATCH_RECOGNIZE (
        PARTITION BY city
        ORDER BY day
        MEASURES
            WARM.day                                AS first_day,
            THAW.day                                AS last_day,
            WARM.temp                               AS before,
            last(FALL.temp)                         AS after,
            WARM.temp - last(FALL.temp)             AS fall,
            min(temp)                               AS coldest,
            count(*) - 1                            AS days
        ONE ROW PER MATCH
        AFTER MATCH SKIP PAST LAST ROW
        PATTERN (WARM FALL{1,5} COLD* THAW)
        DEFINE
            FALL AS temp < prev(temp),
            COLD AS WARM.temp - last(FALL.temp) >= 15 AND temp <= (WARM.temp + last(FALL.temp)) / 2,
            THAW AS WARM.temp - last(FALL.temp) >= 15 AND temp >  (WARM.temp + last(FALL.temp)) / 2
    )
"""
"""Colder day by day, for at most five days, by 15 °C or more; then cold until half of it is made good."""

SHOWN = 10
WINTER = (date(2016, 11, 1), date(2017, 3, 31))
CITIES = ("Chicago", "Dallas", "Denver", "Indianapolis", "Nashville", "Saint Louis")


def main(folder: str = "demo") -> int:
    """Run the demonstration; the answer is the exit code."""
    try:
        require_java()
        with _session() as spark:
            _run(spark, Path(folder))
    except TrellisError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _run(spark: SparkSession, folder: Path) -> None:
    weather = spark.read.parquet(str(samples.path("weather_daily")))
    print(f"Asked of {weather.count():,} daily mean temperatures of 12 US cities, July 2014 to November 2017:")
    print("when did it get colder day by day, by 15 °C or more within at most five days,")
    print("and how long did it take until half of that was made good?")
    print(COLD_WAVES)
    waves = tr.sql(COLD_WAVES, weather=weather).orderBy("fall", ascending=False)
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
    head = ("city", "from", "warm again", "before", "after", "fall", "coldest", "days")
    rows = [
        (
            wave["city"],
            f"{wave['first_day']}",
            f"{wave['last_day']}",
            *(_degrees(wave[name], 1) for name in ("before", "after")),
            _degrees(-wave["fall"], 1),
            _degrees(wave["coldest"], 1),
            f"{wave['days']}",
        )
        for wave in waves
    ]
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    for row in (head, tuple("─" * width for width in widths), *rows):
        cells = zip(row, widths, strict=True)
        yield "  ".join(
            text.ljust(width) if column < 3 else text.rjust(width) for column, (text, width) in enumerate(cells)
        ).rstrip()


def _verdict(waves: Sequence[Row]) -> str:
    """What the list shows, in a sentence: the day on which most cities began to freeze."""
    cities_by_day: dict[date, set[str]] = {}
    for wave in waves:
        cities_by_day.setdefault(wave["first_day"], set()).add(wave["city"])
    day, cities = max(cities_by_day.items(), key=lambda item: (len(item[1]), item[0]))
    return f"Most at once: on {day} one began in {len(cities)} of the 12 cities: {', '.join(sorted(cities))}."


def _draw(spark: SparkSession, waves: Sequence[Row], weather: DataFrame, folder: Path) -> Iterator[Path]:
    """One winter in six cities, as HTML and as PNG."""
    first, last = WINTER
    winter = weather.where(weather["day"].between(first, last) & weather["city"].isin(*CITIES))
    labelled = [{**wave.asDict(), "fell": _degrees(-wave["fall"])} for wave in waves if wave["city"] in CITIES]
    for suffix in (".html", ".png"):
        yield plot(
            spark.createDataFrame(labelled),
            winter,
            x="day",
            y="temp",
            by="city",
            start="first_day",
            end="last_day",
            label="fell",
            title="Cold waves in the winter of 2016/17",
            y_title="°C",
            same_y=True,
            path=folder / f"cold_waves{suffix}",
        )


def _degrees(value: float, digits: int = 0) -> str:
    return f"{value:.{digits}f}°".replace("-", "−")


@contextmanager
def _session() -> Iterator[SparkSession]:
    """A small local session that listens on this machine only and says little."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    spark = (
        SparkSession.builder.master("local[2]")
        .appName("trellis demo")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    try:
        yield spark
    finally:
        spark.stop()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
