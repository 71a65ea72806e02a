"""The Python way to write an event pattern: each step gives a new builder, and conditions are texts.

A builder writes its steps down as a text of SASE+ and has that parsed, so that a query means the same however it was
written, and positions in it are positions in a text that can be shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from trellis.algebra.expression import Identifier
from trellis.algebra.query import Query
from trellis.errors import BindingError, TrellisError
from trellis.languages.cursor import Cursor
from trellis.languages.expressions import parse_expression
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
from trellis.languages.sase import (
    WINDOW,
    parse_columns,
    parse_components,
    parse_conditions,
    parse_sase_text,
    parse_strategy,
    parse_window,
)

__all__ = ["EventBuilder", "build_events"]

B = TypeVar("B", bound="EventBuilder")

# What to do where a text goes on after its end.
_COMPONENT = "Each component is a type and a name: `Order o`."
_COLUMN = "A name that is no word stands in backquotes."
_STRATEGY = "A strategy is a single word. It holds for all components."


def build_events(*components: str) -> EventBuilder:
    """Start an event pattern with its components.

    Parameters
    ----------
    *components : str
        What happens, in this order: the components of SEQ, each in a text of its own or several between commas.

    Examples
    --------
    >>> print(build_events("Shelf a", "~(Register b)", "Exit c").same("tag").within("12 hours").query())
    PATTERN SEQ(Shelf a, ~(Register b), Exit c)
    WHERE skip_till_next_match { [tag] }
    WITHIN INTERVAL 12 HOURS
    """
    for component in components:
        require_text("A component of event_pattern", component, "Order o")
        parse_piece(component, parse_components, "`,` or the end of the component", _COMPONENT)
    builder = EventBuilder(components)
    # Each may be right and all of them wrong: two of one name, or nothing but what must not happen.
    builder.query()
    return builder


@dataclass(frozen=True, slots=True, repr=False)
class EventBuilder:
    """An event pattern that is being written. Builders do not change: each step returns a new one."""

    _components: tuple[str, ...]
    _conditions: tuple[str, ...] = ()
    _same: tuple[str, ...] = ()
    _strategy: str | None = None
    _within: str | None = None
    _values: Pairs = ()
    _result_type: str | None = None
    _non_overlapping: bool = False
    _timeouts: bool = False

    def __repr__(self) -> str:
        return "".join(text for text, _ in self._pieces())

    def where(self: B, *conditions: str) -> B:
        """Add conditions on the events of a match, all of which must hold.

        Parameters
        ----------
        *conditions : str
            Conditions as in WHERE: `b[1].source = a.site`, `b[i].price > avg(b[..i-1].price)`.

        Examples
        --------
        >>> builder = build_events("A a", "B+ b[]").where("b[i].x > b[i-1].x").where("a.x = 1 or a.y = 1")
        >>> print(builder.text())
        PATTERN SEQ(A a, B+ b[])
        WHERE {
          b[i].x > b[i-1].x
          AND (a.x = 1 or a.y = 1)
        }
        """
        variables = self._variables()
        added = [_conjuncts(condition, variables) for condition in conditions]
        return replace(self, _conditions=(*self._conditions, *added))

    def same(self: B, *columns: str) -> B:
        """Add columns in which all events agree, those that must be absent too. NULL agrees with nothing.

        Parameters
        ----------
        *columns : str
            Columns, or fields of them: `tag`, `site.id`; what is no word stands in backquotes.

        Examples
        --------
        >>> builder = build_events("Order o", "Payment p").same("id", "site.country")
        >>> [str(column) for column in builder.query().events.same]
        ['id', 'site.country']
        """
        for column in columns:
            require_text("A column of same", column, "site.id")
            parse_piece(column, parse_columns, "`.`, `,` or the end of the column", _COLUMN)
        return replace(self, _same=(*self._same, *columns))

    def strategy(self: B, name: str) -> B:
        """Choose which events are passed over.

        Parameters
        ----------
        name : str
            "strict_contiguity", "partition_contiguity", "skip_till_next_match" (the default) or
            "skip_till_any_match".

        Examples
        --------
        >>> print(build_events("A a", "B b").strategy("strict_contiguity").text())
        PATTERN SEQ(A a, B b)
        WHERE strict_contiguity { }
        """
        require_text("The argument of strategy", name, "skip_till_any_match")
        return replace(self, _strategy=parse_piece(name, parse_strategy, cure=_STRATEGY).name.lower())

    def within(self: B, width: Width) -> B:
        """Bound the match: from its first to its last event, both ends included.

        Parameters
        ----------
        width : str, int, float or datetime.timedelta
            "3 hours", "INTERVAL '3' HOUR", a parameter ":width", a number where the time is a number; or "500 events",
            which counts the events of the partition.

        Examples
        --------
        >>> str(build_events("A a", "B b").within("1 hour 30 minutes").query().within)
        'INTERVAL 1 HOUR 30 MINUTES'
        """
        text = width_text(width)
        parse_piece(text, parse_window, cure=WINDOW)
        return replace(self, _within=text)

    def returning(self: B, mapping: Mapping[str, str] | None = None, /, **values: str) -> B:
        """Say what is returned of each match, beside its type and its time; a value of the same name is replaced.

        Parameters
        ----------
        mapping : mapping of str to str, optional
            Values by name, for names that are no Python names.
        **values : str
            Expressions by name: `a.site`, `b[b.LEN].target`, `count(b[])`.

        Examples
        --------
        >>> builder = build_events("A a", "B+ b[]").returning({"number of b": "count(b[])"}, start="a.time")
        >>> [measure.name for measure in builder.query().measures]
        ['number of b', 'start']
        """
        variables = self._variables()
        pairs = self._values
        for name, value in texts_of("returning", mapping, values, "site='a.site'").items():
            require_text(f"The value {name}", value, "a.site")
            parse_piece(value, parse_expression, "an operator or the end of the expression", variables=variables)
            pairs = with_pair(pairs, name, value, str.upper)
        return replace(self, _values=pairs)

    def result_type(self: B, name: str) -> B:
        """Name the type of the events that matches become: "Match" unless told. Needs `returning`.

        Examples
        --------
        >>> print(build_events("Order o").returning(id="o.id").result_type("Ordered").text())
        PATTERN SEQ(Order o)
        RETURN `Ordered`(
          o.id AS `id`
        )
        """
        require_text("The argument of result_type", name, "Late")
        # In quotes nobody takes it for a function.
        text = str(Identifier(name, quoted=True))
        parse_piece(text, lambda cursor: cursor.expect_name("the type of the result"))
        return replace(self, _result_type=text)

    def non_overlapping(self: B) -> B:
        """Ask for matches that do not overlap: in the order in which they end, each that begins after the last one.

        Examples
        --------
        >>> build_events("A a", "B b").non_overlapping().query().wanted.value
        'non-overlapping'
        """
        return replace(self, _non_overlapping=True)

    def show_timeouts(self: B) -> B:
        """Ask for beginnings of matches, too, whose window closed before they were whole. Needs `within`.

        Examples
        --------
        >>> print(build_events("Order o", "Payment p").within("3 days").show_timeouts().text())
        PATTERN SEQ(Order o, Payment p)
        WITHIN 3 days
        SHOW TIMEOUT MATCHES
        """
        return replace(self, _timeouts=True)

    def text(self) -> str:
        """The pattern as a text of SASE+. The positions in the query are positions in it.

        Examples
        --------
        >>> print(build_events("Order o", "Payment p").same("id").where("p.sum < o.sum").within("3 days").text())
        PATTERN SEQ(Order o, Payment p)
        WHERE {
          [id]
          AND p.sum < o.sum
        }
        WITHIN 3 days
        """
        if self._result_type is not None and not self._values:
            raise BindingError(
                f"The type {self._result_type} is that of what is returned, and nothing is.",
                cure="Name the values too, with returning(...).",
            )
        return "".join(text for text, _ in self._pieces())

    def query(self, type: str = "type", time: str | Sequence[str] = "time") -> Query:
        """The query, checked.

        Parameters
        ----------
        type : str
            The column that holds the type of an event.
        time : str or sequence of str
            The column that holds its time. Further columns put events of one time in order.

        Examples
        --------
        >>> query = build_events("A a", "B b").query(type="kind", time=["ts", "id"])
        >>> [str(key) for key in query.order_by]
        ['`ts` ASC NULLS FIRST', '`id` ASC NULLS FIRST']
        """
        text = self.text()
        try:
            return parse_sase_text(text, type, time)
        except TrellisError as error:
            point_into_piece(error, self._pieces())
            raise

    def _variables(self) -> frozenset[str]:
        """The variables of the pattern: in conditions, brackets after them hold an index."""
        return frozenset(one.variable for text in self._components for one in parse_piece(text, parse_components))

    def _pieces(self) -> Iterable[Piece]:
        yield "PATTERN SEQ(", False
        yield from block("", [closed(component) for component in self._components])
        yield ")", False
        same = [f"[{', '.join(map(closed, self._same))}]"] if self._same else []
        conditions = [*same, *self._conditions]
        if conditions or self._strategy:
            yield f"\nWHERE {f'{self._strategy} ' if self._strategy else ''}{{", False
            yield from block("\n  ", conditions, "\n  AND ")
            yield "\n}" if conditions else " }", False
        yield from block("\nWITHIN ", [self._within] if self._within else [])
        values = [f"{closed(text)} AS {Identifier(name, quoted=True)}" for name, text in self._values]
        typed = self._result_type is not None
        yield from block(
            f"\nRETURN {self._result_type}(\n  " if typed else "\nRETURN\n  ", values, ",\n  ", "\n)" if typed else ""
        )
        if self._non_overlapping:
            yield "\nOUTPUT NON_OVERLAP", False
        if self._timeouts:
            yield "\nSHOW TIMEOUT MATCHES", False


def _conjuncts(condition: str, variables: frozenset[str]) -> str:
    """The condition as AND can join it to others: with brackets around what OR joins."""
    require_text("A condition of where", condition, "p.sum < o.sum")
    alternative = parse_piece(condition, _is_alternative, "AND, OR or the end of the condition", variables=variables)
    return f"({closed(condition)})" if alternative else condition


def _is_alternative(cursor: Cursor) -> bool:
    """Read a condition; whether OR joins its parts."""
    _, same = parse_conditions(cursor)
    if same and cursor.at_words("OR"):
        cursor.fail("AND", cure="OR cannot join `[...]`: name such columns with same(...).")
    if not cursor.accept("OR"):
        return False
    parse_expression(cursor)
    return True
