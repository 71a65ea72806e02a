"""A query bound to its input: every name is a column or a variable, every value has a place."""

from __future__ import annotations

from dataclasses import dataclass

from trellis.algebra.expression import Expression
from trellis.algebra.query import Query, RowsPerMatch

__all__ = ["BoundQuery", "BoundWindow"]


@dataclass(frozen=True, slots=True)
class BoundWindow:
    """`window(...)`: rows (no `column`) or microseconds between the first and the last value of a column."""

    least: int | None
    most: int | None
    column: Expression | None = None


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """The parts of a query that mention columns, bound; the rest is as in `query`.

    `variables` are the primary variables in the order of the pattern, `conditions` those of the defined ones,
    `columns` all columns of the input. `skip_to` are the variables that AFTER MATCH SKIP names.

    Of segment queries: unqualified columns of a condition belong to its own variable, those of measures to the whole
    match; `windows` stood among the conditions of variables, `within` bounds the whole match.
    """

    query: Query
    variables: tuple[str, ...]
    partition_by: tuple[tuple[str, Expression], ...]
    order_by: tuple[tuple[str, Expression], ...]
    columns: tuple[str, ...]
    skip_to: frozenset[str]
    conditions: tuple[tuple[str, Expression], ...] = ()
    measures: tuple[tuple[str, Expression], ...] = ()
    windows: tuple[tuple[str, BoundWindow], ...] = ()
    within: BoundWindow | None = None

    @property
    def all_rows(self) -> bool:
        """Whether the output holds rows of the input."""
        return self.query.rows_per_match is not RowsPerMatch.ONE
