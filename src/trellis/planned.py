"""A query on a DataFrame: planned, then run or explained. Every public function comes by here."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from trellis.algebra.expression import Expression
from trellis.algebra.plan import Plan
from trellis.algebra.query import Query
from trellis.algebra.segments import SegmentScan
from trellis.errors import TrellisError, TrellisWarning, UnsupportedError, raising_worker_errors, worker_error
from trellis.execution.open_series import kept_for_ever
from trellis.execution.pulse import folder_of_pulses
from trellis.execution.segments.trial import try_tree
from trellis.execution.task import MatchTask
from trellis.execution.warmup import Kernels, kernels_for, kernels_of, start_warmup
from trellis.origins import remember
from trellis.planning.describe.plan import describe_plan
from trellis.planning.describe.segments import describe_trial
from trellis.planning.driver import plan_query
from trellis.planning.hints import Hints
from trellis.planning.segments.choose import choose_tree
from trellis.segment_functions import registered
from trellis.spark.counts import Counts, run_counted
from trellis.spark.quiet import unlogged
from trellis.spark.refusals import locate, refused
from trellis.spark.run import run_plan
from trellis.spark.sample import sample_rows
from trellis.spark.session import Session, has_subquery
from trellis.spark.source import source_of
from trellis.spark.statistics import known_size
from trellis.spark.worker_python import require_worker_python

__all__ = ["Planned", "errors_about", "explain_all", "one_core_warnings", "plan_on", "warm", "warm_kernels", "warn"]


_LARGE = 512 * 2**20
"""Bytes that one core searches for a minute or more."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A query with its plan for a DataFrame. With `counts`, running it counts rows and matches."""

    query: Query
    plan: Plan
    frame: DataFrame
    session: Session
    hints: Hints
    counts: Counts | None

    def run(self) -> DataFrame:
        """The result of the query, when an action asks for it."""
        task = MatchTask(self.plan.scan, pulses=folder_of_pulses())
        if isinstance(self.plan.scan, SegmentScan):
            task = replace(task, functions=registered(), choose=choose_tree)
        result = run_plan(self.plan, self.frame, self.session, task, self.counts)
        return remember(result, self.query, self.frame)

    def explain(self) -> str:
        """The plan as text; with the counts, if it ran."""
        kept = [] if self.plan.stream is None else kept_for_ever(self.plan.scan)
        text = describe_plan(self.query, self.plan, self._tree(), kept)
        return text if self.counts is None else f"{text}\n\n== Counts ==\n{self.counts}"

    def _tree(self) -> list[str]:
        """The tree that workers might choose for a segment pattern, by a sample."""
        if not isinstance(self.plan.scan, SegmentScan):
            return []
        if self.hints.statistics == "off":
            return ["workers choose it from their rows; statistics are off, so no sample was taken"]
        table = sample_rows(self.plan, self.frame, self.session)
        run = self.counts is not None
        return describe_trial(try_tree(self.plan.scan, table, registered(), choose_tree, run=run))


def plan_on(
    query: Query,
    frame: DataFrame,
    session: Session,
    hints: Hints,
    *,
    qualifier: tuple[str, ...] = (),
    counted: bool = False,
    quietly: bool = False,
) -> Planned:
    """Plan a query for a DataFrame; `qualifier` may stand before its columns.

    `quietly` is for those who only want to know whether the query is right: no warnings, nothing is compiled, and no
    job runs, not for the value of a subquery either.
    """
    functions = {name: function.arguments for name, function in registered().items()}
    source = source_of(frame, session, functions, qualifier)
    if quietly:
        source = replace(source, constant=partial(_without_job, source.constant))
    plan = plan_query(query, source, hints)
    if counted and plan.stream is not None:
        raise UnsupportedError("A stream never ends, so its rows cannot be counted.", cure="Leave out analyze.")
    one_core = () if quietly else one_core_warnings(plan, frame, session, hints, query.words.keys)
    for warning in () if quietly else (*plan.warnings, *one_core):
        warn(warning)
    for kernels in () if quietly else kernels_of(plan.scan):
        if kernels is not kernels_for(query.kind):
            # Nobody knew before that the plan needs them.
            start_warmup(kernels).join()
    return Planned(query, plan, frame, session, hints, Counts() if counted else None)


def _without_job(constant: Callable[[Expression], object], expression: Expression) -> object:
    return None if has_subquery(expression) else constant(expression)


def explain_all(clauses: Sequence[Planned], result: DataFrame | None) -> str:
    """The plans of all clauses of a statement; its result is run for the counts, and thrown away."""
    with raising_worker_errors():
        if result is not None:
            require_worker_python(result.sparkSession)
            run_counted(result, [planned.counts for planned in clauses if planned.counts is not None])
        return "\n\n\n".join(planned.explain() for planned in clauses)


def one_core_warnings(plan: Plan, frame: DataFrame, session: Session, hints: Hints, keys: str) -> Sequence[str]:
    """A word on a large input that one core has to search, since nothing cuts it; `keys` is what would."""
    if plan.scan.keys or plan.stream is not None or hints.one_core or hints.statistics == "off":
        return ()
    keys = keys if keys.isupper() else keys[0].lower() + keys[1:]
    size = known_size(frame, session)
    if size is None or size < _LARGE:
        return ()
    return (
        f"The input has {size / 2**30:,.1f} GB by Spark's estimate, and without {keys} one core searches all of it. "
        f"Add {keys}, if rows make several series; or pass hints={{'one_core': True}}.",
    )


@contextmanager
def errors_about(text: str) -> Iterator[None]:
    """Errors show the text that they are about; what Spark refuses becomes a Trellis error, and is said but once."""
    try:
        with unlogged():
            yield
    except TrellisError as error:
        if isinstance(error.__cause__, PySparkException) and error.text is None:
            locate(error, error.__cause__, text)
        raise error.with_text(text) from error.__cause__
    except PySparkException as problem:
        raised = worker_error(problem)
        if raised is not None:
            raise raised.with_text(text) from None
        refusal = refused(problem)
        locate(refusal, problem, text)
        raise refusal.with_text(text) from problem


@contextmanager
def warm(*queries: Query) -> Iterator[None]:
    """Kernels are compiled or loaded while the query is planned, so that workers only load."""
    with warm_kernels(*{kernels_for(query.kind) for query in queries}):
        yield


@contextmanager
def warm_kernels(*needed: Kernels) -> Iterator[None]:
    """The same by the names of kernels."""
    threads = [start_warmup(kernels) for kernels in needed]
    yield
    for thread in threads:
        thread.join()


def warn(message: str) -> None:
    """Warn where the user's code calls Trellis, perhaps through `df.transform`: Python shows a place only once."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("trellis", "pyspark"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, TrellisWarning, stacklevel=level)
