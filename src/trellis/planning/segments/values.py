"""What conditions and measures read of segments, and the programs over it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.algebra.place import Place
from trellis.algebra.scan import ProgramSpec, SlotSource
from trellis.algebra.segments import WHOLE_MATCH, Function, Read, SegmentCondition, SegmentRow, SegmentValue
from trellis.analysis.types import Kind, Type
from trellis.errors import BindingError
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.hoist_slots import hoist_slots
from trellis.planning.expressions.literals import read_literal
from trellis.planning.expressions.program import ProgramBuilder
from trellis.planning.expressions.slots import SlotTable
from trellis.planning.segments.thresholds import find_threshold

__all__ = ["SegmentValues"]

_DOUBLE, _LONG, _BOOLEAN = Type(Kind.FLOAT), Type(Kind.INTEGER), Type(Kind.BOOLEAN)
_TIMES = (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ, Kind.INTERVAL)
_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
_OF_NUMBERS = ("sum", "avg", "stddev_samp", "stddev_pop", "var_samp", "var_pop")
_WRITTEN = {"stddev_samp": "stddev", "var_samp": "variance"}


@dataclass(slots=True)
class SegmentValues:
    """Collects slots, values and programs. `columns` are those of the input."""

    columns: Columns
    sources: dict[SlotSource, int] = field(default_factory=dict)
    scales: list[float] = field(default_factory=list)
    builder: ProgramBuilder = field(init=False)

    def __post_init__(self) -> None:
        # The columns of the programs are values of segments, not columns of the input: types are given, never asked.
        self.builder = ProgramBuilder(Columns(self.columns.types_of), SlotTable(()))

    def condition(self, expression: Expression, own: str, *, lifted: bool) -> SegmentCondition:
        """A conjunct of the condition of a variable.

        Lifted, it is tested where all variables that it reads are known, and names its own variable, too.
        """
        hoisted = hoist_slots(expression)
        held: dict[SegmentValue, e.Column] = {}
        kinds: list[bool] = []

        def value_of(value: SegmentValue, type_: Type, text: str) -> Expression:
            if value not in held:
                held[value] = e.Column((f"{len(held)}.{type_.kind.value}",))
                kinds.append(type_.is_float)
                self.builder.columns.types[held[value]] = text
            return e.At(held[value], Place(), span=expression.span)

        def name_of(variable: str | None) -> str:
            return "" if variable == own and not lifted else WHOLE_MATCH if variable is None else variable

        def read(node: Expression) -> Expression:
            match node:
                case e.At():
                    return self._read(node, name_of, value_of)
                case e.SegmentCall():
                    function, type_, text = self.function(node, name_of)
                    return value_of(function, type_, text)
                case e.Literal(text=text) if read_literal(text) is None:
                    return self._read(e.At(node, Place()), name_of, value_of)
                case e.Operator(symbol="/"):
                    return self._divided(e.rebuild(node, read))
                case _:
                    return e.rebuild(node, read)

        program = read(hoisted)
        # SlotTable of the program are numbered in the order in which it reads them: one program, one numbering.
        self.builder.slots = SlotTable(())
        self.builder.columns.names.clear()
        begin, end = self.builder.add(program)
        names = {name: column for column, name in self.builder.columns.names.items()}
        order = [names[source.column] for source in self.builder.slots.sources]
        places: dict[Expression, tuple[SegmentValue, bool]] = {
            column: (value, kind) for (value, column), kind in zip(held.items(), kinds, strict=True)
        }
        values = tuple(places[column][0] for column in order)
        reads = frozenset(name for value in values for name in _names(value)) - {""}
        threshold = None if lifted else find_threshold(program, {column: value for value, column in held.items()})
        floats = tuple(places[column][1] for column in order)
        return SegmentCondition(values, floats, begin, end, str(expression), reads, threshold=threshold)

    def _read(self, node: e.At, name_of, value_of) -> Expression:  # type: ignore[no-untyped-def]
        place = node.place
        if place == Place():
            if all(isinstance(part, (e.Operator, e.Literal)) for part in e.walk(node.value)):
                return self._divided(node.value)
            # A constant that only Spark can compute: the same in every row, so any row of the segment will do.
            type_ = self.columns.require_type(node.value)
            slot = self.slot(node.value, type_)
            return value_of(Read(slot, "", True), type_, self.columns.type_text(node.value))  # type: ignore[no-any-return]
        assert place.variables is None or len(place.variables) == 1
        variable = name_of(None if place.variables is None else next(iter(place.variables)))
        type_ = self.columns.require_type(node.value)
        where = (variable, place.from_first, place.offset, place.shift)
        text = self.columns.type_text(node.value)
        value = value_of(Read(self.slot(node.value, type_), *where), type_, text)
        if node.absent is None:
            return value  # type: ignore[no-any-return]
        present = value_of(SegmentRow(*where), _BOOLEAN, "boolean")
        self.columns.types.setdefault(node.absent, text)
        absent = value_of(Read(self.slot(node.absent, type_), "", True), type_, text)
        return e.Case(((present, value),), absent)

    def _divided(self, node: Expression) -> Expression:
        """Kernels divide floats only: decimals become floats."""
        if isinstance(node, e.Operator) and node.symbol == "/":
            left, right = map(self._divided, node.operands)
            if self.builder.infer(left).kind is Kind.DECIMAL or self.builder.infer(right).kind is Kind.DECIMAL:
                left = e.Operator("*", (left, e.Literal("1.0D")))
            return replace(node, operands=(left, right))
        return e.rebuild(node, self._divided) if isinstance(node, e.Operator) else node

    def function(self, node: e.SegmentCall, name_of) -> tuple[Function, Type, str]:  # type: ignore[no-untyped-def]
        """A function of segments, the type of its value, and Spark's name for it."""
        names = tuple(name_of(variable) for variable in node.variables)
        name = node.function
        if name == "rows":
            return Function("rows", (), names), _LONG, "bigint"
        types = [self.columns.require_type(argument) for argument in node.arguments]
        slots = tuple(self.slot(a, t) for a, t in zip(node.arguments, types, strict=True))
        if name == "count":
            return Function("count", slots, names), _LONG, "bigint"
        if name in ("min", "max"):
            return Function(name, slots, names), types[0], self.columns.type_text(node.arguments[0])
        for argument, type_ in zip(node.arguments, types, strict=True):
            self._check_number(node, argument, type_)
        if name == "sum" and not types[0].is_float:
            kind = types[0]
            text = f"decimal(18,{kind.scale})" if kind.kind is Kind.DECIMAL else "bigint"
            held = Type(kind.kind, precision=18, scale=kind.scale) if kind.kind is Kind.DECIMAL else _LONG
            return Function("sum_int", slots, names), held, text
        if name == "equal_up_down_ticks":
            return Function(name, slots, names), _BOOLEAN, "boolean"
        return Function(name, slots, names, node.constants), _DOUBLE, "double"

    def _check_number(self, node: e.SegmentCall, argument: Expression, type_: Type) -> None:
        times = type_.kind in _TIMES and node.function not in _OF_NUMBERS
        if type_.kind not in _NUMBERS and not times:
            raise BindingError(
                f"{_WRITTEN.get(node.function, node.function)} needs numbers, not {self.columns.type_text(argument)}.",
                cure="Cast the argument, for example to DOUBLE.",
                span=argument.span or node.span,
            )

    def slot(self, value: Expression, type_: Type) -> int:
        """The number of the slot that holds an expression over one row."""
        held = "float" if type_.is_float else "code" if type_.kind is Kind.STRING else "int"
        source = SlotSource(self.columns.ship(value), held)
        if source not in self.sources:
            self.sources[source] = len(self.sources)
            micros = type_.kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ, Kind.INTERVAL)
            self.scales.append(1e-6 if micros else 10.0**-type_.scale)
        return self.sources[source]

    def finish(self) -> ProgramSpec:
        """All programs together. A division by zero in a segment is NULL: the segment does not match."""
        return self.builder.finish(lenient=True)


def _names(value: SegmentValue) -> tuple[str, ...]:
    return value.variables if isinstance(value, Function) else (value.variable,)
