"""Scalar functions move inside navigation: `upper(LAST(A.name))` becomes `[upper(name) @ LAST(A)]`.

What stands inside an `At` is a slot: Spark computes it as a column, and only the choice of the row is left to the
kernel. Before and after, for the condition of B:

    B.price > 1.1 * A.price AND B.size > 10
    [size > 10 @ CURRENT] AND [price @ CURRENT] > [1.1 * price @ LAST(A)]

A function of a value that is NULL because its row does not exist need not be NULL itself: `coalesce(PREV(x), 0)` is 0
before the first row. Where that can be, the `At` carries the value of the function on NULLs (`absent`).
"""

from __future__ import annotations

from dataclasses import replace

from trellis.algebra import expression as e
from trellis.algebra.expression import At, Expression
from trellis.algebra.place import Place

__all__ = [
    "STRICT_FUNCTIONS",
    "calls_registered",
    "has_functions",
    "hoist_all",
    "hoist_slots",
    "is_cast",
    "is_constant",
    "may_fail",
    "null_of",
    "spared",
]

_CURRENT = Place()

# Operators that are NULL as soon as one operand is.
_STRICT_OPERATORS = frozenset(
    {"=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "DIV", "||", "NEG", "NOT", "BETWEEN", "IN"}
)
# Functions that are NULL as soon as one argument is. A function that is missing here costs a column, not an answer.
STRICT_FUNCTIONS = frozenset(
    "abs ceil ceiling floor round sqrt exp ln log10 log2 power pow sign "
    "upper lower length trim ltrim rtrim substring substr "
    "year month day dayofmonth dayofweek dayofyear hour minute second quarter weekofyear date_trunc trunc "
    "unix_timestamp to_date to_timestamp date_format date_add date_sub datediff".split()
)


def hoist_slots(condition: Expression) -> Expression:
    """Move everything into slots that reads a single row.

    A division at another row stays with the kernel: Spark would compute it in all rows, and fail for a zero in a row
    that nobody asks about.
    """
    return _settle_constants(_hoist(condition))


def has_functions(condition: Expression) -> bool:
    """Whether Spark computes anything of a condition: slots that are more than a column."""
    return any(isinstance(node, At) and not isinstance(node.value, e.Column) for node in e.walk(condition))


def may_fail(expression: Expression) -> bool:
    """Whether an operator divides by something that is not a constant."""
    return isinstance(expression, e.Operator) and (
        expression.symbol in ("/", "%", "DIV") and not isinstance(expression.operands[1], e.Literal)
    )


def is_cast(expression: Expression) -> bool:
    """Whether an expression is a CAST, which fails for a value that does not fit."""
    return isinstance(expression, e.Raw) and isinstance(expression.parts[0], str) and expression.parts[0] == "CAST("


def hoist_all(expression: Expression) -> Expression:
    """The expression as one slot, where all that it reads is one row; divisions too."""
    if isinstance(expression, At):
        return expression
    return _combine(e.rebuild(expression, hoist_all), always=True)


def null_of(value: Expression) -> Expression:
    """A NULL of the type of a value."""
    return e.Case(((e.Literal("FALSE"), value),))


def spared(call: Expression, missing: tuple[Expression, ...]) -> Expression:
    """A call without rows: a registered function is NULL, and not called, where one of these arguments is NULL.

    `missing` are the arguments that read a row which does not exist. What is NULL there is so for all rows, so that
    Spark takes the call out of the plan before anything runs.
    """
    if not (isinstance(call, e.Call) and call.registered and missing):
        return call
    there = tuple(e.Operator("IS NOT NULL", (argument,)) for argument in missing)
    return e.Case(((there[0] if len(there) == 1 else e.Operator("AND", there), call),))


def calls_registered(value: Expression) -> bool:
    """Whether a value is a registered function of columns alone: Spark must compute it in rows that exist."""
    nodes = list(e.walk(value))
    of_match = any(isinstance(node, (e.Classifier, e.MatchNumber)) for node in nodes)
    return not of_match and any(isinstance(node, e.Call) and node.registered for node in nodes)


def is_constant(expression: Expression) -> bool:
    """Whether an expression reads no row at all."""
    reads = (At, e.ClassifierAt, e.BoundAggregate, e.SegmentCall, e.MatchNumber, e.Column, e.Classifier)
    return not any(isinstance(node, reads) for node in e.walk(expression))


def _hoist(expression: Expression) -> Expression:
    match expression:
        case At(value=e.Operator()) if expression.place != _CURRENT and any(map(may_fail, e.walk(expression.value))):
            return _sink(expression.value, expression.place)
        case At() | e.ClassifierAt() | e.BoundAggregate() | e.SegmentCall() | e.MatchNumber():
            return expression
    expression = e.rebuild(expression, _hoist)
    if isinstance(expression, e.Operator) and expression.symbol in ("AND", "OR"):
        expression = _group_operands(expression)
    return _combine(expression)


def _sink(value: Expression, place: Place) -> Expression:
    """`[x / y @ p]` becomes `[x @ p] / [y @ p]`, as far as the operators are NULL where the row does not exist."""
    if isinstance(value, e.Operator) and value.symbol in ("+", "-", "*", "/", "%", "DIV", "NEG"):
        return e.rebuild(value, lambda operand: operand if is_constant(operand) else _sink(operand, place))
    return At(value, place, span=value.span)


def _group_operands(operator: e.Operator) -> Expression:
    """Bring the operands of AND or OR that read the same row together."""
    groups: dict[object, list[Expression]] = {}
    for number, operand in enumerate(operator.operands):
        groups.setdefault(operand.place if isinstance(operand, At) else number, []).append(operand)
    operands = [
        group[0] if len(group) == 1 else _combine(replace(operator, operands=tuple(group))) for group in groups.values()
    ]
    return operands[0] if len(operands) == 1 else replace(operator, operands=tuple(operands))


def _combine(expression: Expression, *, always: bool = False) -> Expression:
    """`f([x @ p], [y @ p], constant)` becomes `[f(x, y, constant) @ p]`."""
    children = e.children(expression)
    slots = [child for child in children if isinstance(child, At)]
    others = [child for child in children if not isinstance(child, At)]
    if not slots or len({slot.place for slot in slots}) > 1 or not all(map(is_constant, others)):
        return expression
    place = slots[0].place
    if may_fail(expression) and place != _CURRENT and not always:
        return expression
    value = e.rebuild(expression, lambda child: child.value if isinstance(child, At) else child)
    absent = None
    if place != _CURRENT and not _is_strict(expression):
        nulls = {child: child.absent or null_of(child.value) for child in children if isinstance(child, At)}
        absent = spared(
            e.rebuild(expression, lambda child: nulls[child] if isinstance(child, At) else child),
            tuple(nulls.values()),
        )
    return At(value, place, absent, span=expression.span)


def _is_strict(expression: Expression) -> bool:
    """Whether the value is surely NULL when the row of its slots does not exist."""
    slots = [child for child in e.children(expression) if isinstance(child, At)]
    if any(slot.absent is not None for slot in slots):
        return False
    match expression:
        case e.Operator(symbol="BETWEEN" | "IN", operands=(At(), *_)):
            return True
        case e.Operator(symbol="BETWEEN" | "IN"):
            return False
        case e.Operator(symbol=symbol):
            # AND and OR of NULLs alone are NULL; a constant among them may decide.
            alone = len(slots) == len(expression.operands)
            return symbol in _STRICT_OPERATORS or (symbol in ("AND", "OR") and alone)
        case e.Call(function=function):
            return function in STRICT_FUNCTIONS
        case e.Raw(parts=(str() as opening, At(), *_)):
            return opening.upper().startswith("CAST(")
        case _:
            return False


def _settle_constants(expression: Expression) -> Expression:
    """Constants that only Spark can compute (parameters, subqueries, functions) become slots of the current row."""
    match expression:
        case At() | e.ClassifierAt() | e.BoundAggregate() | e.SegmentCall() | e.MatchNumber() | e.Literal():
            return expression
        case e.Operator(symbol="NEG", operands=(e.Literal(),)):
            return expression
    if is_constant(expression):
        return At(expression, _CURRENT, span=expression.span)
    if isinstance(expression, (e.Call, e.Raw)):
        return expression if isinstance(expression, e.Raw) else e.rebuild(expression, _settle_constants)
    return e.rebuild(expression, _settle_constants)
