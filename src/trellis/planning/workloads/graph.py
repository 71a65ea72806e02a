"""The multi-pattern graph (section 4.1 of the paper) in its compact form (appendix A): which clauses have what in common.

Vertices are clauses. There is an edge between two of them that have a sub-pattern of two parts or more in common; what
they have in common is told by their *maximal* common sub-patterns, of which there can be several. No edge is stored, but
two tables: from each maximal common sub-pattern to its clauses, and from each clause to its own. A third one, from each
form to the clauses that have it, finds neighbours without looking at all pairs.
"""

from __future__ import annotations

from collections.abc import Iterable

from trellis.planning.workloads.forms import Shape

__all__ = ["PatternGraph"]


class PatternGraph:
    """Clauses, and what they have in common."""

    __slots__ = ("_holders", "_sharing")

    def __init__(self, shapes: Iterable[Shape] = ()) -> None:
        # Dictionaries without values are sets in order: the same workload gives the same plan in every process.
        self._holders: dict[int, dict[Shape, None]] = {}
        self._sharing: dict[Shape, dict[Shape, tuple[int, ...]]] = {}
        for shape in shapes:
            self.add(shape)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """All clauses."""
        return tuple(self._sharing)

    def add(self, shape: Shape) -> None:
        """Add a clause."""
        if shape in self._sharing:
            return
        neighbours: dict[Shape, None] = {}
        for form in _forms(shape):
            holders = self._holders.setdefault(form, {})
            neighbours.update(holders)
            holders[shape] = None
        self._sharing[shape] = {}
        for other in neighbours:
            self._sharing[shape][other] = self._sharing[other][shape] = maximal_common(shape, other)

    def remove(self, shape: Shape) -> None:
        """Remove a clause."""
        for form in _forms(shape):
            del self._holders[form][shape]
            if not self._holders[form]:
                del self._holders[form]
        for other in self._sharing.pop(shape):
            del self._sharing[other][shape]

    def holders(self, form: int) -> tuple[Shape, ...]:
        """The clauses that have a sub-pattern."""
        return tuple(self._holders.get(form, ()))

    def common(self, one: Shape, other: Shape) -> tuple[int, ...]:
        """The maximal common sub-patterns of two clauses."""
        return self._sharing[one].get(other, ())

    def maximal(self) -> dict[int, tuple[Shape, ...]]:
        """Each maximal common sub-pattern, and the clauses that it is one of."""
        found: dict[int, dict[Shape, None]] = {}
        for shape, others in self._sharing.items():
            for forms in others.values():
                for form in forms:
                    found.setdefault(form, {})[shape] = None
        return {form: tuple(shapes) for form, shapes in found.items()}

    def neighbours(self, shape: Shape) -> tuple[Shape, ...]:
        """The clauses that have something in common with a clause."""
        return tuple(self._sharing[shape])

    def components(self) -> list[tuple[Shape, ...]]:
        """The clauses in groups that have nothing in common with each other."""
        left = dict.fromkeys(self._sharing)
        found = []
        while left:
            first = next(iter(left))
            del left[first]
            group, pending = [first], [first]
            while pending:
                for other in self._sharing[pending.pop()]:
                    if other in left:
                        del left[other]
                        group.append(other)
                        pending.append(other)
            found.append(tuple(group))
        return found

    def shareable(self, shapes: Iterable[Shape]) -> list[int]:
        """The forms that two of some clauses or more have."""
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
