"""The columns that a plan asks of Spark, each computed once however often it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trellis.algebra.expression import Expression
from trellis.analysis.source import TypesOf
from trellis.analysis.types import MOST_DIGITS, NARROW_DIGITS, Type, type_from_spark
from trellis.errors import UnsupportedError

__all__ = ["Columns"]


@dataclass(slots=True)
class Columns:
    """Expressions over the input, and the names under which they are projected."""

    types_of: TypesOf
    names: dict[Expression, str] = field(default_factory=dict)
    types: dict[Expression, str] = field(default_factory=dict)
    shipped: dict[str, None] = field(default_factory=dict)

    def learn(self, expressions: Sequence[Expression]) -> None:
        """Ask for the types of many expressions at once."""
        unknown = [expression for expression in dict.fromkeys(expressions) if expression not in self.types]
        if unknown:
            self.types.update(zip(unknown, self.types_of(unknown), strict=True))

    def type_text(self, expression: Expression) -> str:
        """Spark's name of the type of an expression."""
        self.learn([expression])
        return self.types[expression]

    def type_of(self, expression: Expression) -> Type | None:
        """The kernel type of an expression, None if kernels cannot hold it."""
        return type_from_spark(self.type_text(expression))

    def require_type(self, expression: Expression, digits: int = NARROW_DIGITS) -> Type:
        """As `type_of`, with an error where kernels cannot hold the type; `digits` are those of decimals."""
        text = self.type_text(expression)
        found = type_from_spark(text, digits)
        if found is None:
            raise UnsupportedError(
                f"While a match is searched, conditions cannot hold the type {text} of {expression}.",
                cure="Cast it, for example to DOUBLE, DECIMAL(18, s), BIGINT, STRING or TIMESTAMP.",
                span=expression.span,
            )
        return found

    def held_type(self, expression: Expression) -> Type:
        """As `require_type`, with decimals of all lengths: what conditions of rows can hold."""
        return self.require_type(expression, MOST_DIGITS)

    def project(self, expression: Expression) -> str:
        """The name of the projected column of an expression."""
        return self.names.setdefault(expression, f"__t{len(self.names)}")

    def ship(self, expression: Expression) -> str:
        """As `project`, for a column that the matcher reads."""
        name = self.project(expression)
        self.shipped[name] = None
        return name
