"""One plan for many event patterns: a graph of nodes, each of which holds the instances of a sub-pattern.

An instance fills the *slots* of its node with events, or with sets of events where a part is repeated. Expressions name
slots as they stand: `` `0`.price ``. A node is used by all that stand above it, and by the patterns whose root it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trellis.algebra.clauses import Window
from trellis.algebra.expression import Expression, Name
from trellis.algebra.subpatterns import SubPattern

__all__ = ["ABSENT", "AbsenceTest", "Equation", "JoinNode", "LeafNode", "Root", "SharedTree", "SlotOrder"]

ABSENT = "absent"
"""How expressions name the event that must be absent."""

SlotOrder = tuple[tuple[int, int], ...]
"""Pairs of slots; the event of the first is the earlier."""


@dataclass(frozen=True, slots=True)
class LeafNode:
    """Events of some types that pass tests; in slot 0 one of them, or a set that is not empty (`repeated`).

    Of a set, all events agree in the columns `keys`.
    """

    pattern: SubPattern
    window: Window
    types: tuple[str, ...]
    repeated: bool = False
    tests: tuple[Expression, ...] = ()
    keys: tuple[Name, ...] = ()
    estimate: float = 0.0


@dataclass(frozen=True, slots=True)
class Equation:
    """A value of an event on the left that equals one of an event on the right; either can be looked up by it."""

    left: Expression
    right: Expression

    def __str__(self) -> str:
        return f"{self.left} = {self.right}"


@dataclass(frozen=True, slots=True)
class JoinNode:
    """Instances of two nodes that fit together: what fills slot k on the left fills slot `left_slots[k]` here.

    All else is about slots of this node. `before` are pairs in order, one from each side; `distinct` are pairs that
    could hold the same event otherwise, and must not. All events of both sides agree in the columns `keys`, and
    `equations` hold: by both, instances can be looked up. `tests` are what is left. The window is the largest of those
    that use the node.
    """

    pattern: SubPattern
    window: Window
    left: int
    right: int
    left_slots: tuple[int, ...]
    right_slots: tuple[int, ...]
    before: SlotOrder = ()
    distinct: SlotOrder = ()
    keys: tuple[Name, ...] = ()
    equations: tuple[Equation, ...] = ()
    tests: tuple[Expression, ...] = ()
    estimate: float = 0.0


@dataclass(frozen=True, slots=True)
class AbsenceTest:
    """No event of a leaf is after all of some slots and before all of others and passes the tests.

    Where there is nothing before or after it, the window of the pattern bounds it. It agrees with all events in the
    columns `keys`, and is none of those of the match.
    """

    leaf: int
    after: tuple[int, ...]
    before: tuple[int, ...]
    keys: tuple[Name, ...] = ()
    tests: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Root:
    """A clause of a pattern: its matches are the instances of a node that its own window and absences leave.

    `variables` are those of the pattern, each with its slot, in the order in which they are written.
    """

    pattern: str
    clause: int
    node: int
    variables: tuple[tuple[str, int], ...]
    window: Window
    absences: tuple[AbsenceTest, ...] = ()


@dataclass(frozen=True, slots=True)
class SharedTree:
    """Nodes, each behind those that it is made of, and the roots of all patterns."""

    nodes: tuple[LeafNode | JoinNode, ...]
    roots: tuple[Root, ...]

    def users(self) -> tuple[tuple[str, ...], ...]:
        """The patterns that need each node, in the order of the roots."""
        ranks = {root.pattern: rank for rank, root in enumerate(self.roots)}
        found: list[dict[str, None]] = [{} for _ in self.nodes]
        for root in self.roots:
            found[root.node][root.pattern] = None
            for absence in root.absences:
                found[absence.leaf][root.pattern] = None
        for number in range(len(self.nodes) - 1, -1, -1):
            node = self.nodes[number]
            if isinstance(node, JoinNode):
                found[node.left].update(found[number])
                found[node.right].update(found[number])
        return tuple(tuple(sorted(names, key=ranks.__getitem__)) for names in found)

    @property
    def estimate(self) -> float:
        """How many instances all nodes are thought to hold at a time."""
        return sum(node.estimate for node in self.nodes)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for number, (node, names) in enumerate(zip(self.nodes, self.users(), strict=True)):
            made = f"= #{node.left} x #{node.right}  " if isinstance(node, JoinNode) else ""
            shared = names[0] if len(names) == 1 else f"{len(names)} patterns"
            yield f"#{number}  {made}{node.pattern}  WITHIN {node.window}  [{shared}]"
        for root in self.roots:
            slots = ", ".join(f"{name} = {slot}" for name, slot in root.variables)
            absent = "".join(f", none of #{one.leaf}" for one in root.absences)
            yield f"{root.pattern}  #{root.node}  {slots}  WITHIN {root.window}{absent}"
