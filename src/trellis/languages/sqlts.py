"""SQL-TS: `SELECT ... FROM t CLUSTER BY k SEQUENCE BY s AS (X, *Y, Z) WHERE ...` (Sadri et al., TODS 29(2), 2004).

Behind the elements, `WITHIN width [SHOW TIMEOUT MATCHES]` may stand, as in MATCH_RECOGNIZE.

Each element of the sequence becomes a variable of a row pattern, a star a repetition that gives nothing back. Each
condition goes to the first element at which all that it speaks of is known. Ordinary tables in FROM are joined with the
clusters before: a cluster is searched once for each of their rows, which then are constants.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from trellis.algebra.expression import Expression, Name, Operator, conjuncts, walk
from trellis.algebra.expression import rebuild as rebuild_expression
from trellis.algebra.pattern import Alt, Check, Concat, Mode, Pattern, Repeat, Var, rebuild
from trellis.algebra.query import Definition, Measure, Query, Skip, SkipTo, SortKey, Subset, Wanted
from trellis.algebra.validation import check_query
from trellis.algebra.words import OF_SEQUENCES
from trellis.errors import BindingError, QuerySyntaxError, Span, UnsupportedError
from trellis.languages.cursor import Cursor
from trellis.languages.expressions import parse_expression
from trellis.languages.match_recognize import parse_timeouts
from trellis.languages.sequence_elements import Element, Elements, of_alternative
from trellis.languages.sequence_source import SequenceSource, Table, relation_of

__all__ = ["SequenceQuery", "parse_sequence_query"]

_AFTER_RELATION = ("CLUSTER", "SEQUENCE", "AS", "WHERE")


@dataclass(frozen=True, slots=True)
class SequenceQuery:
    """A SQL-TS query as a row pattern query on `input`; `columns` are its measures with the names of the result."""

    query: Query
    input: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Sequence:
    """What FROM says of the sequence."""

    relation: str
    cluster_by: tuple[Expression, ...]
    order_by: tuple[SortKey, ...]
    elements: tuple[Element, ...]
    within: Expression | None = None
    timeouts: Span | None = None
    """Where matches that timed out are asked for."""


@dataclass(frozen=True, slots=True)
class _Item:
    """An item of SELECT with the name of its column."""

    name: str
    expression: Expression
    span: Span


def parse_sequence_query(select: Cursor, tables: Cursor, where: Cursor | None) -> SequenceQuery:
    """Read the three parts of a query, each without its first word."""
    sequence, others = _tables(tables)
    names = frozenset(element.name for element in sequence.elements)
    for cursor in (select, where):
        if cursor is not None:
            cursor.elements = names
    elements = Elements(sequence.elements, sequence.cluster_by, frozenset(table.key for table in others))
    overlapping, items = _select(select)
    conditions = [] if where is None else conjuncts(_condition(where))
    source = SequenceSource(sequence.relation, sequence.cluster_by, tuple(others), elements)
    conditions = source.take(conditions)
    columns = _named(items, sequence.cluster_by)
    alternatives = elements.alternatives(conditions)
    each = len(alternatives) > 1
    patterns = [_pattern(elements, tested) for tested in alternatives]
    definitions = [_definitions(elements, tested) for tested in alternatives]
    if each:
        patterns = [_numbered(pattern, number) for number, pattern in enumerate(patterns, 1)]
        definitions = [_renamed(listed, elements, number) for number, listed in enumerate(definitions, 1)]
    query = Query(
        pattern=Alt(tuple(patterns)) if each else patterns[0],
        definitions=tuple(definition for listed in definitions for definition in listed),
        subsets=_subsets(elements, len(alternatives)) if each else (),
        wanted=Wanted.EACH if each else Wanted.PREFERRED,
        measures=tuple(
            Measure(name, elements.translated(item.expression), item.span)
            for name, item in zip(columns, items, strict=True)
        ),
        partition_by=(*sequence.cluster_by, *source.row_keys),
        order_by=sequence.order_by,
        after_match=Skip(SkipTo.NEXT_ROW) if overlapping else Skip(),
        words=OF_SEQUENCES,
        within=sequence.within,
        timeouts=sequence.timeouts is not None,
        rows_span=sequence.timeouts,
    )
    check_query(query)
    return SequenceQuery(query, source.text, tuple(zip(columns, (item.name for item in items), strict=True)))


# The tables.


def _tables(cursor: Cursor) -> tuple[_Sequence, list[Table]]:
    sequence: _Sequence | None = None
    others: list[Table] = []
    begin = cursor.span
    while True:
        start = cursor.span
        relation = relation_of(cursor, stop=_AFTER_RELATION)
        if cursor.keyword() in ("CLUSTER", "SEQUENCE") or cursor.at_words("AS"):
            if sequence is not None:
                raise UnsupportedError(
                    "A query has one sequence.", cure="Put the other one in a subquery.", span=cursor.since(start)
                )
            sequence = _sequence(cursor, relation)
        elif relation.name is None:
            raise QuerySyntaxError(
                "This table needs an alias.", cure="Write (SELECT ...) AS a.", span=cursor.since(start)
            )
        else:
            others.append(relation)
        if not cursor.accept_symbol(","):
            break
    cursor.expect_end("`,` or WHERE")
    if sequence is None:
        raise QuerySyntaxError(
            "No table in FROM has SEQUENCE BY.", cure="Write FROM t SEQUENCE BY s AS (X, *Y).", span=cursor.since(begin)
        )
    _check_names(sequence, others)
    return sequence, others


def _check_names(sequence: _Sequence, others: Sequence[Table]) -> None:
    """Refuse tables that are called like another one or like an element."""
    taken = {element.name: f"The element {element.name} and this table" for element in sequence.elements}
    for table in others:
        if table.key in taken:
            raise BindingError(
                f"{taken[table.key]} have one name.", cure="Give the table another alias.", span=table.span
            )
        taken[table.key] = f"The tables {table.text} and this one"


def _sequence(cursor: Cursor, relation: Table) -> _Sequence:
    cluster_by: tuple[Expression, ...] = ()
    if cursor.accept("CLUSTER", "BY"):
        cluster_by = tuple(_unqualified(key, relation) for key in _keys(cursor))
    if not cursor.accept("SEQUENCE", "BY"):
        cursor.fail("SEQUENCE BY", cure="Say which column puts the rows in order: `SEQUENCE BY date`.")
    order_by = [_sort_key(cursor)]
    while cursor.accept_symbol(","):
        order_by.append(_sort_key(cursor))
    if not cursor.accept("AS") or cursor.symbol() != "(":
        cursor.fail("AS and the elements", cure="Name the elements of the sequence: `AS (X, *Y, Z)`.")
    cursor.expect_symbol("(")
    elements = _elements(cursor)
    cursor.expect_symbol(")", "`,` or `)`")
    keys = tuple(replace(key, expression=_unqualified(key.expression, relation)) for key in order_by)
    _check_keys((*cluster_by, *(key.expression for key in keys)), elements)
    within = _width(cursor) if cursor.accept("WITHIN") else None
    start = cursor.span
    timeouts = cursor.since(start) if parse_timeouts(cursor) else None
    return _Sequence(relation.text, cluster_by, keys, elements, within, timeouts)


def _width(cursor: Cursor) -> Expression:
    """The width of WITHIN; as in conditions, a number with a unit is an interval. It speaks of no element."""
    cursor.elements = frozenset()
    width = parse_expression(cursor)
    cursor.elements = None
    return width


def _check_keys(keys: Iterable[Expression], elements: Sequence[Element]) -> None:
    names = {element.name for element in elements}
    for part in (node for key in keys for node in walk(key) if isinstance(node, Name)):
        first = part.parts[0]
        if len(part.parts) > 1 and (first.text if first.quoted else first.text.upper()) in names:
            raise BindingError(
                "An element cannot stand in CLUSTER BY or SEQUENCE BY: rows are ordered before they are matched.",
                cure="Name the column alone.",
                span=part.span,
            )


def _unqualified(key: Expression, relation: Table) -> Expression:
    """A key without the name of the table: `q.day` of `quotes AS q` is `day`."""
    if isinstance(key, Name) and len(key.parts) > 1 and key.parts[0] == relation.name:
        return replace(key, parts=key.parts[1:])
    return rebuild_expression(key, partial(_unqualified, relation=relation))


def _keys(cursor: Cursor) -> tuple[Expression, ...]:
    keys = [parse_expression(cursor)]
    while cursor.accept_symbol(","):
        keys.append(parse_expression(cursor))
    return tuple(keys)


def _sort_key(cursor: Cursor) -> SortKey:
    """One key; NULLs come last unless said otherwise, in either direction (section 2.2)."""
    expression = parse_expression(cursor)
    descending = cursor.accept("DESC")
    if not descending:
        cursor.accept("ASC")
    first = False
    if cursor.accept("NULLS"):
        first = cursor.accept("FIRST")
        if not first and not cursor.accept("LAST"):
            cursor.fail("FIRST or LAST")
    return SortKey(expression, descending, first)


def _elements(cursor: Cursor) -> tuple[Element, ...]:
    if cursor.symbol() == ")":
        cursor.fail("an element", cure="A pattern needs an element: `AS (X, *Y, Z)`.")
    elements: dict[str, Element] = {}
    while not elements or cursor.accept_symbol(","):
        starred = cursor.accept_symbol("*")
        token = cursor.expect_name("an element")
        if token.variable in elements:
            raise BindingError(f"The element {token.text} stands twice.", cure="Give it another name.", span=token.span)
        elements[token.variable] = Element(token.variable, starred, token.span)
        if cursor.symbol() in ("*", "+"):
            cursor.fail("`,` or `)`", cure=f"A star stands before the element: `*{token.text}`.")
    return tuple(elements.values())


# The columns.


def _select(cursor: Cursor) -> tuple[bool, list[_Item]]:
    """The items of SELECT, and whether matches may overlap."""
    overlapping = cursor.accept("ALL")
    if not overlapping:
        cursor.accept("DISJOINT")
    if cursor.at_words("DISTINCT"):
        raise UnsupportedError(
            "SELECT DISTINCT is not part of SQL-TS.",
            cure="Put the query in brackets: SELECT DISTINCT * FROM (SELECT ...).",
            span=cursor.span,
        )
    items: list[_Item] = []
    while not items or cursor.accept_symbol(","):
        items.append(_item(cursor))
    cursor.expect_end("`,` or FROM")
    return overlapping, items


def _item(cursor: Cursor) -> _Item:
    start = cursor.span
    if cursor.symbol() == "*":
        raise QuerySyntaxError(
            "A star in SELECT stands inside an aggregate.",
            cure="Write count(*Y), avg(*Y.price), FIRST(Y).price or LAST(Y).price.",
            span=start,
        )
    expression = parse_expression(cursor)
    span = cursor.since(start)
    text = cursor.quote(span)
    if cursor.accept("AS") or cursor.is_name():
        token = cursor.expect_name("the name of the column")
        return _Item(token.identifier.text, expression, span)
    return _Item(_column_name(expression, text), expression, span)


def _column_name(expression: Expression, text: str) -> str:
    """As Spark names columns: a column of an element keeps its name, other values have their text."""
    return Elements.column_of(expression) or " ".join(text.split())


def _named(items: Sequence[_Item], cluster_by: Iterable[Expression]) -> list[str]:
    """Names of measures that differ from each other and from the clusters' columns."""
    taken = {name.upper() for key in cluster_by if (name := Elements.column_of(key)) is not None}
    names = []
    for item in items:
        name, number = item.name, 1
        while name.upper() in taken:
            number += 1
            name = f"{item.name} ({number})"
        taken.add(name.upper())
        names.append(name)
    return names


# The pattern.


def _condition(cursor: Cursor) -> Expression:
    condition = parse_expression(cursor)
    cursor.expect_end("an operator or the end of the query")
    return condition


def _pattern(elements: Elements, conditions: Sequence[Expression]) -> Pattern:
    parts: list[Pattern] = []
    for element in elements.listed:
        variable = Var(element.name, element.span)
        parts.append(Repeat(variable, 1, None, Mode.POSSESSIVE) if element.starred else variable)
    if any(elements.tested_at(one) == len(elements.listed) for one in conditions):
        parts.append(Check(elements.end))
    return parts[0] if len(parts) == 1 else Concat(tuple(parts))


def _definitions(elements: Elements, conditions: Sequence[Expression]) -> tuple[Definition, ...]:
    tested: dict[int, list[Expression]] = {}
    for condition in conditions:
        at = elements.tested_at(condition)
        elements.check_stars(condition, at)
        tested.setdefault(at, []).append(elements.translated(condition))
    names = [*(element.name for element in elements.listed), elements.end]
    return tuple(Definition(names[at], _both(tested[at])) for at in sorted(tested))


def _numbered(pattern: Pattern, number: int) -> Pattern:
    """The pattern of one alternative, with variables of its own."""
    if isinstance(pattern, (Var, Check)):
        return replace(pattern, name=of_alternative(pattern.name, number))
    return rebuild(pattern, partial(_numbered, number=number))


def _renamed(definitions: tuple[Definition, ...], elements: Elements, number: int) -> tuple[Definition, ...]:
    return tuple(
        replace(
            one,
            variable=of_alternative(one.variable, number),
            condition=elements.in_alternative(one.condition, number),
        )
        for one in definitions
    )


def _subsets(elements: Elements, count: int) -> tuple[Subset, ...]:
    """An element is whatever the alternatives call so."""
    return tuple(
        Subset(element.name, tuple(of_alternative(element.name, number) for number in range(1, count + 1)))
        for element in elements.listed
    )


def _both(conditions: list[Expression]) -> Expression:
    if len(conditions) == 1:
        return conditions[0]
    return Operator("AND", tuple(conditions), conditions[0].span)
