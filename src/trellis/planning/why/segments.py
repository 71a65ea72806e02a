"""The parts of a segment pattern, each for itself: variables, their conditions, and how far parts join."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from trellis.algebra.bound import BoundQuery
from trellis.algebra.logical_tree import Both, Chain, Either, Leaf, LogicalNode, Loop, Without, walk_all
from trellis.algebra.plan import Plan
from trellis.algebra.query import Wanted
from trellis.algebra.segments import SegmentScan
from trellis.algebra.windows import Window
from trellis.analysis.source import Source
from trellis.planning.hints import Hints
from trellis.planning.rule import Firing
from trellis.planning.segments.plan import plan_segments

__all__ = ["SegmentPart", "plan_parts"]


@dataclass(frozen=True, slots=True)
class SegmentPart:
    """A part of a pattern as a search of its own.

    It is a `variable`, one condition of it, or (without a variable) a step: so much of the pattern as there is up to
    there, without conditions between its parts.
    """

    text: str
    scan: SegmentScan
    variable: str = ""


def plan_parts(bound: BoundQuery, source: Source, hints: Hints, rules: Firing) -> tuple[Plan, tuple[SegmentPart, ...]]:
    """The plan of a segment query, and the searches for its parts."""
    plan = plan_segments(bound, source, hints, rules)
    scan = plan.scan
    assert isinstance(scan, SegmentScan)
    parts: list[SegmentPart] = []
    for name in bound.variables:
        node = next((node for node in walk_all(scan.tree) if name in node.binds), None)
        if node is None:
            continue
        alone = _alone(node)
        parts.append(SegmentPart(_window(node.window), _search(scan, alone), name))
        for leaf in walk_all(alone):
            if isinstance(leaf, Leaf):
                for number in leaf.conditions:
                    one = Leaf((number,), leaf.window)
                    parts.append(SegmentPart(_plain(scan.conditions[number].text), _search(scan, one), name))
    for text, node in _steps(scan.tree):
        parts.append(SegmentPart(text, _search(scan, node)))
    return plan, tuple(parts)


def _search(scan: SegmentScan, node: LogicalNode) -> SegmentScan:
    return replace(scan, tree=node, tracked=(), outputs=(), places=(), values=(), wanted=Wanted.ALL, preference=())


def _steps(node: LogicalNode) -> list[tuple[str, LogicalNode]]:
    """So much of the pattern as there is up to each of its parts; last the whole, with what holds between them."""
    match node:
        case Chain(parts=parts, gap=gap, optional=optional, window=window):
            steps = _steps(parts[0]) if not optional[0] else []
            for count in range(2, len(parts) + 1):
                if all(optional[:count]):
                    continue
                bounds = window if count == len(parts) else _shorter(window)
                begun = Chain(tuple(map(_alone, parts[:count])), gap, optional[:count], bounds)
                steps.append((" ".join(map(_name, parts[:count])), begun))
        case Both(parts=parts, window=window):
            steps = _steps(parts[0])
            for count in range(2, len(parts) + 1):
                both = Both(tuple(map(_alone, parts[:count])), window)
                steps.append((" & ".join(map(_bracketed, parts[:count])), both))
        case _:
            return [(_name(node), _alone(node))]
    return steps


def _alone(node: LogicalNode) -> LogicalNode:
    """A node without what looks at variables outside of it."""
    match node:
        case Chain(parts=parts) | Both(parts=parts) | Either(parts=parts):
            return replace(node, parts=tuple(map(_alone, parts)), filters=(), nested=(), binds=())
        case Loop(body=body) | Without(body=body):
            return replace(node, body=_alone(body), binds=())
        case Leaf():
            return replace(node, binds=())


def _shorter(window: Window) -> Window:
    """What begins a match is shorter than the whole may be."""
    return Window(1, window.most, tuple(replace(time, least=None) for time in window.times if time.most is not None))


def _name(node: LogicalNode) -> str:
    """A part of the pattern as it is written, more or less."""
    named = [name for name in node.binds if "#" not in name]
    if named:
        return named[0]
    match node:
        case Chain(parts=parts):
            return " ".join(map(_bracketed, parts))
        case Both(parts=parts):
            return " & ".join(map(_bracketed, parts))
        case Either(parts=parts):
            return " | ".join(map(_bracketed, parts))
        case Loop(body=body, least=least, most=most):
            count = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((least, most))
            return f"{_bracketed(body)}{count or f'{{{least},{most or str()}}}'}"
        case Without(body=body):
            return f"~{_bracketed(body)}"
        case Leaf():
            return _window(node.window)


def _bracketed(node: LogicalNode) -> str:
    simple = isinstance(node, Leaf) or any("#" not in name for name in node.binds)
    return _name(node) if simple else f"({_name(node)})"


def _window(window: Window) -> str:
    rows = "1 row" if window.least == window.most == 1 else f"{window.least} rows or more"
    if window.most is not None and window.most > 1:
        rows = f"{window.least} to {window.most} rows"
    return ", ".join([rows, *map(str, window.times)])


def _plain(text: str) -> str:
    """A condition as people write it."""
    text = re.sub(r" OVER \w+(?=[,)])", "", text)
    text = re.sub(r"\[(\w+\([^\[\]]*\))\]", r"\1", text)
    text = re.sub(r"\[([^\[\]]*) @ (LAST|FIRST)\((\w+)\)\]", lambda found: f"{found[2].lower()}({found[1]})", text)
    text = re.sub(r"\(- (\d[\d.]*)\)", r"-\1", text)
    return text.replace("`", "")
