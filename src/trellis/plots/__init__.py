"""Pictures of matches: each series a line, each match a band, in a file that opens anywhere."""

from __future__ import annotations

from trellis.plots.drawing import plot

__all__ = ["plot"]
