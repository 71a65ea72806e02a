"""Measures: what the matcher reads from a match, and what Spark finishes from it.

Every value that stands in a row, and every aggregate, becomes an output column of the matcher. What is around them
(arithmetic, functions, CASE) is computed by Spark afterwards, on rows of the result only, with Spark's own types:

    last(UP.price) / first(A.price) - 1
    matcher: __m0 = [price @ LAST(UP)], __m1 = [price @ FIRST(A)]      Spark: __m0 / __m1 - 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from trellis.algebra import expression as e
from trellis.algebra.automaton import AggregateSpec
from trellis.algebra.expression import Expression
from trellis.algebra.place import Place
from trellis.algebra.plan import GroupedRows
from trellis.algebra.scan import Gather, Label, ListAggregate, Number, OfGraph, Output, Present, Value
from trellis.analysis.types import Kind
from trellis.kernels import opcodes as o
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.hoist_slots import calls_registered, is_cast, may_fail
from trellis.planning.expressions.slots import SlotTable, filtered_arguments, is_in_kernel, labelled, plain
from trellis.planning.rows.grouped_rows import GroupedAggregates
from trellis.planning.rows.list_aggregates import can_list, finish_list

__all__ = ["RowMeasures"]

_DEFERRED = ("sum", "avg", "mean", "min", "max", "count", "array_agg", "collect_list", "collect_set")
_SUMS = ("sum", "avg", "mean")
_EXTREMES = ("min", "max", "min_by", "max_by", "bool_and", "every", "bool_or", "any", "some")
_SPREADS = ("std", "stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop")


@dataclass(slots=True)
class RowMeasures:
    """Collects the outputs of the matcher that the measures need."""

    columns: Columns
    slots: SlotTable
    places: dict[Place, int] = field(default_factory=dict)
    aggregates: dict[AggregateSpec, int] = field(default_factory=dict)
    outputs: dict[Output, str] = field(default_factory=dict)
    lenient: bool = False
    grouped: GroupedAggregates = field(init=False)

    def __post_init__(self) -> None:
        self.grouped = GroupedAggregates(self.columns)

    def finish(self, measure: Expression) -> Expression:
        """The measure over the outputs of the matcher."""
        match measure:
            case e.At(value=value, place=place):
                return self._value(value, place)
            case e.ClassifierAt(place=place):
                return self.output(Label(self._place(place)))
            case e.MatchNumber():
                return self.output(Number())
            case e.OfMatches(what=what, event=event):
                return self.output(OfGraph(what, "" if event is None else self.columns.ship(event)))
            case e.BoundAggregate():
                return self._aggregate(measure)
            case e.Call(function="struct", arguments=arguments):
                return replace(measure, arguments=tuple(map(self._field, arguments)))
            case _:
                return e.rebuild(measure, self.finish)

    def _field(self, argument: Expression) -> Expression:
        """An argument of `struct`; a column names its field, and outputs of the matcher have names of their own."""
        finished = self.finish(argument)
        if isinstance(argument, e.At) and isinstance(argument.value, e.Column):
            return e.Raw((finished, f" AS {e.Identifier(argument.value.path[-1], quoted=True)}"))
        return finished

    def output(self, output: Output) -> e.Column:
        """The output column of the matcher, as a column."""
        return e.Column((self.outputs.setdefault(output, f"__m{len(self.outputs)}"),))

    def carried(self, column: Expression) -> e.Column:
        """The value of an input expression in the row that an output row stands for."""
        return self.output(Gather(self.columns.ship(column), -1))

    def _value(self, value: Expression, place: Place) -> Expression:
        number = self._place(place)

        def read(node: Expression) -> Expression:
            match node:
                case e.Column():
                    return self.output(Gather(self.columns.ship(node), number))
                case e.Classifier():
                    return self.output(Label(number))
                case e.MatchNumber():
                    return self.output(Number())
                case _:
                    return e.rebuild(node, read)

        if isinstance(value, e.Column):
            return read(value)
        if calls_registered(value):
            return self.output(Gather(self.columns.ship(value), number))
        # A navigation to a row that does not exist is NULL, whatever the function would make of NULLs.
        return e.Case(((self.output(Present(number)), read(value)),))

    def _place(self, place: Place) -> int:
        return self.places.setdefault(place, len(self.places))

    def groups(self) -> tuple[GroupedRows, ...]:
        """What Spark groups after the match; asks the matcher for more outputs."""
        return self.grouped.finish(self.slots.variables, self.output)

    def _aggregate(self, node: e.BoundAggregate) -> Expression:
        if not is_in_kernel(node) and not can_list(node):
            return self.grouped.add(node)
        arguments = filtered_arguments(node, self.columns)
        if node.function == "any_value" and node.condition is None:
            return self._value(arguments[0], Place(node.variables, from_first=True, final=node.final))
        if any(isinstance(part, e.MatchNumber) for argument in arguments for part in e.walk(argument)):
            return self._numbered(node, arguments)
        if self._should_wait(node, arguments):
            return self._deferred(node, arguments[0])
        if self._in_kernel(node, arguments):
            spec, _ = self.slots.aggregate(node, self.columns, in_condition=False)
            number = self.aggregates.setdefault(spec, len(self.aggregates))
            if spec.kind < o.MIN_INT:
                return self.output(Value(number))
            return self.output(Value(number, self._for_each_variable(arguments[0])))
        return self._listed(node, arguments) if can_list(node) else self.grouped.add(node)

    def _listed(self, node: e.BoundAggregate, arguments: tuple[Expression, ...]) -> Expression:
        first = self._for_each_variable(arguments[0])
        listed = self.output(ListAggregate(node.variables, first, node.final))
        return finish_list(node, listed, self.columns.type_text(labelled(arguments[0], "")))

    def _should_wait(self, node: e.BoundAggregate, arguments: tuple[Expression, ...]) -> bool:
        """Whether Spark computes the argument after the match, since it may fail in rows that do not count."""
        parts = [part for argument in arguments for part in e.walk(argument)]
        simple = all(
            not isinstance(part, (e.Raw, e.Call, e.Classifier, e.Parameter)) or is_cast(part) for part in parts
        )
        flat = all(len(part.path) == 1 for part in parts if isinstance(part, e.Column))
        one = len(arguments) == 1 and node.function in _DEFERRED
        return not self.lenient and one and simple and flat and any(may_fail(part) or is_cast(part) for part in parts)

    def _deferred(self, node: e.BoundAggregate, argument: Expression) -> Expression:
        """The aggregate over values that Spark computes after the match, of the rows as structs of what is read."""
        read: list[Expression] = [part for part in e.walk(argument) if isinstance(part, (e.Column, e.Classifier))]
        fields = dict.fromkeys(read or [e.Literal("TRUE")])
        names = {part: f"f{number}" for number, part in enumerate(fields)}
        pieces = tuple(piece for part, name in names.items() for piece in (e.Literal(f"'{name}'"), part))
        rows = self.output(
            ListAggregate(node.variables, self._for_each_variable(e.Call("named_struct", pieces)), node.final)
        )

        def of_row(part: Expression) -> Expression:
            match part:
                case e.Column() | e.Classifier():
                    return e.Raw((f"__r.{names[part]}",))
                case e.MatchNumber():
                    return self.output(Number())
                case _:
                    return e.rebuild(part, of_row)

        values = e.Raw(("transform(", rows, ", __r -> ", of_row(argument), ")"))
        return finish_list(node, values, self.columns.type_text(plain(argument)))

    def _numbered(self, node: e.BoundAggregate, arguments: tuple[Expression, ...]) -> Expression:
        """An aggregate whose argument reads the number of the match, which is known after the match only."""
        if node.function in ("max_by", "min_by"):
            value, order = arguments
            argument: Expression = e.Call("named_struct", (e.Literal("'o'"), order, e.Literal("'v'"), value))
            return self._deferred(node, argument)
        counted = replace(node, function="count") if node.function == "count_if" else node
        return self._deferred(counted, arguments[0])

    def _in_kernel(self, node: e.BoundAggregate, arguments: Sequence[Expression]) -> bool:
        """Whether the kernel can compute it; otherwise Spark does, from the list of values."""
        if node.distinct and any(isinstance(part, e.Classifier) for a in arguments for part in e.walk(a)):
            return False
        if node.function in ("count", "count_if"):
            types = [self.columns.type_of(labelled(argument, "")) for argument in arguments]
            return not node.distinct or (len(arguments) == 1 and types[0] is not None)
        if node.function in ("min_by", "max_by"):
            return self.columns.type_of(labelled(arguments[-1], "")) is not None
        type_ = self.columns.type_of(labelled(arguments[0], ""))
        if type_ is None or (node.distinct and node.function not in _EXTREMES):
            return False
        if node.function in _SPREADS:
            return True
        if node.function in _SUMS:
            return type_.kind in (Kind.INTEGER, Kind.FLOAT)
        return node.function in _EXTREMES

    def _for_each_variable(self, argument: Expression) -> tuple[str, ...]:
        # A pattern without variables has values of a type, too, though never any value.
        names = self.slots.variables or ("",)
        return tuple(self.columns.ship(labelled(argument, name)) for name in names)
