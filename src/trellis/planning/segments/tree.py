"""From a pattern to its logical tree: variables become leaves, windows are embedded, references find their place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import permutations

from trellis.algebra import pattern as p
from trellis.algebra.logical_tree import Both, Chain, Either, Leaf, LogicalNode, Loop, Without
from trellis.algebra.windows import Window
from trellis.errors import UnsupportedError

__all__ = ["TreeBuilder", "meet"]


@dataclass(slots=True)
class TreeBuilder:
    """Builds the tree. `conditions` are the numbers of the conditions of each variable that look at itself only.

    An occurrence of a variable with conditions that look at others (`watching`: which) gets an alias, listed in
    `aliases`. `places` counts in how many places each variable stands.
    """

    segments: frozenset[str]
    windows: Mapping[str, Window]
    conditions: Mapping[str, tuple[int, ...]]
    watching: Mapping[str, frozenset[str]]
    places: Mapping[str, int]
    anchors: tuple[int, int] | None
    aliases: dict[str, str] = field(default_factory=dict)

    def build(self, pattern: p.Pattern) -> tuple[LogicalNode | None, bool]:
        """The tree of a pattern (None if it holds no segment at all), and whether the pattern may be left out."""
        match pattern:
            case p.Var(name=name):
                return self._leaf(name), False
            case p.Empty():
                return None, True
            case p.Concat(parts=parts, apart=apart):
                return self._between_anchors(parts, 1 if apart or not any(map(self._has_segment, parts)) else 0)
            case p.And(parts=parts):
                return self._both(parts)
            case p.Alt(options=options):
                return self._either(options)
            case p.Not(body=body):
                inner, _ = self.build(body)
                return (Leaf((), Window()) if inner is None else Without(inner, Window())), False
            case p.Repeat():
                return self._loop(pattern)
            case p.Permute(parts=parts):
                if len(parts) > 6:
                    raise UnsupportedError(
                        "PERMUTE of more than six parts in a query with segments.",
                        cure="Write the orders that you mean, as in `(A B C) | (C B A)`.",
                    )
                return self._either(tuple(p.Concat(order) for order in permutations(parts)))
            case p.Exclude(body=body):
                return self.build(body)
            case p.Check():
                raise AssertionError("only row patterns have conditions on the match so far")
            case p.Anchor():
                raise UnsupportedError(
                    f"The anchor {pattern} must stand before or after a part that has rows.",
                    cure="Put it beside a variable: `^ A`.",
                )

    def _leaf(self, name: str) -> LogicalNode:
        point = name not in self.segments
        window = Window(1, 1) if point else Window()
        window = window & self.windows.get(name, Window())
        binds: tuple[str, ...] = (name,)
        if name in self.watching:
            # Conditions that look at others are tested where these are known, of this very occurrence.
            alias = f"{name} #{len(self.aliases) + 1}"
            self.aliases[alias] = name
            binds = (name, alias)
        return _leaf(self.conditions.get(name, ()), window, binds)

    def _between_anchors(self, parts: tuple[p.Pattern, ...], gap: int) -> tuple[LogicalNode | None, bool]:
        """A concatenation; anchors at its ends are conditions of the whole."""
        first = 0
        while first < len(parts) and parts[first] == p.Anchor(True):
            first += 1
        last = len(parts)
        while last > first and parts[last - 1] == p.Anchor(False):
            last -= 1
        if first == last:
            return self.build(parts[0])
        node, absent = self._chain(parts[first:last], gap)
        if node is not None:
            for at_start, there in ((True, first > 0), (False, last < len(parts))):
                node = self._anchored(node, self._anchor(at_start)) if there else node
        return node, absent

    def _chain(self, parts: tuple[p.Pattern, ...], gap: int) -> tuple[LogicalNode | None, bool]:
        built: list[tuple[LogicalNode, bool]] = []
        opening: list[int] = []
        nullable = True
        for part in parts:
            if isinstance(part, p.Anchor):
                if part.at_start:
                    opening.append(self._anchor(True))
                elif built and not built[-1][1]:
                    built[-1] = (self._anchored(built[-1][0], self._anchor(False)), False)
                else:
                    self.build(part)
                continue
            node, absent = self.build(part)
            nullable = nullable and absent
            if node is None:
                continue
            for number in opening:
                if absent:
                    self.build(p.Anchor(True))
                node = self._anchored(node, number)
            opening = []
            built.append((node, absent))
        if opening:
            self.build(p.Anchor(True))
        if not built:
            return None, True
        if len(built) == 1:
            return built[0][0], nullable
        return Chain(tuple(node for node, _ in built), gap, tuple(absent for _, absent in built), Window()), nullable

    def _anchor(self, at_start: bool) -> int:
        assert self.anchors is not None
        return self.anchors[0 if at_start else 1]

    def _anchored(self, node: LogicalNode, condition: int) -> LogicalNode:
        return meet([node, Leaf((condition,), Window())])

    def _both(self, parts: tuple[p.Pattern, ...]) -> tuple[LogicalNode | None, bool]:
        built = [self.build(part) for part in parts]
        nodes = [node for node, _ in built if node is not None]
        nullable = all(absent for _, absent in built)
        if len(nodes) < len(parts):
            # A part without any segment has none in common with the others.
            return None, nullable
        return meet(nodes), nullable

    def _either(self, options: tuple[p.Pattern, ...]) -> tuple[LogicalNode | None, bool]:
        built = [self.build(option) for option in options]
        nodes = tuple(node for node, _ in built if node is not None)
        nullable = any(absent for _, absent in built)
        if len(nodes) < 2:
            return (nodes[0] if nodes else None), nullable
        return Either(nodes, Window()), nullable

    def _loop(self, pattern: p.Repeat) -> tuple[LogicalNode | None, bool]:
        least, most = p.counts(pattern)
        body, absent = self.build(pattern.body)
        if body is None or most == 0:
            return None, True
        nullable = least == 0 or absent
        # Iterations without rows do not count: a body that may be absent needs to be there once.
        least = 1 if absent else max(least, 1)
        if most == 1 and not self._has_scope(pattern.body):
            # One turn is no loop.
            return body, nullable
        gap = 0 if self._has_segment(pattern.body) else 1
        return Loop(body, least, most, gap, Window()), nullable

    def _has_scope(self, body: p.Pattern) -> bool:
        """Whether a condition inside reads a variable that stands inside, and also outside: it means the one inside."""
        inside = Counter(node.name for node in p.walk(body) if isinstance(node, p.Var))
        read = {name for variable in inside for name in self.watching.get(variable, ())}
        return any(inside[name] and inside[name] < self.places[name] for name in read)

    def _has_segment(self, pattern: p.Pattern) -> bool:
        return any(isinstance(node, p.Var) and node.name in self.segments for node in p.walk(pattern))


def _leaf(conditions: tuple[int, ...], window: Window, binds: tuple[str, ...]) -> LogicalNode:
    """A leaf; several conditions become several leaves, so that each can be tested when it pays."""
    if len(conditions) <= 1:
        wild = window.least if not conditions and window.most is None and not window.times else 0
        return Leaf(conditions, window, binds, wild)
    return Both(tuple(Leaf((number,), window) for number in conditions), window, binds)


def meet(nodes: list[LogicalNode]) -> LogicalNode:
    """The intersection; windows alone are embedded in the other parts (the paper's first rewrite rule)."""
    window = Window()
    binds: tuple[str, ...] = ()
    parts: list[LogicalNode] = []
    for node in nodes:
        if isinstance(node, Leaf) and not node.conditions:
            window, binds = window & node.window, (*binds, *node.binds)
        elif isinstance(node, Both) and not node.filters and not node.nested:
            window, binds = window & node.window, (*binds, *node.binds)
            parts.extend(node.parts)
        else:
            parts.append(node)
    binds = tuple(dict.fromkeys(binds))
    if not parts:
        leaf = _leaf((), window, binds)
        return leaf
    if len(parts) == 1:
        return replace(parts[0], window=parts[0].window & window, binds=tuple(dict.fromkeys((*parts[0].binds, *binds))))
    # All parts have one window: their conditions are sampled, and tested, of the same segments.
    for part in parts:
        window = window & part.window
    return Both(tuple(replace(part, window=window) for part in parts), window, binds)
