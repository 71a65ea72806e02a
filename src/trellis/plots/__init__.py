"""Pictures in files that open anywhere: matches on lines, matches in lanes, how far runs came, and shared plans."""

from __future__ import annotations

from trellis.plots.drawing import plot
from trellis.plots.picture import Picture
from trellis.plots.plan_graph import PlanGraph, PlanNode
from trellis.plots.plans import plot_plan
from trellis.plots.shown import show

__all__ = ["Picture", "PlanGraph", "PlanNode", "plot", "plot_plan", "show"]
