"""Tests of a workload as arrays: comparisons of two values where they are no more than that, programs otherwise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trellis.algebra.workload_scan import TestSpec, WorkloadScan
from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Shorts
from trellis.kernels.instance_arrays import Tests

__all__ = ["Comparison", "as_comparison", "load_tests"]

Comparison = tuple[int, int, int, bool]
"""Of a condition of two variables: the value of each, how they are compared, and whether as floats."""


def as_comparison(plan: WorkloadScan, test: TestSpec) -> Comparison | None:
    """A condition that compares a value of its first operand with one of its second; None if it is another one."""
    condition = plan.conditions[test.condition]
    code = plan.program.code[condition.begin : condition.end]
    if len(code) != 3 or len(test.operands) != 2 or any(one.role.is_set for one in test.operands):
        return None
    left, right, compare = code
    loads = {o.COMPARE_INT: o.LOAD_INT, o.COMPARE_FLOAT: o.LOAD_FLOAT}.get(compare[0])
    if loads is None or left[0] != loads or right[0] != loads:
        return None
    sets = [plan.sets[_set(plan, one.variable)] for one in test.operands]
    read = [plan.places[load[2]].variables for load in (left, right)]
    is_float = compare[0] == o.COMPARE_FLOAT
    if read == sets:
        return left[1], right[1], compare[1], is_float
    # Each variable is read once, so they can only have changed places.
    return (right[1], left[1], _TURNED[compare[1]], is_float) if read == sets[::-1] else None


_TURNED = {
    o.EQUAL: o.EQUAL,
    o.UNEQUAL: o.UNEQUAL,
    o.LESS: o.GREATER,
    o.LESS_EQUAL: o.GREATER_EQUAL,
    o.GREATER: o.LESS,
    o.GREATER_EQUAL: o.LESS_EQUAL,
}


def _set(plan: WorkloadScan, variable: int) -> int:
    """The number of the set that holds a variable alone; -1 if no condition reads it as such."""
    alone = frozenset({plan.variables[variable]})
    return plan.sets.index(alone) if alone in plan.sets else -1


def load_tests(plan: WorkloadScan, tests: Sequence[TestSpec]) -> Tests:
    """Tests as arrays."""
    comparisons = [as_comparison(plan, test) for test in tests]
    conditions = [plan.conditions[test.condition] for test in tests]
    operands = [operand for test in tests for operand in test.operands]
    values = []
    for test, comparison in zip(tests, comparisons, strict=True):
        values += [-1] * len(test.operands) if comparison is None else list(comparison[:2])
    lengths = [len(test.operands) for test in tests]
    return Tests(
        np.array([one is None for one in comparisons], np.bool_),
        _shorts([-1 if one is None else one[2] for one in comparisons]),
        np.array([one is not None and one[3] for one in comparisons], np.bool_),
        np.array([one.begin for one in conditions], np.int64),
        np.array([one.end for one in conditions], np.int64),
        _shorts([sum(lengths[:number]) for number in range(len(tests) + 1)]),
        _shorts([one.slot for one in operands]),
        _shorts([int(one.role) for one in operands]),
        _shorts([one.variable for one in operands]),
        _shorts([_set(plan, one.variable) for one in operands]),
        _shorts(values),
    )


def _shorts(values: Sequence[int]) -> Shorts:
    return np.array(values, np.int32)
