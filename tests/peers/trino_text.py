"""A NaiveQuery and rows as a statement of Trino: the same meaning in its dialect, the rows as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from naive import Expr, NaiveQuery, Row
from peers.expressions import map_expr
from properties import render

TYPES = {
    "c": "INTEGER",
    "id": "INTEGER",
    "k": "INTEGER",
    "t": "INTEGER",
    "x": "INTEGER",
    "y": "DOUBLE",
    "s": "VARCHAR",
    "b": "BOOLEAN",
}
_SQL_TYPES = {"INT": "INTEGER", "STRING": "VARCHAR"}


def statement(query: NaiveQuery, rows: Sequence[Row]) -> str:
    """SELECT * of the query over the rows."""
    return f"SELECT * FROM ({values(rows)}) MATCH_RECOGNIZE (\n{clause(query)}\n)"


def values(rows: Sequence[Row]) -> str:
    # One literal: Trino takes twice as long to plan VALUES of as many rows.
    listed = json.dumps([[row[name] for name in TYPES] for row in rows])
    assert "'" not in listed
    types = ", ".join(f"{name} {type_}" for name, type_ in TYPES.items())
    return f"SELECT * FROM UNNEST(CAST(JSON '{listed}' AS ARRAY(ROW({types}))))"


def clause(query: NaiveQuery) -> str:
    translated = replace(
        query,
        measures=tuple((name, map_expr(translate, expr)) for name, expr in query.measures),
        define=tuple((name, map_expr(translate, expr)) for name, expr in query.define),
    )
    lines = render.render_clause(translated).split("\n")
    if query.order_by:
        # Trino puts NULLs last, whatever the direction; so the place of NULLs is always written.
        keys = ", ".join(
            f"{column}{' DESC' if descending else ''} NULLS {'FIRST' if nulls_first else 'LAST'}"
            for column, descending, nulls_first in query.order_by
        )
        lines = [f"ORDER BY {keys}" if line.startswith("ORDER BY ") else line for line in lines]
    return numbers("\n".join(lines))


def numbers(text: str) -> str:
    """Doubles, which Spark writes 0.5D and Trino 0.5E0."""
    return re.sub(r"\b(\d+\.\d+)D\b", r"\1E0", text)


def translate(expr: Expr) -> Expr:
    """One node, its parts already translated."""
    match expr:
        case ("op", "<=>", operands):
            return "op", "IS NOT DISTINCT FROM", operands
        case ("op", "/", (left, right)):
            # Between integers Spark's division is one of doubles.
            return "op", "/", (("op", "*", (("lit", 1.0), left)), right)
        case ("call", ("least" | "greatest") as name, operands):
            # NULL if one operand is NULL; Spark's skip NULLs.
            return "call", "coalesce", (("call", name, operands), *operands)
        case ("call", "bin", (number,)):
            return "call", "to_base", (number, ("lit", 2))
        case ("lit", None, sql_type):
            return "lit", None, _SQL_TYPES.get(sql_type, sql_type)
    return expr
