"""The segment oracle against cases small enough to count in the head, and its ways of evaluation against each other."""

from __future__ import annotations

import itertools
import math
import random
import statistics
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import naive_segments as ns
from naive_segments import Alt, And, Concat, Empty, Not, Pattern, Point, Repeat, Row, Segment, Variable, find, segments

A, B, C = (Point(name) for name in "ABC")  # the row holds that letter
P = Point("P")  # any row
W = Segment("W")  # any segment
W2 = Segment("W2")  # two rows


def rows_of(letters: str = "", x: Sequence[Any] = ()) -> list[Row]:
    return [{"letter": letter} for letter in letters] or [{"x": value} for value in x]


def letter(name: str) -> Variable:
    return Variable(name, lambda rows, i, j, bindings: rows[i]["letter"] == name)


def true(rows: Sequence[Row], i: int, j: int, bindings: Mapping[str, ns.Binding]) -> bool:
    return True


LETTERS = [letter(name) for name in "ABC"] + [
    Variable("P", true),
    Variable("W", true),
    Variable("W2", lambda rows, i, j, bindings: ns.window(2, 2, j - i + 1)),
]


def cat(*parts: Pattern) -> Concat:
    return Concat(parts)


def both(*parts: Pattern) -> And:
    return And(parts)


def alt(*options: Pattern) -> Alt:
    return Alt(options)


def plus(body: Pattern) -> Repeat:
    return Repeat(body, 1, None)


def opt(body: Pattern) -> Repeat:
    return Repeat(body, 0, 1)


def spans(n: int) -> set[ns.Span]:
    return {(i, j) for i in range(n) for j in range(i, n)}


# ---- which segments match: both ways of evaluation have to say so ----


@pytest.mark.parametrize(
    ("pattern", "letters", "expected"),
    [
        (A, "ABA", {(0, 0), (2, 2)}),
        (W, "AB", {(0, 0), (0, 1), (1, 1)}),
        # only points: the next operand starts at the next row
        (cat(A, B), "ABAB", {(0, 1), (2, 3)}),
        (cat(A, A), "A", set()),
        (cat(P, Not(A)), "BA", set()),  # the next row is an A
        (cat(P, Not(A)), "BAA", {(0, 2)}),  # but two rows are not
        # one segment variable anywhere below shares every boundary
        (cat(A, B, W2), "AAB", set()),
        (cat(A, P, W2), "AAB", {(0, 1), (1, 2)}),
        (cat(W2, W2), "ABC", {(0, 2)}),
        (cat(A, W, B), "ACB", {(0, 2)}),
        (cat(A, both(W, P), P), "AB", {(0, 0)}),
        (cat(A, Not(W), P), "AB", set()),
        (cat(A, alt(B, W), P), "AB", {(0, 0), (0, 1)}),
        # groups are levels of their own
        (cat(cat(A, B), W2), "ABC", {(0, 2)}),
        (cat(W2, cat(B, C)), "ABC", {(0, 2)}),
        (cat(A, cat(B, W2)), "ABC", set()),
        (cat(cat(A, P), cat(B, C), W), "ABC", {(0, 2)}),
        # absent parts are left out, but count for the question whether boundaries are shared
        (Empty(), "AB", set()),
        (cat(), "AB", set()),
        (opt(A), "AB", {(0, 0)}),
        (Repeat(A, 0, 0), "AB", set()),
        (cat(A, opt(B), C), "ABCAC", {(0, 2), (3, 4)}),
        (cat(A, Empty(), B), "AB", {(0, 1)}),
        (cat(A, opt(W2), B), "AB", {(0, 1)}),
        (cat(A, opt(W2), A), "AB", {(0, 0)}),
        (cat(opt(A), opt(B)), "AB", {(0, 0), (0, 1), (1, 1)}),
        (alt(A, Empty()), "AB", {(0, 0)}),
        (cat(alt(A, Empty()), B), "AB", {(0, 1), (1, 1)}),
        (both(A, Empty()), "A", set()),
        (both(opt(A), opt(P)), "AB", {(0, 0)}),
        (cat(both(opt(A), opt(P)), B), "AB", {(0, 1), (1, 1)}),
        (cat(both(opt(A), P), B), "CB", set()),  # And is absent only if all of it is
        (cat(Not(Empty()), B), "AB", {(0, 1)}),  # Not is never absent
        # quantifiers
        (plus(A), "AABA", {(0, 0), (0, 1), (1, 1), (3, 3)}),
        (Repeat(A, 2, 2), "AAA", {(0, 1), (1, 2)}),
        (Repeat(A, 2, None), "AAA", {(0, 1), (1, 2), (0, 2)}),
        (Repeat(A, 1, 2), "AAA", spans(3) - {(0, 2)}),
        (Repeat(W2, 2, 2), "AAAA", {(0, 2), (1, 3)}),
        (plus(W2), "AAA", {(0, 1), (1, 2), (0, 2)}),
        (Repeat(alt(W2, both(W, A)), 3, 3), "ABC", {(0, 0), (0, 1), (0, 2)}),  # A stays where it is: no progress
        (Repeat(alt(W2, both(W, A)), 7, None), "ABCC", {(0, 0), (0, 1), (0, 2), (0, 3)}),
        (Repeat(W, 1000, None), "AB", spans(2)),
        (Repeat(cat(A, opt(B)), 2, 2), "ABAAB", {(0, 2), (2, 3), (2, 4)}),
        (Repeat(opt(A), 3, 3), "AABA", {(0, 0), (0, 1), (1, 1), (3, 3)}),  # iterations without rows count
        (Repeat(Repeat(A, 0, None), 0, None), "AAB", {(0, 0), (0, 1), (1, 1)}),
        (cat(B, Repeat(A, 0, None), C), "BCBAAC", {(0, 1), (2, 5)}),
        (plus(cat(plus(A), plus(B))), "ABAB", {(0, 1), (2, 3), (0, 3)}),
        # And, Or, Not
        (both(cat(A, W), cat(W, B)), "ACBB", {(0, 2), (0, 3)}),
        (alt(A, cat(B, C)), "ABC", {(0, 0), (1, 2)}),
        (Not(A), "AB", {(0, 1), (1, 1)}),
        (Not(Empty()), "AB", spans(2)),
        (Not(cat(W, A, W)), "BAB", {(0, 0), (2, 2)}),  # without any A
        (both(W2, Not(cat(A, W))), "ABA", {(1, 2)}),
        (Not(A), "", set()),
    ],
)
def test_segments_and_find_agree_with_the_head(pattern: Pattern, letters: str, expected: set[ns.Span]) -> None:
    rows = rows_of(letters)
    assert segments(pattern, LETTERS, rows) == expected
    assert find(pattern, LETTERS, rows) == expected


def test_null_and_false_conditions_do_not_match() -> None:
    variables = [Variable("N", lambda rows, i, j, bindings: None if i == j else i == 0)]
    assert segments(Segment("N"), variables, rows_of("AAA")) == {(0, 1), (0, 2)}
    assert find(Not(Point("N")), variables, rows_of("A")) == {(0, 0)}


def test_segments_refuses_references_and_variables_do_not_read_themselves() -> None:
    with pytest.raises(ValueError, match="only `find`"):
        segments(W, [Variable("W", true, frozenset("A"))], rows_of("A"))
    with pytest.raises(ValueError, match="reads itself"):
        Variable("A", true, frozenset("A"))


# ---- bindings ----


def test_bindings_are_hulls() -> None:
    rows = rows_of("ABA")
    assert find(cat(A, B, A), LETTERS, rows, ("A", "B", "C")) == {(0, 2, (0, 2), (1, 1), None)}
    assert find(Repeat(alt(A, B), 3, 3), LETTERS, rows, ("B", "A")) == {(0, 2, (1, 1), (0, 2))}
    assert find(cat(W, B, W), LETTERS, rows, ("W",)) == {(i, j, (i, j)) for i in (0, 1) for j in (1, 2)}


def test_each_way_to_bind_is_a_result() -> None:
    assert find(cat(W2, W), LETTERS, rows_of("AAA"), ("W",)) == {(0, 1, (1, 1)), (0, 2, (1, 2)), (1, 2, (2, 2))}
    assert find(alt(A, P), LETTERS, rows_of("A"), ("A", "P")) == {(0, 0, (0, 0), None), (0, 0, None, (0, 0))}
    # absent and negated variables are unbound
    assert find(cat(A, opt(B)), LETTERS, rows_of("AB"), ("B",)) == {(0, 0, None), (0, 1, (1, 1))}
    assert find(both(P, Not(A)), LETTERS, rows_of("AB"), ("A", "P")) == {(1, 1, None, (1, 1))}


# ---- references ----


def reader(name: str, read: str, test: Callable[[Any, Any], bool], column: str = "x") -> Variable:
    """The first row of the one against the first row of the other; NULL if the other is unbound."""

    def condition(rows: Sequence[Row], i: int, j: int, bindings: Mapping[str, ns.Binding]) -> bool | None:
        other = bindings[read]
        return None if other is None else test(rows[i][column], rows[other[0]][column])

    return Variable(name, condition, frozenset({read}))


def above(x: Any, y: Any) -> bool:
    return bool(x > y)


def test_a_reference_to_the_left_and_to_the_right() -> None:
    variables = [Variable("P", true), reader("Q", "P", above)]
    rows = rows_of(x=[1, 2, 1])
    assert find(cat(P, Point("Q")), variables, rows) == {(0, 1)}
    assert find(cat(Point("Q"), P), variables, rows) == {(1, 2)}


def test_opencep_q1() -> None:
    inc = Point("INC")
    variables = [letter("A"), Variable("A2", lambda rows, i, j, b: rows[i]["letter"] == "A"), *LETTERS[3:]]
    variables.append(reader("INC", "A", above))
    rows = [{"letter": name, "x": x} for name, x in zip("ABABA", [1, 9, 1, 9, 2], strict=True)]
    pattern = cat(A, W, both(Point("A2"), inc))
    assert find(pattern, variables, rows, ("A", "A2")) == {(0, 4, (0, 0), (4, 4)), (2, 4, (2, 2), (4, 4))}


def test_cyclic_references() -> None:
    # A and B are segments that both ask for the other to have as many rows as they have themselves.
    def same(other: str) -> ns.Condition:
        def condition(rows: Sequence[Row], i: int, j: int, bindings: Mapping[str, ns.Binding]) -> bool | None:
            binding = bindings[other]
            return None if binding is None else binding[1] - binding[0] == j - i

        return condition

    variables = [Variable("A", same("B"), frozenset("B")), Variable("B", same("A"), frozenset("A"))]
    pattern = cat(Segment("A"), Segment("B"))
    found = find(pattern, variables, rows_of("....."), ("A", "B"))
    assert found == {
        (i, i + 2 * k, (i, i + k), (i + k, i + 2 * k)) for i in range(5) for k in range(3) if i + 2 * k < 5
    }
    # Each sees only its hull: A twice before one B.
    twice = cat(Segment("A"), Segment("A"), Segment("B"))
    assert find(twice, variables, rows_of("..")) == {(0, 0), (1, 1)}


def test_an_unbound_variable_is_read_as_null() -> None:
    variables = [letter("A"), Variable("Q", lambda rows, i, j, bindings: bindings["A"] is None, frozenset("A"))]
    q = Point("Q")
    assert find(cat(opt(A), q), variables, rows_of("AB")) == {(0, 0), (1, 1)}
    assert find(q, variables, rows_of("A")) == {(0, 0)}  # no A in the pattern at all
    assert find(cat(q, alt(A, q)), variables, rows_of("BA")) == {(0, 1)}  # the second row as Q
    assert find(both(q, Not(A)), variables, rows_of("AB")) == {(1, 1)}  # an A inside Not is never bound


def test_references_inside_an_iteration_see_that_iteration() -> None:
    variables = [Variable("P", true), reader("Q", "P", above)]
    q = Point("Q")
    rows = rows_of(x=[5, 6, 1, 2])
    assert find(plus(cat(P, q)), variables, rows) == {(0, 1), (2, 3), (0, 3)}
    # From outside P is the hull of all iterations, which starts with the 5, or with a later row.
    assert find(cat(plus(P), q), variables, rows) == {(0, 1), (2, 3)}
    # P is bound in the enclosing scope: the iterations see it there.
    assert find(cat(P, Repeat(q, 2, 2)), variables, rows_of(x=[1, 2, 3, 2])) == {(0, 2)}
    # It is seen whole, although one of its two places comes later.
    hull_of_p = [
        Variable("P", true),
        Variable("Q", lambda rows, i, j, bindings: bindings["P"] == (0, 3), frozenset("P")),
    ]
    assert find(cat(P, Repeat(q, 2, 2), P), hull_of_p, rows_of("....."), ("P",)) == {(0, 3, (0, 3))}
    # P is bound in the iteration of the outer Repeat: the inner iterations see that one.
    nested = Repeat(cat(P, plus(q)), 2, 2)
    assert find(nested, variables, rows_of(x=[8, 9, 9, 1, 2])) == {(0, 4)}


def test_the_innermost_scope_that_can_bind_the_variable_counts() -> None:
    # P occurs outside and in the iteration: Q sees only the one of its iteration, so the 9 in front does not matter.
    variables = [Variable("P", true), reader("Q", "P", above)]
    pattern = cat(P, Repeat(cat(P, Point("Q")), 1, 1))
    assert find(pattern, variables, rows_of(x=[9, 1, 2]), ("P",)) == {(0, 2, (0, 1))}
    # Inside the iteration P occurs only in a Not, so Q sees the outer one.
    pattern = cat(P, Repeat(both(Point("Q"), Not(cat(P, P))), 1, 1))
    assert find(pattern, variables, rows_of(x=[1, 2, 1])) == {(0, 1)}


def test_references_and_not() -> None:
    variables = [Variable("P", true), Variable("W", true), reader("Q", "P", above)]
    q = Point("Q")
    rows = rows_of(x=[1, 2, 1])
    # Q inside Not sees the outer P: after P no row of the segment is above it.
    assert find(both(cat(P, W), Not(cat(W, q, W))), variables, rows) == {(0, 0), (1, 1), (1, 2), (2, 2)}
    # P and Q inside Not: no guess of P lets the body match.
    assert find(Not(cat(P, q)), variables, rows) == spans(3) - {(0, 1)}
    assert find(Not(cat(W, cat(P, q), W)), variables, rows) == spans(3) - {(0, 1), (0, 2)}


# ---- random patterns: `find` against `segments`, and against derivations that are written out one by one ----


def random_pattern(rng: random.Random, depth: int) -> Pattern:
    kind = rng.choice("pscccaonre" if depth else "ppsss")
    if kind in "ps":
        return (Point if kind == "p" else Segment)(rng.choice("XYZ"))
    if kind == "e":
        return Empty()
    if kind == "n":
        return Not(random_pattern(rng, depth - 1))
    if kind == "r":
        return Repeat(random_pattern(rng, depth - 1), *rng.choice([(0, 1), (1, 2), (0, 2), (2, 2)]))
    parts = tuple(random_pattern(rng, depth - 1) for _ in range(2))
    return Concat(parts) if kind == "c" else And(parts) if kind == "a" else Alt(parts)


def random_variables(rng: random.Random, reads: Mapping[str, str]) -> list[Variable]:
    """Conditions that look random but depend on nothing but the rows and what they read."""

    def variable(name: str, seed: int) -> Variable:
        def condition(rows: Sequence[Row], i: int, j: int, bindings: Mapping[str, ns.Binding]) -> bool | None:
            assert sorted(bindings) == sorted(reads.get(name, ""))
            return [True, True, False, None][zlib.crc32(repr((seed, i, j, sorted(bindings.items()))).encode()) % 4]

        return Variable(name, condition, frozenset(reads.get(name, "")))

    return [variable(name, rng.randrange(1000)) for name in "XYZ"]


Path = tuple[tuple[int, Pattern], ...]  # the scopes around a place, each with a number of its own
Leaf = tuple[str, ns.Span, Path]
Derivation = tuple[ns.Binding, list[Leaf], list[tuple[Pattern, ns.Span, Path]]]  # rows, variables, negations
numbers = itertools.count()


def derivations(pattern: Pattern, n: int, path: Path) -> Iterator[Derivation]:
    """Every way to build the pattern, whether its conditions hold or not."""
    match pattern:
        case Point(name):
            yield from (((i, i), [(name, (i, i), path)], []) for i in range(n))
        case Segment(name):
            yield from ((span, [(name, span, path)], []) for span in spans(n))
        case Not(body):
            yield from ((span, [], [(body, span, path)]) for span in spans(n))
        case Alt(options):
            yield from itertools.chain(*(derivations(option, n, path) for option in options))
        case And(parts):
            for chosen in itertools.product(*(list(derivations(part, n, path)) for part in parts)):
                if len({span for span, _, _ in chosen}) == 1:
                    yield chosen[0][0], [x for _, xs, _ in chosen for x in xs], [x for _, _, xs in chosen for x in xs]
        case Concat(parts):
            yield from rows_of_parts(
                [list(derivations(part, n, path)) for part in parts], ns.holds_segment_variable(pattern)
            )
        case Repeat(body, least, most):
            for times in range(least, (most or 0) + 1):
                paths = [(*path, (next(numbers), body)) for _ in range(times)]
                yield from rows_of_parts(
                    [list(derivations(body, n, p)) for p in paths], ns.holds_segment_variable(body)
                )
        case Empty():
            yield None, [], []


def rows_of_parts(parts: list[list[Derivation]], shared: bool) -> Iterator[Derivation]:
    for chosen in itertools.product(*parts):
        present = [span for span, _, _ in chosen if span is not None]
        if all(right[0] == left[1] + (not shared) for left, right in itertools.pairwise(present)):
            whole = (present[0][0], present[-1][1]) if present else None
            yield whole, [x for _, xs, _ in chosen for x in xs], [x for _, _, xs in chosen for x in xs]


def holds(derivation: Derivation, outer: list[Leaf], variables: Mapping[str, Variable], rows: list[Row]) -> bool:
    _, leaves, negations = derivation
    visible = leaves + outer

    def binding(name: str, path: Path) -> ns.Binding:
        for depth in range(len(path), 0, -1):
            if name in ns.bindable(path[depth - 1][1]):
                return hull([span for leaf, span, where in visible if leaf == name and where[:depth] == path[:depth]])
        return None

    for name, (i, j), path in leaves:
        if not variables[name].condition(rows, i, j, {read: binding(read, path) for read in variables[name].reads}):
            return False
    for body, span, path in negations:
        inside = derivations(body, len(rows), (*path, (next(numbers), body)))
        if any(inner[0] == span and holds(inner, visible, variables, rows) for inner in inside):
            return False
    return True


def hull(found: list[ns.Span]) -> ns.Binding:
    return (min(i for i, _ in found), max(j for _, j in found)) if found else None


def leaves_in(pattern: Pattern) -> int:
    match pattern:
        case Concat(parts) | And(parts) | Alt(parts):
            return sum(leaves_in(part) for part in parts)
        case Not(body):
            return 2 * leaves_in(body)
        case Repeat(body, _, most):
            return (most or 0) * leaves_in(body)
        case _:
            return 1


@pytest.mark.parametrize("seed", range(150))
def test_find_against_written_out_derivations(seed: int) -> None:
    rng = random.Random(seed)
    pattern: Pattern = Empty()
    while not 3 <= leaves_in(pattern) <= 5:
        pattern = random_pattern(rng, 3)
    variables = random_variables(rng, rng.choice([{"X": "Y"}, {"X": "Y", "Y": "X"}, {"X": "Y", "Z": "Y"}, {"Z": "XY"}]))
    rows = rows_of("...")
    by_name = {variable.name: variable for variable in variables}
    expected = set()
    for derivation in derivations(pattern, len(rows), ((next(numbers), pattern),)):
        if derivation[0] is not None and holds(derivation, [], by_name, rows):
            bindings = (hull([span for leaf, span, _ in derivation[1] if leaf == name]) for name in "XYZ")
            expected.add((*derivation[0], *bindings))
    assert find(pattern, variables, rows, ("X", "Y", "Z")) == expected


@pytest.mark.parametrize("seed", range(150))
def test_find_without_wanted_variables_is_segments(seed: int) -> None:
    rng = random.Random(seed)
    pattern = random_pattern(rng, 4)
    variables = random_variables(rng, {})
    rows = rows_of("." * 7)
    found = find(pattern, variables, rows)
    assert found == segments(pattern, variables, rows)
    assert {result[:2] for result in find(pattern, variables, rows, ("Y",))} == found


# ---- AFTER MATCH SKIP ----


def test_skip() -> None:
    every = spans(4) - {(0, 3)}
    assert ns.skip(every, ("PAST_LAST_ROW",)) == [(0, 2), (3, 3)]
    assert ns.skip(every, ("NEXT_ROW",)) == [(0, 2), (1, 3), (2, 3), (3, 3)]
    tied = {(0, 2, (1, 2)), (0, 2, (1, 1)), (0, 1, (0, 0)), (1, 3, (2, 3)), (2, 3, (3, 3)), (3, 3, (3, 3))}
    assert ns.skip(tied | {(0, 2, None)}, ("PAST_LAST_ROW",)) == [(0, 2, None), (3, 3, (3, 3))]
    assert ns.skip(tied - {(3, 3, (3, 3))}, ("FIRST", "A"), ("A",)) == [(0, 2, (1, 1)), (1, 3, (2, 3)), (2, 3, (3, 3))]
    two = {(0, 3, None, (1, 2)), (1, 3, None, (2, 3)), (2, 3, None, (2, 3))}
    assert ns.skip(two, ("LAST", "B"), ("A", "B")) == [(0, 3, None, (1, 2)), (2, 3, None, (2, 3))]
    with pytest.raises(ValueError, match="FIRST A is the first row"):
        ns.skip(tied, ("FIRST", "A"), ("A",))
    with pytest.raises(ValueError, match="no row of A"):
        ns.skip({(0, 2, None)}, ("LAST", "A"), ("A",))


# ---- functions ----


def test_aggregates_skip_null() -> None:
    values = [2, None, 4, 9]
    assert [f(values) for f in (ns.count_of, ns.sum_of, ns.avg_of, ns.min_of, ns.max_of)] == [3, 15, 5.0, 2, 9]
    assert ns.stddev_of(values) == math.sqrt((9 + 1 + 16) / 2) == pytest.approx(np.std([2, 4, 9], ddof=1))
    assert [f([None]) for f in (ns.count_of, ns.sum_of, ns.avg_of, ns.min_of, ns.max_of, ns.stddev_of)] == [
        0,
        *[None] * 5,
    ]
    assert (ns.stddev_of([7, None]), ns.stddev_of([0.1] * 3), ns.sum_of([0.1] * 10)) == (None, 0.0, 1.0)
    assert (ns.min_of([math.nan, 1.0]), math.isnan(ns.max_of([math.nan, 1.0]))) == (1.0, True)


def test_regression_by_hand() -> None:
    # x: mean 2, deviations -1 0 1; y: mean 3, deviations -2 1 1; sxx 2, sxy 3, syy 6
    xs, ys = [1, 2, 3], [1, 4, 4]
    assert ns.linear_regression_r2(xs, ys) == ns.linear_regression_r2_signed(xs, ys) == 9 / 12
    assert ns.linear_regression_r2_signed(xs, ys[::-1]) == -9 / 12
    assert ns.linear_regression_slope(xs, ys) == 1.5
    assert ns.corr(xs, ys[::-1]) == -math.sqrt(0.75)
    assert ns.linear_regression_r2_signed([1, 2, 3], [1, 2, 1]) == 0.0
    gaps = ([1, None, 2, 7, 3, 8], [1, 5, 4, None, 4, math.nan])
    assert (ns.linear_regression_r2(*gaps), ns.linear_regression_slope(*gaps)) == (0.75, 1.5)
    assert ns.linear_regression_r2([0.1, 0.2], [0.3, 0.1]) == 1.0
    for f in (ns.linear_regression_r2, ns.linear_regression_r2_signed, ns.corr, ns.linear_regression_slope):
        assert f([1], [1]) is f([], []) is f([2, 2], [1, 3]) is f([1, 2], [3, None]) is None
    assert ns.linear_regression_r2([1, 2, 3], [0.1, 0.1, 0.1]) is ns.corr([1, 2], [5, 5]) is None
    assert ns.linear_regression_slope([1, 2], [5, 5]) == 0.0


def test_regression_against_other_implementations() -> None:
    rng = random.Random(1)
    xs, ys = ([rng.gauss(5, 2) for _ in range(20)] for _ in range(2))
    r = float(np.corrcoef(xs, ys)[0, 1])
    assert ns.corr(xs, ys) == pytest.approx(r) == pytest.approx(statistics.correlation(xs, ys))
    assert ns.linear_regression_r2(xs, ys) == pytest.approx(r * r)
    assert ns.linear_regression_r2_signed(xs, ys) == pytest.approx(math.copysign(r * r, r))
    assert ns.linear_regression_slope(xs, ys) == pytest.approx(np.polyfit(xs, ys, 1)[0])


def test_corr2_pairs_rows_by_position_and_zscore_looks_back() -> None:
    assert ns.corr2([1, 2, 3, 99], [1, 4, 4]) == ns.corr2([1, 2, 3], [1, 4, 4, 0, 0]) == math.sqrt(0.75)
    assert ns.corr2([1, None, 2, 3], [1, 5, 4, 4]) == math.sqrt(0.75)
    assert ns.corr2([1], [1, 2]) is ns.corr2([1, 2], [3, 3]) is None
    series = [None, 1, 2, 6, 6, 6]
    assert ns.zscore(series, 3, 3) == (6 - 3) / math.sqrt((4 + 1 + 9) / 2)  # 1, 2, 6
    assert ns.zscore([1, math.nan, 2], 2, 3) is None
    assert [ns.zscore(series, 2, 3), ns.zscore(series, 1, 3), ns.zscore(series, 5, 3), ns.zscore(series, 3, 1)] == [
        None
    ] * 4


def test_mann_kendall() -> None:
    assert ns.mann_kendall_test([1, 2, 3]) == (3 - 1) / math.sqrt(3 * 2 * 11 / 18)
    assert ns.mann_kendall_test([3, None, 2, math.nan, 1]) == -(3 - 1) / math.sqrt(3 * 2 * 11 / 18)
    assert ns.mann_kendall_test([1, 2, 2]) == (2 - 1) / math.sqrt((66 - 2 * 1 * 9) / 18)
    assert ns.mann_kendall_test([1, 2, 1]) == 0.0
    assert ns.mann_kendall_test([5, 5, 5]) is ns.mann_kendall_test([1, None]) is ns.mann_kendall_test([]) is None


def test_ticks_and_windows() -> None:
    assert [ns.equal_up_down_ticks(v) for v in ([], [1], [1, 2, 2, 1], [1, None, 2, 1])] == [True] * 4
    assert [ns.equal_up_down_ticks(v) for v in ([1, 2], [3, 2, 1, 2])] == [False] * 2
    assert [ns.window(2, 3, n) for n in range(1, 5)] == [False, True, True, False]
    assert ns.window(None, None, 9) and ns.window(9, None, 9) and not ns.window(None, 8, 9)
    assert [ns.time_window(10, last, 2, 5) for last in (11, 12, 15, 16)] == [False, True, True, False]
    assert ns.time_window(None, 3, 1, 2) is None
