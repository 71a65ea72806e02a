"""From conditions to programs of the kernel's stack machine, with Spark's types and coercions.

`infer` finds the type of an expression, `emit` appends the instructions that leave its value, as a wanted type, on
the stack.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from trellis.algebra import expression as e
from trellis.algebra.automaton import AggregateSpec
from trellis.algebra.expression import Expression
from trellis.algebra.place import Place
from trellis.algebra.scan import ProgramSpec
from trellis.analysis.types import MOST_DIGITS, NARROW_DIGITS, Kind, Type, as_decimal, bounds_of
from trellis.errors import BindingError, UnsupportedError
from trellis.kernels import opcodes as o
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.literals import read_literal
from trellis.planning.expressions.operators import ARITHMETIC, COMPARISONS, FLOAT_FUNCTIONS, TESTS
from trellis.planning.expressions.slots import SlotTable, aggregate_kind, is_computed
from trellis.planning.expressions.typing_rules import BOOLEAN, DOUBLE, INSTANTS, TypingRules, mismatch, unsupported

__all__ = ["ProgramBuilder"]

_DAY = 86_400_000_000
_LONG = Type(Kind.INTEGER)
# Whole numbers of so many digits are floats, exactly; a quotient by a power of ten is then the nearest float.
_FLOAT_DIGITS = 15
# Spark divides to so many digits behind the point, and rounds that.
_QUOTIENT_SCALE = 39
_COALESCE = ("coalesce", "nvl", "ifnull")


@dataclass(slots=True)
class ProgramBuilder:
    """Collects the programs of all conditions of a query, with the slots, places and aggregates they read."""

    columns: Columns
    slots: SlotTable
    places: dict[Place, int] = field(default_factory=dict)
    aggregates: dict[AggregateSpec, int] = field(default_factory=dict)
    code: list[tuple[int, int, int]] = field(default_factory=list)
    ints: list[int] = field(default_factory=list)
    floats: list[float] = field(default_factory=list)
    strings: list[tuple[int, str]] = field(default_factory=list)
    arguments: dict[e.BoundAggregate, tuple[int, int]] = field(default_factory=dict)
    depth: int = 1
    _level: int = 0

    def add(self, condition: Expression) -> tuple[int, int]:
        """Append the program of a condition; where it begins and ends."""
        if self.infer(condition).kind not in (Kind.BOOLEAN, Kind.NULL):
            raise BindingError("The condition is not a truth value.", cure="Compare it: x > 0.", span=condition.span)
        for node in e.walk(condition):
            if isinstance(node, e.BoundAggregate) and is_computed(node):
                self._argument(node)
        return self._program(condition, BOOLEAN)

    def _program(self, expression: Expression, wanted: Type) -> tuple[int, int]:
        begin = len(self.code)
        self._level = 0
        self.emit(expression, wanted)
        return begin, len(self.code)

    def finish(self, lenient: bool) -> ProgramSpec:
        """All programs together."""
        return ProgramSpec(
            tuple(self.code), tuple(self.ints), tuple(self.floats), tuple(self.strings), self.depth, lenient
        )

    def infer(self, expression: Expression) -> Type:
        """The type of an expression between rows."""
        return self._rules.infer(expression)

    @property
    def _rules(self) -> TypingRules:
        return TypingRules(self.columns, self.slots)

    # Instructions.

    def emit(self, expression: Expression, wanted: Type) -> None:
        """Leave the value of an expression on the stack, as the wanted type."""
        have = self.infer(expression)
        instants = (*INSTANTS, Kind.DATE)
        if have.kind is not wanted.kind and have.kind in instants and wanted.kind in instants:
            expression, have = self._cast_slot(expression, wanted), wanted
        match expression:
            case e.At():
                self._emit_slot(expression, have)
            case e.Pair():
                self._emit_pair(expression, have)
            case e.Literal(text=text):
                self._emit_literal(expression, text)
            case e.ClassifierAt(place=place):
                self._push(o.LABEL, b=self.place(place))
            case e.MatchNumber():
                self._push(o.MATCH_NUMBER)
            case e.BoundAggregate():
                self._emit_aggregate(expression, have)
            case e.Operator():
                self._emit_operator(expression, have)
            case e.Case(branches=branches, otherwise=otherwise):
                self._emit_case(list(branches), otherwise, have)
            case e.Call(function=function, arguments=arguments):
                self._emit_call(function, arguments, have)
            case _:
                raise unsupported(expression)
        self._convert(expression, have, wanted)

    def place(self, place: Place) -> int:
        """The number of a place."""
        return self.places.setdefault(place, len(self.places))

    def _emit_aggregate(self, node: e.BoundAggregate, have: Type) -> None:
        spec = self.aggregate(node)
        number = self.aggregates.setdefault(spec, len(self.aggregates))
        is_mean = node.function in ("avg", "mean") and have.kind is Kind.DECIMAL
        wide = spec.kind == o.SUM_WIDE or (have.is_wide and not is_mean)
        self._push(o.AGGREGATE_FLOAT if have.is_float else o.AGGREGATE_WIDE if wide else o.AGGREGATE_INT, number)
        if is_mean:
            # The sum, divided by how many values there are.
            scale = aggregate_kind(replace(node, function="sum"), node.arguments, self._rules.of_argument)[1].scale
            if not wide:
                self._apply(o.WIDEN)
            self._emit_aggregate(replace(node, function="count"), _LONG)
            self._apply(o.WIDEN)
            self._emit_decimal("/", Type(Kind.DECIMAL, scale=scale), Type(Kind.DECIMAL), have)

    def aggregate(self, node: e.BoundAggregate) -> AggregateSpec:
        """How a kernel computes an aggregate."""
        if not is_computed(node):
            return self.slots.aggregate(node, self.columns)[0]
        argument = self._rules.of_argument(node.arguments[-1])
        kind, _ = aggregate_kind(node, node.arguments, self._rules.of_argument)
        return self.slots.computed(node, kind, argument, *self._argument(node), self.columns)

    def _argument(self, node: e.BoundAggregate) -> tuple[int, int]:
        """Where the program of an argument begins and ends; it stands before the condition that needs it."""
        if node not in self.arguments:
            kind, _ = aggregate_kind(node, node.arguments, self._rules.of_argument)
            argument = node.arguments[-1]
            wanted = self.infer(argument)
            if kind in (o.SUM_FLOAT, o.AVG) or o.VAR_SAMP <= kind <= o.STDDEV_POP:
                wanted = DOUBLE
            elif kind == o.SUM_WIDE:
                wanted = replace(wanted, precision=MOST_DIGITS)
            self.arguments[node] = self._program(argument, wanted)
        return self.arguments[node]

    def _emit_slot(self, slot: e.At, have: Type) -> None:
        if isinstance(slot.value, e.Literal) and slot.place != Place() and read_literal(slot.value.text) is not None:
            self._emit_present(slot.value, slot.place)
            return
        load = o.LOAD_FLOAT if have.is_float else o.LOAD_WIDE if have.is_wide else o.LOAD_INT
        number = self.slots.add(slot.value, have, self.columns)
        if slot.absent is None:
            self._push(load, number, self.place(slot.place))
            return
        self._push(o.PRESENT, b=self.place(slot.place))
        missing = self._jump(o.GO_UNLESS_TRUE)
        self._push(load, number, self.place(slot.place))
        end = self._jump(o.GO)
        self._level -= 1
        self._land(missing)
        self.columns.types.setdefault(slot.absent, self.columns.type_text(slot.value))
        self._push(load, self.slots.add(slot.absent, have, self.columns), self.place(Place()))
        self._land(end)

    def _emit_present(self, value: e.Literal, place: Place) -> None:
        """A literal, NULL where the row does not exist: no column is needed."""
        self._push(o.PRESENT, b=self.place(place))
        missing = self._jump(o.GO_UNLESS_TRUE)
        self._emit_literal(value, value.text)
        end = self._jump(o.GO)
        self._level -= 1
        self._land(missing)
        self._push(o.CONST_NULL)
        self._land(end)

    def _emit_pair(self, pair: e.Pair, have: Type) -> None:
        """Look the value up; where one of the rows does not exist, it is a function of the other alone."""
        number = self.slots.add_pair(pair, self.columns)
        alone = [(pair.second, pair.first_missing), (pair.first, pair.second_missing)]
        ends = []
        for place, _ in alone:
            self._push(o.PRESENT, b=self.place(place))
        self._pop(o.AND)
        missing = self._jump(o.GO_UNLESS_TRUE)
        self._push(o.ROW, b=self.place(pair.first))
        self._push(o.ROW, b=self.place(pair.second))
        self._pop(o.LOAD_PAIR, number)
        ends.append(self._jump(o.GO))
        self._level -= 1
        self._land(missing)
        if pair.first.numbered:
            # That row exists always.
            self.columns.types.setdefault(pair.second_missing, self.columns.type_text(pair.value))
            self._emit_slot(e.At(pair.second_missing, pair.first), have)
            self._land(ends[0])
            return
        for place, value in alone:
            self._push(o.PRESENT, b=self.place(place))
            missing = self._jump(o.GO_UNLESS_TRUE)
            self.columns.types.setdefault(value, self.columns.type_text(pair.value))
            self._emit_slot(e.At(value, place), have)
            ends.append(self._jump(o.GO))
            self._level -= 1
            self._land(missing)
        nothing = pair.both_missing
        self.columns.types.setdefault(nothing, self.columns.type_text(pair.value))
        self._emit_slot(e.At(nothing, Place()), have)
        for end in ends:
            self._land(end)

    def _emit_literal(self, expression: e.Literal, text: str) -> None:
        literal = read_literal(text)
        if literal is None:
            self._emit_slot(e.At(expression, Place()), self.columns.held_type(expression))
            return
        type_, value = literal
        if value is None:
            self._push(o.CONST_NULL)
        elif isinstance(value, float):
            self._push(o.CONST_FLOAT, self._float(value))
        elif isinstance(value, str):
            self.strings.append((len(self.ints), value))
            self.ints.append(0)
            self._push(o.CONST_INT, len(self.ints) - 1)
        elif type_.is_wide:
            # The first word counts without a sign.
            low = value & (2**64 - 1)
            self._push(o.CONST_WIDE, self._int(low - 2**64 if low >= 2**63 else low))
            self._int(value >> 64)
        else:
            self._push(o.CONST_INT, self._int(value))

    def _emit_operator(self, operator: e.Operator, have: Type) -> None:
        symbol, operands = operator.symbol, operator.operands
        if symbol in ("AND", "OR"):
            ends = []
            for number, operand in enumerate(operands):
                self.emit(operand, BOOLEAN)
                if number > 0:
                    self._pop(o.AND if symbol == "AND" else o.OR)
                if number < len(operands) - 1:
                    ends.append(self._jump(o.GO_IF_FALSE if symbol == "AND" else o.GO_IF_TRUE, keeps=True))
            for end in ends:
                self._land(end)
        elif symbol == "NOT":
            self.emit(operands[0], BOOLEAN)
            self._apply(o.NOT)
        elif symbol in TESTS:
            op, negated = TESTS[symbol]
            self.emit(operands[0], self.infer(operands[0]))
            self._apply(op)
            if negated:
                self._apply(o.NOT)
        elif symbol == "BETWEEN":
            value, low, high = operands
            both = (
                e.Operator(">=", (value, low), operator.span),
                e.Operator("<=", (value, high), operator.span),
            )
            self._emit_operator(e.Operator("AND", both), BOOLEAN)
        elif symbol == "IN":
            equal = tuple(e.Operator("=", (operands[0], option), operator.span) for option in operands[1:])
            self._emit_operator(e.Operator("OR", equal) if len(equal) > 1 else equal[0], BOOLEAN)
        elif symbol in COMPARISONS or symbol == "<=>":
            self._emit_comparison(operator)
        elif symbol == "NEG":
            self.emit(operands[0], have)
            self._apply(o.NEGATE_FLOAT if have.is_float else o.NEGATE_WIDE if have.is_wide else o.NEGATE_INT)
            self._check_range(have)
        else:
            self._emit_arithmetic(operator, have)

    def _emit_comparison(self, operator: e.Operator) -> None:
        left, right = operator.operands
        types = [self.infer(left), self.infer(right)]
        if {type_.kind for type_ in types} == {Kind.DECIMAL, Kind.INTEGER}:
            # A literal counts with the digits that it has.
            types = [self._rules.decimal_operand(side) for side in operator.operands]
        common = self._rules.common(types[0], types[1])
        if common is None:
            raise mismatch(operator, self.infer(left), self.infer(right))
        # Decimals that are held in one word are compared in one, even if their common type has more digits.
        narrow = common.kind is Kind.DECIMAL and not any(self.infer(side).is_wide for side in (left, right))
        wide = common.is_wide and not narrow
        for side in (left, right):
            have = self.infer(side)
            self.emit(side, have if narrow else common)
            if narrow and common.scale > have.scale:
                # If this side leaves int64, it is beyond everything that the other side can hold: it may be cut.
                self.code.append((o.SCALE_INT, self._int(10 ** (common.scale - have.scale)), 1))
        if operator.symbol == "<=>":
            self._pop(o.SAME_FLOAT if common.is_float else o.SAME_WIDE if wide else o.SAME_INT)
        else:
            compare = o.COMPARE_FLOAT if common.is_float else o.COMPARE_WIDE if wide else o.COMPARE_INT
            self._pop(compare, COMPARISONS[operator.symbol])

    def _emit_arithmetic(self, operator: e.Operator, have: Type) -> None:
        left, right = operator.operands
        left_type, right_type = self.infer(left), self.infer(right)
        if have.is_number and have.kind is not Kind.DECIMAL:
            wanted = have if operator.symbol != "DIV" else self._rules.common(left_type, right_type) or have
            if wanted.is_wide:
                raise unsupported(operator)
            self.emit(left, wanted)
            self.emit(right, wanted)
        elif have.kind is Kind.DECIMAL:
            self._emit_decimals(operator, have)
            return
        else:
            self.emit(left, left_type)
            self.emit(right, right_type)
        whole, real = ARITHMETIC[operator.symbol]
        self._pop(real if have.is_float else whole)
        if have.is_float and have.bits == 32:
            self._apply(o.FUNCTION, o.TO_SINGLE)
        if left_type.kind is Kind.DATE and right_type.kind is Kind.DATE:
            self._apply(o.SCALE_INT, self._int(_DAY))
        self._check_range(have)

    def _emit_decimals(self, operator: e.Operator, have: Type) -> None:
        """An operation on decimals: in one word if that holds the operands and the result, else in two."""
        symbol = operator.symbol
        types = [self._rules.decimal_operand(side) for side in operator.operands]
        scale = max(type_.scale for type_ in types)
        exact = sum(type_.scale for type_ in types) if symbol == "*" else scale
        digits = [type_.precision + (0 if symbol == "*" else scale - type_.scale) for type_ in types]
        narrow = symbol != "/" and have.scale == exact and max(*digits, have.precision) <= NARROW_DIGITS
        for side, type_, count in zip(operator.operands, types, digits, strict=True):
            if narrow:
                self.emit(side, type_ if symbol == "*" else Type(Kind.DECIMAL, precision=count, scale=scale))
            else:
                self.emit(side, replace(type_, precision=MOST_DIGITS))
        if narrow:
            self._pop(ARITHMETIC[symbol][0])
        else:
            self._emit_decimal(symbol, types[0], types[1], have)

    def _emit_decimal(self, symbol: str, left: Type, right: Type, have: Type) -> None:
        """An operation on two numbers of two words; Spark computes exactly, or to 39 digits, and rounds then."""
        match symbol:
            case "*":
                up, scale = (0, 0), left.scale + right.scale
            case "/":
                # A quotient of whole numbers has the digits behind the point that the dividend has more.
                up, scale = (_QUOTIENT_SCALE - left.scale + right.scale, 0), _QUOTIENT_SCALE
            case _:
                scale = max(left.scale, right.scale)
                up = (scale - left.scale, scale - right.scale)
        self.ints.extend((ARITHMETIC[symbol][0], *up, scale - have.scale, have.precision))
        self._pop(o.DECIMAL, len(self.ints) - 5)

    def _emit_case(
        self, branches: list[tuple[Expression, Expression]], otherwise: Expression | None, have: Type
    ) -> None:
        ends = []
        for condition, value in branches:
            self.emit(condition, BOOLEAN)
            following = self._jump(o.GO_UNLESS_TRUE)
            self.emit(value, have)
            ends.append(self._jump(o.GO))
            self._level -= 1
            self._land(following)
        if otherwise is None:
            self._push(o.CONST_NULL)
        else:
            self.emit(otherwise, have)
        for end in ends:
            self._land(end)

    def _emit_call(self, function: str, arguments: tuple[Expression, ...], have: Type) -> None:
        if function == "raise_error":
            self._push(o.FAIL)
        elif function in _COALESCE:
            ends = []
            for argument in arguments[:-1]:
                self.emit(argument, have)
                ends.append(self._jump(o.GO_IF_KNOWN))
            self.emit(arguments[-1], have)
            for end in ends:
                self._land(end)
        elif function in ("least", "greatest"):
            choose = {"least": (o.SMALLER_FLOAT, o.SMALLER_WIDE, o.SMALLER_INT)}
            real, wide, whole = choose.get(function, (o.LARGER_FLOAT, o.LARGER_WIDE, o.LARGER_INT))
            for number, argument in enumerate(arguments):
                self.emit(argument, have)
                if number > 0:
                    self._pop(real if have.is_float else wide if have.is_wide else whole)
        elif function == "nullif":
            equal = e.Operator("=", (arguments[0], arguments[1]))
            self._emit_case([(equal, e.Literal("NULL"))], arguments[0], have)
        elif function in ("if", "iff"):
            self._emit_case([(arguments[0], arguments[1])], arguments[2], have)
        elif function == "abs":
            self.emit(arguments[0], have)
            self._apply(o.ABS_FLOAT if have.is_float else o.ABS_WIDE if have.is_wide else o.ABS_INT)
        elif function in ("floor", "ceil", "ceiling"):
            self.emit(arguments[0], DOUBLE)
            self._apply(o.FUNCTION, o.FLOOR if function == "floor" else o.CEIL)
            self._apply(o.TO_INT)
        elif function in ("power", "pow"):
            self.emit(arguments[0], DOUBLE)
            self.emit(arguments[1], DOUBLE)
            self._pop(o.POWER)
        elif function in ("datediff", "date_diff"):
            self.emit(arguments[0], Type(Kind.DATE))
            self.emit(arguments[1], Type(Kind.DATE))
            self._pop(o.SUBTRACT_INT)
        else:
            self.emit(arguments[0], DOUBLE)
            self._apply(o.FUNCTION, FLOAT_FUNCTIONS[function])

    def _convert(self, expression: Expression, have: Type, wanted: Type) -> None:
        if have.kind is Kind.NULL or have.kind is wanted.kind is not Kind.DECIMAL:
            return
        match (have.kind, wanted.kind):
            case (Kind.INTEGER, Kind.FLOAT):
                self._apply(o.TO_FLOAT)
            case (Kind.DECIMAL, Kind.FLOAT) if have.precision <= _FLOAT_DIGITS:
                self._apply(o.UNSCALE, self._float(10.0**have.scale))
            case (Kind.DECIMAL, Kind.FLOAT):
                if not have.is_wide:
                    self._apply(o.WIDEN)
                self._apply(o.WIDE_TO_FLOAT, have.scale)
            case (Kind.INTEGER | Kind.DECIMAL, Kind.DECIMAL):
                self._rescale(have, wanted)
            case (Kind.DECIMAL, Kind.INTEGER):  # DIV of decimals
                raise unsupported(expression)
            case _:
                raise mismatch(expression, have, wanted)

    def _rescale(self, have: Type, wanted: Type) -> None:
        """A whole number or a decimal as another type of decimal."""
        natural = as_decimal(have)
        up = max(0, wanted.scale - natural.scale)
        down = max(0, natural.scale - wanted.scale)
        fits = not down and wanted.precision - wanted.scale >= natural.precision - natural.scale
        if fits and not wanted.is_wide:
            if up:
                self._apply(o.SCALE_INT, self._int(10**up))
            return
        if not have.is_wide:
            self._apply(o.WIDEN)
        if up or not fits:
            self.ints.extend((up, down, wanted.precision))
            self._apply(o.RESCALE, len(self.ints) - 3)

    def _cast_slot(self, expression: Expression, wanted: Type) -> Expression:
        """A date beside a timestamp is cast by Spark, which knows the time zone of the session."""
        if not isinstance(expression, e.At):
            raise UnsupportedError(
                "A date and a timestamp meet between rows.", cure="Cast the date to TIMESTAMP.", span=expression.span
            )
        value = e.Raw(("CAST(", expression.value, f" AS {wanted.kind.value.upper()})"), span=expression.span)
        self.columns.types.setdefault(value, wanted.kind.value)
        return e.At(value, expression.place, None, span=expression.span)

    def _check_range(self, have: Type) -> None:
        bounds = bounds_of(have)
        if bounds is not None:
            self.ints.extend(bounds)
            self._apply(o.RANGE_CHECK, len(self.ints) - 2)

    # The stack.

    def _push(self, op: int, a: int = 0, b: int = 0) -> None:
        self.code.append((op, a, b))
        self._level += 1
        self.depth = max(self.depth, self._level)

    def _apply(self, op: int, a: int = 0) -> None:
        self.code.append((op, a, 0))

    def _pop(self, op: int, a: int = 0) -> None:
        self.code.append((op, a, 0))
        self._level -= 1

    def _jump(self, op: int, keeps: bool = False) -> int:
        self.code.append((op, -1, 0))
        if not keeps and op != o.GO:
            self._level -= 1
        return len(self.code) - 1

    def _land(self, jump: int) -> None:
        op, _, b = self.code[jump]
        self.code[jump] = (op, len(self.code), b)

    def _int(self, value: int) -> int:
        self.ints.append(value)
        return len(self.ints) - 1

    def _float(self, value: float) -> int:
        self.floats.append(value)
        return len(self.floats) - 1
