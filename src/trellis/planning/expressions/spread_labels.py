"""CLASSIFIER() and MATCH_NUMBER() in conditions, where only Spark knows the function around them.

There are finitely many variables, so a function of a label is a table over them. Spark computes it for each label: once
and for all if it reads nothing else, as a column for each label if it reads a row. Before and after, for two variables:

    [CLASSIFIER @ CURRENT -1] LIKE '%B'
    CASE WHEN [CLASSIFIER @ CURRENT -1] = 'A' THEN FALSE WHEN [CLASSIFIER @ CURRENT -1] = 'B' THEN TRUE ELSE NULL END

    [s || CLASSIFIER() @ FIRST(row)]
    CASE WHEN [CLASSIFIER @ FIRST(row)] = 'A' THEN [s || 'A' @ FIRST(row)] WHEN ... END

The number of the match is the same in all rows, so it moves out of navigation: `[x + MATCH_NUMBER() @ p]` becomes
`[x @ p] + MATCH_NUMBER()`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.algebra.place import Place
from trellis.analysis.repeatable import is_repeatable
from trellis.analysis.source import Constant
from trellis.errors import UnsupportedError
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.hoist_slots import hoist_slots, is_constant, spared
from trellis.planning.expressions.slots import filtered_arguments, labelled

__all__ = ["LabelTables", "labels_of", "spread_labels"]

# In place of a value that Spark could not compute: whoever reads it fails.
_FAILS = e.Call("raise_error", ())
_CURRENT = Place()
_NO_LABEL = e.Raw(("CAST(NULL AS STRING)",))
# Tables over several labels grow with their product.
_MOST_BRANCHES = 4096
_SUFFIXES = {"boolean": "", "string": "", "tinyint": "Y", "smallint": "S", "int": "", "bigint": "L", "double": "D"}


def spread_labels(expression: Expression, variables: tuple[str, ...], columns: Columns) -> Expression:
    """A value that depends on the label of its row becomes a choice between labels; one of the number is taken out."""
    match expression:
        case e.BoundAggregate() if _has(expression, e.MatchNumber):
            return _numbered_aggregate(expression, variables, columns)
        case e.BoundAggregate(function="any_value"):
            return spread_labels(_any_value(expression, columns), variables, columns)
        case e.BoundAggregate():
            return expression
        case e.ClassifierAt(place=place) if (only := _only_label(place)) is not None:
            return e.At(_literal(only), place, span=expression.span)
        case e.At(value=value, place=place) if _has(value, e.Classifier) and (only := _only_label(place)) is not None:
            return spread_labels(replace(expression, value=labelled(value, only)), variables, columns)
        case e.At(value=value, place=place) if _has(value, e.Classifier):
            branches = tuple(
                (_is_label(e.ClassifierAt(place), name), replace(expression, value=labelled(value, name)))
                for name in variables
            )
            spread = e.Case(
                branches, replace(expression, value=_replaced(value, e.Classifier(), _NO_LABEL)), span=expression.span
            )
            return spread_labels(spread, variables, columns)
        case e.At(value=value, place=place) if _has(value, e.MatchNumber):
            moved = _take_out_number(value, place)
            # Where there is no row the value is NULL, whatever the number is.
            return moved if place == _CURRENT else e.Case(((e.At(e.Literal("TRUE"), place), moved),))
        case _:
            return e.rebuild(expression, lambda child: spread_labels(child, variables, columns))


@dataclass(slots=True)
class LabelTables:
    """Functions of labels as tables. `used` says whether there was any."""

    variables: tuple[str, ...]
    columns: Columns
    constant: Constant
    used: bool = field(default=False)

    def spread(self, expression: Expression, finish: Callable[[Expression], Expression]) -> Expression:
        """A choice between the labels that an expression reads first; `finish` is applied to each branch."""
        labels = list(dict.fromkeys(labels_of(expression)))
        if len(self.variables) ** len(labels) > _MOST_BRANCHES:
            raise UnsupportedError(
                "A function of so many labels is not supported in a condition.",
                cure="Split it, or compare the labels one by one.",
                span=expression.span,
            )
        self.used = True
        label = labels[0]
        names = [name for name in self.variables if _may_be(name, label.place)]

        def chosen(value: Expression) -> Expression:
            return _replaced(expression, label, value)

        values = [chosen(_literal(name)) for name in names] + [chosen(_NO_LABEL)]
        if len(labels) == 1 and all(map(is_constant, values)):
            values = self._computed(values)
        else:
            values = [finish(hoist_slots(value)) for value in values]
        branches = tuple((_is_label(label, name), value) for name, value in zip(names, values, strict=False))
        return e.Case(branches, values[-1], span=expression.span)

    def _computed(self, values: list[Expression]) -> list[Expression]:
        """Values that read no row, computed now; as slots where that cannot be."""
        type_ = self.columns.type_text(values[0])
        if type_ not in _SUFFIXES or not all(map(_is_plain, values)):
            return [e.At(value, _CURRENT, span=value.span) for value in values]
        found = self._try(e.Call("array", tuple(values)))
        if not isinstance(found, list):
            # Some label fails; perhaps nobody asks about it.
            single = [self._try(e.Call("array", (value,))) for value in values]
            found = [value[0] if isinstance(value, list) else _FAILS for value in single]
        if all(value is _FAILS for value in found) or not all(map(_is_writable, found)):
            return [e.At(value, _CURRENT, span=value.span) for value in values]
        return [_written(value, type_) for value in found]

    def _try(self, value: Expression) -> object:
        try:
            return self.constant(value)
        except Exception:  # whatever a function raises, Spark's errors and those of user functions alike
            return None


def _numbered_aggregate(node: e.BoundAggregate, variables: tuple[str, ...], columns: Columns) -> Expression:
    """An aggregate whose argument reads the number of the match: over values of the current row, not of its columns."""

    def at_row(value: Expression) -> Expression:
        return hoist_slots(spread_labels(e.At(value, _CURRENT, span=node.span), variables, columns))

    match node.function:
        case "any_value":
            return spread_labels(_any_value(node, columns), variables, columns)
        case "max_by" | "min_by":
            value, order = filtered_arguments(node, columns)
            plain = replace(node, condition=None)

            def picked(part: Expression) -> Expression:
                if isinstance(part, e.MatchNumber) or is_constant(part):
                    return part
                if _has(part, e.MatchNumber):
                    return e.rebuild(part, picked)
                by = at_row(order) if _has(order, e.MatchNumber) else order
                return replace(plain, arguments=(part, by))

            if not _has(value, e.MatchNumber):
                return picked(value)
            # The row is the same for all parts of the value.
            some = spread_labels(replace(plain, function="count", arguments=(order,)), variables, columns)
            return e.Case(((e.Operator(">", (some, e.Literal("0"))), picked(value)),), span=node.span)
        case _:
            function = "count" if node.function == "count_if" else node.function
            arguments = tuple(map(at_row, filtered_arguments(node, columns)))
            return replace(node, function=function, arguments=arguments, condition=None)


def _any_value(node: e.BoundAggregate, columns: Columns) -> Expression:
    """Any value is that of the first row, or of the first one that fulfils the condition of FILTER."""
    (value,) = node.arguments
    if node.condition is None:
        return e.At(value, Place(node.variables, from_first=True), span=node.span)
    counts = e.Case(((node.condition, e.Literal("0")),))
    return replace(node, function="min_by", arguments=(value, counts), condition=None)


def _take_out_number(value: Expression, place: Place) -> Expression:
    """The value between rows: what does not read the number of the match is read at the place."""
    if isinstance(value, e.MatchNumber) or is_constant(value):
        return value
    if not _has(value, e.MatchNumber):
        return e.At(value, place, span=value.span)
    return e.rebuild(value, lambda part: _take_out_number(part, place))


def labels_of(expression: Expression) -> list[e.ClassifierAt]:
    """The labels that are read, but for those that arguments of aggregates read."""
    match expression:
        case e.ClassifierAt():
            return [expression]
        case e.BoundAggregate():
            return []
        case _:
            return [label for child in e.children(expression) for label in labels_of(child)]


def _replaced(expression: Expression, label: Expression, value: Expression) -> Expression:
    """The expression with a value for a label; a registered function is not called for a label that is missing."""
    if isinstance(expression, e.BoundAggregate):
        return expression
    if expression == label:
        return value
    missing: tuple[Expression, ...] = ()
    if value == _NO_LABEL:
        reading = [child for child in e.children(expression) if label in e.walk(child)]
        missing = tuple(_replaced(child, label, value) for child in reading)
    return spared(e.rebuild(expression, lambda child: _replaced(child, label, value)), missing)


def _only_label(place: Place) -> str | None:
    """The label of a row, where there is only one that the row can have if it exists."""
    return next(iter(place.variables)) if place.variables and len(place.variables) == 1 and not place.shift else None


def _may_be(name: str, place: Place) -> bool:
    return place.variables is None or place.shift != 0 or name in place.variables


def _is_label(label: e.ClassifierAt, name: str) -> Expression:
    return e.Operator("=", (label, _literal(name)))


def _literal(name: str) -> Expression:
    return labelled(e.Classifier(), name)


def _is_plain(value: Expression) -> bool:
    """Whether a constant may be computed while the query is planned: no subquery, always the same."""
    queries = (isinstance(node, e.Raw) and node != _NO_LABEL and _is_text(node) for node in e.walk(value))
    return is_repeatable(value) and not any(queries)


def _is_text(node: e.Raw) -> bool:
    return all(isinstance(part, str) for part in node.parts)


def _is_writable(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, int) or abs(value) < 2**63


def _written(value: object, type_: str) -> Expression:
    """A value as a literal of the kernel."""
    match value:
        case e.Call():
            return _FAILS
        case None:
            return e.Literal("NULL")
        case bool():
            return e.Literal("TRUE" if value else "FALSE")
        case str():
            return labelled(e.Classifier(), value)
        case _:
            digits = repr(value)
            number = e.Literal(f"{digits.removeprefix('-')}{_SUFFIXES[type_]}")
            return e.Operator("NEG", (number,)) if digits.startswith("-") else number


def _has(expression: Expression, kind: type[e.Classifier] | type[e.MatchNumber]) -> bool:
    return any(isinstance(node, kind) for node in e.walk(expression))
