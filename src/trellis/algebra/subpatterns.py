"""Sub-patterns: what a clause says of some of its parts alone, in a form that does not depend on names or on order.

Two sub-patterns are equal values if and only if there is a way to map the parts of one to those of the other under
which types, tests, order, conditions and keys are the same. That is what patterns may share. Windows are no part of it.

The form is found as graphs are put into one: parts are told apart by what is known of them, then by what is known of
those that they are compared with, and so on; where several ways are left, the least text of all decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trellis.algebra.clauses import Clause

__all__ = ["Projector", "SubPattern"]

_Ranks = dict[int, int]
_Encoded = tuple[tuple[tuple[int, int], ...], tuple[tuple[str, tuple[int, ...]], ...]]


@dataclass(frozen=True, slots=True)
class SubPattern:
    """Parts in numbered slots, pairs of slots in order, conditions between slots, and columns in which all agree."""

    parts: tuple[str, ...]
    order: tuple[tuple[int, int], ...] = ()
    conditions: tuple[tuple[str, tuple[int, ...]], ...] = ()
    keys: tuple[str, ...] = ()

    def __str__(self) -> str:
        size = len(self.parts)
        total = len(self.order) == size * (size - 1) // 2
        rank = [sum(second == slot for _, second in self.order) for slot in range(size)]
        slots = sorted(range(size), key=rank.__getitem__) if total else list(range(size))
        words = ", ".join(f"{self.parts[slot]} {slot}" for slot in slots)
        text = words if size == 1 else f"{'SEQ' if total else 'AND'}({words})"
        tests = [f"[{', '.join(self.keys)}]"] if self.keys else []
        tests += [] if total else [f"{first} -> {second}" for first, second in self.order]
        for template, reads in self.conditions:
            for place, slot in enumerate(reads):
                template = template.replace(f"`?{place}`", f"{slot}")
            tests.append(template)
        return f"{text} {{ {' AND '.join(tests)} }}" if tests else text


class Projector:
    """A clause, ready to be projected on sets of its parts; a set is a number with a bit for each part."""

    __slots__ = ("_conditions", "_keys", "_labels", "_order", "_repeated", "_size")

    def __init__(self, clause: Clause) -> None:
        numbers = {part.variable: number for number, part in enumerate(clause.parts)}
        self._size = len(clause.parts)
        self._labels = [part.label for part in clause.parts]
        self._repeated = sum(1 << number for number, part in enumerate(clause.parts) if part.repeated)
        self._order = [(1 << first | 1 << second, first, second) for first, second in clause.order]
        self._conditions = []
        for one in clause.conditions:
            reads = tuple(numbers[variable] for variable in one.variables)
            self._conditions.append((sum(1 << part for part in reads), one.template, reads, one.symmetric))
        self._keys = tuple(sorted(map(str, clause.keys)))

    def project(self, mask: int) -> tuple[SubPattern, tuple[int, ...]]:
        """The sub-pattern of some parts, and which part is in each of its slots."""
        parts = [part for part in range(self._size) if mask >> part & 1]
        order = [(first, second) for pair, first, second in self._order if pair & mask == pair]
        conditions = [one for one in self._conditions if one[0] & mask == one[0]]
        keys = self._keys if len(parts) > 1 or mask & self._repeated else ()
        labels = self._labels
        if len({labels[part] for part in parts}) == len(parts):
            parts.sort(key=labels.__getitem__)
        else:
            parts = _Search(labels, parts, order, conditions).best()
        ranks = {part: rank for rank, part in enumerate(parts)}
        encoded = _encode(ranks, order, conditions)
        return SubPattern(tuple(labels[part] for part in parts), *encoded, keys), tuple(parts)


_Conditions = Sequence[tuple[int, str, tuple[int, ...], bool]]


def _encode(ranks: _Ranks, order: Sequence[tuple[int, int]], conditions: _Conditions) -> _Encoded:
    tests = []
    for _, template, reads, symmetric in conditions:
        slots = [ranks[part] for part in reads]
        tests.append((template, tuple(sorted(slots) if symmetric else slots)))
    # A condition that is written twice says nothing more.
    return tuple(sorted((ranks[first], ranks[second]) for first, second in order)), tuple(sorted(set(tests)))


class _Search:
    """The numbering of parts that gives the least text, among those that what is known of parts leaves open."""

    __slots__ = ("conditions", "labels", "order", "parts")

    def __init__(
        self, labels: list[str], parts: list[int], order: list[tuple[int, int]], conditions: _Conditions
    ) -> None:
        self.parts, self.order, self.conditions, self.labels = parts, order, conditions, labels

    def best(self) -> list[int]:
        """The parts in the order of their slots."""
        names = sorted({self.labels[part] for part in self.parts})
        colours = {part: names.index(self.labels[part]) for part in self.parts}
        ranks = self._least(colours)
        return sorted(self.parts, key=ranks.__getitem__)

    def _least(self, colours: _Ranks) -> _Ranks:
        """The best numbering of those that keep parts of different colours in the order of these."""
        colours = self._refined(colours)
        cells: dict[int, list[int]] = {}
        for part, colour in colours.items():
            cells.setdefault(colour, []).append(part)
        open_cells = sorted(colour for colour, cell in cells.items() if len(cell) > 1)
        if not open_cells:
            return {part: rank for rank, part in enumerate(sorted(self.parts, key=colours.__getitem__))}
        cell = cells[open_cells[0]]
        tried: list[int] = []
        found: list[_Ranks] = []
        for part in cell:
            # Twins, which can change places without a trace, give the same texts.
            if any(self._are_twins(part, other) for other in tried):
                continue
            tried.append(part)
            first = {one: 2 * colour + (one != part and colour == open_cells[0]) for one, colour in colours.items()}
            found.append(self._least(first))
        return min(found, key=lambda ranks: _encode(ranks, self.order, self.conditions))

    def _refined(self, colours: _Ranks) -> _Ranks:
        """Parts that differ in what they are ordered before, after, or compared with, get different colours."""
        while True:
            known: dict[int, list[tuple[object, ...]]] = {part: [] for part in self.parts}
            for first, second in self.order:
                known[first].append(("before", colours[second]))
                known[second].append(("after", colours[first]))
            for _, template, reads, symmetric in self.conditions:
                for place, part in enumerate(reads):
                    others = tuple(colours[other] for other in reads)
                    known[part].append(
                        (template, -1, tuple(sorted(others))) if symmetric else (template, place, others)
                    )
            signatures = {part: (colours[part], tuple(sorted(map(repr, known[part])))) for part in self.parts}
            names = sorted(set(signatures.values()))
            numbers = {name: number for number, name in enumerate(names)}
            refined = {part: numbers[name] for part, name in signatures.items()}
            if len(names) == len(set(colours.values())):
                return refined
            colours = refined

    def _are_twins(self, one: int, other: int) -> bool:
        plain = {part: part for part in self.parts}
        swapped = {**plain, one: other, other: one}
        return _encode(plain, self.order, self.conditions) == _encode(swapped, self.order, self.conditions)
