"""Random queries and tables for the rules that drop or cut rows before the match.

The queries are near what these rules look for: rare letters in a lot of noise, gaps of `Z*`, windows. Others only look
alike and must be left alone: a window on the wrong variable or in the wrong direction, a gap whose rows are counted, a
condition about a variable that is not matched yet. Many tables are drawn for one query, as *worlds*: one job runs them
all, each a partition of its own or, for queries without partitions, far apart or close in time.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from naive import Expr, NaiveQuery, Pattern, Row, has_exclusion
from naive_notation import agg, alt, cat, col, lit, nav, op, opt, perm, rep
from naive_prefilter import free_variables, parts_of, variables
from properties.render import render_clause
from properties.strategies import draw_subsets, patterns

COLUMNS = ["world", "id", "g", "t", "k", "v"]
EPOCH = datetime.datetime(2020, 1, 1)
# Types of the order key. The oracle has a number for each key: of units, days or seconds.
KEYS = {"int": "INT", "bigint": "BIGINT", "double": "DOUBLE", "date": "DATE", "timestamp": "TIMESTAMP_NTZ"}
LIMITS = {"int": 2**31, "bigint": 2**63}


class Days(int):
    """A number for the oracle, an interval in the text."""

    unit = "DAY"

    def __repr__(self) -> str:
        return f"INTERVAL '{int(self)}' {self.unit}"


class Seconds(Days):
    unit = "SECOND"


@dataclass(frozen=True)
class Case:
    """A query over several tables. Its PARTITION BY says whether the worlds are partitions or one long table."""

    query: NaiveQuery
    key: str  # of KEYS
    worlds: tuple[tuple[Row, ...], ...]

    @property
    def text(self) -> str:
        return f"SELECT * FROM {{rows}} MATCH_RECOGNIZE ({render_clause(self.query)})"

    @property
    def rows(self) -> list[Row]:
        return [row for world in self.worlds for row in world]

    @property
    def schema(self) -> str:
        return f"world INT, id INT, g INT, t {KEYS[self.key]}, k STRING, v INT"

    def with_worlds(self, numbers: Sequence[int]) -> Case:
        return replace(self, worlds=tuple(self.worlds[number] for number in numbers))

    def tuples(self) -> list[tuple[Any, ...]]:
        """The rows as Spark wants them."""
        return [tuple(self.to_key(row[name]) if name == "t" else row[name] for name in COLUMNS) for row in self.rows]

    def to_key(self, value: Any) -> Any:
        if value is None or self.key in ("int", "bigint"):
            return value
        if self.key == "date":
            return EPOCH.date() + datetime.timedelta(days=value)
        return EPOCH + datetime.timedelta(seconds=value) if self.key == "timestamp" else float(value)

    def __repr__(self) -> str:
        rows = ", ".join(str(tuple(row[name] for name in COLUMNS)) for row in self.rows)
        return f"Case(\n{self.text}\n-- {self.schema}\n[{rows}])"


def from_key(value: Any) -> Any:
    """A value of a result, as the oracle has it."""
    if isinstance(value, datetime.datetime):
        return int((value - EPOCH).total_seconds())
    if isinstance(value, datetime.date):
        return (value - EPOCH.date()).days
    return [from_key(element) for element in value] if isinstance(value, list) else value


# ------------------------------------------------------------------------------------------------------- entry points


@st.composite
def partitioned_cases(draw: DrawFn) -> Case:
    """Each world is a partition, or several."""
    query, key = draw_query(draw, draw(st.sampled_from((("world",), ("world", "g")))))
    worlds = [draw_world(draw, number, 16) for number in range(draw(st.integers(1, 20)))]
    return finished(draw, query, key, worlds)


@st.composite
def unpartitioned_cases(draw: DrawFn) -> Case:
    """The worlds follow each other in time, in one partition or a few that cut through them."""
    query, key = draw_query(draw, draw(st.sampled_from(((), (), ("g",)))))
    worlds = [draw_world(draw, number, 14) for number in range(draw(st.integers(1, 6)))]
    base = 0
    for world in worlds:
        keys = [row["t"] for row in world if row["t"] is not None] or [0]
        shift = base - min(keys)
        for row in world:
            row["t"] = None if row["t"] is None else row["t"] + shift
        base = max(keys) + shift + draw(st.sampled_from((1, 0, 2, 4, 6, 30, 5000)))
    return finished(draw, query, key, worlds)


@st.composite
def spaced_cases(draw: DrawFn) -> Case:
    """Queries with gaps of `Z*` that nobody sees, or hardly anybody, over one small table."""
    query, key = draw_query(draw, draw(st.sampled_from(((), ("g",)))), spaced=True)
    return finished(draw, query, key, [draw_world(draw, 0, 12)])


def finished(draw: DrawFn, query: NaiveQuery, key: str, worlds: list[list[Row]]) -> Case:
    shift_keys(draw, query, key, worlds)
    if len(query.order_by) == 1:
        equalize_ties(query, worlds)
    return Case(query, key, tuple(tuple(world) for world in worlds))


# ------------------------------------------------------------------------------------------------------------- tables

_GAPS = (1, 1, 1, 1, 1, 0, 2, 0, 2, 1, 3, 4, 5, 20, 1000)
_LETTERS = (
    ("n", "n", "n", "n", "n", "next", "next", "next", "next", "a", "b", "c", "d"),
    ("next", "next", "next", "next", "next", "next", "n", "a", "b", "c", "d"),
)
_VALUES = (1, 2, 3, 0, 4, 5, None)
_TWISTS = ("",) * 17 + ("no key", "copy", "no letter")
_GROUPS = (1, 1, 1, 2, None)


def draw_world(draw: DrawFn, number: int, most: int) -> list[Row]:
    """Rows of one world, from five bytes each: many rows cost little to draw and to shrink."""
    size = draw(st.sampled_from((*range(most // 2, most + 1), *range(most + 1))))
    letters = _LETTERS[draw(st.integers(0, 1))]
    code = draw(st.binary(min_size=5 * size, max_size=5 * size))
    rows: list[Row] = []
    t, following = 0, "a"
    for place in range(size):
        gap, letter, value, twist, group = code[5 * place : 5 * place + 5]
        t += _GAPS[gap % len(_GAPS)]
        k = letters[letter % len(letters)]
        if k == "next":  # letters in the order in which patterns mostly have them
            k = following
        following = following if k == "n" else "abcd"["dabc".index(k)]
        row = {"world": number, "id": number * 100 + place, "g": _GROUPS[group % len(_GROUPS)], "t": t, "k": k}
        row["v"] = _VALUES[value % len(_VALUES)]
        match _TWISTS[twist % len(_TWISTS)]:
            case "copy" if rows:
                row = dict(rows[-1])
            case "no key":
                row["t"] = None
            case "no letter":
                row["k"] = None
        rows.append(row)
    return rows


def shift_keys(draw: DrawFn, query: NaiveQuery, key: str, worlds: list[list[Row]]) -> None:
    """Move all keys: to negative ones, far away, to the ends of their type, between whole numbers."""
    for row in (row for world in worlds for row in world if row["t"] is not None):
        row["t"] *= -1 if query.order_by[0][1] else 1  # letters come in the query's order
    present = [row["t"] for world in worlds for row in world if row["t"] is not None]
    far = 10_003 if key == "date" else 1_000_003
    bases = [-min(present, default=0), -max(present, default=0) // 2, -max(present, default=0), far, -far]
    if key in LIMITS and not any(computes_with(expr, "t") for _, expr in query.define + query.measures):
        # The query's own sums would leave the type.
        bases += [LIMITS[key] - 1 - max(present, default=0), -LIMITS[key] - min(present, default=0)]
    shift = draw(st.sampled_from(bases))
    scale = 0.5 if key == "double" and draw(st.booleans()) else 1
    for row in (row for world in worlds for row in world if row["t"] is not None):
        row["t"] = (row["t"] + shift) * scale


def computes_with(expr: Expr, column: str) -> bool:
    if expr[0] in ("op", "call") and expr[1] in ("+", "-", "*", "abs") and reads(expr, column):
        return True
    return any(computes_with(part, column) for part in parts_of(expr))


def reads(expr: Expr, column: str) -> bool:
    return (expr[0] == "col" and expr[2] == column) or any(reads(part, column) for part in parts_of(expr))


def equalize_ties(query: NaiveQuery, worlds: list[list[Row]]) -> None:
    """Without a second key, tied rows must be equal: otherwise the result would not be determined."""
    seen: dict[tuple[Any, ...], Row] = {}
    for row in (row for world in worlds for row in world):
        first = seen.setdefault((*(row[name] for name in query.partition_by), row["t"]), row)
        row.update(first)


# ------------------------------------------------------------------------------------------------------------ queries


def draw_query(draw: DrawFn, partition_by: tuple[str, ...], *, spaced: bool = False) -> tuple[NaiveQuery, str]:
    """A query and the type of its order key, a number if `spaced`."""
    key = draw(st.sampled_from(("int",) * 6 + ("bigint", "double") + ("date", "timestamp") * (not spaced)))
    pattern = "spaced" if spaced else draw(st.sampled_from(("shape",) * 9 + ("any",)))
    pattern = draw(patterns()) if pattern == "any" else draw_shape(draw, spaced=spaced)
    names = tuple(sorted(variables(pattern)))
    subsets = draw_subsets(draw, names) if draw(st.sampled_from((False, False, True))) else ()
    descending = draw(st.sampled_from((False, False, False, True)))
    order = [("t", descending, draw(st.booleans()))]
    if draw(st.sampled_from((True, True, True, False))):
        id_descending = draw(st.booleans())
        order.append(("id", id_descending, not id_descending))
    modes = (
        ["ONE"] * (30 if spaced else 6)
        + ["ALL", "ALL_OMIT_EMPTY"]
        + ["ALL_WITH_UNMATCHED"] * (not has_exclusion(pattern))
    )
    query = NaiveQuery(
        pattern=pattern,
        subsets=subsets,
        partition_by=partition_by,
        order_by=tuple(order),
        rows_per_match=draw(st.sampled_from(modes)),
        within=draw_within(draw, key),
    )
    query = replace(query, define=draw_define(draw, query, key))
    manners = ("quiet",) * 3 + (("neighbours",) * 3 if spaced else ("neighbours", "loud", "loud"))
    query = replace(query, measures=draw_measures(draw, query, draw(st.sampled_from(manners))))
    free = free_variables(query)
    listed = (*names, *(name for name in names if name not in free), *(name for name, _ in subsets))
    skips: list[tuple[str, ...]] = [("PAST_LAST_ROW",)] * 5 + [("NEXT_ROW",)] * 4
    target = draw(st.sampled_from(listed))
    return replace(query, skip=draw(st.sampled_from([*skips, ("LAST", target), ("FIRST", target)]))), key


def draw_within(draw: DrawFn, key: str) -> Any:
    width = draw(st.sampled_from((None, None, None, 5, 3, 2, 4, 6, 1, 8, 30)))
    if width is None:
        return None
    if key in ("int", "bigint", "double") and draw(st.integers(0, 5)) == 5:
        return width + 0.5
    return amount(key, width)


def amount(key: str, number: int) -> int:
    """A difference of keys."""
    return {"date": Days, "timestamp": Seconds}.get(key, int)(number)


A, B, C, D, Y, Z = (("var", name) for name in "ABCDYZ")


def draw_shape(draw: DrawFn, *, spaced: bool = False) -> Pattern:
    """One of the patterns that the rules are about, or one that only looks like it; quantifiers may be reluctant."""

    def star(body: Pattern) -> Pattern:
        return rep(body, 0, None, greedy())

    def plus(body: Pattern) -> Pattern:
        return rep(body, 1, None, greedy())

    def maybe(body: Pattern) -> Pattern:
        return rep(body, 0, 1, greedy())

    def greedy() -> bool:
        return draw(st.sampled_from((True, True, False)))

    z, y = star(Z), star(Y)
    common = [cat(A, z, B, z, C)] * 6 + [cat(A, z, B)] * 4
    common += [cat(A, B, C), cat(A, plus(B), C), cat(alt(A, B), alt(C, D)), perm(A, B)]
    common += [cat(A, plus(cat(plus(B), C)), D), cat(A, z, alt(plus(B), plus(C)), z, D)]
    optional = [cat(A, z, maybe(B), z, C), cat(A, maybe(B), C), cat(A, z, maybe(B)), cat(maybe(A), z, B)]
    loops = [
        cat(plus(A), z, C),  # A is the last of several rows
        cat(plus(alt(A, B)), C),
        plus(alt(cat(A, B), cat(C, D))),  # conditions may reach back into an earlier round
        plus(cat(A, z, B)),
        cat(A, z, plus(cat(B, z)), C),
        cat(A, star(alt(Z, B)), C),
        cat(rep(A, 2, 2), z, B),
        rep(cat(A, z, B), 2, 3),
        cat(A, z, plus(B)),
    ]
    twice = [cat(A, z, A), cat(A, z, B, z, A), cat(A, B, A, z, C), alt(cat(A, z, B), cat(B, z, A))]
    gaps = [
        cat(A, plus(Z), B),
        cat(A, rep(Z, 0, 2, greedy()), B),
        cat(A, z, B, C),  # C is a neighbour of B
        cat(A, B, z, C),
        cat(z, A, z, B),
        cat(A, z, B, z),
        cat(A, z, B, y, C),
        cat(A, z, y, B),
        cat(A, ("excl", z), B),
        cat(alt(cat(A, z), B), C),
        cat(alt(A, Z), B),
        cat(perm(A, B), z, C),
        cat(A, z, alt(B, C)),
    ]
    anchored = [cat(("start",), A, z, B), cat(A, z, B, ("end",)), cat(A, z, alt(B, ("end",)))]
    others = [*anchored, opt(cat(A, z, B)), alt(cat(A, z, B), ("empty",)), cat(star(A), star(B)), cat(A), plus(A)]
    between = [
        cat(A, z, B, z, C),
        cat(A, z, B),
        cat(A, z, alt(B, C)),
        cat(A, z, B, z, A),
        alt(cat(A, z, B), cat(B, z, A)),
    ]
    between += [cat(A, plus(cat(z, B))), cat(A, star(cat(z, B)), z, C), cat(A, z, ("excl", B)), rep(cat(A, z, B), 1, 1)]
    families = [common] * 6 + [optional, loops, loops, twice, gaps, gaps, others]
    family = draw(st.sampled_from([between] * 9 + [loops, gaps] if spaced else families))
    return draw(st.sampled_from(family))


# --------------------------------------------------------------------------------------------------------- conditions

_V: Expr = ("col", None, "v")
_OPERATORS = ("<=", ">=", "<", ">", "=", "<>")


def draw_define(draw: DrawFn, query: NaiveQuery, key: str) -> tuple[tuple[str, Expr], ...]:
    names = tuple(sorted(variables(query.pattern)))
    referred = names + tuple(name for name, _ in query.subsets)
    define: list[tuple[str, Expr]] = []
    for name in names:
        if name in "YZ":
            shape = draw(st.sampled_from(("none",) * 9 + ("true", "row", "dependent")))
            if shape == "none":
                continue
            parts = [lit(True)] if shape == "true" else [op("<>", col(name, "k"), lit("d"))]
            parts = [draw_dependent(draw, name, referred)] if shape == "dependent" else parts
        else:
            parts = [draw_row_condition(draw, name)]
            if draw(st.sampled_from((False, False, True))):
                # A variable that mostly has no row yet would leave few matches. Names follow the patterns' order.
                earlier = [other for other in referred if other <= name]
                parts.append(draw_dependent(draw, name, [*referred, *earlier * 3]))
                parts = draw(st.permutations(parts)) if draw(st.booleans()) else parts
        define.append((name, parts[0] if len(parts) == 1 else op("AND", *parts)))
    ends = last_variables(query.pattern)
    windowed = draw(st.sampled_from(("none", "none", "none", "last", "last", "any")))
    if windowed != "none" and define:
        first = draw(st.sampled_from(sorted(first_variables(query.pattern)) or names))
        chosen = ends if windowed == "last" and ends else {draw(st.sampled_from(names))}
        width = draw(st.sampled_from((5, 3, 8, 2, 4, 1, 12, 6, 0, -1)))
        for place, (name, condition) in enumerate(define):
            if name in chosen:
                window = draw_window(draw, query, key, name, first, width)
                define[place] = name, op("AND", condition, window)
    if not define:  # DEFINE needs something to define
        define = [(names[0], lit(True))]
    return tuple(define)


def draw_row_condition(draw: DrawFn, name: str) -> Expr:
    """Mostly the variable's own letter; it must be rare for a rule to be worth it."""
    qualified = draw(st.sampled_from((None, name)))
    letter, value = ("col", qualified, "k"), ("col", qualified, "v")
    own = op("=", letter, lit(name.lower()))
    others: list[Expr] = [
        op("AND", own, op("<", value, lit(4))),
        op("IN", letter, lit(name.lower()), lit("a")),
        op(">", value, lit(3)),
        op("AND", op("<>", letter, lit("n")), op("IS NOT NULL", value)),
        op("IS NULL", letter),
        op("OR", own, op("IS NULL", value)),
        op("NOT", op("=", letter, lit("n"))),
        op("=", ("call", "coalesce", (letter, lit("a"))), lit(name.lower())),
        lit(True),
    ]
    return draw(st.sampled_from([own] * 14 + others))


def draw_dependent(draw: DrawFn, name: str, names: Sequence[str]) -> Expr:
    """A condition between rows; some look at rows outside the match, or hold where a variable has no row."""
    other = draw(st.sampled_from([*names, *[other for other in names if other not in "YZ"] * 3]))
    mine, theirs = ("col", draw(st.sampled_from((None, name))), "v"), col(other, "v")
    symbol = draw(st.sampled_from(_OPERATORS))
    compared = op(symbol, mine, theirs)
    some = draw(st.integers(0, 4))
    choices: list[Expr] = [
        *[compared] * 3,
        op("BETWEEN", mine, op("-", theirs, lit(1)), op("+", theirs, lit(1))),
        op(symbol, mine, nav("FIRST", _V)),
        op(symbol, mine, nav("FIRST", theirs, draw(st.sampled_from((None, 1))))),
        op(symbol, mine, nav("LAST", theirs, draw(st.sampled_from((None, 1))))),
        op(symbol, mine, nav("LAST", _V, 1)),
        # Outside the match, or at its edge.
        op(symbol, mine, nav(draw(st.sampled_from(("PREV", "NEXT"))), mine, draw(st.sampled_from((None, 2))))),
        op(symbol, mine, nav(draw(st.sampled_from(("PREV", "NEXT"))), nav("FIRST", theirs))),
        op("=", nav("PREV", ("col", None, "k")), lit("n")),
        # Aggregates of the rows so far.
        op("<=", agg("count", star="*"), lit(some + 2)),
        op(symbol, agg("count", star=other), lit(some % 2)),
        op(symbol, agg("sum", theirs), lit(some)),
        op(symbol, agg("max", _V), lit(some)),
        # What is not matched yet has no value: these hold all the same, or only then.
        op("IS NULL", theirs),
        op("OR", compared, op("IS NULL", theirs)),
        ("call", "coalesce", (compared, lit(True))),
        op("<=>", mine, theirs),
        op("NOT", compared),
        op("OR", compared, op("=", mine, lit(some))),
        ("case", ((op("IS NULL", theirs), op(">", mine, lit(1))),), compared),
        op("=", nav("LAST", ("classifier", None), 1), lit(other)),
        op("=", nav("FIRST", col(other, "k")), lit("a")),
        op("<=", ("match_number",), lit(some + 1)),
    ]
    return draw(st.sampled_from(choices))


def draw_window(draw: DrawFn, query: NaiveQuery, key: str, last: str, first: str, width: int) -> Expr:
    """A bound on the key of `last` against that of `first`, in one of the forms that people write."""
    late: Expr = ("col", draw(st.sampled_from((last, None))), "t")
    t: Expr = col(first, "t")
    early = draw(st.sampled_from((t, t, t, nav("FIRST", t), nav("FIRST", ("col", None, "t")), nav("LAST", t))))
    upward = query.order_by[0][1] == draw(st.sampled_from((False,) * 9 + (True,)))
    # The difference grows along the match; the wrong way round it bounds nothing.
    high, low = (late, early) if upward else (early, late)
    bound, zero = lit(amount(key, width)), lit(amount(key, 0))
    within = op("<=", op("-", high, low), bound)
    forms: list[Expr] = [
        within,
        within,
        op("<=", high, op("+", low, bound)),
        op("<", op("-", high, low), bound),
        op("<", high, op("+", low, bound)),
        op(">=", bound, op("-", high, low)),
        op(">=", low, op("-", high, bound)),
        op(">", op("+", low, bound), high),
        op("BETWEEN", high, low, op("+", low, bound)),
        op("BETWEEN", op("-", high, low), zero, bound),
        op("NOT", op(">", op("-", high, low), bound)),
        op("=", op("-", high, low), bound),
        op("OR", within, op("=", _V, lit(1))),
        op("OR", within, op("IS NULL", t)),
    ]
    return draw(st.sampled_from(forms))


def first_variables(pattern: Pattern, end: int = 0) -> set[str]:
    """The variables that the first row (or with -1 the last row) of a match may have, as the pattern is written."""
    kind = pattern[0]
    if kind == "var":
        return {pattern[1]}
    if kind in ("rep", "excl"):
        return first_variables(pattern[1], end)
    if kind == "cat":
        return next((found for part in pattern[1][:: end or 1] if (found := first_variables(part, end))), set())
    return {name for part in pattern[1] for name in first_variables(part, end)} if kind in ("alt", "perm") else set()


def last_variables(pattern: Pattern) -> set[str]:
    return first_variables(pattern, -1)


# ----------------------------------------------------------------------------------------------------------- measures


def draw_measures(draw: DrawFn, query: NaiveQuery, manner: str) -> tuple[tuple[str, Expr], ...]:
    """Quiet measures tell nothing of the rows of free variables and of rows outside; loud ones may tell anything."""
    names = tuple(sorted(variables(query.pattern)))
    quiet = tuple(name for name in names if name not in free_variables(query)) or names
    referred = names + tuple(name for name, _ in query.subsets) if manner == "loud" else quiet
    # ONE ROW PER MATCH without any column would be no table.
    count = draw(st.integers(1 if query.rows_per_match == "ONE" else 0, 5))
    measures = [draw_measure(draw, draw(st.sampled_from(referred)), manner) for _ in range(count)]
    return tuple((f"m{place}", measure) for place, measure in enumerate(measures))


def draw_measure(draw: DrawFn, name: str, manner: str) -> Expr:
    mode = draw(st.sampled_from((None, "FINAL", "RUNNING")))
    v, t, number = col(name, "v"), col(name, "t"), col(name, "id")
    choices: list[Expr] = [
        ("match_number",),
        ("match_number",),
        v,
        t,
        number,
        nav("FIRST", number, None, mode),
        nav("LAST", number, None, mode),
        nav("FIRST", ("col", None, "id"), None, mode),
        nav("LAST", ("col", None, "t"), None, mode),
        agg("count", star=name, mode=mode),
        agg("array_agg", number, mode=mode),
        agg("sum", v, mode=mode),
        agg("max", t, mode=mode),
    ]
    neighbours: list[Expr] = [
        nav(draw(st.sampled_from(("PREV", "NEXT"))), v, draw(st.sampled_from((None, 2)))),
        nav("PREV", nav("FIRST", number, None, mode)),
        nav("NEXT", nav("LAST", number, None, mode), draw(st.sampled_from((None, 3)))),
    ]
    if manner != "quiet":
        choices += neighbours
    if manner == "loud":
        choices += [
            ("classifier", None),
            ("classifier", name),
            agg("count", star="*", mode=mode),
            agg("array_agg", ("classifier", None), mode=mode),
            agg("array_agg", ("col", None, "id"), mode=mode),
            agg("avg", _V, mode=mode),
            nav("LAST", ("col", None, "id"), 1, mode),
            nav("FIRST", ("col", None, "v"), 2, mode),
            agg("count", _V, distinct=True, mode=mode),
        ]
    return draw(st.sampled_from(choices))
