"""Rows that only a silent variable can take are dropped before the exchange: `Z*` in `A Z* B Z* C`.

Which variables are silent: without a condition, standing only as `Z*`, and seen by nobody. Which rows may go: those
that fulfil no other variable's condition on single rows. Why nothing changes, condition by condition:

1. *No condition, only as `Z*`*: a row that no other variable takes is a Z wherever it stands in a match, and Z* takes
   any number of them, none included.
2. *Between any two rows of other variables one such loop stands, and no other*: so a match of the rows that are left
   is one of all rows, with the dropped ones put back as Z; in one way only. `A B` with a dropped row between would be a
   new match.
3. *The same preferences with and without a Z in between* (`_is_transparent`): so of two matches the same one is
   preferred.
4. *No match begins or ends with a Z*: else dropped rows could begin a match, or a match would end elsewhere and AFTER
   MATCH SKIP go on elsewhere. Patterns without variables are out for the same reason: an empty match begins everywhere.
   So are matches that timed out: they may end anywhere.
5. *Nobody sees a Z*: no measure, condition, aggregate or skip reads its rows, or all rows of the match, or the rows
   beside one (PREV, NEXT), ONE ROW PER MATCH. The first and the last row of a match may be read: they are no Z. What
   stands beside a row may be read where it is computed before rows are dropped (beside.py): it is a column then.
6. *No anchor*: `^` and `$` ask for the first and the last row of the series, and that might be dropped.

WITHIN compares the first row with the others in order, so it needs nothing of its own.
"""

from __future__ import annotations

from trellis.algebra import expression as e
from trellis.algebra import pattern as p
from trellis.algebra.automaton import Instruction, Op
from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression
from trellis.algebra.place import Place
from trellis.analysis.condition_kinds import Kinds
from trellis.analysis.paths import is_anchored, least_rows
from trellis.planning.expressions.unfailing import Safety, row_filter, unfailing
from trellis.planning.rows.automaton import next_choices

__all__ = ["eliminate_rows"]


def eliminate_rows(
    bound: BoundQuery, kinds: Kinds, instructions: tuple[Instruction, ...], safety: Safety
) -> Expression | None:
    """The condition of rows that must be kept, None if all must."""
    pattern = bound.query.pattern
    if bound.query.timeouts:
        return None
    defined = {name for name, _ in bound.conditions}
    silent = frozenset(name for name in bound.variables if name not in defined)
    silent = frozenset(name for name in silent if _is_only_starred(pattern, name))
    if not silent or bound.all_rows or is_anchored(pattern) or least_rows(pattern) == 0 or p.is_possessive(pattern):
        return None
    if silent & bound.skip_to or _is_observed(bound, silent):
        return None
    numbers = frozenset(bound.variables.index(name) for name in silent)
    if not _is_transparent(instructions, numbers):
        return None
    kept = [_kept(kinds.independent.get(name, ()), safety) for name in bound.variables if name not in silent]
    conditions = [condition for condition in kept if condition is not None]
    if len(conditions) < len(kept):
        return None
    different = tuple(dict.fromkeys(conditions))
    return different[0] if len(different) == 1 else e.Operator("OR", different)


def _kept(parts: tuple[Expression, ...], safety: Safety) -> Expression | None:
    """The rows that a variable may take, and those where its condition fails: they must fail the query."""
    found = row_filter(parts, safety)
    if found is None or all(unfailing(part, safety) == part for part in parts):
        return found
    return e.Call("coalesce", (found, e.Literal("TRUE")))


def _is_only_starred(pattern: p.Pattern, name: str) -> bool:
    """Whether a variable stands only as `Z*`."""
    match pattern:
        case p.Var(name=found):
            return found != name
        case p.Repeat(body=p.Var(name=found)) if found == name:
            return p.counts(pattern) == (0, None)
        case _:
            return all(_is_only_starred(part, name) for part in p.children(pattern))


def _is_observed(bound: BoundQuery, silent: frozenset[str]) -> bool:
    """Whether something reads rows of silent variables, or rows that dropping others would change."""
    expressions = [*(condition for _, condition in bound.conditions), *(measure for _, measure in bound.measures)]
    for expression in expressions:
        for node in e.walk(expression):
            match node:
                case e.At(place=place) | e.ClassifierAt(place=place) if not _is_blind(place, silent):
                    return True
                case e.Pair(first=first, second=second) if not (_is_blind(first, silent) and _is_blind(second, silent)):
                    return True
                case e.BoundAggregate(variables=variables) if variables is None or variables & silent:
                    return True
                case _:
                    pass
    return False


def _is_blind(place: Place, silent: frozenset[str]) -> bool:
    """Whether a place is the same row with and without the rows of silent variables."""
    if place.shift:
        return False
    if place.variables is None:
        # The first and the last row of a match, and the row under test.
        return place.offset == 0
    return not place.variables & silent


def _is_transparent(instructions: tuple[Instruction, ...], silent: frozenset[int]) -> bool:
    """Whether after each row of another variable exactly one Z* may come, with the same choices behind it as before."""
    start = next_choices(instructions, 0)
    consumes = {pc for pc, instruction in enumerate(instructions) if instruction.op is Op.CONSUME}
    if any(instructions[pc].op is Op.ACCEPT or instructions[pc].variable in silent for pc in start):
        return False
    for pc in consumes:
        instruction = instructions[pc]
        after = next_choices(instructions, instruction.x)
        accepts = [place for place, found in enumerate(after) if instructions[found].op is Op.ACCEPT]
        if instruction.variable in silent:
            if accepts:
                return False
            continue
        following = [found for found in after if instructions[found].op is Op.CONSUME]
        if not following:
            continue
        stars = [found for found in following if instructions[found].variable in silent]
        if len(stars) != 1 or next_choices(instructions, instructions[stars[0]].x) != following:
            return False
        if accepts and accepts[0] not in (0, len(after) - 1):
            return False
    return True
