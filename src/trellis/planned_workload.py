"""A workload on a DataFrame: planned, then run, explained or drawn. `match_all` and `Workload` come by here."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame

from trellis.algebra.plan import Plan
from trellis.algebra.query import Query
from trellis.algebra.shared_tree import SharedTree
from trellis.algebra.workload_scan import WorkloadScan
from trellis.errors import BindingError, TrellisError, WorkloadError, raising_worker_errors
from trellis.execution.open_series import kept_for_ever
from trellis.execution.pulse import folder_of_pulses
from trellis.execution.task import MatchTask
from trellis.execution.workloads.observing import observe_table
from trellis.planned import one_core_warnings, warn
from trellis.planning.describe.plan import describe_parts
from trellis.planning.describe.workloads import PlainAbsences, PlainEdges, PlainNode, describe_workload, graph_of
from trellis.planning.hints import Hints
from trellis.planning.workloads.adapting import adaptive_plan
from trellis.planning.workloads.driver import DraftedWorkload, draft_workload
from trellis.planning.workloads.gains import costs_of
from trellis.planning.workloads.plan import PlannedWorkload, SearchOptions, plan_workload
from trellis.planning.workloads.sampling import sample_of
from trellis.planning.workloads.statistics import WorkloadStatistics
from trellis.segment_functions import registered
from trellis.spark.remembered import remembered
from trellis.spark.run import run_plan
from trellis.spark.sample import draw_rows
from trellis.spark.session import Session
from trellis.spark.source import source_of
from trellis.spark.statistics import inspect_source
from trellis.spark.workload_counts import count_instances

__all__ = ["PlanMemory", "WorkloadOnFrame", "plan_on_frame"]

_MOST_PLANS = 16


@dataclass(slots=True)
class PlanMemory:
    """The plans that a workload has on its inputs. Workloads that differ in some patterns share them."""

    plans: dict[object, PlannedWorkload] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def plan(
        self, key: object, drafted: DraftedWorkload, statistics: WorkloadStatistics, options: SearchOptions
    ) -> PlannedWorkload:
        """The plan for an input: as it stood, where patterns are the same; the others are added to it."""
        clauses = [one.clause for one in drafted.workload.clauses]
        with self.lock:
            known = self.plans.pop(key, None)
            found = plan_workload(clauses, statistics, options) if known is None else known.changed(clauses, statistics)
            self.plans[key] = found
            if len(self.plans) > _MOST_PLANS:
                del self.plans[next(iter(self.plans))]
        return found


@dataclass(frozen=True, slots=True)
class WorkloadOnFrame:
    """Patterns with their plan for a DataFrame; `seconds` is how long the plan took."""

    texts: Mapping[str, str]
    drafted: DraftedWorkload
    planned: PlannedWorkload
    tree: SharedTree
    plan: Plan
    frame: DataFrame
    session: Session
    seconds: float

    def run(self) -> DataFrame:
        """The matches, when an action asks for them."""
        # A micro-batch is over before another plan would pay.
        adapt = None if self.frame.isStreaming else adaptive_plan(self.drafted.workload, self.planned)
        return run_plan(
            self.plan, self.frame, self.session, MatchTask(self.plan.scan, adapt=adapt, pulses=folder_of_pulses())
        )

    def count(self) -> tuple[int, ...]:
        """Run the search, and count the instances of each node."""
        with raising_worker_errors():
            return count_instances(self.plan, self.frame, self.session)

    def explain(self, actual: tuple[int, ...] | None = None) -> str:
        """The plan as text."""
        text = describe_workload(
            self.tree,
            self.texts,
            costs_of(self.planned),
            strategy=self.planned.options.strategy,
            seconds=self.seconds,
            actual=actual,
        )
        kept = [] if self.plan.stream is None else kept_for_ever(self.plan.scan)
        return f"{text}\n\n{describe_parts(self.plan, kept=kept)}"

    def graph(self, actual: tuple[int, ...] | None = None) -> tuple[tuple[PlainNode, ...], PlainEdges, PlainAbsences]:
        """The plan in plain values."""
        return graph_of(self.tree, actual)


def plan_on_frame(
    texts: Mapping[str, str],
    queries: Mapping[str, Query],
    frame: DataFrame,
    session: Session,
    partition_by: tuple[str, ...],
    hints: Hints,
    options: SearchOptions,
    memory: PlanMemory,
    sample: DataFrame | None = None,
) -> WorkloadOnFrame:
    """Plan patterns for a DataFrame, by statistics of `sample` if that is given."""
    began = time.perf_counter()
    functions = {name: function.arguments for name, function in registered().items()}
    source = source_of(frame, session, functions)
    try:
        drafted = draft_workload(queries, partition_by, source, hints)
    except WorkloadError as error:
        raise _with_texts(error, texts) from error.__cause__
    key = (options, partition_by, frame.semanticHash())
    if sample is not None:
        _check_sample(sample, frame)
    statistics = _statistics(drafted, frame if sample is None else sample, session)
    planned = memory.plan(key, drafted, statistics, options)
    tree = planned.tree()
    plan = drafted.plan(tree)
    for warning in (*plan.warnings, *one_core_warnings(plan, frame, session, hints, "partition_by")):
        warn(warning)
    return WorkloadOnFrame(texts, drafted, planned, tree, plan, frame, session, time.perf_counter() - began)


def _check_sample(sample: DataFrame, frame: DataFrame) -> None:
    """A sample must have what the events have: it is planned by as if it were these."""
    there = {name.lower() for name in sample.columns}
    missing = [name for name in frame.columns if name.lower() not in there]
    if missing:
        raise BindingError(
            f"The sample has no column {', '.join(missing)}.", cure="Take rows with the same columns as the events."
        )


def _statistics(drafted: DraftedWorkload, frame: DataFrame, session: Session) -> WorkloadStatistics:
    """How often events come and conditions hold, by rows of the input; where it is not read, nothing is known."""
    if drafted.hints.statistics == "off" or frame.isStreaming:
        return WorkloadStatistics()
    source = inspect_source(frame, session)
    if not source.repeatable:
        return WorkloadStatistics()
    workload, plan = drafted.workload, drafted.plan_of_rows()
    assert isinstance(plan.scan, WorkloadScan)
    scan = plan.scan

    def ask() -> WorkloadStatistics:
        table, share = draw_rows(plan, frame, session, drafted.buckets)
        return sample_of(workload).statistics(observe_table(scan, table)).of_share(share)

    patterns = sorted(str(one.clause) for one in workload.clauses)
    question = (frame.semanticHash(), source.text, patterns, workload.partition_by)
    return remembered(session.spark, repr(question), ask)


def _with_texts(error: WorkloadError, texts: Mapping[str, str]) -> TrellisError:
    """The same errors, each with the text of its pattern."""
    return WorkloadError(tuple((name, one.with_text(texts[name])) for name, one in error.wrong), error.total)
