"""Random workloads, made as section 6.1 of the paper says: the types of patterns, their order and their conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import exp, factorial, log
from random import Random

import numpy as np

from benchmarks.workloads.streams import Stream, Values

__all__ = ["Condition", "Made", "Recipe", "draw_patterns", "variable_of"]


_MARGINS = (-0.2, -0.1, -0.05, -0.03, -0.02, -0.01, 0.0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
"""By how much, in dollars, one difference must be larger than another at least."""


_TRIES = 100_000


@dataclass(frozen=True, slots=True)
class Condition:
    """A column of the event of one variable, compared with the same column of another."""

    one: str
    symbol: str
    other: str
    column: str
    margin: float = 0.0

    def __str__(self) -> str:
        margin = f" {'-' if self.margin < 0 else '+'} {abs(self.margin)}" if self.margin else ""
        return f"{self.one}.{self.column} {self.symbol} {self.other}.{self.column}{margin}"


@dataclass(frozen=True, slots=True)
class Made:
    """A pattern: SEQ or AND of types, of which one may be absent or repeated (by place; -1: none)."""

    name: str
    operator: str
    types: tuple[str, ...]
    conditions: tuple[Condition, ...]
    within: tuple[str, int] = ("minutes", 15)
    absent: int = -1
    repeated: int = -1

    @property
    def text(self) -> str:
        """The pattern in SASE+."""
        parts = [self._part(place, name) for place, name in enumerate(self.types)]
        where = " and ".join(map(str, self.conditions))
        unit, size = self.within
        window = f"{60 * size}" if unit == "minutes" else f"{size} {unit}"
        return f"PATTERN {self.operator}({', '.join(parts)}) WHERE {{ {where} }} WITHIN {window}"

    def _part(self, place: int, name: str) -> str:
        variable = variable_of(place)
        if place == self.absent:
            return f"~(`{name}` {variable})"
        return f"`{name}`+ {variable}[]" if place == self.repeated else f"`{name}` {variable}"


def variable_of(place: int) -> str:
    """The variable of a part."""
    return f"v{place}"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How patterns are made.

    A pattern has `size` types, or one more or less; there are so many `types`, whose rates are spread evenly, and they
    are taken by Zipf's law with the exponent `skew`. `chains` are the conditions of traffic. A condition between two
    types holds for at least the share `least` of pairs and at most for `most`. A pattern has at most `most_matches` in
    a minute. The rates of its types differ at most by the share `difference` of the greatest difference of all types.
    What is `plain` is a sequence of single events without margins.
    """

    patterns: int = 100
    size: int = 5
    types: int = 100
    skew: float = 1.0
    within: tuple[str, int] = ("minutes", 15)
    chains: bool = False
    least: float = 0.003
    most: float = 0.92
    most_matches: float = 1.0
    difference: float = 1.0
    plain: bool = False


def draw_patterns(stream: Stream, recipe: Recipe, seed: int) -> Iterator[Made]:
    """Random patterns without end; equal seeds give equal ones.

    What would match too often if all events were independent of each other is left out at once.
    """
    random = Random(f"{stream.name}/{seed}")
    popular = _spread(stream, recipe.types)
    random.shuffle(popular)
    weights = [1.0 / (rank + 1) ** recipe.skew for rank in range(len(popular))]
    number = 0
    while True:
        # What kind it is stays as it is drawn, though kinds are not left out equally often.
        chance = 1.0 if recipe.plain else random.random()
        kind = "absent" if chance < 0.1 else "repeated" if chance < 0.2 else ""
        for _ in range(_TRIES):
            made = _pattern(f"p{number}", stream, recipe, kind, popular, weights, random)
            if expected_matches(stream, made) <= recipe.most_matches * stream.minutes:
                break
        else:
            raise SystemExit(f"All patterns match too often in windows of {recipe.within[1]:,} {recipe.within[0]}.")
        yield made
        number += 1


def _spread(stream: Stream, types: int) -> list[str]:
    """So many types, whose rates are spread evenly from the lowest to the highest."""
    left = dict(stream.counts)
    found = []
    for wanted in np.linspace(min(left.values()), max(left.values()), min(types, len(left))):
        found.append(min(left, key=lambda name: abs(left[name] - wanted)))
        del left[found[-1]]
    return found


def expected_matches(stream: Stream, made: Made) -> float:
    """How many matches there would be if all events were independent of each other."""
    unit, size = made.within
    window = 60.0 * size if unit == "minutes" else size / stream.event_rate
    found = 1.0
    places = {variable_of(place): place for place in range(len(made.types))}
    for place, name in enumerate(made.types):
        count = stream.rates[name] * window
        if place != made.absent:
            # Sets become many where events are close together.
            found *= 2.0 ** stream.most_in(name, window) - 1 if place == made.repeated else count
    if made.operator == "SEQ":
        found /= factorial(len(made.types) - (made.absent >= 0))
    for one in made.conditions:
        left, right = (stream.values(made.types[places[name]], one.column) for name in (one.one, one.other))
        found *= _share(left, right + one.margin, one.symbol == ">")
    return found * stream.minutes * 60 / window


def _pattern(
    name: str,
    stream: Stream,
    recipe: Recipe,
    kind: str,
    popular: Sequence[str],
    weights: Sequence[float],
    random: Random,
) -> Made:
    size = random.randint(max(2, recipe.size - 1), recipe.size + 1)
    chosen = _types(stream, recipe.difference, size, popular, weights, random)
    operator = "SEQ" if recipe.plain else random.choice(("SEQ", "AND"))
    absent = random.randrange(size) if kind == "absent" else -1
    repeated = -1
    if kind == "repeated":
        # Any set of events is a match of its own, so the rarest type is the one that may be repeated.
        repeated = min(range(size), key=lambda place: stream.counts[chosen[place]])
    single = [place for place in range(size) if place not in (absent, repeated)]
    made = _chain if recipe.chains else _comparisons
    conditions = made(stream, recipe, chosen, single, random)
    return Made(name, operator, chosen, conditions, recipe.within, absent, repeated)


def _types(
    stream: Stream,
    difference: float,
    size: int,
    popular: Sequence[str],
    weights: Sequence[float],
    random: Random,
) -> tuple[str, ...]:
    """So many types, whose counts differ by no more than a share of the greatest difference."""
    counts = [stream.counts[name] for name in popular]
    most = difference * (max(counts) - min(counts))
    types: dict[str, None] = {}
    while len(types) < size:
        name = random.choices(popular, weights)[0]
        together = [stream.counts[one] for one in (*types, name)]
        if max(together) - min(together) <= most:
            types[name] = None
    return tuple(types)


def _comparisons(
    stream: Stream, recipe: Recipe, types: Sequence[str], single: Sequence[int], random: Random
) -> tuple[Condition, ...]:
    """About half as many comparisons as types, each of another pair."""
    pairs = list(combinations(single, 2))
    count = min(len(pairs), len(types) // 2 + (random.random() < 0.5 if len(types) % 2 else 0))
    found = []
    for one, other in sorted(random.sample(pairs, count)):
        found.append(_comparison(stream, recipe, types, one, other))
    return tuple(found)


def _comparison(stream: Stream, recipe: Recipe, types: Sequence[str], one: int, other: int) -> Condition:
    """The comparison of two types: the same in all patterns of all workloads.

    How often it holds is drawn, and the margin is the one with which it holds so often.
    """
    column = stream.compared[0]
    if recipe.plain:
        return Condition(variable_of(one), "<", variable_of(other), column)
    # Written in one way, whatever comes first in a pattern.
    one, other = sorted((one, other), key=types.__getitem__)
    left, right = (stream.values(types[place], column) for place in (one, other))
    random = Random(f"{types[one]}/{types[other]}")
    wanted = exp(random.uniform(log(recipe.least), log(recipe.most)))
    upwards = random.random() < 0.5
    shares = [_share(left, right + margin, upwards) for margin in _MARGINS]
    margin = min(zip(shares, _MARGINS, strict=True), key=lambda one: abs(log(max(one[0], 1e-9) / wanted)))[1]
    return Condition(variable_of(one), ">" if upwards else "<", variable_of(other), column, margin)


def _share(left: Values, right: Values, upwards: bool) -> float:
    """How often values are greater than others, or less; both are in order."""
    if upwards:
        return float(np.searchsorted(right, left, "left").mean() / len(right))
    return float(np.searchsorted(left, right, "left").mean() / len(left))


def _chain(
    stream: Stream, recipe: Recipe, types: Sequence[str], single: Sequence[int], random: Random
) -> tuple[Condition, ...]:
    """Three or more observations of which each has more of everything than the one before, or less of everything."""
    length = max(3, len(types) // 2 + 1)
    places = sorted(random.sample(list(single), min(length, len(single))))
    symbol = random.choice("<>")
    return tuple(
        Condition(variable_of(one), symbol, variable_of(other), column)
        for one, other in pairwise(places)
        for column in stream.compared
    )
