"""The choice of a physical tree: dynamic programming over the parts of chains and intersections (T-ReX, section 5).

Costs depend on the search space that a node is given, so every estimate is made for a space: all rows, a number of
start or end rows, or a number of segments. Operators get all their probes at once, and evaluate what these have in
common once; the paper's caches are the sets of anchors here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

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
    late_names,
    next_nested,
    places_of,
    walk_all,
)
from trellis.algebra.physical_tree import (
    ChosenTree,
    Complement,
    Filter,
    Join,
    Meet,
    Pad,
    PhysicalNode,
    Repetition,
    Union,
    Where,
    bound_by,
    filters_in,
    gives_bits,
    with_binds,
)
from trellis.algebra.segments import Choices, SegmentCondition
from trellis.algebra.statistics import SegmentStatistics
from trellis.algebra.windows import Window
from trellis.planning.segments.cardinalities import FILTER_SHARE, Cardinalities, distinct, distinct_rows
from trellis.planning.segments.costs import Costs
from trellis.planning.segments.generators import Generators, by_cost
from trellis.planning.segments.search_spaces import EVERYWHERE, SearchSpace, Spaces

__all__ = ["optimize"]

_BAND_BYTES = 1 << 28
_SUBSETS = 7


def optimize(
    tree: LogicalNode,
    conditions: Sequence[SegmentCondition],
    tracked: Sequence[str],
    statistics: SegmentStatistics,
    costs: Costs,
    choices: Choices,
) -> ChosenTree:
    """The cheapest tree for the whole of the rows."""
    wanted = frozenset(tracked).union(*(condition.reads for condition in conditions if condition.owner))
    for node in walk_all(tree):
        if isinstance(node, (Chain, Both, Either)):
            wanted = wanted.union(*(item.reads | {item.alias} for item in node.nested))
    chosen = _Optimizer(conditions, wanted, statistics, costs, choices).best(tree, EVERYWHERE)
    # Without the variables that nobody asks for, equal parts are equal trees: these are run once.
    return ChosenTree(chosen.cost, with_binds(chosen.tree, wanted))


@dataclass(slots=True)
class _Optimizer:
    conditions: Sequence[SegmentCondition]
    wanted: frozenset[str]
    statistics: SegmentStatistics
    costs: Costs
    choices: Choices
    cards: Cardinalities = field(init=False)
    spaces: Spaces = field(init=False)
    words: int = field(init=False)
    generators: Generators = field(init=False)
    _memo: dict[tuple[object, ...], ChosenTree] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cards = Cardinalities(self.statistics)
        self.spaces = Spaces(self.cards)
        self.words = max((self.statistics.longest + 63) >> 6, 1)
        self.generators = Generators(self.conditions, self.statistics, self.costs, self.choices, self.spaces)

    # Nodes.

    def best(self, node: LogicalNode, space: SearchSpace) -> ChosenTree:
        """The cheapest tree of a node in a space."""
        key = (id(node), *space.rounded())
        if key not in self._memo:
            self._memo[key] = self._best(node, space)
        return self._memo[key]

    def _best(self, node: LogicalNode, space: SearchSpace) -> ChosenTree:
        match node:
            case Leaf():
                return self.generators.best(node, space, self._dense(), self._pass(space))
            case Both():
                return self._both(node, space)
            case Chain(parts=parts):
                chosen = self._chain(node, 0, len(parts) - 1, space)
                tested = {number for numbers in filters_in(chosen.tree) for number in numbers}
                return self._finished(chosen, node, space, tuple(n for n in node.filters if n not in tested))
            case Either(parts=parts):
                chosen = self.best(parts[0], space)
                for part in parts[1:]:
                    chosen = self._union(chosen, self.best(part, space), node, space)
                return self._finished(chosen, node, space, node.filters)
            case Without():
                return self._without(node, space)
            case Loop():
                return self._loop(node, space)

    def _dense(self, tree: PhysicalNode | None = None, *more: PhysicalNode) -> tuple[bool, ...]:
        """The kinds of sets that may be used: bits only where they fit, and where nobody asks for variables inside."""
        if any(bound_by(node) & self.wanted for node in (tree, *more) if node is not None):
            return (False,)
        if self.choices.sets:
            return (self.choices.sets == "bands",)
        if self.spaces.rows * self.words * 8 > _BAND_BYTES:
            return (False,)
        return (True, False)

    def _pass(self, space: SearchSpace) -> float:
        """One pass over all words of a band; in a small space over those of its rows."""
        return self.spaces.rows_in(space) * self.words * self.costs.word

    # And.

    def _both(self, node: Both, space: SearchSpace) -> ChosenTree:
        parts = node.parts
        order = range(len(parts))
        if self.choices.order == "right":
            order = range(len(parts) - 1, -1, -1)
        if self.choices.order or len(parts) > _SUBSETS:
            done = [order[0]]
            chosen = self.best(parts[order[0]], space)
            for i in order[1:]:
                chosen = self._meet(chosen, tuple(parts[k] for k in done), parts[i], node, space)
                done.append(i)
            return self._finished(chosen, node, space, node.filters)
        best: dict[int, ChosenTree] = {1 << i: self.best(part, space) for i, part in enumerate(parts)}
        for subset in range(1, 1 << len(parts)):
            for i in range(len(parts)):
                rest = subset & ~(1 << i)
                if not subset >> i & 1 or not rest:
                    continue
                done_parts = tuple(part for k, part in enumerate(parts) if rest >> k & 1)
                chosen = self._meet(best[rest], done_parts, parts[i], node, space)
                if subset not in best or chosen.cost < best[subset].cost:
                    best[subset] = chosen
        return self._finished(best[(1 << len(parts)) - 1], node, space, node.filters)

    def _meet(
        self, done: ChosenTree, parts: tuple[LogicalNode, ...], part: LogicalNode, node: Both, space: SearchSpace
    ) -> ChosenTree:
        """Add one part to those that are done."""
        costs = self.costs
        cells = self.spaces.candidates(node.window, space)
        found = cells * self.cards.share_of(parts)
        both = cells * self.cards.share_of((*parts, part))
        options: list[ChosenTree] = []
        if self.choices.join != "merge":
            probed = self.best(part, SearchSpace("exact", found))
            cost = done.cost + probed.cost + found * costs.probe
            if gives_bits(done.tree):
                cost += self._pass(space) + found * costs.bit
            options.append(ChosenTree(cost, Meet(done.tree, probed.tree, "right", node.window, False, about=both)))
        if self.choices.join != "probe":
            other = self.best(part, space)
            for dense in self._dense(done.tree, other.tree):
                cost = done.cost + other.cost + costs.call
                counts = (found, self.spaces.found(part, space))
                for tree, count in zip((done.tree, other.tree), counts, strict=True):
                    cost += self._as(tree, dense, count, space)
                    cost += self._pass(space) if dense else count * costs.merge
                options.append(ChosenTree(cost, Meet(done.tree, other.tree, "merge", node.window, dense, about=both)))
        return min(options, key=by_cost)

    def _as(self, tree: PhysicalNode, dense: bool, count: float, space: SearchSpace) -> float:
        """Nanoseconds to bring the result of a tree into the form that is wanted."""
        if gives_bits(tree) == dense:
            return 0.0
        return self._pass(space) + count * self.costs.bit

    def _entered(self, space: SearchSpace) -> float:
        """What an operator costs before it does anything: limits for all rows, or a copy of the few that matter."""
        rows, every = self.spaces.rows_in(space), self.spaces.rows
        if space.kind == "full" or rows >= every:
            return rows * self.costs.row
        # To find the few, all are passed over once.
        return rows * self.costs.copy + every * self.costs.row / 2

    # Concatenation.

    def _chain(self, node: Chain, first: int, last: int, space: SearchSpace) -> ChosenTree:
        """The cheapest tree of some neighbouring parts of a chain."""
        if first == last:
            return self.best(node.parts[first], space)
        key = (id(node), first, last, *space.rounded())
        if key in self._memo:
            return self._memo[key]
        window = self.cards.window(node, first, last)
        options: list[ChosenTree] = []
        if self._pads(node, first):
            options += self._pad(node, first + 1, last, space, window, before=node.parts[first])
        if self._pads(node, last):
            options += self._pad(node, first, last - 1, space, window, after=node.parts[last])
        for cut in self._cuts(first, last):
            if self._pads(node, cut) and first < cut < last:
                options += self._joins(node, (first, cut - 1), (cut + 1, last), space, window, node.parts[cut])
            elif self._pads(node, cut + 1) and first < cut + 1 < last:
                options += self._joins(node, (first, cut), (cut + 2, last), space, window, node.parts[cut + 1])
            else:
                options += self._joins(node, (first, cut), (cut + 1, last), space, window, None)
        if not options:  # a wild part beside one that may be left out
            for cut in self._cuts(first, last):
                options += self._joins(node, (first, cut), (cut + 1, last), space, window, None)
        chosen = min(options, key=by_cost)
        chosen = self._filtered(chosen, node, first, last, space, window)
        self._memo[key] = chosen
        return chosen

    def _cuts(self, first: int, last: int) -> Sequence[int]:
        if self.choices.order == "left":
            return (last - 1,)
        if self.choices.order == "right":
            return (first,)
        return range(first, last)

    def _pads(self, node: Chain, i: int) -> bool:
        """Whether a part is any segment that nobody asks for."""
        part = node.parts[i]
        plain = isinstance(part, Leaf) and part.wild > 0 and not self.wanted & set(part.binds)
        return plain and node.gap == 0 and not node.optional[i]

    def _pad(
        self,
        node: Chain,
        first: int,
        last: int,
        space: SearchSpace,
        window: Window,
        before: LogicalNode | None = None,
        after: LogicalNode | None = None,
    ) -> list[ChosenTree]:
        if all(node.optional[first : last + 1]):
            return []
        below = self.spaces.right(space) if before is not None else self.spaces.left(space)
        inner = self._chain(node, first, last, below)
        count = self.spaces.share(self.cards.part((node, first, last)), self.cards.window(node, first, last), below)
        out = self.spaces.share(self.cards.cells(window), window, space)
        sizes = [part.wild if isinstance(part, Leaf) else 0 for part in (before, after)]
        about = self._about(node, first - (before is not None), last + (after is not None), space)
        options = []
        for dense in self._dense(inner.tree):
            cost = inner.cost + self.costs.call + self._as(inner.tree, dense, count, space)
            cost += 4 * self._pass(space) if dense else out * (self.costs.pair + self.costs.sort)
            cost += self._entered(space)
            options.append(ChosenTree(cost, Pad(inner.tree, sizes[0], sizes[1], window, dense, about=about)))
        return options

    def _joins(
        self,
        node: Chain,
        left: tuple[int, int],
        right: tuple[int, int],
        space: SearchSpace,
        window: Window,
        between: LogicalNode | None,
    ) -> list[ChosenTree]:
        left_optional = all(node.optional[left[0] : left[1] + 1])
        right_optional = all(node.optional[right[0] : right[1] + 1])
        wild = between.wild if isinstance(between, Leaf) else 0
        if wild and (left_optional or right_optional):
            return []
        about = self._about(node, left[0], right[1], space)
        options: list[ChosenTree] = []
        for method in self._methods():
            if (method == "right" and left_optional) or (method == "left" and right_optional):
                method = "merge"
            sides = self._sides(node, left, right, space, method, wild)
            (one, one_count), (other, other_count) = sides
            for dense in self._dense(one.tree, other.tree):
                cost = one.cost + other.cost + self.costs.call
                cost += self._as(one.tree, dense, one_count, space) + self._as(other.tree, dense, other_count, space)
                cost += self._link(one_count, other_count, window, dense, wild, space)
                cost += self._entered(space)
                if method != "merge":
                    cost += self.costs.probe * (one_count if method == "right" else other_count)
                    cost += self.costs.row * self.spaces.rows_in(space)
                options.append(
                    ChosenTree(
                        cost,
                        Join(
                            one.tree,
                            other.tree,
                            method,
                            node.gap,
                            wild,
                            left_optional,
                            right_optional,
                            window,
                            dense,
                            about=about,
                        ),
                    )
                )
        return options

    def _about(self, node: Chain, first: int, last: int, space: SearchSpace) -> float:
        """How many segments some neighbouring parts of a chain have in a space."""
        return self.spaces.share(self.cards.part((node, first, last)), self.cards.window(node, first, last), space)

    def _methods(self) -> tuple[str, ...]:
        match self.choices.join:
            case "merge":
                return ("merge",)
            case "probe":
                deep = {"left": ("right",), "right": ("left",)}
                return deep.get(self.choices.order, ("right", "left"))
            case _:
                return ("merge", "right", "left")

    def _sides(
        self, node: Chain, left: tuple[int, int], right: tuple[int, int], space: SearchSpace, method: str, wild: int
    ) -> tuple[tuple[ChosenTree, float], tuple[ChosenTree, float]]:
        """Both sides with the numbers of segments that they give, the probed one where the other one leads."""
        spaces = {"left": self.spaces.left(space), "right": self.spaces.right(space)}
        counts: dict[str, float] = {}
        for side, part in (("left", left), ("right", right)):
            whole = self.cards.part((node, *part))
            counts[side] = self.spaces.share(whole, self.cards.window(node, *part), spaces[side])
        if method != "merge":
            other = "left" if method == "right" else "right"
            anchors = distinct_rows(counts[other], self.spaces.rows)
            if wild:
                reach = self.cards.length(node.window)
                anchors = distinct(anchors * reach, self.spaces.rows)
            part = left if method == "left" else right
            spaces[method] = SearchSpace("end" if method == "left" else "start", anchors)
            led = self.spaces.share(self.cards.part((node, *part)), self.cards.window(node, *part), spaces[method])
            counts[method] = min(counts[method], led)
        one = self._chain(node, *left, spaces["left"])
        two = self._chain(node, *right, spaces["right"])
        return (one, counts["left"]), (two, counts["right"])

    def _link(self, left: float, right: float, window: Window, dense: bool, wild: int, space: SearchSpace) -> float:
        costs = self.costs
        if dense:
            return left * self.words * costs.shift + (6 if wild else 4) * self._pass(space)
        starts = max(distinct(right, self.spaces.rows), 1.0) if space.kind == "full" else self.spaces.rows_in(space)
        each = right / max(self.spaces.rows_in(space), starts) * (self.cards.length(window) if wild else 1.0)
        joined = left * each
        out = min(joined, self.spaces.candidates(window, space))
        return (left + right) * costs.link + joined * costs.link + out * costs.pair

    def _filtered(
        self, chosen: ChosenTree, node: Chain, first: int, last: int, space: SearchSpace, window: Window
    ) -> ChosenTree:
        """Conditions between variables are tested as soon as all of these are joined."""
        numbers = [n for n in node.filters if self._covers(node, n, first, last)]
        applied = {number for tree in filters_in(chosen.tree) for number in tree}
        numbers = [number for number in numbers if number not in applied]
        if not numbers:
            return chosen
        count = self._about(node, first, last, space)
        cost = sum(self.costs.condition(self.conditions[n], self.cards.length(window), False) for n in numbers)
        about = count * FILTER_SHARE ** len(numbers)
        return ChosenTree(chosen.cost + count * cost, Filter(chosen.tree, tuple(numbers), window, about=about))

    def _covers(self, node: Chain, number: int, first: int, last: int) -> bool:
        """Whether some parts of a chain bind all that a condition reads of it; other variables are known outside."""
        reads = self.conditions[number].reads
        if reads & (set(node.binds) | late_names(node)):
            return False
        some = replace(node, parts=node.parts[first : last + 1], binds=(), nested=())
        return all(places_of(some, name) == places_of(node, name) for name in reads)

    # The rest.

    def _union(self, left: ChosenTree, right: ChosenTree, node: Either, space: SearchSpace) -> ChosenTree:
        options = []
        count = self.spaces.found(node, space)
        about = left.tree.about + right.tree.about
        for dense in self._dense(left.tree, right.tree):
            cost = left.cost + right.cost + self.costs.call
            cost += self._as(left.tree, dense, count / 2, space) + self._as(right.tree, dense, count / 2, space)
            cost += self._pass(space) if dense else count * self.costs.merge
            options.append(ChosenTree(cost, Union(left.tree, right.tree, node.window, dense, about=about)))
        return min(options, key=by_cost)

    def _without(self, node: Without, space: SearchSpace) -> ChosenTree:
        pairs = self.spaces.candidates(node.window, space)
        about = self.spaces.found(node, space)
        options = []
        for probe in (False, True):
            if self.choices.negation and probe != (self.choices.negation == "probe"):
                continue
            if probe and not self.choices.negation and self.choices.join == "merge":
                continue  # without probes at all
            body = self.best(node.body, SearchSpace("exact", pairs) if probe else space)
            count = self.spaces.found(node.body, space)
            for dense in self._dense():
                cost = body.cost + self.costs.call + self._as(body.tree, dense, count, space)
                if dense and not probe and space.kind in ("full", "start"):
                    cost += 3 * self._pass(space)
                else:
                    cost += pairs * (self.costs.pair + self.costs.merge) + count * self.costs.merge
                options.append(ChosenTree(cost, Complement(body.tree, probe, node.window, dense, node.binds, about)))
        return min(options, key=by_cost)

    def _loop(self, node: Loop, space: SearchSpace) -> ChosenTree:
        below = self.spaces.inside(space)
        body = self.best(node.body, below)
        count = self.spaces.found(node.body, below)
        out = self.spaces.found(node, space)
        turns = max(node.least - 1, 0) + (1 if node.most is None else node.most - node.least)
        options = []
        for dense in self._dense(body.tree):
            cost = body.cost + self.costs.call * (1 + turns) + self._as(body.tree, dense, count, space)
            cost += self._entered(space)
            if dense:
                cost += turns * ((count + out) * self.words * self.costs.shift + 3 * self._pass(space))
                # A closure looks at every bit.
                cost += 16 * self._pass(space) if node.most is None else 0.0
            else:
                rows = self.spaces.rows_in(space)
                cost += turns * ((count + out) * self.costs.link * (1 + count / rows) + rows * self.costs.row)
            options.append(
                ChosenTree(
                    cost, Repetition(body.tree, node.least, node.most, node.gap, node.window, dense, node.binds, out)
                )
            )
        return min(options, key=by_cost)

    def _finished(
        self, chosen: ChosenTree, node: Both | Chain | Either, space: SearchSpace, filters: tuple[int, ...]
    ) -> ChosenTree:
        """Add the variables of the whole, and what is tested last."""
        tree, cost = chosen.tree, chosen.cost
        count = self.spaces.found(node, space)
        if node.binds:
            if tree.window != node.window or tree.binds:
                tree = Filter(tree, (), node.window, binds=node.binds, about=tree.about)
            else:
                tree = replace(tree, binds=node.binds)
        late = late_names(node)
        waiting, nested = list(filters), list(node.nested)
        while waiting or nested:
            # Conditions wait for parts that bind what they read, and parts for other parts.
            ready = tuple(n for n in waiting if not self.conditions[n].reads & late)
            if ready:
                tree = Filter(tree, ready, node.window, about=tree.about * FILTER_SHARE ** len(ready))
                cost += count * sum(self.costs.condition(self.conditions[n], 1.0, False) for n in ready)
                waiting = [n for n in waiting if n not in ready]
                continue
            item = next_nested(nested)
            assert item is not None, "planning refuses parts that read each other"
            tree, cost = self._nested(tree, cost, item, node, count)
            nested.remove(item)
            late = frozenset().union(*(bound_in(rest.part) for rest in nested))
        return ChosenTree(cost, tree)

    def _nested(
        self, tree: PhysicalNode, cost: float, item: Nested, node: LogicalNode, count: float
    ) -> tuple[PhysicalNode, float]:
        part = self.best(item.part, SearchSpace("exact", max(count / 10, 1.0)))
        cost += part.cost * max(count / 10, 1.0)
        about = tree.about * FILTER_SHARE
        return Where(tree, part.tree, item.alias, item.reads, node.window, about=about), cost
