"""The oracle for SQL-TS against a second definition, which does not search: random queries and prices.

A match from a start is a way to cut the tuples from there on into one piece for each element, such that
  - a piece has one tuple, or at least one if the element has a star;
  - every tuple of a piece satisfies the conditions of the element, the earlier tuples of the piece being given;
  - no star could be longer: the tuple after its piece, if there is one, does not satisfy its conditions;
  - the conditions that only the complete match can be asked are true.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from naive_sase import aggregate, operate
from naive_sqlts import Element, Expr, Query, matches, op

Prices = list[int | None]
Cut = tuple[tuple[int, ...], ...]


def cuts(query: Query, start: int, end: int) -> Iterator[list[range]]:
    """All ways to cut tuples from `start` on, none of them at `end` or later, into pieces."""
    for sizes in itertools.product(*(range(1, end + 1) if e.starred else [1] for e in query.elements)):
        edges = list(itertools.accumulate(sizes, initial=start))
        if edges[-1] <= end:
            yield [range(low, high) for low, high in itertools.pairwise(edges)]


def value(expr: Expr, pieces: dict[str, range], prices: Prices) -> Any:
    """The value of an expression, given the pieces so far; price is the only column."""
    kind = expr[0]
    if kind == "lit":
        return expr[1]
    if kind == "op":
        return operate(expr[1], [value(operand, pieces, prices) for operand in expr[2]])
    if kind == "attr":
        position = max(pieces[expr[1]]) + expr[2]
        return prices[position] if position in range(len(prices)) else None
    piece = pieces[expr[2]]
    if kind == "edge":
        return prices[min(piece) if expr[1] == "FIRST" else max(piece)]
    return len(piece) if expr[3] is None else aggregate(expr[1], [prices[position] for position in piece])


def needs(expr: Expr) -> set[str]:
    """What must be known before an expression can be asked: names of elements, and "*X" for all of X."""
    if expr[0] == "op":
        return {need for operand in expr[2] for need in needs(operand)}
    if expr[0] == "lit":
        return set()
    if expr[0] == "attr":
        return {expr[1]}
    return {f"*{expr[2]}" if expr[0] == "final" else expr[2]}


def groups(query: Query) -> list[list[Expr]]:
    """The conditions by the element, or the dummy element after all of them, at which they are tested."""
    known: set[str] = set()
    left = list(query.conditions)
    made = []
    for number in range(len(query.elements) + 1):
        known |= {f"*{element.name}" for element in query.elements[:number]}
        known |= {element.name for element in query.elements[: number + 1]}
        made.append([condition for condition in left if needs(condition) <= known])
        left = [condition for condition in left if not needs(condition) <= known]
    assert not left
    return made


def is_match(query: Query, cut: list[range], prices: Prices) -> bool:
    """Whether the pieces are what the head of this file asks of a match."""
    pieces = dict(zip([element.name for element in query.elements], cut, strict=True))
    grouped = groups(query)

    def satisfied(number: int, piece: range) -> bool:
        """Whether the last tuple of `piece`, given the others and the earlier elements, is one of the element."""
        so_far = {**pieces, query.elements[number].name: piece}
        return all(value(condition, so_far, prices) is True for condition in grouped[number])

    for number, piece in enumerate(cut):
        if not all(satisfied(number, range(piece.start, end + 1)) for end in piece):
            return False
        longer = range(piece.start, piece.stop + 1)
        if query.elements[number].starred and piece.stop < len(prices) and satisfied(number, longer):
            return False
    return all(value(condition, pieces, prices) is True for condition in grouped[-1])


def by_definition(query: Query, prices: Prices) -> list[Cut]:
    """The matches of a query; SELECT DISJOINT leaves out those that overlap one given before."""
    given: list[Cut] = []
    for start in range(len(prices)):
        fitting = [cut for cut in cuts(query, start, len(prices)) if is_match(query, cut, prices)]
        assert len(fitting) <= 1  # §2.1: maximal "to avoid ambiguity and the possible explosion of matches"
        if fitting and (query.overlapping or not given or given[-1][-1][-1] < start):
            given.append(tuple(tuple(piece) for piece in fitting[0]))
    return given


def words(elements: list[Element]) -> list[str]:
    """Everything that a condition may mention."""
    steps = ("", "", "", ".previous", ".next", ".previous.previous")
    made = [f"{element.name}{step}.price" for element in elements for step in steps]
    for element in elements:
        if element.starred:
            made += [f"{edge}({element.name}).price" for edge in ("FIRST", "LAST")]
            made += [f"ccount({element.name})", f"csum({element.name}.price)", f"cmin({element.name}.price)"]
            made += [f"count(*{element.name})", f"max(*{element.name}.price)", f"avg(*{element.name}.price)"]
    return made


def some_condition(random: Random, elements: list[Element]) -> Expr:
    """A comparison, mostly of an element's price with a constant, sometimes with NOT or OR."""
    left = random.choice(words(elements)) if random.random() < 0.5 else f"{random.choice(elements).name}.price"
    right = random.choice(words(elements)) if random.random() < 0.4 else random.randint(0, 3)
    comparison = op(left, random.choice(["<", "<=", ">", ">=", "=", "<>"]), right)
    if random.random() < 0.1:
        return ("op", "NOT", (comparison,))
    return ("op", "OR", (comparison, some_condition(random, elements))) if random.random() < 0.2 else comparison


def some_query(random: Random) -> Query:
    elements = [Element(name, starred=random.random() < 0.6) for name in "WXYZ"[: random.choice([1, 2, 2, 3, 3, 4])]]
    conditions = [some_condition(random, elements) for _ in range(random.randint(1, 4))]
    return Query(tuple(elements), tuple(conditions), overlapping=random.random() < 0.5)


def some_prices(random: Random) -> Prices:
    return [random.choice([0, 1, 1, 2, 2, 3, None]) for _ in range(random.randint(0, 8))]


@given(st.integers(0, 2**32))  # by chance and not by Hypothesis, whose short patterns and prices seldom match
def test_the_search_finds_what_the_second_definition_says(seed: int) -> None:
    random = Random(seed)
    query = some_query(random)
    for _ in range(20):
        prices = some_prices(random)
        found = matches(query, [{"price": price} for price in prices])
        assert [tuple(indexes for _, indexes in match.elements) for match in found] == by_definition(query, prices)
