"""Compile what finds events, by finding some."""

from __future__ import annotations

import pyarrow as pa

from trellis.algebra.automaton import AggregateSpec, Condition
from trellis.algebra.event_scan import AbsenceSpec, EdgeTests, EventScan, EventSearch, PartSpec, WordSpec
from trellis.algebra.place import Place
from trellis.algebra.query import RowsPerMatch, Selection
from trellis.algebra.scan import ProgramSpec, SlotSource
from trellis.execution.chunks import read_chunks
from trellis.execution.events.decompress import Decompress
from trellis.execution.events.matcher import EventMatcher
from trellis.kernels import opcodes as o

__all__ = ["compile_events"]


def compile_events() -> None:
    """Compile or load the search for events."""
    batch = pa.record_batch({"k": [1, 1, 2], "v": [1, 2, 3], "b": [True, True, True]})
    chunk = next(read_chunks(iter([batch]), ("k",), 10))
    list(EventMatcher(_plan()).find(chunk, None))
    node = pa.struct([("a", pa.int64())])
    end = pa.struct([("source", pa.int32()), ("target", pa.int32())])
    graph = {"nodes": pa.array([[{"a": 1}]], pa.list_(node)), "edges": pa.array([[]], pa.list_(end))}
    list(Decompress(())(iter([pa.record_batch(graph)])))


def _plan() -> EventScan:
    """`SEQ(A+ a[], ~(B b))` with an aggregate in the condition of a[i]."""
    bit = Condition("A", "spark", "", column="b")
    kernel = Condition("A[i], before", "kernel", "", begin=0, end=3)
    return EventScan(
        keys=("k",),
        variables=("A",),
        conditions=(bit, kernel),
        slots=(SlotSource("v", "int"),),
        program=ProgramSpec(
            ((o.LOAD_INT, 0, 0), (o.AGGREGATE_INT, 0, 0), (o.COMPARE_INT, o.LESS_EQUAL, 0)), (1,), (1.0,), (), 4
        ),
        places=(Place(frozenset({"A"})),),
        aggregates=(AggregateSpec(o.SUM_INT, frozenset({"A"}), (0, 0)),),
        sets=(frozenset({"A"}),),
        within=None,
        rows_per_match=RowsPerMatch.ONE,
        budget=1_000,
        chunk_rows=10,
        parts=(PartSpec(True, EdgeTests(0), EdgeTests(0, 1), EdgeTests()),),
        absences=(AbsenceSpec(0, EdgeTests(0, 1)),),
        words=(WordSpec(frozenset()), WordSpec(frozenset({1}), (0,)), *[WordSpec(frozenset({1}))] * 5),
        selection=Selection.SKIP_TILL_NEXT_MATCH,
        non_overlapping=False,
        most_events=0,
        search=EventSearch.MERGED,
        measure_slots=(),
        measure_places=(),
        measure_aggregates=(),
        measure_sets=(),
        outputs=(),
    )
