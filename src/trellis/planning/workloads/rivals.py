"""Other ways to plan a workload, to compare with (section 6.2.2 of the paper).

Each is what that section says of it, over the same nodes and costs; what it leaves open is said here.

- *sharing*: patterns as written, one part after the other; what begins alike is shared.
- *redundancy* (SPASS): neighbouring parts that several patterns have in common are shared by their redundancy: how many
  instances would be there again and again, for each part that is covered. Winners are chosen greedily, to approximate a
  cover by substrings, so that those of one pattern do not overlap. Nothing is reordered.
- *merge and decompose* (MOTTO): any parts in common may be shared, neighbouring or not, as its decompositions and its
  change of sequences into conjunctions allow; one pattern inside another is the merge. The directed Steiner tree is
  approximated by taking common parts in the order of what they may save, as long as the plan of all gets cheaper. A
  pattern begins with what it shares, and goes on as written: nothing else is reordered.

Patterns as written with nothing shared, and the best plan of each with nothing shared, need no more than local plans.
"""

from __future__ import annotations

from collections.abc import Sequence

from trellis.planning.workloads.forms import Forms, Shape
from trellis.planning.workloads.global_plan import GlobalPlan
from trellis.planning.workloads.graph import PatternGraph
from trellis.planning.workloads.local_plans import Choice, in_order, plan_cost

__all__ = ["plan_by_merging", "plan_by_redundancy"]


def plan_by_redundancy(forms: Forms, shapes: Sequence[Shape]) -> GlobalPlan:
    """Share neighbouring parts by their redundancy ratio."""
    found: dict[int, list[tuple[Shape, int]]] = {}
    for shape in shapes:
        for mask in _neighbouring(len(shape.clause.parts)):
            if mask in shape.forms:
                found.setdefault(shape.forms[mask], []).append((shape, mask))
    scored = []
    for form, places in found.items():
        shape, mask = places[0]
        built = plan_cost(shape, in_order(shape, _parts(mask)))
        redundancy = (len({id(one) for one, _ in places}) - 1) * built / mask.bit_count()
        if redundancy > 0.0:
            scored.append((redundancy, -form))
    blocks: dict[Shape, list[int]] = {shape: [] for shape in shapes}
    for _, negative in sorted(scored, reverse=True):
        free = {shape: mask for shape, mask in found[-negative] if not any(mask & one for one in blocks[shape])}
        if len(free) > 1:
            for shape, mask in free.items():
                blocks[shape].append(mask)
    plan = GlobalPlan(forms)
    for shape in shapes:
        plan.add(shape, _by_blocks(shape, blocks[shape]))
    return plan


def _neighbouring(count: int) -> list[int]:
    return [(1 << last + 1) - (1 << first) for first in range(count) for last in range(first + 1, count)]


def _parts(mask: int) -> list[int]:
    return [part for part in range(mask.bit_length()) if mask >> part & 1]


def _by_blocks(shape: Shape, blocks: Sequence[int]) -> Choice:
    """Blocks and single parts as written, each block by itself first. An order can begin with one block only."""
    covered = sum(blocks)
    if shape.table.left_deep:
        first = _parts(blocks[0]) if blocks else []
        return in_order(shape, [*first, *(part for part in _parts(shape.full) if part not in first)])
    singles = [1 << part for part in _parts(shape.full & ~covered)]
    choice: Choice = {}
    mask = 0
    for piece in sorted([*blocks, *singles], key=lambda piece: piece & -piece):
        choice.update(in_order(shape, _parts(piece)))
        if mask:
            choice[mask | piece] = (mask, piece)
        mask |= piece
    return choice


def plan_by_merging(forms: Forms, shapes: Sequence[Shape]) -> GlobalPlan:
    """Share any common parts, greedily by what that saves."""
    plan = GlobalPlan(forms)
    for shape in shapes:
        plan.add(shape, in_order(shape, range(len(shape.clause.parts))))
    graph = PatternGraph(shapes)
    candidates = graph.maximal()

    def saving(form: int) -> float:
        shape, mask = forms.places[form]
        return (len(graph.holders(form)) - 1) * shape.costs[mask]

    for form in sorted(candidates, key=lambda form: (-saving(form), form)):
        before = plan.total
        moved = [(shape, plan.remove(shape)) for shape in graph.holders(form)]
        for shape, _ in moved:
            first = _parts(shape.masks[form][0])
            plan.add(shape, in_order(shape, [*first, *(p for p in _parts(shape.full) if p not in first)]))
        if plan.total >= before:
            for shape, _ in reversed(moved):
                plan.remove(shape)
            for shape, removed in reversed(moved):
                plan.restore(shape, removed)
    plan.recount()
    return plan
