"""The multi-pattern graph (section 4.1 of the paper) in its compact form (appendix A): what clauses have in common.

Vertices are clauses. There is an edge between two of them that have a sub-pattern of two parts or more in common; what
they have in common is told by their *maximal* common sub-patterns, of which there can be several. No edge is stored,
but two tables: from each sub-pattern to the clauses that have it, and from each clause to its sub-patterns. The paper
has only the maximal ones there, and infers the others. Clauses are small, so all of them take little room; then adding
and removing a clause looks at no other clause, and nothing is inferred when the search draws at random.
"""

from __future__ import annotations

from collections.abc import Iterable

from trellis.planning.workloads.forms import Shape

__all__ = ["PatternGraph", "maximal_common"]


class PatternGraph:
    """Clauses, and what they have in common."""

    __slots__ = ("_holders", "_shapes")

    def __init__(self, shapes: Iterable[Shape] = ()) -> None:
        # Dictionaries without values are sets in order: the same workload gives the same plan in every process.
        self._shapes: dict[Shape, None] = {}
        self._holders: dict[int, dict[Shape, None]] = {}
        for shape in shapes:
            self.add(shape)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """All clauses."""
        return tuple(self._shapes)

    def add(self, shape: Shape) -> None:
        """Add a clause."""
        self._shapes[shape] = None
        for form in _forms(shape):
            self._holders.setdefault(form, {})[shape] = None

    def remove(self, shape: Shape) -> None:
        """Remove a clause."""
        del self._shapes[shape]
        for form in _forms(shape):
            del self._holders[form][shape]
            if not self._holders[form]:
                del self._holders[form]

    def holders(self, form: int) -> tuple[Shape, ...]:
        """The clauses that have a sub-pattern."""
        return tuple(self._holders.get(form, ()))

    def neighbours(self, shape: Shape) -> tuple[Shape, ...]:
        """The clauses that have something in common with a clause."""
        found = dict.fromkeys(other for form in _forms(shape) for other in self._holders[form])
        found.pop(shape, None)
        return tuple(found)

    def maximal(self) -> dict[int, tuple[Shape, ...]]:
        """Each maximal common sub-pattern of two clauses, and all clauses of which it is one."""
        found: dict[int, dict[Shape, None]] = {}
        numbers = {shape: number for number, shape in enumerate(self._shapes)}
        for shape, number in numbers.items():
            for other in self.neighbours(shape):
                if numbers[other] > number:
                    for form in maximal_common(shape, other):
                        found.setdefault(form, {}).update({shape: None, other: None})
        return {form: tuple(shapes) for form, shapes in found.items()}

    def components(self) -> list[tuple[Shape, ...]]:
        """The clauses in groups that have nothing in common with each other."""
        left = dict(self._shapes)
        found = []
        while left:
            group = [next(iter(left))]
            del left[group[0]]
            for shape in group:
                for other in self.neighbours(shape):
                    if other in left:
                        del left[other]
                        group.append(other)
            found.append(tuple(group))
        return found

    def shareable(self, shapes: Iterable[Shape]) -> list[int]:
        """The sub-patterns of some clauses that two or more have."""
        forms = dict.fromkeys(form for shape in shapes for form in _forms(shape))
        return [form for form in forms if len(self._holders[form]) > 1]


def maximal_common(one: Shape, other: Shape) -> tuple[int, ...]:
    """The common sub-patterns of two clauses that are part of no larger one."""
    common = [form for form in _forms(one) if form in other.masks]
    found = []
    for form in common:
        larger = (mask for bigger in common if bigger != form for mask in one.masks[bigger])
        sets = one.masks[form]
        if not any(inside & mask == inside for mask in larger for inside in sets):
            found.append(form)
    return tuple(found)


def _forms(shape: Shape) -> Iterable[int]:
    """The forms of a clause that have two parts or more."""
    return (form for form, masks in shape.masks.items() if masks[0] & (masks[0] - 1))
