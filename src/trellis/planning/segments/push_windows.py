"""Windows move down the tree: what a whole may take bounds each of its parts (T-ReX, section 3).

Before and after, for `(W (DOWN & FALL) W) & WIN` with WIN of 25 to 30 rows and DOWN of 1 to 5:

    WIN 25..30 [W 1.. , (DOWN 1..5, FALL 1..5), W 1..]
    WIN 25..30 [W 1..30, (DOWN 1..5, FALL 1..5) 1..5, W 1..30]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from trellis.algebra.logical_tree import Both, Chain, Either, Leaf, LogicalNode, Loop, Without
from trellis.algebra.windows import TimeWindow, Window

__all__ = ["fewest_rows", "most_rows", "push_windows"]


def push_windows(node: LogicalNode, window: Window) -> LogicalNode:
    """The tree with every window as narrow as the nodes above and below allow."""
    natural = tuple(TimeWindow(slot, None, most) for slot, most in most_times(node).items())
    window = window & node.window & Window(fewest_rows(node), most_rows(node), natural)
    if isinstance(node, (Chain, Both, Either)) and node.nested:
        # What looks outside is a tree of its own, tested of the segment that its stand-in has.
        apart = tuple(replace(item, part=push_windows(item.part, Window())) for item in node.nested)
        node = replace(node, nested=apart)
    match node:
        case Leaf():
            return replace(node, window=window)
        case Both(parts=parts) | Either(parts=parts):
            pushed = tuple(push_windows(part, window) for part in parts)
            if isinstance(node, Both):
                for part in pushed:
                    window = window & part.window
                pushed = tuple(push_windows(part, window) for part in pushed)
            return replace(node, parts=pushed, window=window)
        case Without(body=body):
            # Within the window of the negation, nothing else of the body matters.
            return replace(node, body=push_windows(body, window), window=window)
        case Loop(body=body):
            return replace(node, body=push_windows(body, _loosened(window, 0)), window=window)
        case Chain(parts=parts, gap=gap, optional=optional):
            needs = [
                0 if absent else fewest_rows(part) - (1 - gap) for part, absent in zip(parts, optional, strict=True)
            ]
            pushed = tuple(
                push_windows(part, _loosened(window, sum(needs) - need))
                for part, need in zip(parts, needs, strict=True)
            )
            return replace(node, parts=pushed, window=window)


def _loosened(window: Window, others: int) -> Window:
    """The window of a part, where the other parts take at least so many rows besides."""
    most = None if window.most is None else max(window.most - others, 0)
    times = tuple(TimeWindow(time.slot, None, time.most) for time in window.times if time.most is not None)
    return Window(1, most, times)


def fewest_rows(node: LogicalNode) -> int:
    """How many rows a segment of the node has at least."""
    match node:
        case Leaf() | Without():
            least = 1
        case Both(parts=parts):
            least = max(map(fewest_rows, parts))
        case Either(parts=parts):
            least = min(map(fewest_rows, parts))
        case Loop(body=body, least=times, gap=gap):
            least = _linked(fewest_rows(body), times, gap)
        case Chain(parts=parts, gap=gap, optional=optional):
            rows = [fewest_rows(part) for part, absent in zip(parts, optional, strict=True) if not absent]
            rows = rows or [min(map(fewest_rows, parts))]
            least = sum(rows) - (1 - gap) * (len(rows) - 1)
    return max(least, node.window.least)


def most_rows(node: LogicalNode) -> int | None:
    """How many rows a segment of the node has at most; None is without bound."""
    most: int | None
    match node:
        case Leaf() | Without():
            most = None
        case Both(parts=parts):
            bounds = [bound for bound in map(most_rows, parts) if bound is not None]
            most = min(bounds, default=None)
        case Either(parts=parts):
            options = [most_rows(part) for part in parts]
            most = None if None in options else max(bound for bound in options if bound is not None)
        case Loop(body=body, most=times, gap=gap):
            bound = most_rows(body)
            most = None if bound is None or times is None else _linked(bound, times, gap)
        case Chain(parts=parts, gap=gap):
            rows = [most_rows(part) for part in parts]
            known = [bound for bound in rows if bound is not None]
            most = None if len(known) < len(rows) else sum(known) - (1 - gap) * (len(known) - 1)
    bounds = [bound for bound in (most, node.window.most) if bound is not None]
    return min(bounds, default=None)


def most_times(node: LogicalNode) -> dict[int, int]:
    """How much time a segment of the node takes at most, by slot; slots without bound are missing."""
    times: dict[int, int] = {}
    match node:
        case Leaf() | Without():
            pass
        case Both(parts=parts):
            for part in parts:
                for slot, most in most_times(part).items():
                    times[slot] = min(times.get(slot, most), most)
        case Either(parts=parts):
            times = _all_of([most_times(part) for part in parts], max)
        case Loop(body=body, most=most, gap=0) if most is not None:
            times = {slot: bound * most for slot, bound in most_times(body).items()}
        case Chain(parts=parts, gap=0):
            # With shared rows nothing passes between the parts.
            times = _all_of([most_times(part) for part in parts], sum)
        case Chain() | Loop():
            pass
    for time in node.window.times:
        if time.most is not None:
            times[time.slot] = min(times.get(time.slot, time.most), time.most)
    return times


def _all_of(times: list[dict[int, int]], combine: Callable[[list[int]], int]) -> dict[int, int]:
    slots = set(times[0]).intersection(*times)
    return {slot: combine([known[slot] for known in times]) for slot in slots}


def _linked(rows: int, times: int, gap: int) -> int:
    return times * rows - (1 - gap) * (times - 1)
