"""Conditions on a row and its neighbours, in the words of `implication`.

What cannot be said there is opaque: only its text is known. Values are named by their column and by how many rows away
they are read: `price @ -1`. Numbers are exact, or floats: a comparison between the two, which Spark makes by rounding,
is opaque, and so is what strings and numbers have to do with each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.algebra.place import Place
from trellis.analysis.implication import Comparison, Condition, Constant, Opaque, Presence, Read, Test
from trellis.analysis.types import Kind, Type

__all__ = ["TRUE", "RowTests", "all_of", "column_of", "columns_in", "looks_at_rows_only", "shift_of", "without_places"]

TRUE: Condition = ((),)
_MOST = 64
_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">="})
_DENIED = {"<": ">=", "<=": ">", "=": "<>", "<>": "=", ">=": "<", ">": "<="}
_EXACT = (Kind.INTEGER, Kind.DECIMAL)
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)(L|S|Y|BD)?", re.IGNORECASE)
_DATE = re.compile(r"DATE '(\d{4}-\d\d-\d\d)'")
# Beside a column of type CHAR, Spark fills texts up with spaces: these are in the same order then.
_TEXT = re.compile(r"'([^'\\\x00-\x1f]*[^'\\\x00-\x20]|)'")
# What a decimal can hold: a longer constant is none that Spark reads, a longer product is rounded.
_DIGITS = 38

_Value = tuple[Read | Constant, str]
"""A value, and what it can be compared with: `exact`, `float`, `number` (a constant of either), `text`, `date` ..."""


def all_of(conditions: Sequence[Condition]) -> Condition:
    """All of some conditions in one; those that would make it too long are left out."""
    found = TRUE
    for one in conditions:
        if len(found) * len(one) <= _MOST:
            found = tuple((*left, *right) for left, right in product(found, one))
    return found


def columns_in(conditions: Iterable[Expression]) -> list[Expression]:
    """The columns whose types the translation asks for."""
    nodes = (node for condition in conditions for node in e.walk(condition))
    return list(dict.fromkeys(node for node in nodes if isinstance(node, e.Column)))


def column_of(name: str) -> str:
    """The column that a value's name begins with."""
    return name.rpartition(" @ ")[0]


def shift_of(name: str) -> int:
    """How many rows away a value is read."""
    return int(name.rpartition(" @ ")[2])


@dataclass(frozen=True, slots=True)
class RowTests:
    """The translation; `type_of` gives the types of expressions over one row. `lenient`: integers run over.

    Of `padded` columns (CHAR) nothing is known: equal to one another and to others, they do not make these equal.
    """

    type_of: Callable[[Expression], Type | None]
    lenient: bool = False
    padded: frozenset[str] = frozenset()

    def of(self, condition: Expression) -> Condition | None:
        """The condition, None if it looks at the match."""
        if not looks_at_rows_only(condition):
            return None
        return self._condition(condition, 0)

    def _condition(self, condition: Expression, shift: int) -> Condition:
        match condition:
            case e.At(value=value, place=place, absent=None):
                return self._condition(value, shift + place.shift)
            case e.Operator(symbol="AND", operands=operands):
                return self._all(operands, shift)
            case e.Operator(symbol="OR", operands=operands):
                return self._any(condition, operands, shift)
            case e.Operator(symbol="BETWEEN", operands=(value, low, high)):
                return self._all((e.Operator(">=", (value, low)), e.Operator("<=", (value, high))), shift)
            case e.Operator(symbol="IN", operands=(value, *listed)):
                equal = tuple(e.Operator("=", (value, one)) for one in listed)
                return self._any(condition, equal, shift)
            case e.Operator(symbol="NOT", operands=(e.Operator(symbol=symbol, operands=operands),)) if (
                symbol in _COMPARISONS
            ):
                return self._condition(e.Operator(_DENIED[symbol], operands), shift)
            case e.Operator(symbol=("IS NULL" | "IS NOT NULL") as symbol, operands=(operand,)):
                found = self._value(operand, shift)
                if found is not None and isinstance(found[0], Read):
                    return ((Presence(found[0].name, symbol == "IS NOT NULL"),),)
            case e.Operator(symbol=symbol, operands=(left, right)) if symbol in _COMPARISONS:
                compared = self._comparison(left, symbol, right, shift)
                if compared is not None:
                    return ((compared,),)
            case e.Literal(text=text) if text.upper() == "TRUE":
                return TRUE
            case e.Literal(text=text) if text.upper() in ("FALSE", "NULL"):
                return ()
        return ((_opaque(condition, shift),),)

    def _all(self, operands: Sequence[Expression], shift: int) -> Condition:
        found = TRUE
        for operand in operands:
            one = self._condition(operand, shift)
            if len(found) * len(one) > _MOST:
                one = ((_opaque(operand, shift),),)
            found = tuple((*left, *right) for left, right in product(found, one))
        return found

    def _any(self, condition: Expression, operands: Sequence[Expression], shift: int) -> Condition:
        found = tuple(tests for operand in operands for tests in self._condition(operand, shift))
        return found if len(found) <= _MOST else ((_opaque(condition, shift),),)

    def _comparison(self, left: Expression, symbol: str, right: Expression, shift: int) -> Test | None:
        one, other = self._value(left, shift), self._value(right, shift)
        if one is None or other is None:
            return None
        families = {one[1], other[1]}
        if families == {"number"} or not (len(families) == 1 or families in ({"exact", "number"}, {"float", "number"})):
            return None
        sides = (one[0], other[0])
        if "float" in families:
            first, second = (_as_float(side) for side in sides)
            return Comparison(first, symbol, second)
        return Comparison(sides[0], symbol, sides[1])

    def _value(self, value: Expression, shift: int) -> _Value | None:
        match value:
            case e.At(value=inner, place=place, absent=None):
                return self._value(inner, shift + place.shift)
            case e.Column():
                return self._column(value, shift)
            case e.Literal(text=text):
                return _constant(text)
            case e.Operator(symbol="NEG", operands=(operand,)):
                return self._negated(value, operand, shift)
            case e.Operator(symbol="*", operands=(e.Literal() as factor, operand)):
                return self._computed(value, operand, "*", factor, shift)
            case e.Operator(symbol="*", operands=(operand, e.Literal() as factor)):
                return self._computed(value, operand, "*", factor, shift)
            case e.Operator(symbol=("+" | "-") as symbol, operands=(operand, e.Literal() as offset)):
                return self._computed(value, operand, symbol, offset, shift)
            case e.Operator(symbol="+", operands=(e.Literal() as offset, operand)):
                return self._computed(value, operand, "+", offset, shift)
        return None

    def _column(self, column: e.Column, shift: int) -> _Value | None:
        if column.path[0] in self.padded:
            return None
        name = f"{column} @ {shift}"
        type_ = self.type_of(column)
        match type_:
            case Type(kind=Kind.INTEGER | Kind.DECIMAL):
                return Read(name, exact=True), "exact"
            case Type(kind=Kind.FLOAT, bits=64):
                return Read(name), "float"
            case Type(kind=(Kind.DATE | Kind.TIMESTAMP | Kind.TIMESTAMP_NTZ) as kind):
                return Read(name), kind.value
            case Type(kind=Kind.STRING, bits=64):
                return Read(name), "text"
        return None

    def _computed(
        self, whole: Expression, operand: Expression, symbol: str, literal: e.Literal, shift: int
    ) -> _Value | None:
        """A value times a constant (`*`), or plus or minus one."""
        found, number = self._value(operand, shift), _constant(literal.text)
        if found is None or number is None or number[1] != "number":
            return None
        read, family = found
        if not isinstance(read, Read) or read.factor != 1 or read.offset != 0:
            return None
        assert isinstance(number[0], Constant)
        by = Fraction(number[0].value) * (-1 if symbol == "-" else 1)
        if family == "float":
            by = Fraction(float(by))
        elif family != "exact" or not self._is_exact(whole):
            return None
        exact = family == "exact"
        changed = Read(read.name, by, exact=exact) if symbol == "*" else Read(read.name, offset=by, exact=exact)
        return changed, family

    def _negated(self, whole: Expression, operand: Expression, shift: int) -> _Value | None:
        found = self._value(operand, shift)
        if found is None:
            return None
        value, family = found
        if isinstance(value, Constant):
            return (Constant(-Fraction(value.value)), family) if family == "number" else None
        if value.offset != 0 or family not in ("float", "exact") or (family == "exact" and not self._is_exact(whole)):
            return None
        return replace(value, factor=-value.factor), family

    def _is_exact(self, whole: Expression) -> bool:
        """Whether Spark rounds nothing, and integers do not run over in silence."""
        type_ = self.type_of(without_places(whole))
        if type_ is None or type_.kind not in _EXACT:
            return False
        if type_.kind is Kind.INTEGER:
            return not self.lenient
        return type_.precision < _DIGITS


def looks_at_rows_only(condition: Expression) -> bool:
    """Whether a condition looks at rows at fixed distances only, never at the match."""
    for node in e.walk(condition):
        if isinstance(node, e.At) and (node.place != Place(shift=node.place.shift) or node.absent is not None):
            return False
        if isinstance(node, (e.Pair, e.ClassifierAt, e.BoundAggregate, e.MatchNumber)):
            return False
    return True


def without_places(value: Expression) -> Expression:
    """A value as an expression over columns, as if all were read in one row: it has the same type."""
    return without_places(value.value) if isinstance(value, e.At) else e.rebuild(value, without_places)


def _opaque(condition: Expression, shift: int) -> Opaque:
    return Opaque(f"{condition} @ {shift}")


def _constant(text: str) -> _Value | None:
    if (number := _NUMBER.fullmatch(text)) and len(number[1].replace(".", "")) <= _DIGITS:
        return Constant(Fraction(number[1])), "number"
    if date := _DATE.fullmatch(text):
        return Constant(date[1], "date"), "date"
    if string := _TEXT.fullmatch(text):
        return Constant(string[1], "text"), "text"
    return None


def _as_float(side: Read | Constant) -> Read | Constant:
    """A constant beside floats is rounded to one."""
    if isinstance(side, Constant):
        assert not isinstance(side.value, str)
        return Constant(Fraction(float(side.value)))
    return side
