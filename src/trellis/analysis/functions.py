"""Which calls are aggregates: Spark says so, since functions are built in, registered, or written in Python.

A call is asked about as it stands, over the columns of the input, so that its arguments have their types. Known
functions are not asked about, and a query whose other functions are all scalar costs one question.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.algebra.functions import AGGREGATES, FunctionKind
from trellis.algebra.pattern import variables_of
from trellis.algebra.query import Query, VariableKind
from trellis.algebra.validation import check_query
from trellis.algebra.words import Words
from trellis.analysis.binding import Binder
from trellis.analysis.source import Source
from trellis.errors import BindingError, UnsupportedError

__all__ = ["settle_functions"]

# Functions of everyday queries that are scalar in every Spark. One that is missing here costs a question.
_SCALAR = frozenset(
    "abs acos array asin atan atan2 bigint boolean cast cbrt ceil ceiling coalesce concat concat_ws contains cos date "
    "date_add date_diff date_format date_sub date_trunc dateadd datediff day dayofmonth dayofweek dayofyear decimal "
    "degrees double element_at endswith exp expm1 float floor format_number format_string from_unixtime get greatest "
    "hour if iff ifnull initcap instr int isnan isnotnull isnull least left length levenshtein ln locate log log10 "
    "log1p log2 lower lpad ltrim md5 minute mod month named_struct nanvl negative nullif nvl nvl2 pmod pow power "
    "quarter radians regexp_extract regexp_replace replace reverse right rint round rpad rtrim second sha2 sign signum "
    "sin size split sqrt startswith string struct substr substring tan timestamp timestampadd timestampdiff to_date "
    "to_timestamp trim trunc try_divide unix_timestamp upper weekday weekofyear year".split()
)


def settle_functions(query: Query, source: Source, segment_functions: Collection[str] = ()) -> Query:
    """The query with every aggregate as such; an error where a function can only stand elsewhere in a statement.

    Spark is asked about expressions over the columns of the input; functions of segments are none of its business.
    """
    expressions = list(_expressions(query))
    skipped = frozenset((*segment_functions, *(("window",) if query.kind is VariableKind.SEGMENT else ())))
    variables = variables_of(query.pattern)
    sets = {name: frozenset({name}) for name in variables}
    sets |= {subset.name: frozenset(subset.variables) for subset in query.subsets}
    binder = Binder(source.schema, sets, frozenset(variables), {})
    settle = _Settle(binder, source, skipped, query.words)
    unknown = [node for expression in expressions for node in settle.unknown(expression)]
    if not unknown:
        return query
    calls = [settle.plain(node) for node in unknown if isinstance(node, e.Call)]
    settle.answers.update(zip(calls, source.kinds_of(calls), strict=True))
    if len(calls) == len(unknown) and all(kind is FunctionKind.SCALAR for kind in settle.answers.values()):
        return query
    settled = replace(
        query,
        measures=tuple(replace(measure, expression=settle(measure.expression)) for measure in query.measures),
        definitions=tuple(
            replace(definition, condition=settle(definition.condition)) for definition in query.definitions
        ),
        partition_by=tuple(map(settle, query.partition_by)),
        order_by=tuple(replace(key, expression=settle(key.expression)) for key in query.order_by),
    )
    if query.events is not None:
        return replace(settled, events=replace(query.events, where=tuple(map(settle, query.events.where))))
    # What is forbidden for aggregates can be told only now.
    check_query(settled)
    return settled


def _expressions(query: Query) -> Iterator[Expression]:
    yield from (measure.expression for measure in query.measures)
    yield from (definition.condition for definition in query.definitions)
    yield from query.partition_by
    yield from (key.expression for key in query.order_by)
    yield from query.events.where if query.events is not None else ()


@dataclass(frozen=True, slots=True)
class _Settle:
    """Turns calls of aggregates into aggregates, inner ones first."""

    binder: Binder
    source: Source
    skipped: frozenset[str]
    words: Words
    answers: dict[Expression, FunctionKind] = field(default_factory=dict)

    def __call__(self, expression: Expression) -> Expression:
        """The expression with its aggregates settled."""
        settled = e.rebuild(expression, self)
        if isinstance(settled, e.Aggregate) and settled.function not in AGGREGATES:
            return self._checked(settled)
        if not self._is_unknown(settled):
            return settled
        assert isinstance(settled, e.Call)
        plain = self.plain(settled)
        match self._kind(plain):
            case FunctionKind.AGGREGATE:
                return self._checked(e.Aggregate(settled.function, settled.arguments, span=settled.span))
            case FunctionKind.WINDOW:
                raise self._is_window(settled)
            case FunctionKind.GENERATOR:
                raise UnsupportedError(
                    f"{settled.function} makes rows of its own, so it cannot stand inside {self.words.query}.",
                    cure="Use it in a subquery, and match its result, or in the query around.",
                    span=settled.span,
                )
            case FunctionKind.REFUSED:
                self._require(settled)
                if not any(isinstance(node, e.Call) and node.function in self.skipped for node in e.walk(settled)):
                    # Refused once more, with Spark's words and the place in the text.
                    self.source.types_of([plain])
                return settled
            case FunctionKind.SCALAR:
                return settled

    def unknown(self, expression: Expression) -> Iterator[Expression]:
        """The outermost parts that Spark is asked about."""
        pending = [expression]
        while pending:
            node = pending.pop()
            if self._is_unknown(node) or (isinstance(node, e.Aggregate) and node.function not in AGGREGATES):
                yield node
            else:
                pending.extend(reversed(e.children(node)))

    def plain(self, expression: Expression) -> Expression:
        """A part of the query as an expression over the columns of one row, with the same types."""
        return self.binder.row(self._without_places(expression), expression.span)

    def _is_unknown(self, node: Expression) -> bool:
        return isinstance(node, e.Call) and node.function not in _SCALAR and node.function not in self.skipped

    def _kind(self, plain: Expression) -> FunctionKind:
        if plain not in self.answers:
            self.answers[plain] = self.source.kinds_of([plain])[0]
        return self.answers[plain]

    def _checked(self, node: e.Aggregate) -> e.Aggregate:
        """An aggregate that Spark accepts; functions written in Python stand alone."""
        plain = self._over_rows(node)
        match self._kind(plain):
            case FunctionKind.AGGREGATE:
                filtered = replace(plain, condition=e.Literal("TRUE"))
                alone = node.condition is None and self._kind(filtered) is FunctionKind.REFUSED
                return replace(node, alone=alone)
            case FunctionKind.WINDOW:
                raise self._is_window(node)
            case FunctionKind.REFUSED:
                self._require(node)
                self.source.types_of([plain])
            case FunctionKind.SCALAR | FunctionKind.GENERATOR:
                pass
        raise BindingError(
            f"{node.function} is not an aggregate.",
            cure="RUNNING, FINAL, DISTINCT, FILTER, WITHIN GROUP and IGNORE NULLS belong to aggregates.",
            span=node.span,
        )

    def _require(self, node: e.Call | e.Aggregate) -> None:
        """Refuse a function that there is not, with one of a similar name."""
        if self.source.is_function(node.function) or not (names := self.source.function_names()):
            return
        known = {*names, *self.skipped, *self.words.navigation}
        close = get_close_matches(node.function.lower(), sorted(name.lower() for name in known), n=1, cutoff=0.6)
        meant = [close[0].upper() if close[0].upper() in self.words.navigation else close[0]] if close else []
        raise BindingError(
            f"There is no function {node.function}.",
            cure=f"Did you mean {meant[0]}?" if meant else "Register it with spark.udf.register, or compute it before.",
            span=node.span,
        )

    def _over_rows(self, node: e.Aggregate) -> e.Aggregate:
        """The aggregate over all rows of the input."""
        over = e.rebuild(node, lambda part: e.Raw(("*",)) if isinstance(part, e.Star) else self.plain(part))
        assert isinstance(over, e.Aggregate)
        return replace(over, final=None)

    def _without_places(self, expression: Expression) -> Expression:
        match expression:
            case e.Navigation(argument=argument):
                return self._without_places(argument)
            case e.Member(path=path, span=span):
                return e.Name(path, span) if path else e.Literal("1")
            case e.Classifier():
                return e.Literal("''")
            case e.MatchNumber():
                return e.Literal("1L")
            case e.Aggregate():
                return e.Raw((f"CAST(NULL AS {self.source.types_of([self._over_rows(expression)])[0]})",))
            case e.Call(function=function) if function in self.skipped:
                return e.Raw(("CAST(NULL AS DOUBLE)",))
            case _:
                return e.rebuild(expression, self._without_places)

    def _is_window(self, node: e.Call | e.Aggregate) -> UnsupportedError:
        instead = {"lag": self.words.before, "lead": self.words.after}.get(node.function, "")
        return UnsupportedError(
            f"{node.function} is a window function, which cannot stand inside {self.words.query}.",
            cure=f"{instead}Compute the value in a subquery, and match its result.",
            span=node.span,
        )
