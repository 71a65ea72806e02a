"""Aggregates that neither kernels nor functions on arrays compute: Spark does, by grouping the rows of each match.

The matcher gives each output row the rows that it sees, as structs of the columns that the aggregates read:

    bit_or(A.x) + 1
    matcher: __m0 = named_struct('c0', x) of the rows of A     Spark: __g0 = bit_or(__row.c0), then __g0 + 1

So every aggregate of Spark works in MEASURES, registered ones too, and its arguments are computed in rows of the match
only. Aggregates over the same rows share them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.algebra.plan import ROW, GroupedRows
from trellis.algebra.scan import Gather, ListAggregate, Number, Output
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.hoist_slots import is_cast
from trellis.planning.expressions.slots import labelled

__all__ = ["GroupedAggregates"]

_LABEL = "label"


@dataclass(slots=True)
class GroupedAggregates:
    """Collects the aggregates that Spark computes by grouping."""

    columns: Columns
    names: dict[e.BoundAggregate, str] = field(default_factory=dict)

    def add(self, node: e.BoundAggregate) -> e.Column:
        """The column that will hold an aggregate."""
        return e.Column((self.names.setdefault(node, f"__g{len(self.names)}"),))

    def finish(self, variables: tuple[str, ...], output: Callable[[Output], e.Column]) -> tuple[GroupedRows, ...]:
        """What Spark groups; `output` asks the matcher for a column."""
        groups: dict[object, list[e.BoundAggregate]] = {}
        for node in self.names:
            # Spark fails where an aggregate with an order of its own stands beside DISTINCT.
            apart = node if node.distinct and node.order else bool(node.order)
            groups.setdefault((node.variables, node.final, node.alone, apart), []).append(node)
        return tuple(self._group(nodes, variables, output) for nodes in groups.values())

    def _group(
        self, nodes: list[e.BoundAggregate], variables: tuple[str, ...], output: Callable[[Output], e.Column]
    ) -> GroupedRows:
        fields: dict[Expression, str] = {}

        def of_row(part: Expression) -> Expression:
            match part:
                case e.Column(path=(root, *inner)):
                    name = fields.setdefault(e.Column((root,)), f"c{len(fields)}")
                    return e.Column((ROW, name, *inner))
                case e.Classifier():
                    return e.Column((ROW, fields.setdefault(e.Classifier(None), _LABEL)))
                case e.MatchNumber():
                    return output(Number())
                case _:
                    return e.rebuild(part, of_row)

        aggregates = tuple((self.names[node], _over_fields(node, of_row)) for node in nodes)
        named = [(value, e.Literal(f"'{name}'")) for value, name in fields.items()] or [_NO_FIELD]
        struct = e.Call("named_struct", tuple(part for value, name in named for part in (name, value)))
        # A pattern without variables has rows of a type, too, though never any row.
        shipped = tuple(self.columns.ship(labelled(struct, name)) for name in variables or ("",))
        rows = output(ListAggregate(nodes[0].variables, shipped, nodes[0].final)).path[0]
        alone = nodes[0].alone
        # A function of the user must not see a row that does not exist: where there are none, it gets the row that
        # the output row stands for, and its value is not used.
        instead = ""
        if alone or any(_calls(part) for node in nodes for part in e.walk(node)):
            instead = output(Gather(self.columns.ship(labelled(struct, "")), -1)).path[0]
        return GroupedRows(rows, aggregates, instead, alone, tuple(map(str, nodes)))


_NO_FIELD: tuple[Expression, e.Literal] = (e.Literal("TRUE"), e.Literal("'c'"))


def _over_fields(node: e.BoundAggregate, of_row: Callable[[Expression], Expression]) -> e.Aggregate:
    aggregate = e.Aggregate(node.function, node.arguments, node.distinct, node.condition)
    aggregate = replace(aggregate, order=node.order, nulls=node.nulls, span=node.span)
    over = e.rebuild(aggregate, of_row)
    assert isinstance(over, e.Aggregate)
    return over


def _calls(part: Expression) -> bool:
    return isinstance(part, e.Call) or (isinstance(part, e.Raw) and not is_cast(part))
