"""Estimates of what prefilters leave, against rows drawn at random; the simulated search, against counting by hand."""

from __future__ import annotations

import random

import pytest

from trellis.algebra.expression import Column, Literal, Operator
from trellis.algebra.prefilter import Buckets, Component, Form, Prefilter, Scale, Symbol
from trellis.algebra.statistics import RowStatistics
from trellis.languages.match_recognize import parse_clause_text
from trellis.planning.before_match.sizes import kept_share
from trellis.planning.rows.automaton import compile_pattern
from trellis.planning.rows.expected_tests import tests_from_a_row as simulated

WIDTH = 10
TIME = Column(("t",))


def _prefilter(form: Form, component: Component, names: str) -> Prefilter:
    symbols = tuple(Symbol(name, Operator("=", (Column(("k",)), Literal(f"'{name}'")))) for name in names)
    return Prefilter(form, (), Buckets(TIME, Scale.NUMBER, WIDTH), symbols, (component,))


def _kept(rows: list[tuple[int, str]], component: Component, names: str, span: int, seen: str) -> float:
    """By definition: buckets that a window with rows of the symbols in order can touch, as masks know it."""
    found: dict[int, set[str]] = {}
    for time, kind in rows:
        found.setdefault(time // WIDTH, set()).add(kind)
    kept = set()
    for bucket in range(-1, span // WIDTH + 1):
        left, right = found.get(bucket, set()), found.get(bucket + 1, set())
        for split in range(1 if component.starts else 0, len(names) + 1):
            if set(names[:split]) <= left and set(names[split:]) <= right:
                kept.add(bucket)
                if not component.ends or split < len(names):
                    kept.add(bucket + 1)
    return sum(time // WIDTH in kept for time, kind in rows if kind in seen) / len(rows)


@pytest.mark.parametrize("names", ["A", "AB", "ABC"])
@pytest.mark.parametrize(("starts", "ends"), [(True, True), (False, True), (False, False)])
@pytest.mark.parametrize("span", [40_000, 1_500_000])
@pytest.mark.parametrize("seen", ["ABC", "ABCx"])
def test_masks(names: str, starts: bool, ends: bool, span: int, seen: str) -> None:
    draw = random.Random(11)
    count = 16_000
    shares = {"A": 0.1, "B": 0.2, "C": 0.15}
    kinds = draw.choices("ABCx", [0.1, 0.2, 0.15, 0.55], k=count)
    rows = [(draw.randrange(span), kind) for kind in kinds]
    component = Component(tuple(range(len(names))), starts=starts, ends=ends)
    statistics = RowStatistics(count, 1.0, span, shares)
    left = 1.0 if "x" in seen else sum(shares.values())
    estimated = kept_share(_prefilter(Form.MASKS, component, names), statistics, left)
    real = max(_kept(rows, component, names, span, seen), 1e-9)
    # Where hardly anything is kept, chance is large.
    assert max(estimated / real, real / estimated) < 1.3 or max(estimated, real) < 0.001


@pytest.mark.parametrize(
    ("pattern", "chances", "rows", "expected"),
    [
        ("A B", {}, 10, 2.0),
        ("A B", {0: 0.5}, 10, 1.5),
        ("A B C", {0: 0.5, 1: 0.5}, 10, 1.75),
        ("A Z* B", {1: 1.0, 2: 0.0}, 4, 1 + 3 * 2),
        ("A Z* B", {0: 0.0}, 4, 1.0),
        ("A+", {0: 1.0}, 5, 5.0),
    ],
)
def test_simulated_search(pattern: str, chances: dict[int, float], rows: int, expected: float) -> None:
    query = parse_clause_text(f"ORDER BY t PATTERN ({pattern})")
    names = tuple(dict.fromkeys(name for name in pattern if name.isalpha()))
    instructions = compile_pattern(query.pattern, names)
    assert simulated(instructions, chances, rows, merged=True) == pytest.approx(expected)
