"""Ask why a query on a DataFrame found nothing. Every public function that asks comes by here."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame

from trellis.algebra.query import Query, VariableKind
from trellis.errors import BindingError, UnsupportedError, raising_worker_errors
from trellis.execution.warmup import Kernels, start_warmup
from trellis.planning.driver import bind_rows
from trellis.planning.hints import Hints
from trellis.planning.rule import Firing
from trellis.planning.why.plan import QUIET
from trellis.reasons.events import why_events
from trellis.reasons.report import Why
from trellis.reasons.rows import why_rows
from trellis.reasons.segments import STEP_BUDGET as SEGMENT_BUDGET
from trellis.reasons.segments import why_segments
from trellis.segment_functions import registered
from trellis.spark.excerpt import Excerpt, excerpt_of
from trellis.spark.session import Session
from trellis.spark.source import source_of
from trellis.spark.worker_python import require_worker_python
from trellis.stage_counts import STEP_BUDGET

__all__ = ["why_on"]


def why_on(
    query: Query,
    frame: DataFrame,
    session: Session,
    hints: Hints,
    *,
    qualifier: tuple[str, ...] = (),
    sample: int | None = None,
    nearest: int = 3,
) -> Why:
    """Ask why a query found nothing in a DataFrame; in a `sample` of so many rows, or in all."""
    for name, number, least in (("sample", sample, 1), ("nearest", nearest, 0)):
        if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < least):
            raise BindingError(f"{name} must be a whole number, not {number!r}.", cure=f"Pass {least} or more.")
    if frame.isStreaming:
        raise UnsupportedError(
            "A stream never ends, so nobody can say yet why nothing matches.",
            cure="Ask about a table of the rows that came: spark.read in place of spark.readStream.",
        )
    functions = {name: function.arguments for name, function in registered().items()}
    source = source_of(frame, session, functions, qualifier)
    hints = replace(hints, off=tuple(dict.fromkeys((*hints.off, *QUIET))), slices=None)
    rules = Firing(frozenset(hints.off))
    if query.kind is VariableKind.EVENT:
        require_worker_python(session.spark)
        return why_events(query, frame, session, _bounded(hints, STEP_BUDGET), sample)
    bound = bind_rows(query, source, hints, rules)
    excerpt = Excerpt(frame, -1, -1)
    if sample is not None:
        keys = [str(key) for key in query.partition_by]
        excerpt = excerpt_of(frame, keys, [str(key.expression) for key in query.order_by], sample)
    require_worker_python(session.spark)
    segments = bound.query.kind is VariableKind.SEGMENT
    start_warmup(Kernels.SEGMENTS if segments else Kernels.PARTIAL).join()
    with raising_worker_errors():
        if segments:
            return why_segments(bound, source, excerpt, session, _bounded(hints, SEGMENT_BUDGET), rules)
        return why_rows(bound, source, excerpt, session, hints, rules, nearest)


def _bounded(hints: Hints, budget: int) -> Hints:
    """Parts of a pattern have more than the whole: their searches are given up sooner, unless the user says when."""
    return replace(hints, step_budget=budget) if hints.step_budget == Hints().step_budget else hints
