"""Conditions between variables are tested where all variables that they read are known.

The body of a quantifier or of a negation is a *scope*: a condition in it sees the variables of its own iteration. A
variable that its scope does not bind is space for in the scope around. Before and after, for `A W (B & INC)` where
the condition of INC reads A:

    A, W, (B, INC)
    (A, W, (B, INC)) filtered by the condition of INC

A quantified or negated part that looks outside is taken out whole: in its place any segment may stand, which is asked
about when the variables outside are known (`Nested`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from trellis.algebra.logical_tree import (
    Both,
    Chain,
    Either,
    Leaf,
    LogicalNode,
    Loop,
    Nested,
    Without,
    bound_in,
    places_of,
)
from trellis.errors import BindingError

__all__ = ["Lifted", "place_filters"]


@dataclass(frozen=True, slots=True)
class Lifted:
    """The conditions of an alias that look at other variables: their numbers, and what they read."""

    numbers: tuple[int, ...]
    reads: frozenset[str]


def place_filters(tree: LogicalNode, lifted: Mapping[str, Lifted], *, early: bool) -> LogicalNode:
    """Put every condition that looks at other variables into the tree; `lifted` has those of each alias.

    `early` as far down as possible, otherwise at the top of its scope.
    """
    if not lifted:
        return tree
    placed, free = _Scope(tree, lifted, count(1), early).run()
    for name in sorted(free):
        raise BindingError(
            f"A condition reads {name}, which has no segment that it could see.",
            cure="A variable inside ~ is unknown outside of it.",
        )
    return placed


@dataclass(slots=True)
class _Scope:
    """One scope: the tree that it is, and what its conditions read of scopes around it."""

    tree: LogicalNode
    lifted: Mapping[str, Lifted]
    numbers: Iterator[int]
    early: bool
    free: set[str] = field(default_factory=set)

    def run(self) -> tuple[LogicalNode, frozenset[str]]:
        """The tree with its filters, and the variables outside that these read."""
        placed, waiting = self._place(self.tree)
        assert not waiting, waiting
        return placed, frozenset(self.free)

    def _place(self, node: LogicalNode) -> tuple[LogicalNode, list[Lifted | Nested]]:
        waiting: list[Lifted | Nested] = [self.lifted[name] for name in node.binds if name in self.lifted]
        changed: LogicalNode = node
        match node:
            case Leaf():
                pass
            case Chain(parts=parts) | Both(parts=parts) | Either(parts=parts):
                placed = []
                for part in parts:
                    inner, more = self._place(part)
                    placed.append(inner)
                    waiting.extend(more)
                changed = replace(node, parts=tuple(placed))
            case Loop(body=body) | Without(body=body):
                inner, free = _Scope(body, self.lifted, self.numbers, self.early).run()
                changed = replace(node, body=inner)
                if free:
                    # The variables of a loop stay bound by it; the stand-in only has the segment.
                    nested = Nested(f"part #{next(self.numbers)}", replace(changed, binds=()), free)
                    stand_in = Leaf((), node.window, (nested.alias,))
                    changed = Both((stand_in,), node.window, node.binds)
                    waiting.append(nested)
        return self._settle(node, changed, waiting)

    def _settle(
        self, original: LogicalNode, node: LogicalNode, waiting: list[Lifted | Nested]
    ) -> tuple[LogicalNode, list[Lifted | Nested]]:
        """Test here what can be tested here: all places of the variables that it reads are in this node."""
        here: list[Lifted | Nested] = []
        further: list[Lifted | Nested] = []
        for item in waiting:
            inner = [name for name in item.reads if places_of(self.tree, name) > 0]
            known = all(places_of(original, name) == places_of(self.tree, name) for name in inner)
            known = known and (self.early or original is self.tree)
            (here if known else further).append(item)
            self.free.update(item.reads - set(inner))
        # What a part that still waits binds is not known yet.
        while here:
            unknown = frozenset().union(*(bound_in(item.part) for item in further if isinstance(item, Nested)))
            late = [item for item in here if item.reads & unknown]
            if not late:
                break
            here = [item for item in here if not item.reads & unknown]
            further += late
        if here:
            filters = tuple(number for item in here if isinstance(item, Lifted) for number in item.numbers)
            nested = tuple(item for item in here if isinstance(item, Nested))
            if not isinstance(node, (Chain, Both, Either)):
                node = Both((node,), node.window, ())
            node = replace(node, filters=(*node.filters, *filters), nested=(*node.nested, *nested))
        return node, further
