"""The Python way to write a query: each step gives a new builder, and conditions are SQL texts.

A builder writes its steps down as the body of a MATCH_RECOGNIZE clause and has that parsed, so that a query means the
same however it was written, and positions in it are positions in a text that can be shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from trellis.algebra.expression import Identifier
from trellis.algebra.query import Query
from trellis.algebra.widths import check_within
from trellis.errors import ArgumentError, QuerySyntaxError, TrellisError
from trellis.languages.cursor import cursor_over
from trellis.languages.expressions import parse_expression, parse_expression_text
from trellis.languages.match_recognize import (
    parse_after_match,
    parse_clause,
    parse_partition_keys,
    parse_rows_per_match,
    parse_sort_keys,
    parse_timeouts,
    parse_variables,
)
from trellis.languages.pattern_text import parse_pattern_text
from trellis.languages.pieces import (
    Pairs,
    Piece,
    Width,
    block,
    closed,
    parse_piece,
    point_into_piece,
    require_text,
    texts_of,
    width_text,
    with_pair,
)

__all__ = ["QueryBuilder", "build"]

Keys: TypeAlias = str | Sequence[str] | None
B = TypeVar("B", bound="QueryBuilder")

_ROWS_PER_MATCH = {
    "ONE": "ONE ROW PER MATCH",
    "ALL": "ALL ROWS PER MATCH",
    "ALL SHOW EMPTY": "ALL ROWS PER MATCH SHOW EMPTY MATCHES",
    "ALL OMIT EMPTY": "ALL ROWS PER MATCH OMIT EMPTY MATCHES",
    "ALL WITH UNMATCHED": "ALL ROWS PER MATCH WITH UNMATCHED ROWS",
}
_CONDITION = "UP='price > prev(price)'"
_STRETCH = "UP='last(price) > first(price)'"
_MEASURE = "top='last(UP.price)'"
_UNION = "MOVE=['UP', 'DOWN']"
# What stands before the variable in the definition of a segment.
_SEGMENT = "SEGMENT "


def build(pattern: str) -> QueryBuilder:
    """Start a query with its pattern.

    Parameters
    ----------
    pattern : str
        A row pattern of SQL:2016, or a segment pattern (with `&` and `~`), without the brackets of PATTERN.

    Examples
    --------
    >>> query = build("A UP+").define(UP="price > prev(price)").query(order_by="ts")
    >>> print(query)
    ORDER BY ts ASC NULLS FIRST
    ONE ROW PER MATCH
    AFTER MATCH SKIP PAST LAST ROW
    PATTERN (A UP+)
    DEFINE UP AS price > PREV(price)
    """
    require_text("The pattern", pattern, "A DOWN+ UP+")
    parse_pattern_text(pattern)
    return QueryBuilder(pattern)


@dataclass(frozen=True, slots=True, repr=False)
class QueryBuilder:
    """A query that is being written. Builders do not change: each step returns a new one."""

    _pattern: str
    # What stands before AS, and the condition.
    _definitions: Pairs = ()
    _subsets: Pairs = ()
    _measures: Pairs = ()
    _rows_per_match: str | None = None
    _after_match: str | None = None
    _within: str | None = None
    _timeouts: bool = False

    def __repr__(self) -> str:
        return self.text()

    def define(self: B, mapping: Mapping[str, str] | None = None, /, **conditions: str) -> B:
        """Give variables their conditions; a variable that has one already gets the new one.

        Parameters
        ----------
        mapping : mapping of str to str, optional
            Conditions by variable, for names that are no Python names.
        **conditions : str
            SQL conditions by variable. Names are folded to upper case, as SQL does.

        Examples
        --------
        >>> builder = build("A B+").define(B="price < 10").define(b="price < 20")
        >>> str(builder.query().definitions[0].condition)
        'price < 20'
        """
        named = texts_of("define", mapping, conditions, _CONDITION)
        return replace(self, _definitions=_defined(self._definitions, "", named))

    def define_segments(self: B, mapping: Mapping[str, str] | None = None, /, **conditions: str) -> B:
        """Give variables conditions on whole segments; a variable that has a condition already gets the new one.

        Parameters
        ----------
        mapping : mapping of str to str, optional
            Conditions by variable, for names that are no Python names.
        **conditions : str
            SQL conditions by variable. Names are folded to upper case, as SQL does.

        Examples
        --------
        >>> builder = build("(DOWN UP) & WIN").define_segments(DOWN="last(DOWN.x) < first(DOWN.x)", WIN="window(2, 9)")
        >>> print(builder.text())
        PATTERN ((DOWN UP) & WIN)
        DEFINE
          SEGMENT DOWN AS last(DOWN.x) < first(DOWN.x),
          SEGMENT WIN AS window(2, 9)
        """
        named = texts_of("define_segments", mapping, conditions, _STRETCH)
        return replace(self, _definitions=_defined(self._definitions, _SEGMENT, named))

    def subset(self: B, mapping: Mapping[str, str | Sequence[str]] | None = None, /, **names: str | Sequence[str]) -> B:
        """Name unions of variables.

        Examples
        --------
        >>> builder = build("A B C").subset(U="A, B", V=["B", "C"])
        >>> builder.query().subsets[1].variables
        ('B', 'C')
        """
        pairs = self._subsets
        for name, members in texts_of("subset", mapping, names, _UNION).items():
            _require_members(name, members)
            text = members if isinstance(members, str) else ", ".join(_variable(member) for member in members)
            parse_piece(text, parse_variables)
            pairs = with_pair(pairs, _variable(name), text, _fold_variable)
        return replace(self, _subsets=pairs)

    def measures(self: B, mapping: Mapping[str, str] | None = None, /, **expressions: str) -> B:
        """Say what is computed of each match; a measure of the same name is replaced.

        Examples
        --------
        >>> builder = build("A B+").measures({"number of rows": "count(*)"}, low="min(B.price)")
        >>> [measure.name for measure in builder.query().measures]
        ['number of rows', 'low']
        """
        pairs = self._measures
        for name, expression in texts_of("measures", mapping, expressions, _MEASURE).items():
            require_text(f"The measure {name}", expression, "last(A.price)")
            parse_expression_text(expression)
            pairs = with_pair(pairs, name, expression, str.upper)
        return replace(self, _measures=pairs)

    def rows_per_match(self: B, rows: str) -> B:
        """Choose the rows of the output.

        Parameters
        ----------
        rows : str
            "one" (the default), "all", "all show empty", "all omit empty", "all with unmatched", or SQL's own words.

        Examples
        --------
        >>> build("A").rows_per_match("all omit empty").query().rows_per_match.value
        'ALL ROWS PER MATCH OMIT EMPTY MATCHES'
        """
        require_text("The argument of rows_per_match", rows, "all")
        text = _ROWS_PER_MATCH.get(" ".join(rows.upper().split()), rows)
        try:
            parse_piece(text, lambda cursor: (parse_rows_per_match(cursor), parse_timeouts(cursor)))
        except QuerySyntaxError as error:
            error.cure = f"Write one of these: {', '.join(_ROWS_PER_MATCH).lower()}."
            raise
        return replace(self, _rows_per_match=text)

    def after_match(self: B, skip: str) -> B:
        """Choose where the search goes on after a match.

        Parameters
        ----------
        skip : str
            "past last row" (the default; segment queries skip nothing unless told), "next row", "first A", "last A",
            "to A", or SQL's own words.

        Examples
        --------
        >>> str(build("A B").after_match("first B").query().after_match)
        'SKIP TO FIRST B'
        """
        require_text("The argument of after_match", skip, "next row")
        text = re.sub(r"(?i)^\s*(after\s+match\b)?\s*(skip\b)?\s*", "", skip)
        to = "" if re.match(r"(?i)(past|to)\s", text) else "TO "
        text = f"SKIP {to}{text}"
        try:
            parse_piece(text, parse_after_match)
        except QuerySyntaxError:
            raise QuerySyntaxError(
                f"After a match the search cannot skip to {skip!r}.",
                cure="Write 'past last row', 'next row', 'first A', 'last A' or 'to A'.",
            ) from None
        return replace(self, _after_match=text)

    def within(self: B, width: Width) -> B:
        """Bound the match: from its first to its last row, in the first key of ORDER BY, both ends included.

        Parameters
        ----------
        width : str, int, float or datetime.timedelta
            "2 hours", "INTERVAL '2' HOUR", a parameter ":width", or a number where the order is a number.

        Examples
        --------
        >>> str(build("A B").within("2 hours").query(order_by="ts").within)
        "INTERVAL '2 hours'"
        """
        text = _interval_text(width) if isinstance(width, str) else width_text(width)
        parse_piece(text, lambda cursor: check_within(parse_expression(cursor)))
        return replace(self, _within=text)

    def show_timeouts(self: B, show: bool = True) -> B:
        """Ask for matches that timed out, too: beginnings of matches whose window closed before they were whole.

        It needs `within`. What `match_number()` gives for them is NULL.

        Parameters
        ----------
        show : bool, optional
            False takes it back.

        Examples
        --------
        >>> unpaid = build("ORDERED OTHER*? PAID").within("10 minutes").show_timeouts()
        >>> print(unpaid.text(order_by="ts"))
        ORDER BY ts
        ONE ROW PER MATCH SHOW TIMEOUT MATCHES
        PATTERN (ORDERED OTHER*? PAID)
        WITHIN INTERVAL '10 minutes'
        """
        return replace(self, _timeouts=show)

    def text(self, partition_by: Keys = None, order_by: Keys = None) -> str:
        """The query as the body of a MATCH_RECOGNIZE clause. The positions in the query are positions in it.

        Examples
        --------
        >>> print(build("A B+").define(B="price < 10").text(order_by="ts"))
        ORDER BY ts
        PATTERN (A B+)
        DEFINE
          B AS price < 10
        """
        return "".join(text for text, _ in self._pieces(partition_by, order_by))

    def query(self, partition_by: Keys = None, order_by: Keys = None) -> Query:
        """The query, checked.

        Parameters
        ----------
        partition_by : str or sequence of str, optional
            SQL expressions: "symbol", "a, b", ["a", "b"].
        order_by : str or sequence of str, optional
            SQL sort keys: "ts", ["ts DESC NULLS LAST", "id"].

        Examples
        --------
        >>> query = build("A B").query(partition_by=["a", "b"], order_by="ts DESC")
        >>> str(query.order_by[0])
        'ts DESC NULLS LAST'
        """
        for keys, parse in ((partition_by, parse_partition_keys), (order_by, parse_sort_keys)):
            for key in _key_texts(keys):
                parse_piece(key, parse)
        try:
            return parse_clause(cursor_over(self.text(partition_by, order_by)))
        except TrellisError as error:
            point_into_piece(error, self._pieces(partition_by, order_by))
            raise

    def _pieces(self, partition_by: Keys, order_by: Keys) -> Iterable[Piece]:
        yield from block("PARTITION BY ", _key_texts(partition_by), end="\n")
        yield from block("ORDER BY ", _key_texts(order_by), end="\n")
        measures = [f"{closed(text)} AS {Identifier(name, quoted=True)}" for name, text in self._measures]
        yield from block("MEASURES\n  ", measures, ",\n  ", end="\n")
        yield from block("", [rows] if (rows := self._rows_text()) else [], end="\n")
        yield from block("AFTER MATCH ", [self._after_match] if self._after_match else [], end="\n")
        yield from (("PATTERN (", False), (closed(self._pattern), True), (")", False))
        yield from block("\nWITHIN ", [self._within] if self._within else [])
        subsets = [f"{name} = ({closed(members)})" for name, members in self._subsets]
        yield from block("\nSUBSET\n  ", subsets, ",\n  ")
        definitions = [f"{head} AS {closed(condition)}" for head, condition in self._definitions]
        yield from block("\nDEFINE\n  ", definitions, ",\n  ")

    def _rows_text(self) -> str | None:
        """What is said of the rows of the output; both steps may ask for matches that timed out."""
        if not self._timeouts:
            return self._rows_per_match
        rows = self._rows_per_match or _ROWS_PER_MATCH["ONE"]
        cursor = cursor_over(rows)
        parse_rows_per_match(cursor)
        return f"{closed(rows)} SHOW TIMEOUT MATCHES" if cursor.at_end else rows


def _key_texts(keys: Keys) -> list[str]:
    given: object = keys
    texts: list[object] = list(given) if isinstance(given, (list, tuple)) else [] if given is None else [given]
    for text in texts:
        require_text("A key", text, "ts DESC")
    return [closed(str(text)) for text in texts]


def _require_members(name: str, members: object) -> None:
    listed = isinstance(members, Sequence) and all(isinstance(member, str) for member in members)
    if not listed:
        raise ArgumentError(
            f"The subset {name} holds variables, which are texts, not {members!r}.", cure=f"Write subset({_UNION})."
        )


def _variable(name: str) -> str:
    """The name of a variable as SQL text: what is no word is quoted."""
    quoted = len(name) > 2 and name[0] == name[-1] == "`"
    return name if quoted or re.fullmatch(r"\w+", name) else str(Identifier(name, quoted=True))


def _fold_variable(name: str) -> str:
    return name if name.startswith("`") else f"`{name.upper()}`"


def _fold_head(head: str) -> str:
    """The variable of a definition. A name that is not quoted has no space in it."""
    return _fold_variable(head.removeprefix(_SEGMENT))


def _defined(pairs: Pairs, prefix: str, conditions: Mapping[str, str]) -> Pairs:
    """The definitions with some added or replaced."""
    for name, condition in conditions.items():
        require_text(f"The condition of {name}", condition, "price > prev(price)")
        parse_expression_text(condition)
        pairs = with_pair(pairs, prefix + _variable(name), condition, _fold_head)
    return pairs


def _interval_text(width: str) -> str:
    """`2 hours` as an interval; a text that holds anything else stays as it is."""
    amount = re.fullmatch(r"(?:[+-]?[\d.]+[A-Za-z]+)+", "".join(width.split()))
    return f"INTERVAL '{width.strip()}'" if amount else width
