"""What is proven of conditions holds of all rows: random conditions, and every row over a few values."""

from __future__ import annotations

import itertools
import math
import operator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from trellis.analysis.implication import (
    Comparison,
    Condition,
    Constant,
    Opaque,
    Presence,
    Read,
    Test,
    covers,
    excludes,
    implies,
    is_impossible,
    simplified,
)

INTS = (None, -1, 0, 1, 2, 3)
FLOATS = (None, -math.inf, -1.5, 0.0, 1.0, 2.0, math.inf, math.nan)
OPERATORS = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "<>": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}


def key(value: float) -> tuple[bool, float]:
    """As Spark compares: NaN equals itself and comes last."""
    return (True, 0.0) if math.isnan(value) else (False, value)


def value_of(side: Read | Constant, row: dict[str, Any]) -> Any:
    if isinstance(side, Constant):
        return float(side.value) if isinstance(row.get("float"), bool) else side.value
    found = row[side.name]
    if found is None:
        return None
    if side.exact:
        return Fraction(found) * side.factor + side.offset
    # Rounded after each step.
    return found * float(side.factor) if side.factor != 1 else found + float(side.offset)


def holds(test: Test, row: dict[str, Any]) -> bool | None:
    match test:
        case Presence(name=name, known=known):
            return (row[name] is not None) == known
        case Opaque(text=text, holds=wanted):
            return row[text] == wanted
        case Comparison(left=left, operator=symbol, right=right):
            one, other = value_of(left, row), value_of(right, row)
            if one is None or other is None:
                return None
            return bool(OPERATORS[symbol](key(one), key(other)))


def is_true(condition: Condition, row: dict[str, Any]) -> bool:
    return any(all(holds(test, row) is True for test in tests) for tests in condition)


def rows(exact: bool, known: bool, positive: bool) -> list[dict[str, Any]]:
    values = [
        value
        for value in (INTS if exact else FLOATS)
        if not (known and value is None) and not (positive and value is not None and value < 0)
    ]
    named = [dict(zip("xyz", found, strict=True)) for found in itertools.product(values, repeat=3)]
    extra = {} if exact else {"float": True}
    return [{**row, "even": even, **extra} for row in named for even in (True, False)]


@st.composite
def sides(draw: DrawFn, exact: bool) -> Read | Constant:
    if draw(st.integers(0, 3)) == 0:
        return Constant(draw(st.sampled_from((-1, 0, 1, 2, Fraction(3, 2)))))
    name = draw(st.sampled_from("xxyyz"))
    change = draw(st.sampled_from(("", "", "factor", "offset")))
    factor = draw(st.sampled_from((Fraction(1, 2), 2, 3))) if change == "factor" else 1
    offset = draw(st.sampled_from((-1, 1, 2))) if change == "offset" else 0
    return Read(name, factor, offset, exact)


@st.composite
def conditions(draw: DrawFn, exact: bool) -> Condition:
    def test() -> Test:
        match draw(st.integers(0, 11)):
            case 0:
                return Presence(draw(st.sampled_from("xyz")), draw(st.booleans()))
            case 1:
                return Opaque("even", draw(st.booleans()), frozenset())
            case _:
                return Comparison(draw(sides(exact)), draw(st.sampled_from(tuple(OPERATORS))), draw(sides(exact)))

    count = draw(st.sampled_from((1, 1, 1, 2)))
    return tuple(tuple(test() for _ in range(draw(st.integers(0, 3)))) for _ in range(count))


@given(st.data(), st.booleans(), st.booleans(), st.booleans())
def test_what_is_proven_holds_of_all_rows(data: Any, exact: bool, known: bool, positive: bool) -> None:
    one, other = data.draw(conditions(exact)), data.draw(conditions(exact))
    # Often the second says less, or the opposite.
    if data.draw(st.booleans()):
        other = (*other, *tuple(tests[:1] for tests in one))

    def never_negative(_: str) -> bool:
        return positive

    proven = {
        "excludes": excludes(one, other, never_negative),
        "implies": implies(one, other, never_negative),
        "covers": covers(one, other, lambda _: known, never_negative),
        "impossible": is_impossible(one, never_negative),
    }
    event(", ".join(name for name, found in proven.items() if found) or "nothing")
    simple = simplified(one, never_negative)
    for row in rows(exact, known, positive):
        first, second = is_true(one, row), is_true(other, row)
        assert not (proven["excludes"] and first and second), row
        assert not (proven["implies"] and first and not second), row
        assert not (proven["covers"] and not first and not second), row
        assert not (proven["impossible"] and first), row
        assert is_true(simple, row) == first, row


PRICE, BEFORE = Read("price"), Read("before")


def below(factor: Fraction | int, symbol: str = "<") -> Condition:
    return ((Comparison(PRICE, symbol, Read("before", factor)),),)


def test_the_papers_bottoms() -> None:
    """Prices are positive: falls, flat stretches and rises of two per cent exclude each other."""
    fall, rise = below(Fraction(98, 100)), below(Fraction(102, 100), ">")
    flat: Condition = ((*below(Fraction(98, 100), ">")[0], *below(Fraction(102, 100))[0]),)

    def positive(_: str) -> bool:
        return True

    assert excludes(fall, flat) and excludes(rise, flat)
    assert not excludes(fall, rise) and excludes(fall, rise, positive)
    assert implies(rise, below(Fraction(98, 100), ">="), positive)
    assert covers(below(Fraction(98, 100)), below(Fraction(98, 100), ">="), lambda _: True)
    assert not covers(below(Fraction(98, 100)), below(Fraction(98, 100), ">="), lambda _: False)


def test_a_value_that_another_test_shows_to_be_positive() -> None:
    fall, rise = below(Fraction(1, 2)), below(2, ">")
    told: Condition = ((*rise[0], Comparison(BEFORE, ">", Constant(0))),)
    assert not excludes(fall, rise) and excludes(fall, told)


@pytest.mark.parametrize("exact", [True, False])
def test_sums_are_computed_with_where_they_are_exact(exact: bool) -> None:
    """The paper's example 4.5 is satisfiable, and no more if z is at least 4 above x."""
    x, y, z = (Read(name, exact=exact) for name in "xyz")
    steps = (Comparison(x, "<", Read("y", offset=4, exact=exact)), Comparison(y, "<", z))
    far = Comparison(Read("x", offset=-4, exact=exact), ">=", z)
    assert not is_impossible((steps,))
    assert is_impossible(((*steps, far),)) == exact


def test_texts_and_alternatives() -> None:
    def is_one_of(*texts: str) -> Condition:
        return tuple((Comparison(Read("page"), "=", Constant(text, "text")),) for text in texts)

    assert excludes(is_one_of("a"), is_one_of("d", "p"))
    assert implies(is_one_of("a"), is_one_of("d", "a")) and not implies(is_one_of("a", "d"), is_one_of("a"))
    assert implies(is_one_of("a", "d"), ((Comparison(Read("page"), "<", Constant("é", "text")),),))
    assert not covers(is_one_of("a"), ((Comparison(Read("page"), "<>", Constant("a", "text")),),), lambda _: False)


def test_every_text_has_its_place() -> None:
    between = tuple(Comparison(Read("page"), "<>", Constant(text, "text")) for text in "abcd")
    ends = Comparison(Read("page"), "<", Constant("c", "text")), Comparison(Read("page"), ">=", Constant("d", "text"))
    assert is_impossible(((*between, *ends),))


def test_simpler() -> None:
    x = Read("x")
    tests = (Comparison(x, ">", Constant(1)), Comparison(x, ">", Constant(2)), Comparison(x, "<>", Constant(0)))
    assert simplified((tests, (*tests, Comparison(x, "<", Constant(1))))) == ((tests[1],),)
