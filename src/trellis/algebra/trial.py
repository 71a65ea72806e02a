"""What came of trying a tree on a sample of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trellis.algebra.physical_tree import ChosenTree

__all__ = ["Trial"]


@dataclass(frozen=True, slots=True)
class Trial:
    """A tree that was chosen for a sample of `rows` rows in `series` series.

    If it ran, `actual` has for each node (by identity) how often it was asked, and how many segments it found.
    """

    rows: int
    series: int
    chosen: ChosenTree
    actual: Mapping[int, tuple[int, int]] | None
