"""The input of a SQL-TS query: the sequence, joined with the other tables of FROM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from trellis.algebra.expression import Expression, Identifier, Literal, Name, Operator, rebuild, walk
from trellis.errors import Span, UnsupportedError
from trellis.languages.cursor import Cursor
from trellis.languages.sequence_elements import Elements, field_name

__all__ = ["SequenceSource", "Table", "relation_of"]

_ROW = Identifier("trellis_row", quoted=True)
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "DIV", "NEG"})
# What other languages call the keys of a sequence.
_INSTEAD = {"PARTITION": "CLUSTER BY", "ORDER": "SEQUENCE BY"}
_SEQUENCE, _JOINED = "trellis_sequence", "trellis_joined"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of FROM: its text, and the name that stands before its columns."""

    text: str
    name: Identifier | None
    span: Span

    @property
    def key(self) -> str:
        """The name as it is compared."""
        if self.name is None:
            return ""
        return self.name.text if self.name.quoted else self.name.text.upper()


def relation_of(cursor: Cursor, stop: tuple[str, ...]) -> Table:
    """Read a table, a subquery or a placeholder, with its alias, as far as a comma or one of the words."""
    start = cursor.span
    name: Identifier | None = None
    while not cursor.at_end and cursor.symbol() != ",":
        if cursor.at_words("AS") and cursor.symbol(1) != "(":
            cursor.next()
            name = cursor.expect_name("an alias").identifier
            continue
        if cursor.keyword() in stop:
            break
        if cursor.symbol() == "(":
            cursor.read(cursor.group_end() + 1)
            name = None
            continue
        if cursor.keyword() in _INSTEAD and cursor.at_words("BY", ahead=1):
            instead = _INSTEAD[cursor.keyword()]
            cursor.fail(instead, cure=f"In SQL-TS it is called {instead}.")
        if cursor.at_words("JOIN"):
            raise UnsupportedError(
                "A join cannot stand beside a sequence.",
                cure="Put it in brackets, with an alias: FROM (SELECT ... FROM a JOIN b ...) AS j, ...",
                span=cursor.span,
            )
        token = cursor.next()
        if token.is_name:
            name = token.identifier
    if cursor.span.start == start.start:
        cursor.fail("a table")
    span = cursor.since(start)
    text = cursor.quote(span)
    # A DataFrame has no name of its own that could stand before its columns.
    return Table(f"{text} AS {name}" if text.endswith("}") else text, name, span)


@dataclass(slots=True)
class SequenceSource:
    """The rows of a sequence, one copy of each cluster for each row of the other tables that may go with it.

    Conditions that need no search are taken out of WHERE: those on the keys of clusters, on other tables alone, and
    equalities between the two.
    """

    relation: str
    cluster_by: tuple[Expression, ...]
    tables: tuple[Table, ...]
    elements: Elements
    _of_clusters: list[Expression] = field(default_factory=list)
    _of_tables: list[Expression] = field(default_factory=list)
    _joins: list[tuple[Expression, Name]] = field(default_factory=list)

    @property
    def row_keys(self) -> tuple[Expression, ...]:
        """What, besides its keys, tells the copies of a cluster apart."""
        return (Name((_ROW,)),) if self.tables else ()

    @property
    def text(self) -> str:
        """The relation that is matched."""
        clusters = self.relation
        if self._of_clusters:
            clusters = f"(SELECT * FROM {clusters} WHERE {_all(self._of_clusters)})"
        if not self.tables:
            return clusters
        rows = ", ".join(f"struct({table.name}.*) AS {self._field(table)}" for table in self.tables)
        where = f" WHERE {_all(self._of_tables)}" if self._of_tables else ""
        joined = f"SELECT {rows} FROM {', '.join(table.text for table in self.tables)}{where}"
        sides = [(f"{_SEQUENCE}.{key}", str(self._renamed(name))) for key, name in self._joins]
        keys = f"PARTITION BY {', '.join(right for _, right in sides)} " if sides else ""
        order = ", ".join(str(self._field(table)) for table in self.tables)
        numbered = f"SELECT *, row_number() OVER ({keys}ORDER BY {order}) AS {_ROW} FROM ({joined})"
        condition = " AND ".join(f"{left} = {_JOINED}.{right}" for left, right in sides) or "true"
        return (
            f"(SELECT {_SEQUENCE}.*, {_JOINED}.* FROM (SELECT * FROM {clusters}) AS {_SEQUENCE}"
            f" JOIN ({numbered}) AS {_JOINED} ON {condition})"
        )

    def take(self, conditions: Sequence[Expression]) -> list[Expression]:
        """Take what needs no search; the other conditions."""
        return [condition for condition in conditions if not self._takes(condition)]

    def _takes(self, condition: Expression) -> bool:
        names = [node for node in walk(condition) if isinstance(node, Name)]
        if names and all(map(self.elements.is_of_table, names)):
            self._of_tables.append(condition)
            return True
        if isinstance(condition, Operator) and condition.symbol == "=":
            for key, other in (condition.operands, reversed(condition.operands)):
                found = self.elements.cluster_key(key)
                if isinstance(found, Name) and isinstance(other, Name) and self.elements.is_of_table(other):
                    self._joins.append((found, other))
                    return True
        plain = all(map(_cannot_fail, walk(condition)))
        if names and plain and all(self.elements.cluster_key(name) is not None for name in names):
            self._of_clusters.append(self._without_elements(condition))
            return True
        return False

    def _without_elements(self, expression: Expression) -> Expression:
        key = self.elements.cluster_key(expression)
        return rebuild(expression, self._without_elements) if key is None else key

    def _field(self, table: Table) -> Identifier:
        assert table.name is not None
        return field_name(table.name)

    def _renamed(self, name: Name) -> Name:
        """The column of another table where its row is a struct; written as the table's alias says."""
        table = next(table for table in self.tables if table.name is not None and table.name == name.parts[0])
        return replace(name, parts=(self._field(table), *name.parts[1:]))


def _cannot_fail(node: Expression) -> bool:
    """Whether a part of a condition can be computed for all clusters, also where the search would not ask for it."""
    match node:
        case Name() | Literal() | Operator(symbol="NEG", operands=(Literal(),)):
            return True
        case Operator(symbol=symbol):
            return symbol not in _ARITHMETIC
    return False


def _all(conditions: list[Expression]) -> str:
    return " AND ".join(f"({condition})" for condition in conditions)
