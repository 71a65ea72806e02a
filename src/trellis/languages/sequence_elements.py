"""The elements of a SQL-TS sequence, and what expressions say of them.

`X.previous.price` is the price one row before X; FIRST(X), LAST(X) and aggregates without a star speak of the star so
far, aggregates with one of the whole star: those are known at the next element, others at their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from trellis.algebra.expression import (
    Aggregate,
    Call,
    Expression,
    Identifier,
    Literal,
    Name,
    Navigation,
    Operator,
    Star,
    children,
    conjuncts,
    rebuild,
    walk,
)
from trellis.algebra.functions import AGGREGATES
from trellis.errors import BindingError, Span, UnsupportedError

__all__ = ["Element", "Elements", "field_name", "of_alternative"]

_MOST_ALTERNATIVES = 16
_STEPS = {"PREVIOUS": -1, "NEXT": 1}


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a sequence: a single row, or with a star as many as there are, at least one."""

    name: str
    starred: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements in their order; the keys of clusters, and the names of other tables, that may stand beside them."""

    listed: tuple[Element, ...]
    cluster_by: tuple[Expression, ...]
    tables: frozenset[str]

    @property
    def end(self) -> str:
        """A name for what is tested after the last element."""
        names = {element.name for element in self.listed}
        return next(name for name in (f"end{'_' * count}" for count in range(len(names) + 1)) if name not in names)

    def index_of(self, name: Name | Star) -> int | None:
        """The number of the element that a name begins with."""
        first = name.variable if isinstance(name, Star) else name.parts[0]
        if first is None:
            return None
        wanted = _key(first)
        return next((number for number, element in enumerate(self.listed) if element.name == wanted), None)

    def is_of_table(self, name: Name) -> bool:
        """Whether a name speaks of another table."""
        return len(name.parts) > 1 and self.index_of(name) is None and _key(name.parts[0]) in self.tables

    def cluster_key(self, expression: Expression) -> Expression | None:
        """The key of the clusters that an expression is, with or without an element before it."""
        if isinstance(expression, Name) and self.index_of(expression) is not None and len(expression.parts) > 1:
            expression = replace(expression, parts=expression.parts[1:])
        return next((key for key in self.cluster_by if key == expression), None)

    def tested_at(self, condition: Expression) -> int:
        """The number of the first element at which all is known; that behind the last one is the end."""
        later = isinstance(condition, (Aggregate, Navigation)) and bool(condition.final)
        inner = max((self.tested_at(child) for child in children(condition)), default=0)
        if isinstance(condition, (Name, Star)):
            inner = self.index_of(condition) or 0
        return inner + later

    def check_stars(self, condition: Expression, at: int) -> None:
        """Refuse a starred element in a condition that is tested later: it has many rows then."""
        for name in _bare_names(condition):
            number = self.index_of(name)
            if number is None or number == at or not self.listed[number].starred:
                continue
            where = "after the last element" if at == len(self.listed) else f"at {self.listed[at].name}"
            column = ".".join(map(str, name.parts[1:]))
            raise BindingError(
                f"{name} stands for many rows here: this condition is tested {where}.",
                cure=f"Write LAST({name.parts[0]}).{column}, FIRST({name.parts[0]}).{column} or an aggregate"
                f" such as max(*{name.parts[0]}.{column}).",
                span=name.span,
            )

    def alternatives(self, conditions: Sequence[Expression]) -> list[list[Expression]]:
        """The conditions of each pattern, where some are alternatives between whole patterns (section 7.2)."""
        choices = [self._choices(condition) for condition in conditions]
        count = 1
        for choice in choices:
            count *= len(choice)
        if count > _MOST_ALTERNATIVES:
            raise UnsupportedError(
                f"The conditions are {count} patterns in one.",
                cure=f"Ask for {_MOST_ALTERNATIVES} at most; UNION ALL joins the results of several queries.",
                span=conditions[0].span,
            )
        return [[part for parts in chosen for part in parts] for chosen in product(*choices)]

    def _choices(self, condition: Expression) -> list[list[Expression]]:
        """The patterns that a condition is: several if OR joins conditions on several elements each."""
        if isinstance(condition, Operator) and condition.symbol == "OR":
            patterns: list[list[Expression]] = []
            of_one: dict[int, list[Expression]] = {}
            for operand in condition.operands:
                parts = conjuncts(operand)
                # What speaks of no element can be tested at any: a key of clusters, another table, a constant.
                places = {self.tested_at(part) for part in parts if self._elements_in(part)}
                if len(places) > 1:
                    patterns.append(parts)
                else:
                    of_one.setdefault(max(places, default=0), []).append(operand)
            # What is tested at one element stays one condition of it.
            if patterns:
                return [*patterns, *([_either(operands, condition)] for operands in of_one.values())]
        return [[condition]]

    def in_alternative(self, expression: Expression, number: int) -> Expression:
        """A translated condition in the words of one alternative."""
        if isinstance(expression, (Name, Star)) and (index := self.index_of(expression)) is not None:
            variable = Identifier(of_alternative(self.listed[index].name, number), quoted=True)
            if isinstance(expression, Star):
                return replace(expression, variable=variable)
            return replace(expression, parts=(variable, *expression.parts[1:]))
        return rebuild(expression, partial(self.in_alternative, number=number))

    def translated(self, expression: Expression) -> Expression:
        """The expression in the words of row patterns."""
        match expression:
            case Name():
                return self._name(expression)
            case Navigation(function=("FIRST" | "LAST") as function, argument=Name() as name):
                self._check_starred(name, f"{function}({name.parts[0]})")
                return self._navigated(replace(expression, final=None), name)
            case Aggregate():
                return self._aggregate(expression)
            case Call(function=function, arguments=arguments, span=span) if _continuous(function) is not None:
                return self._aggregate(Aggregate(_continuous(function) or "", arguments, span=span))
        return rebuild(expression, self.translated)

    def _name(self, name: Name) -> Expression:
        if self.index_of(name) is not None:
            return self._navigated(None, name)
        if self.is_of_table(name):
            return replace(name, parts=(field_name(name.parts[0]), *name.parts[1:]))
        if self.cluster_key(name) is None:
            raise BindingError(
                f"{name} needs an element before it: it is no key of CLUSTER BY.",
                cure=f"Say of which row: {self.listed[-1].name}.{name.parts[-1]}.",
                span=name.span,
            )
        return name

    def _navigated(self, edge: Navigation | None, name: Name) -> Expression:
        """A column of an element, or of the first or last row of a star, perhaps some rows before or after."""
        steps, parts = 0, name.parts[1:]
        while len(parts) > 1 and not parts[0].quoted and parts[0].text.upper() in _STEPS:
            steps += _STEPS[parts[0].text.upper()]
            parts = parts[1:]
        if not parts:
            raise BindingError(
                f"{name} is a row, not a value.",
                cure=f"Name a column: {name}.price, or count it: count(*{name}).",
                span=name.span,
            )
        value: Expression = replace(name, parts=(name.parts[0], *parts))
        if edge is not None:
            value = replace(edge, argument=value)
        if steps == 0:
            return value
        return Navigation("PREV" if steps < 0 else "NEXT", value, Literal(str(abs(steps)), name.span), None, name.span)

    def _aggregate(self, aggregate: Aggregate) -> Expression:
        """An aggregate over the rows of one starred element."""
        arguments = tuple(self._argument(argument, aggregate) for argument in aggregate.arguments)
        found = {number for argument in aggregate.arguments for number in self._elements_in(argument)}
        if len(found) != 1:
            raise BindingError(
                f"{aggregate.function} speaks of {'no element' if not found else 'several elements'}.",
                cure=f"Aggregates are over one element with a star: {aggregate.function}(*Y.price) or count(*Y).",
                span=aggregate.span,
            )
        element = self.listed[found.pop()]
        if not element.starred:
            raise self._not_starred(f"{aggregate.function}", element, aggregate.span)
        condition = None if aggregate.condition is None else self.translated(aggregate.condition)
        order = tuple((self.translated(key), words) for key, words in aggregate.order)
        return replace(aggregate, arguments=arguments, condition=condition, order=order, final=None)

    def _argument(self, argument: Expression, aggregate: Aggregate) -> Expression:
        """`count(*A)` and `ccount(A)` count rows."""
        whole = isinstance(argument, Name) and len(argument.parts) == 1 and self.index_of(argument) is not None
        if whole and aggregate.function == "count":
            assert isinstance(argument, Name)
            return Star(argument.parts[0], argument.span)
        return self.translated(argument)

    def _elements_in(self, expression: Expression) -> set[int]:
        names = (node for node in walk(expression) if isinstance(node, (Name, Star)))
        return {number for name in names if (number := self.index_of(name)) is not None}

    def _check_starred(self, name: Name, text: str) -> None:
        number = self.index_of(name)
        if number is not None and not self.listed[number].starred:
            raise self._not_starred(text, self.listed[number], name.span)

    def _not_starred(self, text: str, element: Element, span: Span | None) -> BindingError:
        return BindingError(
            f"{text} is an aggregate, and {element.name} is a single row.",
            cure=f"Use its columns as they are ({element.name}.price), or put a star before it: *{element.name}.",
            span=span,
        )

    @staticmethod
    def column_of(expression: Expression) -> str | None:
        """The column that an expression is, whatever row it is read in."""
        if isinstance(expression, Navigation):
            expression = expression.argument
        return expression.parts[-1].text if isinstance(expression, Name) else None


def _either(operands: list[Expression], condition: Operator) -> Expression:
    return operands[0] if len(operands) == 1 else replace(condition, operands=tuple(operands))


def of_alternative(variable: str, number: int) -> str:
    """The name of a variable in one of several patterns."""
    return f"{variable}#{number}"


def field_name(table: Identifier) -> Identifier:
    """The column that holds a row of another table."""
    return Identifier(f"trellis_{table.text}", quoted=True)


def _key(identifier: Identifier) -> str:
    return identifier.text if identifier.quoted else identifier.text.upper()


def _continuous(function: str) -> str | None:
    """The aggregate that a continuous one runs: `ccount` is a running `count`."""
    known = function not in AGGREGATES and function.startswith("c") and function[1:] in AGGREGATES
    return function[1:] if known else None


def _bare_names(expression: Expression) -> Iterator[Name]:
    """The names outside of aggregates and of FIRST and LAST."""
    if isinstance(expression, Name):
        yield expression
    match expression:
        case Aggregate() | Navigation(function="FIRST" | "LAST"):
            return
        case Call(function=function) if _continuous(function) is not None:
            return
    for child in children(expression):
        yield from _bare_names(child)
