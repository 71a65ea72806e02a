"""Measures of segment queries: the worker finds rows and values of functions, Spark finishes."""

from __future__ import annotations

from dataclasses import dataclass, field

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.algebra.scan import Gather, Number, Output, Present, Value
from trellis.algebra.segments import WHOLE_MATCH, Function, SegmentRow
from trellis.planning.expressions.hoist_slots import calls_registered
from trellis.planning.segments.values import SegmentValues

__all__ = ["SegmentMeasures"]


@dataclass(slots=True)
class SegmentMeasures:
    """Collects the outputs of the worker."""

    values: SegmentValues
    places: dict[SegmentRow, int] = field(default_factory=dict)
    functions: dict[Function, int] = field(default_factory=dict)
    outputs: dict[Output, str] = field(default_factory=dict)

    def finish(self, measure: Expression) -> Expression:
        """The measure over the outputs of the worker."""
        match measure:
            case e.At(value=value, place=place):
                variable = WHOLE_MATCH if place.variables is None else next(iter(place.variables))
                return self._read(value, SegmentRow(variable, place.from_first, place.offset, place.shift))
            case e.SegmentCall():
                return self._function(measure)
            case e.MatchNumber():
                return self.output(Number())
            case _:
                return e.rebuild(measure, self.finish)

    def carried(self, expression: Expression) -> e.Column:
        """The value of an input expression in the row that an output row stands for."""
        return self.output(Gather(self.values.columns.ship(expression), -1))

    def output(self, output: Output) -> e.Column:
        """The column of an output of the worker."""
        return e.Column((self.outputs.setdefault(output, f"__m{len(self.outputs)}"),))

    def _read(self, value: Expression, place: SegmentRow) -> Expression:
        number = self.places.setdefault(place, len(self.places))

        def read(node: Expression) -> Expression:
            if isinstance(node, e.Column):
                return self.output(Gather(self.values.columns.ship(node), number))
            return e.rebuild(node, read)

        if isinstance(value, e.Column):
            return read(value)
        if calls_registered(value):
            return self.output(Gather(self.values.columns.ship(value), number))
        # A variable without a segment is NULL, whatever the function would make of NULLs.
        return e.Case(((self.output(Present(number)), read(value)),))

    def _function(self, node: e.SegmentCall) -> Expression:
        function, _, _ = self.values.function(node, lambda name: WHOLE_MATCH if name is None else name)
        number = self.functions.setdefault(function, len(self.functions))
        if function.name in ("min", "max"):
            return self.output(Value(number, (self.values.columns.ship(node.arguments[0]),)))
        found = self.output(Value(number))
        scale = round(1 / self.values.scales[function.slots[0]]) if function.name == "sum_int" else 1
        if scale > 1 and self.values.columns.type_text(node.arguments[0]).startswith("decimal"):
            # Scaled integers become decimals again, exactly.
            digits = len(str(scale)) - 1
            return e.Raw(("(CAST(", found, f" AS DECIMAL(20, 0)) * 0.{'0' * (digits - 1)}1BD)"))
        return found
