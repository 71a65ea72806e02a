"""The arrays that a kernel reads, and the aggregates over them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from trellis.algebra import expression as e
from trellis.algebra.automaton import AggregateSpec
from trellis.algebra.expression import Expression
from trellis.algebra.scan import SlotSource
from trellis.analysis.types import MOST_DIGITS, Kind, Type
from trellis.errors import UnsupportedError
from trellis.kernels import opcodes as o
from trellis.planning.expressions.columns import Columns

__all__ = [
    "SlotTable",
    "aggregate_kind",
    "cast",
    "filtered_arguments",
    "is_between",
    "is_computed",
    "is_in_kernel",
    "labelled",
    "plain",
]

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
_IN_KERNEL = frozenset((*_SPREAD, *_LEAST, *_GREATEST, "any_value", "count", "count_if", "sum", "avg", "mean"))
"""The aggregates that kernels compute, of the types that they hold."""

_DOUBLE = Type(Kind.FLOAT)
_LONG = Type(Kind.INTEGER)


def is_in_kernel(node: e.BoundAggregate) -> bool:
    """Whether kernels have an aggregate, for the types that they hold; `any_value(x, TRUE)` looks for a value."""
    looks = node.function == "any_value" and len(node.arguments) > 1
    return node.function in _IN_KERNEL and not node.order and not node.nulls and not looks


@dataclass(slots=True)
class SlotTable:
    """The slots of one kernel, each held once."""

    variables: tuple[str, ...]
    sources: dict[SlotSource, int] = field(default_factory=dict)
    pairs: dict[Expression, str] = field(default_factory=dict)

    def add(self, value: Expression, type_: Type, columns: Columns) -> int:
        """The number of the slot that holds an expression."""
        column = columns.ship(value)
        if type_.is_wide:
            number = self._number(SlotSource(column, "low"))
            self._number(SlotSource(column, "high"))
            return number
        return self._number(SlotSource(column, _held(type_)))

    def add_pair(self, pair: e.Pair, columns: Columns) -> int:
        """The number of the slot that holds the values of pairs of rows."""
        type_ = columns.require_type(pair.value)
        name = self.pairs.setdefault(pair.value, f"__pair{len(self.pairs)}")
        column = e.Column((name,))
        columns.types.setdefault(column, f"array<{columns.type_text(pair.value)}>")
        return self._number(SlotSource(columns.ship(column), f"pair {_held(type_)}"))

    def aggregate(
        self, node: e.BoundAggregate, columns: Columns, *, in_condition: bool = True
    ) -> tuple[AggregateSpec, Type]:
        """How a kernel computes an aggregate, and the type of its value.

        In a condition the kernel gives the value of MAX_BY itself, in a measure the row that holds it.
        """
        function = node.function
        if not is_in_kernel(node):
            raise _unknown(node)
        arguments = filtered_arguments(node, columns)
        kind, type_ = aggregate_kind(
            node, arguments, lambda value: columns.held_type(plain(value)), in_condition=in_condition
        )
        measured = arguments[-1] if function in ("max_by", "min_by") else arguments[0] if arguments else None
        slots: tuple[int, ...]
        if measured is None:
            slots = (o.EVERY_ROW,) * len(self.variables)
        else:
            slots = tuple(self._argument(labelled(measured, name), kind, columns, node) for name in self.variables)
        second = self.seconds(node, columns) if in_condition else ()
        previous = o.NO_CHAIN
        if slots and _counts_once(node):
            previous = self._number(SlotSource("", "previous", slots[0]))
            if len(set(slots)) > 1:
                float_ = any(source.held == "float" for source, slot in self.sources.items() if slot in slots)
                previous = o.LOOK_BACK_FLOAT if float_ else o.LOOK_BACK_INT
        wide = any(source.held == "low" for source, slot in self.sources.items() if slot in slots)
        return AggregateSpec(kind, node.variables, slots, second, previous, node.final, wide=wide), type_

    def computed(
        self, node: e.BoundAggregate, kind: int, argument: Type, begin: int, end: int, columns: Columns
    ) -> AggregateSpec:
        """How a kernel computes an aggregate whose argument is a program."""
        previous = (o.LOOK_BACK_FLOAT if argument.is_float else o.LOOK_BACK_INT) if _counts_once(node) else o.NO_CHAIN
        slots = (o.COMPUTED,) * len(self.variables)
        return AggregateSpec(kind, node.variables, slots, self.seconds(node, columns), previous, False, begin, end)

    def seconds(self, node: e.BoundAggregate, columns: Columns) -> tuple[int, ...]:
        """The slots of the value that MAX_BY and MIN_BY return, for each variable."""
        if node.function not in ("max_by", "min_by"):
            return ()
        values = [labelled(node.arguments[0], name) for name in self.variables]
        return tuple(self.add(value, columns.held_type(value), columns) for value in values)

    def _argument(self, value: Expression, kind: int, columns: Columns, node: e.BoundAggregate) -> int:
        if kind in (o.AVG, o.SUM_FLOAT) or o.VAR_SAMP <= kind <= o.STDDEV_POP:
            value = cast(value, "DOUBLE", columns)
        if kind == o.COUNT and not node.distinct and columns.type_of(value) is None:
            # Only whether there is a value matters.
            value = e.Case(((e.Operator("IS NOT NULL", (value,)), e.Literal("TRUE")),))
            columns.types.setdefault(value, "boolean")
        return self.add(value, columns.held_type(value), columns)

    def _number(self, source: SlotSource) -> int:
        return self.sources.setdefault(source, len(self.sources))


def _unknown(node: e.BoundAggregate) -> UnsupportedError:
    return UnsupportedError(
        f"The aggregate {node.function} cannot be computed while a match is searched.",
        cure=f"Conditions know {', '.join(sorted(_IN_KERNEL))}; others are computed of whole matches.",
        span=node.span,
    )


def _held(type_: Type) -> str:
    return "float" if type_.is_float else "code" if type_.kind is Kind.STRING else "int"


def is_between(argument: Expression) -> bool:
    """Whether an argument of an aggregate reads more than the columns and the label of a row."""
    return any(isinstance(part, (e.At, e.ClassifierAt, e.MatchNumber, e.Pair)) for part in e.walk(argument))


def is_computed(node: e.BoundAggregate) -> bool:
    """Whether the argument of an aggregate is a program."""
    return any(map(is_between, node.arguments))


def aggregate_kind(
    node: e.BoundAggregate,
    arguments: tuple[Expression, ...],
    type_of: Callable[[Expression], Type],
    *,
    in_condition: bool = True,
) -> tuple[int, Type]:
    """What a kernel does for an aggregate, and the type of its value."""
    function = node.function
    if function not in _IN_KERNEL:
        raise _unknown(node)
    if function in ("count", "count_if"):
        return o.COUNT, _LONG
    if function in _SPREAD:
        return _SPREAD[function], _DOUBLE
    type_ = type_of(arguments[-1] if function in ("max_by", "min_by") else arguments[0])
    if function in ("sum", "avg", "mean") and type_.kind is Kind.DECIMAL:
        # Spark's rules: ten more digits for a sum, four more behind the point for a mean of it.
        total = Type(Kind.DECIMAL, precision=min(MOST_DIGITS, type_.precision + 10), scale=type_.scale)
        digits, scale = (min(MOST_DIGITS, number + 4) for number in (type_.precision, type_.scale))
        mean = Type(Kind.DECIMAL, precision=digits, scale=scale)
        return (o.SUM_WIDE if total.is_wide else o.SUM_INT), (total if function == "sum" else mean)
    if function in ("avg", "mean"):
        return o.AVG, _DOUBLE
    if function == "sum" and type_.kind in (Kind.INTEGER, Kind.INTERVAL):
        return o.SUM_INT, Type(type_.kind)
    if function == "sum" and type_.is_float:
        return o.SUM_FLOAT, _DOUBLE
    if function in _LEAST or function in _GREATEST:
        by = function in ("max_by", "min_by") and in_condition
        value = type_of(arguments[0]) if by else type_
        least = function in _LEAST
        if type_.is_float:
            return (o.MIN_FLOAT if least else o.MAX_FLOAT), value
        if type_.is_wide:
            return (o.MIN_WIDE if least else o.MAX_WIDE), value
        return (o.MIN_INT if least else o.MAX_INT), value
    raise UnsupportedError(
        f"A condition cannot compute the aggregate {function} of {type_.kind.value} values.",
        cure=f"Cast the argument: {function}(CAST(x AS DOUBLE)); or compute it of whole matches, in MEASURES.",
        span=node.span,
    )


def _counts_once(node: e.BoundAggregate) -> bool:
    """Whether equal values count once, and that matters."""
    return node.distinct and node.function in ("count", "sum", "avg", "mean")


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
    if columns.type_text(plain(value)) not in ("float", "double"):
        return value
    return e.Operator("+", (value, e.Literal("0")))


def labelled(value: Expression, variable: str) -> Expression:
    """The value in a row of a variable: CLASSIFIER() is the name of that variable."""
    if isinstance(value, e.Classifier):
        escaped = variable.replace("\\", "\\\\").replace("'", "\\'")
        return e.Literal(f"'{escaped}'", span=value.span)
    return e.rebuild(value, lambda child: labelled(child, variable))


def plain(value: Expression) -> Expression:
    """The value with some name for CLASSIFIER() and some number for MATCH_NUMBER(), to ask for its type."""
    match value:
        case e.Classifier():
            return labelled(value, "")
        case e.MatchNumber():
            return e.Literal("1L")
        case _:
            return e.rebuild(value, plain)
