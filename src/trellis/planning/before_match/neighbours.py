"""PREV and NEXT as columns, so that rows which nobody else sees may be dropped.

Once rows are dropped (`eliminate_rows`), another row stands before a row. So Spark computes the values of neighbours
while all rows are there, of the sorted rows. Before and after, for the condition of B, where `previous` is
`lag(price, 1)`:

    [price @ CURRENT] < [price @ CURRENT -1]
    [price @ CURRENT] < [previous @ CURRENT]

These rows are dropped behind the exchange, not before it; but before they go to Python, which costs more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from trellis.algebra import expression as e
from trellis.algebra.automaton import Instruction
from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import At, Expression
from trellis.algebra.plan import NeighbourPlan
from trellis.analysis.condition_kinds import classify
from trellis.planning.before_match.demands import has_reserved_names
from trellis.planning.before_match.eliminate_rows import eliminate_rows
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.hoist_slots import calls_registered
from trellis.planning.expressions.unfailing import Safety

__all__ = ["Neighbours", "as_written", "neighbour_columns"]

_ROW = e.Literal("TRUE")


@dataclass(slots=True)
class Neighbours:
    """Values of neighbours, by expression and distance; and the rows that must be kept, over columns of the input."""

    values: dict[tuple[Expression, int], e.Column] = field(default_factory=dict)
    keep: Expression = _ROW

    def by_slot(self, expression: Expression) -> Expression:
        """The expression with columns in place of PREV and NEXT: of whatever Spark computes of their rows already."""
        match expression:
            case At(value=value, place=place, absent=absent) if place.shift and _reads_columns_alone(value):
                moved: Expression = self._column(value, place.shift)
                if absent is not None:
                    moved = e.Case(((self._is_there(place.shift), moved),), absent)
                return replace(expression, value=moved, place=replace(place, shift=0))
            case At() | e.BoundAggregate():
                return expression
            case _:
                return e.rebuild(expression, self.by_slot)

    def by_column(self, expression: Expression) -> Expression:
        """As `by_slot`, but of columns of the input alone: functions of them stay outside, and fail only there."""
        match expression:
            case At(value=value, place=place) if place.shift and _reads_columns_alone(value):
                shift, there = place.shift, replace(place, shift=0)

                def read(node: Expression) -> Expression:
                    if isinstance(node, e.Column):
                        return At(self._column(node, shift), there)
                    return e.rebuild(node, read)

                if isinstance(value, e.Column):
                    return read(value)
                if calls_registered(value):
                    return At(self._column(value, shift), there)
                return e.Case(((At(self._is_there(shift), there), read(value)),))
            case At() | e.BoundAggregate():
                return expression
            case _:
                return e.rebuild(expression, self.by_column)

    def __str__(self) -> str:
        own = {column: key for key, column in self.values.items()}

        def written(node: Expression) -> Expression:
            if isinstance(node, e.Column) and node in own:
                return as_written(*own[node])
            return e.rebuild(node, written)

        return str(written(self.keep))

    def columns_after(self, columns: Columns) -> Columns:
        """The columns of a plan of which nothing is shipped yet, in the same order, so that ties are broken alike."""

        def types_of(expressions: Sequence[Expression]) -> Sequence[str]:
            return columns.types_of([self._in_place(expression) for expression in expressions])

        return Columns(types_of, dict(columns.names), columns.types)

    def finish(self, columns: Columns) -> NeighbourPlan:
        """The plan; of the columns, those that can be computed only when the rows are sorted are taken out."""
        own = {column: key for key, column in self.values.items()}
        late = {
            expression: name
            for expression, name in columns.names.items()
            if any(node in own for node in e.walk(expression) if isinstance(node, e.Column))
        }

        def settle(node: Expression) -> Expression:
            is_column = isinstance(node, e.Column) and node not in own
            if is_column or (node in columns.names and node not in late and not isinstance(node, e.Literal)):
                return e.Column((columns.project(node),))
            return e.rebuild(node, settle)

        projected = tuple((name, settle(expression)) for expression, name in late.items())
        keep = settle(self.keep)
        read = {node for expression in (keep, *(value for _, value in projected)) for node in e.walk(expression)}
        sources = tuple(
            (column.path[0], columns.project(value), shift)
            for (value, shift), column in self.values.items()
            if column in read
        )
        for expression in late:
            del columns.names[expression]
        return NeighbourPlan(sources, projected, keep)

    def _column(self, value: Expression, shift: int) -> e.Column:
        return self.values.setdefault((value, shift), e.Column((f"__trellis_neighbour{len(self.values)}",)))

    def _is_there(self, shift: int) -> Expression:
        return e.Operator("IS NOT NULL", (self._column(_ROW, shift),))

    def _in_place(self, expression: Expression) -> Expression:
        """The expression over one row: of the same type, and Spark knows its columns."""
        values = {column: value for (value, _), column in self.values.items()}
        if isinstance(expression, e.Column):
            return values.get(expression, expression)
        return e.rebuild(expression, self._in_place)


def as_written(value: Expression, shift: int) -> Expression:
    """A value of another row as a query would say it."""
    steps = () if abs(shift) == 1 else (e.Literal(str(abs(shift))),)
    return e.Call("PREV" if shift < 0 else "NEXT", (value, *steps))


def neighbour_columns(bound: BoundQuery, instructions: tuple[Instruction, ...], safety: Safety) -> Neighbours | None:
    """What must be computed before rows can be dropped; None if they cannot, or nothing must."""
    if not bound.order_by or has_reserved_names(bound.columns):
        return None
    found = Neighbours()
    moved = replace(
        bound,
        conditions=tuple((name, found.by_column(condition)) for name, condition in bound.conditions),
        measures=tuple((name, found.by_column(measure)) for name, measure in bound.measures),
    )
    types = dict(safety.types)
    types |= {column: types[value] for (value, _), column in found.values.items() if value in types}
    safety = replace(safety, types=types)
    keep = eliminate_rows(moved, classify(moved), instructions, safety) if found.values else None
    if keep is None:
        return None
    found.keep = keep
    return found


def _reads_columns_alone(value: Expression) -> bool:
    return not any(isinstance(node, (e.Classifier, e.MatchNumber)) for node in e.walk(value))
