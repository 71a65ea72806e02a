"""From matches of rows and their series to panels: each series a line, each match a band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeAlias

import pandas as pd

from trellis.errors import BindingError, UnsupportedError
from trellis.plots.chart import Spec
from trellis.plots.frames import (
    Frame,
    Key,
    Limits,
    bring,
    choose_series,
    name_of,
    numbers,
    only_series,
    require_columns,
    show,
    split_series,
    told_matches,
)
from trellis.plots.line_chart import Look, line_chart
from trellis.plots.panels import Band, Panel, Point, Span, panel

__all__ = ["Inner", "LinePicture", "draw_lines"]

Inner: TypeAlias = tuple[str, str] | Mapping[str, tuple[str, str]] | None


@dataclass(frozen=True, slots=True)
class LinePicture:
    """What a picture of lines shows; the fields are arguments of `plot`."""

    x: str
    y: str
    keys: list[str]
    start: str
    end: str
    match: str | None
    label: str | None
    inner: Inner
    outer: str
    title: str | None
    y_title: str | None
    same_y: bool


def draw_lines(matches: Frame, series: Frame, wanted: LinePicture, limits: Limits) -> Spec:
    """The picture of matches on the lines of their series."""
    keys, x, y, start, end = wanted.keys, wanted.x, wanted.y, wanted.start, wanted.end
    match, label = wanted.match, wanted.label
    require_columns(series, [*keys, x, y], "series")
    parts = _inner_parts(wanted.inner, wanted.outer, match)
    inner_columns = [name for pair in parts.values() for name in pair]
    if match is None:
        needed = [*keys, start, end, *([label] if label else []), *inner_columns]
        found = _one_row_per_match(matches, needed, limits.rows)
        classified = None
    else:
        classified = _classified_rows(matches, keys, x, y, match, label, limits.rows)
        found = _first_and_last(classified, keys, x, match)
        start, end = _FIRST, _LAST
    chosen, left_out = choose_series(found, series, keys, limits.series)
    rows = bring(only_series(series, keys, chosen), [*keys, x, y], limits.rows, "series")
    names = {"label": label if match is None else None, "start": start, "end": end}
    pairs = list(parts.values())
    bands = {key: _bands(part, names, pairs, keys) for key, part in split_series(found, keys).items()}
    points = {} if classified is None or label is None else _points(classified, keys, x, y, label)
    lines = split_series(rows, keys)
    panels = []
    for key in chosen:
        line = lines.get(key, rows.iloc[:0])
        xs, temporal = numbers(line[x], f"Column {x!r}")
        ys, _ = numbers(line[y], f"Column {y!r}")
        panels.append(panel(name_of(key), xs, ys, bands.get(key, []), points.get(key, []), limits.points))
    _, temporal = numbers(rows[x], f"Column {x!r}")
    _check_same_kind(found, [start, end, *inner_columns], x, temporal)
    subtitle = _summary(panels, left_out)
    entries = (wanted.outer, *parts) if parts else ()
    return line_chart(panels, Look(wanted.title, subtitle, x, wanted.y_title or y, temporal, wanted.same_y, entries))


_FIRST, _LAST = "first row", "last row"


def _inner_parts(inner: Inner, outer: str, match: str | None) -> dict[str, tuple[str, str]]:
    """The two columns of each inner part, by the name that the legend gives it."""
    if inner is None:
        return {}
    if match is not None:
        raise UnsupportedError(
            "With ALL ROWS PER MATCH, inner parts of matches cannot be drawn.",
            cure="Name the column that holds CLASSIFIER() in label=, or draw a query with ONE ROW PER MATCH.",
        )
    given: list[tuple[object, object]]
    given = list(inner.items()) if isinstance(inner, Mapping) else [(None, inner)]
    parts: dict[str, tuple[str, str]] = {}
    for name, pair in given:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or [type(part) for part in pair] != [str, str]:
            raise BindingError(
                f"An inner part needs the names of two columns, not {pair!r}.",
                cure='Write inner=("fall_start", "fall_end") or inner={"fall": ("fall_start", "fall_end")}.',
            )
        parts[_common_name(*pair) if name is None else str(name)] = (pair[0], pair[1])
    if outer in parts:
        raise BindingError(
            f"The legend would call both the match and a part of it {outer!r}.", cure="Give another name in outer=."
        )
    return parts


def _common_name(first: str, last: str) -> str:
    """What two columns have in common: `fall` for `fall_start` and `fall_end`."""
    words = zip(first.split("_"), last.split("_"), strict=False)
    return " ".join(a for a, b in takewhile(lambda pair: pair[0] == pair[1], words)) or f"{first} – {last}"


def _one_row_per_match(matches: Frame, needed: list[str], max_rows: int) -> pd.DataFrame:
    require_columns(matches, needed, "matches")
    return bring(matches, [str(name) for name in matches.columns], max_rows, "matches")


def _classified_rows(
    matches: Frame, keys: list[str], x: str, y: str, match: str, label: str | None, max_rows: int
) -> pd.DataFrame:
    needed = [*keys, x, match, *([y, label] if label else [])]
    require_columns(matches, needed, "matches")
    rows = bring(matches, needed, max_rows, "matches")
    return rows[rows[match].notna()]


def _first_and_last(rows: pd.DataFrame, keys: list[str], x: str, match: str) -> pd.DataFrame:
    """One row for each match: its key, number, first and last `x`, and how many rows it has."""
    groups = rows.groupby([*keys, match], dropna=False, sort=True)[x]
    return pd.DataFrame({_FIRST: groups.min(), _LAST: groups.max(), "rows": groups.size()}).reset_index()


def _bands(
    found: pd.DataFrame, names: dict[str, str | None], pairs: list[tuple[str, str]], keys: list[str]
) -> list[Band]:
    start, end, label = names["start"], names["end"], names["label"]
    outer = _spans(found, start, end)
    inner = list(zip(*(_spans(found, *pair) for pair in pairs), strict=True)) if pairs else [()] * len(found)
    told = [str(name) for name in found.columns if name not in keys]
    values = [[show(value) for value in found[name]] for name in told]
    labels = [show(value) for value in found[label]] if label else [""] * len(found)
    return [
        Band(span[0], span[1], text, dict(zip(told, measures, strict=True)), parts)
        for span, parts, text, *measures in zip(outer, inner, labels, *values, strict=True)
        if span is not None  # an empty match has no place
    ]


def _spans(found: pd.DataFrame, start: str | None, end: str | None) -> list[Span | None]:
    """From where to where, for each match; None if one of both is not known."""
    starts, _ = numbers(found[start], f"Column {start!r}")
    ends, _ = numbers(found[end], f"Column {end!r}")
    pairs = zip(starts.tolist(), ends.tolist(), strict=True)
    return [(min(a, b), max(a, b)) if a == a and b == b else None for a, b in pairs]


def _points(rows: pd.DataFrame, keys: list[str], x: str, y: str, label: str) -> dict[Key, list[Point]]:
    found = {}
    for key, part in split_series(rows, keys).items():
        xs, _ = numbers(part[x], f"Column {x!r}")
        ys, _ = numbers(part[y], f"Column {y!r}")
        found[key] = [Point(*row) for row in zip(xs.tolist(), ys.tolist(), map(show, part[label]), strict=True)]
    return found


def _check_same_kind(found: pd.DataFrame, names: list[str], x: str, temporal: bool) -> None:
    """A start that is a row number cannot be drawn on an axis of time."""
    for name in names:
        if found[name].notna().any() and numbers(found[name], f"Column {name!r}")[1] != temporal:
            raise BindingError(
                f"Column {name!r} of the matches and column {x!r} of the series are not of the same kind.",
                cure=f"Give {name!r} a measure of {x!r}, such as FIRST({x}) or LAST({x}).",
            )


def _summary(panels: list[Panel], left_out: bool) -> str:
    """What the picture shows, in a sentence."""
    text = told_matches([len(panel.bands) for panel in panels], left_out)
    rows, drawn = sum(panel.rows for panel in panels), sum(len(panel.x) for panel in panels)
    if drawn < rows:
        text += f" · {rows:,} rows drawn as {drawn:,} points, peaks kept"
    return text
