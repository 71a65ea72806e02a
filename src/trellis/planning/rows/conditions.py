"""How each condition is tested: by Spark, as a bit computed for each row, or by a program during the search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce

from trellis.algebra import expression as e
from trellis.algebra.automaton import Condition
from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression
from trellis.algebra.place import Place
from trellis.analysis.source import Constant
from trellis.analysis.types import Kind
from trellis.errors import BindingError
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.hoist_slots import hoist_slots, is_constant
from trellis.planning.expressions.pair_slots import reads_pairs
from trellis.planning.expressions.program import ProgramBuilder
from trellis.planning.expressions.slots import SlotTable, is_between, labelled
from trellis.planning.expressions.spread_labels import LabelTables, spread_labels
from trellis.planning.expressions.typing_rules import NotInKernelError
from trellis.planning.rows.merge_states import registers_of, sets_of
from trellis.planning.rows.row_conditions import RowConditions
from trellis.planning.rule import Firing
from trellis.planning.rules import HOIST_SLOTS, PAIR_SLOTS, SPREAD_LABELS

_CURRENT = Place()
_BITS = 30


def plan_conditions(
    bound: BoundQuery,
    columns: Columns,
    rules: Firing,
    *,
    lenient: bool,
    constant: Constant = lambda _: None,
    settle: Callable[[Expression], Expression] | None = None,
) -> RowConditions:
    """Split every condition into what Spark computes and what kernels compute.

    `constant` gives the values of expressions that read no row; `settle` changes what is split.
    """
    spread = {name: spread_labels(condition, bound.variables, columns) for name, condition in bound.conditions}
    split = rules.apply(HOIST_SLOTS, spread) or {name: _settle(condition) for name, condition in spread.items()}
    written = {} if settle is None else {variable: str(condition) for variable, condition in split.items()}
    if settle is not None:
        split = {variable: settle(condition) for variable, condition in split.items()}
    columns.learn(_values(split))
    slots = SlotTable(bound.variables)
    tables = LabelTables(bound.variables, columns, constant)

    def is_possible(part: Expression) -> bool:
        return _is_possible(part, columns, bound.variables)

    split = rules.apply(SPREAD_LABELS, split, is_possible, tables) or split
    split = rules.apply(PAIR_SLOTS, split, is_possible, tables) or split
    builder = ProgramBuilder(columns, slots)
    planned = tuple(_plan(variable, split.get(variable), builder, columns) for variable in bound.variables)
    planned = tuple(replace(one, text=written.get(one.variable, one.text)) for one in _pack(planned, split, columns))
    places, aggregates = tuple(builder.places), tuple(builder.aggregates)
    sets = sets_of(places, aggregates)
    reads = {}
    for condition in planned:
        if condition.where == "kernel":
            expression = split[condition.variable]
            numbers = {
                node: builder.aggregates[builder.aggregate(node)]
                for node in e.walk(expression)
                if isinstance(node, e.BoundAggregate)
            }
            reads[condition.variable] = registers_of(expression, numbers, aggregates, sets)
    return RowConditions(planned, slots, builder.finish(lenient), places, aggregates, sets, reads)


def _plan(variable: str, condition: Expression | None, builder: ProgramBuilder, columns: Columns) -> Condition:
    if condition is None:
        return Condition(variable, "always", "")
    text = str(condition)
    if isinstance(condition, e.At) and condition.place == _CURRENT:
        kind = columns.type_of(condition.value)
        if kind is None or kind.kind not in (Kind.BOOLEAN, Kind.NULL):
            raise BindingError(
                f"The condition of {variable} is of type {columns.type_text(condition.value)}, not a truth value.",
                cure="Compare it with something: x > 0.",
                span=condition.span,
            )
        return Condition(variable, "spark", text)
    begin, end = builder.add(condition)
    local = _is_local(condition)
    where = "bit" if local else "kernel"
    return Condition(variable, where, text, begin=begin, end=end, slow=reads_pairs(condition))


def _pack(planned: tuple[Condition, ...], split: Mapping[str, Expression], columns: Columns) -> tuple[Condition, ...]:
    """Conditions of single rows travel together, a bit of one number each: a column costs more than what is in it."""
    values = {
        condition.variable: split[condition.variable].value  # type: ignore[union-attr]
        for condition in planned
        if condition.where == "spark"
    }
    different = list(dict.fromkeys(values.values()))
    if len(different) == 1:
        column = columns.ship(different[0])
        return tuple(replace(one, column=column) if one.where == "spark" else one for one in planned)
    masks: list[str] = []
    for first in range(0, len(different), _BITS):
        bits: list[Expression] = [
            e.Case(((value, e.Literal(str(1 << bit))),), e.Literal("0"))
            for bit, value in enumerate(different[first : first + _BITS])
        ]
        mask = reduce(lambda one, other: e.Operator("+", (one, other)), bits)
        columns.types[mask] = "int"
        masks.append(columns.ship(mask))
    return tuple(
        replace(one, column=masks[place // _BITS], mask=place % _BITS)
        if one.where == "spark" and (place := different.index(values[one.variable])) >= 0
        else one
        for one in planned
    )


def _is_possible(condition: Expression, columns: Columns, variables: tuple[str, ...]) -> bool:
    """Whether kernels can compute an expression: tried out, without leaving a trace."""
    trial = Columns(columns.types_of, dict(columns.names), columns.types, dict(columns.shipped))
    builder = ProgramBuilder(trial, SlotTable(variables))
    try:
        builder.emit(condition, builder.infer(condition))
    except NotInKernelError:
        return False
    return True


def _is_local(condition: Expression) -> bool:
    """Whether a condition looks at a row and its physical neighbours only, never at the match."""
    for node in e.walk(condition):
        match node:
            case e.At(place=place) if place != Place(shift=place.shift):
                return False
            case e.Pair(first=first, second=second) if not {first, second} <= {
                Place(shift=first.shift),
                Place(shift=second.shift),
            }:
                return False
            case e.ClassifierAt() | e.BoundAggregate() | e.MatchNumber():
                return False
            case _:
                pass
    return True


def _values(conditions: Mapping[str, Expression]) -> list[Expression]:
    """All expressions over one row, to ask for their types in one go."""
    values: list[Expression] = []
    for condition in conditions.values():
        for node in e.walk(condition):
            if isinstance(node, e.At):
                values.append(node.value)
            elif isinstance(node, e.BoundAggregate):
                values.extend(labelled(argument, "") for argument in node.arguments if not is_between(argument))
    return values


def _settle(expression: Expression) -> Expression:
    """Without hoisting, only constants that Spark must compute become slots."""
    match expression:
        case e.At() | e.ClassifierAt() | e.BoundAggregate() | e.MatchNumber() | e.Literal():
            return expression
        case e.Operator(symbol="NEG", operands=(e.Literal(),)):
            return expression
        case e.Raw() | e.Parameter():
            return e.At(expression, _CURRENT) if is_constant(expression) else hoist_slots(expression)
        case e.Call() if is_constant(expression):
            return e.At(expression, _CURRENT)
        case _:
            return e.rebuild(expression, _settle)
