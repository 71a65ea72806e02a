"""The streams of workloads: bars of funds, readings of road sensors, and what planning has to know of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

__all__ = ["Stream", "Values", "made_up_stream", "nasdaq_stream", "stock_stream", "traffic_stream"]

_DAY = 390
_WEEKS = 2
_WINDOW = 15
_RATES = (2, 47)
_NUMBERS = {"diff": "double", "vehicles": "int", "speed": "int"}

Values = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Stream:
    """Events in order: `id` (its own of each), `type`, `time` (in seconds), and the columns that conditions compare."""

    name: str
    table: pa.Table
    minutes: float
    compared: tuple[str, ...] = ("diff",)
    _sorted: dict[tuple[str, str], Values] = field(default_factory=dict)

    @property
    def events(self) -> int:
        """How many there are."""
        return int(self.table.num_rows)

    @property
    def schema(self) -> tuple[tuple[str, str], ...]:
        """Its columns with their types in Spark."""
        numbers = tuple((name, _NUMBERS[name]) for name in self.compared)
        return (("id", "int"), ("type", "string"), ("time", "int"), *numbers)

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """The number of events of each type, the most frequent type first."""
        found = pc.value_counts(self.table["type"])
        counts = {one["values"]: one["counts"] for one in found.to_pylist()}
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    @property
    def rates(self) -> dict[str, float]:
        """Events of each type in a second."""
        return {name: count / (self.minutes * 60) for name, count in self.counts.items()}

    @property
    def event_rate(self) -> float:
        """All events in a second."""
        return self.events / (self.minutes * 60)

    @cached_property
    def _by_type(self) -> Mapping[str, Values]:
        types = self.table["type"].to_numpy()
        order = np.argsort(types, kind="stable")
        names, begins = np.unique(types[order], return_index=True)
        return dict(zip(names.tolist(), np.split(order, begins[1:]), strict=True))

    def values(self, name: str, column: str) -> Values:
        """The values of a column at the events of a type, in order of size."""
        found = self._sorted.get((name, column))
        if found is None:
            values = self.table[column].to_numpy()[self._by_type[name]]
            found = self._sorted[name, column] = np.sort(values)
        return found

    def most_in(self, name: str, seconds: float) -> int:
        """How many events of a type there are in its fullest window."""
        times = self.table["time"].to_numpy()[self._by_type[name]]
        return int((np.searchsorted(times, times + seconds, "right") - np.arange(len(times))).max())

    def of_types(self, types: Iterable[str]) -> Stream:
        """The stream without other types."""
        return Stream(self.name, self.only(types), self.minutes, self.compared)

    def only(self, types: Iterable[str]) -> pa.Table:
        """The events of some types, as Spark hands them to a worker."""
        chosen = pc.is_in(self.table["type"], value_set=pa.array(sorted(set(types))))
        return self.table.filter(chosen).combine_chunks()


def _in_order(
    name: str, columns: Mapping[str, Any], minutes: float, seed: int, compared: tuple[str, ...] = ("diff",)
) -> Stream:
    """Events in the order of their times. Which of those of one time is first, chance decides."""
    times = np.asarray(columns["time"], np.int64)
    chance = np.random.default_rng(seed).random(len(times))
    order = np.lexsort((chance, times))
    table = pa.table(
        {
            "id": np.arange(len(order), dtype=np.int32),
            "type": pa.array(np.asarray(columns["type"], object)[order], pa.string()),
            "time": times[order].astype(np.int32),
            **{one: np.asarray(columns[one])[order] for one in compared},
        }
    )
    return Stream(name, table, minutes, compared)


def stock_stream(data: Path, scale: float = 1.0) -> Stream:
    """The updates of the prices of funds on a day, each with its difference to the update before.

    A bar has four prices: the first, the two extremes, of which the one that is nearer to the first comes before the
    other, and the last. They come a quarter of a minute apart; where a price stays as it is, there is no update.
    """
    table = pq.read_table(data / "etf_minutes.parquet")
    days = table["tstamp"].to_numpy().astype("datetime64[D]")
    table = table.filter(pa.array(days == days.max())).sort_by([("ticker", "ascending"), ("tstamp", "ascending")])
    first, peak, lowest, last = (table[name].to_numpy() for name in ("open", "peak", "lowest", "close"))
    falls = first - lowest < peak - first
    prices = np.stack([first, np.where(falls, lowest, peak), np.where(falls, peak, lowest), last], axis=1).ravel()
    seconds = (_seconds(table["tstamp"].to_numpy())[:, None] + np.arange(0, 60, 15)).ravel()
    names = np.repeat(table["ticker"].to_numpy(), 4)
    # Prices are in cents or tenths of them; what computing adds is taken away.
    diff = np.round(np.diff(prices, prepend=0.0), 4) + 0.0
    kept = np.append(False, names[1:] == names[:-1]) & (diff != 0.0) & (seconds < 60 * _DAY * scale)
    stream = _in_order("stock", {"type": names[kept], "time": seconds[kept], "diff": diff[kept]}, _DAY * scale, 1)
    least, most = (rate / _WINDOW for rate in _RATES)
    return stream.of_types(name for name, count in stream.counts.items() if least <= count / stream.minutes <= most)


def traffic_stream(data: Path, scale: float = 1.0) -> Stream:
    """The readings of two weeks at which vehicles were seen: without any, a speed is that of an earlier reading."""
    table = pq.read_table(data / "traffic.parquet", columns=["tstamp", "point", "speed", "vehicles"])
    times = table["tstamp"].to_numpy()
    minutes = max(60, round(_WEEKS * 7 * 24 * 60 * min(1.0, scale)))
    begin = np.datetime64("2014-09-01T00:00")
    kept = (times >= begin) & (times < begin + np.timedelta64(minutes, "m")) & (table["vehicles"].to_numpy() > 0)
    columns = {
        "type": np.array([f"P{point}" for point in table["point"].to_numpy()[kept]], object),
        "time": _seconds(times[kept]),
        "vehicles": table["vehicles"].to_numpy()[kept].astype(np.int32),
        "speed": table["speed"].to_numpy()[kept].astype(np.int32),
    }
    return _in_order("traffic", columns, minutes, 2, ("vehicles", "speed"))


def _seconds(times: Values) -> Values:
    """The seconds since the first of some times."""
    found: Values = (times - times.min()) // np.timedelta64(1, "s")
    return found


def nasdaq_stream(data: Path, minutes: int) -> Stream:
    """The first minutes of the seven tickers, with differences of closing prices."""
    table = pq.read_table(data / "nasdaq.parquet").sort_by([("ticker", "ascending"), ("tstamp", "ascending")])
    seconds, names = _seconds(table["tstamp"].to_numpy()), table["ticker"].to_numpy()
    diff = np.round(np.diff(table["close"].to_numpy(), prepend=0.0), 4) + 0.0
    kept = np.append(False, names[1:] == names[:-1]) & (seconds < 60 * minutes)
    return _in_order("nasdaq", {"type": names[kept], "time": seconds[kept], "diff": diff[kept]}, minutes, 3)


def made_up_stream(
    name: str, types: int, an_event_a_minute: float, minutes: int, seed: int, compared: tuple[str, ...] = ("diff",)
) -> Stream:
    """Types that all have events at random times, with random values."""
    random = np.random.default_rng(seed)
    count = random.poisson(types * an_event_a_minute * minutes)
    names = np.array([f"T{number:02d}" for number in range(types)], object)
    columns: dict[str, Values] = {
        "type": names[random.integers(0, types, count)],
        "time": np.sort(random.integers(0, 60 * minutes, count)),
    }
    for column in compared:
        values = random.normal(size=count)
        columns[column] = np.round(values / 10, 2) if column == "diff" else np.round(20 + 5 * values).astype(np.int32)
    return _in_order(name, columns, minutes, seed, compared)
