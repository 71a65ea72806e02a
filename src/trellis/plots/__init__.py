"""Pictures in files that open anywhere: matches as bands on lines, matches with gaps in lanes, how far runs came."""

from __future__ import annotations

from trellis.plots.drawing import plot

__all__ = ["plot"]
