"""Kernels compiled ahead: a small query through every kernel, with the very types that real chunks have.

Compiled code is kept on disk, so this takes seconds once on a machine and a fraction of a second afterwards.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from trellis.algebra.automaton import (
    AggregateSpec,
    AutomatonScan,
    Condition,
    Instruction,
    Merge,
    Op,
    Register,
    Search,
    SkipSpec,
)
from trellis.algebra.event_scan import EventScan
from trellis.algebra.partial import Element, PartialScan, Test
from trellis.algebra.place import Place
from trellis.algebra.plan import Scan
from trellis.algebra.query import RowsPerMatch, SkipTo, VariableKind
from trellis.algebra.scan import Gather, ListAggregate, ProgramSpec, SlotSource, Value
from trellis.algebra.segments import SegmentScan
from trellis.algebra.workload_scan import WorkloadScan
from trellis.execution.chunks import Chunk, read_chunks
from trellis.execution.events.warmup import compile_events
from trellis.execution.loading import load_edges, load_slots, load_starts
from trellis.execution.rows.matcher import RowMatcher
from trellis.execution.rows.partial import PartialMatcher
from trellis.execution.segments.warmup import compile_segment_joins, compile_segment_values
from trellis.execution.workloads.warmup import compile_workloads
from trellis.kernels import opcodes as o
from trellis.kernels.matches import find_matches
from trellis.kernels.ready import is_ready
from trellis.kernels.room import new_matches, new_work
from trellis.kernels.slices import resolve_slices
from trellis.kernels.wide import has_wide

__all__ = ["Kernels", "compile_kernels", "kernels_for", "kernels_of", "start_warmup", "warmup"]

_LOG = logging.getLogger("trellis")
_LOCK = threading.Lock()
_HELPER_SECONDS = 300


class Kernels(Enum):
    """Kernels that are compiled together, since plans need them together."""

    ROWS = "row patterns"
    SEGMENTS = "segment patterns"
    EVENTS = "event patterns"
    WORKLOADS = "many event patterns"
    WIDE_DECIMALS = "decimals of more than 18 digits between rows"
    PARTIAL = "why nothing matched"


_warm: set[Kernels] = set()


class _Group(NamedTuple):
    largest: str  # kernel
    variants: int  # of it, once the group is compiled
    here: tuple[str, ...]
    there: tuple[str, ...]  # in a second process, meanwhile


_GROUPS = {
    Kernels.ROWS: _Group("matches.find_matches", 1, ("compile_search",), ("compile_measures",)),
    Kernels.SEGMENTS: _Group(
        "pairs.concat_pairs", 1, ("compile_segment_values", "compile_rows"), ("compile_segment_joins",)
    ),
    Kernels.EVENTS: _Group("runs.find_events", 1, ("compile_events",), ("compile_measures",)),
    Kernels.WORKLOADS: _Group("whole_matches.finish_matches", 1, ("compile_workloads",), ("compile_measures",)),
    Kernels.PARTIAL: _Group("partial.explore", 1, ("compile_partial",), ()),
    Kernels.WIDE_DECIMALS: _Group("matches.find_matches", 2, ("compile_wide_rows",), ("compile_wide_search",)),
}


def warmup() -> float:
    """Compile all kernels, or load them where they are compiled already; the seconds it took.

    Examples
    --------
    >>> import trellis as tr
    >>> seconds = tr.warmup()
    """
    return _warm_up(*Kernels)


def kernels_for(kind: VariableKind) -> Kernels:
    """What queries with variables of a kind need at least."""
    return {VariableKind.SEGMENT: Kernels.SEGMENTS, VariableKind.EVENT: Kernels.EVENTS}.get(kind, Kernels.ROWS)


def kernels_of(scan: Scan) -> tuple[Kernels, ...]:
    """What a plan needs."""
    if isinstance(scan, EventScan):
        return (Kernels.EVENTS,)
    if isinstance(scan, WorkloadScan):
        return (Kernels.WORKLOADS,)
    needed = Kernels.SEGMENTS if isinstance(scan, SegmentScan) else Kernels.ROWS
    return (needed, Kernels.WIDE_DECIMALS) if has_wide(scan.program.code) else (needed,)


def start_warmup(kernels: Kernels = Kernels.ROWS) -> threading.Thread:
    """Warm up beside other work. Join the thread before workers start, so that they only load."""
    thread = threading.Thread(target=_warm_up, args=(kernels,), name="trellis-warmup", daemon=True)
    thread.start()
    return thread


def _warm_up(*wanted: Kernels) -> float:
    with _LOCK:
        groups = [_GROUPS[kernels] for kernels in wanted if kernels not in _warm]
        began = time.perf_counter()
        missing = [group for group in groups if not _is_compiled(group.largest, group.variants)]
        helper = None
        if missing:
            print("trellis: compiling kernels, once on this machine; up to a minute", file=sys.stderr, flush=True)
            helper = _start_helper(tuple(name for group in missing for name in group.there))
        try:
            compile_kernels(tuple(name for group in groups for name in group.here))
        finally:
            _end_helper(helper)
        compile_kernels(tuple(name for group in groups for name in group.there))
        _warm.update(wanted)
        seconds = time.perf_counter() - began
        if groups:
            _LOG.info("kernels for %s ready after %.1f s", ", ".join(one.value for one in wanted), seconds)
        return seconds


def compile_kernels(names: tuple[str, ...]) -> None:
    """Compile or load some groups of kernels."""
    for name in names:
        _COMPILED[name]()


def compile_search(*, wide: bool = False) -> None:
    """Compile or load what finds matches."""
    chunk, matcher = _chunk(), RowMatcher(_plan(o.BIT, wide))
    matcher.find(chunk, None)
    if not wide:
        skips = SkipSpec((0,), (False,), (0,), (0, 1), (0, 0), (False, False))
        RowMatcher(replace(matcher.plan, skips=skips)).find(chunk, None)


def compile_rows(*, wide: bool = False) -> None:
    """Compile or load the interpreter of conditions of single rows."""
    chunk, matcher = _chunk(), RowMatcher(_plan(o.PROGRAM))
    work = new_work(2, 5, 3, 4, True, False, wide)
    slots = load_slots(chunk, matcher.plan.slots, None)
    origins, edges = load_starts(chunk, None), load_edges(matcher.plan, chunk)
    matcher.conditions(chunk, slots, matcher.program(None), work, np.zeros(3, np.int64), origins, edges)


def compile_measures() -> None:
    """Compile or load the rest: conditions of single rows, and what is read from matches."""
    compile_rows()
    list(RowMatcher(_plan(o.PROGRAM)).results(_chunk(), None, new_matches(3)))
    none = np.zeros(0, np.int64)
    resolve_slices(np.zeros(0, np.bool_), none, none, none, none, np.zeros(3, np.int64), none)


def compile_partial() -> None:
    """Compile or load what follows partial matches."""
    scan, chunk = _plan(o.BIT), _chunk()
    plan = PartialScan(
        scan=scan,
        elements=(Element(0, "A"), Element(1, "B*")),
        tests=((Test("", 0, 0, True),), (Test("", 0, 1, False),)),
        instructions=scan.instructions,
        backward=scan.backward,
        merges=scan.merges,
        key_width=scan.key_width,
        missing=(1, 0, 1, 0, 0),
        shown=(),
        keys=(),
        nearest=0,
        start_steps=1_000,
        row_steps=100,
    )
    matcher = PartialMatcher(plan)
    for sweeps in (False, True):
        matcher.sweeps = sweeps
        if sweeps:
            # Only bits are swept.
            matcher.elements = matcher.elements._replace(tests=matcher.elements.tests * 0)
        matcher.add(chunk)


_COMPILED: dict[str, Callable[[], None]] = {
    "compile_search": compile_search,
    "compile_wide_search": partial(compile_search, wide=True),
    "compile_rows": compile_rows,
    "compile_wide_rows": partial(compile_rows, wide=True),
    "compile_measures": compile_measures,
    "compile_partial": compile_partial,
    "compile_events": compile_events,
    "compile_workloads": compile_workloads,
    "compile_segment_joins": compile_segment_joins,
    "compile_segment_values": compile_segment_values,
}


def _start_helper(names: tuple[str, ...]) -> subprocess.Popen[bytes] | None:
    """A second process that compiles its share: Numba compiles one function at a time in each process."""
    if not sys.executable or (os.cpu_count() or 1) < 2:
        return None
    code = f"from trellis.execution.warmup import compile_kernels; compile_kernels({names!r})"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        return subprocess.Popen(
            [sys.executable, "-c", code],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None


def _end_helper(helper: subprocess.Popen[bytes] | None) -> None:
    """Wait for the other share, but not for ever: what is missing then is compiled here."""
    if helper is None:
        return
    try:
        helper.wait(_HELPER_SECONDS)
    except subprocess.TimeoutExpired:
        helper.kill()
        helper.wait()


def _chunk() -> Chunk:
    batch = pa.record_batch({"k": [1, 1, 2], "v": [1, 2, 3], "b": [True, True, True]})
    return next(read_chunks(iter([batch]), ("k",), 10))


def _is_compiled(kernel: str, variants: int) -> bool:
    """Whether a kernel came with the wheel or lies in Numba's cache. A wrong answer only spoils the announcement."""
    if is_ready():
        return True
    cache = getattr(find_matches, "_cache", None)
    if cache is None or not hasattr(cache, "cache_path"):
        return True
    return len(list(Path(cache.cache_path).glob(f"{kernel}-*.nbc"))) >= variants


def _plan(condition: int, wide: bool = False) -> AutomatonScan:
    """`A B*` with an aggregate in the condition of B. A is tested by a column, or by a program."""
    aggregate = AggregateSpec(o.SUM_INT, None, (0, 0))
    code: tuple[tuple[int, int, int], ...] = (
        (o.LOAD_INT, 0, 0),
        (o.AGGREGATE_INT, 0, 0),
        (o.COMPARE_INT, o.LESS_EQUAL, 0),
        # IS NULL is not computed over whole columns: the interpreter of single rows has something to do.
        (o.LOAD_INT, 0, 1),
        (o.IS_NULL, 0, 0),
        (o.NOT, 0, 0),
    )
    if wide:
        code = (*code, (o.WIDEN, 0, 0))
    merge = Merge(o.KEYED, (Register(o.AGGREGATE_STATE, 0, 0),))
    by_spark = Condition("A", "spark", "", column="b")
    return AutomatonScan(
        keys=("k",),
        variables=("A", "B"),
        instructions=(
            Instruction(Op.CONSUME, 0, x=1),
            Instruction(Op.SPLIT, x=2, y=4),
            Instruction(Op.CONSUME, 1, x=3),
            Instruction(Op.JUMP, x=1),
            Instruction(Op.ACCEPT),
        ),
        backward=(0, 4, 2, 1, 3),
        conditions=(
            by_spark if condition == o.BIT else Condition("A", "bit", "", begin=3, end=6),
            Condition("B", "kernel", "", begin=0, end=3),
        ),
        slots=(SlotSource("v", "int"),),
        program=ProgramSpec(code, (1,), (1.0,), (), 4),
        places=(Place(), Place(shift=-1)),
        aggregates=(aggregate,),
        sets=(None,),
        merges=(Merge(o.PURE), merge, merge, merge, merge),
        key_width=8,
        within=None,
        skip=SkipTo.PAST_LAST_ROW,
        skip_to=frozenset(),
        rows_per_match=RowsPerMatch.ALL_WITH_UNMATCHED,
        measure_slots=(SlotSource("v", "int"),),
        measure_places=(Place(),),
        measure_aggregates=(aggregate,),
        measure_sets=(None,),
        outputs=(("a", Gather("v", 0)), ("b", Value(0)), ("c", ListAggregate(None, ("v", "v"), True))),
        budget=1_000,
        search=Search.BACKTRACKING,
        chunk_rows=10,
    )
