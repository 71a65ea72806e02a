"""Compile what finds many event patterns, by finding some."""

from __future__ import annotations

import pyarrow as pa

from trellis.algebra.automaton import AggregateSpec, Condition, WithinSpec
from trellis.algebra.place import Place
from trellis.algebra.query import RowsPerMatch
from trellis.algebra.scan import Gather, Number, PatternName, ProgramSpec, SlotSource
from trellis.algebra.workload_scan import (
    AbsenceCheck,
    JoinSpec,
    LeafSpec,
    Operand,
    Role,
    RootSpec,
    SetSpec,
    TestSpec,
    WindowSpec,
    WorkloadScan,
)
from trellis.execution.chunks import read_chunks
from trellis.execution.workloads.matcher import WorkloadMatcher
from trellis.kernels import opcodes as o

__all__ = ["compile_workloads"]


def compile_workloads() -> None:
    """Compile or load the search for many patterns."""
    batch = pa.record_batch({"k": [1, 1, 1, 2], "type": ["A", "B", "A", "C"], "v": [1, 2, 3, 4]})
    chunk = next(read_chunks(iter([batch]), ("k",), 10))
    list(WorkloadMatcher(_plan()).run(chunk))


def _plan() -> WorkloadScan:
    """`SEQ(A+ a[], ~(B c), A b)` with a comparison, and an aggregate in a condition of the whole."""
    leaf = LeafSpec(("A",))
    test = TestSpec(3, (Operand(0, 0), Operand(1, 1)))
    whole = TestSpec(4, (Operand(2, 0, Role.ALL),))
    absence = AbsenceCheck(LeafSpec(("B",)), (0,), (1,))
    root = RootSpec(0, 1, (0, 1), 0, (SetSpec(0, leaf, (1,)),), (whole,), (absence,))
    code = (
        (o.LOAD_INT, 0, 0),
        (o.LOAD_INT, 0, 1),
        (o.COMPARE_INT, o.LESS_EQUAL, 0),
        (o.AGGREGATE_INT, 0, 0),
        (o.CONST_INT, 0, 0),
        (o.COMPARE_INT, o.LESS_EQUAL, 0),
    )
    one, other, many = frozenset({"event 0"}), frozenset({"event 1"}), frozenset({"set 2"})
    return WorkloadScan(
        keys=("k",),
        variables=("event 0", "event 1", "set 2"),
        conditions=(
            *(Condition(name, "always", "") for name in ("event 0", "event 1", "set 2")),
            Condition("compared", "kernel", "", begin=0, end=3),
            Condition("summed", "kernel", "", begin=3, end=6),
        ),
        slots=(SlotSource("v", "int"),),
        program=ProgramSpec(code, (100,), (1.0,), (), 4),
        places=(Place(one), Place(other)),
        aggregates=(AggregateSpec(o.SUM_INT, many, (0,) * 5),),
        sets=(one, other, many),
        within=None,
        rows_per_match=RowsPerMatch.ONE,
        measure_slots=(),
        measure_places=(Place(final=True),),
        measure_aggregates=(),
        measure_sets=(None,),
        outputs=(("p", PatternName()), ("n", Number()), ("v", Gather("v", 0))),
        budget=1_000,
        chunk_rows=10,
        type="type",
        agreed=(),
        patterns=("p",),
        nodes=(leaf, JoinSpec(0, 0, (0,), (1,), 0, before=((0, 1),), tests=(test,))),
        roots=(root,),
        windows=(WindowSpec(WithinSpec("v", "", False, 10)),),
    )
