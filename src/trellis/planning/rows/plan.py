"""The plan of a row pattern: an automaton, its conditions and measures, and what is dropped before the match."""

from __future__ import annotations

from dataclasses import dataclass, replace

from trellis.algebra.automaton import AutomatonScan, Instruction, Merge, Search, SkipSpec
from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression
from trellis.algebra.pattern import Alt, Pattern, is_possessive
from trellis.algebra.plan import PairPlan, Plan
from trellis.algebra.prefilter import BeforeMatch
from trellis.algebra.query import Wanted
from trellis.algebra.scan import SlotSource
from trellis.algebra.statistics import RowStatistics
from trellis.analysis.condition_kinds import classify
from trellis.analysis.row_tests import RowTests, columns_in
from trellis.analysis.source import Source
from trellis.errors import UnsupportedError
from trellis.kernels import opcodes as o
from trellis.planning.before_match.bucket_keys import time_buckets
from trellis.planning.before_match.demands import demand_of
from trellis.planning.before_match.neighbours import Neighbours
from trellis.planning.before_match.plan import Wanting, plan_before_match
from trellis.planning.before_match.sizes import rows_in_bucket
from trellis.planning.before_match.slices import cut_of
from trellis.planning.draft import Draft, Series, bind_keys, result_columns
from trellis.planning.exchange import pair_order
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.pair_slots import FIRST_ROW, ROW_NUMBER, columns_of
from trellis.planning.expressions.slots import SlotTable
from trellis.planning.expressions.unfailing import Safety
from trellis.planning.hints import Hints
from trellis.planning.rows.automaton import backward_order, compile_pattern
from trellis.planning.rows.conditions import plan_conditions
from trellis.planning.rows.expected_tests import tests_from_a_row
from trellis.planning.rows.measures import RowMeasures
from trellis.planning.rows.merge_states import key_width, sets_of
from trellis.planning.rows.row_conditions import RowConditions
from trellis.planning.rows.within import plan_within
from trellis.planning.rule import Firing
from trellis.planning.rules import (
    DERIVE_WINDOW,
    DROP_REDUNDANT,
    ELIMINATE_ROWS,
    FIX_DISTANCES,
    MERGE_STATES,
    NEIGHBOUR_COLUMNS,
    NO_MATCH,
    SKIP_SEARCH,
)

__all__ = ["RowPlanner", "plan_rows"]

# A table of search states beats backtracking while it is small: instructions, and instructions x rows of a series.
_TABLE_INSTRUCTIONS = 64


def plan_rows(bound: BoundQuery, source: Source, hints: Hints, rules: Firing) -> Plan:
    """Plan a row pattern query."""
    columns = Columns(source.types_of)
    bound = rules.apply(DERIVE_WINDOW, bound, columns, source) or bound
    # The types of all columns in one question.
    columns.learn(columns_in(condition for _, condition in bound.conditions))
    tests = RowTests(columns.type_of, source.lenient, source.schema.padded)
    safety = Safety.of((condition for _, condition in bound.conditions), columns, source.lenient)
    fixed = rules.apply(FIX_DISTANCES, bound, columns, safety) or bound
    fixed = rules.apply(DROP_REDUNDANT, fixed, tests, columns, safety) or fixed
    instructions = compile_pattern(bound.query.pattern, bound.variables)
    keys = bind_keys(bound, columns)
    engine = RowPlanner(fixed, bound, keys, instructions, tests, safety, source, hints, rules)
    before = engine.before(columns)
    fired = len(rules.fired)
    plan = engine.plan(columns, before)
    # Slices and pairs count rows, and with `keep` there is nothing more to drop.
    if before.keep is not None or before.slices is not None or plan.pairs is not None or not hints.on("eliminate_rows"):
        return plan
    neighbours = rules.apply(NEIGHBOUR_COLUMNS, fixed, instructions, safety)
    if neighbours is None:
        return plan
    # What was planned without these columns is planned again.
    del rules.fired[fired:-1]
    return engine.plan(neighbours.columns_after(columns), before, neighbours)


@dataclass(frozen=True, slots=True)
class _Automaton:
    """A pattern, or an alternative that is searched by itself, as instructions."""

    instructions: tuple[Instruction, ...]
    merges: tuple[Merge, ...]
    skips: SkipSpec | None


@dataclass(frozen=True, slots=True)
class RowPlanner:
    """A query, and what was decided about it before its columns are; `written` says what its variables demand.

    Ties are broken as for `ordering`, if that is another query.
    """

    bound: BoundQuery
    written: BoundQuery
    keys: tuple[Expression, ...]
    instructions: tuple[Instruction, ...]
    tests: RowTests
    safety: Safety
    source: Source
    hints: Hints
    rules: Firing
    ordering: BoundQuery | None = None

    def before(self, columns: Columns) -> BeforeMatch:
        """What happens to the rows before they come to the matcher."""
        bound = self.written
        nothing = self.rules.apply(NO_MATCH, bound, self.tests)
        if nothing is not None:
            return BeforeMatch(reason="there is nothing to drop", keep=nothing)
        kinds = classify(bound)
        buckets = time_buckets(bound, columns, self.source.constant)

        def tests(statistics: RowStatistics) -> float:
            chances = {number: statistics.shares.get(name, 1.0) for number, name in enumerate(bound.variables)}
            rows = rows_in_bucket(buckets, statistics)
            return tests_from_a_row(self.instructions, chances, rows, merged=not any(kinds.dependent.values()))

        wanting = Wanting(
            demand_of(bound, kinds, self.keys, buckets, self.safety),
            cut_of(bound, self.keys, buckets, columns),
            tests,
            self.rules.apply(ELIMINATE_ROWS, bound, kinds, self.instructions, self.safety),
        )
        return plan_before_match(wanting, self.source, self.hints, self.rules)

    def conditions(self, columns: Columns, neighbours: Neighbours | None = None) -> RowConditions:
        """How each condition is tested."""
        settle = None if neighbours is None else neighbours.by_slot
        source = self.source
        return plan_conditions(
            self.bound, columns, self.rules, lenient=source.lenient, constant=source.constant, settle=settle
        )

    def plan(
        self,
        columns: Columns,
        before: BeforeMatch,
        neighbours: Neighbours | None = None,
        conditions: RowConditions | None = None,
    ) -> Plan:
        """The plan; with `neighbours`, values of other rows are columns. `conditions` may be known already."""
        bound, rules = self.bound, self.rules
        conditions = self.conditions(columns, neighbours) if conditions is None else conditions
        measures = RowMeasures(columns, SlotTable(bound.variables), lenient=self.source.lenient)
        listed = bound.measures
        if neighbours is not None:
            listed = tuple((name, neighbours.by_column(measure)) for name, measure in listed)
        finished = result_columns(bound, measures, listed)
        grouped = measures.groups()
        within = plan_within(bound, columns, self.source.constant)
        aggregates, places = tuple(measures.aggregates), tuple(measures.places)
        pattern = bound.query.pattern
        each = bound.query.wanted is Wanted.EACH
        options = pattern.options if each and isinstance(pattern, Alt) else (pattern,)
        automata = [self._automaton(option, columns, conditions) for option in options]

        def scan(series: Series) -> AutomatonScan:
            scans = tuple(one(series, automaton) for automaton in automata)
            return replace(scans[0], others=scans[1:])

        def one(series: Series, automaton: _Automaton) -> AutomatonScan:
            return AutomatonScan(
                keys=series.keys,
                variables=bound.variables,
                instructions=automaton.instructions,
                backward=backward_order(automaton.instructions),
                conditions=conditions.conditions,
                slots=tuple(conditions.slots.sources),
                program=conditions.program,
                places=conditions.places,
                aggregates=conditions.aggregates,
                sets=conditions.sets,
                merges=automaton.merges,
                key_width=key_width(automaton.merges),
                within=within,
                skip=bound.query.after_match.to,
                skip_to=bound.skip_to,
                rows_per_match=bound.query.rows_per_match,
                measure_slots=tuple(measures.slots.sources),
                measure_places=places,
                measure_aggregates=aggregates,
                measure_sets=sets_of(places, aggregates),
                outputs=series.outputs,
                budget=self.hints.step_budget,
                search=self._search(conditions),
                skips=automaton.skips,
                chunk_rows=self.hints.chunk_rows,
                slices=series.slices,
                dropped=before.drops or neighbours is not None,
                timeouts=bound.query.timeouts,
            )

        pairs = _pairs(bound, self.keys, conditions, columns)
        ordering = self.ordering
        draft = Draft(
            bound, columns, self.keys, before, measures.outputs, finished, pairs, neighbours, grouped, ordering
        )
        return draft.plan(scan, tuple(rules.fired))

    def _automaton(self, pattern: Pattern, columns: Columns, conditions: RowConditions) -> _Automaton:
        instructions = compile_pattern(pattern, self.bound.variables)
        merges = self.rules.apply(MERGE_STATES, instructions, self.bound, conditions)
        merges = merges or (Merge(o.NEVER),) * len(instructions)
        return _Automaton(instructions, merges, self._skips(pattern, columns, conditions))

    def _skips(self, pattern: Pattern, columns: Columns, conditions: RowConditions) -> SkipSpec | None:
        """How to skip rows, where that is possible and not unwanted."""
        if not conditions.look_at_rows_only or self.hints.search != "auto":
            return None

        def slot_of(column: str) -> int | None:
            named = {str(value): name for value, name in columns.names.items()}
            slots = conditions.slots.sources
            return next((slots[one] for one in _plain_slots(named.get(column, "")) if one in slots), None)

        return self.rules.apply(SKIP_SEARCH, self.bound, pattern, self.tests, slot_of)

    def _search(self, conditions: RowConditions) -> Search:
        small = len(self.instructions) <= _TABLE_INSTRUCTIONS
        fits = conditions.look_at_rows_only and small and self.hints.search != "backtrack"
        # A table would have to know where a repetition must not end; backtracking has no choice there anyway.
        fits = fits and not is_possessive(self.bound.query.pattern)
        # It says where matches end, not how far those come that do not.
        fits = fits and not self.bound.query.timeouts
        return Search.TABLE if fits else Search.BACKTRACKING


def _plain_slots(column: str) -> tuple[SlotSource, ...]:
    return SlotSource(column, "int"), SlotSource(column, "float")


def _pairs(
    bound: BoundQuery, keys: tuple[Expression, ...], conditions: RowConditions, columns: Columns
) -> PairPlan | None:
    functions = conditions.slots.pairs
    if not functions and not any(place.numbered for place in conditions.places):
        return None
    for name in bound.columns:
        if name.startswith("__"):
            raise UnsupportedError(
                f"A function of two rows, or of MATCH_NUMBER(), cannot be computed beside the column {name}.",
                cure="Give columns names that do not begin with two underscores.",
            )
    return PairPlan(
        keys=keys,
        order=pair_order(bound, columns),
        first=tuple(dict.fromkeys(name for value in functions for name in columns_of(value))),
        values=tuple((name, value) for value, name in functions.items()),
        struct=FIRST_ROW,
        row=ROW_NUMBER,
    )
