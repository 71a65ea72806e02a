"""The queries that are measured."""

from __future__ import annotations

__all__ = ["HOPELESS", "ONE_SERIES", "V_ALL_ROWS", "V_ALL_ROWS_MEASURES", "V_SHAPE", "never_seen"]

_V = "PATTERN (A DOWN+ UP+) DEFINE DOWN AS price < prev(price), UP AS price > prev(price)"
_V_MEASURES = "MEASURES first(A.ts) AS begins, min(DOWN.price) AS low, last(UP.ts) AS ends"


def _query(clause: str) -> str:
    return f"SELECT * FROM {{ticks}} MATCH_RECOGNIZE ({clause})"


V_SHAPE = _query(f"PARTITION BY sym ORDER BY ts {_V_MEASURES} ONE ROW PER MATCH {_V}")
V_ALL_ROWS = _query(f"PARTITION BY sym ORDER BY ts ALL ROWS PER MATCH {_V}")
V_ALL_ROWS_MEASURES = _query(
    f"PARTITION BY sym ORDER BY ts MEASURES match_number() AS m, classifier() AS c ALL ROWS PER MATCH {_V}"
)

ONE_SERIES = {
    "one row per match": _query(f"ORDER BY ts {_V_MEASURES} {_V}"),
    "all rows per match": _query(f"ORDER BY ts ALL ROWS PER MATCH {_V}"),
    "one match of all rows": _query("ORDER BY ts MEASURES count(*) AS n, avg(price) AS mean PATTERN (A+)"),
    "conditions that look at the match so far": _query(
        f"ORDER BY ts {_V_MEASURES} PATTERN (A DOWN+ UP+) "
        "DEFINE DOWN AS price < prev(price), UP AS price > last(DOWN.price) AND price < first(A.price)"
    ),
}

# Each never matches on equal rows, and every way to share the rows between A and B has to be ruled out.
HOPELESS = {
    "`B AS x > 5`, by table": ("B AS x > 5", {}),
    "`B AS x > 5`, by backtracking": ("B AS x > 5", {"search": "backtrack"}),
    "`B AS x > last(A.x)`": ("B AS x > last(A.x)", {}),
}

_SHAPES = (
    "MEASURES last(B.ts) AS t PATTERN (A B{{1,{n}}}) DEFINE B AS price > prev(price) + 0.{n}",
    "MEASURES count(*) AS n, sum(B.qty) AS q PATTERN (A (B | C){{2,}}) DEFINE B AS price > {n}, C AS qty < {n}",
    "MEASURES first(ts) AS t, avg(price) AS p ALL ROWS PER MATCH PATTERN (^ A+? B) DEFINE B AS price > 9{n} / 10.0",
    "MEASURES match_number() AS m PATTERN (PERMUTE(A, B, C)) "
    "DEFINE A AS price < 3{n}, B AS price < 5{n}, C AS qty > {n}",
    "MEASURES max(B.price) - {n} AS p PATTERN (A B+) DEFINE B AS price > first(A.price) + {n}",
    "MEASURES classifier() AS c ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A B* C) "
    "DEFINE B AS sum(B.qty) < 1{n}, C AS price > avg(B.price) + {n}",
    "MEASURES first(A.ts, {n}) AS t PATTERN (A+ B $) DEFINE A AS price * {n} > 0",
    "MEASURES next(last(B.price), {n}) AS p AFTER MATCH SKIP TO NEXT ROW PATTERN (A B) "
    "DEFINE B AS price > A.price + {n}",
    "MEASURES last(U.price) AS p PATTERN (A {{- B+ -}} C) SUBSET U = (A, C) "
    "DEFINE B AS abs(price - {n}) > 1, C AS qty > {n}",
    "MEASURES array_agg(qty) AS q PATTERN (A B?? C+) DEFINE B AS price < {n}, C AS C.price >= last(C.price, 1) - {n}",
)


def never_seen(number: int) -> str:
    """The n-th of queries that all differ, in structure or at least in their constants."""
    shape = _SHAPES[number % len(_SHAPES)].format(n=number + 11)
    return _query(f"PARTITION BY sym ORDER BY ts {shape}")
