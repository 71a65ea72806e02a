"""The plan to ask why nothing matched: no row is dropped, and each part of a condition is tested for itself."""

from __future__ import annotations

import re
from dataclasses import replace

from trellis.algebra import expression as e
from trellis.algebra.automaton import AutomatonScan
from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression
from trellis.algebra.partial import PartialScan, Test
from trellis.algebra.plan import Plan
from trellis.algebra.prefilter import BeforeMatch
from trellis.algebra.query import Query, RowsPerMatch
from trellis.analysis.row_tests import RowTests, columns_in, looks_at_rows_only
from trellis.analysis.source import Source
from trellis.planning.draft import bind_keys
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.unfailing import Safety, cannot_fail
from trellis.planning.hints import Hints
from trellis.planning.rows.automaton import backward_order, compile_pattern
from trellis.planning.rows.merge_states import key_width, merge_states
from trellis.planning.rows.plan import RowPlanner
from trellis.planning.rule import Firing
from trellis.planning.rules import RULES
from trellis.planning.why.elements import number_elements, rows_missing

__all__ = ["QUIET", "plan_partial"]

_KEPT = ("hoist_slots", "spread_labels", "pair_slots", "merge_states", "rewrite_rows", "place_filters", "push_windows")

QUIET = tuple(rule.name for rule in RULES if rule.name not in _KEPT)
"""Rules that drop rows or change what is tested: here every row counts, and conditions are as they were written."""

_START_STEPS = 1_000_000
_ROW_STEPS = 400
_UNSHOWN = re.compile(r"map<|array<|struct<|binary|variant|interval|geo")


def plan_partial(
    bound: BoundQuery, source: Source, hints: Hints, rules: Firing, nearest: int
) -> tuple[Plan, PartialScan]:
    """The plan of a row pattern whose partial matches are followed; `rules` are without the `QUIET` ones."""
    written = bound
    query = replace(bound.query, timeouts=False, rows_per_match=RowsPerMatch.ONE, measures=())
    columns = Columns(source.types_of)
    conditions = [condition for _, condition in bound.conditions]
    columns.learn(columns_in(conditions))
    safety = Safety.of(conditions, columns, source.lenient)
    parts = {variable: _parts(variable, condition, query, columns, safety) for variable, condition in bound.conditions}
    # Each part is the condition of a variable that no pattern has.
    extended: list[tuple[str, Expression]] = list(bound.conditions)
    named: dict[str, list[str]] = {}
    for variable, tested in parts.items():
        named[variable] = [f"{variable} condition {number}" for number in range(1, len(tested) + 1)]
        if len(tested) == 1:
            named[variable] = [variable]
        else:
            extended += zip(named[variable], (part for _, _, part in tested), strict=True)
    names = (*bound.variables, *(name for name, _ in extended if name not in bound.variables))
    bound = replace(bound, query=query, variables=names, conditions=tuple(extended), measures=())
    keys = bind_keys(bound, columns)
    shown = _shown(bound, columns)
    instructions = compile_pattern(query.pattern, names)
    tests = RowTests(columns.type_of, source.lenient, source.schema.padded)
    planner = RowPlanner(bound, bound, keys, instructions, tests, safety, source, hints, rules, written)
    found = planner.conditions(columns)
    plan = planner.plan(columns, BeforeMatch(reason="every row counts"), None, found)
    scan = plan.scan
    assert isinstance(scan, AutomatonScan)
    numbered, elements = number_elements(query.pattern, names)
    code = compile_pattern(numbered, tuple(map(str, range(len(elements)))))
    merges = merge_states(code, tuple(names[one.variable] for one in elements), found.reads, scan.sets)
    places = {condition.variable: number for number, condition in enumerate(scan.conditions)}
    tested_by = tuple(
        tuple(
            Test(text, part, places[name], scan.conditions[places[name]].where != "kernel")
            for name, (text, part, _) in zip(named.get(variable, ()), parts.get(variable, ()), strict=True)
        )
        for variable in written.variables
    )
    return plan, PartialScan(
        scan=scan,
        elements=elements,
        tests=tested_by,
        instructions=code,
        backward=backward_order(code),
        merges=merges,
        key_width=key_width(merges),
        missing=rows_missing(code),
        shown=tuple((name, columns.names[value]) for name, value in shown),
        keys=tuple((name, columns.names[key]) for (name, _), key in zip(bound.partition_by, keys, strict=True)),
        nearest=nearest,
        start_steps=min(hints.step_budget, _START_STEPS),
        row_steps=_ROW_STEPS,
    )


def _parts(
    variable: str, condition: Expression, query: Query, columns: Columns, safety: Safety
) -> list[tuple[str, int, Expression]]:
    """The parts of a condition in the order in which they are tested: as written, which one, and as it is computed.

    1. What looks at single rows comes first, if it cannot fail where the parts before it do not hold: so it can be
       counted. It is computed together with those before it, since Spark computes it for all rows.
    2. What looks at the match is tested where the parts before it hold, so it stands for itself.
    """
    parts = e.conjuncts(condition)
    definition = next(one for one in query.definitions if one.variable == variable)
    texts = list(map(str, e.conjuncts(definition.condition)))
    if len(texts) != len(parts):
        texts = list(map(str, parts))
    local = [looks_at_rows_only(part) for part in parts]
    leading = local.index(False) if False in local else len(parts)
    late = [part for part, is_local in zip(parts[leading:], local[leading:], strict=True) if is_local]
    order = list(range(len(parts)))
    if safety.lenient or all(cannot_fail(part, columns, safety) for part in late):
        order.sort(key=lambda at: not local[at])
        leading += len(late)
    computed: list[tuple[str, int, Expression]] = []
    for number, at in enumerate(order):
        tested = parts[at]
        if number and (number < leading or local[at]):
            tested = e.Operator("AND", tuple(parts[one] for one in order[: number + 1]))
        computed.append((texts[at], at, tested))
    return computed


def _shown(bound: BoundQuery, columns: Columns) -> list[tuple[str, Expression]]:
    """What is shown of rows: their order, and what conditions read of them."""
    read = dict.fromkeys(
        node.path[0] for _, condition in bound.conditions for node in e.walk(condition) if isinstance(node, e.Column)
    )
    keys = {expression for _, expression in bound.partition_by}
    shown: list[tuple[str, Expression]] = []
    candidates = [(name, expression) for name, expression in bound.order_by]
    candidates += [(name, e.Column((name,))) for name in read]
    columns.learn([expression for _, expression in candidates])
    for name, expression in candidates:
        there = expression in keys or any(expression == other for _, other in shown)
        if not there and not _UNSHOWN.search(columns.type_text(expression)):
            columns.ship(expression)
            shown.append((name, expression))
    return shown
