"""The Spark SQL text of a NaiveQuery: what stands inside MATCH_RECOGNIZE ( ... )."""

from __future__ import annotations

from naive import Expr, NaiveQuery, Pattern

ROWS_PER_MATCH = {
    "ONE": "ONE ROW PER MATCH",
    "ALL": "ALL ROWS PER MATCH",
    "ALL_OMIT_EMPTY": "ALL ROWS PER MATCH OMIT EMPTY MATCHES",
    "ALL_WITH_UNMATCHED": "ALL ROWS PER MATCH WITH UNMATCHED ROWS",
}


def render_clause(query: NaiveQuery) -> str:
    lines = []
    if query.partition_by:
        lines.append("PARTITION BY " + ", ".join(query.partition_by))
    if query.order_by:
        lines.append("ORDER BY " + ", ".join(render_order(*key) for key in query.order_by))
    if query.measures:
        lines.append("MEASURES " + ", ".join(f"{render_expr(expr)} AS {name}" for name, expr in query.measures))
    lines.append(ROWS_PER_MATCH[query.rows_per_match] + (" SHOW TIMEOUT MATCHES" if query.timeouts else ""))
    lines.append("AFTER MATCH SKIP " + render_skip(query.skip))
    lines.append(f"PATTERN ({render_pattern(query.pattern)})")
    if query.within is not None:
        lines.append(f"WITHIN {query.within}")
    if query.subsets:
        lines.append("SUBSET " + ", ".join(f"{name} = ({', '.join(members)})" for name, members in query.subsets))
    if query.define:
        lines.append("DEFINE " + ", ".join(f"{name} AS {render_expr(expr)}" for name, expr in query.define))
    return "\n".join(lines)


def render_order(column: str, descending: bool, nulls_first: bool) -> str:
    text = f"{column} DESC" if descending else column
    # Spark puts NULLs first in ascending order and last in descending; leave what is the default to the default.
    if nulls_first == (not descending):
        return text
    return text + (" NULLS FIRST" if nulls_first else " NULLS LAST")


def render_skip(skip: tuple[str, ...]) -> str:
    if skip[0] in ("FIRST", "LAST"):
        return f"TO {skip[0]} {skip[1]}"
    return {"PAST_LAST_ROW": "PAST LAST ROW", "NEXT_ROW": "TO NEXT ROW"}[skip[0]]


# ---------------------------------------------------------------------------------------------------- patterns


def render_pattern(pattern: Pattern) -> str:
    kind = pattern[0]
    if kind == "var":
        return str(pattern[1])
    if kind in ("empty", "start", "end"):
        return {"empty": "()", "start": "^", "end": "$"}[kind]
    if kind == "cat":
        return "(" + " ".join(render_pattern(part) for part in pattern[1]) + ")"
    if kind == "alt":
        return "(" + " | ".join(render_pattern(part) for part in pattern[1]) + ")"
    if kind == "perm":
        return "PERMUTE(" + ", ".join(render_pattern(part) for part in pattern[1]) + ")"
    if kind == "excl":
        return "{- " + render_pattern(pattern[1]) + " -}"
    if kind == "rep":
        body = render_pattern(pattern[1])
        # A quantifier applies to a primary, and a quantified pattern is not one.
        return (f"({body})" if pattern[1][0] in ("rep", "start", "end") else body) + render_quantifier(*pattern[2:])
    raise ValueError(f"unknown pattern {pattern!r}")


def render_quantifier(lo: int, hi: int | None, greedy: bool) -> str:
    short = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((lo, hi))
    if short is None:
        low, high = str(lo) if lo else "", "" if hi is None else str(hi)
        short = f"{{{lo}}}" if lo == hi else f"{{{low},{high}}}"
    return short if greedy else short + "?"


# ---------------------------------------------------------------------------------------------------- expressions


def render_expr(expr: Expr) -> str:
    kind = expr[0]
    if kind == "lit":
        return render_literal(*expr[1:])
    if kind == "col":
        return str(expr[2]) if expr[1] is None else f"{expr[1]}.{expr[2]}"
    if kind == "classifier":
        return f"CLASSIFIER({expr[1] or ''})"
    if kind == "match_number":
        return "MATCH_NUMBER()"
    if kind == "nav":
        _, name, inner, offset, mode = expr
        arguments = render_expr(inner) + ("" if offset is None else f", {offset}")
        return f"{render_mode(mode)}{name}({arguments})"
    if kind == "agg":
        _, name, args, star, distinct, mode = expr
        arguments = ("DISTINCT " if distinct else "") + render_list(args)
        if star is not None:
            arguments = "*" if star == "*" else f"{star}.*"
        return f"{render_mode(mode)}{name}({arguments})"
    if kind == "op":
        return "(" + render_operation(expr[1], [render_expr(arg) for arg in expr[2]]) + ")"
    if kind == "case":
        branches = "".join(f" WHEN {render_expr(when)} THEN {render_expr(then)}" for when, then in expr[1])
        return f"(CASE{branches}{'' if expr[2] is None else ' ELSE ' + render_expr(expr[2])} END)"
    if kind == "call":
        return f"{expr[1]}({render_list(expr[2])})"
    raise ValueError(f"unknown expression {expr!r}")


def render_list(exprs: tuple[Expr, ...]) -> str:
    return ", ".join(render_expr(expr) for expr in exprs)


def render_mode(mode: str | None) -> str:
    return "" if mode is None else mode + " "


def render_literal(value: object, sql_type: str | None = None) -> str:
    if value is None:
        return "NULL" if sql_type is None else f"CAST(NULL AS {sql_type})"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        # A quote or backslash would need escaping, which is not what these tests are about.
        assert "'" not in value and "\\" not in value
        return f"'{value}'"
    text = f"{value!r}D" if isinstance(value, float) else repr(value)
    return f"({text})" if text.startswith("-") else text


def render_operation(symbol: str, args: list[str]) -> str:
    if symbol == "NOT":
        return f"NOT {args[0]}"
    if symbol == "NEG":
        return f"- {args[0]}"
    if symbol in ("IS NULL", "IS NOT NULL"):
        return f"{args[0]} {symbol}"
    if symbol == "BETWEEN":
        return f"{args[0]} BETWEEN {args[1]} AND {args[2]}"
    if symbol == "IN":
        return f"{args[0]} IN ({', '.join(args[1:])})"
    return f" {symbol} ".join(args)
