"""The template on short streams: the definition of the tests against the engine, every strategy and search."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from benchmarks.events.stream import PREDICATES, STRATEGIES, Template, stock_stream
from trellis.languages.sase import parse_sase_text

# The definition, and the engine without Spark, are those of the tests.
sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

import local
import naive_sase as naive
from naive_sase import EventQuery, Strategy
from naive_sase_notation import agg, attr, lit, op, seq

__all__ = ["differences"]

_SCHEMA = [("type", "string"), ("time", "bigint"), ("symbol", "int"), ("price", "int"), ("volume", "int")]
_EACH = attr("a", "price", "i")
_DEFINED = {
    "p1": (),
    "p2": (op(_EACH, ">", attr("a", "price", "i-1")),),
    "p3 min": (op(_EACH, ">", agg("min", "a", "..i-1", "price")),),
    "p3 max": (op(_EACH, ">", agg("max", "a", "..i-1", "price")),),
    "p3 avg": (op(_EACH, ">", agg("avg", "a", "..i-1", "price")),),
}
_STRATEGIES = dict(zip(STRATEGIES, Strategy, strict=True))


def differences(streams: int, events: int, window: int) -> tuple[int, int]:
    """How many queries differ, and how many matches were compared."""
    wrong = compared = 0
    for seed in range(streams):
        # Steps of 100, so that short streams hold prices that 500 divides.
        stream = stock_stream(2, events, seed=seed)
        rows: list[dict[str, Any]] = [{**row, "price": row["price"] * 100 % 1000} for row in stream.to_pylist()]
        for name, predicate in PREDICATES.items():
            for short, strategy in STRATEGIES.items():
                template = Template(f"{name} {short}", predicate, strategy)
                expected = sorted(naive.matches(_query(name, short, window), rows))
                for search in ("auto", "apart", "backtrack"):
                    returned = "array_agg(a[].time) AS a, b.time AS b"
                    query = parse_sase_text(template.text(window, returned))
                    found = local.run(query, rows, _SCHEMA, search=search)
                    given = sorted((("a", tuple(row["a"])), ("b", (row["b"],))) for row in found)
                    wrong += given != expected
                    compared += len(expected)
    return wrong, compared


def _query(name: str, short: str, window: int) -> EventQuery:
    return EventQuery(
        seq("Stock+ a, Stock b"),
        _STRATEGIES[short],
        (
            op(op(attr("a", "price", 1), "%", lit(500)), "=", lit(0)),
            *_DEFINED[name],
            op(attr("b", "volume"), "<", lit(150)),
        ),
        ("symbol",),
        ("events", window),
    )
