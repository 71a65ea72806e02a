"""The nodes that a global plan needs when it runs: whose window each has, and what it is put together from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trellis.algebra.clauses import Clause, Part
from trellis.planning.workloads.forms import Shape
from trellis.planning.workloads.global_plan import GlobalPlan
from trellis.planning.workloads.local_plans import Choice

__all__ = ["choice_of", "distinct_parts", "halves", "is_between", "widest"]


def widest(plan: GlobalPlan) -> dict[int, Shape]:
    """All nodes by their forms, also those that no plan counts; each with the clause whose window is the largest."""
    found: dict[int, Shape] = {}
    for shape in plan.roots:
        pending = [shape.forms[shape.full], *shape.absent]
        while pending:
            form = pending.pop()
            known = found.get(form)
            if known is not None and (known.clause.window.size or 0.0) >= (shape.clause.window.size or 0.0):
                continue
            found[form] = shape
            pending += _made_of(plan, form)
    return found


def _made_of(plan: GlobalPlan, form: int) -> tuple[int, ...]:
    inside = plan.splits.get(form, ())
    if len(inside) != 1:
        return inside
    # Of an order, only the prefix is a node of the plan.
    shape, mask = plan.forms.places[form]
    left, right = halves(plan, shape, mask)
    return shape.forms[left], shape.forms[right]


def halves(plan: GlobalPlan, shape: Shape, mask: int) -> tuple[int, int]:
    """Two sets of parts, of the forms that a node is made of, which are all of its parts together."""
    inside = plan.splits[shape.forms[mask]]
    for left in shape.masks[inside[0]]:
        right = mask & ~left
        if left & mask == left and (len(inside) == 1 or shape.forms.get(right) == inside[1]):
            return left, right
    raise AssertionError("a node is not made of what the plan says")


def choice_of(plan: GlobalPlan, shape: Shape) -> Choice:
    """How a plan puts the sets of parts of one clause together."""
    found: Choice = {}
    pending = [shape.full]
    while pending:
        mask = pending.pop()
        inside = plan.splits[shape.forms[mask]]
        if inside:
            left, right = halves(plan, shape, mask)
            found[mask] = (left, right) if len(inside) > 1 else (left, 0)
            pending += (left, right) if len(inside) > 1 else (left,)
    return found


def is_between(one: int, other: int, left: int, right: int) -> bool:
    """Whether two parts are in different ones of two sets."""
    return bool((left >> one & right >> other & 1) or (right >> one & left >> other & 1))


def distinct_parts(clause: Clause, left: int, right: int, slots: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Slots on both sides that no order keeps apart, and whose types are not different."""
    ordered = {frozenset(pair) for pair in clause.order}
    for one in _parts(left):
        for other in _parts(right):
            if frozenset((one, other)) not in ordered and _meet(clause.parts[one], clause.parts[other]):
                first, second = sorted((slots[one], slots[other]))
                yield first, second


def _parts(mask: int) -> Iterable[int]:
    return (part for part in range(mask.bit_length()) if mask >> part & 1)


def _meet(one: Part, other: Part) -> bool:
    return not {*one.types}.isdisjoint(other.types)
