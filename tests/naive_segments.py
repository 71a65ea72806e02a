"""Segment queries (T-ReX) by definition: the truth the real engine is compared with.

A series is a list of rows, a segment is (i, j) with 0 <= i <= j < n. `find` returns every match together with the rows
its variables are bound to; `segments` only says which segments match, for conditions that read no other variable. The
two share no evaluation, so that each checks the other. References between variables are resolved by guessing what each
variable that somebody reads will be bound to, and keeping the derivations that really bind it so.

Where the paper and SQL are silent, this file decides:
    A reference belongs to the innermost Repeat body, Not body or whole pattern around the reading variable in which
    the read variable can be bound. Where it occurs inside a Not that the reader is not in, it can never be bound, so
    that does not count. A variable that can be bound nowhere around the reader is unbound: its binding is None.
    A segment variable inside a Not, or in a part that turns out absent, still makes the boundaries around it shared.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Row = Mapping[str, Any]
Span = tuple[int, int]
Binding = Span | None  # the first and the last row of a variable, None if it is unbound
Result = tuple[Any, ...]  # first row, last row, bindings
Names = tuple[str, ...]
Condition = Callable[[Sequence[Row], int, int, Mapping[str, Binding]], "bool | None"]
Values = Sequence[Any]  # of a column in a segment: numbers, NaN and None


@dataclass(frozen=True)
class Point:
    name: str


@dataclass(frozen=True)
class Segment:
    name: str


@dataclass(frozen=True)
class Concat:
    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class And:
    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class Alt:
    options: tuple[Pattern, ...]


@dataclass(frozen=True)
class Not:
    body: Pattern


@dataclass(frozen=True)
class Repeat:
    body: Pattern
    least: int
    most: int | None


@dataclass(frozen=True)
class Empty:
    pass


Pattern = Point | Segment | Concat | And | Alt | Not | Repeat | Empty


@dataclass(frozen=True)
class Variable:
    """A variable's condition, and the names of the other variables that it reads."""

    name: str
    condition: Condition
    reads: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.name in self.reads:
            raise ValueError(f"{self.name} reads itself: a condition is given its own rows, not its binding")


def children(pattern: Pattern) -> tuple[Pattern, ...]:
    match pattern:
        case Concat(parts) | And(parts) | Alt(parts):
            return parts
        case Not(body) | Repeat(body, _, _):
            return (body,)
        case Point() | Segment() | Empty():
            return ()


def holds_segment_variable(pattern: Pattern) -> bool:
    return isinstance(pattern, Segment) or any(holds_segment_variable(child) for child in children(pattern))


def bindable(pattern: Pattern) -> frozenset[str]:
    """The variables that a match of the pattern can bind: all but those inside a Not."""
    match pattern:
        case Point(name) | Segment(name):
            return frozenset({name})
        case Not():
            return frozenset()
        case _:
            return frozenset().union(*(bindable(child) for child in children(pattern)))


def open_reads(pattern: Pattern, variables: Mapping[str, Variable]) -> frozenset[str]:
    """The variables that conditions in the pattern read, without the references that scopes inside it resolve."""
    match pattern:
        case Point(name) | Segment(name):
            return variables[name].reads
        case Not(body) | Repeat(body, _, _):
            return open_reads(body, variables) - bindable(body)
        case _:
            return frozenset().union(*(open_reads(child, variables) for child in children(pattern)))


def all_spans(n: int) -> list[Span]:
    return [(i, j) for i in range(n) for j in range(i, n)]


# ----------------------------------------------------------------------------------------- matches with bindings

Guesses = Mapping[str, Binding]
Bound = frozenset[tuple[str, Span]]  # variable and rows, bound variables only
Outcome = tuple[Binding, Bound]  # the rows of a pattern, None if it is absent, and of its variables
ABSENT: Outcome = (None, frozenset())


def find(pattern: Pattern, variables: Sequence[Variable], rows: Sequence[Row], wanted: Names = ()) -> set[Result]:
    """All distinct (first row, last row, binding of wanted[0], binding of wanted[1], ...)."""
    search = Search({variable.name: variable for variable in variables}, rows)
    outcomes = search.scope(pattern, {}, dict.fromkeys(wanted, (0, len(rows) - 1)))
    return {(*span, *(dict(bound).get(name) for name in wanted)) for span, bound in outcomes if span is not None}


class Search:
    """The outcomes of patterns on one series, remembered so that no node is evaluated twice for the same guesses."""

    def __init__(self, variables: Mapping[str, Variable], rows: Sequence[Row]) -> None:
        self.variables = variables
        self.rows = rows
        self.spans = all_spans(len(rows))
        self.known: dict[Any, set[Outcome]] = {}

    def scope(self, body: Pattern, seen: Guesses, kept: Guesses) -> set[Outcome]:
        """The outcomes of a whole pattern, of one iteration or of a Not's body, with the bindings of `kept`.

        `seen` is what the enclosing scopes guessed, for conditions to read. `kept` says which variables' bindings the
        enclosing scopes ask for, and the rows these have to lie in: no other rows can make an enclosing guess true.
        """
        guessed = sorted(open_reads(body, self.variables) & bindable(body))
        found = set()
        for guess in itertools.product([None, *self.spans], repeat=len(guessed)):
            bindings: Guesses = dict(zip(guessed, guess, strict=True))
            for span, bound in self.outcomes(body, {**seen, **bindings}, {**kept, **bindings}):
                if all(dict(bound).get(name) == binding for name, binding in bindings.items()):
                    found.add((span, frozenset((name, rows) for name, rows in bound if name in kept)))
        return found

    def outcomes(self, pattern: Pattern, seen: Guesses, kept: Guesses) -> set[Outcome]:
        read = frozenset((name, seen.get(name)) for name in open_reads(pattern, self.variables))
        key = (pattern, read, frozenset((name, kept[name]) for name in bindable(pattern) if name in kept))
        if key not in self.known:
            self.known[key] = self.evaluate(pattern, seen, kept)
        return self.known[key]

    def evaluate(self, pattern: Pattern, seen: Guesses, kept: Guesses) -> set[Outcome]:
        match pattern:
            case Point(name):
                return self.occurrences(name, [(i, i) for i in range(len(self.rows))], seen, kept)
            case Segment(name):
                return self.occurrences(name, self.spans, seen, kept)
            case Empty():
                return {ABSENT}
            case Alt(options):
                return set().union(*(self.outcomes(option, seen, kept) for option in options))
            case Concat(parts):
                shared = holds_segment_variable(pattern)
                result = {ABSENT}
                for part in parts:
                    result = concatenated(result, self.outcomes(part, seen, kept), shared)
                return result
            case And(parts):
                return functools.reduce(both, [self.outcomes(part, seen, kept) for part in parts])
            case Not(body):
                matched = {span for span, _ in self.scope(body, seen, {})}
                return {(span, frozenset()) for span in self.spans if span not in matched}
            case Repeat(body, least, most):
                return repeated(self.scope(body, seen, kept), least, most, holds_segment_variable(body))

    def occurrences(self, name: str, spans: list[Span], seen: Guesses, kept: Guesses) -> set[Outcome]:
        if name in kept:
            limit = kept[name]
            spans = [(i, j) for i, j in spans if limit is not None and limit[0] <= i and j <= limit[1]]
        variable = self.variables[name]
        bindings = {read: seen.get(read) for read in variable.reads}
        found = [(i, j) for i, j in spans if variable.condition(self.rows, i, j, bindings)]
        return {(span, frozenset({(name, span)} if name in kept else ())) for span in found}


def concatenated(lefts: set[Outcome], rights: set[Outcome], shared: bool) -> set[Outcome]:
    found = set()
    for (left, left_bound), (right, right_bound) in itertools.product(lefts, rights):
        if left is None:
            found.add((right, right_bound))
        elif right is None:
            found.add((left, left_bound))
        elif right[0] == (left[1] if shared else left[1] + 1):
            found.add(((left[0], right[1]), merged(left_bound, right_bound)))
    return found


def both(lefts: set[Outcome], rights: set[Outcome]) -> set[Outcome]:
    """The same rows on both sides, or both absent."""
    return {
        (left, merged(left_bound, right_bound))
        for (left, left_bound), (right, right_bound) in itertools.product(lefts, rights)
        if left == right
    }


def repeated(iteration: set[Outcome], least: int, most: int | None, shared: bool) -> set[Outcome]:
    result = {ABSENT}
    for _ in range(least):
        result = concatenated(result, iteration, shared)
    done = least  # `result` is what `least` to `done` iterations match
    while done != most and (longer := result | concatenated(result, iteration, shared)) != result:
        result = longer
        done += 1
    return result


def merged(left: Bound, right: Bound) -> Bound:
    """Each variable with the hull of its rows on both sides."""
    hulls = dict(left)
    for name, (first, last) in right:
        old_first, old_last = hulls.get(name, (first, last))
        hulls[name] = (min(old_first, first), max(old_last, last))
    return frozenset(hulls.items())


# ------------------------------------------------------------------------------------------- matches without bindings


def segments(pattern: Pattern, variables: Sequence[Variable], rows: Sequence[Row]) -> set[Span]:
    """The segments that match, for conditions that read no other variable."""
    if any(variable.reads for variable in variables):
        raise ValueError("a condition reads other variables: only `find` can do that")
    conditions = {variable.name: variable.condition for variable in variables}
    spans = all_spans(len(rows))

    @functools.cache
    def node(pattern: Pattern) -> set[Binding]:
        """The segments of the pattern, and None if it can be absent."""
        match pattern:
            case Point(name):
                return {(i, i) for i in range(len(rows)) if conditions[name](rows, i, i, {})}
            case Segment(name):
                return {(i, j) for i, j in spans if conditions[name](rows, i, j, {})}
            case Empty():
                return {None}
            case Alt(options):
                return set().union(*(node(option) for option in options))
            case And(parts):
                return set.intersection(*(node(part) for part in parts))
            case Not(body):
                return {span for span in spans if span not in node(body)}
            case Concat(parts):
                step = 0 if holds_segment_variable(pattern) else 1
                result: set[Binding] = {None}
                for part in parts:
                    result = followed(result, node(part), step)
                return result
            case Repeat(body, least, most):
                step = 0 if holds_segment_variable(body) else 1
                result = {None}
                for _ in range(least):
                    result = followed(result, node(body), step)
                done = least  # `result` is what `least` to `done` iterations match
                while done != most and (longer := result | followed(result, node(body), step)) != result:
                    result = longer
                    done += 1
                return result

    return {span for span in node(pattern) if span is not None}


def followed(lefts: set[Binding], rights: set[Binding], step: int) -> set[Binding]:
    """Each left with each right that starts `step` rows after the left's last row; what is absent is left out."""
    ends: dict[int, list[int]] = {}
    for right in rights:
        if right is not None:
            ends.setdefault(right[0], []).append(right[1])
    found: set[Binding] = set(rights) if None in lefts else set()
    for left in lefts:
        if left is not None:
            found.update((left[0], end) for end in ends.get(left[1] + step, ()))
            if None in rights:
                found.add(left)
    return found


# -------------------------------------------------------------------------------------------------- AFTER MATCH SKIP


def skip(results: Iterable[Result], mode: Names, wanted: Names = ()) -> list[Result]:
    """The results of `find` that remain, in order.

    `mode` is ("PAST_LAST_ROW",), ("NEXT_ROW",), ("FIRST", variable) or ("LAST", variable); the variable is one of
    `wanted`. At the leftmost start the longest match wins, then the one with the smallest bindings, None first.
    """

    def preference(result: Result) -> Result:
        start, end, *bindings = result
        return (start, -end, [(-1, -1) if binding is None else binding for binding in bindings])

    chosen = []
    next_row = 0
    for result in sorted(results, key=preference):
        if result[0] >= next_row:
            chosen.append(result)
            next_row = row_after(result, mode, wanted)
    return chosen


def row_after(result: Result, mode: Names, wanted: Names) -> int:
    start, end, *bindings = result
    if mode == ("PAST_LAST_ROW",):
        return int(end) + 1
    if mode == ("NEXT_ROW",):
        return int(start) + 1
    where, name = mode
    binding: Binding = bindings[wanted.index(name)]
    if binding is None:
        raise ValueError(f"the match contains no row of {name}")
    row = {"FIRST": binding[0], "LAST": binding[1]}[where]
    if row == start:
        raise ValueError(f"{where} {name} is the first row of the match")
    return row


# ------------------------------------------------------------------- functions of the values in the rows of a segment


def count_of(values: Values) -> int:
    return len(not_null(values))


def sum_of(values: Values) -> Any:
    numbers = not_null(values)
    if all(isinstance(number, int) for number in numbers):
        return sum(numbers) if numbers else None
    return math.fsum(numbers)


def avg_of(values: Values) -> float | None:
    numbers = not_null(values)
    return math.fsum(numbers) / len(numbers) if numbers else None


def min_of(values: Values) -> Any:
    """The smallest value; NaN is larger than every other value, as in Spark."""
    return min(not_null(values), key=nan_last, default=None)


def max_of(values: Values) -> Any:
    return max(not_null(values), key=nan_last, default=None)


def stddev_of(values: Values) -> float | None:
    """Of a sample."""
    numbers = not_null(values)
    if not all(is_number(number) for number in numbers):
        return math.nan
    return math.sqrt(sample_variance(numbers)) if len(numbers) > 1 else None


def linear_regression_r2(xs: Values, ys: Values) -> float | None:
    """The squared correlation, None without two pairs or with a constant side."""
    sxx, sxy, syy = deviations(xs, ys)
    return float(sxy * sxy / (sxx * syy)) if sxx and syy else None


def linear_regression_r2_signed(xs: Values, ys: Values) -> float | None:
    """R2, negative if y falls with x."""
    r2 = linear_regression_r2(xs, ys)
    return -r2 if r2 and deviations(xs, ys)[1] < 0 else r2


def linear_regression_slope(xs: Values, ys: Values) -> float | None:
    """Of y on x, None without two pairs or with a constant x."""
    sxx, sxy, _ = deviations(xs, ys)
    return float(sxy / sxx) if sxx else None


def corr(xs: Values, ys: Values) -> float | None:
    """The correlation of two columns in the same rows."""
    r2 = linear_regression_r2_signed(xs, ys)
    return None if r2 is None else math.copysign(math.sqrt(abs(r2)), r2)


def corr2(xs: Values, ys: Values) -> float | None:
    """The correlation of two segments, paired row by row from their starts as far as the shorter one goes."""
    length = min(len(xs), len(ys))
    return corr(xs[:length], ys[:length])


def mann_kendall_test(values: Values) -> float | None:
    """Z of the normal approximation with the correction for ties, None without two values or if all are equal."""
    numbers = [value for value in values if is_number(value)]
    n = len(numbers)
    s: int = sum((later > earlier) - (later < earlier) for earlier, later in itertools.combinations(numbers, 2))
    ties = [numbers.count(number) for number in set(numbers)]
    variance = (n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties)) / 18
    if n < 2 or variance == 0:
        return None
    if s == 0:
        return 0.0
    return (s - 1 if s > 0 else s + 1) / math.sqrt(variance)


def zscore(series: Values, row: int, length: int) -> float | None:
    """How many standard deviations the row is above the mean of the `length` rows of the series that end at it."""
    first = row - length + 1
    if length < 2 or first < 0 or not all(is_number(value) for value in series[first : row + 1]):
        return None
    numbers = [Fraction(value) for value in series[first : row + 1]]
    variance = sample_variance(numbers)
    return float(numbers[-1] - sum(numbers) / length) / math.sqrt(variance) if variance else None


def equal_up_down_ticks(values: Values) -> bool:
    """Whether as many steps from one value to the next rise as fall."""
    steps = list(itertools.pairwise(not_null(values)))
    return len([1 for a, b in steps if b > a]) == len([1 for a, b in steps if b < a])


def window(lo: int | None, hi: int | None, n_rows: int) -> bool:
    """Bounds on the number of rows; None is unbounded."""
    return (lo is None or lo <= n_rows) and (hi is None or n_rows <= hi)


def time_window(first: Any, last: Any, lo: Any, hi: Any) -> bool | None:
    if first is None or last is None:
        return None
    return bool((lo is None or lo <= last - first) and (hi is None or last - first <= hi))


def not_null(values: Values) -> list[Any]:
    return [value for value in values if value is not None]


def is_number(value: Any) -> bool:
    return value is not None and not math.isnan(value)


def nan_last(value: Any) -> tuple[bool, Any]:
    return (value != value, value)


def sample_variance(numbers: Sequence[Any]) -> Fraction:
    exact = [Fraction(number) for number in numbers]
    mean = sum(exact, Fraction()) / len(exact)
    return sum(((number - mean) ** 2 for number in exact), Fraction()) / (len(exact) - 1)


def deviations(xs: Values, ys: Values) -> tuple[Fraction, Fraction, Fraction]:
    """The sums of (x - mean)**2, (x - mean) * (y - mean) and (y - mean)**2 over the pairs without NULL and NaN.

    All are exact, so that constant sides give exactly 0; fewer than two pairs give 0 too.
    """
    pairs = [(x, y) for x, y in zip(xs, ys, strict=True) if is_number(x) and is_number(y)]
    x, x_unit = whole_numbers([x for x, _ in pairs])
    y, y_unit = whole_numbers([y for _, y in pairs])
    n = max(len(pairs), 1)

    def deviation(left: list[int], right: list[int]) -> Fraction:
        return Fraction(n * sum(a * b for a, b in zip(left, right, strict=True)) - sum(left) * sum(right), n)

    return deviation(x, x) / x_unit**2, deviation(x, y) / (x_unit * y_unit), deviation(y, y) / y_unit**2


def whole_numbers(numbers: list[Any]) -> tuple[list[int], int]:
    """The numbers times their common denominator, and that denominator: whole numbers are added up much faster."""
    ratios = [number.as_integer_ratio() for number in numbers]
    unit = math.lcm(*(denominator for _, denominator in ratios))
    return [numerator * (unit // denominator) for numerator, denominator in ratios], unit
