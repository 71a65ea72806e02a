"""The kernels of workloads are compiled once: every chunk has the same types as the one that warms them up."""

from __future__ import annotations

import numba
import pytest

from local_workloads import plan_patterns, run_plan
from properties.test_workloads import SCHEMA, TIME
from trellis.execution.warmup import Kernels, kernels_of, warmup
from trellis.execution.workloads.warmup import compile_workloads
from trellis.kernels import instances, plain_matches, reaches, whole_matches

KERNELS = [
    instances.find_instances,
    plain_matches.write_plain_matches,
    reaches.find_earliest,
    reaches.find_until,
    whole_matches.finish_matches,
]
PATTERNS = {
    "p": "PATTERN SEQ(A a, B+ b[], C c) WHERE { a.x < c.x and sum(b[].x) > 2 and b[i].y = b[i-1].y } WITHIN 5",
    "q": "PATTERN AND(A a, ~(B b), C c) WHERE { [k] and a.x + 1 < c.y } WITHIN 4 EVENTS",
    "r": "PATTERN SEQ(A a, C c)",
}
ROWS = [
    {"id": number, "type": "ABBC"[number % 4], "time": number, "x": number % 3, "y": number % 2, "k": 1}
    for number in range(40)
]


def test_the_plan_of_the_warm_up_can_be_run() -> None:
    """With the compiler off this finds what would be read beyond an array."""
    compile_workloads()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_no_workload_compiles() -> None:
    warmup()
    plan = plan_patterns(PATTERNS, SCHEMA, (), TIME)
    assert kernels_of(plan.scan) == (Kernels.WORKLOADS,)
    assert run_plan(plan, ROWS, SCHEMA)
    for kernel in KERNELS:
        assert len(kernel.signatures) == 1, kernel.__name__
