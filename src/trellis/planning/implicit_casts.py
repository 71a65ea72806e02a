"""Text beside numbers and times: Spark casts the text, and where it is none of them, the cast fails."""

from __future__ import annotations

import re
from collections.abc import Iterable

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.planning.columns import Columns

__all__ = ["casts_text", "texts_in"]

_ONE_TYPE = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>", "BETWEEN", "IN"})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "DIV", "NEG"})
_CHOICES = frozenset("coalesce ifnull nvl nullif least greatest if nvl2".split())
_TO_TEXT = frozenset(
    "upper ucase lower lcase trim ltrim rtrim btrim initcap reverse concat substring substr left right "
    "replace translate md5 sha1 sha2".split()
)
_OF_TEXT = frozenset(
    "length char_length character_length startswith endswith contains instr ascii "
    "isnull isnotnull hash xxhash64 size cardinality array_contains".split()
)
_AS_TEXT = re.compile(r" AS (STRING|VARCHAR|CHAR)\b", re.IGNORECASE)


def texts_in(expressions: Iterable[Expression], columns: Columns) -> frozenset[Expression]:
    """The columns and parameters in these expressions that are texts."""
    nodes = (node for expression in expressions for node in e.walk(expression))
    read = list(dict.fromkeys(node for node in nodes if isinstance(node, (e.Column, e.Parameter))))
    columns.learn(read)
    return frozenset(one for one in read if columns.type_text(one).startswith(("string", "varchar", "char")))


def casts_text(expression: Expression, texts: frozenset[Expression]) -> bool:
    """Whether Spark must cast a text of some row that nobody asked it to cast."""
    return any(_casts(node, texts) for node in e.walk(expression))


def _casts(node: Expression, texts: frozenset[Expression]) -> bool:
    match node:
        case e.Operator(symbol=symbol, operands=operands) if symbol in _ARITHMETIC:
            return any(_varies(operand, texts) for operand in operands)
        case e.Operator(symbol=symbol, operands=operands) if symbol in _ONE_TYPE:
            return _mixes(operands, texts)
        case e.Case() | e.Call() if _chosen(node):
            return _mixes(_chosen(node), texts)
        case e.Call(function=function, arguments=arguments) if function not in _TO_TEXT | _OF_TEXT:
            return any(_varies(argument, texts) for argument in arguments)
        case e.Raw(parts=(str() as text, *_)) if not text.startswith(("CAST(", "TRY_CAST(", "POSITION(")):
            return "LIKE " not in str(node).upper() and any(_varies(part, texts) for part in e.children(node))
        case _:
            return False


def _chosen(node: Expression) -> tuple[Expression, ...]:
    """The values that an expression chooses from: they get one type, which is its own."""
    match node:
        case e.Case(branches=branches, otherwise=otherwise):
            values = tuple(value for _, value in branches)
            return values if otherwise is None else (*values, otherwise)
        case e.Call(function="if" | "nvl2", arguments=(_, *values)):
            return tuple(values)
        case e.Call(function=function, arguments=arguments) if function in _CHOICES:
            return arguments
        case _:
            return ()


def _mixes(values: tuple[Expression, ...], texts: frozenset[Expression]) -> bool:
    """Whether a text of some row stands among values of another type."""
    alike = all(_is_text(value, texts) or str(value).upper() == "NULL" for value in values)
    return not alike and any(_varies(value, texts) for value in values)


def _varies(value: Expression, texts: frozenset[Expression]) -> bool:
    """Whether a value is a text that is not the same for all rows: a constant that fails, fails always."""
    return _is_text(value, texts) and any(isinstance(node, e.Column) for node in e.walk(value))


def _is_text(value: Expression, texts: frozenset[Expression]) -> bool:
    match value:
        case e.Literal(text=text):
            return text.startswith(("'", '"'))
        case e.Column(path=path):
            # Columns of joined rows stand in structs.
            return value in texts or e.Column(path[1:]) in texts
        case e.Parameter():
            return value in texts
        case e.Operator(symbol=symbol):
            return symbol == "||"
        case e.Call(function=function) if function in _TO_TEXT:
            return True
        case e.Raw(parts=parts):
            return isinstance(parts[-1], str) and _AS_TEXT.search(parts[-1]) is not None
        case _:
            return any(_is_text(one, texts) for one in _chosen(value))
