"""How many rows a prefilter leaves (equations 2 to 4 of Zhu, Huang and Chaudhuri, PVLDB 16(5), for pairs of buckets).

Rows are taken to fall into buckets by chance. Equation 2: a bucket of `d` rows holds a row of a symbol with share `s`
with the chance 1 - (1 - s)^d. Equation 3: symbols are independent of each other. Equation 4: rows that stand together
by chance fulfil the conditions between them with the share that a sample of pairs showed.
"""

from __future__ import annotations

from math import exp, prod

from trellis.algebra.prefilter import Buckets, Component, Form, Prefilter
from trellis.algebra.statistics import RowStatistics

__all__ = ["joined_rows", "kept_share", "rows_in_bucket", "symbol_rows"]


def rows_in_bucket(buckets: Buckets | None, statistics: RowStatistics) -> float:
    """The mean number of rows of one partition in one bucket."""
    count = 1.0
    if buckets is not None and statistics.span is not None:
        count = max(1.0, statistics.span / buckets.width)
    return statistics.rows / (count * statistics.partitions)


def symbol_rows(prefilter: Prefilter, statistics: RowStatistics) -> float:
    """How many rows fulfil the condition of some symbol."""
    none = prod(1 - statistics.shares.get(symbol.variable, 1.0) for symbol in prefilter.symbols)
    return statistics.rows * (1 - none)


def joined_rows(component: Component, prefilter: Prefilter, statistics: RowStatistics) -> tuple[float, float]:
    """How many combinations of rows a join looks at, and how many fulfil the conditions between them."""
    shares = _shares(component, prefilter, statistics)
    dense = rows_in_bucket(prefilter.buckets, statistics)
    # Each row of the first symbol meets those of the others in its own bucket and the next.
    met = statistics.rows * shares[0] * prod(2 * dense * share for share in shares[1:])
    found = met * statistics.together.get(component.joined, 1.0)
    for place in range(1, len(shares)):
        # Half of the two buckets lies within the window, and of k rows in it one order is right.
        found *= 0.5 / place if component.ordered else 0.5
    return met, found


def kept_share(prefilter: Prefilter, statistics: RowStatistics, seen: float = 1.0) -> float:
    """The share of the rows that is left, where row elimination leaves a share `seen` of them."""
    dropped = 1.0
    for component in prefilter.components:
        dropped *= 1 - _component_share(component, prefilter, statistics, seen) / seen
    return seen * (1 - dropped)


def _component_share(component: Component, prefilter: Prefilter, statistics: RowStatistics, seen: float) -> float:
    """The chance that a row is kept: it is of one of the symbols itself, or of none, and others stand around it."""
    dense = rows_in_bucket(prefilter.buckets, statistics)
    shares = _shares(component, prefilter, statistics)
    around = [_some(share * dense) for share in shares]
    if prefilter.form is not Form.MASKS:
        _, found = joined_rows(component, prefilter, statistics)
        # A combination found keeps its own rows and those of its bucket, and of as many more as the match may reach.
        reach = {2: 1.5, 1: 2.0, 0: 3.0}[component.starts + component.ends]
        if prefilter.form is Form.RANGES:
            reach = {2: 0.5, 1: 1.0, 0: 2.0}[component.starts + component.ends]
        return seen * _some(found / statistics.rows * (len(shares) + reach * dense))
    kept = 0.0
    for own in range(len(shares) + 1):
        here = [1.0 if number == own else chance for number, chance in enumerate(around)]
        weight = shares[own] if own < len(shares) else max(0.0, seen - sum(shares))
        if prefilter.buckets is None:
            kept += weight * prod(here)
            continue
        begun = _pair_chance(component, here, around, beyond=False)
        reached = _pair_chance(component, around, here, beyond=True)
        kept += weight * (1 - (1 - begun) * (1 - reached))
    return min(seen, kept)


def _pair_chance(component: Component, left: list[float], right: list[float], *, beyond: bool) -> float:
    """The chance that a pair of buckets holds the symbols: the first ones in the left bucket, the rest in the right.

    The longest beginning that the left one holds decides: if it has exactly m symbols, the right one needs the others.
    """
    if not component.ordered:
        return prod(1 - (1 - one) * (1 - other) for one, other in zip(left, right, strict=True))
    count = len(left)
    total = 0.0
    # If the right bucket holds them all, the pair that it begins does too, and is asked about by itself.
    for taken in range(1 if component.starts or beyond else 0, count + 1):
        if beyond and component.ends and taken == count:
            # All symbols on the left, and the last one on the right too.
            total += prod(left) * right[-1]
            continue
        exactly = prod(left[:taken]) * ((1 - left[taken]) if taken < count else 1.0)
        total += exactly * prod(right[taken:])
    return min(1.0, total)


def _shares(component: Component, prefilter: Prefilter, statistics: RowStatistics) -> list[float]:
    return [statistics.shares.get(prefilter.symbols[number].variable, 1.0) for number in component.symbols]


def _some(expected: float) -> float:
    """The chance that something that happens so often on average happens at all."""
    return 1 - exp(-expected)
