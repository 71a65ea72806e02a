"""The arrays that a kernel reads, and the aggregates over them."""

from __future__ import annotations

from dataclasses import dataclass, field

from trellis.algebra import expression as e
from trellis.algebra.automaton import AggregateSpec
from trellis.algebra.expression import Expression
from trellis.algebra.scan import SlotSource
from trellis.analysis.types import Kind, Type
from trellis.errors import UnsupportedError
from trellis.kernels import opcodes as o
from trellis.planning.expressions.columns import Columns

__all__ = ["IN_KERNEL", "SlotTable", "cast", "filtered_arguments", "labelled"]

_SPREAD = {
    "stddev": o.STDDEV_SAMP,
    "std": o.STDDEV_SAMP,
    "stddev_samp": o.STDDEV_SAMP,
    "stddev_pop": o.STDDEV_POP,
    "variance": o.VAR_SAMP,
    "var_samp": o.VAR_SAMP,
    "var_pop": o.VAR_POP,
}
_LEAST = ("min", "min_by", "bool_and", "every")
_GREATEST = ("max", "max_by", "bool_or", "any", "some")
IN_KERNEL = frozenset((*_SPREAD, *_LEAST, *_GREATEST, "count", "count_if", "sum", "avg", "mean"))
"""The aggregates that kernels compute, of the types that they hold."""

_DOUBLE = Type(Kind.FLOAT)
_LONG = Type(Kind.INTEGER)


@dataclass(slots=True)
class SlotTable:
    """The slots of one kernel, each held once."""

    variables: tuple[str, ...]
    sources: dict[SlotSource, int] = field(default_factory=dict)
    pairs: dict[Expression, str] = field(default_factory=dict)

    def add(self, value: Expression, type_: Type, columns: Columns) -> int:
        """The number of the slot that holds an expression."""
        held = "float" if type_.is_float else "code" if type_.kind is Kind.STRING else "int"
        return self._number(SlotSource(columns.ship(value), held))

    def add_pair(self, pair: e.Pair, columns: Columns) -> int:
        """The number of the slot that holds the values of pairs of rows."""
        type_ = columns.require_type(pair.value)
        if type_.kind is Kind.STRING:
            raise UnsupportedError("A text made of two rows must be compared there and then.", span=pair.span)
        name = self.pairs.setdefault(pair.value, f"__pair{len(self.pairs)}")
        column = e.Column((name,))
        columns.types.setdefault(column, f"array<{columns.type_text(pair.value)}>")
        return self._number(SlotSource(columns.ship(column), "pair float" if type_.is_float else "pair int"))

    def aggregate(
        self, node: e.BoundAggregate, columns: Columns, *, in_condition: bool = True
    ) -> tuple[AggregateSpec, Type]:
        """How a kernel computes an aggregate, and the type of its value.

        In a condition the kernel gives the value of MAX_BY itself, in a measure the row that holds it.
        """
        function = node.function
        if function not in IN_KERNEL or node.order or node.nulls:
            raise UnsupportedError(
                f"The aggregate {function} cannot be computed while a match is searched.",
                cure=f"DEFINE knows {', '.join(sorted(IN_KERNEL))}; others stand in MEASURES.",
                span=node.span,
            )
        arguments = filtered_arguments(node, columns)
        kind, type_ = self._kind(node, arguments, columns, in_condition)
        measured = arguments[-1] if function in ("max_by", "min_by") else arguments[0] if arguments else None
        slots: tuple[int, ...]
        if measured is None:
            slots = (o.EVERY_ROW,) * len(self.variables)
        else:
            slots = tuple(self._argument(labelled(measured, name), kind, columns) for name in self.variables)
        second: tuple[int, ...] = ()
        if function in ("max_by", "min_by") and in_condition:
            values = [labelled(arguments[0], name) for name in self.variables]
            second = tuple(self.add(value, columns.require_type(value), columns) for value in values)
        previous = -1
        if slots and node.distinct and function in ("count", "sum", "avg", "mean"):
            if len(set(slots)) > 1:
                raise UnsupportedError(
                    "DISTINCT over a value that depends on CLASSIFIER() is not supported.", span=node.span
                )
            previous = self._number(SlotSource("", "previous", slots[0]))
        return AggregateSpec(kind, node.variables, slots, second, previous, node.final), type_

    def _kind(
        self, node: e.BoundAggregate, arguments: tuple[Expression, ...], columns: Columns, in_condition: bool
    ) -> tuple[int, Type]:
        function = node.function
        if function in ("count", "count_if"):
            return o.COUNT, _LONG
        if function in _SPREAD:
            return _SPREAD[function], _DOUBLE
        measured = arguments[-1] if function in ("max_by", "min_by") else arguments[0]
        type_ = columns.require_type(_plain(measured))
        if function in ("avg", "mean") and type_.kind is not Kind.DECIMAL:
            return o.AVG, _DOUBLE
        if function == "sum" and type_.kind in (Kind.INTEGER, Kind.DECIMAL, Kind.INTERVAL):
            return o.SUM_INT, Type(type_.kind, precision=18, scale=type_.scale)
        if function == "sum" and type_.is_float:
            return o.SUM_FLOAT, _DOUBLE
        if function in _LEAST or function in _GREATEST:
            by = function in ("max_by", "min_by") and in_condition
            value = columns.require_type(_plain(arguments[0])) if by else type_
            least = function in _LEAST
            if type_.is_float:
                return (o.MIN_FLOAT if least else o.MAX_FLOAT), value
            return (o.MIN_INT if least else o.MAX_INT), value
        raise UnsupportedError(
            f"The aggregate {function} of this type is not supported in a condition.",
            cure="Cast the argument to DOUBLE, or compute it in MEASURES.",
            span=node.span,
        )

    def _argument(self, value: Expression, kind: int, columns: Columns) -> int:
        if kind in (o.AVG, o.SUM_FLOAT) or o.VAR_SAMP <= kind <= o.STDDEV_POP:
            value = cast(value, "DOUBLE", columns)
        type_ = columns.type_of(value)
        if type_ is None and kind == o.COUNT:
            # Only whether there is a value matters.
            value = e.Case(((e.Operator("IS NOT NULL", (value,)), e.Literal("TRUE")),))
            columns.types.setdefault(value, "boolean")
        return self.add(value, columns.require_type(value), columns)

    def _number(self, source: SlotSource) -> int:
        return self.sources.setdefault(source, len(self.sources))


def cast(value: Expression, type_: str, columns: Columns) -> Expression:
    """The value as another type, unless it has that type already."""
    if columns.type_text(value) == type_.lower():
        return value
    converted = e.Raw(("CAST(", value, f" AS {type_})"), span=value.span)
    columns.types.setdefault(converted, type_.lower())
    return converted


def filtered_arguments(node: e.BoundAggregate, columns: Columns) -> tuple[Expression, ...]:
    """The arguments, NULL where the condition of FILTER does not hold: aggregates pass over NULLs."""
    arguments, condition = node.arguments, node.condition
    if node.function == "count_if":
        arguments = (e.Case(((arguments[0], e.Literal("TRUE")),)),)
    elif node.function == "count" and len(arguments) > 1:
        present = tuple(e.Operator("IS NOT NULL", (argument,)) for argument in arguments)
        # Several values that must differ together are one text.
        together = e.Call("struct", tuple(_unsigned(argument, columns) for argument in arguments))
        value = e.Call("to_json", (together,)) if node.distinct else e.Literal("TRUE")
        arguments = (e.Case(((e.Operator("AND", present), value),)),)
    if condition is None:
        return arguments
    if not arguments:
        return (e.Case(((condition, e.Literal("TRUE")),)),)
    *others, last = arguments if node.function in ("max_by", "min_by") else arguments[:1]
    rest = () if node.function in ("max_by", "min_by") else arguments[1:]
    return (*others, e.Case(((condition, last),)), *rest)


def _unsigned(value: Expression, columns: Columns) -> Expression:
    """A float without the sign of zero, which its text would show."""
    if columns.type_text(labelled(value, "")) not in ("float", "double"):
        return value
    return e.Operator("+", (value, e.Literal("0")))


def labelled(value: Expression, variable: str) -> Expression:
    """The value in a row of a variable: CLASSIFIER() is the name of that variable."""
    if isinstance(value, e.Classifier):
        escaped = variable.replace("\\", "\\\\").replace("'", "\\'")
        return e.Literal(f"'{escaped}'", span=value.span)
    return e.rebuild(value, lambda child: labelled(child, variable))


def _plain(value: Expression) -> Expression:
    """The value with some name for CLASSIFIER(), to ask for its type."""
    return labelled(value, "")
