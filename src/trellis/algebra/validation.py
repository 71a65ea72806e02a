"""Does a query fit itself? What can be checked without knowing the data.

Each check raises a `BindingError` at the place of the mistake. Structure that the grammar allows but the standard
forbids is checked here too, so that the builder and every language share one set of rules.
"""

from __future__ import annotations

from collections.abc import Iterable

from trellis.algebra.expression import (
    Aggregate,
    Call,
    Classifier,
    Expression,
    Identifier,
    Literal,
    MatchNumber,
    Name,
    Navigation,
    Parameter,
    Star,
    children,
    walk,
)
from trellis.algebra.pattern import Exclude, Permute, Var, variables_of
from trellis.algebra.pattern import walk as walk_pattern
from trellis.algebra.query import Definition, Query, RowsPerMatch, VariableKind, Wanted
from trellis.algebra.widths import check_within
from trellis.algebra.words import Words
from trellis.errors import BindingError, UnsupportedError

__all__ = ["check_aggregate", "check_query"]


def check_query(query: Query) -> None:
    """Raise a `BindingError` where the query contradicts itself."""
    variables = variables_of(query.pattern)
    _check_subsets(query, variables)
    known = frozenset((*variables, *(subset.name for subset in query.subsets)))
    _check_definitions(query, variables)
    if query.kind is VariableKind.SEGMENT:
        _check_segments(query)
    _check_measures(query)
    _check_policies(query, known)
    for key in (*query.partition_by, *(key.expression for key in query.order_by)):
        _check_key(key, query.words)
    if query.kind is VariableKind.ROW:
        for definition in query.definitions:
            _check_no_final(definition.condition)
    for expression in _row_pattern_expressions(query):
        _check_expression(expression, known)
    if query.within is not None:
        check_within(query.within)
        if not query.order_by:
            raise BindingError("WITHIN needs ORDER BY.", cure="Add ORDER BY and the time.", span=query.within.span)
    if query.timeouts:
        _check_timeouts(query)


def _check_timeouts(query: Query) -> None:
    if query.kind is VariableKind.SEGMENT:
        raise UnsupportedError(
            "SHOW TIMEOUT MATCHES is not supported in a segment query: a segment is looked at as a whole, so that no"
            " match has a beginning that could be shown.",
            cure="Leave it out.",
            span=query.rows_span,
        )
    if query.within is None:
        raise BindingError(
            "SHOW TIMEOUT MATCHES needs WITHIN: without a window nothing times out.",
            cure="Say how wide: PATTERN (...) WITHIN INTERVAL '10' MINUTE; in SQL-TS it stands before these words.",
            span=query.rows_span,
        )
    if query.rows_per_match is RowsPerMatch.ALL_WITH_UNMATCHED:
        raise BindingError(
            "SHOW TIMEOUT MATCHES cannot be used with WITH UNMATCHED ROWS: the rows of a match that timed out would be"
            " shown twice.",
            cure="Use SHOW EMPTY MATCHES or OMIT EMPTY MATCHES.",
            span=query.rows_span,
        )
    if query.wanted is Wanted.EACH:
        raise UnsupportedError(
            "SHOW TIMEOUT MATCHES is not supported where a query has several patterns.",
            cure="Ask for each of them in a query of its own.",
            span=query.rows_span,
        )


def _row_pattern_expressions(query: Query) -> Iterable[Expression]:
    yield from (measure.expression for measure in query.measures)
    yield from (definition.condition for definition in query.definitions)


def _listing(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - 20} more" if len(listed) > 20 else ""
    return (", ".join(listed[:20]) or "none") + more


def _check_subsets(query: Query, variables: tuple[str, ...]) -> None:
    seen: set[str] = set()
    for subset in query.subsets:
        if subset.name in variables:
            raise BindingError(
                f"The subset {subset.name} has the name of a variable of the pattern.",
                cure="Give the subset another name.",
                span=subset.span,
            )
        if subset.name in seen:
            raise BindingError(
                f"The subset {subset.name} is defined twice.", cure="Leave one of them out.", span=subset.span
            )
        seen.add(subset.name)
        for member in subset.variables:
            if member not in variables:
                raise BindingError(
                    f"The subset {subset.name} holds {member}, which is not a variable of the pattern.",
                    cure=f"The variables of the pattern are {_listing(variables)}.",
                    span=subset.span,
                )


def _check_definitions(query: Query, variables: tuple[str, ...]) -> None:
    seen: set[str] = set()
    subsets = {subset.name for subset in query.subsets}
    for definition in query.definitions:
        name = definition.variable
        if name in subsets:
            raise BindingError(
                f"{name} is a subset: it has no condition of its own.",
                cure="Define the variables that it holds.",
                span=definition.span,
            )
        if name not in variables:
            raise BindingError(
                f"{name} is defined, but does not stand in the pattern.",
                cure=f"The variables of the pattern are {_listing(variables)}.",
                span=definition.span,
            )
        if name in seen:
            raise BindingError(
                f"{name} is defined twice.", cure="Join the two conditions with AND.", span=definition.span
            )
        seen.add(name)
        if definition.kind is VariableKind.ROW:
            _check_no_window(definition)


def _check_no_window(definition: Definition) -> None:
    """A window of rows bounds a segment; Spark's function of that name takes a time and a duration as text."""
    for node in walk(definition.condition):
        if isinstance(node, Call) and node.function == "window":
            bounds = node.arguments[1:] if node.arguments and isinstance(node.arguments[0], Name) else node.arguments
            if all(isinstance(bound, Literal) and not bound.text.startswith(("'", '"')) for bound in bounds[:1]):
                variable = Var(definition.variable)
                raise BindingError(
                    f"A window bounds a segment, and {definition.variable} is a variable of single rows.",
                    cure=f"Write DEFINE SEGMENT {variable} AS ...; in Python, define_segments({variable}=...).",
                    span=node.span,
                )


def _check_segments(query: Query) -> None:
    """What a segment query cannot have, since its rows can belong to several variables at once.

    FINAL and RUNNING are no mistakes: a segment is looked at as a whole, so both mean the same.
    """
    segments = query.segments
    for part in walk_pattern(query.pattern):
        if isinstance(part, (Exclude, Permute)):
            for node in walk_pattern(part):
                if isinstance(node, Var) and node.name in segments:
                    raise _misplaced_segment(node, part)
    for subset in query.subsets:
        for member in subset.variables:
            if member in segments:
                raise BindingError(
                    f"The subset {subset.name} holds {member}, which is a segment variable.",
                    cure=f"Name the stretch that you mean: `(...) & {Var(subset.name)}` in the pattern and"
                    f" `SEGMENT {Var(subset.name)} AS true` in DEFINE.",
                    span=subset.span,
                )
    if query.rows_per_match is RowsPerMatch.ALL_WITH_UNMATCHED:
        raise UnsupportedError(
            "ALL ROWS PER MATCH WITH UNMATCHED ROWS is not supported in a segment query.",
            cure="Use ALL ROWS PER MATCH, and join its rows with the input.",
            span=query.rows_span,
        )
    for expression in _row_pattern_expressions(query):
        for inner in walk(expression):
            if isinstance(inner, Classifier):
                raise BindingError(
                    "CLASSIFIER has no value in a segment query: a row can belong to several variables.",
                    cure="Ask for the rows of each variable instead, as in FIRST(A.ts), LAST(A.ts) or COUNT(A.*).",
                    span=inner.span,
                )


def _misplaced_segment(variable: Var, around: Exclude | Permute) -> BindingError:
    if isinstance(around, Exclude):
        place = "an exclusion `{- -}`"
        cure = "Take it out of the exclusion: its rows can belong to other variables too."
    else:
        place = "PERMUTE"
        cure = "Write the orders that you mean, as in `(A B) | (B A)`."
    return BindingError(f"The segment variable {variable.name} cannot stand in {place}.", cure=cure, span=variable.span)


def _check_measures(query: Query) -> None:
    seen: set[str] = set()
    for measure in query.measures:
        name = measure.name.upper()
        if name in seen:
            raise BindingError(
                f"Two measures are called {measure.name}.", cure="Give one another name.", span=measure.span
            )
        seen.add(name)


def _check_policies(query: Query, known: frozenset[str]) -> None:
    skip = query.after_match
    if skip.variable is not None and skip.variable not in known:
        raise BindingError(
            f"AFTER MATCH skips to {skip.variable}, which is not a variable.",
            cure="Write SKIP TO NEXT ROW."
            if skip.variable == "NEXT"
            else f"The variables and subsets are {_listing(sorted(known))}.",
            span=skip.span,
        )
    if query.rows_per_match is RowsPerMatch.ALL_WITH_UNMATCHED:
        for part in walk_pattern(query.pattern):
            if isinstance(part, Exclude):
                first = next((node.span for node in walk_pattern(part) if isinstance(node, Var)), None)
                raise BindingError(
                    "A pattern with an exclusion `{- -}` cannot be used with ALL ROWS PER MATCH WITH UNMATCHED ROWS.",
                    cure="Use SHOW EMPTY MATCHES or OMIT EMPTY MATCHES.",
                    span=first,
                )


def _check_key(key: Expression, words: Words) -> None:
    for node in walk(key):
        if isinstance(node, (Navigation, Aggregate, Classifier, MatchNumber)):
            raise BindingError(
                f"{_title(node)} cannot stand in {words.keys} or {words.order}.",
                cure="Rows are grouped and sorted before they are matched: use columns.",
                span=node.span,
            )


def _check_no_final(condition: Expression) -> None:
    for node in walk(condition):
        if isinstance(node, (Navigation, Aggregate)) and node.final:
            raise BindingError(
                f"FINAL {_title(node)} cannot stand in DEFINE.",
                cure="While a match is searched its end is unknown: leave FINAL out.",
                span=node.span,
            )


def _check_expression(expression: Expression, known: frozenset[str]) -> None:
    for node in walk(expression):
        match node:
            case Navigation():
                _check_navigation(node)
                _check_one_variable(node, known)
            case Aggregate():
                check_aggregate(node)
                _check_one_variable(node, known)
            case Classifier(variable=Identifier() as variable) if _variable(variable) not in known:
                raise BindingError(
                    f"{variable.text} is not a variable.",
                    cure=f"The variables and subsets are {_listing(sorted(known))}.",
                    span=node.span,
                )
            case _:
                pass


def _check_navigation(navigation: Navigation) -> None:
    """PREV and NEXT may hold FIRST or LAST, as their whole argument; nothing else nests."""
    physical = navigation.function in ("PREV", "NEXT")
    for node in walk(navigation.argument):
        if isinstance(node, Aggregate):
            raise BindingError(
                f"The aggregate {_title(node)} cannot stand inside {navigation.function}.",
                cure="Navigation reads columns of one row: take the aggregate out of it.",
                span=node.span,
            )
        if not isinstance(node, Navigation):
            continue
        if not physical or node.function in ("PREV", "NEXT"):
            cure = (
                f"Turn them around: {node.function}({navigation.function}(...))."
                if not physical and node.function in ("PREV", "NEXT")
                else "PREV and NEXT may hold FIRST or LAST; nothing else can be nested."
            )
            raise BindingError(f"{node.function} cannot stand inside {navigation.function}.", cure=cure, span=node.span)
        if node is not navigation.argument:
            raise BindingError(
                f"{node.function} inside {navigation.function} must be the whole argument.",
                cure=f"Write {navigation.function}({node.function}(...)) and compute outside of it.",
                span=node.span,
            )
    offset = navigation.offset
    count = isinstance(offset, Literal) and offset.text.isascii() and offset.text.isdigit()
    if offset is not None and not count and not isinstance(offset, Parameter):
        raise BindingError(
            f"The offset of {navigation.function} must be a whole number, not negative.",
            cure="Write a number such as 1, or a parameter.",
            span=offset.span,
        )


def check_aggregate(aggregate: Aggregate) -> None:
    """Refuse aggregates and navigation inside of an aggregate, and stars where nothing is counted."""
    for inner in children(aggregate):
        for node in walk(inner):
            if isinstance(node, (Aggregate, Navigation)):
                kind = "aggregate" if isinstance(node, Aggregate) else "navigation"
                raise BindingError(
                    f"The {kind} {_title(node)} cannot stand inside the aggregate {_title(aggregate)}.",
                    cure="An aggregate reads columns only.",
                    span=node.span,
                )
    for argument in aggregate.arguments:
        if isinstance(argument, Star) and (
            aggregate.function != "count" or aggregate.distinct or len(aggregate.arguments) > 1
        ):
            raise BindingError(
                "`*` can only be the single argument of COUNT.", cure="Name a column.", span=argument.span
            )


def _check_one_variable(node: Navigation | Aggregate, known: frozenset[str]) -> None:
    """All columns in the argument must be read from the rows of one variable (or of all variables)."""
    if isinstance(node, Navigation):
        if isinstance(node.argument, Navigation):
            return
        inside: Iterable[Expression] = walk(node.argument)
    else:
        inside = (part for child in children(node) for part in walk(child))
    first: tuple[str | None, Expression] | None = None
    for part in inside:
        match part:
            case Name(parts):
                qualified = len(parts) > 1 and _variable(parts[0]) in known
                variable = _variable(parts[0]) if qualified else None
            case Classifier(variable=identifier) | Star(variable=identifier):
                variable = None if identifier is None else _variable(identifier)
            case _:
                continue
        if isinstance(part, Star) and variable is not None and variable not in known:
            raise BindingError(
                f"{variable} is not a variable.",
                cure=f"The variables and subsets are {_listing(sorted(known))}.",
                span=part.span,
            )
        if first is None:
            first = (variable, part)
        elif first[0] != variable:
            cure = "Put the same variable before each column, or compute outside of the call."
            if Classifier() in (first[1], part):
                # Without a variable it is the label of the last row of all.
                cure = f"Write CLASSIFIER({Var(first[0] or variable or '')})."
            raise BindingError(
                f"The argument of {_title(node)} reads rows of {first[0] or 'all variables'}"
                f" and of {variable or 'all variables'}.",
                cure=cure,
                span=part.span,
            )


def _variable(identifier: Identifier) -> str:
    return identifier.text if identifier.quoted else identifier.text.upper()


def _title(node: Navigation | Aggregate | Classifier | MatchNumber) -> str:
    match node:
        case Navigation(function=function):
            return function
        case Aggregate(function=function):
            return function.upper()
        case Classifier():
            return "CLASSIFIER"
        case MatchNumber():
            return "MATCH_NUMBER"
