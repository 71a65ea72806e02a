"""`plot`: from matches and series to a picture in a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from trellis.errors import BindingError
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
from trellis.plots.panels import Band, Panel, Point, panel

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
        A column is missing, or cannot be drawn.
    UnsupportedError
        The path has another suffix, or a frame is a stream.
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
    """
    target = check_target(path)
    keys = [by] if isinstance(by, str) else list(by or ())
    require_columns(series, [*keys, x, y], "series")
    if match is None:
        found = _one_row_per_match(matches, keys, start, end, label, max_rows)
        classified = None
    else:
        classified = _classified_rows(matches, keys, x, y, match, label, max_rows)
        found = _first_and_last(classified, keys, x, match)
        start, end = _FIRST, _LAST
    chosen, left_out = choose_series(found, series, keys, max_series)
    rows = bring(only_series(series, keys, chosen), [*keys, x, y], max_rows, "series")
    names = {"label": label if match is None else None, "start": start, "end": end}
    bands = {key: _bands(part, names, keys) for key, part in split_series(found, keys).items()}
    points = {} if classified is None or label is None else _points(classified, keys, x, y, label)
    lines = split_series(rows, keys)
    panels = []
    for key in chosen:
        line = lines.get(key, rows.iloc[:0])
        xs, temporal = numbers(line[x], f"Column {x!r}")
        ys, _ = numbers(line[y], f"Column {y!r}")
        panels.append(panel(_name(key), xs, ys, bands.get(key, []), points.get(key, []), max_points))
    _, temporal = numbers(rows[x], f"Column {x!r}")
    _check_same_kind(found, start, end, x, temporal)
    subtitle = _summary(panels, left_out)
    look = Look(title, subtitle, x, y_title or y, temporal, same_y)
    return write(specification(panels, look), target)


_FIRST, _LAST = "first row", "last row"


def _one_row_per_match(
    matches: Frame, keys: list[str], start: str, end: str, label: str | None, max_rows: int
) -> pd.DataFrame:
    require_columns(matches, [*keys, start, end, *([label] if label else [])], "matches")
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


def _bands(found: pd.DataFrame, names: dict[str, str | None], keys: list[str]) -> list[Band]:
    start, end, label = names["start"], names["end"], names["label"]
    starts, _ = numbers(found[start], f"Column {start!r}")
    ends, _ = numbers(found[end], f"Column {end!r}")
    told = [str(name) for name in found.columns if name not in keys]
    values = [[show(value) for value in found[name]] for name in told]
    labels = [show(value) for value in found[label]] if label else [""] * len(found)
    return [
        Band(min(a, b), max(a, b), text, dict(zip(told, measures, strict=True)))
        for a, b, text, *measures in zip(starts.tolist(), ends.tolist(), labels, *values, strict=True)
        if a == a and b == b  # an empty match has no place
    ]


def _points(rows: pd.DataFrame, keys: list[str], x: str, y: str, label: str) -> dict[Key, list[Point]]:
    found = {}
    for key, part in split_series(rows, keys).items():
        xs, _ = numbers(part[x], f"Column {x!r}")
        ys, _ = numbers(part[y], f"Column {y!r}")
        found[key] = [Point(*row) for row in zip(xs.tolist(), ys.tolist(), map(show, part[label]), strict=True)]
    return found


def _check_same_kind(found: pd.DataFrame, start: str, end: str, x: str, temporal: bool) -> None:
    """A start that is a row number cannot be drawn on an axis of time."""
    for name in (start, end):
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
