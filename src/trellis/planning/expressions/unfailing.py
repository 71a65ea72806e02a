"""Conditions that cannot fail, for rows that the query itself would never test.

A join tests a condition on more pairs of rows than the search does, and Spark moves a filter below the joins of the
input, where rows are that the input does not have. Where a condition would divide by zero or overflow there, the query
must not fail. Spark has `try_` functions that give NULL instead, and what is not true is in no match. Functions that
are not known here, the user's own among them, are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.analysis.repeatable import is_repeatable
from trellis.analysis.row_tests import without_places
from trellis.analysis.types import MOST_DIGITS, Kind
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.value_kinds import Types, casts_text, kind_of, types_in

__all__ = ["Safety", "cannot_fail", "row_filter", "unfailing"]

_TRY = {"+": "try_add", "-": "try_subtract", "*": "try_multiply", "/": "try_divide", "%": "try_mod"}
_SAFE_OPERATORS = frozenset(
    {"=", "<>", "<", "<=", ">", ">=", "AND", "OR", "NOT", "BETWEEN", "IN", "IS NULL", "IS NOT NULL", "||", "<=>"}
    | {"IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE"}
)
_LENIENT_OPERATORS = _SAFE_OPERATORS | {*_TRY, "NEG", "DIV"}
_SAFE_FUNCTIONS = frozenset(
    "coalesce nullif ifnull nvl nvl2 if least greatest isnull isnotnull isnan nanvl "
    "upper ucase lower lcase length char_length character_length trim ltrim rtrim btrim initcap reverse concat "
    "substring substr left right startswith endswith contains instr replace translate ascii md5 sha1 sha2 "
    "abs ceil ceiling floor sqrt exp ln log10 log2 sin cos tan atan degrees radians sign signum hash xxhash64 "
    "size cardinality array_contains current_date current_timestamp now localtimestamp date_trunc trunc "
    "weekday dayname year month day dayofmonth dayofweek dayofyear hour minute second quarter weekofyear".split()
)
# Spark's own syntax, with "?" for the operands. A pattern that is a constant was read before.
_SAFE_SYNTAX = re.compile(r"\(\? [&|^] \?\)|EXTRACT\(\w+ FROM \?\)|POSITION\(\? IN \?\)|TRY_CAST\(\? AS [^?]*\)")
_LIKE = re.compile(r"\(\? (LIKE|ILIKE|RLIKE) \?\)")


@dataclass(frozen=True, slots=True)
class Safety:
    """What decides whether an expression may fail: ANSI mode (`lenient` is Spark without), and the types of columns."""

    lenient: bool = False
    types: Types = field(default_factory=dict)

    @staticmethod
    def of(conditions: Iterable[Expression], columns: Columns, lenient: bool) -> Safety:
        """For these conditions."""
        return Safety(lenient, {} if lenient else types_in(conditions, columns))


def row_filter(parts: tuple[Expression, ...], safety: Safety) -> Expression | None:
    """What of conditions on one row, which must all hold, can be tested wherever Spark likes; None if nothing can."""
    safe = [unfailing(part, safety) for part in parts if is_repeatable(part)]
    kept = tuple(part for part in safe if part is not None)
    if not kept:
        return None
    return kept[0] if len(kept) == 1 else e.Operator("AND", kept)


def unfailing(expression: Expression, safety: Safety) -> Expression | None:
    """The same condition, NULL where it would fail; None if that cannot be said of one of its functions."""
    if not safety.lenient and casts_text(expression, safety.types):
        return None
    return _unfailing(expression, safety)


def cannot_fail(condition: Expression, columns: Columns, safety: Safety) -> bool:
    """Whether a bound condition can be tested on rows that the search would never ask about.

    Of arithmetic, that is so of floats, and of decimals with digits to spare.
    """
    plain = without_places(condition)
    if casts_text(plain, safety.types):
        return False
    for node in e.walk(plain):
        match node:
            case e.Literal() | e.Column() | e.Parameter():
                pass
            case e.Operator(symbol="+" | "-" | "*" | "NEG"):
                type_ = columns.type_of(node)
                decimal = type_ is not None and type_.kind is Kind.DECIMAL and type_.precision < MOST_DIGITS
                if not decimal and (type_ is None or not type_.is_float):
                    return False
            case e.Operator(symbol=symbol) if symbol in _SAFE_OPERATORS:
                pass
            case _:
                return False
    return True


def _unfailing(expression: Expression, safety: Safety) -> Expression | None:
    lenient = safety.lenient
    match expression:
        case e.Literal() | e.Column() | e.Parameter():
            return expression
        case e.Operator(symbol="NEG", operands=(e.Literal(),)):
            return expression
        case e.Operator(symbol="NEG", operands=(operand,)) | e.Call(function="abs", arguments=(operand,)) if (
            not lenient
        ):
            return _turned(expression, operand, safety)
        case e.Operator(symbol=symbol, operands=operands) if symbol in _TRY and not lenient:
            parts = _all(operands, safety)
            return None if parts is None else e.Call(_TRY[symbol], parts)
        case e.Operator(symbol=symbol) if symbol not in (_LENIENT_OPERATORS if lenient else _SAFE_OPERATORS):
            return None
        case e.Call(function="floor" | "ceil" | "ceiling", arguments=(argument, *_)) if not lenient and (
            kind_of(argument, safety.types) not in ("decimal", "whole")
        ):
            # A float may be too large for a whole number.
            return None
        case e.Call(function=function) if function.lower() not in _SAFE_FUNCTIONS:
            return None
        case e.Raw(parts=("CAST(", value, str() as type_)) if not isinstance(value, str):
            part = _unfailing(value, safety)
            return None if part is None else e.Raw(("CAST(" if lenient else "TRY_CAST(", part, type_))
        case e.Raw() if not _is_safe_syntax(expression):
            return None
        case e.Operator() | e.Call() | e.Case() | e.Raw():
            parts = _all(e.children(expression), safety)
            if parts is None:
                return None
            rest = iter(parts)
            return e.rebuild(expression, lambda _: next(rest))
        case _:
            return None


def _turned(expression: Expression, operand: Expression, safety: Safety) -> Expression | None:
    """`-x` or `abs(x)`: of whole numbers, the least one has no opposite; small ones would be widened."""
    part = _unfailing(operand, safety)
    kind = kind_of(operand, safety.types)
    if part is None or kind not in ("float", "decimal", "time", "whole"):
        return None
    if kind != "whole":
        return e.rebuild(expression, lambda _: part)
    opposite = e.Call("try_multiply", (part, e.Literal("-1")))
    if isinstance(expression, e.Operator):
        return opposite
    return e.Call("if", (e.Operator("<", (part, e.Literal("0"))), opposite, part))


def _all(expressions: tuple[Expression, ...], safety: Safety) -> tuple[Expression, ...] | None:
    found = [_unfailing(expression, safety) for expression in expressions]
    kept = tuple(part for part in found if part is not None)
    return kept if len(kept) == len(found) else None


def _is_safe_syntax(raw: e.Raw) -> bool:
    shape = "".join(part if isinstance(part, str) else "?" for part in raw.parts)
    if _LIKE.fullmatch(shape):
        return isinstance(raw.parts[-2], e.Literal)
    return _SAFE_SYNTAX.fullmatch(shape) is not None
