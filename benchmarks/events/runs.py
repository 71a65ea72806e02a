"""How many runs there are at a time, by definition: what merging can gain at most."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.events.stream import stock_stream

__all__ = ["runs_at_a_time"]


def runs_at_a_time(predicate: str, window: int, events: int) -> tuple[float, float]:
    """The mean number of runs with skip till next match, separate and merged, in a stream of one symbol.

    A run begins with each price that 500 divides and lives for a window. Runs are one where they remember the same:
    nothing (p1), the last price (p2), the least or the greatest one (p3 min, max), sum and count (p3 avg).
    """
    prices: NDArray[np.int64] = stock_stream(1, events).column("price").to_numpy().astype(np.int64)
    runs: list[tuple[int, tuple[int, ...]]] = []
    separate = merged = 0
    for place, price in enumerate(map(int, prices)):
        runs = [(begin, _step(predicate, kept, price)) for begin, kept in runs if place - begin < window]
        if price % 500 == 0:
            runs.append((place, _first(predicate, price)))
        if place >= window:
            separate += len(runs)
            merged += len({kept for _, kept in runs})
    counted = max(1, len(prices) - window)
    return separate / counted, merged / counted


def _first(predicate: str, price: int) -> tuple[int, ...]:
    if predicate == "p1":
        return ()
    return (price, 1) if predicate == "p3 avg" else (price,)


def _step(predicate: str, kept: tuple[int, ...], price: int) -> tuple[int, ...]:
    """What a run remembers after an event that it takes, or passes over."""
    match predicate:
        case "p2" | "p3 max":
            return (max(price, *kept),)
        case "p3 avg":
            total, count = kept
            return (total + price, count + 1) if price * count > total else kept
        case _:
            # What is above the least price does not change it.
            return kept
