"""A plan for all clauses: each sub-pattern that it needs, once, with the two that it is put together from.

Since a node is the same whatever tree it comes from, a plan is a table: form -> (left form, right form). What clauses
have in common they share by themselves. Each node knows how many use it (clauses, and nodes above it), and the windows
of these: it has the largest of them. So adding and removing a clause changes only what becomes needed or needless, and
the cost is known after each change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from trellis.planning.workloads.forms import Forms, Shape
from trellis.planning.workloads.local_plans import Choice, cheapest

__all__ = ["GlobalPlan", "Splitting"]

Splitting = dict[int, tuple[int, ...]]
"""Forms, and the forms that each is put together from."""


class GlobalPlan:
    """The nodes of a plan, and what they cost. `splits` has the forms that each node is made of; leaves have none."""

    __slots__ = ("_asked", "_costs", "_growths", "forms", "roots", "signature", "splits", "total", "windows")

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        self.roots: dict[Shape, int] = {}
        self.splits: Splitting = {}
        self.windows: dict[int, float] = {}
        self.total = 0.0
        # Of two plans with the same nodes it is the same, and hardly ever of others.
        self.signature = 0
        # How many users ask for each window.
        self._asked: dict[int, dict[float, int]] = {}
        self._costs: dict[int, float] = {}
        self._growths = forms.growths

    def __contains__(self, form: int) -> bool:
        return form in self._costs

    def __len__(self) -> int:
        return len(self._costs)

    def cost(self, form: int) -> float:
        """What a node costs."""
        return self._costs[form]

    def recount(self) -> float:
        """The cost as the sum of all nodes, without what rounding left behind."""
        self.total = sum(self._costs.values())
        return self.total

    def users(self, form: int) -> int:
        """How many clauses and nodes use a node."""
        return sum(self._asked[form].values())

    # Clauses.

    def add(self, shape: Shape, choice: Choice) -> None:
        """Add a clause by a plan of its own; what is there already stays as it is."""
        self.roots[shape] = shape.forms[shape.full]
        self.insert(shape, shape.full, choice, shape.window)
        for form in shape.absent:
            self._use(form, shape.window, {})

    def insert(self, shape: Shape, mask: int, choice: Choice, window: float) -> None:
        """Use the sub-pattern of some parts of a clause, and add what is not there."""
        form = shape.forms[mask]
        if form not in self._costs:
            self._new(form, window)
            pair = choice.get(mask, ())
            self._put(form, tuple(shape.forms[inner] for inner in pair if inner))
            for inner in pair:
                if inner:
                    self.insert(shape, inner, choice, window)
        else:
            self._ask(form, window)

    def restore(self, shape: Shape, removed: Mapping[int, tuple[int, ...]]) -> None:
        """Add a clause as it was when it was removed, with what was removed then."""
        form = self.roots[shape] = shape.forms[shape.full]
        self._use(form, shape.window, removed)
        for absent in shape.absent:
            self._use(absent, shape.window, removed)

    def remove(self, shape: Shape) -> Splitting:
        """Remove a clause; what no other needs goes with it, and is returned."""
        removed: Splitting = {}
        self._leave(self.roots.pop(shape), shape.window, removed)
        for form in shape.absent:
            self._leave(form, shape.window, removed)
        return removed

    def cheapest(self, shape: Shape, kept: int = 0, top: int = 0) -> Choice:
        """The plan of a clause that adds least to the cost, given what is there."""
        costs, windows, window = self._costs, self.windows, shape.window
        forms, own, growths = shape.forms, shape.costs, self._growths

        def cost_of(mask: int) -> float:
            form = forms[mask]
            if form not in costs:
                return own[mask]
            return 0.0 if windows[form] >= window else growths[form].at(window) - costs[form]

        return cheapest(shape, cost_of, kept, top or shape.full)

    # Nodes.

    def split_anew(self, form: int, choose: Callable[[Shape, int], Choice]) -> tuple[Choice, Splitting]:
        """Put a node together another way; that way, and what is needless then, with the way before.

        `choose` gives a plan of a set of parts of a clause, when nothing is left of the old one.
        """
        removed = {form: self.splits[form]}
        window = self.windows[form]
        for inner in self.splits[form]:
            self._leave(inner, window, removed)
        shape, mask = self.forms.places[form]
        choice = choose(shape, mask)
        self._put(form, tuple(shape.forms[inner] for inner in choice[mask] if inner))
        for inner in choice[mask]:
            if inner:
                self.insert(shape, inner, choice, window)
        return choice, removed

    def restore_split(self, form: int, removed: Mapping[int, tuple[int, ...]]) -> None:
        """Undo `split_anew`."""
        window = self.windows[form]
        gone: Splitting = {}
        for inner in self.splits[form]:
            self._leave(inner, window, gone)
        self._put(form, removed[form])
        for inner in removed[form]:
            self._use(inner, window, removed)

    def _use(self, form: int, window: float, known: Mapping[int, tuple[int, ...]]) -> None:
        """Use a node; where it is not there, it is put together as is known."""
        if form in self._costs:
            self._ask(form, window)
            return
        self._new(form, window)
        self._put(form, known.get(form, ()))
        for inner in self.splits[form]:
            self._use(inner, window, known)

    def _put(self, form: int, split: tuple[int, ...]) -> None:
        old = self.splits.get(form)
        if old is not None:
            self.signature ^= hash((form, old))
        self.splits[form] = split
        self.signature ^= hash((form, split))

    def _new(self, form: int, window: float) -> None:
        self._asked[form] = {window: 1}
        self.windows[form] = window
        cost = self._costs[form] = self._growths[form].at(window)
        self.total += cost

    def _ask(self, form: int, window: float) -> None:
        asked = self._asked[form]
        asked[window] = asked.get(window, 0) + 1
        if window > self.windows[form]:
            self._resize(form, window)

    def _resize(self, form: int, window: float) -> None:
        """Give a node another window, and all below it that no other user needs as they are."""
        old = self.windows[form]
        self.windows[form] = window
        cost = self._growths[form].at(window)
        self.total += cost - self._costs[form]
        self._costs[form] = cost
        for inner in self.splits[form]:
            asked = self._asked[inner]
            asked[window] = asked.get(window, 0) + 1
            asked[old] -= 1
            if not asked[old]:
                del asked[old]
            largest = max(asked)
            if largest != self.windows[inner]:
                self._resize(inner, largest)

    def _leave(self, form: int, window: float, removed: Splitting) -> None:
        asked = self._asked[form]
        if asked[window] > 1:
            asked[window] -= 1
            return
        del asked[window]
        if asked:
            largest = max(asked)
            if largest != self.windows[form]:
                self._resize(form, largest)
            return
        del self._asked[form]
        self.total -= self._costs.pop(form)
        window = self.windows.pop(form)
        inside = removed[form] = self.splits.pop(form)
        self.signature ^= hash((form, inside))
        for inner in inside:
            self._leave(inner, window, removed)

    # Whole plans.

    def copy_of_splits(self) -> Splitting:
        """How every node is put together."""
        return dict(self.splits)

    @staticmethod
    def of(forms: Forms, shapes: Iterable[Shape], splits: Mapping[int, tuple[int, ...]]) -> GlobalPlan:
        """The plan of some clauses that puts nodes together in given ways."""
        plan = GlobalPlan(forms)
        for shape in shapes:
            plan.restore(shape, splits)
        return plan
