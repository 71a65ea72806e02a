"""The plan of a row pattern query: projection, exchange and sort, matcher, finish."""

from __future__ import annotations

from dataclasses import dataclass, replace

from trellis.algebra import expression as e
from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression
from trellis.algebra.plan import Instruction, MatchPlan, Merge, PairPlan, ScanPlan
from trellis.algebra.prefilter import BeforeMatch
from trellis.algebra.statistics import RowStatistics
from trellis.analysis.condition_kinds import classify
from trellis.errors import UnsupportedError
from trellis.kernels import opcodes as o
from trellis.planning.automaton import compile_pattern
from trellis.planning.before_match import Survey, plan_before_match
from trellis.planning.beside import Beside, eliminate_beside
from trellis.planning.bucket_keys import Constant, time_buckets
from trellis.planning.columns import Columns, TypesOf
from trellis.planning.conditions import Conditions, plan_conditions
from trellis.planning.demands import demand_of
from trellis.planning.derive_window import derive_window
from trellis.planning.eliminate_rows import eliminate_rows
from trellis.planning.exchange import check_arrow, check_order, comparable_key, sort_by
from trellis.planning.hints import Hints
from trellis.planning.measures import Measures
from trellis.planning.merge_states import merge_states, sets_of
from trellis.planning.pair_slots import FIRST_ROW, columns_of
from trellis.planning.prefilter_sizes import rows_in_bucket
from trellis.planning.simulate import tests_from_a_row
from trellis.planning.slices import cut_of, slice_columns, sliced_by
from trellis.planning.slots import Slots
from trellis.planning.unfailing import Safety
from trellis.planning.within import plan_window

__all__ = ["plan_scan"]

# A table of search states beats backtracking while it is small: instructions, and instructions x rows of a series.
_TABLE_INSTRUCTIONS = 64


def plan_scan(
    bound: BoundQuery,
    types_of: TypesOf,
    hints: Hints,
    *,
    lenient: bool = False,
    constant: Constant = lambda _: None,
    survey: Survey | None = None,
) -> ScanPlan[MatchPlan]:
    """Plan a query.

    `types_of` answers the types of expressions over the input, `constant` the values of those that read no row,
    `survey` gives statistics of the input; `lenient` is Spark without ANSI mode.
    """
    columns = Columns(types_of)
    derived = derive_window(bound, columns, constant, lenient) if hints.on("derive_window") else None
    bound = derived or bound
    instructions = compile_pattern(bound.query.pattern, bound.variables)
    keys = [comparable_key(expression, columns) for _, expression in bound.partition_by]
    columns.learn([*keys, *(expression for _, expression in bound.order_by)])
    check_order(bound, columns)
    safety = Safety.of((condition for _, condition in bound.conditions), columns, lenient)
    before = _plan_before(bound, tuple(keys), columns, instructions, hints, constant, survey, safety)
    scan = _Scan(bound, tuple(keys), instructions, before, hints, constant, lenient, derived is not None)
    plan = scan.plan(columns)
    # Slices and pairs count rows, and with `keep` there is nothing more to drop.
    if before.keep is not None or before.slices is not None or plan.pairs is not None or not hints.on("eliminate_rows"):
        return plan
    beside = eliminate_beside(bound, instructions, safety)
    return plan if beside is None else scan.plan(beside.columns_after(columns), beside)


@dataclass(frozen=True, slots=True)
class _Scan:
    """A query, and what was decided about it before its columns are."""

    bound: BoundQuery
    keys: tuple[Expression, ...]
    instructions: tuple[Instruction, ...]
    before: BeforeMatch
    hints: Hints
    constant: Constant
    lenient: bool
    is_derived: bool

    def plan(self, columns: Columns, beside: Beside | None = None) -> ScanPlan[MatchPlan]:
        """The plan; with `beside`, values of other rows are columns."""
        bound, hints = self.bound, self.hints
        conditions = plan_conditions(
            bound, columns, hints, lenient=self.lenient, settle=None if beside is None else beside.by_slot
        )
        measures = Measures(columns, Slots(bound.variables), lenient=self.lenient)
        finished = _finish(bound, measures, beside)
        grouped = measures.groups()
        window = plan_window(bound, columns, self.constant)
        key_names = tuple(columns.ship(key) for key in self.keys)
        pairs = _pairs(bound, self.keys, conditions)
        order = [expression for _, expression in bound.order_by]
        if pairs is not None:
            row = e.Column((pairs.row,))
            columns.types[row] = "int"
            order = [row]
        order_names = [columns.project(expression) for expression in order]
        outputs = tuple((name, output) for output, name in measures.outputs.items())
        slices = self.before.slices if pairs is None else None
        slices, spec = slice_columns(slices, outputs, columns)
        series = key_names if spec is None else (*key_names, spec.number)
        row_local = all(condition.where != "kernel" for condition in conditions.conditions)
        if not columns.shipped:
            # Rows without columns would lose their number on the way to Python.
            columns.ship(e.Literal("TRUE"))
        check_arrow(columns)
        beside_plan = None if beside is None else beside.finish(columns)
        return ScanPlan(
            projected=tuple((name, expression) for expression, name in columns.names.items()),
            sorted_by=sort_by(bound.query.order_by if pairs is None else None, series, order_names, columns),
            shipped=(*columns.shipped, *sliced_by(spec)),
            match=MatchPlan(
                keys=series,
                variables=bound.variables,
                instructions=self.instructions,
                conditions=conditions.conditions,
                slots=tuple(conditions.slots.sources),
                program=conditions.program,
                places=conditions.places,
                aggregates=conditions.aggregates,
                merges=_merges(self.instructions, bound, conditions, hints),
                window=window,
                skip=bound.query.after_match.to,
                skip_to=bound.skip_to,
                rows_per_match=bound.query.rows_per_match,
                measure_slots=tuple(measures.slots.sources),
                measure_places=tuple(measures.places),
                measure_aggregates=tuple(measures.aggregates),
                outputs=outputs,
                budget=hints.step_budget,
                by_table=row_local and hints.search != "backtrack" and len(self.instructions) <= _TABLE_INSTRUCTIONS,
                chunk_rows=hints.chunk_rows,
                slices=spec,
                dropped=self.before.drops or beside is not None,
            ),
            finished=finished,
            rules=(*self._rules(conditions, pairs), *_beside_rules(beside), *self.before.rules),
            pairs=pairs,
            before=replace(self.before, slices=slices),
            partition_keys=self.keys,
            beside=beside_plan,
            grouped=grouped,
        )

    def _rules(self, conditions: Conditions, pairs: PairPlan | None) -> tuple[str, ...]:
        """What each rule did, for `explain`."""
        lines = []
        if self.is_derived:
            lines.append(f"derive_window: a condition bounds every match, as WITHIN {self.bound.query.within} does")
        if conditions.hoisted:
            lines.append(f"hoist_slots: functions of one row moved to Spark ({', '.join(conditions.hoisted)})")
        if pairs is not None:
            slow = [condition.variable for condition in conditions.conditions if condition.slow]
            lines.append(f"pair_slots: functions of two rows computed for all pairs ({', '.join(slow)})")
        kernel = [condition.variable for condition in conditions.conditions if condition.where == "kernel"]
        if kernel and self.hints.on("merge_states"):
            lines.append(f"merge_states: equivalent search states are searched once ({', '.join(kernel)})")
        return tuple(lines)


def _plan_before(
    bound: BoundQuery,
    keys: tuple[Expression, ...],
    columns: Columns,
    instructions: tuple[Instruction, ...],
    hints: Hints,
    constant: Constant,
    survey: Survey | None,
    safety: Safety,
) -> BeforeMatch:
    """What happens to the rows before they come to the matcher."""
    kinds = classify(bound)
    buckets = time_buckets(bound, columns, constant)
    keep = eliminate_rows(bound, kinds, instructions, safety) if hints.on("eliminate_rows") else None

    def tests(statistics: RowStatistics) -> float:
        chances = {number: statistics.shares.get(name, 1.0) for number, name in enumerate(bound.variables)}
        rows = rows_in_bucket(buckets, statistics)
        return tests_from_a_row(instructions, chances, rows, merged=not any(kinds.dependent.values()))

    demand = demand_of(bound, kinds, keys, buckets, safety)
    return plan_before_match(demand, keep, cut_of(bound, keys, buckets, columns), tests, hints, survey)


def _pairs(bound: BoundQuery, keys: tuple[Expression, ...], conditions: Conditions) -> PairPlan | None:
    functions = conditions.slots.pairs
    if not functions:
        return None
    for name in bound.columns:
        if name.startswith("__"):
            raise UnsupportedError(
                f"A function of two rows cannot be computed beside the column {name}.",
                cure="Give columns names that do not begin with two underscores.",
            )
    sort = zip(bound.order_by, bound.query.order_by, strict=True)
    return PairPlan(
        keys=keys,
        order=tuple((expression, key.descending, key.nulls_first) for (_, expression), key in sort),
        first=tuple(dict.fromkeys(name for value in functions for name in columns_of(value))),
        values=tuple((name, value) for value, name in functions.items()),
        struct=FIRST_ROW,
        row="__row",
    )


def _merges(
    instructions: tuple[Instruction, ...], bound: BoundQuery, conditions: Conditions, hints: Hints
) -> tuple[Merge, ...]:
    if not hints.on("merge_states"):
        return (Merge(o.NEVER),) * len(instructions)
    sets = sets_of(conditions.places, conditions.aggregates)
    return merge_states(instructions, bound.variables, conditions.reads, sets)


def _beside_rules(beside: Beside | None) -> tuple[str, ...]:
    if beside is None:
        return ()
    return (f"eliminate_rows: only rows with {beside} can be seen; what stands beside them is computed before",)


def _finish(bound: BoundQuery, measures: Measures, beside: Beside | None) -> tuple[tuple[str, Expression], ...]:
    """The columns of the result in the standard's order."""
    partition = list({name: measures.carried(expression) for name, expression in bound.partition_by}.items())
    values: list[tuple[str, Expression]] = []
    for name, measure in bound.measures:
        moved = measure if beside is None else beside.by_column(measure)
        values.append((name, measures.finish(moved)))
    if not bound.all_rows:
        return (*partition, *values)
    if bound.query.rows_per_match.name == "ALL_WITH_UNMATCHED":
        matched = e.Operator("IS NOT NULL", (measures.finish(e.MatchNumber()),))
        values = [(name, e.Case(((matched, value),))) for name, value in values]
    sorts = {name: measures.carried(expression) for name, expression in bound.order_by if name not in dict(partition)}
    order = list(sorts.items())
    named = {name for name, _ in (*partition, *order)}
    rest = [(name, measures.carried(e.Column((name,)))) for name in bound.columns if name not in named]
    return (*partition, *order, *values, *rest)
