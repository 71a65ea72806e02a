"""Names against a schema: columns are found, variables become sets of rows, navigation becomes places.

`A.price` is `LAST(A.price)`; `price` is the last row of the match, whatever its variable. In the condition of a
variable `V` the row under test is already mapped to `V`, so the last row of `V`, of any set that holds `V` and of the
match are all the current row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression, Identifier, text_literal
from trellis.algebra.functions import AGGREGATES
from trellis.algebra.literals import read_number
from trellis.algebra.place import Place
from trellis.analysis.padding import padded
from trellis.analysis.parameters import require_value
from trellis.analysis.schema import Schema
from trellis.errors import BindingError, Span, UnsupportedError

__all__ = ["Binder"]

# Functions whose first argument is a unit written like a column: timestampdiff(MINUTE, a, b).
_UNIT_FIRST = frozenset({"timestampdiff", "timestampadd", "dateadd", "date_add", "datediff", "date_diff"})


# How many arguments an aggregate takes, where it is not one. Spark counts those of aggregates that it was asked about.
_ARGUMENTS = {
    "any_value": (1, 2),
    "approx_count_distinct": (1, 2),
    "count": (1, 100),
    "listagg": (1, 2),
    "max_by": (2, 2),
    "min_by": (2, 2),
    "mode": (1, 2),
    "percentile": (2, 3),
    "string_agg": (1, 2),
}


_OTHER_WAY = {
    "PREV": "Rows that come later are read with NEXT(column, 1).",
    "NEXT": "Rows that came before are read with PREV(column, 1).",
}


@dataclass(frozen=True, slots=True)
class Binder:
    """Binds names of one query: variables, and columns of its input."""

    schema: Schema
    sets: Mapping[str, frozenset[str]]
    variables: frozenset[str]
    parameters: Mapping[str, object]

    def keys(self, expressions: tuple[Expression, ...], what: str) -> tuple[tuple[str, Expression], ...]:
        """Keys of PARTITION BY or ORDER BY, with the names of their output columns."""
        bound: list[tuple[str, Expression]] = []
        for number, expression in enumerate(map(self._unqualified, expressions)):
            for part in e.walk(expression):
                if isinstance(part, e.Name) and self.column(part)[0] is not None:
                    raise BindingError(
                        "A variable of the pattern cannot stand here: rows are ordered before they are matched.",
                        cure="Name the column alone.",
                        span=part.span,
                    )
            value = self.row(expression, None)
            name = value.path[-1] if isinstance(value, e.Column) else f"{what}_{number + 1}"
            if value != e.Column((name,)):
                # A field or an expression must not take the name of another column of the result.
                taken = {other.lower() for other in (*self.schema.names, *(known for known, _ in bound))}
                while name.lower() in taken:
                    name = f"{name}_"
            bound.append((name, value))
        return tuple(bound)

    def _unqualified(self, expression: Expression) -> Expression:
        """A key without the name of the input before its columns; in a key that goes before a variable's name."""
        if isinstance(expression, e.Name):
            return replace(expression, parts=self.schema.unqualified(expression.parts))
        return e.rebuild(expression, self._unqualified)

    def condition(self, variable: str, expression: Expression) -> Expression:
        """The condition of a variable; what is the current row is written as such."""

        def settle(node: Expression) -> Expression:
            match node:
                case e.At(value=value, place=place):
                    place = _settled(place, variable)
                    return replace(node, place=place, value=_named(value, variable) if place == Place() else value)
                case e.ClassifierAt(place=place):
                    place = _settled(place, variable)
                    return text_literal(variable) if place == Place() else replace(node, place=place)
                case e.BoundAggregate():
                    return node
                case _:
                    return e.rebuild(node, settle)

        return settle(self.value(expression, False))

    def value(self, expression: Expression, final: bool) -> Expression:
        """An expression of MEASURES or DEFINE."""
        match expression:
            case e.Name():
                variable, column = self.column(expression)
                return e.At(column, self._place(variable, final), span=expression.span)
            case e.Navigation():
                return self._navigation(expression, final)
            case e.Aggregate():
                return self._aggregate(expression, final)
            case e.Classifier(variable=identifier):
                variable = None if identifier is None else self._variable(identifier, expression.span)
                return e.ClassifierAt(self._place(variable, final), span=expression.span)
            case e.Star():
                raise BindingError("A star stands in COUNT only.", cure="Name a column.", span=expression.span)
            case e.Parameter():
                require_value(expression, self.parameters)
                return expression
            case e.Call(function=function, arguments=(e.Name(parts=(unit,)), *rest)) if (
                function in _UNIT_FIRST and len(rest) == 2 and self.schema.find(unit) is None
            ):
                bound = tuple(self.value(argument, final) for argument in rest)
                return replace(expression, arguments=(e.Raw((unit.text,)), *bound))
            case _:
                return padded(e.rebuild(expression, lambda child: self.value(child, final)), self.schema)

    def _navigation(self, node: e.Navigation, final: bool) -> Expression:
        final = final or bool(node.final)
        offset = self._offset(node)
        if node.function in ("PREV", "NEXT"):
            shift = -offset if node.function == "PREV" else offset
            if isinstance(node.argument, e.Navigation):
                inner = self._navigation(node.argument, final)
                assert isinstance(inner, (e.At, e.ClassifierAt))
                return replace(inner, place=replace(inner.place, shift=shift), span=node.span)
            place = replace(self._place(self.only_variable(node), final), shift=shift)
        else:
            place = self._place(self.only_variable(node), final)
            place = replace(place, from_first=node.function == "FIRST", offset=offset)
        if isinstance(node.argument, e.Classifier):
            return e.ClassifierAt(place, span=node.span)
        return e.At(self.row(node.argument, node.span), place, span=node.span)

    def _aggregate(self, node: e.Aggregate, final: bool) -> Expression:
        variable = self.only_variable(node)
        star = [argument for argument in node.arguments if isinstance(argument, e.Star)]
        if star and (node.function != "count" or len(node.arguments) > 1 or node.distinct):
            raise BindingError("A star stands in COUNT only.", cure="Name a column.", span=star[0].span)
        least, most = _ARGUMENTS.get(node.function, (1, 1))
        if node.order:
            least = 0
        if node.function in AGGREGATES and not least <= len(node.arguments) <= most:
            wanted = f"{least} to {most} arguments" if most > least else f"{least} argument{'s' if least > 1 else ''}"
            raise BindingError(
                f"{node.function} takes {wanted}, not {len(node.arguments)}.",
                cure=f"Write {node.function}({', '.join('xyz'[: max(least, 1)])}).",
                span=node.span,
            )
        return e.BoundAggregate(
            function=node.function,
            arguments=() if star else tuple(self.row(argument, node.span) for argument in node.arguments),
            variables=None if variable is None else self._set(variable),
            distinct=node.distinct,
            condition=None if node.condition is None else self.row(node.condition, node.span),
            final=final or bool(node.final),
            order=tuple((self.row(key, node.span), words) for key, words in node.order),
            nulls=node.nulls,
            alone=node.alone,
            span=node.span,
        )

    def row(self, expression: Expression, span: Span | None) -> Expression:
        """An expression over one row: inside a navigation, an aggregate, or a key."""
        match expression:
            case e.Name():
                return self.column(expression)[1]
            case e.Classifier():
                return e.Classifier(None, span=expression.span)
            case e.Navigation() | e.Aggregate() | e.Star():
                raise BindingError(
                    "Navigation and aggregates cannot be nested here.",
                    cure="Inside of PREV, NEXT, FIRST, LAST and aggregates, and in keys, name columns only.",
                    span=expression.span or span,
                )
            case e.Call(function=function, arguments=(e.Name(parts=(unit,)), *rest)) if (
                function in _UNIT_FIRST and len(rest) == 2 and self.schema.find(unit) is None
            ):
                bound = tuple(self.row(argument, span) for argument in rest)
                return replace(expression, arguments=(e.Raw((unit.text,)), *bound))
            case _:
                return e.rebuild(expression, lambda child: self.row(child, span))

    def column(self, name: e.Name) -> tuple[str | None, e.Column]:
        """The variable before a name, if there is one, and the column."""
        first, *rest = name.parts
        variable = self._find_variable(first)
        if variable is not None and rest:
            column = self.schema.require(rest[0], name.span)
            path = (column, *(part.text for part in rest[1:]))
            return variable, e.Column(path, span=name.span)
        if self.schema.find(first) is None and rest:
            close = get_close_matches(first.text.upper(), sorted(self.sets), n=1)
            alone = ".".join(part.text for part in rest)
            raise BindingError(
                f"{first.text} is neither a variable of the pattern nor a column.",
                cure=f"Did you mean {close[0]}?"
                if close
                else f"Write {alone} alone, or a variable before it. In keys, the alias of the table may stand there.",
                span=name.span,
            )
        if self.schema.find(first) is None and variable is not None:
            raise BindingError(
                f"{first.text} is a variable of the pattern, not a column.",
                cure=f"Write {first.text}.column; count({first.text}.*) counts its rows.",
                span=name.span,
            )
        column = self.schema.require(first, name.span)
        return None, e.Column((column, *(part.text for part in rest)), span=name.span)

    def _find_variable(self, identifier: Identifier) -> str | None:
        name = identifier.text if identifier.quoted else identifier.text.upper()
        return name if name in self.sets else None

    def _variable(self, identifier: Identifier, span: Span | None) -> str:
        name = self._find_variable(identifier)
        if name is None:
            raise BindingError(
                f"{identifier.text} is not a variable of the pattern.",
                cure=f"The variables are {', '.join(sorted(self.sets))}.",
                span=span,
            )
        return name

    def _set(self, variable: str) -> frozenset[str] | None:
        """The rows of a variable; a set of all variables is every row of the match."""
        members = self.sets[variable]
        return None if members == self.variables else members

    def _place(self, variable: str | None, final: bool) -> Place:
        return Place(None if variable is None else self._set(variable), final=final)

    def only_variable(self, node: e.Navigation | e.Aggregate) -> str | None:
        """The one variable that all columns inside refer to."""
        seen: dict[str | None, Span | None] = {}
        for child in e.children(node):
            for part in e.walk(child):
                match part:
                    case e.Name():
                        seen.setdefault(self.column(part)[0], part.span)
                    case e.Classifier(variable=identifier) | e.Star(variable=identifier):
                        name = None if identifier is None else self._variable(identifier, part.span)
                        seen.setdefault(name, part.span)
                    case _:
                        pass
        if len(seen) > 1:
            raise BindingError(
                "All columns inside one navigation or aggregate must belong to the same variable.",
                cure="Split it, or use one variable throughout.",
                span=list(seen.values())[1],
            )
        if not seen and isinstance(node, e.Navigation):
            raise BindingError(
                f"{node.function} needs a column to read.",
                cure=f"Write {node.function}(column) or {node.function}(A.column).",
                span=node.span,
            )
        return next(iter(seen), None)

    def _offset(self, node: e.Navigation) -> int:
        default = 1 if node.function in ("PREV", "NEXT") else 0
        match node.offset:
            case None:
                return default
            case e.Literal(text=text):
                offset: object = read_number(text)
            case e.Parameter(name=name):
                offset = self.parameters.get(name)
            case _:
                offset = None
        if not isinstance(offset, int) or isinstance(offset, bool) or offset < 0:
            raise BindingError(
                f"The offset of {node.function} must be a whole number, 0 or more.",
                cure=_OTHER_WAY.get(node.function, f"Write {node.function}(column, 1)."),
                span=node.offset.span if node.offset else node.span,
            )
        if offset > 2**30:
            raise UnsupportedError(
                f"The offset of {node.function} is too large.",
                cure=f"Offsets go up to {2**30:,}.",
                span=node.offset.span if node.offset else node.span,
            )
        return offset


def _settled(place: Place, variable: str) -> Place:
    """A place in the condition of `variable`, with the current row written as such."""
    holds = place.variables is None or variable in place.variables
    if holds and not place.from_first and place.offset == 0:
        return Place(shift=place.shift)
    return place


def _named(value: Expression, variable: str) -> Expression:
    """A value in a row of a variable: CLASSIFIER() is its name."""
    if isinstance(value, e.Classifier):
        return text_literal(variable)
    return e.rebuild(value, lambda child: _named(child, variable))
