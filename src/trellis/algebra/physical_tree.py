"""The trees that a planner may choose for a segment pattern. Every node gives a set of segments.

`dense` sets are bands of bits, others lists of pairs. `about` is how many segments the planner thought the node gives,
where it is asked; trees that differ in that alone are equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from trellis.algebra.windows import Window

__all__ = [
    "ChosenTree",
    "Complement",
    "Filter",
    "Generate",
    "Join",
    "Meet",
    "Pad",
    "PhysicalNode",
    "Repetition",
    "Union",
    "Where",
    "bound_by",
    "filters_in",
    "gives_bits",
    "inputs_of",
    "with_binds",
]


@dataclass(frozen=True, slots=True)
class Generate:
    """Segments by window, filtered by conditions: `index` looks values up, otherwise they are computed from rows."""

    conditions: tuple[int, ...]
    window: Window
    index: bool
    dense: bool
    binds: tuple[str, ...] = ()
    about: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Join:
    """Concatenation.

    `method`: `merge` evaluates both sides, `right` the right one where the left one ends, `left` the left one where
    the right one starts. `between`: any segment of at least so many rows stands between (0: none).
    """

    left: PhysicalNode
    right: PhysicalNode
    method: str
    gap: int
    between: int
    left_optional: bool
    right_optional: bool
    window: Window
    dense: bool
    binds: tuple[str, ...] = ()
    about: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Pad:
    """The body with any segment of at least `before` (`after`) rows on that side; 0 for none."""

    body: PhysicalNode
    before: int
    after: int
    window: Window
    dense: bool
    binds: tuple[str, ...] = ()
    about: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Meet:
    """Intersection. `method` as in `Join`: a probed side looks only at what the other side found."""

    left: PhysicalNode
    right: PhysicalNode
    method: str
    window: Window
    dense: bool
    binds: tuple[str, ...] = ()
    about: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Union:
    """All segments of both sides."""

    left: PhysicalNode
    right: PhysicalNode
    window: Window
    dense: bool
    binds: tuple[str, ...] = ()
    about: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Complement:
    """The segments within the window that the body does not hold. `probe` asks the body about each of them."""

    body: PhysicalNode
    probe: bool
    window: Window
    dense: bool
    binds: tuple[str, ...] = ()
    about: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Repetition:
    """The body again and again: materialised once, then linked."""

    body: PhysicalNode
    least: int
    most: int | None
    gap: int
    window: Window
    dense: bool
    binds: tuple[str, ...] = ()
    about: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Filter:
    """The segments of the body for which conditions between its variables hold."""

    body: PhysicalNode
    conditions: tuple[int, ...]
    window: Window
    dense: bool = False
    binds: tuple[str, ...] = ()
    about: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Where:
    """The segments of the body whose `alias` is a segment of `part`, given the variables that the part `reads`."""

    body: PhysicalNode
    part: PhysicalNode
    alias: str
    reads: frozenset[str]
    window: Window
    dense: bool = False
    binds: tuple[str, ...] = ()
    about: float = field(default=0.0, compare=False)


PhysicalNode: TypeAlias = Generate | Join | Pad | Meet | Union | Complement | Repetition | Filter | Where


class ChosenTree(NamedTuple):
    """A physical tree and the nanoseconds it is thought to take."""

    cost: float
    tree: PhysicalNode


def inputs_of(node: PhysicalNode) -> tuple[PhysicalNode, ...]:
    """The nodes directly below."""
    match node:
        case Generate():
            return ()
        case Join(left=left, right=right) | Meet(left=left, right=right) | Union(left=left, right=right):
            return left, right
        case Where(body=body, part=part):
            return body, part
        case Pad(body=body) | Complement(body=body) | Repetition(body=body) | Filter(body=body):
            return (body,)


def bound_by(node: PhysicalNode) -> frozenset[str]:
    """The variables whose segments a node can tell; those inside a negation are lost."""
    own = frozenset(node.binds)
    if isinstance(node, Complement):
        return own
    return own.union(*(bound_by(below) for below in inputs_of(node)))


def with_binds(node: PhysicalNode, wanted: frozenset[str]) -> PhysicalNode:
    """The tree with the variables that somebody wants."""
    below: dict[str, PhysicalNode] = {}
    for name in ("left", "right", "body", "part"):
        inner = getattr(node, name, None)
        if inner is not None:
            below[name] = with_binds(inner, wanted)
    return replace(node, binds=tuple(name for name in node.binds if name in wanted), **below)  # type: ignore[arg-type]


def gives_bits(tree: PhysicalNode) -> bool:
    """Whether a tree gives bits. A probed intersection gives what its probed side makes of a list of segments."""
    match tree:
        case Meet(method="right", right=right):
            return gives_bits(right)
        case Meet(method="left", left=left):
            return gives_bits(left)
        case _:
            return tree.dense


def filters_in(tree: PhysicalNode) -> list[tuple[int, ...]]:
    """The conditions of all filters of a tree."""
    match tree:
        case Filter(body=body, conditions=conditions):
            return [conditions, *filters_in(body)]
        case Join(left=left, right=right) | Meet(left=left, right=right) | Union(left=left, right=right):
            return [*filters_in(left), *filters_in(right)]
        case Pad(body=body) | Repetition(body=body) | Complement(body=body):
            return filters_in(body)
        case Where(body=body, part=part):
            return [*filters_in(body), *filters_in(part)]
        case Generate():
            return []
