"""The types of expressions between rows, by Spark's rules of coercion."""

from __future__ import annotations

from dataclasses import dataclass

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.analysis.types import MOST_DIGITS, Kind, Type, as_decimal, common_type, decimal_result
from trellis.errors import BindingError, UnsupportedError
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.literals import read_literal
from trellis.planning.expressions.operators import ARITHMETIC, FLOAT_FUNCTIONS
from trellis.planning.expressions.slots import SlotTable, aggregate_kind, is_between, is_computed, labelled

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
                return self.columns.held_type(value)
            case e.Pair(value=value):
                return self.columns.held_type(value)
            case e.Literal(text=text):
                literal = read_literal(text)
                return literal[0] if literal else self.columns.held_type(expression)
            case e.ClassifierAt():
                return Type(Kind.STRING)
            case e.MatchNumber():
                return _LONG
            case e.BoundAggregate(arguments=arguments) if is_computed(expression):
                return aggregate_kind(expression, arguments, self.of_argument)[1]
            case e.BoundAggregate():
                return self.slots.aggregate(expression, self.columns)[1]
            case e.Operator(symbol="NEG", operands=(operand,)):
                return self.infer(operand)
            case e.Operator(symbol=symbol, operands=(left, right)) if symbol in ARITHMETIC:
                return self._arithmetic_type(expression, symbol, left, right)
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

    def of_argument(self, argument: Expression) -> Type:
        """The type of an argument of an aggregate: over the columns of a row, or between rows."""
        return self.infer(argument) if is_between(argument) else self.columns.held_type(labelled(argument, ""))

    def common(self, left: Type, right: Type) -> Type | None:
        """The type to which two values are brought, None if there is none."""
        found = common_type(left, right)
        if found is None or found.kind is not Kind.DECIMAL or found.precision <= MOST_DIGITS:
            return found
        return self._ask(f"coalesce({_null(left)}, {_null(right)})")

    def decimal_operand(self, expression: Expression) -> Type:
        """The type of an operand beside a decimal; a whole number as written has no more digits than it shows."""
        type_ = self.infer(expression)
        literal = expression
        if isinstance(expression, e.Operator) and expression.symbol == "NEG":
            literal = expression.operands[0]
        if type_.kind is Kind.INTEGER and isinstance(literal, e.Literal):
            found = read_literal(literal.text)
            return Type(Kind.DECIMAL, precision=len(str(found[1] if found else 0)))
        return as_decimal(type_)

    def _ask(self, text: str) -> Type:
        """Where 38 digits are not enough, settings decide which of them are kept: Spark knows."""
        return self.columns.held_type(e.Raw((text,)))

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
            case ("raise_error", 0):
                return Type(Kind.NULL)
            case _:
                raise unsupported(expression)

    def _common(self, expression: Expression, values: list[Expression]) -> Type:
        common = Type(Kind.NULL)
        for value in values:
            wider = self.common(common, self.infer(value))
            if wider is None:
                raise mismatch(expression, common, self.infer(value))
            common = wider
        return common

    def _arithmetic_type(self, expression: Expression, symbol: str, one: Expression, other: Expression) -> Type:
        left, right = self.infer(one), self.infer(other)
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
            a, b = self.decimal_operand(one), self.decimal_operand(other)
            result = decimal_result(symbol, a, b)
            if result.precision <= MOST_DIGITS:
                return result
            return self._ask(f"{_null(a)} {symbol} {_null(b)}")
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


def _null(type_: Type) -> str:
    held = as_decimal(type_)
    return f"CAST(NULL AS DECIMAL({held.precision}, {held.scale}))"


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
