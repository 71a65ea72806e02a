"""`plot`: which picture is meant, and its file."""

from __future__ import annotations

import os
from collections.abc import Sequence

from trellis.errors import BindingError
from trellis.plots.bars import draw_bars
from trellis.plots.frames import Frame, Limits, known_rows
from trellis.plots.lanes import LanePicture, draw_lanes
from trellis.plots.lines import LinePicture, draw_lines
from trellis.plots.matched import Inner
from trellis.plots.picture import Picture, drawn
from trellis.plots.zooms import Zoom

__all__ = ["plot"]


def plot(
    matches: Frame,
    series: Frame | None = None,
    *,
    x: str | None = None,
    y: str | None = None,
    by: str | Sequence[str] | None = None,
    start: str = "start",
    end: str = "end",
    match: str | None = None,
    label: str | None = None,
    inner: Inner = None,
    outer: str = "match",
    type: str = "type",
    zoom: Zoom = False,
    path: str | os.PathLike[str] | None = None,
    title: str | None = None,
    y_title: str | None = None,
    same_y: bool = False,
    max_series: int = 12,
    max_points: int = 4_000,
    max_matches: int = 100,
    max_rows: int = 1_000_000,
) -> Picture:
    """Draw the matches of a query on the rows or events that they were found in.

    There are three pictures:

    - With `x` and `y`, matches of rows and segments. Each series gets a panel with its line, or where `y` holds words,
      such as the pages of a visit, with a lane for each. Each match is a band from its first to its last row, with the
      line inside it highlighted and its measures in a tooltip.
    - With `x` alone, matches of an event pattern, which have gaps. Each series gets a panel with a lane for each
      variable. Each match is a chain: its events in their lanes, joined by a line, in a colour of its own. Events that
      no match chose are pale, in the lanes of the variables that take their type.
    - Without a second DataFrame, how far the runs of an event pattern came: what `trellis.progress` returns.

    A notebook draws the picture where a cell ends with it. The HTML file needs no network; scrolling zooms and dragging
    moves all panels together, and a double click resets. Series that hardly overlap, such as visits to a shop, have a
    horizontal axis each.

    Parameters
    ----------
    matches : DataFrame of Spark or pandas, or table of Arrow
        The result of a query: ONE ROW PER MATCH with columns for start and end; or ALL ROWS PER MATCH with a column
        that numbers the matches (then name it in `match`); or that of an event pattern without RETURN; or what
        `trellis.progress` returns.
    series : DataFrame of Spark or pandas, or table of Arrow, optional
        The rows or events that the query ran on.
    x, y : str
        The columns to draw: numbers, dates or timestamps over `x`, numbers or words over `y`. Of events, `x` is the
        time.
    by : str or sequence of str, optional
        The partitioning columns, in `series` and in `matches`; of an event pattern, in the events of the matches.
        Without it there is one series.
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
    type : str
        Of events: the column that holds the type, as in `trellis.sase`.
    zoom : bool, int or pair of int
        Draw a panel for each match instead, with an axis of its own, and so many rows before and after the match; with
        True, as many as the match has. Of too many matches, the first `max_series` are drawn, in their order.
    path : str or path, optional
        The file to write at once; `.save` of the picture writes one later. Its suffix says what: `.html`, `.png`,
        `.svg`, or `.json` for the Vega-Lite specification.
    title : str, optional
        The heading. Below it stands how many matches are shown.
    y_title : str, optional
        The name of the vertical axis, if not the name of the column.
    same_y : bool
        Whether all panels have the same vertical axis.
    max_series : int
        Draw at most so many series, or with `zoom` matches. If there are more series, those with the most matches are
        drawn.
    max_points : int
        Thin the lines to about so many points each. The lowest and the highest row of each stretch as wide as a pixel
        stay, so that no peak is lost, and so do the rows inside matches. Of events, thin the pale ones of a panel.
    max_matches : int
        Of an event pattern: draw at most so many matches in each panel, those that start first.
    max_rows : int
        Bring at most so many rows from Spark.

    Returns
    -------
    Picture
        Notebooks draw it; `.save(path)` writes it to a file, and `.path` is the file that was written.

    Raises
    ------
    BindingError
        A column is missing, or cannot be drawn; or `inner` is not made of pairs of columns; or the matches of an event
        pattern do not hold their events.
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
    >>> print(plot(dips, days, x="day", y="price", title="A dip", path="dip.html"))
    dip.html

    The fall inside the dip, told apart by colour:

    >>> dips = dips.assign(fall_start=0, fall_end=3)
    >>> print(plot(dips, days, x="day", y="price", inner=("fall_start", "fall_end"), path="dip.html"))
    dip.html

    Matches of an event pattern, without `y`:

    >>> events = pd.DataFrame({"type": ["Order", "View", "Payment"], "time": [1, 2, 5]})
    >>> paid = pd.DataFrame({"o": [{"type": "Order", "time": 1}], "p": [{"type": "Payment", "time": 5}]})
    >>> print(plot(paid, events, x="time", path="paid.html"))
    paid.html
    """
    matches = known_rows(matches, "matches")
    series = None if series is None else known_rows(series, "rows")
    keys = [by] if isinstance(by, str) else list(by or ())
    limits = Limits(max_series, max_points, max_matches, max_rows)
    if series is None:
        return drawn(lambda: draw_bars(matches, title, limits), path)
    if x is None:
        raise BindingError("Nothing says what to draw over.", cure="Name a column in x=, such as the time.")
    if y is None:
        others = {"match": match, "label": label, "inner": inner, "y_title": y_title, "same_y": same_y or None}
        for name, value in (others | {"zoom": zoom or None}).items():
            if value is not None:
                raise BindingError(
                    f"{name}= is for a picture with lines.",
                    cure="Name the column of the lines in y=; matches of an event pattern need neither.",
                )
        return drawn(lambda: draw_lanes(matches, series, LanePicture(x, type, keys, title), limits), path)
    wanted = LinePicture(x, y, keys, start, end, match, label, inner, outer, title, y_title, same_y, zoom)
    return drawn(lambda: draw_lines(matches, series, wanted, limits), path)
