"""Segment queries against a schema: segment functions, windows, and values of the rows of segments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from difflib import get_close_matches

from trellis.algebra import expression as e
from trellis.algebra.bound import BoundQuery, BoundWindow
from trellis.algebra.expression import Expression
from trellis.algebra.literals import interval_micros, read_number
from trellis.algebra.pattern import Exclude, walk
from trellis.algebra.place import Place
from trellis.analysis.binding import Binder
from trellis.analysis.padding import padded
from trellis.analysis.source import Source
from trellis.analysis.windows import bind_window, within_window
from trellis.errors import BindingError, Span, UnsupportedError

__all__ = ["SEGMENT_FUNCTIONS", "bind_segments", "segment_functions"]

SEGMENT_FUNCTIONS = {
    "linear_regression_r2": 2,
    "linear_regression_r2_signed": 2,
    "linear_regression_slope": 2,
    "mann_kendall_test": 1,
    "corr": 2,
    "zscore": 2,
    "equal_up_down_ticks": 1,
}
"""The functions of whole segments that Spark's aggregates do not have, and how many arguments they take."""

_AGGREGATES = {
    "count": "count",
    "sum": "sum",
    "avg": "avg",
    "mean": "avg",
    "min": "min",
    "max": "max",
    "stddev": "stddev_samp",
    "std": "stddev_samp",
    "stddev_samp": "stddev_samp",
    "stddev_pop": "stddev_pop",
    "variance": "var_samp",
    "var_samp": "var_samp",
    "var_pop": "var_pop",
}


def segment_functions(source: Source) -> Mapping[str, int]:
    """All functions of whole segments, those that users registered among them, with their numbers of arguments."""
    return {**SEGMENT_FUNCTIONS, **source.functions}


def bind_segments(bound: BoundQuery, names: Binder, source: Source) -> BoundQuery:
    """Bind the conditions, windows and measures of a segment query, whose keys are bound."""
    query = bound.query
    if query.subsets:
        raise UnsupportedError(
            "SUBSET cannot stand in a query with segments.",
            cure="Name the stretch of rows: `(A B) & U` with SEGMENT U AS true.",
            span=query.subsets[0].span,
        )
    if bound.all_rows and any(isinstance(node, Exclude) for node in walk(query.pattern)):
        raise UnsupportedError(
            "An exclusion `{- -}` cannot stand in a query with segments that shows all rows.",
            cure="Use ONE ROW PER MATCH, or filter the rows afterwards.",
            span=query.rows_span,
        )
    binder = _SegmentBinder(names, source.parameters, segment_functions(source))
    conditions: list[tuple[str, Expression]] = []
    windows: list[tuple[str, BoundWindow]] = []
    for definition in query.definitions:
        kept = []
        for part in e.conjuncts(definition.condition):
            match part:
                case e.Call(function="window"):
                    windows.append((definition.variable, binder.window(part)))
                case e.Literal(text=text) if text.upper() == "TRUE":
                    pass
                case _:
                    value = binder.value(part, definition.variable)
                    window = _span_window(value, definition.variable)
                    if window is None:
                        kept.append(value)
                    else:
                        windows.append((definition.variable, window))
        if kept:
            condition = kept[0] if len(kept) == 1 else e.Operator("AND", tuple(kept), definition.condition.span)
            conditions.append((definition.variable, condition))
    within = query.within
    return replace(
        bound,
        conditions=tuple(conditions),
        measures=tuple((measure.name, binder.value(measure.expression, None)) for measure in query.measures),
        windows=tuple(windows),
        within=None if within is None else within_window(within, bound.order_by, query.order_by, source.parameters),
    )


def _span_window(condition: Expression, own: str) -> BoundWindow | None:
    """`last(X.col) - first(X.col) <= INTERVAL '5' DAY` is a window of time, and can be pushed down like one."""
    match condition:
        case e.Operator(
            symbol="<=" | ">=" as symbol,
            operands=(
                e.Operator(
                    symbol="-",
                    operands=(
                        e.At(value=e.Column() as last, place=last_place, absent=None),
                        e.At(value=first, place=first_place, absent=None),
                    ),
                ),
                e.Literal(text=text),
            ),
        ) if last == first:
            micros = interval_micros(text)
            mine = frozenset({own})
            if micros is None or last_place != Place(mine) or first_place != Place(mine, from_first=True):
                return None
            return BoundWindow(micros, None, last) if symbol == ">=" else BoundWindow(None, micros, last)
    return None


@dataclass(frozen=True, slots=True)
class _SegmentBinder:
    rows: Binder
    parameters: Mapping[str, object]
    functions: Mapping[str, int]

    def window(self, call: e.Call) -> BoundWindow:
        """A window among the conjuncts of a condition."""
        return bind_window(call, self._column, self.parameters)

    def value(self, expression: Expression, own: str | None) -> Expression:
        """An expression of DEFINE (`own` is its variable) or MEASURES (None)."""
        match expression:
            case e.Name():
                variable, column = self.rows.column(expression)
                return e.At(column, self._place(variable or own), span=expression.span)
            case e.Navigation():
                return self._navigation(expression, own)
            case e.Aggregate():
                return self._aggregate(expression, own)
            case e.Call(function="window"):
                bound = self.window(expression)
                if bound.column is not None:
                    raise UnsupportedError(
                        "A window of time must be the whole condition, or joined to the rest with AND.",
                        cure="Give it to a variable of its own: `X & WIN`.",
                        span=expression.span,
                    )
                return _between(e.SegmentCall("rows", (), (own,), span=expression.span), bound)
            case e.Call(function=function) if function in self.functions:
                return self._function(expression, own)
            case e.Call(function=function) if get_close_matches(function, self.functions, n=1, cutoff=0.9):
                meant = get_close_matches(function, self.functions, n=1, cutoff=0.9)[0]
                raise BindingError(
                    f"There is no function {function}.", cure=f"Did you mean {meant}?", span=expression.span
                )
            case e.Parameter():
                return self._parameter(expression)
            case e.Star():
                raise BindingError("A star stands in COUNT only.", cure="Name a column.", span=expression.span)
            case e.Classifier():
                raise BindingError(
                    "CLASSIFIER() has no meaning in a query with segments: a row can belong to several variables.",
                    cure="Name the ends of each variable in MEASURES: first(A.x), last(A.x).",
                    span=expression.span,
                )
            case e.Call(function=function, arguments=(e.Name(parts=(unit,)), *rest)) if (
                function in ("timestampdiff", "timestampadd", "dateadd", "datediff")
                and len(rest) == 2
                and self.rows.schema.find(unit) is None
            ):
                values = tuple(self.value(argument, own) for argument in rest)
                return replace(expression, arguments=(e.Raw((unit.text,)), *values))
            case _:
                return padded(e.rebuild(expression, lambda child: self.value(child, own)), self.rows.schema)

    def _place(self, variable: str | None) -> Place:
        return Place(None if variable is None else frozenset({variable}))

    def _navigation(self, node: e.Navigation, own: str | None) -> Expression:
        bound = self.rows.value(replace(node, final=None), True)
        assert isinstance(bound, e.At)
        place = replace(bound.place, final=False)
        named = self._variable_of(node)
        variables = frozenset({named}) if named else None if own is None else frozenset({own})
        value = _with_parameters(bound.value, self._parameter)
        return replace(bound, value=value, place=replace(place, variables=variables))

    def _aggregate(self, node: e.Aggregate, own: str | None) -> Expression:
        if node.function not in _AGGREGATES or node.distinct or node.order or node.nulls:
            what = f"{node.function.upper()}{'(DISTINCT)' if node.distinct else ''}"
            raise UnsupportedError(
                f"{what} of a segment is not supported.",
                cure=f"The functions of segments are first, last, {', '.join(sorted(_AGGREGATES))} and "
                f"{', '.join(sorted(self.functions))}. For others use ALL ROWS PER MATCH with MATCH_NUMBER(), and "
                "GROUP BY in the query around.",
                span=node.span,
            )
        variable = self._variable_of(node) or own
        star = [argument for argument in node.arguments if isinstance(argument, e.Star)]
        if node.function != "count":
            self._check_count(node.function, len(node.arguments), 1, node.span)
        arguments = () if star else tuple(self._row(argument) for argument in node.arguments)
        if len(arguments) > 1:
            present = tuple(e.Operator("IS NOT NULL", (argument,)) for argument in arguments)
            arguments = (e.Case(((e.Operator("AND", present), e.Literal("TRUE")),)),)
        if node.condition is not None:
            argument = arguments[0] if arguments else e.Literal("TRUE")
            arguments = (e.Case(((self._row(node.condition), argument),)),)
        if not arguments:
            return e.SegmentCall("rows", (), (variable,), span=node.span)
        return e.SegmentCall(_AGGREGATES[node.function], arguments, (variable,), span=node.span)

    def _function(self, node: e.Call, own: str | None) -> Expression:
        self._check_count(node.function, len(node.arguments), self.functions[node.function], node.span)
        values = list(node.arguments)
        constants: tuple[float, ...] = ()
        if node.function == "zscore":
            length = _whole(values.pop(), self.parameters)
            if length is None or length < 2:
                raise BindingError(
                    "The second argument of zscore must be a whole number of rows, 2 or more.",
                    cure="Write zscore(x, 20).",
                    span=node.span,
                )
            constants = (float(length),)
        variables = []
        for value in values:
            names = {self.rows.column(part)[0] for part in e.walk(value) if isinstance(part, e.Name)}
            if len(names) > 1:
                raise BindingError(
                    f"An argument of {node.function} reads rows of several variables.",
                    cure="Put the same variable before each column of one argument.",
                    span=value.span or node.span,
                )
            variables.append(next(iter(names), None) or own)
        if len(set(variables)) > 1 and node.function != "corr":
            raise BindingError(
                f"All arguments of {node.function} must belong to the same variable.",
                cure="Only corr compares two segments.",
                span=node.span,
            )
        arguments = tuple(self._row(value) for value in values)
        return e.SegmentCall(node.function, arguments, tuple(variables), constants, span=node.span)

    def _check_count(self, function: str, given: int, wanted: int, span: Span | None) -> None:
        if given != wanted:
            plural = "" if wanted == 1 else "s"
            raise BindingError(
                f"{function} takes {wanted} argument{plural}, not {given}.",
                cure=f"Write {function}({', '.join('xyz'[:wanted]) if wanted <= 3 else '...'}).",
                span=span,
            )

    def _row(self, expression: Expression) -> Expression:
        """An expression over one row, inside a function of segments."""
        for part in e.walk(expression):
            if isinstance(part, e.Call) and part.function in self.functions:
                raise BindingError(
                    f"{part.function} cannot stand inside another function of segments.",
                    cure="A function of segments reads columns: compare the two, or compute one in a subquery.",
                    span=part.span,
                )
        return _with_parameters(self.rows.row(expression, expression.span), self._parameter)

    def _variable_of(self, node: e.Navigation | e.Aggregate) -> str | None:
        inner = node.argument if isinstance(node, e.Navigation) and isinstance(node.argument, e.Navigation) else node
        assert isinstance(inner, (e.Navigation, e.Aggregate))
        return self.rows.only_variable(inner)

    def _column(self, name: e.Name) -> Expression:
        return self.rows.column(name)[1]

    def _parameter(self, parameter: e.Parameter) -> Expression:
        """The value of a parameter as a literal, where it has one: kernels then know it."""
        if parameter.name not in self.parameters:
            raise BindingError(
                f"The parameter :{parameter.name} has no value.",
                cure=f"Pass args={{{parameter.name!r}: ...}}.",
                span=parameter.span,
            )
        text = _literal(self.parameters[parameter.name])
        if text is None:
            return parameter
        literal = e.Literal(text.removeprefix("-"), span=parameter.span)
        return e.Operator("NEG", (literal,), span=parameter.span) if text.startswith("-") else literal


def _with_parameters(expression: Expression, change: object) -> Expression:
    if isinstance(expression, e.Parameter):
        changed: Expression = change(expression)  # type: ignore[operator]
        return changed
    return e.rebuild(expression, lambda child: _with_parameters(child, change))


def _literal(value: object) -> str | None:
    """A parameter as SQL, None where Spark should read it."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value) if abs(value) < 2**63 else None
    if isinstance(value, float):
        text = repr(value)
        return f"{text}D" if re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", text) else None
    if isinstance(value, Decimal) and value.is_finite():
        return f"{value:f}BD"
    if isinstance(value, str) and re.fullmatch(r"[^'\\]*", value):
        return f"'{value}'"
    return None


def _whole(expression: Expression, parameters: Mapping[str, object]) -> int | None:
    match expression:
        case e.Literal(text=text):
            value: object = read_number(text)
        case e.Parameter(name=name):
            value = parameters.get(name)
        case _:
            return None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _between(value: Expression, window: BoundWindow) -> Expression:
    """A window of rows as an ordinary condition."""
    parts: list[Expression] = []
    for symbol, bound in ((">=", window.least), ("<=", window.most)):
        if bound is not None:
            parts.append(e.Operator(symbol, (value, e.Literal(str(bound)))))
    if not parts:
        return e.Literal("TRUE")
    return parts[0] if len(parts) == 1 else e.Operator("AND", tuple(parts))
