"""The paper's stock stream, and the queries of its table 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

__all__ = [
    "ALL",
    "AVG",
    "EXTENDED",
    "FINITE",
    "MAX",
    "MIN",
    "P1",
    "P2",
    "PREDICATES",
    "STRATEGIES",
    "Template",
    "stock_stream",
]

STRATEGIES = {
    "s1": "strict_contiguity",
    "s2": "partition_contiguity",
    "s3": "skip_till_next_match",
    "s4": "skip_till_any_match",
}


@dataclass(frozen=True, slots=True)
class Template:
    """A query of the template: the predicate of `a[i]`, and the selection strategy."""

    name: str
    predicate: str
    strategy: str

    def text(self, window: int, returned: str = "b.time AS until") -> str:
        """The query, with a window of so many events of a symbol."""
        predicate = f" and {self.predicate}" if self.predicate else ""
        more, condition = "", ""
        if self.name.startswith("p3*"):
            more, condition = ", Stock c", " and c.price > a[1].price and c.price < a[a.LEN].price"
        return (
            f"PATTERN SEQ(Stock+ a[], Stock b{more}) WHERE {self.strategy} {{ [symbol] and a[1].price % 500 = 0"
            f"{predicate} and b.volume < 150{condition} }} WITHIN {window} events RETURN {returned}"
        )


PREDICATES = {
    "p1": "",
    "p2": "a[i].price > a[i-1].price",
    "p3 min": "a[i].price > min(a[..i-1].price)",
    "p3 max": "a[i].price > max(a[..i-1].price)",
    "p3 avg": "a[i].price > avg(a[..i-1].price)",
}
FINITE = tuple(
    Template(f"{name} {short}", predicate, strategy)
    for name, predicate in PREDICATES.items()
    for short, strategy in STRATEGIES.items()
    if short != "s4"
)
"""Skip till any match is left out: its matches are exponentially many."""
ALL = tuple(template for template in FINITE if not template.name.endswith("s1"))
"""What the paper measures."""
P1, P2, MIN, MAX, AVG = (template for template in ALL if template.name.endswith("s3"))
EXTENDED = Template("p3* s3", PREDICATES["p3 min"], STRATEGIES["s3"])
"""The paper's harder query for non-overlapping results: a third component that hardly ever fits."""


def stock_stream(symbols: int, events: int, rising: float = 0.7, seed: int = 1) -> pa.Table:
    """So many events in all, each of a random symbol; prices go up by 1, go down, or stay.

    The paper gives the range of prices, 1 to 1000, but not what happens at its end. They go round here, from 999 to 0:
    then a match that begins at a price which 500 divides has room to rise, and has the mean lengths of table 2.
    """
    random = np.random.default_rng(seed)
    symbol = random.integers(1, symbols + 1, events)
    moves = random.random(events)
    step = np.where(moves < rising, 1, np.where(moves < rising + (1 - rising) / 2, -1, 0))
    price = np.empty(events, np.int64)
    order = np.argsort(symbol, kind="stable")
    bounds = np.searchsorted(symbol[order], np.arange(1, symbols + 2))
    for number in range(symbols):
        mine = order[bounds[number] : bounds[number + 1]]
        price[mine] = (random.integers(0, 1000) + np.cumsum(step[mine])) % 1000
    return pa.table(
        {
            "type": pa.array(np.full(events, "Stock")),
            "time": np.arange(events),
            "symbol": symbol.astype(np.int32),
            "price": price.astype(np.int32),
            "volume": random.integers(1, 1001, events).astype(np.int32),
        }
    )
