"""What conditions say about each other: whether one implies another, and whether two can hold together.

Conditions are alternatives of conjunctions of comparisons between values of a row. All values that are compared stand
in one order, as in Spark: NULL is in no comparison, NaN comes after all numbers. Nothing else is taken for granted of
floats: sums of them are rounded, so `x < y + 1` and `y < z + 1` say nothing of `x` and `z`. Of *exact* values they do.

The answers are sound and not complete: True is proven, False is not known. After Guo, Sun and Weiss, "Solving
satisfiability and implication problems in database systems" (TODS 1996), by the shortest paths between the values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, product
from typing import TypeAlias

__all__ = [
    "Comparison",
    "Condition",
    "Constant",
    "Opaque",
    "Presence",
    "Read",
    "Test",
    "covers",
    "excludes",
    "implies",
    "is_impossible",
    "simplified",
]

Exact: TypeAlias = int | Fraction

# More alternatives than so many are not looked at: what is asked about them is not known.
_MOST_ALTERNATIVES = 64
_OPPOSITE = {"<": ">=", "<=": ">", "=": "<>", "<>": "=", ">=": "<", ">": "<="}


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, text or time; those of one `kind` are compared by `value`. Numbers have the kind "number"."""

    value: Exact | str
    kind: str = "number"
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        # Fractions take long to hash, and values are looked up again and again.
        object.__setattr__(self, "_hash", hash((self.value, self.kind)))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class Read:
    """A value of a row, times a factor or plus an offset. `exact` values of one name can be computed with.

    Values of one name and different factors are in the order of the factors where the value itself is not negative.
    """

    name: str
    factor: Exact = 1
    offset: Exact = 0
    exact: bool = False
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.name, self.factor, self.offset, self.exact)))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left operator right`; it holds only if both are known."""

    left: Read | Constant
    operator: str
    right: Read | Constant


@dataclass(frozen=True, slots=True)
class Presence:
    """`x IS NOT NULL`, or `x IS NULL` if not `known`."""

    name: str
    known: bool


@dataclass(frozen=True, slots=True)
class Opaque:
    """A condition of which only the text is known: it implies itself, and excludes its negation (`holds` is False).

    `known` are the values that are not NULL where it holds.
    """

    text: str
    holds: bool = True
    known: frozenset[str] = frozenset()


Test: TypeAlias = Comparison | Presence | Opaque
Condition: TypeAlias = tuple[tuple[Test, ...], ...]
"""Alternatives, each of tests that must all hold. None at all is FALSE, one without tests is TRUE."""

NeverNull: TypeAlias = Callable[[str], bool]
NeverNegative: TypeAlias = Callable[[str], bool]


def _no(_: str) -> bool:
    return False


def is_impossible(condition: Condition, positive: NeverNegative = _no) -> bool:
    """Whether a condition can never hold."""
    return all(_Facts.of(tests, positive).impossible for tests in condition)


def excludes(one: Condition, other: Condition, positive: NeverNegative = _no) -> bool:
    """Whether two conditions can never hold of the same row."""
    if len(one) * len(other) > _MOST_ALTERNATIVES:
        return False
    return all(_Facts.of((*left, *right), positive).impossible for left, right in product(one, other))


def implies(one: Condition, other: Condition, positive: NeverNegative = _no) -> bool:
    """Whether the other condition holds wherever the one does."""
    if len(one) * len(other) > _MOST_ALTERNATIVES:
        return False
    for left in one:
        facts = _Facts.of(left, positive, [test for right in other for test in right])
        if not facts.impossible and not any(all(map(facts.proves, right)) for right in other):
            return False
    return True


def covers(one: Condition, other: Condition, never_null: NeverNull, positive: NeverNegative = _no) -> bool:
    """Whether the other condition holds wherever the one does not: where it is false, and where it is NULL."""
    if not all(_may_be_denied(test, never_null) for tests in one for test in tests):
        return False
    count = 1
    for tests in one:
        count *= max(1, len(tests))
    if count > _MOST_ALTERNATIVES:
        return False
    # Of each alternative, at least one test fails.
    denied: Condition = tuple(tuple(map(_denied, chosen)) for chosen in product(*one))
    return implies(denied, other, positive)


def simplified(condition: Condition, positive: NeverNegative = _no) -> Condition:
    """The same condition without alternatives that are impossible, and without tests that others imply."""
    kept = []
    for tests in condition:
        if _Facts.of(tests, positive).impossible:
            continue
        needed = list(tests)
        for test in tests:
            others = [one for one in needed if one is not test]
            if _Facts.of(others, positive, [test]).proves(test):
                needed = others
        kept.append(tuple(needed))
    return tuple(kept)


def _may_be_denied(test: Test, never_null: NeverNull) -> bool:
    """Whether a test that does not hold is false, and not NULL."""
    match test:
        case Presence():
            return True
        case Opaque(known=known):
            return bool(known) and all(map(never_null, known))
        case Comparison(left=left, right=right):
            return all(never_null(side.name) for side in (left, right) if isinstance(side, Read))


def _denied(test: Test) -> Test:
    match test:
        case Presence(name=name, known=known):
            return Presence(name, not known)
        case Opaque(text=text, holds=holds, known=known):
            return Opaque(text, not holds, known)
        case Comparison(left=left, operator=operator, right=right):
            return Comparison(left, _OPPOSITE[operator], right)


# ---- Facts about values, closed under what follows from them ----

_Place: TypeAlias = tuple[int, Exact]
"""A value as a point that others are compared with, and how far from it."""


@dataclass(slots=True)
class _Facts:
    """What tests say of the values in them, and of those in others that will be asked about.

    `widths[i][j]` is the least number known such that the point i is at most so far above the point j, and whether it
    is less; None if nothing is known. `apart` are differences that two points do not have.
    """

    positive: NeverNegative
    numbers: dict[Constant | Read, int] = field(default_factory=dict)
    widths: list[list[tuple[Exact, bool] | None]] = field(default_factory=list)
    apart: set[tuple[int, int, Exact]] = field(default_factory=set)
    present: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    opaque: set[tuple[str, bool]] = field(default_factory=set)
    impossible: bool = False

    @staticmethod
    def of(tests: Iterable[Test], positive: NeverNegative, asked: Iterable[Test] = ()) -> _Facts:
        """All that follows from tests, also about the values in those that will be asked for."""
        facts = _Facts(positive)
        facts._point(_ZERO)
        given = list(tests)
        for test in (*given, *asked):
            if isinstance(test, Comparison):
                facts._place(test.left)
                facts._place(test.right)
        facts._order_constants()
        for test in given:
            facts._add(test)
        facts._close()
        while facts._order_multiples():
            facts._close()
        facts._find_contradictions()
        return facts

    def proves(self, test: Test) -> bool:
        """Whether a test holds."""
        match test:
            case Presence(name=name, known=True):
                return name in self.present
            case Presence(name=name):
                return name in self.missing
            case Opaque(text=text, holds=holds):
                return (text, holds) in self.opaque
            case Comparison(left=left, operator=operator, right=right):
                there = all(side.name in self.present for side in (left, right) if isinstance(side, Read))
                return there and self._holds(left, operator, right)
        raise AssertionError(test)

    def _holds(self, left: Read | Constant, operator: str, right: Read | Constant) -> bool:
        match operator:
            case "<=":
                return self._is_below(left, right, strict=False)
            case "<":
                return self._is_below(left, right, strict=True)
            case ">" | ">=":
                return self._holds(right, "<" if operator == ">" else "<=", left)
            case "=":
                return self._holds(left, "<=", right) and self._holds(right, "<=", left)
            case "<>":
                (one, above), (other, below) = self._place(left), self._place(right)
                known = (one, other, below - above) in self.apart
                return known or self._holds(left, "<", right) or self._holds(right, "<", left)
        raise AssertionError(operator)

    def _is_below(self, left: Read | Constant, right: Read | Constant, *, strict: bool) -> bool:
        (one, above), (other, below) = self._place(left), self._place(right)
        width = self.widths[one][other]
        if width is None:
            return False
        least = below - above
        return width[0] < least or (width[0] == least and (width[1] or not strict))

    # Values.

    def _place(self, value: Read | Constant) -> _Place:
        match value:
            case Constant(value=number, kind="number"):
                assert not isinstance(number, str)
                return self._point(_ZERO), number
            case Read(name=name, factor=1, offset=offset, exact=True):
                return self._point(Read(name, exact=True)), offset
            case _:
                return self._point(value), 0

    def _point(self, value: Read | Constant) -> int:
        if value not in self.numbers:
            self.numbers[value] = len(self.numbers)
            for row in self.widths:
                row.append(None)
            self.widths.append([None] * len(self.numbers))
            self.widths[-1][-1] = (0, False)
        return self.numbers[value]

    def _order_constants(self) -> None:
        """Constants that are no numbers are points of their own, and so are sums of floats: all are in order."""
        texts: dict[str, list[Constant]] = {}
        sums: dict[str, list[Read]] = {}
        for value in list(self.numbers):
            if isinstance(value, Constant) and value != _ZERO:
                texts.setdefault(value.kind, []).append(value)
            elif isinstance(value, Read) and value.factor == 1 and not value.exact:
                sums.setdefault(value.name, []).append(value)
        for found in texts.values():
            ordered: list[Constant] = sorted(found, key=lambda one: str(one.value).encode())
            self._in_order(ordered, strict=True)
        for values in sums.values():
            rising: list[Read] = sorted(values, key=lambda one: one.offset)
            self._in_order(rising, strict=False)

    def _order_multiples(self) -> bool:
        """Multiples of a value that is known not to be negative are in order; whether that is news."""
        multiples: dict[tuple[str, bool], list[Read]] = {}
        for value in list(self.numbers):
            if isinstance(value, Read) and value.offset == 0 and value.factor != 0:
                multiples.setdefault((value.name, value.exact), []).append(value)
        news = False
        for (name, exact), values in multiples.items():
            zero, plain = self.numbers[_ZERO], self.numbers.get(Read(name, exact=exact))
            known = None if plain is None else self.widths[zero][plain]
            if len(values) > 1 and (self.positive(name) or (known is not None and known[0] <= 0)):
                rising: list[Read] = sorted(values, key=lambda one: one.factor)
                news |= self._in_order(rising, strict=False)
        return news

    def _in_order(self, values: Sequence[Read | Constant], *, strict: bool) -> bool:
        found = [self._narrow(self._point(low), self._point(high), 0, strict) for low, high in pairwise(values)]
        return any(found)

    # Tests.

    def _add(self, test: Test) -> None:
        match test:
            case Presence(name=name, known=known):
                (self.present if known else self.missing).add(name)
            case Opaque(text=text, holds=holds, known=known):
                self.opaque.add((text, holds))
                self.present |= known
            case Comparison(left=left, operator=operator, right=right):
                self.present |= {side.name for side in (left, right) if isinstance(side, Read)}
                (one, above), (other, below) = self._place(left), self._place(right)
                if operator in ("<", "<=", "="):
                    self._narrow(one, other, below - above, operator == "<")
                if operator in (">", ">=", "="):
                    self._narrow(other, one, above - below, operator == ">")
                if operator == "<>":
                    self.apart |= {(one, other, below - above), (other, one, above - below)}

    def _narrow(self, one: int, other: int, width: Exact, strict: bool) -> bool:
        """Note that a point is at most so far above another; whether that is news."""
        known = self.widths[one][other]
        if known is not None and (known[0] < width or (known[0] == width and known[1] >= strict)):
            return False
        self.widths[one][other] = (width, strict)
        return True

    # What follows.

    def _close(self) -> None:
        while True:
            for middle in range(len(self.widths)):
                self._close_over(middle)
            if any(self.widths[k][k] != (0, False) for k in range(len(self.widths))):
                self.impossible = True  # a point would be below itself
                return
            if not any(list(self._sharpened())):
                return

    def _close_over(self, middle: int) -> None:
        widths = self.widths
        for one, row in enumerate(widths):
            first = row[middle]
            if first is None:
                continue
            for other, second in enumerate(widths[middle]):
                if second is not None:
                    self._narrow(one, other, first[0] + second[0], first[1] or second[1])

    def _sharpened(self) -> Iterator[bool]:
        """What differs and is at most, is less."""
        for one, other, width in self.apart:
            if self.widths[one][other] == (width, False):
                yield self._narrow(one, other, width, True)

    def _find_contradictions(self) -> None:
        both = any((text, not holds) in self.opaque for text, holds in self.opaque)
        self.impossible = self.impossible or both or bool(self.present & self.missing)


_ZERO = Constant(0)
