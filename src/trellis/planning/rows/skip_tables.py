"""How far a search may skip when an element of a linear pattern fails: the tables of optimized pattern search (OPS).

The elements are tested one after the other, each on one row, or if it is starred on as many rows as hold. When element
`j` fails, the rows before it have passed elements 1 to j - 1 and one row has not passed `j`. So it may be known that
the pattern cannot begin at some of these rows, and for the first at which it can, that its first elements pass.

After Sadri, Zaniolo, Zarkesh and Adibi, "Expressing and Optimizing Sequence Queries in Database Systems" (TODS 2004),
sections 4.2 and 5.2, with what is wrong there put right. Each correction has a test in which the printed rule fails:

- From an element without a star, the arc into the row of the failed element goes one column on.
- Two starred elements that may both hold have three arcs, also one to the next row in the same column.
- The first node of a path must be certain itself before an element is skipped.
- A starred row over an element without a star is never certain: where the element would pass is at the first row of the
  stretch, and the path goes on at its last.
- Only diagonal arcs keep the rows and the elements in step, so only those are followed to find the element to go on at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

__all__ = ["Matrix", "SkipTables", "Truth", "skip_tables"]


class Truth(Enum):
    """What is known of one condition from another."""

    YES = "1"
    NO = "0"
    UNKNOWN = "U"


Matrix = Sequence[Sequence[Truth]]
"""Of element `j` and an earlier or the same element `k`, both counted from 0."""


@dataclass(frozen=True, slots=True)
class SkipTables:
    """What to do when element `j` fails, both counted from 1; the place 0 is not used.

    The pattern moves on to the first row of the element `shift[j] + 1`, and is tested from the element `next[j]` on.
    Where `next[j]` is 0 no row that was read can begin a match: the pattern moves on to the row after the failed one.
    Where `passes[j]`, the tests go on at the failed row, and it is known to pass: the paper tests it again.
    """

    shift: tuple[int, ...]
    next: tuple[int, ...]
    passes: tuple[bool, ...]


def skip_tables(stars: Sequence[bool], passed: Matrix, failed: Matrix) -> SkipTables:
    """The tables of a pattern.

    `passed[j][k]` says whether a row that passed element `j` would pass element `k` (θ in the paper), `failed[j][k]`
    whether one that did not would (φ). It may use that such a row has not passed the element before `j` either, if that
    is starred: this is why the star ended. The paper does not, and tests long stars again from each of their rows.
    """
    shift, following, passes = [0], [0], [False]
    for j in range(1, len(stars) + 1):
        graph = _Graph(j, stars, passed, failed)
        shift.append(graph.shift())
        following.append(graph.next(shift[-1]))
        passes.append(graph.passes(shift[-1], following[-1]))
    return SkipTables(tuple(shift), tuple(following), tuple(passes))


_Node = tuple[int, int]
"""An element of the pattern where it stands, and of the pattern where it is moved on to, on the same row."""


@dataclass(frozen=True, slots=True)
class _Graph:
    """How the pattern can go along the rows that it has passed already, up to the failure of element `j`."""

    j: int
    stars: Sequence[bool]
    passed: Matrix
    failed: Matrix

    def value(self, node: _Node) -> Truth:
        row, column = node
        return (self.failed if row == self.j else self.passed)[row - 1][column - 1]

    def arcs(self, node: _Node) -> Iterator[_Node]:
        """The nodes on the row after: neither of both patterns, one or both have moved on to their next element."""
        row, column = node
        if row == self.j:
            return
        here, moved = self.stars[row - 1], self.stars[column - 1]
        arcs = [(row + 1, column + 1)]
        # A repeated element may stay; but what passes here for certain passes there as long as here.
        if here and (not moved or self.value(node) is Truth.UNKNOWN):
            arcs.append((row, column + 1))
        if moved:
            arcs.append((row + 1, column))
        yield from (arc for arc in arcs if arc[0] > arc[1] and self.value(arc) is not Truth.NO)

    def shift(self) -> int:
        """The least number of elements by which the pattern may move on."""
        starts = range(2, self.j)
        found = next((row for row in starts if self.value((row, 1)) is not Truth.NO and self._arrives((row, 1))), None)
        if found is not None:
            return found - 1
        only_last = self.j > 1 and self.value((self.j, 1)) is not Truth.NO
        return self.j - 1 if only_last else self.j

    def _arrives(self, node: _Node) -> bool:
        seen: set[_Node] = set()
        todo = [node]
        while todo:
            node = todo.pop()
            if node[0] == self.j:
                return True
            if node not in seen:
                seen.add(node)
                todo += self.arcs(node)
        return False

    def next(self, shift: int) -> int:
        """The first element that is not known to pass after the pattern has moved on."""
        if shift == self.j:
            return 0
        node = (shift + 1, 1)
        while node[0] < self.j and self._is_certain(node):
            node = (node[0] + 1, node[1] + 1)
        return node[1]

    def passes(self, shift: int, following: int) -> bool:
        """Whether the failed row is known to pass the element that the tests go on at."""
        at_failure = following > 0 and shift + following == self.j
        return at_failure and self.value((self.j, following)) is Truth.YES

    def _is_certain(self, node: _Node) -> bool:
        """Whether the element passes, and there is but one way to go on: both elements end on the same row."""
        row, column = node
        if self.value(node) is not Truth.YES or (self.stars[row - 1] and not self.stars[column - 1]):
            return False
        return list(self.arcs(node)) == [(row + 1, column + 1)]
