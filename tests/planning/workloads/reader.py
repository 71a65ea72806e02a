"""Shared trees and clauses run by definition, slowly, on a few events: they must find the same matches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import Any

from trellis.algebra import expression as e
from trellis.algebra.clauses import Clause, Part, Window, variable_of
from trellis.algebra.expression import Expression, MemberIndex
from trellis.algebra.shared_tree import ABSENT, JoinNode, LeafNode, Root, SharedTree

Event = Mapping[str, Any]
Events = list[Event]
Taken = tuple[int, ...]
"""The positions of the events of one part."""
Match = tuple[tuple[str, Taken], ...]


def holds(test: Expression, taken: Mapping[str, Taken], events: Events) -> bool:
    return value(test, taken, events) is True


def value(node: Expression, taken: Mapping[str, Taken], events: Events) -> Any:
    """The value of an expression over events; NULL is None."""
    variable = variable_of(node, frozenset(taken))
    match node:
        case e.Name(parts=(_, column)) if variable is not None:
            return events[taken[variable][0]][column.text]
        case e.Member(index=MemberIndex.FIRST, path=(column,)) if variable is not None:
            return events[taken[variable][0]][column.text]
        case e.Literal(text=text):
            return int(text)
        case e.Operator(symbol="IS NOT NULL", operands=(operand,)):
            return value(operand, taken, events) is not None
        case e.Operator(symbol=symbol, operands=(one, other)):
            left, right = value(one, taken, events), value(other, taken, events)
            if left is None or right is None:
                return None
            return {"=": left == right, "<": left < right, "<=": left <= right}[symbol]
    raise AssertionError(node)


def fits(window: Window, positions: list[int], events: Events) -> bool:
    if window.events is not None:
        return max(positions) - min(positions) < window.events
    return window.size is None or events[max(positions)]["time"] - events[min(positions)]["time"] <= window.size


def agree(keys: tuple[e.Name, ...], positions: list[int], events: Events) -> bool:
    found = [{events[position][str(key)] for position in positions} for key in keys]
    return all(len(one) == 1 and None not in one for one in found)


def absent_places(after: list[int], before: list[int], positions: list[int], count: int) -> Iterator[int]:
    for place in range(count):
        free = place not in positions
        if free and all(place > one for one in after) and all(place < one for one in before):
            yield place


# Clauses, by definition.


def matches_of(clause: Clause, events: Events) -> set[Match]:
    found = set()
    for chosen in product(*(_takings(part, events) for part in clause.parts)):
        taken = {part.variable: one for part, one in zip(clause.parts, chosen, strict=True)}
        positions = [position for one in chosen for position in one]
        if len(set(positions)) < len(positions) or not fits(clause.window, positions, events):
            continue
        if clause.keys and not agree(clause.keys, positions, events):
            continue
        if not all(max(chosen[first]) < min(chosen[second]) for first, second in clause.order):
            continue
        tests = [test for part in clause.parts for test in part.tests]
        if not all(holds(test.expression, taken, events) for test in (*tests, *clause.conditions)):
            continue
        if not any(_is_there(clause, number, taken, events) for number in range(len(clause.absences))):
            found.add(tuple(taken.items()))
    return found


def _takings(part: Part, events: Events) -> list[Taken]:
    fitting = [place for place, event in enumerate(events) if event["type"] in part.types]
    if not part.repeated:
        return [(place,) for place in fitting]
    return [some for size in range(1, len(fitting) + 1) for some in combinations(fitting, size)]


def _is_there(clause: Clause, number: int, taken: Mapping[str, Taken], events: Events) -> bool:
    one = clause.absences[number]
    chosen = list(taken.values())
    positions = [position for some in chosen for position in some]
    after = [position for part in one.after for position in chosen[part]]
    before = [position for part in one.before for position in chosen[part]]
    for place in absent_places(after, before, positions, len(events)):
        whole = {**taken, one.event.variable: (place,)}
        if (
            events[place]["type"] in one.event.types
            and fits(clause.window, [*positions, place], events)
            and agree(clause.keys, [*positions, place], events)
            and all(holds(test.expression, whole, events) for test in (*one.event.tests, *one.conditions))
        ):
            return True
    return False


# Trees, node by node.


def matches_by_tree(tree: SharedTree, events: Events) -> dict[tuple[str, int], set[Match]]:
    instances: list[list[tuple[Taken, ...]]] = []
    for node in tree.nodes:
        if isinstance(node, LeafNode):
            instances.append(_of_leaf(node, events))
        else:
            instances.append(_of_join(node, instances[node.left], instances[node.right], events))
            assert len(set(instances[-1])) == len(instances[-1]), "an instance is there twice"
    return {(root.pattern, root.clause): set(_of_root(root, instances, events)) for root in tree.roots}


def _of_leaf(node: LeafNode, events: Events) -> list[tuple[Taken, ...]]:
    found = []
    for taken in _takings(Part("x", node.types, node.repeated), events):
        tested = all(holds(test, {"0": taken}, events) for test in node.tests)
        together = not node.keys or agree(node.keys, list(taken), events)
        if tested and together and fits(node.window, list(taken), events):
            found.append((taken,))
    return found


def _of_join(
    node: JoinNode, left: list[tuple[Taken, ...]], right: list[tuple[Taken, ...]], events: Events
) -> list[tuple[Taken, ...]]:
    found = []
    assert sorted((*node.left_slots, *node.right_slots)) == list(range(len(node.pattern.parts)))
    for one, other in product(left, right):
        slots: dict[int, Taken] = dict(zip(node.left_slots, one, strict=True))
        slots |= dict(zip(node.right_slots, other, strict=True))
        taken = {str(slot): some for slot, some in slots.items()}
        positions = [position for some in slots.values() for position in some]
        if (
            all(max(slots[first]) < min(slots[second]) for first, second in node.before)
            and not any({*slots[first]} & {*slots[second]} for first, second in node.distinct)
            and (not node.keys or agree(node.keys, [one[0][0], other[0][0]], events))
            and all(value(x.left, taken, events) == value(x.right, taken, events) is not None for x in node.equations)
            and all(holds(test, taken, events) for test in node.tests)
            and fits(node.window, positions, events)
        ):
            found.append(tuple(slots[slot] for slot in range(len(slots))))
    return found


def _of_root(root: Root, instances: list[list[tuple[Taken, ...]]], events: Events) -> Iterator[Match]:
    for instance in instances[root.node]:
        positions = [position for some in instance for position in some]
        if not fits(root.window, positions, events):
            continue
        if not any(_is_found(root, number, instance, instances, events) for number in range(len(root.absences))):
            yield tuple((variable, instance[slot]) for variable, slot in root.variables)


def _is_found(
    root: Root,
    number: int,
    instance: tuple[Taken, ...],
    instances: list[list[tuple[Taken, ...]]],
    events: Events,
) -> bool:
    one = root.absences[number]
    positions = [position for some in instance for position in some]
    after = [position for slot in one.after for position in instance[slot]]
    before = [position for slot in one.before for position in instance[slot]]
    kept = {taken[0][0] for taken in instances[one.leaf]}
    for place in absent_places(after, before, positions, len(events)):
        taken = {**{str(slot): some for slot, some in enumerate(instance)}, ABSENT: (place,)}
        if (
            place in kept
            and fits(root.window, [*positions, place], events)
            and agree(one.keys, [*positions, place], events)
            and all(holds(test, taken, events) for test in one.tests)
        ):
            return True
    return False
