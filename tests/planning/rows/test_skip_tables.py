"""The tables against the search without them, on conditions that are sets of letters, and the paper's own tables."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from trellis.planning.rows.skip_tables import Matrix, SkipTables, Truth, skip_tables

YES, NO, UNKNOWN = Truth.YES, Truth.NO, Truth.UNKNOWN


def matrix(text: str) -> Matrix:
    """Rows of `1`, `0` and `U`."""
    return [[Truth(letter) for letter in row] for row in text.split()]


def relations(
    elements: Sequence[frozenset[str]], letters: frozenset[str], stars: Sequence[bool] = ()
) -> tuple[Matrix, Matrix]:
    """What is known of elements that are sets of letters; with `stars`, also of the end of a star."""

    def known(one: frozenset[str], other: frozenset[str]) -> Truth:
        return YES if one <= other else NO if not one & other else UNKNOWN

    passed = [[known(one, other) for other in elements[: j + 1]] for j, one in enumerate(elements)]
    ended = [elements[j - 1] if stars and j and stars[j - 1] else frozenset() for j in range(len(elements))]
    failed = [[known(letters - one - ended[j], other) for other in elements[: j + 1]] for j, one in enumerate(elements)]
    return passed, failed


def slow_search(elements: Sequence[frozenset[str]], stars: Sequence[bool], text: str) -> list[tuple[int, ...]]:
    """Where each element of each match ends, after the row at which it begins."""
    found, start = [], 0
    while start < len(text):
        at, ends = start, [start]
        for element, star in zip(elements, stars, strict=True):
            first = at
            while at < len(text) and text[at] in element and (star or at == first):
                at += 1
            if at == first:
                break
            ends.append(at)
        if len(ends) > len(elements):
            found.append(tuple(ends))
            start = at
        else:
            start += 1
    return found


def search(
    elements: Sequence[frozenset[str]], stars: Sequence[bool], tables: SkipTables, text: str
) -> list[tuple[int, ...]]:
    """The same by the tables: `ends[t]` is where element t ends."""
    found, m = [], len(elements)
    at, j, taken = 0, 1, False
    ends = [0] * (m + 1)
    while True:
        if j > m or (j == m and at == len(text) and taken):
            found.append(tuple(ends))
            ends, j, taken = [at] * (m + 1), 1, False
            continue
        if at == len(text):
            return found
        if text[at] in elements[j - 1]:
            at += 1
            ends[j] = at
            j, taken = (j, True) if stars[j - 1] else (j + 1, False)
        elif taken:
            j, taken = j + 1, False
        elif tables.next[j] == 0:
            at += 1
            ends, j = [at] * (m + 1), 1
        else:
            ends = ends[tables.shift[j] :] + [0] * tables.shift[j]
            passes = tables.passes[j]
            j = tables.next[j]
            at = ends[j - 1]
            if passes:
                at += 1
                ends[j] = at
                j, taken = (j, True) if stars[j - 1] else (j + 1, False)


@pytest.mark.parametrize("seed", range(4))
def test_skipping_finds_the_same(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(1_500):
        letters = frozenset("abcd"[: chance.randint(2, 4)])
        elements = [frozenset(chance.sample(sorted(letters), chance.randint(1, len(letters)))) for _ in range(5)]
        elements = elements[: chance.randint(1, 5)]
        stars = [chance.random() < 0.5 for _ in elements]
        passed, failed = relations(elements, letters, stars if chance.random() < 0.7 else ())
        if chance.random() < 0.3:  # Not everything is known.
            passed = [[one if chance.random() < 0.7 else UNKNOWN for one in row] for row in passed]
            failed = [[one if chance.random() < 0.7 else UNKNOWN for one in row] for row in failed]
        tables = skip_tables(stars, passed, failed)
        for _ in range(3):
            text = "".join(chance.choices(sorted(letters), k=chance.randint(0, 16)))
            told = (elements, stars, text, tables)
            assert search(elements, stars, tables, text) == slow_search(elements, stars, text), told


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        # The arc into the row of the failed element; three arcs of two stars; the first node; a starred row; diagonals.
        ("ab abc ab", "bacba"),
        ("*ab *bc *a b", "aaaabcbbacabab"),
        ("a ab b", "abab"),
        ("b a *b a a", "babbbabaa"),
        ("*a *b a *b", "abaabab"),
        ("*a *ab", "ab"),
    ],
)
def test_where_printed_rules_fail(pattern: str, text: str) -> None:
    words = pattern.split()
    elements, stars = [frozenset(word.lstrip("*")) for word in words], [word.startswith("*") for word in words]
    tables = skip_tables(stars, *relations(elements, frozenset("abc")))
    assert search(elements, stars, tables, text) == slow_search(elements, stars, text)


def test_the_papers_tables_without_stars() -> None:
    """Examples 4.1 to 4.3."""
    passed, failed = matrix("1 11 001 00U1"), matrix("0 U0 UU0 UU00")
    tables = skip_tables([False] * 4, passed, failed)
    assert tables.shift[1:] == (1, 1, 1, 3)
    assert tables.next[1:] == (0, 1, 2, 1)


def test_the_papers_tables_with_stars() -> None:
    """Example 5.3; the last row of φ is printed with an element too few."""
    stars = [True, False, True, True, False, True, False]
    passed = matrix("1 U1 0U1 1U01 U1UU1 0U10U1 U0UU0U1")
    failed = matrix("0 U0 UU0 0UU0 UUUU0 UU0UU0 UUUUUU0")
    tables = skip_tables(stars, passed, failed)
    assert (tables.shift[6], tables.next[6]) == (3, 1)
