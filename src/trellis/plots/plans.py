"""`plot_plan`: the picture of the plan of many patterns, and its file."""

from __future__ import annotations

import os

from trellis.plots.picture import Picture, drawn
from trellis.plots.plan_chart import draw_plan
from trellis.plots.plan_graph import PlanGraph

__all__ = ["plot_plan"]


def plot_plan(plan: PlanGraph, path: str | os.PathLike[str] | None = None, *, title: str = "Shared plan") -> Picture:
    """Draw the plan by which many patterns are found together.

    Types of events are at the bottom, patterns on top. A circle is a sub-pattern, joined to those that it is made of.
    It is the larger, the more instances it has, and its colour says how many patterns use it. A dashed line leads to a
    pattern from what must be absent for it.

    Labels are written where there is room: of a large plan, those of the sub-patterns that are shared most, or have the
    most instances. In the HTML file, which needs no network, tooltips tell all of them; scrolling zooms, dragging
    moves, and a double click resets.

    Parameters
    ----------
    plan : PlanGraph
        The nodes and edges of the plan.
    path : str or path, optional
        The file to write. Its suffix says what: `.html`, `.png`, `.svg`, or `.json` for the Vega-Lite specification.
    title : str
        The heading. Below it stands how many nodes and patterns there are.

    Returns
    -------
    Picture
        Notebooks draw it; `.save(path)` writes it to a file, and `.path` is the file that was written.

    Raises
    ------
    UnsupportedError
        The path has another suffix.
    ResourceError
        The package for drawing is missing.

    Examples
    --------
    >>> from trellis.plots import PlanGraph, PlanNode, plot_plan
    >>> both = ("up", "down")
    >>> nodes = (
    ...     PlanNode("#0 Buy", "Buy a WITHIN 10", both, (), 12.0),
    ...     PlanNode("#1 Sell", "Sell a WITHIN 10", both, (), 9.0),
    ...     PlanNode("#2 SEQ(Buy, Sell)", "SEQ(Buy a, Sell b) WITHIN 10", ("up",), ("up",), 54.0),
    ...     PlanNode("#3 SEQ(Sell, Buy)", "SEQ(Sell a, Buy b) WITHIN 10", ("down",), ("down",), 54.0),
    ... )
    >>> plan = PlanGraph(nodes, ((0, 2), (1, 2), (1, 3), (0, 3)))
    >>> print(plot_plan(plan, "plan.svg"))
    plan.svg
    """
    return drawn(lambda: draw_plan(plan, title), path)
