"""Conditions of the commonest shape are recognised: `last(x) / first(x) < 0.7`, `linear_regression_r2(t, x) >= 0.9`.

Kernels test these over whole search spaces, without arrays between the steps.
"""

from __future__ import annotations

from collections.abc import Mapping

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.algebra.segments import Function, Read, SegmentValue, Threshold
from trellis.analysis.types import Kind
from trellis.planning.expressions.literals import read_literal
from trellis.planning.expressions.operators import COMPARISONS

__all__ = ["find_threshold"]

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}


def find_threshold(condition: Expression, values: Mapping[e.Column, SegmentValue]) -> Threshold | None:
    """The threshold that a condition is, None if it is another one. `values` are what its columns stand for."""
    flag = _value(condition, values)
    if isinstance(flag, Read) and flag == Read(flag.slot, "", flag.from_first):
        # A truth value that Spark computed for each row.
        return Threshold("row", (flag.slot,), COMPARISONS["<>"], 0.0, turned=flag.from_first)
    if not isinstance(condition, e.Operator) or condition.symbol not in _TURNED:
        return None
    left, right = condition.operands
    symbol = condition.symbol
    if _constant(left) is not None:
        left, right, symbol = right, left, _TURNED[symbol]
    bound = _constant(right)
    if bound is None:
        # `last(x) < first(x)` is `last(x) - first(x) < 0`, but for values that are too far apart.
        one, other = _value(left, values), _value(right, values)
        return _step("-", one, other, symbol, 0.0)
    if isinstance(left, e.Operator) and left.symbol in ("-", "/") and len(left.operands) == 2:
        one, other = (_value(operand, values) for operand in left.operands)
        return _step(left.symbol, one, other, symbol, bound)
    function = _value(left, values)
    if isinstance(function, Function) and set(function.variables) == {""}:
        return Threshold(function.name, function.slots, COMPARISONS[symbol], bound)
    return None


def _step(
    operator: str, one: SegmentValue | None, other: SegmentValue | None, symbol: str, bound: float
) -> Threshold | None:
    match (one, other):
        case (Read(slot, "", from_first, 0, 0), Read(same, "", turned, 0, 0)) if slot == same and from_first != turned:
            return Threshold(operator, (slot,), COMPARISONS[symbol], bound, turned=from_first)
    return None


def _value(expression: Expression, values: Mapping[e.Column, SegmentValue]) -> SegmentValue | None:
    if isinstance(expression, e.At) and isinstance(expression.value, e.Column):
        return values.get(expression.value)
    return None


def _constant(expression: Expression) -> float | None:
    """The number that an expression of literals is."""
    match expression:
        case e.Literal(text=text):
            literal = read_literal(text)
            if literal is None or literal[1] is None or literal[0].kind not in (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT):
                return None
            assert not isinstance(literal[1], str)
            return literal[1] / 10 ** literal[0].scale if literal[0].kind is Kind.DECIMAL else float(literal[1])
        case e.Operator(symbol="NEG", operands=(operand,)):
            value = _constant(operand)
            return None if value is None else -value
        case e.Operator(symbol="/", operands=(left, right)):
            one, other = _constant(left), _constant(right)
            return None if one is None or not other else one / other
    return None
