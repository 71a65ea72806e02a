"""Bring the few columns and series that a picture needs from Spark or pandas to pandas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame as SparkFrame

from trellis.errors import ArgumentError, BindingError, ResourceError, UnsupportedError, raising_worker_errors

__all__ = [
    "Floats",
    "Frame",
    "Key",
    "Limits",
    "bring",
    "choose_series",
    "known_rows",
    "name_of",
    "numbers",
    "only_series",
    "quoted",
    "require_columns",
    "show",
    "split_series",
    "told_count",
    "told_matches",
]

Floats: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
Frame: TypeAlias = "SparkFrame | pd.DataFrame"
Key: TypeAlias = tuple[Any, ...]
"""The values of the partitioning columns of one series."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is drawn at most: series; points of a line, or pale events of a panel; matches with gaps in a panel.

    `rows` is how much is brought from Spark at most.
    """

    series: int
    points: int
    matches: int
    rows: int


def known_rows(rows: object, what: str) -> Frame:
    """The rows of a picture: of Spark or pandas as they are, of Arrow as pandas."""
    if isinstance(rows, (SparkFrame, pd.DataFrame)):
        return rows
    if type(rows).__module__.startswith("pyarrow") and hasattr(rows, "to_pandas"):
        brought: pd.DataFrame = rows.to_pandas()
        return brought
    raise ArgumentError(
        f"The {what} of a picture are a DataFrame of Spark or pandas, or a table of Arrow, not {type(rows).__name__}.",
        cure="Pass the result of a query first, then the rows that it ran on: tr.plot(matches, rows, x=...).",
    )


def require_columns(frame: Frame, needed: Sequence[str], what: str) -> None:
    """Complain, with the names that there are, when a needed column is missing."""
    there = [str(name) for name in frame.columns]
    for name in needed:
        if name not in there:
            raise BindingError(
                f"The {what} have no column {name!r}.", cure=f"Their columns are {', '.join(there) or 'none'}."
            )


def bring(frame: Frame, columns: Sequence[str], limit: int, what: str) -> pd.DataFrame:
    """These columns of the frame as pandas, at most `limit` rows of them."""
    names = list(dict.fromkeys(columns))
    if isinstance(frame, pd.DataFrame):
        rows = frame[names]
    else:
        if frame.isStreaming:
            raise UnsupportedError(
                f"The {what} are a stream, which never ends and so cannot be drawn.",
                cure="Write the stream to a table and draw that.",
            )
        rows = _collected(frame.select(*[quoted(name) for name in names]).limit(limit + 1))
    if len(rows) > limit:
        raise ResourceError(
            f"The {what} have more than {limit} rows, too many to bring to one machine and to see in one picture.",
            cure="Draw fewer series or a shorter time, or raise max_rows.",
        )
    return rows


def choose_series(matched: pd.DataFrame, series: Frame, by: Sequence[str], most: int) -> tuple[list[Key], bool]:
    """Which series to draw, and whether some were left out: all if they fit, else those with the most matches.

    `matched` has one row for each match; of equally many matches the smaller key comes first.
    """
    if not by:
        return [()], False
    names = list(by)
    if isinstance(series, pd.DataFrame):
        distinct = series[names].drop_duplicates()
    else:
        distinct = _collected(series.select(*[quoted(name) for name in names]).distinct().limit(most + 1))
    counts: dict[Key, int] = {}
    for key in _keys(matched, names):
        counts[key] = counts.get(key, 0) + 1
    found = _keys(distinct, names)
    everything = len(found) <= most
    if not everything and counts:
        found = list(counts)
    found.sort(key=lambda key: (0 if everything else -counts.get(key, 0), [_sortable(part) for part in key]))
    return found[:most], not everything


def only_series(frame: Frame, by: Sequence[str], keys: Sequence[Key]) -> Frame:
    """The rows of the frame that belong to these series; NULL is a key like any other."""
    if not by:
        return frame
    if isinstance(frame, pd.DataFrame):
        wanted = set(keys)
        return frame[np.array([key in wanted for key in _keys(frame, list(by))], dtype=bool)]
    columns = [frame[quoted(name)] for name in by]
    conditions = [
        reduce(and_, [column.eqNullSafe(part) for column, part in zip(columns, key, strict=True)]) for key in keys
    ]
    return frame.filter(reduce(or_, conditions)) if conditions else frame


def split_series(frame: pd.DataFrame, by: Sequence[str]) -> dict[Key, pd.DataFrame]:
    """The rows of each series."""
    if not by:
        return {(): frame}
    places: dict[Key, list[int]] = {}
    for place, key in enumerate(_keys(frame, list(by))):
        places.setdefault(key, []).append(place)
    return {key: frame.iloc[rows] for key, rows in places.items()}


def numbers(values: pd.Series[Any], what: str) -> tuple[Floats, bool]:
    """The values as floats (NaN for NULL) and whether they are times, which become milliseconds since 1970.

    A time with a zone keeps the clock time of its zone.
    """
    if isinstance(values.dtype, pd.DatetimeTZDtype):
        values = values.dt.tz_localize(None)
    if values.dtype.kind == "O":
        values = _from_objects(values, what)
    if values.dtype.kind == "M":
        micros = values.to_numpy().astype("datetime64[us]")
        return np.where(np.isnat(micros), np.nan, micros.astype(np.int64) / 1000.0), True
    if values.dtype.kind in "biuf":
        return values.to_numpy(dtype=np.float64, na_value=np.nan), False
    raise BindingError(
        f"{what} holds {values.dtype}, which has no place on an axis.",
        cure="Axes take numbers, dates and timestamps.",
    )


def show(value: Any) -> str:
    """A value as a reader likes to see it."""
    if value is None or value is pd.NaT or value is pd.NA or value != value:
        return "–"
    if isinstance(value, float | np.floating):
        number = float(value)
        return f"{number:,.0f}" if abs(number) >= 10_000 else f"{number:.5g}"
    if isinstance(value, pd.Timestamp | np.datetime64):
        return str(pd.Timestamp(value).round("ms")).removesuffix(" 00:00:00").removesuffix("000")
    return str(value)


def name_of(key: Key) -> str:
    """The name of a series."""
    return " · ".join(show(part) for part in key)


def told_matches(counts: Sequence[int], altogether: tuple[int, int] | None) -> str:
    """How many matches the panels of a picture have, in words.

    If series were left out, `altogether` says how many matches there are, and in how many series.
    """
    if altogether is not None:
        total, hit = altogether
        if not total:
            return f"no matches, the first {len(counts)} series drawn"
        text = f"{told_count(total)} in {hit:,} series"
        return f"{text}, {'those without left out' if hit <= len(counts) else f'the {len(counts)} with the most drawn'}"
    count, hit = sum(counts), sum(1 for one in counts if one)
    text = told_count(count)
    if count and len(counts) > 1:
        text += f" in {hit} of {len(counts)} series" if hit < len(counts) else f" in {hit} series"
    return text


def told_count(matches: int) -> str:
    """So many matches, in words."""
    return "no matches" if not matches else "1 match" if matches == 1 else f"{matches:,} matches"


def _collected(frame: SparkFrame) -> pd.DataFrame:
    with raising_worker_errors():
        return frame.toPandas()


def _from_objects(values: pd.Series[Any], what: str) -> pd.Series[Any]:
    """Dates, datetimes and decimals come as Python objects."""
    there = values.dropna()
    try:
        if len(there) and hasattr(there.iloc[0], "year"):
            if getattr(there.iloc[0], "tzinfo", None) is not None:
                return pd.to_datetime(values).dt.tz_localize(None)
            objects = values.to_numpy(dtype=object, copy=True)
            objects[values.isna().to_numpy()] = None
            return pd.Series(objects.astype("datetime64[us]"))
        if len(there) and isinstance(there.iloc[0], str | bytes):
            raise ValueError("text")
        return values.astype(float)
    except (TypeError, ValueError):
        kind = type(there.iloc[0]).__name__
        raise BindingError(
            f"{what} holds {kind} values, which have no place on an axis.",
            cure="Axes take numbers, dates and timestamps.",
        ) from None


def _keys(frame: pd.DataFrame, by: list[str]) -> list[Key]:
    """The key of each row; every kind of missing value becomes None, so that keys compare equal."""
    columns = [
        [None if missing else part for part, missing in zip(frame[name], frame[name].isna(), strict=True)]
        for name in by
    ]
    return list(zip(*columns, strict=True))


def _sortable(part: Any) -> tuple[bool, Any]:
    """NULL sorts after everything."""
    return (part is None, "" if part is None else part)


def quoted(name: str) -> str:
    """A name as Spark reads it, whatever stands in it."""
    return "`" + name.replace("`", "``") + "`"
