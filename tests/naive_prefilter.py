"""Which rows a query can do without, by definition: the truth that the rules before the match are compared with.

A rule that drops rows before the match is right if every row of every match stays, and if no match appears that was not
there before. The first is `must_keep`, the second is `matches` over the rows that are left. The functions below them
restate the prefilter (definitions 3.1 to 3.10 of "High-Performance Row Pattern Recognition Using Joins") and the
elimination of rows. Queries, patterns and expressions are those of naive.py; rows are told apart by their index, since
two of them may be equal in all columns.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from naive import Budget, Expr, Match, NaiveQuery, Pattern, Row, Search, evaluate, ordered, partitions, paths

Bucket = tuple[tuple[Any, ...], int | None]  # the partition's key and floor(t / w); None where t is NULL
Special = tuple[str, ...]  # a pattern that is only a concatenation of variables


@dataclass(frozen=True)
class Found:
    """A match: the indexes of its rows, in order, and their labels."""

    rows: tuple[int, ...]
    labels: tuple[str, ...]


# ------------------------------------------------------------------------------------------------------ what must stay


def matches(rows: Sequence[Row], query: NaiveQuery, limit: int | None = None) -> set[Found]:
    """Every match at every start: also those that are not preferred, and those that AFTER MATCH SKIP passes over.

    A condition may read MATCH_NUMBER(), which depends on the skips; then every number that could be reached counts.
    """
    budget, found = Budget(limit), set()
    for indexes, partition in ordered_partitions(rows, query):
        last = len(partition) if any(mentions(expr, "match_number") for _, expr in query.define) else 1
        for start, number in itertools.product(range(len(partition)), range(1, last + 1)):
            for path in paths(query.pattern, (), Search(query, partition, start, number, budget)):
                labels = tuple(label for label, _ in path)
                found.add(Found(tuple(indexes[start : start + len(path)]), labels))
    return found


def ordered_partitions(rows: Sequence[Row], query: NaiveQuery) -> Iterator[tuple[list[int], list[Row]]]:
    """The partitions in the order of the query, and for each row its index in `rows`."""
    copies = [dict(row) for row in rows]
    index = {id(copy): place for place, copy in enumerate(copies)}
    for partition in partitions(copies, query.partition_by):
        in_order = ordered(partition, query.order_by)
        yield [index[id(row)] for row in in_order], in_order


def must_keep(rows: Sequence[Row], query: NaiveQuery, limit: int | None = None) -> set[int]:
    """The rows that no rule may drop: those of all matches."""
    return {row for match in matches(rows, query, limit) for row in match.rows}


def widest(rows: Sequence[Row], query: NaiveQuery, limit: int | None = None) -> Any:
    """The largest difference of the order key inside a match; None if there is no match between keys.

    A window that is derived from conditions must never be smaller.
    """
    key = query.order_by[0][0]
    ends = [
        (rows[match.rows[0]][key], rows[match.rows[-1]][key]) for match in matches(rows, query, limit) if match.rows
    ]
    return max((abs(last - first) for first, last in ends if None not in (first, last)), default=None)


# ------------------------------------------------------------------------------------------------- kinds of conditions


def conjuncts(expr: Expr) -> list[Expr]:
    """The conditions that AND joins at the top."""
    if expr[0] == "op" and expr[1] == "AND":
        return [part for arg in expr[2] for part in conjuncts(arg)]
    return [expr]


def is_independent(expr: Expr, var: str) -> bool:
    """Whether a condition of `var` can be evaluated on the row alone (definition 3.1)."""
    if expr[0] == "col":
        return expr[1] in (None, var)  # in DEFINE a column without a variable is the current row's
    return expr[0] in ("lit", "op", "call", "case") and all(is_independent(part, var) for part in parts_of(expr))


def independent_conditions(query: NaiveQuery) -> dict[str, list[Expr]]:
    """The independent conditions of each variable of the pattern; without any, every row will do."""
    defined = dict(query.define)
    return {
        var: [part for part in conjuncts(defined.get(var, ("lit", True))) if is_independent(part, var)]
        for var in variables(query.pattern)
    }


def holds(conditions: Iterable[Expr], var: str, row: Row) -> bool:
    """Whether a row satisfies independent conditions of a variable. UNKNOWN is not enough."""
    match = Match([row], 0, (var,), 1, {}, 1)
    return all(evaluate(condition, match) is True for condition in conditions)


def mentions(expr: Expr, *kinds: str) -> bool:
    """Whether a node of one of these kinds, or a navigation of one of these names, stands in an expression."""
    if expr[0] in kinds or (expr[0] == "nav" and expr[1] in kinds):
        return True
    return any(mentions(part, *kinds) for part in parts_of(expr))


def parts_of(expr: Expr) -> list[Expr]:
    if expr[0] in ("op", "call", "agg"):
        return list(expr[2])
    if expr[0] == "nav":
        return [expr[2]]
    if expr[0] == "case":
        branches = [part for branch in expr[1] for part in branch]
        return branches if expr[2] is None else [*branches, expr[2]]
    return []


def variables(pattern: Pattern) -> set[str]:
    if pattern[0] == "var":
        return {pattern[1]}
    if pattern[0] in ("cat", "alt", "perm"):
        return {var for part in pattern[1] for var in variables(part)}
    return variables(pattern[1]) if pattern[0] in ("rep", "excl") else set()


# ------------------------------------------------------------------------------------------------------- the prefilter


def special_patterns(pattern: Pattern) -> set[Special]:
    """The concatenations that a pattern decomposes into; a cycle is left after one round (section 3.1.2).

    Each match contains the labels of one of them as a subsequence.
    """
    kind = pattern[0]
    if kind == "var":
        return {(pattern[1],)}
    if kind == "cat":
        return joined(special_patterns(part) for part in pattern[1])
    if kind == "alt":
        return {special for part in pattern[1] for special in special_patterns(part)}
    if kind == "perm":
        orders = itertools.permutations([special_patterns(part) for part in pattern[1]])
        return {special for order in orders for special in joined(order)}
    if kind == "excl":
        return special_patterns(pattern[1])
    if kind == "rep":
        _, body, least, most, _ = pattern
        rounds = {least, max(least, 1) if most is None else min(max(least, 1), most)}
        return {special for n in rounds for special in joined([special_patterns(body)] * n)}
    return {()}  # anchors and the empty pattern take no row


def joined(parts: Iterable[set[Special]]) -> set[Special]:
    return {tuple(itertools.chain(*choice)) for choice in itertools.product(*parts)}


def bucket_of(row: Row, query: NaiveQuery, window: float) -> Bucket:
    """The partition of a row and its bucket (definition 3.8)."""
    key = row[query.order_by[0][0]]
    return tuple(row[name] for name in query.partition_by), None if key is None else bucket_at(key, window)


def bucket_at(key: float, window: float) -> int:
    return math.floor(Fraction(key) / Fraction(window))


def buckets(
    rows: Sequence[Row],
    query: NaiveQuery,
    window: float,
    special: Special,
    symbols: Sequence[int],
    conditions: Mapping[str, Sequence[Expr]],
) -> set[Bucket]:
    """The buckets that may hold a match of one special pattern.

    `symbols` are places in `special`, ascending. Wherever rows follow each other that satisfy the conditions of these
    symbols, a match may lie in any window of that length around them: all buckets that such a window touches stay. If
    the first symbol is among them, the match starts in its row; if the last one is, it ends in its row.
    """
    found: set[Bucket] = set()
    for _, partition in ordered_partitions(rows, query):
        for chosen in itertools.combinations_with_replacement(partition, len(symbols)):
            keys = [row[query.order_by[0][0]] for row in chosen]
            # A NULL is within no window.
            if None in keys or max(keys) - min(keys) > window:
                continue
            if all(
                holds(conditions[special[place]], special[place], row)
                for place, row in zip(symbols, chosen, strict=True)
            ):
                descending = query.order_by[0][1]
                early, late = 0 in symbols, len(special) - 1 in symbols
                starts, ends = (late, early) if descending else (early, late)
                low = min(keys) if starts else Fraction(max(keys)) - Fraction(window)
                high = max(keys) if ends else Fraction(min(keys)) + Fraction(window)
                owner = bucket_of(chosen[0], query, window)[0]
                found |= {(owner, b) for b in range(bucket_at(low, window), bucket_at(high, window) + 1)}
    return found


def prefiltered(
    rows: Sequence[Row], query: NaiveQuery, window: float, symbols: Mapping[Special, Sequence[int]]
) -> set[int]:
    """The rows that the bucketized prefilter keeps (definition 3.10), from independent conditions alone.

    `symbols` chooses the symbol set of each special pattern.
    """
    conditions = independent_conditions(query)
    stay: set[Bucket] = set()
    for special in special_patterns(query.pattern):
        stay |= buckets(rows, query, window, special, symbols[special], conditions)
    return {place for place, row in enumerate(rows) if bucket_of(row, query, window) in stay}


def may_prefilter(query: NaiveQuery, neighbours: bool = False) -> bool:
    """Whether a prefilter with a window may apply at all: each thing here looks at rows that are in no match.

    WITHIN is the window here. One that follows from conditions is as good, if it holds for whole matches. `neighbours`
    says that PREV and NEXT are computed before rows go: then they do no harm.
    """
    if query.within is None or query.rows_per_match == "ALL_WITH_UNMATCHED":
        return False
    if () in special_patterns(query.pattern):
        return False  # an empty match may be found at any row, and takes a number
    if any(kind in ("start", "end") for kind in kinds_of(query.pattern)):
        return False  # the first and last row of the partition may go
    return neighbours or not any(mentions(expr, "PREV", "NEXT") for _, expr in query.define + query.measures)


def kinds_of(pattern: Pattern) -> Iterator[str]:
    yield pattern[0]
    if pattern[0] in ("cat", "alt", "perm"):
        for part in pattern[1]:
            yield from kinds_of(part)
    elif pattern[0] in ("rep", "excl"):
        yield from kinds_of(pattern[1])


# ------------------------------------------------------------------------------------------------- elimination of rows


def noise(rows: Sequence[Row], query: NaiveQuery) -> set[int]:
    """The rows that satisfy the independent conditions of no variable but the free ones."""
    free, conditions = free_variables(query), independent_conditions(query)
    return {
        place
        for place, row in enumerate(rows)
        if not any(holds(conditions[var], var, row) for var in conditions if var not in free)
    }


def free_variables(query: NaiveQuery) -> set[str]:
    """The variables that take any row."""
    defined = dict(query.define)
    return {var for var in variables(query.pattern) if defined.get(var, ("lit", True)) == ("lit", True)}


def may_eliminate(query: NaiveQuery, neighbours: bool = False) -> bool:
    """Whether rows of `noise` can go: only `Z*` may take them, and nobody can tell how many it took.

    1. The pattern is a concatenation of single variables with `Z*`, Z free, between each two of them. So two rows that
       become neighbours could also be neighbours over `Z*` before, and no match starts or ends in a free row.
    2. Only the rows of the match's own variables are put out: ONE ROW PER MATCH.
    3. No expression reads a free variable, a SUBSET with one, or an aggregate, CLASSIFIER or offset over all rows. The
       first row of the match and the current row are not free rows, by 1.
    4. No skip goes to a free variable.
    5. PREV and NEXT are not there, or are computed before, from all rows (`neighbours`), starting from no free row.
    """
    free = free_variables(query)
    parts = query.pattern[1] if query.pattern[0] == "cat" else (query.pattern,)
    for place, part in enumerate(parts):
        stands = part[0] == "var" and part[1] not in free
        gap = part[0] == "rep" and part[1][0] == "var" and part[1][1] in free and part[2:4] == (0, None)
        if not (stands if place % 2 == 0 else gap):
            return False
    if len(parts) % 2 == 0 or query.rows_per_match != "ONE":
        return False
    hidden = free | {name for name, members in query.subsets if free & set(members)}
    if query.skip[0] in ("FIRST", "LAST") and query.skip[1] in hidden:
        return False
    exprs = [expr for _, expr in query.define + query.measures]
    if not neighbours and any(mentions(expr, "PREV", "NEXT") for expr in exprs):
        return False
    return not any(observes(expr, hidden) for expr in exprs)


def observes(expr: Expr, hidden: set[str]) -> bool:
    """Whether the value of an expression may depend on rows of hidden variables."""
    if expr[0] in ("col", "classifier"):
        return expr[1] in hidden
    if expr[0] == "agg":
        names = set(names_in(expr)) | ({None} if expr[3] == "*" else {expr[3]} if expr[3] else set())
        return bool(names & (hidden | {None})) or not names
    if expr[0] == "nav" and expr[1] in ("FIRST", "LAST"):
        everywhere = set(names_in(expr)) <= {None}
        return (everywhere and (expr[3] or 0) > 0) or any(name in hidden for name in names_in(expr))
    return any(observes(part, hidden) for part in parts_of(expr))


def names_in(expr: Expr) -> Iterator[str | None]:
    """The variables that columns and CLASSIFIER are qualified with."""
    if expr[0] in ("col", "classifier"):
        yield expr[1]
    for part in parts_of(expr):
        yield from names_in(part)
