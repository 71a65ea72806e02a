"""What is known of the rows before a plan is chosen for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trellis.algebra.expression import Expression
from trellis.algebra.prefilter import Buckets
from trellis.algebra.windows import Window

__all__ = ["Question", "RowStatistics", "SegmentStatistics"]


@dataclass(frozen=True, slots=True)
class RowStatistics:
    """The rows of an input.

    How many `rows`, in about how many `partitions` that matter, over how many units of the order key (`span`).
    `shares` of the rows fulfil the condition of each variable, and of random rows of several variables the share
    `together` fulfils the conditions between them. `heavy` are the hashes of keys with a large share of the rows.
    `cores` is how many tasks run at once.
    """

    rows: float
    partitions: float = 1.0
    span: float | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    together: Mapping[tuple[Expression, ...], float] = field(default_factory=dict)
    heavy: tuple[tuple[int, float], ...] = ()
    cores: int = 2


@dataclass(frozen=True, slots=True)
class Question:
    """What planning wants to know of the rows of an input.

    `keys` and `buckets` are those of the query, `conditions` those of single rows, by variable. `joined` are conditions
    between rows, each with the variables of these rows. What is `known` already need not be counted.
    """

    keys: tuple[Expression, ...]
    buckets: Buckets | None
    conditions: Mapping[str, Expression] = field(default_factory=dict)
    joined: tuple[tuple[tuple[str, ...], tuple[Expression, ...]], ...] = ()
    known: RowStatistics | None = None


@dataclass(frozen=True, slots=True)
class SegmentStatistics:
    """Counts and samples.

    `rows` of `series` series; `longest` is the number of rows that a segment can have. `cells` are the numbers of
    segments within windows, `lengths` their mean numbers of rows. For each window `samples` random segments were
    tested: bit `i` of `hits[condition, window]` says whether the condition holds for the i-th of them.
    """

    rows: int
    series: int
    longest: int
    cells: Mapping[Window, float]
    lengths: Mapping[Window, float]
    samples: Mapping[Window, int]
    hits: Mapping[tuple[int, Window], int]

    def share(self, conditions: tuple[int, ...], window: Window) -> float:
        """The share of the segments within a window for which all conditions hold; never quite none or all."""
        samples = self.samples.get(window, 0)
        if not conditions:
            return 1.0
        if not samples:
            return 0.1 ** len(conditions)
        hit = (1 << samples) - 1
        for condition in conditions:
            hit &= self.hits[condition, window]
        return (hit.bit_count() + 0.25) / (samples + 0.5)
