"""Physical trees over the rows of a chunk: every operator looks only into the search space that it is given."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from trellis.algebra.physical_tree import (
    Complement,
    Filter,
    Generate,
    Join,
    Meet,
    Pad,
    PhysicalNode,
    Repetition,
    Union,
    Where,
    bound_by,
)
from trellis.algebra.windows import Window
from trellis.errors import ResourceError
from trellis.execution.segments import sets
from trellis.execution.segments.bindings import hull
from trellis.execution.segments.conditions import SegmentTester
from trellis.execution.segments.functions import Extent
from trellis.execution.segments.generate import generate, needs_index
from trellis.execution.segments.joins import join, pad
from trellis.execution.segments.logic import complement, meet, where
from trellis.execution.segments.loops import repeat
from trellis.execution.segments.rows import Rows
from trellis.execution.segments.sets import Segments, band_width
from trellis.execution.segments.spaces import (
    Space,
    contains,
    full_space,
    limits,
    unordered,
)
from trellis.execution.segments.zoom import zoom_in
from trellis.kernels.arrays import Ints, Words
from trellis.kernels.bands import mask_band

__all__ = ["Executor"]

_NOBODY: frozenset[str] = frozenset()
# Two gigabytes of starts and ends.
_MOST_HELD = 1 << 27


@dataclass(slots=True)
class Executor:
    """Runs nodes.

    `reach` is how many rows around a segment conditions may read. `found` keeps what equal nodes found in the whole of
    the rows, `actual` counts calls and segments for `explain`.
    """

    rows: Rows
    conditions: SegmentTester
    budget: int
    reach: int = 1
    spent: int = 0
    outer: dict[str, tuple[int, int]] = field(default_factory=dict)
    found: dict[tuple[PhysicalNode, frozenset[str]], Segments] = field(default_factory=dict)
    actual: dict[int, tuple[int, int]] | None = None

    def run(
        self, node: PhysicalNode, space: Space | None = None, wanted: frozenset[str] = _NOBODY, *, in_order: bool = True
    ) -> Segments:
        """The segments of a node in a space, with the bindings of the wanted variables."""
        if space is None:
            space = full_space(self.rows)
        whole = space.full and not self.outer
        # To hash a tree is to walk it: only where it may be found again.
        if whole and (node, wanted) in self.found:
            return self.found[node, wanted]
        result = self._looked(node, space, wanted) if len(space) else Segments.empty(wanted & bound_by(node))
        if in_order and not result.in_order:
            result = result.distinct()
        binds = [name for name in node.binds if name in wanted]
        if binds:
            starts, ends = result.pairs()
            own = {
                name: hull(result.bindings[name], (starts, ends)) if name in result.bindings else (starts, ends)
                for name in binds
            }
            bound = Segments((starts, ends), bindings={**result.bindings, **own})
            bound.in_order = result.in_order
            result = bound
        if self.actual is not None:
            calls, count = self.actual.get(id(node), (0, 0))
            self.actual[id(node)] = calls + 1, count + len(result)
        if whole and result.in_order:
            self.found[node, wanted] = result
        return result

    def _looked(self, node: PhysicalNode, space: Space, wanted: frozenset[str]) -> Segments:
        """Run a node; where the space is small, on the rows of the space alone."""
        plain = isinstance(node, Generate) and not (node.index and needs_index(self.conditions, node))
        if space.full or self.outer or plain:
            return self._run(node, space, wanted)
        zoom = zoom_in(self.rows, space, self.reach)
        if zoom is None:
            return self._run(node, space, wanted)
        known = self.conditions
        conditions = SegmentTester(zoom.rows, known.conditions, known.program, known.depth, known.users)
        inner = Executor(zoom.rows, conditions, self.budget, self.reach, self.spent, actual=self.actual)
        result = zoom.back(inner._run(node, zoom.space, wanted))
        self.spent = inner.spent
        return result

    def _run(self, node: PhysicalNode, space: Space, wanted: frozenset[str]) -> Segments:
        match node:
            case Generate():
                return generate(self, node, space)
            case Meet():
                return meet(self, node, space, wanted)
            case Join():
                return join(self, node, space, wanted)
            case Pad():
                return pad(self, node, space, wanted)
            case Union():
                left, right = self.run(node.left, space, wanted), self.run(node.right, space, wanted)
                if node.dense and not left.bindings and not right.bindings:
                    return self.within(self.either(left, right), node.window, space)
                return self.within(sets.union(left, right), node.window, space)
            case Complement():
                return complement(self, node, space)
            case Repetition():
                return repeat(self, node, space, wanted)
            case Filter(body=body, conditions=numbers):
                reads = frozenset(name for number in numbers for name in self.conditions.conditions[number].reads)
                if isinstance(body, Join) and numbers and not _stands_alone(body, wanted | reads):
                    joined = join(self, body, space, wanted | reads, numbers, wanted)
                    return joined.keep(wanted, self.rows.count)
                result = self.run(body, space, wanted | reads, in_order=False)
                environment = self.environment(result)
                passed = self.conditions.hold(numbers, environment, False, (1, self.rows.longest))
                return result.take(np.flatnonzero(passed)).keep(wanted, self.rows.count)
            case Where():
                return where(self, node, space, wanted)

    def spend(self, segments: int) -> None:
        """Count segments looked at; too many are an error, before memory is gone."""
        self.spent += segments
        if self.spent > self.budget:
            raise ResourceError(
                f"The search was given up: it would look at more than {self.budget:,} segments at once. "
                f"{self._longest_series()}",
                cure="Bound the pattern with a window, for example `& WIN` with SEGMENT WIN AS window(1, 100), "
                "or raise the hint step_budget.",
            )

    def room(self, segments: int) -> None:
        """Segments that are to be held at once; too many are an error, too."""
        if segments > _MOST_HELD:
            raise ResourceError(
                f"The search was given up: it would hold more than {_MOST_HELD:,} segments in memory. "
                f"{self._longest_series()}",
                cure="Make conditions stricter, or bound the pattern with a window.",
            )

    def _longest_series(self) -> str:
        """Series are searched together, and the longest has most of the segments."""
        lengths = np.diff(self.rows.offsets)
        place = int(lengths.argmax())
        where = self.rows.where(int(self.rows.offsets[place]))
        return f"The longest series among those has {lengths[place]:,} rows, from {where}."

    # Bands, spaces and windows.

    @property
    def width(self) -> int:
        """How many words a row of a band has."""
        return band_width(self.rows.longest)

    def band(self, segments: Segments) -> Words:
        """A set as bits."""
        return segments.band(self.rows.count, self.width)

    def either(self, left: Segments, right: Segments) -> Segments:
        """Both sets together, as bits."""
        return Segments(band=self.band(left) | self.band(right))

    def mask(self, space: Space) -> Words:
        """All segments of a start space."""
        low, high = np.zeros(self.rows.count, np.int64), np.full(self.rows.count, -1, np.int64)
        low[space.anchors], high[space.anchors] = space.low, space.high
        return self.limit_mask(low, high)

    def limit_mask(self, low: Ints, high: Ints) -> Words:
        """All segments that end at `low[start]` to `high[start]`."""
        every = np.arange(self.rows.count, dtype=np.int64)
        out = np.empty((self.rows.count, self.width), np.uint64)
        mask_band(low - every, high - every, out)
        return out

    def clipped(self, segments: Segments, low: Ints, high: Ints) -> Segments:
        """The segments that end at `low[start]` to `high[start]`."""
        starts, ends = segments.pairs()
        return segments.take(np.flatnonzero((low[starts] <= ends) & (ends <= high[starts])))

    def within(self, segments: Segments, window: Window, space: Space) -> Segments:
        """Only what lies in the window and in the space."""
        low, high = limits(self.rows, space, window)
        if segments.is_band and not segments.bindings:
            cut = Segments(band=self.band(segments) & self.limit_mask(low, high))
        else:
            cut = self.clipped(segments, low, high)
        return self.in_space(cut, window, space)

    def in_space(self, segments: Segments, window: Window, space: Space) -> Segments:
        """What limits by start do not say: end spaces, exact ones, and times out of order."""
        if space.kind == "start" and not unordered(self.rows, window):
            return segments
        there = contains(self.rows, space, window, *segments.pairs())
        return segments if there is None else segments.take(np.flatnonzero(there))

    # Variables of other nodes.

    def environment(self, result: Segments) -> dict[str, Extent]:
        """The segments of all variables that conditions may read."""
        return {"": result.pairs(), **self.outer_extents(len(result)), **result.bindings}

    def outer_extents(self, count: int) -> dict[str, Extent]:
        """The segments of variables outside, which are the same for all."""
        return {
            name: (np.full(count, start, np.int64), np.full(count, end, np.int64))
            for name, (start, end) in self.outer.items()
        }


def _stands_alone(node: Join, names: frozenset[str]) -> bool:
    """Whether a join gives more than pairs of its sides: one of them alone, or a variable of the whole."""
    return node.left_optional or node.right_optional or bool(names & set(node.binds))
