"""A few made-up rows with the columns of the real tables, for quick runs: their figures mean nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["make_up"]

Array = np.ndarray[Any, Any]
_DAY = date(2020, 1, 1)
_TIME = datetime(2020, 1, 1)


def make_up(folder: Path, names: Sequence[str]) -> None:
    """Write these tables, the same in every run."""
    for name in names:
        pq.write_table(_TABLES[name](np.random.default_rng(1)), folder / f"{name}.parquet")


def _days(count: int) -> list[date]:
    return [_DAY + timedelta(days=number) for number in range(count)]


def _wander(random: np.random.Generator, count: int) -> Array:
    """Prices that go up and down for some rows at a time."""
    trend = np.repeat(random.normal(size=count // 10 + 1), 10)[:count]
    return 100 * np.exp(np.cumsum(0.02 * trend + 0.01 * random.normal(size=count)))


def _sp500(random: np.random.Generator) -> pa.Table:
    rows, tickers = 120, ["A", "B", "C", "D", "E"]
    prices = np.concatenate([_wander(random, rows) for _ in tickers])
    return pa.table({"date": _days(rows) * len(tickers), "ticker": np.repeat(tickers, rows), "open": prices})


def _covid(random: np.random.Generator) -> pa.Table:
    rows, counties = 80, ["A", "B", "C"]
    cases = np.concatenate([_wander(random, rows) for _ in counties]).astype(np.int32)
    return pa.table({"tstamp": _days(rows) * len(counties), "county": np.repeat(counties, rows), "confirmed": cases})


def _weather_daily(random: np.random.Generator) -> pa.Table:
    rows, cities = 120, ["A", "B", "C"]
    year = 12 * np.sin(np.arange(rows) / 58)
    temperatures = np.concatenate([year + 4 * random.normal(size=rows) for _ in cities])
    return pa.table({"tstamp": _days(rows) * len(cities), "city": np.repeat(cities, rows), "temp": temperatures})


def _taxi(random: np.random.Generator) -> pa.Table:
    rows = 480
    of_day = 600 - 500 * np.cos(np.arange(rows) * 2 * np.pi / 48)
    rides = (of_day + 50 * random.random(rows)).astype(np.int32)
    return pa.table({"tstamp": [_TIME + timedelta(minutes=30 * number) for number in range(rows)], "rides": rides})


def _bars(ticker: str, minutes: int) -> Callable[[np.random.Generator], pa.Table]:
    """Bars of three tickers for each minute, the one that queries ask for among them."""

    def made(random: np.random.Generator) -> pa.Table:
        tickers = sorted([ticker, "AAA", "ZZZ"])
        prices = {name: _wander(random, minutes) for name in ("open", "peak", "lowest", "close")}
        return pa.table(
            {
                "tstamp": np.repeat([_TIME + timedelta(minutes=number) for number in range(minutes)], len(tickers)),
                "ticker": tickers * minutes,
                **{
                    name: np.repeat(values, len(tickers)) + random.random(3 * minutes)
                    for name, values in prices.items()
                },
            }
        )

    return made


def _crimes(random: np.random.Generator) -> pa.Table:
    rows = 4_000
    types = ["THEFT", "BATTERY", "CRIMINAL DAMAGE", *(f"TYPE {number:02d}" for number in range(17))]
    shares = 1 / np.arange(1, len(types) + 1)
    districts = random.integers(1, 5, rows).astype(np.int32)
    minutes = np.sort(random.integers(0, 5 * rows, rows))
    return pa.table(
        {
            "id": np.arange(rows, dtype=np.int32),
            "tstamp": [_TIME + timedelta(minutes=int(number)) for number in minutes],
            "primary_type": random.choice(types, rows, p=shares / shares.sum()),
            "district": districts,
            "beat": districts * 100 + random.integers(1, 4, rows).astype(np.int32),
            "longitude": -87.7 + 0.05 * random.random(rows),
            "latitude": 41.8 + 0.05 * random.random(rows),
        }
    )


def _djia(random: np.random.Generator) -> pa.Table:
    rows = 600
    return pa.table(
        {"date": [date(1977, 1, 3) + timedelta(days=day) for day in range(rows)], "price": _wander(random, rows)}
    )


_TABLES: Mapping[str, Callable[[np.random.Generator], pa.Table]] = {
    "sp500": _sp500,
    "covid": _covid,
    "weather_daily": _weather_daily,
    "taxi": _taxi,
    "nasdaq": _bars("GOOG", 220),
    "etf_minutes": _bars("SPY", 300),
    "crimes": _crimes,
    "djia": _djia,
}
