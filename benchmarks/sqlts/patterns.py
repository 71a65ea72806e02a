"""Patterns of calm, falls and rises, and prices to look for them in.

A pattern is a word of letters: C is a stretch of days that change by no more than some per cent, D of days that fall by
more, U of days that rise by more.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

__all__ = ["SHAPES", "clause_of", "query_of", "walk"]

SHAPES = ("CDC", "CUCDC", "CDCUC", "CDCUCDCU", "CUCDCUCD", "CDCUCDCUCDCU")
"""Five of them have more than four elements; the last ones are double and triple bottoms and tops."""

_TESTS = {
    "C": "{low} * {before} <= {price} AND {price} <= {high} * {before}",
    "D": "{price} < {low} * {before}",
    "U": "{price} > {high} * {before}",
}


def query_of(shape: str, percent: float, *, clusters: bool = False) -> str:
    """A shape in SQL-TS: every element has a star."""
    names = [f"{letter}{number}" for number, letter in enumerate(shape)]
    tests = (_test(name[0], percent, f"{name}.price", f"{name}.previous.price") for name in names)
    keys = " CLUSTER BY k" if clusters else ""
    elements = ", ".join(f"*{name}" for name in names)
    return (
        f"SELECT FIRST({names[0]}).date AS first, LAST({names[-1]}).date AS last"
        f" FROM {{djia}}{keys} SEQUENCE BY date AS ({elements}) WHERE {' AND '.join(tests)}"
    )


def clause_of(shape: str, percent: float) -> str:
    """The same as a MATCH_RECOGNIZE clause; its repetitions may give rows back, but nobody would take them."""
    tests = ", ".join(f"{letter} AS {_test(letter, percent, 'price', 'PREV(price)')}" for letter in sorted(set(shape)))
    pattern = " ".join(f"{letter}+" for letter in shape)
    return (
        "SELECT * FROM {djia} MATCH_RECOGNIZE (PARTITION BY k ORDER BY date"
        f" MEASURES first(date) AS first, last(date) AS last PATTERN ({pattern}) DEFINE {tests})"
    )


def _test(letter: str, percent: float, price: str, before: str) -> str:
    low, high = f"{1 - percent / 100:.4g}", f"{1 + percent / 100:.4g}"
    return _TESTS[letter].format(low=low, high=high, price=price, before=before)


def walk(series: int, rows: int, seed: int = 1) -> pa.Table:
    """Prices that change by about one per cent a day."""
    random = np.random.default_rng(seed)
    prices = 100 * np.exp(np.cumsum(random.normal(0, 0.01, (series, rows)), axis=1))
    days = np.tile(np.arange(rows, dtype=np.int32), series)
    return pa.table({"k": np.repeat(np.arange(series, dtype=np.int32), rows), "date": days, "price": prices.ravel()})
