"""`show`: the first matches as a table, each with a small picture of its rows."""

from __future__ import annotations

import html
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from trellis.errors import BindingError, raising_worker_errors
from trellis.origins import Origin, origin_of
from trellis.plots.frames import Frame, Limits, bring, name_of, require_columns, split_series
from trellis.plots.frames import show as told
from trellis.plots.lines import read_lines
from trellis.plots.matched import Matched, matches_by_rows, matches_in_rows
from trellis.plots.panels import Panel
from trellis.plots.small import in_letters, in_svg
from trellis.plots.zooms import Zoom, check_zoom, zoomed
from trellis.table_text import counted, table_text

__all__ = ["Shown", "show", "shown"]

_PICTURE = "picture"
_POINTS = 400


@dataclass(frozen=True, slots=True, repr=False)
class Shown:
    """Rows of a result, in words; with a panel each, if there is something to draw."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[bool, ...]
    panels: tuple[Panel | None, ...]
    lanes: tuple[str, ...]
    more: bool

    @property
    def note(self) -> str:
        """How many rows these are."""
        return f"({counted(len(self.rows))}{'; there are more' if self.more else ''})"

    def __str__(self) -> str:
        if not self.rows:
            return "(no rows)"
        rows, names, right = self.rows, self.names, self.right
        if self.panels:
            letters = ["" if panel is None else in_letters(panel, self.lanes) for panel in self.panels]
            rows = tuple((*row, text) for row, text in zip(rows, letters, strict=True))
            names, right = (*names, _PICTURE), (*right, False)
        return "\n".join([*table_text(names, rows, right), self.note])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if not self.rows:
            return "<div>no rows</div>"
        head = [*self.names, *([_PICTURE] if self.panels else [])]
        cell = "padding:3px 12px 3px 0;white-space:nowrap;text-align:"
        sides = ["right" if right else "left" for right in self.right]
        lines = []
        for place, row in enumerate(self.rows):
            cells = [
                f'<td style="{cell}{side}">{html.escape(text)}</td>' for side, text in zip(sides, row, strict=True)
            ]
            if self.panels:
                panel = self.panels[place]
                cells.append(f"<td>{'' if panel is None else in_svg(panel, self.lanes)}</td>")
            lines.append(f"<tr>{''.join(cells)}</tr>")
        names = "".join(
            f'<th style="{cell}{side}">{html.escape(name)}</th>'
            for side, name in zip([*sides, "left"], head, strict=False)
        )
        return f"<table><thead><tr>{names}</tr></thead><tbody>{''.join(lines)}</tbody></table><div>{self.note}</div>"


def show(
    matches: Frame,
    series: Frame | None = None,
    *,
    n: int = 20,
    x: str | None = None,
    y: str | None = None,
    by: str | Sequence[str] | None = None,
    start: str = "start",
    end: str = "end",
    match: str | None = None,
    zoom: Zoom = True,
    max_rows: int = 1_000_000,
) -> None:
    """Show the first matches as a table, each with a small picture of its rows.

    On a terminal the picture is a line of blocks as high as the values of `y`, or where `y` holds words, these words.
    In a notebook it is a line with the match in colour, and the rows around it. Runs at once.

    What `sql`, `sqlts` and `.match` return knows its query, so nothing else is needed if it has measures of the first
    ORDER BY column, such as `first(day)` and `last(UP.day)`: a picture goes from the earliest to the latest of them,
    and shows the column that conditions speak of most. Of what was made of it (`.orderBy(...)`, `.where(...)`) there is
    the table alone, unless you name `series`, `x` and `y`.

    Parameters
    ----------
    matches : Spark or pandas DataFrame
        The result of a query: ONE ROW PER MATCH with columns for start and end; or ALL ROWS PER MATCH with a column
        that numbers the matches (then name it in `match`).
    series : Spark or pandas DataFrame, optional
        The rows that the query ran on, if the matches do not know them.
    n : int
        How many matches are shown.
    x, y : str
        The columns to draw: numbers, dates or timestamps over `x`, numbers or words over `y`.
    by : str or sequence of str, optional
        The partitioning columns, in `series` and in `matches`.
    start, end : str
        The measures that hold the `x` of the first and the last row of a match.
    match : str, optional
        For ALL ROWS PER MATCH: the column that holds MATCH_NUMBER(). Then each match is one line.
    zoom : bool, int or pair of int
        How many rows around the match a notebook shows: as many as the match has, or so many before and after.
    max_rows : int
        Bring at most so many rows of the series from Spark.

    Raises
    ------
    BindingError
        A column is missing, or cannot be drawn; or there are rows to draw, and no columns.
    ResourceError
        There are more than `max_rows` rows.

    Examples
    --------
    >>> import pandas as pd
    >>> import trellis as tr
    >>> days = pd.DataFrame({"day": range(8), "price": [5.0, 4, 3, 2, 3, 4, 5, 5]})
    >>> tr.show(pd.DataFrame({"start": [0], "end": [6], "low": [2.0]}), days, x="day", y="price")
    start  end  low  picture
    -----  ---  ---  -------
        0    6    2  █▆▃▁▃▆█
    (1 row)
    """
    table = shown(matches, series, n, x, y, by, (start, end), match, zoom, max_rows)
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is not None and hasattr(shell, "kernel"):
        tools: Any = import_module("IPython.display")
        tools.display(table)
    else:
        print(table)


def shown(
    matches: Frame,
    series: Frame | None,
    n: int,
    x: str | None,
    y: str | None,
    by: str | Sequence[str] | None,
    ends: tuple[str, str],
    match: str | None,
    zoom: Zoom,
    max_rows: int,
) -> Shown:
    """What `show` shows; the parameters are its own."""
    keys = [by] if isinstance(by, str) else list(by or ())
    if n < 1:
        raise BindingError("n must be a positive whole number.", cure="Pass n=20, or leave it out.")
    if series is None:
        found = _first(matches, n + 1)
        origin = None if isinstance(matches, pd.DataFrame) or not len(found) else origin_of(matches)
        return _table(found, n, (), ()) if origin is None else _by_origin(found, origin, n, zoom, max_rows)
    if x is None or y is None:
        raise BindingError("Nothing says what to draw.", cure="Name columns of the series in x= and y=.")
    require_columns(series, [*keys, x, y], "series")
    check_zoom(zoom)
    if match is None:
        matched = matches_by_rows(_first(matches, n + 1), keys, (*ends, None), [], max_rows)
    else:
        matched = matches_in_rows(matches, keys, (x, y), match, None, max_rows)
    first = matched.found.head(n)
    chosen = Matched(keys, first, matched.start, matched.end, None, [])
    lines = read_lines(series, chosen, list(split_series(first, keys)), (x, y), Limits(n, _POINTS, n, max_rows))
    around = True if zoom is False else zoom
    panels: list[Panel | None] = []
    for place in range(len(first)):
        alone = Matched(keys, first.iloc[[place]], matched.start, matched.end, None, []).one_by_one()
        panels.append(None)
        for key, band in alone:
            panels[place] = zoomed(name_of(key), *lines.of(key), band, [], around, lines.temporal, lines.limits)
    return _table(matched.found, n, tuple(panels), lines.lanes)


def _by_origin(found: pd.DataFrame, origin: Origin, n: int, zoom: Zoom, max_rows: int) -> Shown:
    """The table of matches that know where they come from."""
    names = (f"first {origin.x}", f"last {origin.x}")
    rows = [[at for at in row if not pd.isna(at)] for row in found[list(origin.places)].itertuples(index=False)]
    columns: dict[str, Any] = {
        name: [end(row, default=None) for row in rows] for name, end in zip(names, (min, max), strict=True)
    }
    placed = found.assign(**columns)
    drawn = shown(placed, origin.series, n, origin.x, origin.y, origin.by, names, None, zoom, max_rows)
    return replace(drawn, **_words(found, n))


def _first(frame: Frame, n: int) -> pd.DataFrame:
    """The first rows."""
    if isinstance(frame, pd.DataFrame):
        return frame.head(n)
    with raising_worker_errors():
        return bring(frame.limit(n), [str(name) for name in frame.columns], n, "matches")


def _table(found: pd.DataFrame, n: int, panels: tuple[Panel | None, ...], lanes: tuple[str, ...]) -> Shown:
    return Shown(**_words(found, n), panels=panels, lanes=lanes, more=len(found) > n)


def _words(found: pd.DataFrame, n: int) -> dict[str, Any]:
    """The names, cells and sides of a table."""
    first = found.head(n)
    columns = [first.iloc[:, place] for place in range(first.shape[1])]
    rows = tuple(zip(*([told(value) for value in column] for column in columns), strict=True))
    right = tuple(is_numeric_dtype(column.dtype) and not is_bool_dtype(column.dtype) for column in columns)
    return {"names": tuple(map(str, first.columns)), "rows": rows, "right": right}
