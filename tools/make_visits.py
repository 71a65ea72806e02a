"""Write src/trellis/samples/visits.parquet: made-up visits to a made-up shop.

Run it from the root of the repository with `python tools/make_visits.py`. The seed is fixed, so the rows stay the same.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

TARGET = Path("src/trellis/samples/visits.parquet")
SESSIONS = 600
PRODUCTS = {"lamp": 49.0, "chair": 129.0, "desk": 399.0, "shelf": 89.0, "rug": 159.0, "clock": 35.0}


def visit(
    session: int, start: datetime, draw: random.Random
) -> list[tuple[int, int, datetime, str, str | None, float | None]]:
    """The events of one session, in order: views, perhaps a cart, perhaps a payment that may fail first."""
    rows: list[tuple[int, int, datetime, str, str | None, float | None]] = []
    now = start

    def event(kind: str, product: str | None = None) -> None:
        nonlocal now
        rows.append((session, len(rows) + 1, now, kind, product, PRODUCTS[product] if product else None))
        now += timedelta(seconds=draw.randint(4, 240))

    cart: list[str] = []
    event("enter")
    for _ in range(draw.randint(1, 9)):
        kind = draw.choices(["search", "view", "help"], [3, 9, 1])[0]
        if kind != "view":
            event(kind)
            continue
        product = draw.choice(list(PRODUCTS))
        event("view", product)
        if draw.random() < 0.3:
            event("cart", product)
            cart.append(product)
            if draw.random() < 0.15:
                event("remove", cart.pop())
    if cart and draw.random() < 0.65:
        event("checkout")
        while draw.random() < 0.12:
            event("payment_failed")
        if draw.random() < 0.85:
            event("pay")
    return rows


def main() -> None:
    draw = random.Random(2016)
    start = datetime(2024, 3, 4, 8)
    rows = []
    for session in range(1, SESSIONS + 1):
        start += timedelta(seconds=draw.randint(5, 110))
        rows += visit(session, start, draw)
    names = ["session", "step", "ts", "event", "product", "price"]
    types = [pa.int32(), pa.int32(), pa.timestamp("us"), pa.string(), pa.string(), pa.float64()]
    columns = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), types, strict=True)]
    pq.write_table(pa.Table.from_arrays(columns, names), TARGET, compression="zstd", compression_level=19)


if __name__ == "__main__":
    main()
