"""`plot`: from matches and series to a picture in a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path

import pandas as pd

from trellis.errors import BindingError, UnsupportedError
from trellis.plots.chart import Look, check_target, specification, write
from trellis.plots.frames import (
    Frame,
    Key,
    bring,
    choose_series,
    numbers,
    only_series,
    require_columns,
    show,
    split_series,
)
from trellis.plots.panels import Band, Panel, Point, Span, panel

__all__ = ["plot"]


def plot(
    matches: Frame,
    series: Frame,
    *,
    x: str,
    y: str,
    by: str | Sequence[str] | None = None,
    start: str = "start",
    end: str = "end",
    match: str | None = None,
    label: str | None = None,
    inner: tuple[str, str] | Mapping[str, tuple[str, str]] | None = None,
    outer: str = "match",
    path: str | os.PathLike[str] = "matches.html",
    title: str | None = None,
    y_title: str | None = None,
    same_y: bool = False,
    max_series: int = 12,
    max_points: int = 4_000,
    max_rows: int = 1_000_000,
) -> Path:
    """Draw the matches of a query on the series that they were found in.

    Each series gets a panel with its line. Each match is a band from its first to its last row, with the line inside it
    highlighted and its measures in a tooltip. The HTML file needs no network; scrolling zooms and dragging moves all
    panels together, and a double click resets.

    Parameters
    ----------
    matches : Spark or pandas DataFrame
        The result of a query: ONE ROW PER MATCH with columns for start and end, or ALL ROWS PER MATCH with a column
        that numbers the matches (then name it in `match`).
    series : Spark or pandas DataFrame
        The rows that the query ran on.
    x, y : str
        The columns to draw: numbers, dates or timestamps over `x`, numbers over `y`.
    by : str or sequence of str, optional
        The partitioning columns, in `series` and in `matches`. Without it there is one series.
    start, end : str
        The measures that hold the `x` of the first and the last row of a match.
    match : str, optional
        For ALL ROWS PER MATCH: the column that holds MATCH_NUMBER(). Start and end are then found from the rows; rows
        where it is NULL are unmatched.
    label : str, optional
        What to write over each band; with `match`, the column that holds CLASSIFIER(): its values colour the points.
    inner : pair of str, or mapping of str to pair of str, optional
        A part of each match to draw in another colour: the measures that hold the `x` of its first and last row, such
        as `("fall_start", "fall_end")`. A match where one of them is NULL has no such part. A legend names the colours;
        for names of your own, or for several parts, give a mapping: `{"steep fall": ("fall_start", "fall_end")}`.
    outer : str
        What the legend calls the rest of the match. There is a legend only with `inner`.
    path : str or path
        The file to write. Its suffix says what: `.html`, `.png` or `.svg`.
    title : str, optional
        The heading. Below it stands how many matches are shown.
    y_title : str, optional
        The name of the vertical axis, if not the name of the column.
    same_y : bool
        Whether all panels have the same vertical axis.
    max_series : int
        Draw at most so many series. If there are more, those with the most matches are drawn.
    max_points : int
        Thin the lines to about so many points each. The lowest and the highest row of each stretch as wide as a pixel
        stay, so that no peak is lost, and so do the rows inside matches.
    max_rows : int
        Bring at most so many rows from Spark.

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    BindingError
        A column is missing, or cannot be drawn; or `inner` is not made of pairs of columns.
    UnsupportedError
        The path has another suffix, a frame is a stream, or there are both `match` and `inner`.
    ResourceError
        The package for drawing is missing, or there are more than `max_rows` rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from trellis.plots import plot
    >>> days = pd.DataFrame({"day": range(8), "price": [5.0, 4, 3, 2, 3, 4, 5, 5]})
    >>> dips = pd.DataFrame({"start": [0], "end": [6], "low": [2.0]})
    >>> plot(dips, days, x="day", y="price", title="A dip", path="dip.html").name  # doctest: +SKIP
    'dip.html'

    The fall inside the dip, told apart by colour:

    >>> dips = dips.assign(fall_start=0, fall_end=3)
    >>> plot(dips, days, x="day", y="price", inner=("fall_start", "fall_end"), path="dip.html").name  # doctest: +SKIP
    'dip.html'
    """
    target = check_target(path)
    keys = [by] if isinstance(by, str) else list(by or ())
    require_columns(series, [*keys, x, y], "series")
    parts = _inner_parts(inner, outer, match)
    inner_columns = [name for pair in parts.values() for name in pair]
    if match is None:
        needed = [*keys, start, end, *([label] if label else []), *inner_columns]
        found = _one_row_per_match(matches, needed, max_rows)
        classified = None
    else:
        classified = _classified_rows(matches, keys, x, y, match, label, max_rows)
        found = _first_and_last(classified, keys, x, match)
        start, end = _FIRST, _LAST
    chosen, left_out = choose_series(found, series, keys, max_series)
    rows = bring(only_series(series, keys, chosen), [*keys, x, y], max_rows, "series")
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
        panels.append(panel(_name(key), xs, ys, bands.get(key, []), points.get(key, []), max_points))
    _, temporal = numbers(rows[x], f"Column {x!r}")
    _check_same_kind(found, [start, end, *inner_columns], x, temporal)
    subtitle = _summary(panels, left_out)
    look = Look(title, subtitle, x, y_title or y, temporal, same_y, (outer, *parts) if parts else ())
    return write(specification(panels, look), target)


_FIRST, _LAST = "first row", "last row"


def _inner_parts(
    inner: tuple[str, str] | Mapping[str, tuple[str, str]] | None, outer: str, match: str | None
) -> dict[str, tuple[str, str]]:
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


def _name(key: Key) -> str:
    return " · ".join(show(part) for part in key)


def _summary(panels: list[Panel], left_out: bool) -> str:
    """What the picture shows, in a sentence."""
    count = sum(len(panel.bands) for panel in panels)
    hit = sum(1 for panel in panels if panel.bands)
    text = "no matches" if not count else "1 match" if count == 1 else f"{count:,} matches"
    if count and len(panels) > 1:
        text += f" in {hit} of {len(panels)} series" if hit < len(panels) else f" in {hit} series"
    if left_out:
        text += ", the ones with the most matches" if count else f", the first {len(panels)} series"
    rows, drawn = sum(panel.rows for panel in panels), sum(len(panel.x) for panel in panels)
    if drawn < rows:
        text += f" · {rows:,} rows drawn as {drawn:,} points, peaks kept"
    return text
