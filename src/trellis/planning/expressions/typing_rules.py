"""The types of expressions between rows, by Spark's rules of coercion."""

from __future__ import annotations

from dataclasses import dataclass

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.analysis.types import Kind, Type, as_decimal, common_type
from trellis.errors import BindingError, UnsupportedError
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.literals import read_literal
from trellis.planning.expressions.operators import ARITHMETIC, FLOAT_FUNCTIONS
from trellis.planning.expressions.slots import SlotTable

__all__ = ["BOOLEAN", "DOUBLE", "INSTANTS", "NotInKernelError", "TypingRules", "mismatch", "unsupported"]

BOOLEAN = Type(Kind.BOOLEAN)
DOUBLE = Type(Kind.FLOAT)
INSTANTS = (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ)
_LONG = Type(Kind.INTEGER)
_INTERVAL = Type(Kind.INTERVAL)


@dataclass(frozen=True, slots=True)
class TypingRules:
    """Finds the types of expressions over the columns and slots of a query."""

    columns: Columns
    slots: SlotTable

    def infer(self, expression: Expression) -> Type:
        """The type of an expression between rows."""
        match expression:
            case e.At(value=value):
                return self.columns.require_type(value)
            case e.Pair(value=value):
                return self.columns.require_type(value)
            case e.Literal(text=text):
                literal = read_literal(text)
                return literal[0] if literal else self.columns.require_type(expression)
            case e.ClassifierAt():
                return Type(Kind.STRING)
            case e.MatchNumber():
                return _LONG
            case e.BoundAggregate():
                return self.slots.aggregate(expression, self.columns)[1]
            case e.Operator(symbol="NEG", operands=(operand,)):
                return self.infer(operand)
            case e.Operator(symbol=symbol, operands=(left, right)) if symbol in ARITHMETIC:
                return self._arithmetic_type(expression, symbol, self.infer(left), self.infer(right))
            case e.Operator(symbol="||"):
                raise unsupported(expression)
            case e.Operator():
                return BOOLEAN
            case e.Case(branches=branches, otherwise=otherwise):
                values = [value for _, value in branches] + ([] if otherwise is None else [otherwise])
                return self._common(expression, values)
            case e.Call(function=function, arguments=arguments):
                return self._call_type(expression, function, arguments)
            case _:
                raise unsupported(expression)

    def _call_type(self, expression: Expression, function: str, arguments: tuple[Expression, ...]) -> Type:
        match (function, len(arguments)):
            case ("coalesce" | "least" | "greatest", n) if n > 0:
                return self._common(expression, list(arguments))
            case ("nvl" | "ifnull", 2):
                return self._common(expression, list(arguments))
            case ("nullif", 2):
                return self.infer(arguments[0])
            case ("if" | "iff", 3):
                return self._common(expression, list(arguments[1:]))
            case ("abs", 1):
                return self.infer(arguments[0])
            case ("floor" | "ceil" | "ceiling", 1) if self.infer(arguments[0]).is_float:
                return _LONG
            case ("power" | "pow", 2):
                return DOUBLE
            case ("datediff" | "date_diff", 2) if all(self.infer(a).kind is Kind.DATE for a in arguments):
                return Type(Kind.INTEGER, 32)
            case (name, 1) if name in FLOAT_FUNCTIONS:
                return DOUBLE
            case _:
                raise unsupported(expression)

    def _common(self, expression: Expression, values: list[Expression]) -> Type:
        common = Type(Kind.NULL)
        for value in values:
            wider = common_type(common, self.infer(value))
            if wider is None:
                raise mismatch(expression, common, self.infer(value))
            common = wider
        return common

    def _arithmetic_type(self, expression: Expression, symbol: str, left: Type, right: Type) -> Type:
        if left.kind is Kind.NULL or right.kind is Kind.NULL:
            return right if left.kind is Kind.NULL else left
        kinds = (left.kind, right.kind)
        if left.is_number and right.is_number:
            if symbol == "DIV":
                return _LONG
            if left.is_float or right.is_float:
                both = left.is_float and right.is_float
                return Type(Kind.FLOAT, max(left.bits, right.bits) if both and symbol != "/" else 64)
            if kinds == (Kind.INTEGER, Kind.INTEGER):
                return DOUBLE if symbol == "/" else left if left.bits >= right.bits else right
            a, b = as_decimal(left), as_decimal(right)
            if symbol == "/":
                raise NotInKernelError(
                    "A division of decimals between rows is not supported.",
                    cure="Cast one side to DOUBLE.",
                    span=expression.span,
                )
            scale = a.scale + b.scale if symbol == "*" else max(a.scale, b.scale)
            return Type(Kind.DECIMAL, precision=18, scale=scale)
        if symbol == "-" and left.kind is right.kind and left.kind in (*INSTANTS, Kind.DATE):
            return _INTERVAL
        if symbol in "+-" and left.kind in INSTANTS and right.kind is Kind.INTERVAL:
            return left
        if symbol == "+" and left.kind is Kind.INTERVAL and right.kind in INSTANTS:
            return right
        if symbol in "+-" and kinds == (Kind.INTERVAL, Kind.INTERVAL):
            return left
        if symbol in "+-" and left.kind is Kind.DATE and right.kind is Kind.INTEGER:
            return left
        if symbol == "*" and set(kinds) == {Kind.INTERVAL, Kind.INTEGER}:
            return _INTERVAL
        raise mismatch(expression, left, right)


class NotInKernelError(UnsupportedError):
    """Kernels cannot compute this, but Spark can: a function of two rows may become a table of pairs."""


def unsupported(expression: Expression) -> NotInKernelError:
    """The error for what kernels cannot compute."""
    return NotInKernelError(
        f"A condition cannot compute this between several rows: {expression}.",
        cure="Apply the function to the columns of one row at a time, or compute a column before the match.",
        span=expression.span,
    )


def mismatch(expression: Expression, left: Type, right: Type) -> BindingError:
    """The error for two types that do not go together."""
    return BindingError(
        f"The types {left.kind.value} and {right.kind.value} do not go together.",
        cure="Cast one of them.",
        span=expression.span,
    )
