"""Walking the tuples that patterns and expressions of a NaiveQuery are made of (see naive.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from naive import Expr, NaiveQuery, Pattern


def parts(expr: Expr) -> tuple[Expr, ...]:
    """The expressions that this one is made of."""
    match expr:
        case ("nav", _, inner, _, _):
            return (inner,)
        case ("agg", _, arguments, _, _, _):
            return tuple(arguments)
        case ("op" | "call", _, operands):
            return tuple(operands)
        case ("case", branches, otherwise):
            flat = tuple(part for branch in branches for part in branch)
            return flat if otherwise is None else (*flat, otherwise)
    return ()


def with_parts(expr: Expr, new: tuple[Expr, ...]) -> Expr:
    """The same expression over other parts, as many as it had."""
    match expr:
        case ("nav", name, _, offset, mode):
            return "nav", name, new[0], offset, mode
        case ("agg", name, _, star, distinct, mode):
            return "agg", name, new, star, distinct, mode
        case ("op" | "call" as kind, name, _):
            return kind, name, new
        case ("case", branches, otherwise):
            pairs = tuple(zip(new[0 : 2 * len(branches) : 2], new[1 : 2 * len(branches) : 2], strict=True))
            return "case", pairs, None if otherwise is None else new[-1]
    return expr


def map_expr(change: Callable[[Expr], Expr], expr: Expr) -> Expr:
    """The expression with every node changed, from the leaves up."""
    return change(with_parts(expr, tuple(map_expr(change, part) for part in parts(expr))))


def nodes(expr: Expr) -> Iterator[Expr]:
    yield expr
    for part in parts(expr):
        yield from nodes(part)


def expressions(query: NaiveQuery) -> Iterator[Expr]:
    """Every node of every measure and condition."""
    for _, expr in (*query.measures, *query.define):
        yield from nodes(expr)


# ---------------------------------------------------------------------------------------------------- patterns


def pattern_parts(pattern: Pattern) -> tuple[Pattern, ...]:
    if pattern[0] in ("cat", "alt", "perm"):
        return tuple(pattern[1])
    return (pattern[1],) if pattern[0] in ("rep", "excl") else ()


def with_pattern_parts(pattern: Pattern, new: tuple[Pattern, ...]) -> Pattern:
    if pattern[0] in ("cat", "alt", "perm"):
        return pattern[0], new
    return (pattern[0], new[0], *pattern[2:]) if pattern[0] in ("rep", "excl") else pattern


def map_pattern(change: Callable[[Pattern], Pattern], pattern: Pattern) -> Pattern:
    """The pattern with every node changed, from the leaves up."""
    return change(with_pattern_parts(pattern, tuple(map_pattern(change, part) for part in pattern_parts(pattern))))


def pattern_nodes(pattern: Pattern) -> Iterator[Pattern]:
    yield pattern
    for part in pattern_parts(pattern):
        yield from pattern_nodes(part)
