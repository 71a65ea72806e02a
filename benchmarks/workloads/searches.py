"""A workload on a stream, planned and searched in this process as a worker of Spark would."""

from __future__ import annotations

import hashlib
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from pathlib import Path
from statistics import mean

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.workloads.patterns import Made, Recipe, draw_patterns
from benchmarks.workloads.streams import Stream, Values
from trellis.algebra import expression as e
from trellis.algebra.clauses import Clause
from trellis.algebra.plan import Plan
from trellis.algebra.workload_scan import WorkloadScan
from trellis.errors import ResourceError
from trellis.execution.chunks import Chunk, read_chunks
from trellis.execution.workloads.adapting import Adapt
from trellis.execution.workloads.matcher import WorkloadMatcher
from trellis.languages.workloads import parse_workload
from trellis.planning.hints import Hints
from trellis.planning.rule import Firing
from trellis.planning.workloads.adapting import adaptive_plan
from trellis.planning.workloads.before import before_workload
from trellis.planning.workloads.bound import BoundWorkload, bind_workload
from trellis.planning.workloads.plan import PlannedWorkload, SearchOptions, plan_workload
from trellis.planning.workloads.scan import scan_plan
from trellis.planning.workloads.statistics import Compared, WorkloadStatistics, compared

# The planner without Spark is that of the tests.
sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from local import source_of

__all__ = ["Planned", "Search", "Workload", "make_workload", "statistics_of"]

_SUMS = {"+": pc.add, "-": pc.subtract}
_NO_BUDGET = 1 << 62
_SIDE = r"\(?`\?{}`\.(\w+)(?: ([+-] [\d.]+)\))?"
_COMPARISON = re.compile(rf"^{_SIDE.format(0)} (<|<=|=) {_SIDE.format(1)}$")


class Workload:
    """Patterns on a stream, bound; unless `statistics` are known, they are counted on the stream, in advance."""

    def __init__(self, stream: Stream, patterns: Sequence[Made], statistics: WorkloadStatistics | None = None) -> None:
        self.stream, self.patterns = stream, tuple(patterns)
        self.hints = Hints.of({"step_budget": _NO_BUDGET})
        self.source, self.rules = source_of(stream.schema), Firing(frozenset())
        self.bound = self._bind()
        self.statistics = statistics_of(stream, self.clauses) if statistics is None else statistics

    def _bind(self) -> BoundWorkload:
        texts = {one.name: one.text for one in self.patterns}
        queries = {one.name: one.query for one in parse_workload(texts, "type", ("time", "id"))}
        return bind_workload(queries, (), self.source, self.rules.off)

    @property
    def clauses(self) -> list[Clause]:
        """The clauses of all patterns."""
        return [one.clause for one in self.bound.clauses]

    def plan(self, options: SearchOptions) -> Planned:
        """A plan, and how long it took."""
        began = time.perf_counter()
        planned = plan_workload(self.clauses, self.statistics, options)
        return Planned(planned, time.perf_counter() - began)

    @cached_property
    def density(self) -> float:
        """The share of all others with which a pattern has a sub-pattern in common, on average."""
        graph = self.plan(SearchOptions("sharing")).workload.graph
        found = [len(graph.neighbours(shape)) for shape in graph.shapes]
        return mean(found) / max(1, len(found) - 1)

    def search(self, planned: Planned, *, adapt: bool = False) -> Search:
        """The search along a plan, on the events that Spark would hand over; with `adapt`, the plan follows them."""
        bound = self._bind()
        before = before_workload(bound, self.source, self.hints, Firing(frozenset()))
        plan = scan_plan(bound, planned.workload.tree(), before, self.hints)
        assert isinstance(plan.scan, WorkloadScan)
        types = {name for one in self.patterns for name in one.types}
        counts_all = any(one.within[0] == "events" for one in self.patterns)
        table = self.stream.table if counts_all else self.stream.only(types)
        follows = adaptive_plan(bound, planned.workload) if adapt else None
        return Search(plan.scan, tuple(_shipped(plan, table)), self.stream.events, follows)


def make_workload(stream: Stream, recipe: Recipe, seed: int) -> Workload:
    """A random workload, whose patterns match at most `recipe.most_matches` times in a minute of the stream."""
    drawn = draw_patterns(stream, recipe, seed)
    found: list[Made] = []
    while len(found) < recipe.patterns:
        tried = [next(drawn) for _ in range(max(10, recipe.patterns - len(found)))]
        matches = _counts(stream, tried)
        found += [one for one in tried if matches[one.name] <= recipe.most_matches * stream.minutes]
    return Workload(stream, found[: recipe.patterns])


def _counts(stream: Stream, patterns: list[Made]) -> dict[str, float]:
    """How many matches patterns have; infinitely many where they cannot be held."""
    workload = Workload(stream, patterns)
    try:
        found = workload.search(workload.plan(SearchOptions("reordering"))).found()
    except ResourceError:
        if len(patterns) == 1:
            return {patterns[0].name: inf}
        half = len(patterns) // 2
        return _counts(stream, patterns[:half]) | _counts(stream, patterns[half:])
    return {name: count for name, (count, _) in found.items()}


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan of a workload, and the seconds that were spent on it."""

    workload: PlannedWorkload
    seconds: float


def _shipped(plan: Plan, table: pa.Table) -> list[pa.RecordBatch]:
    """The columns that Spark ships, all of which are columns of events, or whole events."""
    names = [name for name, _ in plan.projected]
    columns = [_column(expression, table) for _, expression in plan.projected]
    shipped: list[pa.RecordBatch] = pa.table(columns, names).combine_chunks().to_batches()
    return shipped


def _column(expression: e.Expression, table: pa.Table) -> pa.Array:
    if isinstance(expression, e.Column):
        return table[expression.path[-1]].combine_chunks()
    if isinstance(expression, e.Call) and expression.function == "named_struct":
        columns = expression.arguments[1::2]
        names = [column.path[-1] for column in columns if isinstance(column, e.Column)]
        return pa.StructArray.from_arrays([_column(column, table) for column in columns], names)
    if isinstance(expression, e.Operator):
        column, margin = expression.operands
        assert isinstance(margin, e.Literal) and expression.symbol in _SUMS, expression
        return _SUMS[expression.symbol](_column(column, table), float(margin.text))
    assert isinstance(expression, e.Call) and expression.function == "xxhash64", expression
    # A hash that puts rows in order that are equal in all columns of the order: there are none.
    return pa.array(np.zeros(table.num_rows, np.int64))


def statistics_of(stream: Stream, clauses: Sequence[Clause]) -> WorkloadStatistics:
    """The rates of all types, and the selectivities of all comparisons: shares of all pairs of events."""
    selectivities: dict[Compared, float] = {}
    for clause in clauses:
        labels = {part.variable: part.label for part in clause.parts}
        types = {part.variable: part.types[0] for part in clause.parts}
        for condition in clause.conditions:
            known = compared(condition, labels)
            if known not in selectivities:
                found = _COMPARISON.match(condition.template)
                assert found is not None, condition.template
                column, more, symbol, _, most = found.groups()
                left, right = (stream.values(types[variable], column) for variable in condition.variables)
                selectivities[known] = share(left + _margin(more), symbol, right + _margin(most))
    return WorkloadStatistics(stream.rates, selectivities, event_rate=stream.event_rate)


def _margin(text: str | None) -> float:
    return float(text.replace(" ", "")) if text else 0.0


def share(left: Values, symbol: str, right: Values) -> float:
    """The share of all pairs of values for which a comparison holds; the values are in order."""
    less = np.searchsorted(left, right, "left").sum()
    most = np.searchsorted(left, right, "right").sum()
    pairs = {"<": less, "<=": most, "=": most - less}[symbol]
    return float(pairs / (len(left) * len(right)))


@dataclass(slots=True)
class Search:
    """A plan as arrays, and the rows that it is for."""

    scan: WorkloadScan
    batches: tuple[pa.RecordBatch, ...]
    events: int
    adapt: Adapt | None = None
    matcher: WorkloadMatcher = field(init=False)

    def __post_init__(self) -> None:
        self.matcher = WorkloadMatcher(self.scan, self.adapt)

    def chunks(self) -> list[Chunk]:
        """The rows as the worker reads them."""
        return list(read_chunks(iter(self.batches), self.scan.keys, self.scan.chunk_rows))

    def run(self) -> int:
        """All that a worker does with the rows; the number of matches."""
        return sum(batch.num_rows for chunk in self.chunks() for batch in self.matcher.run(chunk))

    def run_anew(self) -> int:
        """The same by a worker that has seen nothing yet."""
        self.matcher = WorkloadMatcher(self.scan, self.adapt)
        return self.run()

    def rows(self) -> list[tuple[str, int, tuple[int, ...]]]:
        """The matches: the pattern, the number of the match, and the events."""
        found = []
        for chunk in self.chunks():
            for batch in self.matcher.run(chunk):
                names, numbers, _, _, events = (column.to_pylist() for column in batch.columns)
                for name, number, some in zip(names, numbers, events, strict=True):
                    found.append((name, number, tuple(event["id"] for event in some)))
        return sorted(found)

    def found(self) -> dict[str, tuple[int, str]]:
        """Of each pattern the number of its matches, and a digest of them in order."""
        counts: Counter[int] = Counter()
        digests = [hashlib.blake2b(digest_size=8) for _ in self.scan.patterns]
        for chunk in self.chunks():
            for given in self.matcher.find(chunk):
                for pattern in np.unique(given.patterns):
                    chosen = np.flatnonzero(given.patterns == pattern)
                    counts[int(pattern)] += len(chosen)
                    low, high = given.begins[chosen[0]], given.begins[chosen[-1] + 1]
                    digests[int(pattern)].update(given.rows[low:high].tobytes())
        names = self.scan.patterns
        return {name: (counts[number], digests[number].hexdigest()) for number, name in enumerate(names)}
