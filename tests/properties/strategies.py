"""Random tables and random MATCH_RECOGNIZE queries over them, valid by construction and typed.

A query is drawn as a NaiveQuery (see naive.py). Arithmetic stays exact in doubles: floats are multiples of 0.25,
products have a literal factor and divisors are powers of two, so that the order of a summation cannot matter.
Variances are the exception; they appear only as whole measures, to be compared with a tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from naive import Expr, NaiveQuery, Pattern, Row, has_exclusion, subexpressions

COLUMNS = ["id", "k", "t", "x", "y", "s", "b"]
SCHEMA = "id INT, k INT, t INT, x INT, y DOUBLE, s STRING, b BOOLEAN"  # for Spark
MAX_ROWS = 14
MAX_LEAVES = 8
VARIABLES = ("A", "B", "C", "D")
SUBSETS = ("U", "W")
COLUMNS_OF = {"int": ("x", "x", "x", "t", "id"), "float": ("y",), "string": ("s",), "bool": ("b",)}
SQL_TYPE = {"int": "INT", "float": "DOUBLE", "string": "STRING", "bool": "BOOLEAN"}
KINDS = ("int", "float", "string", "bool")
Case = tuple[list[Row], list[str], NaiveQuery]


@dataclass(frozen=True)
class Scope:
    """What an expression may refer to where it stands."""

    names: tuple[str, ...]  # the variables of the pattern and the subsets
    own: str | None = None  # the variable being defined, None in MEASURES
    row_local: bool = False  # only the current row and its physical neighbours


# ---------------------------------------------------------------------------------------------------- entry points


@st.composite
def cases(draw: DrawFn, row_local: bool = False) -> Case:
    """Rows, their columns and a query. With `row_local` conditions see the current row and its neighbours only."""
    return draw(tables()), list(COLUMNS), draw(queries(row_local))


def row_local_cases() -> SearchStrategy[Case]:
    return cases(row_local=True)


@st.composite
def timeout_cases(draw: DrawFn) -> Case:
    """Cases that ask for matches that timed out."""
    rows, columns, query = draw(cases(draw(st.booleans())))
    mode = "ALL" if query.rows_per_match == "ALL_WITH_UNMATCHED" else query.rows_per_match
    within = draw(st.sampled_from((1, 2, 4)))
    return rows, columns, replace(query, within=within, timeouts=True, rows_per_match=mode)


def unordered_measures(query: NaiveQuery) -> set[str]:
    """The measures that are arrays without a defined order: array_agg(DISTINCT ...)."""
    return {name for name, expr in query.measures if expr[0] == "agg" and expr[1] == "array_agg" and expr[4]}


# ---------------------------------------------------------------------------------------------------- tables


@st.composite
def tables(draw: DrawFn) -> list[Row]:
    # Few rows make few matches: the larger sizes are three times as likely.
    size = draw(st.sampled_from((*range(MAX_ROWS + 1), *range(6, MAX_ROWS + 1), *range(6, MAX_ROWS + 1))))
    ids = draw(st.permutations(range(size)))
    return [
        {
            "id": id_,
            "k": draw(st.sampled_from((1, 1, 1, 2, 2, None))),
            "t": draw(st.sampled_from((0, 1, 2, 3, 4, 5, 6, None))),
            "x": draw(st.sampled_from((0, 1, 2, 3, 4, -1, None))),
            "y": draw(st.sampled_from((0.0, 0.25, 0.5, 1.0, 1.75, 3.0, -0.5, None))),
            "s": draw(st.sampled_from(("a", "a", "b", "b", "c", None))),
            "b": draw(st.sampled_from((True, True, True, False, False, None))),
        }
        for id_ in ids
    ]


# ---------------------------------------------------------------------------------------------------- queries


@st.composite
def queries(draw: DrawFn, row_local: bool = False) -> NaiveQuery:
    pattern = draw(patterns())
    variables = tuple(sorted(variables_in(pattern)))
    subsets = draw_subsets(draw, variables)
    names = variables + tuple(name for name, _ in subsets)
    modes = ["ONE", "ONE", "ALL", "ALL", "ALL_OMIT_EMPTY"]
    if not has_exclusion(pattern):
        modes += ["ALL_WITH_UNMATCHED", "ALL_WITH_UNMATCHED"]
    rows_per_match = draw(st.sampled_from(modes))
    # ONE ROW PER MATCH without measures and partition columns would have no column at all.
    measures = [draw_measure(draw, Scope(names)) for _ in range(draw(st.integers(rows_per_match == "ONE", 4)))]
    within = draw(st.sampled_from((None,) * 8 + (1, 2, 4, 4)))
    timeouts = within is not None and rows_per_match != "ALL_WITH_UNMATCHED" and draw(st.booleans())
    defined = [var for var in variables if draw(st.sampled_from((True, True, True, False)))] or variables[:1]
    return NaiveQuery(
        pattern=pattern,
        define=tuple((var, draw_condition(draw, Scope(names, var, row_local))) for var in defined),
        subsets=subsets,
        measures=tuple((f"m{i}", measure) for i, measure in enumerate(measures)),
        partition_by=draw(st.sampled_from((("k",), ()))),
        order_by=draw_order(draw),
        rows_per_match=rows_per_match,
        skip=draw_skip(draw, names),
        within=within,
        timeouts=timeouts,
    )


def draw_subsets(draw: DrawFn, variables: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    members = st.lists(st.sampled_from(variables), min_size=1, max_size=3, unique=True)
    return tuple((name, tuple(draw(members))) for name in SUBSETS[: draw(st.sampled_from((0, 0, 1, 2)))])


def draw_order(draw: DrawFn) -> tuple[tuple[str, bool, bool], ...]:
    # Rows may tie on t, so id always decides: without it the result would not be determined.
    descending = draw(st.sampled_from((False, False, False, True)))
    nulls_first = draw(st.booleans())
    id_descending = draw(st.booleans())
    return ("t", descending, nulls_first), ("id", id_descending, not id_descending)


def draw_skip(draw: DrawFn, names: tuple[str, ...]) -> tuple[str, ...]:
    kind = draw(st.sampled_from(("PAST_LAST_ROW",) * 4 + ("NEXT_ROW",) * 3 + ("FIRST", "LAST")))
    return (kind,) if kind in ("PAST_LAST_ROW", "NEXT_ROW") else (kind, draw(st.sampled_from(names)))


# ---------------------------------------------------------------------------------------------------- patterns


@st.composite
def patterns(draw: DrawFn) -> Pattern:
    """A pattern of about MAX_LEAVES leaves at most, with at least one variable (DEFINE needs something to define)."""
    leaves = draw(st.sampled_from((1, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 6, 7, MAX_LEAVES)))
    pattern = draw_pattern(draw, leaves, depth=4, in_exclusion=False)
    if not variables_in(pattern):
        pattern = ("cat", (pattern, ("var", "A")))
    # Anchors elsewhere mostly make a pattern impossible, so this is where most of them stand.
    anchors = draw(st.sampled_from(("none",) * 12 + ("start", "end", "both")))
    if anchors in ("start", "both"):
        pattern = ("cat", (("start",), pattern))
    return ("cat", (pattern, ("end",))) if anchors in ("end", "both") else pattern


def draw_pattern(draw: DrawFn, leaves: int, depth: int, in_exclusion: bool) -> Pattern:
    if leaves == 1 or depth == 0:
        # A single leaf may still be wrapped, but not endlessly.
        if depth == 0 or draw(st.sampled_from((True, True, False))):
            return draw_leaf(draw)
        return draw_wrapped(draw, leaves, depth, in_exclusion)
    kind = draw(st.sampled_from(("cat",) * 5 + ("alt",) * 3 + ("perm",) + ("wrapped",) * 3))
    if kind == "wrapped":
        return draw_wrapped(draw, leaves, depth, in_exclusion)
    count = draw(st.integers(2, min(3, leaves)))
    return kind, tuple(draw_pattern(draw, share, depth - 1, in_exclusion) for share in draw_shares(draw, leaves, count))


def draw_wrapped(draw: DrawFn, leaves: int, depth: int, in_exclusion: bool) -> Pattern:
    if not in_exclusion and draw(st.integers(0, 6)) == 6:
        return "excl", draw_pattern(draw, leaves, depth - 1, in_exclusion=True)
    common, others = ((0, None), (1, None), (0, 1)), ((2, None), (0, 2), (1, 3), (2, 2), (3, 3), (2, 3))
    lo, hi = draw(st.sampled_from(common * 3 + others))
    greedy = draw(st.sampled_from((True, True, False)))
    return "rep", draw_pattern(draw, leaves, depth - 1, in_exclusion), lo, hi, greedy


def draw_leaf(draw: DrawFn) -> Pattern:
    kind = draw(st.sampled_from(("var",) * 40 + ("empty", "empty", "start", "end")))
    return (kind, draw(st.sampled_from(VARIABLES))) if kind == "var" else (kind,)


def draw_shares(draw: DrawFn, total: int, count: int) -> list[int]:
    """`total` split into `count` positive parts."""
    shares = []
    for remaining in range(count - 1, 0, -1):
        shares.append(draw(st.integers(1, total - remaining)))
        total -= shares[-1]
    return [*shares, total]


def variables_in(pattern: Pattern) -> set[str]:
    if pattern[0] == "var":
        return {pattern[1]}
    if pattern[0] in ("cat", "alt", "perm"):
        return set().union(*(variables_in(part) for part in pattern[1]))
    return variables_in(pattern[1]) if pattern[0] in ("rep", "excl") else set()


# ---------------------------------------------------------------------------------------------------- conditions


def draw_condition(draw: DrawFn, scope: Scope) -> Expr:
    """A condition of DEFINE; most are tame in some way, so that matches of some length happen."""
    shape = draw(st.sampled_from(("constant", "simple", "simple", "neighbour", "any", "any") + ("lenient",) * 3))
    if shape == "constant":
        return "lit", True
    if shape == "simple":
        kind = draw(st.sampled_from(KINDS))
        column = draw_column(draw, kind, draw(st.sampled_from((None, scope.own))))
        symbols = ("=", "<>") if kind == "bool" else ("<=", ">=", "<", ">", "=", "<>")
        return "op", draw(st.sampled_from(symbols)), (column, draw_literal(draw, kind))
    if shape == "neighbour":
        kind = draw(st.sampled_from(("int", "float")))
        value, symbol = draw_column(draw, kind, None), draw(st.sampled_from(("<", "<=", ">", ">=", "=", "<>")))
        return "op", symbol, (value, draw_navigation(draw, kind, scope))
    condition = draw_value(draw, "bool", scope, depth=3)
    return ("call", "coalesce", (condition, ("lit", True))) if shape == "lenient" else condition


def draw_measure(draw: DrawFn, scope: Scope) -> Expr:
    shape = draw(st.sampled_from(("labels", "ids", "number", "label", "array", "spread") + ("any",) * 8))
    mode = draw(st.sampled_from((None, "RUNNING", "FINAL")))
    if shape == "labels":
        return "agg", "array_agg", (("classifier", draw_name(draw, scope)),), None, False, mode
    if shape == "ids":
        return "agg", "array_agg", (("col", draw_name(draw, scope), "id"),), None, False, mode
    if shape == "number":
        return ("match_number",)
    if shape == "label":
        return "classifier", draw_name(draw, scope)
    if shape == "array":
        column = draw_column(draw, draw(st.sampled_from(KINDS)), draw_name(draw, scope))
        return "agg", "array_agg", (column,), None, draw(st.booleans()), mode
    if shape == "spread":
        fn = draw(st.sampled_from(("stddev_samp", "stddev_pop", "var_samp", "var_pop")))
        kind = draw(st.sampled_from(("int", "float")))
        return "agg", fn, (draw_argument(draw, kind, draw_name(draw, scope)),), None, False, mode
    return draw_value(draw, draw(st.sampled_from(KINDS)), scope, depth=draw(st.integers(0, 2)))


# ---------------------------------------------------------------------------------------------------- expressions


def draw_value(draw: DrawFn, kind: str, scope: Scope, depth: int) -> Expr:
    return draw_expression(draw, kind, depth, lambda kind: draw_term(draw, kind, scope))


def draw_expression(draw: DrawFn, kind: str, depth: int, term: Callable[[str], Expr], one_row: bool = False) -> Expr:
    """An expression of the given kind over terms, such as columns and navigations, and literals.

    With `one_row` the terms read one row, and functions of texts may stand around them.
    """
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return term(kind)

    def part(kind: str) -> Expr:
        return draw_expression(draw, kind, depth - 1, term, one_row)

    if one_row and kind != "float" and draw(st.integers(0, 3)) == 0:
        return draw_text_function(draw, kind, part)
    choices = {
        "int": ("arithmetic", "arithmetic", "generic"),
        "float": ("arithmetic", "arithmetic", "generic"),
        "string": ("generic",),
        "bool": ("comparison", "comparison", "comparison", "logic", "logic", "null test", "generic"),
    }
    choice = draw(st.sampled_from(choices[kind]))
    if choice == "arithmetic":
        return draw_arithmetic(draw, kind, part)
    if choice == "comparison":
        return draw_comparison(draw, draw(st.sampled_from(("int", "int", "float", "string", "bool"))), part)
    if choice == "logic":
        symbol = draw(st.sampled_from(("AND", "OR", "NOT")))
        return "op", symbol, (part("bool"),) if symbol == "NOT" else (part("bool"), part("bool"))
    if choice == "null test":
        return "op", draw(st.sampled_from(("IS NULL", "IS NOT NULL"))), (part(draw(st.sampled_from(KINDS))),)
    return draw_generic(draw, kind, part)


def draw_arithmetic(draw: DrawFn, kind: str, part: Callable[[str], Expr]) -> Expr:
    """Arithmetic of kind int or float; a float one may have an int operand."""
    other = draw(st.sampled_from(("int", "float"))) if kind == "float" else "int"
    symbol = draw(st.sampled_from(("+", "-", "*", "%", "NEG", "abs") + (("/", "/") if kind == "float" else ())))
    if symbol == "NEG":
        return "op", "NEG", (part(kind),)
    if symbol == "abs":
        return "call", "abs", (part(kind),)
    if symbol == "/":
        return "op", "/", (part(other), ("lit", draw(st.sampled_from((2, 4, 0.5, -2)))))
    if symbol == "%":
        return "op", "%", (part(kind), ("lit", draw(st.sampled_from((2, 3, -2)))))
    # A product has a literal factor: deep products of columns could overflow Spark's INT.
    right = ("lit", draw(st.sampled_from((2, 3, -1)))) if symbol == "*" else part(other)
    return "op", symbol, (part(kind), right)


def draw_text_function(draw: DrawFn, kind: str, part: Callable[[str], Expr]) -> Expr:
    """A function of texts that is an int, a string or a bool."""
    if kind == "int":
        return "call", "length", (part("string"),)
    if kind == "bool":
        return "op", "LIKE", (part("string"), ("lit", draw(st.sampled_from(("%A%", "_", "a%", "%b", "B_%", "1%")))))
    if draw(st.booleans()):
        return "call", "upper", (part("string"),)
    return "op", "||", (part("string"), draw_literal(draw, "string") if draw(st.booleans()) else part("string"))


def draw_comparison(draw: DrawFn, kind: str, part: Callable[[str], Expr]) -> Expr:
    def other() -> Expr:
        # A number may be compared with one of the other type.
        right = draw(st.sampled_from((kind, kind, "int", "float"))) if kind in ("int", "float") else kind
        return draw_literal(draw, right) if draw(st.booleans()) else part(right)

    symbols = ("=", "<>", "<=>", "IN") if kind == "bool" else ("=", "<>", "<", "<=", ">", ">=", "<=>", "IN", "BETWEEN")
    symbol = draw(st.sampled_from(symbols))
    if symbol == "IN":
        return "op", symbol, (part(kind), *(other() for _ in range(draw(st.integers(1, 3)))))
    return "op", symbol, (part(kind), other(), other()) if symbol == "BETWEEN" else (part(kind), other())


def draw_generic(draw: DrawFn, kind: str, part: Callable[[str], Expr]) -> Expr:
    """The functions that exist for every kind."""
    names = ["coalesce", "nullif", "if", "case", "case without else"]
    if kind != "bool":
        names += ["least", "greatest"]
    name = draw(st.sampled_from(names))
    if name == "if":
        return "call", "if", (part("bool"), part(kind), part(kind))
    if name.startswith("case"):
        branches = tuple((part("bool"), part(kind)) for _ in range(draw(st.integers(1, 2))))
        return "case", branches, part(kind) if name == "case" else None
    return "call", name, (part(kind), draw_literal(draw, kind) if draw(st.booleans()) else part(kind))


def draw_literal(draw: DrawFn, kind: str) -> Expr:
    """A literal; a NULL carries its SQL type as a third element, which only the rendering looks at."""
    values: dict[str, tuple[object, ...]] = {
        "int": (1, 2, 3, 0, 5, -1),
        "float": (0.5, 0.25, 1.0, 2.0, 0.0, -0.5),
        "string": ("a", "b", "c", "A", "B"),
        "bool": (True, False),
    }
    if draw(st.integers(0, 15)) == 15:
        return "lit", None, SQL_TYPE[kind]
    return "lit", draw(st.sampled_from(values[kind]))


def draw_term(draw: DrawFn, kind: str, scope: Scope) -> Expr:
    """Something that reads rows of the match, or now and then a literal."""
    choices = ["column", "column", "column", "navigation", "navigation", "navigation", "literal"]
    if not scope.row_local:
        choices += ["aggregate", "aggregate"]
        choices += ["label", "label"] if kind == "string" else ["number"] if kind == "int" else []
        choices += ["function of labels"] if kind != "float" else []
    choice = draw(st.sampled_from(choices))
    if choice == "literal":
        return draw_literal(draw, kind)
    if choice == "label":
        return "classifier", draw_name(draw, scope)
    if choice == "number":
        return ("match_number",)
    if choice == "function of labels":
        return draw_label_function(draw, kind, scope)
    if choice == "column":
        return draw_column(draw, kind, draw_name(draw, scope))
    return draw_navigation(draw, kind, scope) if choice == "navigation" else draw_aggregate(draw, kind, scope)


def draw_label_function(draw: DrawFn, kind: str, scope: Scope) -> Expr:
    """A function that kernels do not have, of labels, the number of the match and one row."""
    navigated = draw(st.booleans())
    var, offset = draw_name(draw, scope), draw(st.sampled_from((None, 0, 1)))
    function = draw(st.sampled_from(("FIRST", "LAST", "PREV", "NEXT")))

    def read(value: Expr) -> Expr:
        return ("nav", function, value, offset, None) if navigated else value

    def term(_: str) -> Expr:
        what = draw(st.sampled_from(("label", "label", "other label", "number", "column")))
        if what == "number":
            return "call", "bin", (("match_number",),)
        if what == "other label":
            return "classifier", draw_name(draw, scope)
        return read(("classifier", var) if what == "label" else ("col", var, "s"))

    return draw_text_function(draw, kind, term)


def draw_name(draw: DrawFn, scope: Scope) -> str | None:
    """What qualifies a column: nothing, a variable or a subset. In its own condition a variable is the current row."""
    if scope.row_local:
        return draw(st.sampled_from((None, scope.own)))
    return draw(st.sampled_from((None, None, *scope.names)))


def draw_column(draw: DrawFn, kind: str, var: str | None) -> Expr:
    return "col", var, draw(st.sampled_from(COLUMNS_OF[kind]))


def draw_argument(draw: DrawFn, kind: str, var: str | None, labels: bool = True) -> Expr:
    """The argument of a navigation or aggregate: it reads one row, and every column in it belongs to `var`."""

    def term(kind: str) -> Expr:
        if labels and kind == "string" and draw(st.booleans()):
            return "classifier", var
        if labels and kind == "int" and draw(st.integers(0, 3)) == 0:
            return ("match_number",)
        return draw_column(draw, kind, var)

    argument = draw_expression(draw, kind, draw(st.sampled_from((0, 0, 0, 1, 2))), term, one_row=True)
    # The number of the match is no row of its own: something beside it says whose row is read.
    return argument if reads_rows(argument) else draw_column(draw, kind, var)


def reads_rows(expr: Expr) -> bool:
    return expr[0] in ("col", "classifier") or any(reads_rows(part) for part in subexpressions(expr))


def draw_navigation(draw: DrawFn, kind: str, scope: Scope) -> Expr:
    argument = draw_argument(draw, kind, draw_name(draw, scope), labels=not scope.row_local)
    physical, logical = st.sampled_from(("PREV", "NEXT")), st.sampled_from(("FIRST", "LAST"))
    offset = st.sampled_from((None, None, 0, 1, 2, 3))
    shape = "physical" if scope.row_local else draw(st.sampled_from(("physical", "logical", "logical", "nested")))
    if shape == "physical":
        return "nav", draw(physical), argument, draw(offset), None
    inner = ("nav", draw(logical), argument, draw(offset), draw_mode(draw, scope))
    return inner if shape == "logical" else ("nav", draw(physical), inner, draw(offset), None)


def draw_mode(draw: DrawFn, scope: Scope) -> str | None:
    modes = (None, None, None, "RUNNING") if scope.own is not None else (None, "RUNNING", "FINAL", "FINAL")
    return draw(st.sampled_from(modes))


def draw_aggregate(draw: DrawFn, kind: str, scope: Scope) -> Expr:
    var, mode = draw_name(draw, scope), draw_mode(draw, scope)
    functions = {
        "int": ("count *", "count", "count distinct", "count_if", "sum", "sum distinct", "min", "max"),
        "float": ("avg", "avg", "sum", "sum distinct", "min", "max"),
        "string": ("min", "max"),
        "bool": ("bool_and", "bool_or"),
    }
    fn = draw(st.sampled_from((*functions[kind], "max_by", "min_by")))
    if fn == "count *":
        return "agg", "count", (), "*" if var is None else var, False, mode
    if fn in ("max_by", "min_by"):
        # id is unique, so that there is one greatest and one least.
        return "agg", fn, (draw_argument(draw, kind, var), ("col", var, "id")), None, False, mode
    if fn.startswith("count"):
        kind = "bool" if fn == "count_if" else draw(st.sampled_from(KINDS))
    if fn == "avg":
        kind = draw(st.sampled_from(("int", "float")))
    distinct = fn.endswith("distinct")
    # Distinct values are plain columns: 0.0 and -0.0, which arithmetic may yield, are a question of their own.
    argument = draw_column(draw, kind, var) if distinct else draw_argument(draw, kind, var)
    return "agg", fn.split()[0], (argument,), None, distinct, mode
