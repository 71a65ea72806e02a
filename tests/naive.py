"""MATCH_RECOGNIZE by definition: the truth the real engine is compared with.

Everything here follows the wording of SQL:2016 (ISO 19075-5) as directly as it can. A match at a row is found by
enumerating the labelled candidates of the pattern in preference order and taking the first whose conditions hold.
It is exponential and meant to be: speed would need ideas, and ideas are what this file must not share with the engine.

Patterns are tuples:
    ("var", "A")  ("cat", (p, ...))  ("alt", (p, ...))  ("rep", p, lo, hi_or_None, greedy)  ("perm", (p, ...))
    ("excl", p)  ("start",)  ("end",)  ("empty",)

Expressions are tuples:
    ("lit", value)  ("col", var_or_None, "name")
    ("nav", "FIRST" | "LAST" | "PREV" | "NEXT", expr, offset_or_None, None | "RUNNING" | "FINAL")
    ("agg", fn, (arg, ...), star, distinct, None | "RUNNING" | "FINAL")
        star is None for fn(args), "*" for count(*) and a variable's name for count(A.*)
    ("classifier", var_or_None)  ("match_number",)
    ("op", symbol, (arg, ...))  ("case", ((cond, value), ...), else_or_None)  ("call", name, (arg, ...))
"""

from __future__ import annotations

import fnmatch
import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Row = dict[str, Any]
Pattern = tuple[Any, ...]
Expr = tuple[Any, ...]
Path = tuple[tuple[str, bool], ...]  # for each row of the match: its label, and whether an exclusion hides it


class SkipError(Exception):
    """AFTER MATCH SKIP goes to a variable the match does not contain, or to the match's own first row."""


class TooManyCandidates(Exception):
    """The caller's limit on tried row labels is used up: the case is too big to enumerate."""


@dataclass(frozen=True)
class NaiveQuery:
    pattern: Pattern
    define: tuple[tuple[str, Expr], ...] = ()
    subsets: tuple[tuple[str, tuple[str, ...]], ...] = ()
    measures: tuple[tuple[str, Expr], ...] = ()
    partition_by: tuple[str, ...] = ()
    order_by: tuple[tuple[str, bool, bool], ...] = ()  # column, descending, nulls first
    rows_per_match: str = "ONE"  # or ALL, ALL_OMIT_EMPTY, ALL_WITH_UNMATCHED
    skip: tuple[str, ...] = ("PAST_LAST_ROW",)  # or ("NEXT_ROW",), ("FIRST", v), ("LAST", v)
    within: float | None = None
    timeouts: bool = False


@dataclass(frozen=True)
class Match:
    """A match, whole or partial, as an expression sees it from one of its rows."""

    rows: list[Row]  # the ordered partition
    start: int  # index in `rows` of the first row of the match
    labels: tuple[str, ...]  # of the rows start, start + 1, ...
    number: int | None  # None if it timed out
    subsets: Mapping[str, tuple[str, ...]]
    seen: int  # how many rows of the match RUNNING semantics sees; the last of them is the current row
    at: int | None = None  # index in `rows` of the row that a navigation or an aggregate evaluates its argument in


@dataclass
class Search:
    """The search for one match: what the labelling of a row depends on besides the path so far."""

    query: NaiveQuery
    rows: list[Row]
    start: int
    number: int
    budget: Budget
    hidden: bool = False  # whether an exclusion hides the rows of this part of the pattern
    timed_out: list[Path] = field(default_factory=list)  # the first way that asked for a row the window does not have


@dataclass
class Budget:
    limit: int | None
    spent: int = field(default=0)

    def spend(self) -> None:
        self.spent += 1
        if self.limit is not None and self.spent > self.limit:
            raise TooManyCandidates


# ---------------------------------------------------------------------------------------------- the whole clause


def run(rows: list[Row], columns: list[str], query: NaiveQuery, limit: int | None = None) -> list[Row]:
    """The output rows: partitions by ascending key (NULL first), inside a partition in the order of the matches.

    `limit` bounds how many times a label is tried on a row; beyond it TooManyCandidates is raised.
    """
    if query.rows_per_match == "ALL_WITH_UNMATCHED" and has_exclusion(query.pattern):
        raise ValueError("an exclusion cannot be combined with WITH UNMATCHED ROWS")
    if query.within is not None and not query.order_by:
        raise ValueError("WITHIN needs ORDER BY")
    if query.timeouts and (query.within is None or query.rows_per_match == "ALL_WITH_UNMATCHED"):
        raise ValueError("SHOW TIMEOUT MATCHES needs WITHIN, and cannot be combined with WITH UNMATCHED ROWS")
    budget = Budget(limit)
    output = []
    for partition in partitions(rows, query.partition_by):
        output += run_partition(ordered(partition, query.order_by), columns, query, budget)
    return output


def has_exclusion(pattern: Pattern) -> bool:
    kind = pattern[0]
    if kind in ("cat", "alt", "perm"):
        return any(has_exclusion(part) for part in pattern[1])
    return kind == "excl" or (kind == "rep" and has_exclusion(pattern[1]))


def partitions(rows: list[Row], partition_by: tuple[str, ...]) -> list[list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[column] for column in partition_by), []).append(row)
    return [groups[key] for key in sorted(groups, key=lambda key: [(value is not None, value) for value in key])]


def ordered(rows: list[Row], order_by: tuple[tuple[str, bool, bool], ...]) -> list[Row]:
    # Sorting is stable, so sorting by the least significant key first leaves the most significant one in charge.
    for column, descending, nulls_first in reversed(order_by):
        nulls = [row for row in rows if row[column] is None]
        others = sorted((row for row in rows if row[column] is not None), key=lambda r: r[column], reverse=descending)
        rows = nulls + others if nulls_first else others + nulls
    return rows


def run_partition(rows: list[Row], columns: list[str], query: NaiveQuery, budget: Budget) -> list[Row]:
    output: list[Row] = []
    covered: set[int] = set()
    number = 1
    start = 0
    shown = 0  # SKIP PAST LAST ROW: the row after the last timed-out match that was given out
    while start < len(rows):
        search = Search(query, rows, start, number, budget)
        path = next(paths(query.pattern, (), search), None)
        if path is None:
            if query.timeouts and search.timed_out and start >= shown:
                # There is no match: so all ways were gone, the preferred ones first.
                begun = search.timed_out[0]
                labels = tuple(label for label, _ in begun)
                timed_out = Match(rows, start, labels, None, dict(query.subsets), len(labels))
                output += match_output(timed_out, begun, columns, query)
                shown = start + len(begun) if query.skip == ("PAST_LAST_ROW",) else 0
            if query.rows_per_match == "ALL_WITH_UNMATCHED" and start not in covered:
                output.append(output_row(rows[start], columns, query, None))
            start += 1
            continue
        labels = tuple(label for label, _ in path)
        match = Match(rows, start, labels, number, dict(query.subsets), len(labels))
        output += match_output(match, path, columns, query)
        covered.update(range(start, start + len(path)))
        start = next_start(match, query)
        number += 1
    return output


def next_start(match: Match, query: NaiveQuery) -> int:
    # The clause speaks of the rows of a match. An empty one has none: the search goes on with the next row.
    if query.skip == ("NEXT_ROW",) or not match.labels:
        return match.start + 1
    if query.skip == ("PAST_LAST_ROW",):
        return match.start + len(match.labels)
    where, var = query.skip
    targets = rows_of(match, var, "FINAL")
    if not targets:
        raise SkipError(f"the match contains no row of {var}")
    target = targets[0] if where == "FIRST" else targets[-1]
    if target == match.start:
        raise SkipError(f"{where} {var} is the first row of the match")
    return target


def match_output(match: Match, path: Path, columns: list[str], query: NaiveQuery) -> list[Row]:
    if query.rows_per_match == "ONE" or not path:
        if query.rows_per_match == "ALL_OMIT_EMPTY":
            return []
        return [output_row(match.rows[match.start], columns, query, match)]
    return [
        output_row(match.rows[match.start + i], columns, query, replace(match, seen=i + 1))
        for i, (_, excluded) in enumerate(path)
        if not excluded
    ]


def output_row(row: Row, columns: list[str], query: NaiveQuery, match: Match | None) -> Row:
    """The output for one row; `match` is None for an unmatched row."""
    out = {column: row[column] for column in query.partition_by}
    if query.rows_per_match != "ONE":
        out |= {column: row[column] for column, _, _ in query.order_by}
    out |= {name: None if match is None else evaluate(expr, match) for name, expr in query.measures}
    if query.rows_per_match != "ONE":
        out |= {column: row[column] for column in columns if column not in out}
    return out


# ------------------------------------------------------------------------------------------------- the candidates


def paths(pattern: Pattern, path: Path, search: Search) -> Iterator[Path]:
    """Every way of extending `path` by `pattern`, most preferred first.

    Two ways to the same labels end alike, so the less preferred one is left out: nested loops have very many of them.
    """
    seen: set[Path] = set()
    for longer in extensions(pattern, path, search):
        if longer not in seen:
            seen.add(longer)
            yield longer


def extensions(pattern: Pattern, path: Path, search: Search) -> Iterator[Path]:
    """As `paths`, with every way to the same labels."""
    kind = pattern[0]
    position = search.start + len(path)
    if kind == "empty":
        yield path
    elif kind == "start":
        if position == 0:
            yield path
    elif kind == "end":
        if position == len(search.rows):
            yield path
    elif kind == "var":
        if may_be_labelled(pattern[1], path, search):
            yield (*path, (pattern[1], search.hidden))
    elif kind == "cat":
        yield from concatenated(pattern[1], path, search)
    elif kind == "alt":
        for part in pattern[1]:
            yield from paths(part, path, search)
    elif kind == "perm":
        # itertools yields the orders lexicographically by position, which is PERMUTE's order of preference.
        for order in itertools.permutations(pattern[1]):
            yield from concatenated(order, path, search)
    elif kind == "excl":
        yield from paths(pattern[1], path, replace(search, hidden=True))
    elif kind == "rep":
        yield from repeated(pattern, path, search)
    else:
        raise ValueError(f"unknown pattern {pattern!r}")


def concatenated(parts: tuple[Pattern, ...], path: Path, search: Search) -> Iterator[Path]:
    if not parts:
        yield path
        return
    for longer in paths(parts[0], path, search):
        yield from concatenated(parts[1:], longer, search)


def repeated(pattern: Pattern, path: Path, search: Search) -> Iterator[Path]:
    _, body, lo, hi, greedy = pattern
    may_stop = lo == 0
    if may_stop and not greedy:
        yield path
    if hi is None or hi > 0:
        rest = ("rep", body, max(lo - 1, 0), None if hi is None else hi - 1, greedy)
        for longer in paths(body, path, search):
            if may_stop and len(longer) == len(path):
                # Beyond the required iterations, one that takes no row is the last.
                yield longer
            else:
                yield from repeated(rest, longer, search)
    if may_stop and greedy:
        yield path


def may_be_labelled(var: str, path: Path, search: Search) -> bool:
    """Whether the row after `path` exists, lies within WITHIN and satisfies the condition of `var`."""
    search.budget.spend()
    query, rows, position = search.query, search.rows, search.start + len(path)
    if not is_in_window(position, search):
        if path and not search.timed_out:
            search.timed_out.append(path)
        return False
    condition = dict(query.define).get(var, ("lit", True))
    labels = (*(label for label, _ in path), var)
    match = Match(rows, search.start, labels, search.number, dict(query.subsets), len(labels))
    return evaluate(condition, match) is True


def is_in_window(position: int, search: Search) -> bool:
    """Whether there is a row, and WITHIN allows it."""
    query, rows = search.query, search.rows
    if position >= len(rows) or query.within is None:
        return position < len(rows)
    key = query.order_by[0][0]
    first, last = rows[search.start][key], rows[position][key]
    return first is not None and last is not None and abs(last - first) <= query.within


# ------------------------------------------------------------------------------------------------- the expressions


def evaluate(expr: Expr, match: Match) -> Any:
    kind = expr[0]
    if kind == "lit":
        return expr[1]
    if kind == "match_number":
        return match.number
    if kind == "col":
        row = target_row(match, expr[1])
        return None if row is None else match.rows[row][expr[2]]
    if kind == "classifier":
        row = target_row(match, expr[1])
        # A navigation may have left the match: such a row has no label.
        if row is None or not match.start <= row < match.start + len(match.labels):
            return None
        return match.labels[row - match.start]
    if kind == "nav":
        row = navigated_row(expr, match)
        return None if row is None else evaluate(navigated_value(expr), replace(match, at=row))
    if kind == "agg":
        return evaluate_aggregate(expr, match)
    if kind == "op":
        return operate(expr[1], [evaluate(arg, match) for arg in expr[2]])
    if kind == "case":
        for condition, value in expr[1]:
            if evaluate(condition, match) is True:
                return evaluate(value, match)
        return None if expr[2] is None else evaluate(expr[2], match)
    if kind == "call":
        return call(expr[1], [evaluate(arg, match) for arg in expr[2]])
    raise ValueError(f"unknown expression {expr!r}")


def rows_of(match: Match, var: str | None, mode: str | None) -> list[int]:
    """The partition indexes of the rows labelled `var` (or with any label): of the match so far, or if FINAL of all."""
    names = match.labels if var is None else match.subsets.get(var, (var,))
    visible = match.labels if mode == "FINAL" else match.labels[: match.seen]
    return [match.start + i for i, label in enumerate(visible) if label in names]


def target_row(match: Match, var: str | None) -> int | None:
    """The row a column or CLASSIFIER reads: the one navigated to, otherwise the last one of `var` so far."""
    if match.at is not None:
        return match.at
    rows = rows_of(match, var, "RUNNING")
    return rows[-1] if rows else None


def navigated_row(nav: Expr, match: Match) -> int | None:
    _, kind, inner, offset, mode = nav
    if kind in ("FIRST", "LAST"):
        rows = rows_of(match, variable_of(inner), mode)
        if kind == "LAST":
            rows.reverse()
        steps = 0 if offset is None else offset
        return rows[steps] if steps < len(rows) else None
    logical = inner if inner[0] == "nav" else ("nav", "LAST", inner, None, None)
    origin = navigated_row(logical, match)
    if origin is None:
        return None
    steps = 1 if offset is None else offset
    row = origin - steps if kind == "PREV" else origin + steps
    return row if 0 <= row < len(match.rows) else None


def navigated_value(nav: Expr) -> Expr:
    """What a navigation evaluates in the row it goes to."""
    inner: Expr = nav[2]
    return navigated_value(inner) if inner[0] == "nav" else inner


def variable_of(*exprs: Expr) -> str | None:
    """The one variable that the columns of an argument belong to; None for the universal row pattern variable."""
    for expr in exprs:
        if expr[0] in ("col", "classifier"):
            return expr[1]  # type: ignore[no-any-return]
        for found in (variable_of(part) for part in subexpressions(expr)):
            if found is not None:
                return found
    return None


def subexpressions(expr: Expr) -> list[Expr]:
    if expr[0] in ("op", "call"):
        return list(expr[2])
    if expr[0] == "case":
        branches = [part for branch in expr[1] for part in branch]
        return branches if expr[2] is None else [*branches, expr[2]]
    return []


def evaluate_aggregate(expr: Expr, match: Match) -> Any:
    _, fn, args, star, distinct, mode = expr
    if star is not None:
        return len(rows_of(match, None if star == "*" else star, mode))
    rows = rows_of(match, variable_of(*args), mode)
    tuples = [tuple(evaluate(arg, replace(match, at=row)) for arg in args) for row in rows]
    if fn in ("max_by", "min_by"):
        # Only the ordering value has to be there. The standard does not say which of equals wins; queries avoid that.
        pairs = [(order, value) for value, order in tuples if order is not None]
        best = max if fn == "max_by" else min
        return best(pairs, key=lambda pair: pair[0])[1] if pairs else None
    if fn == "count_if":
        return sum(1 for (value,) in tuples if value is True)
    tuples = [values for values in tuples if None not in values]
    if distinct:
        tuples = list(dict.fromkeys(tuples))
    if fn == "count":
        return len(tuples)
    values = [value for (value,) in tuples]
    return values if fn == "array_agg" else fold(fn, values)


def fold(fn: str, values: list[Any]) -> Any:
    if not values:
        return None
    mean = sum(values) / len(values) if fn in ("avg", "var_pop", "var_samp", "stddev_pop", "stddev_samp") else 0.0
    squares = sum((value - mean) ** 2 for value in values) if fn.startswith(("var", "stddev")) else 0.0
    if fn.endswith("_samp") and len(values) < 2:
        return None
    if fn == "sum":
        return sum(values)
    if fn == "avg":
        return mean
    if fn == "min":
        return min(values)
    if fn == "max":
        return max(values)
    if fn == "bool_and":
        return all(values)
    if fn == "bool_or":
        return any(values)
    if fn == "var_pop":
        return squares / len(values)
    if fn == "var_samp":
        return squares / (len(values) - 1)
    if fn == "stddev_pop":
        return math.sqrt(squares / len(values))
    if fn == "stddev_samp":
        return math.sqrt(squares / (len(values) - 1))
    raise ValueError(f"unknown aggregate {fn}")


def operate(symbol: str, args: list[Any]) -> Any:
    """SQL operators over three-valued logic; None is NULL and UNKNOWN."""
    if symbol == "AND":
        return False if False in args else None if None in args else True
    if symbol == "OR":
        return True if True in args else None if None in args else False
    if symbol == "IS NULL":
        return args[0] is None
    if symbol == "IS NOT NULL":
        return args[0] is not None
    if symbol == "<=>":
        return args[0] is args[1] if None in args else args[0] == args[1]
    if symbol == "BETWEEN":
        value, low, high = args
        return operate("AND", [operate(">=", [value, low]), operate("<=", [value, high])])
    if symbol == "IN":
        return operate("OR", [operate("=", [args[0], other]) for other in args[1:]])
    if None in args:
        return None
    if symbol == "NOT":
        return not args[0]
    if symbol == "NEG":
        return -args[0]
    return operate_on_two(symbol, args[0], args[1])


def operate_on_two(symbol: str, left: Any, right: Any) -> Any:
    if symbol == "=":
        return left == right
    if symbol == "<>":
        return left != right
    if symbol == "<":
        return left < right
    if symbol == "<=":
        return left <= right
    if symbol == ">":
        return left > right
    if symbol == ">=":
        return left >= right
    if symbol == "+":
        return left + right
    if symbol == "-":
        return left - right
    if symbol == "*":
        return left * right
    if symbol == "/":
        return left / right
    if symbol == "||":
        return left + right
    if symbol == "LIKE":
        return fnmatch.fnmatchcase(left, right.replace("%", "*").replace("_", "?"))
    if symbol == "%":
        remainder = math.fmod(left, right)  # SQL's remainder has the sign of the dividend, Python's % the divisor's
        return int(remainder) if isinstance(left, int) and isinstance(right, int) else remainder
    raise ValueError(f"unknown operator {symbol}")


def call(name: str, args: list[Any]) -> Any:
    present = [arg for arg in args if arg is not None]
    if name == "coalesce":
        return present[0] if present else None
    if name == "least":
        return min(present) if present else None
    if name == "greatest":
        return max(present) if present else None
    if name == "abs":
        return None if args[0] is None else abs(args[0])
    if name in ("upper", "length", "bin") and args[0] is None:
        return None
    if name == "upper":
        return args[0].upper()
    if name == "length":
        return len(args[0])
    if name == "bin":
        return f"{args[0]:b}"
    if name == "nullif":
        return None if operate("=", args) is True else args[0]
    if name == "if":
        return args[1] if args[0] is True else args[2]
    raise ValueError(f"unknown function {name}")
