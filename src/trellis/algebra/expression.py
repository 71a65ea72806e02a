"""Scalar expressions, as they are written and as they are bound.

An expression is structure where Trellis must understand it (operators, navigation, aggregates) and text where
Spark alone does (`Raw`). `str(expression)` is SQL that Spark reads back with the same meaning.

As written, an expression names columns (`Name`) and navigates (`Navigation`, `Aggregate`, `Classifier`).
Bound, every value that stands in a row is an `At`: an expression over the columns of one row (`Column`), and the
`Place` that says which row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from trellis.algebra.identifier import Identifier
from trellis.algebra.members import Member, MemberIndex
from trellis.algebra.place import Place
from trellis.errors import Span, assert_never

__all__ = [
    "Aggregate",
    "At",
    "BoundAggregate",
    "Call",
    "Case",
    "Classifier",
    "ClassifierAt",
    "Column",
    "Expression",
    "Identifier",
    "Literal",
    "MatchNumber",
    "Member",
    "MemberIndex",
    "Name",
    "Navigation",
    "OfMatches",
    "Operator",
    "Pair",
    "Parameter",
    "Raw",
    "SegmentCall",
    "Star",
    "children",
    "conjuncts",
    "rebuild",
    "text_literal",
    "walk",
]


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant, as SQL text: `1`, `'x'`, `NULL`, `TRUE`, `INTERVAL '1' DAY`, `DATE '2020-01-01'`."""

    text: str
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.text


def text_literal(text: str) -> Literal:
    """A text as a constant."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return Literal(f"'{escaped}'")


@dataclass(frozen=True, slots=True)
class Name:
    """A column as written, perhaps after a variable: `price`, `A.price`, `A.address.city`."""

    parts: tuple[Identifier, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return ".".join(str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Star:
    """All rows (`*`) or all rows of a variable (`A.*`); the argument of COUNT."""

    variable: Identifier | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return "*" if self.variable is None else f"{self.variable}.*"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A named parameter of the statement: `:name`."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f":{self.name}"


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator that kernels know too.

    Symbols: `OR AND NOT = <> < <= > >= <=> + - * / % DIV ||`, unary `NEG`, postfix
    `IS NULL`, `IS NOT NULL`, `IS TRUE`, `IS NOT TRUE`, `IS FALSE`, `IS NOT FALSE`,
    ternary `BETWEEN` (value, low, high) and `IN` (value, then the list). AND and OR take two operands or more.
    What is written NOT BETWEEN, NOT IN is `NOT` around it; `IS DISTINCT FROM` is `NOT` around `<=>`.
    """

    symbol: str
    operands: tuple[Expression, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        operands = [_bracketed(operand) for operand in self.operands]
        match self.symbol:
            case "NOT":
                return f"NOT {operands[0]}"
            case "NEG":
                return f"- {operands[0]}"
            case "BETWEEN":
                return f"{operands[0]} BETWEEN {operands[1]} AND {operands[2]}"
            case "IN":
                return f"{operands[0]} IN ({', '.join(operands[1:])})"
            case symbol if symbol.startswith("IS "):
                return f"{operands[0]} {symbol}"
            case symbol:
                return f" {symbol} ".join(operands)


@dataclass(frozen=True, slots=True)
class Case:
    """`CASE WHEN condition THEN value ... ELSE otherwise END`. `CASE x WHEN 1` is written as `x = 1`."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        branches = " ".join(f"WHEN {condition} THEN {value}" for condition, value in self.branches)
        otherwise = "" if self.otherwise is None else f" ELSE {self.otherwise}"
        return f"CASE {branches}{otherwise} END"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a Spark function, built-in or registered, by its name in lower case.

    `registered`: the function is known not to be Spark's own, and must see no values but those of rows.
    """

    function: str
    arguments: tuple[Expression, ...]
    span: Span | None = field(default=None, compare=False, repr=False)
    registered: bool = field(default=False, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.function}({', '.join(str(argument) for argument in self.arguments)})"


@dataclass(frozen=True, slots=True)
class Raw:
    """Spark syntax that Trellis passes on: text with expressions in it, as in `CAST(`, x, ` AS INT)`.

    A subquery is a `Raw` of text alone. The text needs no brackets around it wherever it stands.
    """

    parts: tuple[str | Expression, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return "".join(str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Navigation:
    """FIRST, LAST, PREV or NEXT as written. `offset` is a literal or a parameter, `final` None where not written."""

    function: str
    argument: Expression
    offset: Expression | None = None
    final: bool | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        offset = "" if self.offset is None else f", {self.offset}"
        return f"{_mode(self.final)}{self.function}({self.argument}{offset})"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate as written, by its name in lower case. `condition` is that of `FILTER (WHERE ...)`.

    `order` is that of `WITHIN GROUP (ORDER BY ...)`, each key with the words after it (` DESC NULLS LAST`); `nulls` is
    `IGNORE NULLS`, `RESPECT NULLS` or nothing. `alone`: Spark takes neither FILTER nor other aggregates beside it.
    """

    function: str
    arguments: tuple[Expression, ...]
    distinct: bool = False
    condition: Expression | None = None
    final: bool | None = None
    order: tuple[tuple[Expression, str], ...] = ()
    nulls: str = ""
    alone: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{_mode(self.final)}{_aggregate_text(self, ', '.join(map(str, self.arguments)))}"


@dataclass(frozen=True, slots=True)
class Classifier:
    """The variable of the current row, or of the last row of a variable: `CLASSIFIER()`, `CLASSIFIER(U)`."""

    variable: Identifier | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"CLASSIFIER({'' if self.variable is None else self.variable})"


@dataclass(frozen=True, slots=True)
class MatchNumber:
    """The number of the match within its series, from 1."""

    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return "MATCH_NUMBER()"


@dataclass(frozen=True, slots=True)
class OfMatches:
    """What is known of all matches that end at one event; `what` is that of `algebra.scan.OfGraph`.

    `event` is what the nodes of their graph hold.
    """

    what: str = "matches"
    event: Call | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return "count(*)" if self.what == "matches" else f"{self.what} OF MATCHES"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the input (bound), perhaps a field inside it. `path` holds exact names."""

    path: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return ".".join(f"`{name.replace('`', '``')}`" for name in self.path)


@dataclass(frozen=True, slots=True)
class At:
    """An expression over the columns of one row, read at a place (bound).

    Where there is no such row the value is NULL, or `absent`, which reads no row.
    """

    value: Expression
    place: Place
    absent: Expression | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"[{self.value} @ {self.place}]"


@dataclass(frozen=True, slots=True)
class Pair:
    """An expression over the columns of two rows (bound); those of the first row stand in the struct `__first`.

    Where a row does not exist, the value is an expression over the columns of the other one, or over none.
    """

    value: Expression
    first: Place
    second: Place
    first_missing: Expression
    second_missing: Expression
    both_missing: Expression
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{{{self.value} @ {self.first}, {self.second}}}"


@dataclass(frozen=True, slots=True)
class ClassifierAt:
    """The name of the variable that the row at a place carries (bound)."""

    place: Place
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"[CLASSIFIER @ {self.place}]"


@dataclass(frozen=True, slots=True)
class BoundAggregate:
    """An aggregate over the rows of the match that carry one of `variables` (None: all rows).

    The arguments, the condition and the order are expressions over the columns of one row; `Classifier(None)` in them
    is the variable of that row. COUNT(*) has no arguments.
    """

    function: str
    arguments: tuple[Expression, ...]
    variables: frozenset[str] | None
    distinct: bool = False
    condition: Expression | None = None
    final: bool = False
    order: tuple[tuple[Expression, str], ...] = ()
    nulls: str = ""
    alone: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        rows = "*" if self.variables is None else "|".join(sorted(self.variables))
        counted = "*" if self.function == "count" else ""
        text = _aggregate_text(self, ", ".join(map(str, self.arguments)) or counted)
        return f"[{_mode(self.final or None)}{text} OVER {rows}]"


@dataclass(frozen=True, slots=True)
class SegmentCall:
    """A function of whole segments (bound): expressions over one row, each read in all rows of a variable's segment.

    The variable None is the whole match. `constants` are further arguments.
    """

    function: str
    arguments: tuple[Expression, ...]
    variables: tuple[str | None, ...]
    constants: tuple[float, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        names = ("match" if name is None else name for name in self.variables)
        values = [f"{value} OVER {name}" for value, name in zip(self.arguments, names, strict=False)]
        return f"[{self.function}({', '.join([*values, *(f'{number:g}' for number in self.constants)])})]"


Leaf: TypeAlias = (
    Literal | Name | Member | Star | Parameter | Classifier | MatchNumber | OfMatches | Column | ClassifierAt
)
"""What nothing stands inside of."""

Expression: TypeAlias = (
    Leaf | Operator | Case | Call | Raw | Navigation | Aggregate | At | Pair | BoundAggregate | SegmentCall
)


def children(expression: Expression) -> tuple[Expression, ...]:
    """The expressions that stand directly inside."""
    if isinstance(expression, Leaf):
        return ()
    match expression:
        case Operator(operands=operands):
            return operands
        case Case(branches, otherwise):
            inner = tuple(part for branch in branches for part in branch)
            return inner if otherwise is None else (*inner, otherwise)
        case Call(arguments=arguments) | SegmentCall(arguments=arguments):
            return arguments
        case Raw(parts):
            return tuple(part for part in parts if not isinstance(part, str))
        case Navigation(argument=argument, offset=offset):
            return (argument,) if offset is None else (argument, offset)
        case (
            Aggregate(arguments=arguments, condition=condition, order=order)
            | BoundAggregate(arguments=arguments, condition=condition, order=order)
        ):
            keys = tuple(key for key, _ in order)
            return (*arguments, *keys) if condition is None else (*arguments, *keys, condition)
        case At(value=value, absent=absent):
            return (value,) if absent is None else (value, absent)
        case Pair(value=value):
            return value, expression.first_missing, expression.second_missing, expression.both_missing
    assert_never(expression)


def rebuild(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The same expression with each direct child replaced by `change(child)`."""
    if isinstance(expression, Leaf):
        return expression
    match expression:
        case Operator(operands=operands):
            return replace(expression, operands=tuple(map(change, operands)))
        case Case(branches, otherwise):
            return replace(
                expression,
                branches=tuple((change(condition), change(value)) for condition, value in branches),
                otherwise=None if otherwise is None else change(otherwise),
            )
        case Call(arguments=arguments) | SegmentCall(arguments=arguments):
            return replace(expression, arguments=tuple(map(change, arguments)))
        case Raw(parts):
            return replace(expression, parts=tuple(part if isinstance(part, str) else change(part) for part in parts))
        case Navigation(argument=argument, offset=offset):
            return replace(expression, argument=change(argument), offset=None if offset is None else change(offset))
        case (
            Aggregate(arguments=arguments, condition=condition, order=order)
            | BoundAggregate(arguments=arguments, condition=condition, order=order)
        ):
            return replace(
                expression,
                arguments=tuple(map(change, arguments)),
                order=tuple((change(key), words) for key, words in order),
                condition=None if condition is None else change(condition),
            )
        case At(value=value, absent=absent):
            return replace(expression, value=change(value), absent=None if absent is None else change(absent))
        case Pair(value=value):
            return replace(
                expression,
                value=change(value),
                first_missing=change(expression.first_missing),
                second_missing=change(expression.second_missing),
                both_missing=change(expression.both_missing),
            )
    assert_never(expression)


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and everything inside it, outermost first, left to right."""
    pending = [expression]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(children(node)))


def conjuncts(condition: Expression) -> list[Expression]:
    """The parts of a condition that must all hold; BETWEEN is two of them."""
    if isinstance(condition, Operator) and condition.symbol == "AND":
        return [part for operand in condition.operands for part in conjuncts(operand)]
    if isinstance(condition, Operator) and condition.symbol == "BETWEEN":
        value, low, high = condition.operands
        return [Operator(">=", (value, low), condition.span), Operator("<=", (value, high), condition.span)]
    return [condition]


def _mode(final: bool | None) -> str:
    return "" if final is None else "FINAL " if final else "RUNNING "


def _aggregate_text(node: Aggregate | BoundAggregate, arguments: str) -> str:
    distinct = "DISTINCT " if node.distinct else ""
    keys = ", ".join(f"{key}{words}" for key, words in node.order)
    order = f" WITHIN GROUP (ORDER BY {keys})" if keys else ""
    condition = "" if node.condition is None else f" FILTER (WHERE {node.condition})"
    nulls = f" {node.nulls}" if node.nulls else ""
    return f"{node.function}({distinct}{arguments}){order}{condition}{nulls}"


def _bracketed(expression: Expression) -> str:
    text = str(expression)
    compound = isinstance(expression, Operator) or text.startswith("-")
    return f"({text})" if compound else text
