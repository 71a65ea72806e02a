"""Roots of a shared tree as arrays: what is left to do when the single events of a match are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from trellis.algebra.workload_scan import LeafSpec, RootSpec, TestSpec, WorkloadScan
from trellis.execution.workloads.tests import load_tests
from trellis.kernels.arrays import Bools, Ints, Shorts
from trellis.kernels.instance_arrays import Finish, Instances, Matched, Reading, Tests, Window
from trellis.kernels.instances import COUNT, STEPS
from trellis.kernels.whole_matches import USED, finish_matches

__all__ = ["Lists", "RootPlan", "list_specs", "plan_filter", "plan_root"]

_LEAST_ROOM = 4096
_MOST_ROWS = 1 << 28
"""Of the matches of one instance, so many rows are held at most."""


@dataclass(frozen=True, slots=True)
class Lists:
    """The rows that fit leaves which members of sets, or absent events, are taken from, and how long the longest is."""

    rows: Shorts
    begins: Ints
    longest: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "longest", int(np.diff(self.begins).max(initial=0)))


def list_specs(plan: WorkloadScan) -> tuple[LeafSpec, ...]:
    """The leaves whose rows roots look at."""
    members = [one.members for root in plan.roots for one in root.sets]
    return tuple(dict.fromkeys([*members, *(one.event for root in plan.roots for one in root.absences)]))


@dataclass(frozen=True, slots=True)
class RootPlan:
    """A root, or the tests of a node, as arrays; `finish` lacks its lists."""

    slots: int
    finish: Finish
    tests: Tests

    def run(
        self,
        instances: Instances,
        window: Window,
        reading: Reading,
        lists: Lists,
        progress: Ints,
        status: Ints,
        budget: int,
        stop: int,
        startable: Bools,
    ) -> Matched | None:
        """The matches of all instances; None if those of a single one are too many."""
        finish = self.finish._replace(listed=lists.rows, list_begins=lists.begins)
        sets, longest = len(finish.set_slots), lists.longest + 2
        counters = np.array([0, 0, 0, 0], np.int64)
        counters[STEPS] = progress[STEPS]
        count = instances.rows.shape[1]
        found = _room(max(_LEAST_ROOM, count + 1), max(_LEAST_ROOM, count * self.slots))
        found.begins[0] = 0
        event = np.zeros(self.slots, np.int32)
        members = np.zeros((sets, longest if sets else 1), np.int32)
        places = np.zeros((sets, longest if sets else 1), np.int64)
        sizes = np.zeros(max(sets, 1), np.int64)
        each = np.zeros(int(np.diff(self.tests.first).max(initial=1)) + 1, np.int64)
        while not finish_matches(
            instances,
            count,
            stop,
            startable,
            finish,
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
        progress[STEPS] = counters[STEPS]
        matches, used = int(counters[COUNT]), int(counters[USED])
        return Matched(found.begins[: matches + 1], found.rows[:used], found.labels[:used], found.instance[:matches])


def _room(matches: int, rows: int) -> Matched:
    return Matched(
        np.empty(matches + 1, np.int64), np.empty(rows, np.int32), np.empty(rows, np.int32), np.empty(matches, np.int64)
    )


def _longer(found: Matched, matches: int, used: int) -> Matched:
    longer = _room(2 * len(found.instance), 2 * len(found.rows))
    longer.begins[: matches + 1] = found.begins[: matches + 1]
    longer.rows[:used], longer.labels[:used] = found.rows[:used], found.labels[:used]
    longer.instance[:matches] = found.instance[:matches]
    return longer


def plan_root(plan: WorkloadScan, root: RootSpec, listed: Sequence[LeafSpec]) -> RootPlan:
    """A root as arrays; `listed` are the leaves of lists, in order."""
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
        _shorts([listed.index(one.members) for one in root.sets]),
        _padded([one.before for one in root.sets]),
        _shorts(set_tests),
        whole,
        _shorts([listed.index(one.event) for one in root.absences]),
        _padded([one.after for one in root.absences]),
        _padded([one.before for one in root.absences]),
        _shorts(absent_tests),
        np.zeros(0, np.int32),
        np.zeros(1, np.int64),
        _shorts(root.variables),
    )
    return RootPlan(slots, finish, load_tests(plan, tests))


def plan_filter(plan: WorkloadScan, slots: int, tests: Sequence[TestSpec]) -> RootPlan:
    """Tests of a node that are more than comparisons, as a root without anything else."""
    return plan_root(plan, RootSpec(0, 0, (0,) * slots, 0, tests=tuple(tests)), ())


def _padded(lists: Sequence[Sequence[int]]) -> Shorts:
    width = max((len(one) for one in lists), default=0)
    return np.array([[*one, *[-1] * (width - len(one))] for one in lists], np.int32).reshape(len(lists), width)


def _shorts(values: Sequence[int]) -> Shorts:
    return np.array(values, np.int32)
