"""Random segment queries as text and as patterns of the oracle (see naive_segments.py), and random series for them.

Values are small whole numbers, so that sums are exact; what is not exact is compared with thresholds that no such
numbers can hit. A condition is drawn as its text and a function of the oracle's, side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

import naive_segments as ns
from naive_segments import Alt, And, Binding, Concat, Empty, Not, Pattern, Point, Repeat, Row, Segment, Variable
from properties.strategies import draw_shares
from trellis.algebra.segments import Choices

SCHEMA = [("k", "int"), ("t", "int"), ("v", "double"), ("u", "int")]
POINTS = ("A", "B", "C")
SEGMENTS = ("X", "Y", "Z")
Series = dict[int, list[Row]]
Evaluate = Callable[[Sequence[Row], int, int], Any]
Truth = Callable[[Sequence[Row], int, int, Mapping[str, Binding]], "bool | None"]

choices: SearchStrategy[Choices] = st.builds(
    Choices,
    order=st.sampled_from(("", "left", "right")),
    join=st.sampled_from(("", "merge", "probe")),
    negation=st.sampled_from(("", "materialize", "probe")),
    generator=st.sampled_from(("", "index", "filter")),
    sets=st.sampled_from(("", "bands", "pairs")),
)


@dataclass(frozen=True)
class Condition:
    """A condition as text and as the oracle sees it, and the other variables that it reads."""

    text: str
    holds: Truth = field(repr=False)
    reads: frozenset[str] = frozenset()


Definitions = tuple[tuple[str, Condition], ...]
TRUE = Condition("TRUE", lambda rows, i, j, bindings: True)


@dataclass(frozen=True)
class Case:
    """A query and its series, by their keys. `wanted` are the variables whose rows are asked for, by name."""

    pattern: Pattern
    definitions: Definitions
    series: Series
    wanted: tuple[str, ...] = ()

    @property
    def variables(self) -> list[Variable]:
        found = {name: dict(self.definitions).get(name, TRUE) for name in names_in(self.pattern)}
        return [Variable(name, remembered(condition.holds), condition.reads) for name, condition in found.items()]

    @property
    def rows(self) -> list[Row]:
        return [row for rows in self.series.values() for row in rows]

    def clause(self, measures: Sequence[str] = (), skip: str = "") -> str:
        bound = [f"{end}({name}.t) AS {name}_{end}" for name in self.wanted for end in ("first", "last")]
        listed = ", ".join(["first(t) AS s", "last(t) AS e", *bound, *measures])
        kinds = [("SEGMENT " * (name in SEGMENTS), name, condition.text) for name, condition in self.definitions]
        defined = ", ".join(f"{kind}{name} AS {text}" for kind, name, text in kinds)
        lines = ["PARTITION BY k ORDER BY t", f"MEASURES {listed}", skip, f"PATTERN ({render(self.pattern)})"]
        return "\n".join([*filter(None, lines), *([f"DEFINE {defined}"] if defined else [])])

    def __repr__(self) -> str:
        values = {key: [(row["v"], row["u"]) for row in rows] for key, rows in self.series.items()}
        return f"Case({self.clause()!r}, {values})"


def remembered(holds: Truth) -> Truth:
    """The oracle asks again and again, and regressions take long."""
    known: dict[Any, bool | None] = {}

    def ask(rows: Sequence[Row], i: int, j: int, bindings: Mapping[str, Binding]) -> bool | None:
        key = (id(rows), i, j, tuple(sorted(bindings.items())))
        if key not in known:
            known[key] = holds(rows, i, j, bindings)
        return known[key]

    return ask


# -------------------------------------------------------------------------------------------------------- entry points


@st.composite
def plain_cases(draw: DrawFn) -> Case:
    """Conditions look at their own segment only, and no variable's rows are asked for."""
    pattern = draw(patterns())
    return Case(pattern, draw_definitions(draw, pattern, {}), draw_series(draw, 9))


@st.composite
def bound_cases(draw: DrawFn, references: bool = True) -> Case:
    """Some variables are asked for; with `references` conditions read other variables."""
    pattern = draw(patterns())
    reads = draw_reads(draw, pattern) if references else {}
    definitions = draw_definitions(draw, pattern, reads)
    guessed = frozenset().union(*(condition.reads for _, condition in definitions))
    series = draw_series(draw, (7, 6, 4)[min(len(guessed), 2)])
    bindable = sorted(ns.bindable(pattern))
    wanted = draw(st.lists(st.sampled_from(bindable), unique=True, max_size=2)) if bindable else []
    return Case(pattern, definitions, series, tuple(sorted(wanted)))


@st.composite
def skip_cases(draw: DrawFn) -> tuple[Case, str, tuple[str, ...]]:
    """A case, how it skips as text, and as the oracle says it."""
    case = draw(bound_cases(references=draw(st.sampled_from((False, False, True)))))
    bindable = sorted(ns.bindable(case.pattern))
    kinds = ["PAST_LAST_ROW", "NEXT_ROW"] + (["FIRST", "LAST", "LAST"] if bindable else [])
    kind = draw(st.sampled_from(kinds))
    if kind in ("PAST_LAST_ROW", "NEXT_ROW"):
        return case, {"PAST_LAST_ROW": "PAST LAST ROW", "NEXT_ROW": "TO NEXT ROW"}[kind], (kind,)
    name = draw(st.sampled_from(bindable))
    return replace(case, wanted=tuple(sorted({*case.wanted, name}))), f"TO {kind} {name}", (kind, name)


@st.composite
def measured_cases(draw: DrawFn) -> tuple[Case, list[tuple[str | None, str, Evaluate]]]:
    """A case and measures of its variables or the whole match (None): text and function."""
    case = draw(bound_cases(references=draw(st.sampled_from((False, False, True)))))
    measures = []
    for _ in range(draw(st.integers(1, 4))):
        name = draw(st.sampled_from((None, *case.wanted, *case.wanted)))
        whole = name is None or is_stretch(case.pattern, name)
        text, evaluate = draw(st.sampled_from(MEASURES if whole else ENDS))
        measures.append((name, text.replace("{x}.", "" if name is None else f"{name}."), evaluate))
    return case, measures


# -------------------------------------------------------------------------------------------------------------- series


def draw_series(draw: DrawFn, most: int) -> Series:
    series: Series = {}
    for key in (1, 2):
        size = draw(st.sampled_from((*range(most + 1), *range(most // 2, most + 1))))
        series[key] = [
            {
                "k": key,
                "t": t,
                "v": draw(st.sampled_from((0.0, 1.0, 2.0, 3.0, 4.0, 1.0, 2.0, None))),
                "u": draw(st.sampled_from((0, 1, 2, 3, -2, None))),
            }
            for t in range(size)
        ]
    return series


# ------------------------------------------------------------------------------------------------------------ patterns


@st.composite
def patterns(draw: DrawFn) -> Pattern:
    """A pattern that makes the query one of segments."""
    pattern = draw_pattern(draw, draw(st.sampled_from((1, 2, 2, 3, 3, 3, 4, 4, 5, 6))), depth=4)
    if any(isinstance(part, (Segment, And, Not)) for part in walk(pattern)):
        return pattern
    return draw(st.sampled_from((And((pattern, Segment("X"))), Concat((pattern, Segment("X"))))))


def draw_pattern(draw: DrawFn, leaves: int, depth: int) -> Pattern:
    if leaves == 1 or depth == 0:
        if depth == 0 or draw(st.sampled_from((True, True, False))):
            return draw_leaf(draw)
        return draw_wrapped(draw, leaves, depth)
    kind = draw(st.sampled_from((Concat,) * 5 + (And,) * 3 + (Alt,) * 2 + (None,) * 3))
    if kind is None:
        return draw_wrapped(draw, leaves, depth)
    shares = draw_shares(draw, leaves, draw(st.integers(2, min(3, leaves))))
    parts = tuple(draw_pattern(draw, share, depth - 1) for share in shares)
    if kind is not And and draw(st.integers(0, 11)) == 11:
        parts = draw(st.sampled_from(((*parts, Empty()), (Empty(), *parts))))
    return kind(parts)


def draw_wrapped(draw: DrawFn, leaves: int, depth: int) -> Pattern:
    body = draw_pattern(draw, leaves, depth - 1)
    if draw(st.sampled_from((True, False, False))):
        return Not(body)
    common, others = ((0, None), (1, None), (0, 1)), ((2, None), (0, 2), (1, 3), (2, 2), (3, 3), (2, 3), (3, None))
    return Repeat(body, *draw(st.sampled_from(common * 3 + others)))


def draw_leaf(draw: DrawFn) -> Pattern:
    name = draw(st.sampled_from(POINTS + SEGMENTS))
    return Point(name) if name in POINTS else Segment(name)


def render(pattern: Pattern) -> str:
    """The text; brackets only where precedence or meaning asks for them."""
    match pattern:
        case Point(name) | Segment(name):
            return name
        case Empty():
            return "()"
        case Alt(options):
            return " | ".join(bracketed(option, (Alt,)) for option in options)
        case Concat(parts):
            return " ".join(bracketed(part, (Alt, Concat)) for part in parts)
        case And(parts):
            return " & ".join(bracketed(part, (Alt, Concat)) for part in parts)
        case Not(body):
            return "~" + bracketed(body, (Alt, Concat, And))
        case Repeat(body, least, most):
            return bracketed(body, (Alt, Concat, And, Not, Repeat)) + quantifier(least, most)


def bracketed(pattern: Pattern, kinds: tuple[type, ...]) -> str:
    return f"({render(pattern)})" if isinstance(pattern, kinds) else render(pattern)


def quantifier(least: int, most: int | None) -> str:
    short = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((least, most))
    if short is not None:
        return short
    return f"{{{least}}}" if least == most else f"{{{least or ''},{'' if most is None else most}}}"


def walk(pattern: Pattern) -> Iterator[Pattern]:
    yield pattern
    for child in ns.children(pattern):
        yield from walk(child)


def names_in(pattern: Pattern) -> list[str]:
    return list(dict.fromkeys(part.name for part in walk(pattern) if isinstance(part, (Point, Segment))))


def visible(pattern: Pattern, reader: str) -> frozenset[str]:
    """The variables that a condition of `reader` may read: all its places have one of each in some scope around."""

    def sights(node: Pattern, seen: frozenset[str]) -> Iterator[frozenset[str]]:
        match node:
            case Point(name) | Segment(name):
                if name == reader:
                    yield seen
            case Not(body) | Repeat(body, _, _):
                yield from sights(body, seen | ns.bindable(body))
            case _:
                for child in ns.children(node):
                    yield from sights(child, seen)

    return frozenset.intersection(*sights(pattern, ns.bindable(pattern))) - {reader}


def is_stretch(pattern: Pattern, name: str) -> bool:
    """Whether a variable stands in one place, and in quantifiers takes up the whole body: its rows have no holes."""

    def covers(node: Pattern) -> bool:
        match node:
            case Point(found) | Segment(found):
                return found == name
            case And() | Repeat():
                return any(covers(child) for child in ns.children(node))
            case _:
                return False

    places = sum(isinstance(part, (Point, Segment)) and part.name == name for part in walk(pattern))
    loops = [part.body for part in walk(pattern) if isinstance(part, Repeat) and name in names_in(part.body)]
    return places == 1 and all(covers(body) for body in loops)


# ---------------------------------------------------------------------------------------------------------- conditions


def draw_reads(draw: DrawFn, pattern: Pattern) -> dict[str, list[str]]:
    """Who reads whom: at most two variables are read, in circles too."""
    seen = {name: visible(pattern, name) for name in names_in(pattern)}
    readable = sorted(frozenset().union(*seen.values()))
    if not readable:
        return {}
    targets = draw(st.lists(st.sampled_from(readable), unique=True, min_size=1, max_size=2))
    reads = {}
    for name, others in seen.items():
        options = [target for target in targets if target in others]
        if options and draw(st.sampled_from((True, True, False))):
            reads[name] = draw(st.lists(st.sampled_from(options), unique=True, min_size=1))
    return reads


def draw_definitions(draw: DrawFn, pattern: Pattern, reads: Mapping[str, list[str]]) -> Definitions:
    definitions = []
    for name in names_in(pattern):
        if name in POINTS and name not in reads and draw(st.integers(0, 4)) == 0:
            continue  # matches every row
        condition = draw_condition(draw, name, cheap=bool(reads))
        for other in reads.get(name, ()):
            reference = draw_reference(draw, name, other, is_stretch(pattern, other))
            shape = draw(st.sampled_from(("alone", "alone", "AND", "AND", "OR")))
            condition = reference if shape == "alone" and not condition.reads else joined(shape, condition, reference)
        definitions.append((name, condition))
    return tuple(definitions)


def draw_condition(draw: DrawFn, name: str, cheap: bool) -> Condition:
    shape = draw(st.sampled_from(("one",) * 5 + ("true", "AND", "AND", "OR", "NOT")))
    if shape == "true":
        return TRUE
    first = draw_simple(draw, name, cheap)
    if shape == "NOT":
        return negated(first)
    return first if shape == "one" else joined(shape, first, draw_simple(draw, name, cheap))


def draw_simple(draw: DrawFn, name: str, cheap: bool) -> Condition:
    if name in SEGMENTS:
        kind = draw(st.sampled_from(("window", "ticks") + ("term",) * 6))
        if kind == "window":
            return draw_window(draw)
        if kind == "ticks":
            return Condition(f"equal_up_down_ticks({name}.v)", lambda rows, i, j, bindings: TICKS(rows, i, j))
    terms = POINT_TERMS if name in POINTS else CHEAP_TERMS if cheap else CHEAP_TERMS + DEAR_TERMS
    text, evaluate, limits = draw(st.sampled_from(terms))
    text = text.replace("{x}", name)
    symbol = draw(st.sampled_from(("<", ">", ">", "<=", ">=", "<>", "=")))
    shape = draw(st.sampled_from(("limit",) * 5 + ("both", "null")))
    if shape == "null":
        return Condition(f"{text} IS NOT NULL", lambda rows, i, j, bindings: evaluate(rows, i, j) is not None)
    if shape == "both" and limits is WHOLE:
        other_text, other, _ = draw(st.sampled_from([term for term in terms if term[2] is WHOLE]))
        return Condition(
            f"{text} {symbol} {other_text.replace('{x}', name)}",
            lambda rows, i, j, bindings: compare(symbol, evaluate(rows, i, j), other(rows, i, j)),
        )
    limit = draw(st.sampled_from(limits))
    return Condition(f"{text} {symbol} {limit}", lambda rows, i, j, _: compare(symbol, evaluate(rows, i, j), limit))


def draw_window(draw: DrawFn) -> Condition:
    least = draw(st.sampled_from((None, 0, 1, 2, 3)))
    most = draw(st.sampled_from((None, *range(max(least or 1, 1), 6))))
    text = f"window({'NULL' if least is None else least}, {'NULL' if most is None else most})"
    shape = draw(st.sampled_from(("bounds", "bounds", "one", "none")))
    if shape == "one" and most is not None:
        least, text = most, f"window({most})"
    if shape == "none":
        least, most, text = None, None, "window()"
    return Condition(text, lambda rows, i, j, bindings: ns.window(least, most, j - i + 1))


def draw_reference(draw: DrawFn, own: str, other: str, stretch: bool) -> Condition:
    """A condition of `own` that reads `other`: only its ends, unless its rows are one stretch."""
    text, evaluate = draw(st.sampled_from(ENDS + (STRETCHES if stretch else ())))
    text = theirs_text = text.replace("{x}", other)
    symbol = draw(st.sampled_from(("<", ">", "<=", ">=", "<>", "=")))
    shape = draw(st.sampled_from(("own",) * 6 + ("limit", "null") + (("corr",) if stretch and own in SEGMENTS else ())))

    def theirs(rows: Sequence[Row], bindings: Mapping[str, Binding]) -> Any:
        return read(theirs_text, evaluate, rows, bindings[other])

    reads = frozenset({other})
    if shape == "null":
        return Condition(f"{text} IS NULL", lambda rows, i, j, bindings: theirs(rows, bindings) is None, reads)
    if shape == "limit":
        return Condition(f"{text} {symbol} 1", lambda rows, i, j, b: compare(symbol, theirs(rows, b), 1), reads)
    if shape == "corr":

        def correlation(rows: Sequence[Row], i: int, j: int, bindings: Mapping[str, Binding]) -> Any:
            span = bindings[other]
            return None if span is None else ns.corr2(column(rows, i, j, "v"), column(rows, *span, "v"))

        text = f"corr({own}.v, {other}.v) {symbol} 0.11234"
        return Condition(text, lambda rows, i, j, b: compare(symbol, correlation(rows, i, j, b), 0.11234), reads)
    own_text, mine = draw(st.sampled_from(ENDS))
    text = f"{own_text.replace('{x}', own)} {symbol} {text}"
    return Condition(text, lambda rows, i, j, b: compare(symbol, mine(rows, i, j), theirs(rows, b)), reads)


def read(text: str, evaluate: Evaluate, rows: Sequence[Row], span: Binding) -> Any:
    """A value of a variable; without rows, counts are 0 and all others NULL."""
    if span is None:
        return 0 if text.startswith("count") else None
    return evaluate(rows, *span)


def joined(symbol: str, left: Condition, right: Condition) -> Condition:
    decided = symbol == "OR"  # what one side says for both
    if symbol == "alone":
        symbol = "AND"

    def holds(rows: Sequence[Row], i: int, j: int, bindings: Mapping[str, Binding]) -> bool | None:
        sides = [left.holds(rows, i, j, bindings), right.holds(rows, i, j, bindings)]
        return decided if decided in sides else None if None in sides else not decided

    return Condition(f"({left.text}) {symbol} ({right.text})", holds, left.reads | right.reads)


def negated(condition: Condition) -> Condition:
    def holds(rows: Sequence[Row], i: int, j: int, bindings: Mapping[str, Binding]) -> bool | None:
        value = condition.holds(rows, i, j, bindings)
        return None if value is None else not value

    return Condition(f"NOT ({condition.text})", holds, condition.reads)


def compare(symbol: str, left: Any, right: Any) -> bool | None:
    if left is None or right is None:
        return None
    order = (left > right) - (left < right)
    return order in {"<": (-1,), ">": (1,), "<=": (-1, 0), ">=": (0, 1), "<>": (-1, 1), "=": (0,)}[symbol]


# ----------------------------------------------------------------------------- terms: text, value, what to compare with


def column(rows: Sequence[Row], i: int, j: int, name: str) -> list[Any]:
    return [row[name] for row in rows[i : j + 1]]


def of(function: Callable[..., Any], *names: str) -> Evaluate:
    return lambda rows, i, j: function(*(column(rows, i, j, name) for name in names))


def at(row: Callable[[int, int], int], name: str, inside: bool = False) -> Evaluate:
    """The value in a row of the segment, or of the series around it; None if there is no such row."""

    def evaluate(rows: Sequence[Row], i: int, j: int) -> Any:
        place = row(i, j)
        low, high = (i, j) if inside else (0, len(rows) - 1)
        return rows[place][name] if low <= place <= high else None

    return evaluate


def change(symbol: str) -> Evaluate:
    def evaluate(rows: Sequence[Row], i: int, j: int) -> Any:
        first, last = rows[i]["v"], rows[j]["v"]
        if first is None or last is None or (symbol == "/" and first == 0):
            return None
        return last - first if symbol == "-" else last / first

    return evaluate


WHOLE = (0, 1, 2, 3)
SHARES = (0.31234, 0.71234, -0.51234, 0.91234, -0.01234)
TICKS = of(ns.equal_up_down_ticks, "v")
FIRST, LAST = at(lambda i, j: i, "v"), at(lambda i, j: j, "v")
ENDS = (("first({x}.v)", FIRST), ("last({x}.v)", LAST), ("{x}.v", LAST), ("first({x}.u)", at(lambda i, j: i, "u")))
STRETCHES = (
    ("count({x}.*)", lambda rows, i, j: j - i + 1),
    ("count({x}.v)", of(ns.count_of, "v")),
    ("sum({x}.u)", of(ns.sum_of, "u")),
    ("max({x}.v)", of(ns.max_of, "v")),
    ("min({x}.u)", of(ns.min_of, "u")),
    ("first({x}.v, 1)", at(lambda i, j: i + 1, "v", inside=True)),
    ("last({x}.v, 1)", at(lambda i, j: j - 1, "v", inside=True)),
)
CHEAP_TERMS = (
    *((text, evaluate, WHOLE) for text, evaluate in ENDS + STRETCHES),
    ("last({x}.v) - first({x}.v)", change("-"), WHOLE),
    ("last({x}.v) - first({x}.v)", change("-"), (-1, 1)),
    ("last({x}.v) / first({x}.v)", change("/"), (0.7, 1.5, 2)),
    ("count(*)", lambda rows, i, j: j - i + 1, WHOLE),
    ("sum({x}.v)", of(ns.sum_of, "v"), WHOLE),
    ("min({x}.v)", of(ns.min_of, "v"), WHOLE),
    ("max({x}.u)", of(ns.max_of, "u"), WHOLE),
    ("PREV(first({x}.v))", at(lambda i, j: i - 1, "v"), WHOLE),
    ("NEXT(last({x}.v))", at(lambda i, j: j + 1, "v"), WHOLE),
)
DEAR_TERMS = (
    ("avg({x}.v)", of(ns.avg_of, "v"), (1.11234, 2.11234)),
    ("avg({x}.u)", of(ns.avg_of, "u"), (1.11234, 2.11234)),
    ("stddev({x}.v)", of(ns.stddev_of, "v"), (0.51234, 1.11234)),
    ("linear_regression_r2({x}.t, {x}.v)", of(ns.linear_regression_r2, "t", "v"), SHARES),
    ("linear_regression_r2_signed({x}.t, {x}.v)", of(ns.linear_regression_r2_signed, "t", "v"), SHARES),
    ("linear_regression_slope({x}.t, {x}.v)", of(ns.linear_regression_slope, "t", "v"), SHARES),
    ("corr({x}.v, {x}.u)", of(ns.corr, "v", "u"), SHARES),
    ("mann_kendall_test({x}.v)", of(ns.mann_kendall_test, "v"), (0.51234, -0.51234, 1.01234, 0.01234)),
    ("zscore({x}.v, 3)", lambda rows, i, j: ns.zscore(column(rows, 0, j, "v"), j, 3), SHARES),
)
POINT_TERMS = (
    ("v", FIRST, WHOLE),
    ("{x}.v", FIRST, WHOLE),
    ("u", at(lambda i, j: i, "u"), WHOLE),
    ("PREV(v)", at(lambda i, j: i - 1, "v"), WHOLE),
    ("NEXT({x}.v)", at(lambda i, j: i + 1, "v"), WHOLE),
    ("PREV(u, 2)", at(lambda i, j: i - 2, "u"), WHOLE),
    ("zscore(v, 3)", lambda rows, i, j: ns.zscore(column(rows, 0, j, "v"), j, 3), SHARES),
    ("zscore({x}.u, 2)", lambda rows, i, j: ns.zscore(column(rows, 0, j, "u"), j, 2), SHARES),
)
MEASURES = (
    *((text, evaluate) for text, evaluate, _ in (*CHEAP_TERMS, *DEAR_TERMS) if "/" not in text and text != "count(*)"),
    ("equal_up_down_ticks({x}.v)", TICKS),
)
