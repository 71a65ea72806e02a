"""The kernel that searches by skipping, on conditions that are sets of letters: it finds the same, in linear time."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Conditions
from trellis.kernels.room import longer_paths, new_matches
from trellis.kernels.skips import find_skipping
from trellis.planning.rows.skip_tables import Matrix, SkipTables, Truth, skip_tables

Elements = Sequence[frozenset[str]]


def tables_of(elements: Elements, stars: Sequence[bool], letters: frozenset[str], chance: random.Random) -> SkipTables:
    """Tables that know some of what can be known."""
    share = chance.choice((0.0, 0.5, 1.0))

    def known(one: frozenset[str], other: frozenset[str]) -> Truth:
        if chance.random() >= share:
            return Truth.UNKNOWN
        return Truth.YES if one <= other else Truth.NO if not one & other else Truth.UNKNOWN

    passed: Matrix = [[known(one, other) for other in elements[: j + 1]] for j, one in enumerate(elements)]
    ended = [elements[j - 1] if j and stars[j - 1] else frozenset() for j in range(len(elements))]
    failed = [[known(letters - one - ended[j], other) for other in elements[: j + 1]] for j, one in enumerate(elements)]
    return skip_tables(stars, passed, failed)


def search(
    elements: Elements, stars: Sequence[bool], tables: SkipTables, texts: Sequence[str], overlapping: bool
) -> tuple[list[tuple[int, str]], int]:
    """The first row and the elements of each match, and how often an element was tested; each text is a series."""
    offsets = np.append(0, np.cumsum([len(text) for text in texts]))
    rows = "".join(texts)
    numbers = np.arange(len(elements), dtype=np.int32)
    bits = np.array([[letter in element for letter in rows] for element in elements], np.bool_)
    kinds = np.full(len(elements), o.BIT, np.int32)
    nothing = np.zeros(len(elements), np.int64)
    matches, tests = new_matches(max(1, len(rows))), np.zeros(1, np.int64)
    ends, doomed = np.zeros(len(elements) + 1, np.int64), np.zeros((len(elements) + 1, 3), np.int64)
    while True:
        outcome = find_skipping(
            offsets,
            numbers,
            np.array(stars, np.bool_),
            numbers,
            np.array(tables.shift, np.int32),
            np.array(tables.next, np.int32),
            np.array(tables.passes, np.bool_),
            Conditions(kinds, numbers, nothing, nothing, bits),
            overlapping,
            ends,
            doomed,
            matches,
            tests,
        )
        if outcome == o.DONE:
            break
        matches = longer_paths(matches)
    found, used = [], 0
    for start, stop in zip(matches.starts, matches.stops, strict=True):
        if len(found) == matches.progress[2]:
            break
        path = matches.paths[used : used + stop - start]
        found.append((int(start), "".join(map(str, path))))
        used += stop - start
    return found, int(tests[0])


def slow_search(
    elements: Elements, stars: Sequence[bool], texts: Sequence[str], overlapping: bool
) -> list[tuple[int, str]]:
    """The same by the definition: every start is tried."""
    found, before = [], 0
    for text in texts:
        start = 0
        while start < len(text):
            at, path = start, ""
            for number, (element, star) in enumerate(zip(elements, stars, strict=True)):
                first = at
                while at < len(text) and text[at] in element and (star or at == first):
                    at += 1
                if at == first:
                    break
                path += str(number) * (at - first)
            else:
                found.append((before + start, path))
                start = start + 1 if overlapping else at
                continue
            start += 1
        before += len(text)
    return found


@pytest.mark.parametrize("overlapping", [False, True])
def test_skipping_finds_the_same(overlapping: bool) -> None:
    chance = random.Random(overlapping)
    for _ in range(1_000):
        letters = frozenset("abcd"[: chance.randint(2, 4)])
        elements = [frozenset(chance.sample(sorted(letters), chance.randint(1, len(letters)))) for _ in range(6)]
        elements = elements[: chance.randint(1, 6)]
        stars = [chance.random() < 0.5 for _ in elements]
        tables = tables_of(elements, stars, letters, chance)
        texts = ["".join(chance.choices(sorted(letters), k=chance.randint(0, 24))) for _ in range(2)]
        # Long stretches of one letter, through which stars go.
        texts.append("".join(letter * chance.randint(1, 6) for letter in chance.choices(sorted(letters), k=6)))
        found, tests = search(elements, stars, tables, texts, overlapping)
        assert found == slow_search(elements, stars, texts, overlapping), (elements, stars, texts, tables)
        if not found:
            assert tests <= 3 * len(elements) * sum(map(len, texts)), (elements, stars, texts, tables)


@pytest.mark.parametrize(
    ("pattern", "text"), [(". *a *b c", "a" * 500 + "b" * 500 + "d"), (". *a b c", "a" * 999 + "bd")]
)
def test_a_search_is_linear_where_little_is_known(pattern: str, text: str) -> None:
    """The rows of a star begin no attempts that go through it again and again."""
    parts = pattern.split()
    elements = [frozenset("abcd") if part == "." else frozenset(part.lstrip("*")) for part in parts]
    stars = [part.startswith("*") for part in parts]
    unknown = [[Truth.UNKNOWN] * (j + 1) for j in range(len(parts))]
    found, tests = search(elements, stars, skip_tables(stars, unknown, unknown), [text], overlapping=False)
    assert not found
    assert tests < 5 * len(text)
