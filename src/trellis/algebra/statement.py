"""A SQL statement with its MATCH_RECOGNIZE clauses taken out."""

from __future__ import annotations

from dataclasses import dataclass, field

from trellis.algebra.query import Query
from trellis.errors import Span

__all__ = ["MatchClause", "Statement", "TemporaryView"]


@dataclass(frozen=True, slots=True)
class MatchClause:
    """One MATCH_RECOGNIZE of a statement, or one SQL-TS query (`is_sequence`).

    The rows to match are those of `{ctes} SELECT * FROM {input}`; the result goes where later texts have `{name}`
    in braces. `qualifier` is what may stand before columns of the input: its alias, or the parts of a table's name.
    """

    name: str
    input: str
    query: Query
    ctes: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)
    qualifier: tuple[str, ...] = ()
    is_sequence: bool = False


@dataclass(frozen=True, slots=True)
class TemporaryView:
    """A view that a statement creates; `name` is quoted as in the text."""

    name: str
    columns: tuple[str, ...] = ()
    replaces: bool = False
    is_global: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement: its clauses in the order in which they are evaluated, and what is left for Spark.

    `final` gives the rows of `view`, if there is one. `has_effect`: Spark does something at once, as for INSERT.
    `placeholders` are the names in braces.
    """

    text: str
    clauses: tuple[MatchClause, ...]
    final: str
    view: TemporaryView | None = None
    has_effect: bool = False
    placeholders: tuple[str, ...] = ()
