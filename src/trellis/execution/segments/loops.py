"""Quantifiers: a part again and again, materialised once, then linked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trellis.algebra.physical_tree import Repetition
from trellis.algebra.windows import Window
from trellis.execution.segments import sets
from trellis.execution.segments.bindings import combine, following_places
from trellis.execution.segments.joins import join_bands, link
from trellis.execution.segments.sets import Segments
from trellis.execution.segments.spaces import Space, inside, left_of, limits
from trellis.kernels.arrays import Ints
from trellis.kernels.bands import close_band
from trellis.kernels.pairs import chain_pairs, concat_pairs

if TYPE_CHECKING:
    from trellis.execution.segments.executor import Executor

__all__ = ["repeat"]


def repeat(executor: Executor, node: Repetition, space: Space, wanted: frozenset[str]) -> Segments:
    """Chains of the body's segments, as many as the quantifier allows."""
    below = inside(executor.rows, space)
    body = executor.run(node.body, below, wanted)
    # On the way a chain may be shorter than the window asks for.
    growing = Window(1, node.window.most, tuple(replace(time, least=None) for time in node.window.times))
    low, high = limits(executor.rows, left_of(executor.rows, space), growing)
    if body.bindings:
        return executor.within(_with_bindings(executor, body, node, low, high), node.window, space)
    power = body
    for _ in range(node.least - 1):
        power = _once_more(executor, power, body, node, low, high)
    result = power
    if node.most is None:
        result = _closed(executor, power, body, node, low, high)
    else:
        for _ in range(node.most - node.least):
            power = _once_more(executor, power, body, node, low, high)
            grown = sets.union(result, power) if not node.dense else executor.either(result, power)
            if len(grown) == len(result):
                break
            result = grown
    return executor.within(result, node.window, space)


def _once_more(
    executor: Executor, power: Segments, body: Segments, node: Repetition, low: Ints, high: Ints
) -> Segments:
    if node.dense:
        return join_bands(executor, power, body, node.gap, False, low, high)
    return link(executor, concat_pairs, power, body, node.gap, low, high)


def _closed(executor: Executor, power: Segments, body: Segments, node: Repetition, low: Ints, high: Ints) -> Segments:
    if not node.dense:
        return link(executor, chain_pairs, power, body, node.gap, low, high)
    out = executor.band(power) & executor.limit_mask(low, high)
    executor.spend(close_band(executor.band(body), node.gap, out))
    out &= executor.limit_mask(low, high)
    return Segments(band=out)


def _with_bindings(executor: Executor, body: Segments, node: Repetition, low: Ints, high: Ints) -> Segments:
    """One chain for each combination of bindings; a variable is bound to the rows from its first to its last."""

    def once_more(power: Segments) -> Segments:
        left, right = following_places(executor.rows, power, body, node.gap, False, low, high, executor.spend)
        starts, ends = power.pairs()[0][left], body.pairs()[1][right]
        return combine((starts, ends), power, body, left, right).distinct()

    power = body
    for _ in range(node.least - 1):
        power = once_more(power)
    result = power
    turn = node.least
    while node.most is None or turn < node.most:
        power = once_more(power)
        grown = sets.union(result, power)
        if len(grown) == len(result) or len(power) == 0:
            break
        result, turn = grown, turn + 1
    return result
