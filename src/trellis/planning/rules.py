"""The rules of all engines, in the order in which they are applied and shown. Each stands in a file of its own.

A query gives the same rows with any rule on or off; tests draw queries at random and see to that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from trellis.algebra.automaton import Instruction, Merge, SkipSpec
from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression, Literal
from trellis.algebra.logical_tree import LogicalNode
from trellis.algebra.pattern import Pattern
from trellis.algebra.prefilter import BeforeMatch, Slices
from trellis.algebra.query import Query
from trellis.algebra.statistics import RowStatistics
from trellis.algebra.windows import Window
from trellis.analysis.condition_kinds import Kinds
from trellis.analysis.edges import Edge
from trellis.analysis.row_tests import RowTests
from trellis.analysis.segments import segment_functions
from trellis.analysis.source import Source
from trellis.planning.before_match.choose_prefilter import Choosing, choose_prefilter
from trellis.planning.before_match.demands import Demand
from trellis.planning.before_match.eliminate_rows import eliminate_rows
from trellis.planning.before_match.keep_events import keep_events
from trellis.planning.before_match.neighbours import Neighbours, neighbour_columns
from trellis.planning.before_match.slices import Cut, cut_slices
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.hoist_slots import has_functions, hoist_slots
from trellis.planning.expressions.pair_slots import pair_slots, reads_number, reads_pairs
from trellis.planning.expressions.spread_labels import LabelTables, labels_of
from trellis.planning.expressions.unfailing import Safety
from trellis.planning.rows.derive_window import derive_window
from trellis.planning.rows.fix_distances import fix_distances
from trellis.planning.rows.merge_states import merge_states
from trellis.planning.rows.prune_conditions import drop_redundant, is_unsatisfiable
from trellis.planning.rows.rewrite_rows import rewrite_rows
from trellis.planning.rows.row_conditions import RowConditions
from trellis.planning.rows.skip_search import plan_skips
from trellis.planning.rule import Change, Rule
from trellis.planning.segments.place_filters import Lifted, place_filters
from trellis.planning.segments.push_windows import push_windows

__all__ = [
    "DERIVE_WINDOW",
    "DROP_REDUNDANT",
    "ELIMINATE_ROWS",
    "FIX_DISTANCES",
    "HOIST_SLOTS",
    "KEEP_EVENTS",
    "MERGE_STATES",
    "NEIGHBOUR_COLUMNS",
    "NO_MATCH",
    "PAIR_SLOTS",
    "PLACE_FILTERS",
    "PREFILTER",
    "PUSH_WINDOWS",
    "REWRITE_ROWS",
    "RULES",
    "SKIP_SEARCH",
    "SLICES",
    "SPREAD_LABELS",
]

Split = Mapping[str, Expression]
"""Conditions by variable."""


def _rewrite_rows(query: Query, source: Source, always: bool) -> Change[Query] | None:
    found = rewrite_rows(query, segment_functions(source), always=always)
    if found is None:
        return None
    pattern, define = str(found).split("\n")[-2:]
    return Change(found, f"stretches of rows are segments: {pattern} {define}")


def _derive_window(bound: BoundQuery, columns: Columns, source: Source) -> Change[BoundQuery] | None:
    found = derive_window(bound, columns, source)
    if found is None:
        return None
    return Change(found, f"a condition bounds every match, as WITHIN {found.query.within} does")


def _fix_distances(bound: BoundQuery, columns: Columns, safety: Safety) -> Change[BoundQuery] | None:
    found = fix_distances(bound, columns, safety)
    if found is None:
        return None
    changed = [name for (name, one), (_, other) in zip(found.conditions, bound.conditions, strict=True) if one != other]
    return Change(found, f"rows of other variables are a fixed number of rows away ({', '.join(changed)})")


def _drop_redundant(bound: BoundQuery, tests: RowTests, columns: Columns, safety: Safety) -> Change[BoundQuery] | None:
    found = drop_redundant(bound, tests, columns, safety)
    if found is None:
        return None
    return Change(found[0], f"conditions that others imply are not tested ({', '.join(found[1])})")


def _no_match(bound: BoundQuery, tests: RowTests) -> Change[Expression] | None:
    if not is_unsatisfiable(bound, tests):
        return None
    return Change(Literal("FALSE"), "no row can satisfy the conditions: nothing is read")


def _skip_search(
    bound: BoundQuery, pattern: Pattern, tests: RowTests, slot_of: Callable[[str], int | None]
) -> Change[SkipSpec] | None:
    found = plan_skips(bound, pattern, tests, slot_of)
    return None if found is None else Change(found, "what failed says where a match can begin next")


def _hoist_slots(split: Split) -> Change[Split] | None:
    hoisted = {variable: hoist_slots(condition) for variable, condition in split.items()}
    names = [variable for variable, condition in hoisted.items() if has_functions(condition)]
    return Change(hoisted, f"functions of one row moved to Spark ({', '.join(names)})") if names else None


def _spread_labels(
    split: Split, is_possible: Callable[[Expression], bool], tables: LabelTables
) -> Change[Split] | None:
    spread, names = dict(split), []
    for variable, condition in split.items():
        if labels_of(condition) and not is_possible(condition):
            spread[variable] = pair_slots(condition, is_possible, tables)
            names.append(variable)
    if not names:
        return None
    return Change(spread, f"functions of CLASSIFIER() are looked up by variable ({', '.join(names)})")


def _pair_slots(split: Split, is_possible: Callable[[Expression], bool], tables: LabelTables) -> Change[Split] | None:
    paired = {
        variable: condition if labels_of(condition) else pair_slots(condition, is_possible, tables)
        for variable, condition in split.items()
    }
    slow = [variable for variable, condition in paired.items() if reads_pairs(condition)]
    numbered = [variable for variable, condition in paired.items() if reads_number(condition)]
    notes = [f"functions of two rows computed for all pairs ({', '.join(slow)})"] if slow else []
    if numbered:
        notes.append(f"functions of MATCH_NUMBER() computed for the number of each row ({', '.join(numbered)})")
    return Change(paired, "; ".join(notes))


def _merge_states(
    instructions: tuple[Instruction, ...], bound: BoundQuery, conditions: RowConditions
) -> Change[tuple[Merge, ...]]:
    merges = merge_states(instructions, bound.variables, conditions.reads, conditions.sets)
    looking = ", ".join(conditions.reads)
    return Change(merges, f"equivalent search states are searched once ({looking})" if looking else "")


def _place_filters(tree: LogicalNode, lifted: Mapping[str, Lifted], owners: list[str]) -> Change[LogicalNode] | None:
    if not lifted:
        return None
    note = f"tested where all their variables are known ({', '.join(sorted(owners))})"
    return Change(place_filters(tree, lifted, early=True), note)


def _push_windows(tree: LogicalNode) -> Change[LogicalNode] | None:
    pushed = push_windows(tree, Window())
    return None if pushed == tree else Change(pushed, "parts are as short as the whole allows")


def _neighbour_columns(
    bound: BoundQuery, instructions: tuple[Instruction, ...], safety: Safety
) -> Change[Neighbours] | None:
    found = neighbour_columns(bound, instructions, safety)
    if found is None:
        return None
    return Change(found, f"only rows with {found} can be seen; PREV and NEXT are computed before, as columns")


def _eliminate_rows(
    bound: BoundQuery, kinds: Kinds, instructions: tuple[Instruction, ...], safety: Safety
) -> Change[Expression] | None:
    keep = eliminate_rows(bound, kinds, instructions, safety)
    return None if keep is None else Change(keep, f"only rows with {keep} can be seen")


def _prefilter(demand: Demand | str, choosing: Choosing) -> Change[BeforeMatch]:
    before = choose_prefilter(demand, choosing)
    if before.prefilter is None:
        return Change(before, "")
    chosen = next((one for one in before.considered if one.prefilter == before.prefilter), None)
    statistics = choosing.statistics
    left = ""
    if chosen is not None and isinstance(statistics, RowStatistics):
        left = f", about {chosen.rows:,.0f} of {statistics.rows:,.0f} rows are left"
    return Change(before, f"{before.prefilter}{left}")


def _slices(cut: Cut, windows: int | None, statistics: RowStatistics | None, rows: float) -> Change[Slices] | None:
    slices = cut_slices(cut, windows, statistics, rows)
    return None if slices is None else Change(slices, str(slices))


def _keep_events(
    query: Query, tests: Mapping[Edge, tuple[Expression, ...]], safety: Safety
) -> Change[Expression] | None:
    kept = keep_events(query, tests, safety)
    return None if kept is None else Change(kept, f"only events that a component can take: {kept}")


REWRITE_ROWS = Rule("rewrite_rows", "patterns that speak of stretches of rows become segment patterns", _rewrite_rows)
DERIVE_WINDOW = Rule("derive_window", "a bound on the whole match that stands in DEFINE becomes WITHIN", _derive_window)
FIX_DISTANCES = Rule("fix_distances", "rows a fixed distance away are read as neighbours", _fix_distances)
DROP_REDUNDANT = Rule("drop_redundant", "conditions that others imply are dropped", _drop_redundant)
NO_MATCH = Rule("no_match", "a pattern that nothing can match reads no rows", _no_match)
SKIP_SEARCH = Rule("skip_search", "the search skips rows where no match can begin", _skip_search)
HOIST_SLOTS = Rule("hoist_slots", "functions of one row are computed by Spark, as columns", _hoist_slots)
SPREAD_LABELS = Rule("spread_labels", "functions of CLASSIFIER() that kernels lack become tables", _spread_labels)
PAIR_SLOTS = Rule("pair_slots", "functions of two rows that kernels lack are computed for all pairs", _pair_slots)
MERGE_STATES = Rule("merge_states", "search states that nobody can tell apart are searched once", _merge_states)
PLACE_FILTERS = Rule("place_filters", "conditions between segments are tested as early as possible", _place_filters)
PUSH_WINDOWS = Rule("push_windows", "what a whole segment may take bounds its parts", _push_windows)
ELIMINATE_ROWS = Rule("eliminate_rows", "rows that only a silent `Z*` can take are dropped", _eliminate_rows)
KEEP_EVENTS = Rule("keep_events", "events that no component can take are dropped", _keep_events)
PREFILTER = Rule("prefilter", "rows where no match can be are dropped before the exchange", _prefilter)
SLICES = Rule("slices", "long series are cut into slices that are searched at once", _slices)
NEIGHBOUR_COLUMNS = Rule("neighbour_columns", "PREV and NEXT are columns before rows are dropped", _neighbour_columns)

RULES = (
    REWRITE_ROWS,
    DERIVE_WINDOW,
    NO_MATCH,
    FIX_DISTANCES,
    DROP_REDUNDANT,
    HOIST_SLOTS,
    SPREAD_LABELS,
    PAIR_SLOTS,
    MERGE_STATES,
    SKIP_SEARCH,
    PLACE_FILTERS,
    PUSH_WINDOWS,
    ELIMINATE_ROWS,
    KEEP_EVENTS,
    PREFILTER,
    SLICES,
    NEIGHBOUR_COLUMNS,
)
