"""Segment patterns as plans: a logical tree with windows, and the physical trees that a planner may choose.

A segment runs from a start row to an end row of one series, both included. Every node stands for a set of segments.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from trellis.algebra.plan import Output, ProgramSpec, SliceSpec, SlotSource
from trellis.algebra.query import Boundary, RowsPerMatch, SkipTo, Wanted
from trellis.algebra.windows import TimeWindow, Window

__all__ = [
    "Both",
    "Chain",
    "Choices",
    "Complement",
    "Either",
    "Filter",
    "Function",
    "Generate",
    "Join",
    "Leaf",
    "LogicalNode",
    "Loop",
    "Meet",
    "Nested",
    "Pad",
    "PhysicalNode",
    "Present",
    "Read",
    "Repetition",
    "SegmentCondition",
    "SegmentPlan",
    "SegmentValue",
    "Threshold",
    "TimeWindow",
    "Union",
    "Where",
    "Window",
    "Without",
    "bound_by",
    "bound_in",
    "filters_in",
    "gives_bits",
    "inputs_of",
    "late_names",
    "outside_negations",
    "places_of",
    "walk_all",
    "with_binds",
]


@dataclass(frozen=True, slots=True)
class Choices:
    """What is forced instead of chosen by cost; "" chooses. For experiments, tests and support.

    `order`: `left`, `right` (deep); `join`: `merge`, `probe`; `negation`: `materialize`, `probe`; `generator`: `index`,
    `filter`; `sets`: `bands`, `pairs`.
    """

    order: str = ""
    join: str = ""
    negation: str = ""
    generator: str = ""
    sets: str = ""


# What conditions and measures read of segments.


@dataclass(frozen=True, slots=True)
class Read:
    """A slot in one row of the segment of a variable (`""`: the segment under test).

    The row is `offset` rows from the start (`from_first`) or back from the end, then `shift` rows on in the series.
    """

    slot: int
    variable: str
    from_first: bool
    offset: int = 0
    shift: int = 0


@dataclass(frozen=True, slots=True)
class Present:
    """Whether the row of a `Read` exists."""

    variable: str
    from_first: bool
    offset: int = 0
    shift: int = 0


@dataclass(frozen=True, slots=True)
class Function:
    """A function of whole segments: slots, the variable that each slot is read from, and constants."""

    name: str
    slots: tuple[int, ...]
    variables: tuple[str, ...]
    constants: tuple[float, ...] = ()


SegmentValue: TypeAlias = Read | Present | Function


@dataclass(frozen=True, slots=True)
class Threshold:
    """A condition of the commonest shape: a number of the segment against a constant.

    `step` is `-` or `/` between the last and the first value of slot `slots[0]` (`turned`: first before last), the
    name of a function, or `row` for a truth value of the last (`turned`: first) row. `comparison` is the number of the
    comparison in programs.
    """

    step: str
    slots: tuple[int, ...]
    comparison: int
    bound: float
    turned: bool = False


@dataclass(frozen=True, slots=True)
class SegmentCondition:
    """A condition: values of segments, and the program over them. `reads` are the variables in it.

    With an `owner` it is tested beside others, of the segment of that variable; where the owner has none, it holds.
    """

    values: tuple[SegmentValue, ...]
    floats: tuple[bool, ...]
    begin: int
    end: int
    text: str
    reads: frozenset[str] = frozenset()
    owner: str = ""
    threshold: Threshold | None = None


# Logical nodes. `binds` are the variables whose segment is that of the node; `conditions` are numbers.


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


# Physical nodes. `dense` sets are bands of bits, others lists of pairs.


@dataclass(frozen=True, slots=True)
class Generate:
    """Segments by window, filtered by conditions: `index` looks values up, otherwise they are computed from rows."""

    conditions: tuple[int, ...]
    window: Window
    index: bool
    dense: bool
    binds: tuple[str, ...] = ()


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


@dataclass(frozen=True, slots=True)
class Pad:
    """The body with any segment of at least `before` (`after`) rows on that side; 0 for none."""

    body: PhysicalNode
    before: int
    after: int
    window: Window
    dense: bool
    binds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Meet:
    """Intersection. `method` as in `Join`: a probed side looks only at what the other side found."""

    left: PhysicalNode
    right: PhysicalNode
    method: str
    window: Window
    dense: bool
    binds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Union:
    """All segments of both sides."""

    left: PhysicalNode
    right: PhysicalNode
    window: Window
    dense: bool
    binds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Complement:
    """The segments within the window that the body does not hold. `probe` asks the body about each of them."""

    body: PhysicalNode
    probe: bool
    window: Window
    dense: bool
    binds: tuple[str, ...] = ()


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


@dataclass(frozen=True, slots=True)
class Filter:
    """The segments of the body for which conditions between its variables hold."""

    body: PhysicalNode
    conditions: tuple[int, ...]
    window: Window
    dense: bool = False
    binds: tuple[str, ...] = ()


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


PhysicalNode: TypeAlias = Generate | Join | Pad | Meet | Union | Complement | Repetition | Filter | Where


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


def bound_in(node: LogicalNode) -> frozenset[str]:
    """The variables that a logical node binds for all to see."""
    return frozenset(name for inner in outside_negations(node) for name in inner.binds)


def places_of(node: LogicalNode, name: str) -> int:
    """In how many places a node binds a variable for all to see."""
    return sum(name in inner.binds for inner in outside_negations(node))


def late_names(node: Chain | Both | Either) -> frozenset[str]:
    """The variables that are known only when the parts of a node that look outside were asked."""
    return frozenset().union(*(bound_in(item.part) for item in node.nested))


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


@dataclass(frozen=True, slots=True)
class SegmentPlan:
    """Everything a worker needs to find segments and to write them out; pickled to the workers.

    `tracked` are the variables whose segments are kept beside each match: those that outputs or the skip read.
    `places` are the rows and `values` the functions that outputs read. `reach` is how many rows before and after a
    segment conditions may read. `choices` are what the user forces of the physical plan, `costs` the
    constants of the cost model as JSON.
    """

    keys: tuple[str, ...]
    tree: LogicalNode
    conditions: tuple[SegmentCondition, ...]
    slots: tuple[SlotSource, ...]
    scales: tuple[float, ...]
    program: ProgramSpec
    tracked: tuple[str, ...]
    places: tuple[Present, ...]
    values: tuple[Function, ...]
    outputs: tuple[tuple[str, Output], ...]
    wanted: Wanted
    skip: SkipTo
    skip_to: str
    preference: tuple[Boundary, ...]
    rows_per_match: RowsPerMatch
    reach: int
    budget: int
    chunk_rows: int
    choices: Choices
    costs: str | None = None
    slices: SliceSpec | None = None
