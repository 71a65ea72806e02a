"""Segment patterns as logical trees, with windows. Every node stands for a set of segments.

`binds` are the variables whose segment is that of the node; `conditions` are numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from trellis.algebra.windows import Window

__all__ = [
    "Both",
    "Chain",
    "Either",
    "Leaf",
    "LogicalNode",
    "Loop",
    "Nested",
    "Without",
    "bound_in",
    "late_names",
    "next_nested",
    "outside_negations",
    "places_of",
    "walk_all",
]


@dataclass(frozen=True, slots=True)
class Leaf:
    """Every segment within the window for which the conditions hold. `wild`: any segment of `least` rows or more."""

    conditions: tuple[int, ...]
    window: Window
    binds: tuple[str, ...] = ()
    wild: int = 0


@dataclass(frozen=True, slots=True)
class Nested:
    """A part that looks at variables outside of it: tested last, of the segment that `alias` stands for."""

    alias: str
    part: LogicalNode
    reads: frozenset[str]


@dataclass(frozen=True, slots=True)
class Chain:
    """The parts, one after the other; `gap` 0 shares the boundary row, 1 goes on in the next row.

    `optional[i]`: part `i` may be left out. `filters` are conditions between the variables of the parts.
    """

    parts: tuple[LogicalNode, ...]
    gap: int
    optional: tuple[bool, ...]
    window: Window
    binds: tuple[str, ...] = ()
    filters: tuple[int, ...] = ()
    nested: tuple[Nested, ...] = ()


@dataclass(frozen=True, slots=True)
class Both:
    """The segments that are in all parts."""

    parts: tuple[LogicalNode, ...]
    window: Window
    binds: tuple[str, ...] = ()
    filters: tuple[int, ...] = ()
    nested: tuple[Nested, ...] = ()


@dataclass(frozen=True, slots=True)
class Either:
    """The segments that are in some part."""

    parts: tuple[LogicalNode, ...]
    window: Window
    binds: tuple[str, ...] = ()
    filters: tuple[int, ...] = ()
    nested: tuple[Nested, ...] = ()


@dataclass(frozen=True, slots=True)
class Without:
    """The segments within the window that are not in the body."""

    body: LogicalNode
    window: Window
    binds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Loop:
    """The body, `least` to `most` times, one after the other."""

    body: LogicalNode
    least: int
    most: int | None
    gap: int
    window: Window
    binds: tuple[str, ...] = ()


LogicalNode: TypeAlias = Leaf | Chain | Both | Either | Without | Loop


def bound_in(node: LogicalNode) -> frozenset[str]:
    """The variables that a logical node binds for all to see."""
    return frozenset(name for inner in outside_negations(node) for name in inner.binds)


def places_of(node: LogicalNode, name: str) -> int:
    """In how many places a node binds a variable for all to see."""
    return sum(name in inner.binds for inner in outside_negations(node))


def late_names(node: Chain | Both | Either) -> frozenset[str]:
    """The variables that are known only when the parts of a node that look outside were asked."""
    return frozenset().union(*(bound_in(item.part) for item in node.nested))


def next_nested(waiting: Sequence[Nested]) -> Nested | None:
    """A part that can be asked before the others: it reads nothing that they bind. None if there is none."""
    late = {item.alias: bound_in(item.part) for item in waiting}
    for item in waiting:
        others = frozenset().union(*late.values()) - late[item.alias]
        if not item.reads & others:
            return item
    return None


def outside_negations(node: LogicalNode) -> list[LogicalNode]:
    """The node and everything below it whose variables can be seen from outside."""
    nodes = [node]
    match node:
        case Chain(parts=parts, nested=nested) | Both(parts=parts, nested=nested) | Either(parts=parts, nested=nested):
            for part in (*parts, *(item.part for item in nested)):
                nodes.extend(outside_negations(part))
        case Loop(body=body):
            nodes.extend(outside_negations(body))
        case Leaf() | Without():
            pass
    return nodes


def walk_all(tree: LogicalNode) -> list[LogicalNode]:
    """The node and everything below it, also parts that look outside."""
    nodes = [tree]
    match tree:
        case Chain(parts=parts, nested=nested) | Both(parts=parts, nested=nested) | Either(parts=parts, nested=nested):
            for part in (*parts, *(item.part for item in nested)):
                nodes.extend(walk_all(part))
        case Loop(body=body) | Without(body=body):
            nodes.extend(walk_all(body))
        case Leaf():
            pass
    return nodes
