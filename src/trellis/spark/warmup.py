"""Kernels compiled ahead: a small query through every kernel, with the very types that real chunks have.

Compiled code is kept on disk, so this takes seconds once on a machine and a fraction of a second afterwards.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa

from trellis.algebra.expression import Place
from trellis.algebra.plan import (
    AggregateSpec,
    Condition,
    Gather,
    Instruction,
    ListAggregate,
    MatchPlan,
    Merge,
    Op,
    ProgramSpec,
    Register,
    SlotSource,
    Value,
    WindowSpec,
)
from trellis.algebra.query import RowsPerMatch, SkipTo
from trellis.kernels import opcodes as o
from trellis.kernels.matches import find_matches
from trellis.spark.worker import match_batches

__all__ = ["start_warmup", "warmup"]

_LOG = logging.getLogger("trellis")
_LOCK = threading.Lock()
_warm = False


def warmup() -> float:
    """Compile all kernels, or load them where they are compiled already; the seconds it took.

    Examples
    --------
    >>> import trellis as tr
    >>> seconds = tr.warmup()
    """
    global _warm
    with _LOCK:
        if _warm:
            return 0.0
        began = time.perf_counter()
        if not _is_compiled():
            print("trellis: compiling kernels, once on this machine; about ten seconds", file=sys.stderr, flush=True)
        for by_table in (True, False):
            batch = pa.record_batch({"k": [1, 1, 2], "v": [1, 2, 3]})
            list(match_batches(_plan(by_table), iter([batch])))
        _warm = True
        seconds = time.perf_counter() - began
        _LOG.info("kernels ready after %.1f s", seconds)
        return seconds


def start_warmup() -> threading.Thread:
    """Warm up beside other work; join the thread before workers start, so that they only load."""
    thread = threading.Thread(target=warmup, name="trellis-warmup", daemon=True)
    thread.start()
    return thread


def _is_compiled() -> bool:
    """Whether the largest kernel lies in Numba's cache. A wrong answer only spoils the announcement."""
    cache = getattr(find_matches, "_cache", None)
    if cache is None or not hasattr(cache, "cache_path"):
        return True
    return any(Path(cache.cache_path).glob("matches.find_matches-*.nbc"))


def _plan(by_table: bool) -> MatchPlan:
    """`A B*` with a condition, an aggregate and a window: every kernel has something to do."""
    aggregate = AggregateSpec(o.SUM_INT, None, (0, 0))
    code = (
        (o.LOAD_INT, 0, 0),
        (o.AGGREGATE_INT, 0, 0),
        (o.COMPARE_INT, o.LESS_EQUAL, 0),
    )
    # IS NULL is not computed over whole columns: the interpreter of single rows has something to do, too.
    local = ((o.LOAD_INT, 0, 1), (o.IS_NULL, 0, 0), (o.NOT, 0, 0))
    where = "bit" if by_table else "kernel"
    merge = Merge(o.KEYED, (Register(o.AGGREGATE_STATE, 0, 0),))
    return MatchPlan(
        keys=("k",),
        variables=("A", "B"),
        instructions=(
            Instruction(Op.CONSUME, 0, x=1),
            Instruction(Op.SPLIT, x=2, y=4),
            Instruction(Op.CONSUME, 1, x=3),
            Instruction(Op.JUMP, x=1),
            Instruction(Op.ACCEPT),
        ),
        conditions=(
            Condition("A", "bit", "", begin=3, end=6),
            Condition("B", where, "", begin=3 if by_table else 0, end=6 if by_table else 3),
        ),
        slots=(SlotSource("v", "int"),),
        program=ProgramSpec(code + local, (1,), (1.0,), (), 4),
        places=(Place(), Place(shift=-1)),
        aggregates=() if by_table else (aggregate,),
        merges=(Merge(o.PURE), merge, merge, merge, merge) if not by_table else (Merge(o.PURE),) * 5,
        window=WindowSpec("v", "v", False) if by_table else None,
        skip=SkipTo.PAST_LAST_ROW,
        skip_to=frozenset(),
        rows_per_match=RowsPerMatch.ALL,
        measure_slots=(SlotSource("v", "int"),),
        measure_places=(Place(),),
        measure_aggregates=(aggregate,),
        outputs=(("a", Gather("v", 0)), ("b", Value(0)), ("c", ListAggregate(None, ("v", "v"), True))),
        budget=1_000,
        by_table=by_table,
        chunk_rows=10,
    )
