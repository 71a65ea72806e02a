"""Conditions that cannot fail, for rows that the query itself would never bring together.

A join tests a condition on more pairs of rows than the search does: where it would divide by zero or overflow there,
the query must not fail. Spark has `try_` functions that give NULL instead, and a pair whose condition is not true is in
no match.
"""

from __future__ import annotations

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression

__all__ = ["unfailing"]

_TRY = {"+": "try_add", "-": "try_subtract", "*": "try_multiply", "/": "try_divide", "%": "try_mod"}
_SAFE_OPERATORS = frozenset(
    {"=", "<>", "<", "<=", ">", ">=", "AND", "OR", "NOT", "BETWEEN", "IN", "IS NULL", "IS NOT NULL", "||", "<=>"}
)
_SAFE_FUNCTIONS = frozenset(
    "coalesce nullif ifnull nvl least greatest upper lower length trim ltrim rtrim ceil floor sqrt "
    "year month day dayofmonth dayofweek dayofyear hour minute second quarter weekofyear".split()
)


def unfailing(expression: Expression) -> Expression | None:
    """The same condition, NULL where it would fail; None if that cannot be said of one of its functions."""
    match expression:
        case e.Literal() | e.Column() | e.Parameter():
            return expression
        case e.Operator(symbol="NEG", operands=(e.Literal(),)):
            return expression
        case e.Operator(symbol=symbol, operands=operands) if symbol in _TRY and len(operands) == 2:
            parts = _all(operands)
            return None if parts is None else e.Call(_TRY[symbol], parts)
        case e.Operator(symbol=symbol) if symbol not in _SAFE_OPERATORS:
            return None
        case e.Call(function="abs", arguments=(argument,)):
            part = unfailing(argument)
            # The least whole number has no opposite; `greatest` passes over NULL.
            return None if part is None else e.Call("greatest", (part, e.Call("try_subtract", (e.Literal("0"), part))))
        case e.Call(function=function) if function.lower() not in _SAFE_FUNCTIONS:
            return None
        case e.Operator() | e.Call() | e.Case():
            parts = _all(e.children(expression))
            if parts is None:
                return None
            rest = iter(parts)
            return e.rebuild(expression, lambda _: next(rest))
        case _:
            return None


def _all(expressions: tuple[Expression, ...]) -> tuple[Expression, ...] | None:
    found = [unfailing(expression) for expression in expressions]
    kept = tuple(part for part in found if part is not None)
    return kept if len(kept) == len(found) else None
