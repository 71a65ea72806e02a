"""Roots of a shared tree as arrays: what is left to do when the single events of a match are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trellis.algebra.workload_scan import LeafSpec, RootSpec, TestSpec, WorkloadScan
from trellis.execution.workloads.tests import load_tests
from trellis.kernels.arrays import Bools, Ints, Shorts
from trellis.kernels.instance_arrays import Finish, Lists, Matched, Plain, Reading, Tests, Window
from trellis.kernels.whole_matches import AT, COUNT, STEPS, USED, finish_matches

__all__ = ["RootPlan", "is_plain", "list_specs", "new_matches", "plan_filter", "plan_plain", "plan_root"]

_LEAST_ROOM = 4096
_MOST_ROWS = 1 << 28
"""Of the matches of one instance, so many rows are held at most."""


def is_plain(root: RootSpec) -> bool:
    """Whether each instance is a match, if it is not too long."""
    return not (root.sets or root.tests or root.absences)


def list_specs(plan: WorkloadScan) -> tuple[LeafSpec, ...]:
    """The leaves whose rows roots look at."""
    members = [one.members for root in plan.roots for one in root.sets]
    return tuple(dict.fromkeys([*members, *(one.event for root in plan.roots for one in root.absences)]))


@dataclass(frozen=True, slots=True)
class RootPlan:
    """A root, or the tests of a node, as arrays."""

    slots: int
    finish: Finish
    tests: Tests

    def run(
        self,
        pool: Shorts,
        begin: int,
        end: int,
        window: Window,
        reading: Reading,
        lists: Lists,
        progress: Ints,
        status: Ints,
        budget: int,
        stop: int,
        startable: Bools,
    ) -> Matched | None:
        """The matches of some instances; None if those of a single one are too many. `progress` counts steps."""
        finish = self.finish
        sets = len(finish.set_slots)
        longest = int((lists.begins[finish.set_lists + 1] - lists.begins[finish.set_lists]).max(initial=0)) + 2
        counters = np.zeros(4, np.int64)
        counters[AT], counters[STEPS] = begin, progress[0]
        found = new_matches(max(_LEAST_ROOM, end - begin), max(_LEAST_ROOM, (end - begin) * self.slots))
        found.begins[0] = 0
        event = np.zeros(self.slots, np.int32)
        members = np.zeros((sets, longest if sets else 1), np.int32)
        places = np.zeros((sets, longest if sets else 1), np.int64)
        sizes = np.zeros(max(sets, 1), np.int64)
        each = np.zeros(int(np.diff(self.tests.first).max(initial=1)) + 1, np.int64)
        while not finish_matches(
            pool,
            end,
            stop,
            startable,
            finish,
            lists,
            self.tests,
            reading,
            window,
            event,
            members,
            places,
            sizes,
            each,
            found,
            counters,
            budget,
            status,
        ):
            if 2 * len(found.rows) > _MOST_ROWS:
                return None
            found = _longer(found, int(counters[COUNT]), int(counters[USED]))
        progress[0] = counters[STEPS]
        matches, used = int(counters[COUNT]), int(counters[USED])
        return Matched(found.begins[: matches + 1], found.rows[:used], found.labels[:used], found.source[:matches])


def new_matches(matches: int, rows: int) -> Matched:
    """Room for matches."""
    return Matched(
        np.empty(matches + 1, np.int64), np.empty(rows, np.int32), np.empty(rows, np.int32), np.empty(matches, np.int64)
    )


def _longer(found: Matched, matches: int, used: int) -> Matched:
    longer = new_matches(2 * len(found.source), 2 * len(found.rows))
    longer.begins[: matches + 1] = found.begins[: matches + 1]
    longer.rows[:used], longer.labels[:used] = found.rows[:used], found.labels[:used]
    longer.source[:matches] = found.source[:matches]
    return longer


def plan_plain(plan: WorkloadScan) -> Plain:
    """The plain roots of a plan."""
    roots = [(number, root) for number, root in enumerate(plan.roots) if is_plain(root)]
    return Plain(
        _shorts([number for number, _ in roots]),
        _shorts([root.node for _, root in roots]),
        _shorts([root.window for _, root in roots]),
        np.append(0, np.cumsum([len(root.variables) for _, root in roots])).astype(np.int32),
        _shorts([variable for _, root in roots for variable in root.variables]),
    )


def plan_root(plan: WorkloadScan, root: RootSpec, leaves: Mapping[LeafSpec, int]) -> RootPlan:
    """A root as arrays; `leaves` has the number of the list of each leaf."""
    slots = len(root.variables)
    set_of = np.full(slots, -1, np.int32)
    set_of[[one.slot for one in root.sets]] = np.arange(len(root.sets))
    tests: list[TestSpec] = []
    set_tests = [0]
    for one in root.sets:
        tests += one.tests
        set_tests.append(len(tests))
    tests += root.tests
    whole, absent_tests = len(tests), [len(tests)]
    for absence in root.absences:
        tests += absence.tests
        absent_tests.append(len(tests))
    finish = Finish(
        _shorts([one.slot for one in root.sets]),
        set_of,
        _shorts([leaves[one.members] for one in root.sets]),
        _padded([one.before for one in root.sets]),
        _shorts(set_tests),
        whole,
        _shorts([leaves[one.event] for one in root.absences]),
        _padded([one.after for one in root.absences]),
        _padded([one.before for one in root.absences]),
        _shorts(absent_tests),
        _shorts(root.variables),
    )
    return RootPlan(slots, finish, load_tests(plan, tests))


def plan_filter(plan: WorkloadScan, slots: int, tests: Sequence[TestSpec]) -> RootPlan:
    """Tests of a node that are more than comparisons, as a root without anything else."""
    return plan_root(plan, RootSpec(0, 0, (0,) * slots, 0, tests=tuple(tests)), {})


def _padded(lists: Sequence[Sequence[int]]) -> Shorts:
    width = max((len(one) for one in lists), default=0)
    return np.array([[*one, *[-1] * (width - len(one))] for one in lists], np.int32).reshape(len(lists), width)


def _shorts(values: Sequence[int]) -> Shorts:
    return np.array(values, np.int32)
