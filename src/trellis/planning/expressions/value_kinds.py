"""Of what kind a value is, without asking Spark: as much as is needed to know whether computing it can fail.

Text beside numbers and times is cast by Spark, and where it is none of them, the cast fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.planning.expressions.columns import Columns

__all__ = ["Types", "casts_text", "kind_of", "types_in"]

Types = Mapping[Expression, str]
"""The types of columns and parameters, as Spark names them."""

_ONE_TYPE = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>", "BETWEEN", "IN"})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "DIV", "NEG"})
_TRUTH = frozenset({"AND", "OR", "NOT", "IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE"})
_CHOICES = frozenset("coalesce ifnull nvl nullif least greatest if nvl2".split())
_TO_TEXT = frozenset(
    "upper ucase lower lcase trim ltrim rtrim btrim initcap reverse concat replace translate md5 sha1".split()
)
# The first argument is text, the others are numbers.
_CUT_TEXT = frozenset("substring substr left right sha2".split())
_OF_TEXT = frozenset(
    "length char_length character_length startswith endswith contains instr ascii "
    "isnull isnotnull hash xxhash64 size cardinality array_contains".split()
)
_FLOATS = frozenset("sqrt exp ln log10 log2 sin cos tan atan degrees radians".split())
_NAMED = re.compile(r" AS (\w+)[^?]*\)$")
# Kernels hold fewer types than these: no intervals of months.
_KINDS = {
    "string": "text",
    "varchar": "text",
    "char": "text",
    "float": "float",
    "double": "float",
    "decimal": "decimal",
    "int": "whole",
    "integer": "whole",
    "bigint": "whole",
    "long": "whole",
    "date": "time",
    "timestamp": "time",
    "timestamp_ntz": "time",
    "interval": "time",
}


def types_in(expressions: Iterable[Expression], columns: Columns) -> Types:
    """The types of all columns and parameters in these expressions."""
    nodes = (node for expression in expressions for node in e.walk(expression))
    read = list(dict.fromkeys(node for node in nodes if isinstance(node, (e.Column, e.Parameter))))
    columns.learn(read)
    return {one: columns.type_text(one) for one in read}


def kind_of(value: Expression, types: Types) -> str:
    """`text`, `float`, `decimal`, `whole` (32 or 64 bits), `time` (intervals, too), or `other`."""
    match value:
        case e.Literal(text=text):
            return _kind_of_literal(text)
        case e.Column(path=path):
            # Columns of joined rows stand in structs.
            return _kind_of_type(types.get(value) or types.get(e.Column(path[1:])) or "")
        case e.Parameter():
            return _kind_of_type(types.get(value, ""))
        case e.Operator(symbol="||"):
            return "text"
        case e.Operator(symbol=symbol, operands=operands) if symbol in _ARITHMETIC:
            found = _common([kind_of(operand, types) for operand in operands])
            return "float" if symbol == "/" and found == "whole" else found
        case e.Call(function=function) if function in _TO_TEXT | _CUT_TEXT:
            return "text"
        case e.Call(function=function) if function in _FLOATS:
            return "float"
        case e.Call(function="abs", arguments=(argument,)):
            return kind_of(argument, types)
        case e.Raw(parts=(str(), *_, str() as last)) if named := _NAMED.search(last):
            return _kind_of_type(named[1].lower())
        case _:
            chosen = _chosen(value)
            return _common([kind_of(one, types) for one in chosen]) if chosen else "other"


def _kind_of_type(type_: str) -> str:
    return _KINDS.get(re.split(r"[^a-z_]", type_, maxsplit=1)[0], "other")


def _kind_of_literal(text: str) -> str:
    upper = text.upper()
    if upper == "NULL":
        return "null"
    if upper.startswith(("'", '"')):
        return "text"
    if upper.startswith(("INTERVAL", "DATE", "TIMESTAMP")):
        return "time"
    if not re.match(r"[-+.\d]", upper):
        return "other"
    if upper.endswith(("D", "F")) and not upper.endswith("BD"):
        return "float"
    return "float" if "E" in upper else "decimal" if "." in upper or upper.endswith("BD") else "whole"


def _common(kinds: list[str]) -> str:
    """The kind of a number that is made of others, or of a value that is chosen from them."""
    found = set(kinds) - {"null"}
    for kind in ("other", "text", "time", "float", "decimal", "whole"):
        if kind in found:
            return kind
    return "other"


def casts_text(expression: Expression, types: Types) -> bool:
    """Whether Spark must cast a text of some row that nobody asked it to cast; the expression is a truth value."""
    return _varies(expression, types) or any(_casts(node, types) for node in e.walk(expression))


def _casts(node: Expression, types: Types) -> bool:
    match node:
        case e.Operator(symbol=symbol, operands=operands) if symbol in _ARITHMETIC | _TRUTH:
            return _any_varies(operands, types)
        case e.Operator(symbol=symbol, operands=operands) if symbol in _ONE_TYPE:
            return _mixes(operands, types)
        case e.Case() | e.Call() if _chosen(node):
            return _mixes(_chosen(node), types)
        case e.Call(function=function, arguments=(_, *numbers)) if function in _CUT_TEXT:
            return _any_varies(numbers, types)
        case e.Call(function=function, arguments=arguments) if function not in _TO_TEXT | _OF_TEXT:
            return _any_varies(arguments, types)
        case e.Raw(parts=(str() as text, *_)) if not text.startswith(("CAST(", "TRY_CAST(", "POSITION(")):
            return "LIKE " not in str(node).upper() and _any_varies(e.children(node), types)
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


def _mixes(values: Iterable[Expression], types: Types) -> bool:
    """Whether a text of some row stands among values of another type."""
    values = tuple(values)
    return _any_varies(values, types) and not all(kind_of(value, types) in ("text", "null") for value in values)


def _any_varies(values: Iterable[Expression], types: Types) -> bool:
    return any(_varies(value, types) for value in values)


def _varies(value: Expression, types: Types) -> bool:
    """Whether a value is a text that is not the same for all rows: a constant that fails, fails always."""
    return _has_text(value, types) and any(isinstance(node, e.Column) for node in e.walk(value))


def _has_text(value: Expression, types: Types) -> bool:
    """Whether a value is text, or chosen from some that are."""
    return kind_of(value, types) == "text" or any(_has_text(one, types) for one in _chosen(value))
