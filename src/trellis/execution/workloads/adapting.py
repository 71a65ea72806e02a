"""Following the events of a workload: how many rows are searched along one plan, and when there is a better one.

All events of a chunk are there before the search begins, so a plan is made for the rows that it will be used for. No
plan changes what is found, so all that is decided here is about time:

1. Where the search is quick, a plan cannot be found in less time than it could save. So nothing is looked at until the
   search has taken so long that a look is a small share of that.
2. Rows are searched in stretches. Each of them costs something by itself, and what reaches beyond its end is searched
   twice; so a stretch is long against both. From there on it grows while the events behind it come as often.
3. Before a stretch whose events come more or less often than those that the plan was made for, a better plan is looked
   for; seldom, too, where they do not: conditions may hold more or less often.
4. Looking for plans may take a small share of the time of the search. What it gains is added to that. Where events
   come more or less often, a larger one: it gets smaller with each look that finds nothing. Time is that of the
   processor, whoever else waits for it.
"""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time as clock
from typing import Protocol

import numpy as np

from trellis.algebra.observed import Observed
from trellis.algebra.workload_scan import WorkloadScan
from trellis.execution.workloads.loaded import LoadedChunk
from trellis.execution.workloads.observing import LoadedSample, Observer
from trellis.kernels.arrays import Ints

__all__ = ["Adapt", "Adapter", "Replanner", "clock"]

_SHARE = 0.05
_TRUST = 10.0
"""So many times the share may be spent where events come more or less often."""
_PATIENCE = 4.0
"""A look is given up after so many times what it took before."""
_LEAST_GAIN = 0.1
"""Plans that are thought to be better by less are no better than that guess."""
_MEMORY = 0.7
"""How much the pairs count that were seen one look earlier."""
_SELDOM = 64
_LEAST_ROWS = 1024
_FIRST_ROWS = 1 << 14
"""So many rows tell how long rows take."""
_MOST_ROWS = 1 << 16
_GROWTH = 4
"""A stretch is at most so many times as long as the one before: so a bad plan is not used for long."""
_REACHES = 2.0
"""A stretch is at least so many times as long as its windows."""
_FIXED = 8.0
"""A stretch takes at least so many times as long as what it costs by itself."""
_NODE_SECONDS = 2e-5
_CLAUSE_SECONDS = 5e-4
# Counts differ if one is so many times the other, and by more than chance makes them.
_TIMES = 1.5
_CHANCE = 20.0


class Replanner(Protocol):
    """Finds better plans."""

    def better(self, observed: Observed, least: float, seconds: float) -> tuple[WorkloadScan, float] | None:
        """A plan that costs less by the share `least` or more, and by how much; None if none is found in some seconds.

        What is given is taken for the plan that runs from now on.
        """
        ...


Adapt = Callable[[WorkloadScan], Replanner]
"""Gives what finds better plans than the one that runs."""


class Adapter:
    """Says how far the next stretch goes, and which plan it is searched along. `rebuilt` counts changes of the plan."""

    def __init__(self, plan: WorkloadScan, adapt: Adapt) -> None:
        self.observer = Observer(plan)
        self.rebuilt = 0
        self.share = _SHARE
        self._plan, self._adapt = plan, adapt
        self._loaded: LoadedChunk | None = None
        self._sample: LoadedSample | None = None
        self._replanner: Replanner | None = None
        self._rows = 0
        # What a stretch costs by itself: no more than the shortest one so far.
        self._fixed = _NODE_SECONDS * (len(plan.nodes) + len(plan.roots))
        self._per_row = 0.0
        self._searched, self._searched_rows = 0.0, 0
        # What was spent on planning beyond what it gained.
        self._spent = 0.0
        self._expected = _CLAUSE_SECONDS * len(plan.roots)
        self._seen: Observed | None = None
        self._since, self._wait = 0, 1
        self._trust = _TRUST

    def open(self, loaded: LoadedChunk) -> None:
        """The rows that come now are these."""
        self._loaded, self._sample = loaded, None

    def end(self, begin: int) -> int:
        """Where the stretch ends that begins at a row."""
        assert self._loaded is not None
        total = len(self._loaded.series)
        if self._is_early:
            rows = _FIRST_ROWS
            if self._per_row and self.share:
                rows = int(min(max(rows, (self._expected / self.share - self._searched) / self._per_row), _MOST_ROWS))
        else:
            rows = self._steady(begin, total)
        # What is left behind would be a stretch of its own.
        return total if begin + rows + rows // 2 >= total else begin + rows

    def _steady(self, begin: int, total: int) -> int:
        """From a row on, how many rows are long against what a stretch costs, and have events that come as often."""
        sample = self.sample
        rows = self._least(sample, begin)
        most = min(_MOST_ROWS, _GROWTH * self._rows if self._rows else rows)
        rows = min(rows, max(most, _LEAST_ROWS))
        while 2 * rows <= most and begin + rows < total:
            behind = min(begin + 2 * rows, total)
            here, there = sample.counts(begin, begin + rows), sample.counts(begin + rows, behind)
            if _differ(here, rows, there, behind - begin - rows):
                break
            rows *= 2
        return rows

    def _least(self, sample: LoadedSample, begin: int) -> int:
        windows = sample.loaded.windows
        seen = np.arange(begin, min(begin + _LEAST_ROWS, len(sample.loaded.series)), 16)
        reach = max((float((window.until[seen] - seen).mean()) for window in windows), default=0.0)
        # A plan for it must pay, too.
        fixed = (_FIXED * self._fixed + self._expected) / self._per_row if self._per_row else 0.0
        return int(min(max(_LEAST_ROWS, _REACHES * reach, fixed), _MOST_ROWS))

    @property
    def sample(self) -> LoadedSample:
        """The events of the rows that come now, leaf by leaf."""
        if self._sample is None:
            assert self._loaded is not None
            self._sample = self.observer.load(self._loaded)
        return self._sample

    @property
    def _is_early(self) -> bool:
        """Whether nothing was looked at yet, nor is it time to."""
        return self._seen is None and self._expected > self.share * self._searched

    def better(self, begin: int, end: int) -> WorkloadScan | None:
        """A better plan for a stretch, if one is looked for and found."""
        if not self._asks(begin, end):
            return None
        sample = self.sample
        if self._replanner is None:
            started = clock()
            self._replanner = self._adapt(self._plan)
            self._spent += clock() - started
        started = clock()
        observed = self.observer.observe(sample, begin, end)
        if self._seen is not None:
            observed = observed.after(self._seen, _MEMORY)
        self._seen, self._since = observed, 0
        found = self._replanner.better(observed, _LEAST_GAIN, max(self._allowed, _PATIENCE * self._expected))
        took = clock() - started
        self._spent += took
        self._expected = took
        self._wait = min(2 * self._wait, _SELDOM)
        if found is None:
            self._trust = max(1.0, 0.5 * self._trust)
            return None
        plan, gain = found
        self._trust = _TRUST
        self._spent -= min(took, gain * self._per_row * (end - begin))
        self._wait = 1
        self.rebuilt += 1
        return plan

    def changed(self, seconds: float) -> None:
        """The better plan has been made ready in some seconds."""
        self._spent += seconds
        self._expected += seconds

    @property
    def _allowed(self) -> float:
        return self.share * self._searched - self._spent

    def _asks(self, begin: int, end: int) -> bool:
        """Whether there is time to look for a plan, and a reason."""
        self._since += 1
        if self._seen is None:
            # Nothing is known of the events yet. The first look takes longer: much is made ready for all that follow.
            return not self._is_early
        if self._allowed >= self._expected and self._since >= self._wait:
            return True
        # What the plan does to other events than its own, only all that was searched can tell.
        per_row = max(self._per_row, self._searched / max(self._searched_rows, 1))
        ahead = self._trust * self.share * per_row * (end - begin)
        if max(self._allowed, ahead) < self._expected:
            return False
        return _differ(np.array(self._seen.counts), self._seen.rows, self.sample.counts(begin, end), end - begin)

    def searched(self, rows: int, seconds: float) -> None:
        """A stretch has been searched."""
        self._rows = rows
        self._searched += seconds
        self._searched_rows += rows
        self._fixed = min(self._fixed, seconds)
        per_row = max(seconds - self._fixed, 0.1 * seconds) / rows
        self._per_row = 0.5 * (self._per_row + per_row) if self._per_row else per_row


def _differ(some: Ints, some_rows: int, others: Ints, other_rows: int) -> bool:
    """Whether events of any leaf come more often in one of two stretches of rows, by more than chance."""
    one, other = some / some_rows, others / other_rows
    chance = (some + 1) / some_rows**2 + (others + 1) / other_rows**2
    least = 1.0 / min(some_rows, other_rows)
    times = np.maximum(one, other) / np.maximum(np.minimum(one, other), least)
    return bool(np.any((times > _TIMES) & ((one - other) ** 2 > _CHANCE * chance)))
