"""The smallest case that still shows a difference: fewer rows, fewer measures, a smaller pattern, plainer values.

Greedy: of all cases that are one step smaller, take the first that still shows it, until none does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from naive import Expr, NaiveQuery, Pattern, Row
from peers.expressions import expressions, parts, pattern_parts, with_parts, with_pattern_parts
from properties.strategies import variables_in

Rows = tuple[Row, ...]
Shows = Callable[[NaiveQuery, Rows], bool]
MOST_STEPS = 2_000


def minimise(query: NaiveQuery, rows: Rows, shows: Shows) -> tuple[NaiveQuery, Rows]:
    """A case from which no step leads to a smaller one that `shows` the difference, or MOST_STEPS are tried."""
    steps = 0
    found = True
    while found:
        found = False
        for smaller in smaller_cases(query, rows):
            steps += 1
            if steps > MOST_STEPS:
                return query, rows
            if shows(*smaller):
                query, rows = smaller
                found = True
                break
    return query, rows


def smaller_cases(query: NaiveQuery, rows: Rows) -> Iterator[tuple[NaiveQuery, Rows]]:
    for fewer in fewer_rows(rows):
        yield query, fewer
    for smaller in smaller_queries(query):
        if has_all_names(smaller):
            yield smaller, rows
    for plainer in plainer_rows(rows):
        yield query, plainer


# ---------------------------------------------------------------------------------------------------- rows


def fewer_rows(rows: Rows) -> Iterator[Rows]:
    """Without a half, a quarter, …, a single row."""
    size = len(rows) // 2
    while size:
        for start in range(0, len(rows), size):
            yield rows[:start] + rows[start + size :]
        size //= 2
    if len(rows) == 1:
        yield ()


def plainer_rows(rows: Rows) -> Iterator[Rows]:
    """A column that is alike in all rows, or one value that is."""
    plain = {"k": 1, "t": 0, "x": 0, "y": 0.0, "s": "a", "b": True}
    for column, value in plain.items():
        differing = [number for number, row in enumerate(rows) if row[column] != value]
        if len(differing) > 1:
            yield tuple({**row, column: value} for row in rows)
        for number in differing:
            yield (*rows[:number], {**rows[number], column: value}, *rows[number + 1 :])


# ---------------------------------------------------------------------------------------------------- queries


def smaller_queries(query: NaiveQuery) -> Iterator[NaiveQuery]:
    for field in ("measures", "define", "subsets"):
        items = getattr(query, field)
        for number in range(len(items)):
            yield replace(query, **{field: items[:number] + items[number + 1 :]})
    for number, (name, members) in enumerate(query.subsets):
        for member in members if len(members) > 1 else ():
            fewer = name, tuple(other for other in members if other != member)
            yield replace(query, subsets=(*query.subsets[:number], fewer, *query.subsets[number + 1 :]))
    if query.rows_per_match != "ONE":
        yield replace(query, rows_per_match="ONE")
        if query.rows_per_match != "ALL":
            yield replace(query, rows_per_match="ALL")
    if query.skip != ("PAST_LAST_ROW",):
        yield replace(query, skip=("PAST_LAST_ROW",))
    if query.partition_by:
        yield replace(query, partition_by=query.partition_by[:-1])
    if query.order_by != (("id", False, True),):
        yield replace(query, order_by=(("id", False, True),))
    for pattern in smaller_patterns(query.pattern):
        yield replace(query, pattern=pattern)
    for field in ("measures", "define"):
        items = getattr(query, field)
        for number, (name, expr) in enumerate(items):
            for smaller in smaller_expressions(expr):
                yield replace(query, **{field: (*items[:number], (name, smaller), *items[number + 1 :])})


def has_all_names(query: NaiveQuery) -> bool:
    """Whether everything that the query speaks of is in its pattern."""
    variables = variables_in(query.pattern)
    names = {None, "*", *variables, *(name for name, _ in query.subsets)}
    spoken = {node[1] for node in expressions(query) if node[0] in ("col", "classifier")}
    spoken |= {node[3] for node in expressions(query) if node[0] == "agg"}
    spoken |= set(query.skip[1:])
    members = {member for _, of_subset in query.subsets for member in of_subset}
    return spoken <= names and members | {name for name, _ in query.define} <= variables


def smaller_patterns(pattern: Pattern) -> Iterator[Pattern]:
    inner = pattern_parts(pattern)
    yield from inner
    if pattern[0] in ("cat", "alt", "perm") and len(inner) > 2:
        for number in range(len(inner)):
            yield pattern[0], inner[:number] + inner[number + 1 :]
    if pattern[0] == "rep":
        plain = (0, 1, True), (0, None, True), (1, None, True)
        # Only towards the front of the list, so that there is an end to it.
        rank = plain.index(pattern[2:]) if pattern[2:] in plain else len(plain)
        for quantifier in plain[:rank]:
            yield "rep", pattern[1], *quantifier
    for number, part in enumerate(inner):
        for smaller in smaller_patterns(part):
            yield with_pattern_parts(pattern, (*inner[:number], smaller, *inner[number + 1 :]))


def smaller_expressions(expr: Expr) -> Iterator[Expr]:
    inner = parts(expr)
    yield from inner
    if inner:
        yield "lit", True
        yield "lit", 1
    match expr:
        case ("nav", name, argument, offset, mode):
            if offset is not None:
                yield "nav", name, argument, None, mode
            if mode is not None:
                yield "nav", name, argument, offset, None
        case ("agg", name, arguments, star, distinct, mode) if mode is not None:
            yield "agg", name, arguments, star, distinct, None
        case ("case", branches, otherwise):
            for number in range(len(branches) if len(branches) > 1 else 0):
                yield "case", branches[:number] + branches[number + 1 :], otherwise
            if otherwise is not None:
                yield "case", branches, None
        case ("op" | "call" as kind, ("IN" | "coalesce") as name, operands) if len(operands) > 2:
            for number in range(1, len(operands)):
                yield kind, name, operands[:number] + operands[number + 1 :]
    for number, part in enumerate(inner):
        for smaller in smaller_expressions(part):
            yield with_parts(expr, (*inner[:number], smaller, *inner[number + 1 :]))
