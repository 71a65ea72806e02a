"""Workloads of event patterns by definition: what `trellis.match_all` means, and the truth it is compared with.

A workload is a list of named patterns over the same rows. The operators SEQ, AND and OR are those of "Real-Time
Multi-Pattern Detection over Event Streams" (Kolchinsky, Schuster, SIGMOD 2019); "§2" names a place in it and quotation
marks hold its words. Components, conditions and windows are those of SASE+ as `naive_sase` has them: SEQ alone gives
its matches with skip till any match, in its order. A "rule" is a choice made where the paper leaves one.

Every way to give rows to the components is tried, pattern by pattern. Nothing is shared between patterns, since
sharing is what this file must not know: a pattern has the matches that it has alone.

**Rows.** They are put in order by the columns of `time`, NULLs first; equal ones stay in the order in which they are
given. From there on only positions count: "before" is before in this order, so of two events of one time only one
comes first. Rule: `partition_by` cuts rows into partitions, in which NULLs are alike, as in GROUP BY. A match stays in
a partition. The rows of a partition are its whole history.

**Structure.** SEQ(p, q, ...): all events of p are before all events of q. AND(p, q, ...): p and q, each in its own
order, in any order to each other, even interleaved. OR(p, q, ...): one of them. Rules:
- §2: patterns "can be simplified by the transition to DNF form", so OR is a choice of clauses, and the matches of a
  pattern are the union of those of its clauses: SEQ(A a, OR(B b, C c)) is SEQ(A a, B b) or SEQ(A a, C c).
- In a clause, each variable stands once. Two branches of OR may use the same one, if both mean a single event, both a
  repeated one or both an absent one; their types may differ. Every clause has a component that is not negated.
- An event never takes two places in one match.
- A match is an assignment of events to variables. The same assignment by two clauses is one match. Different
  assignments of the same events are different matches, and each gives a row: AND(A a, A b) finds every pair twice.

**Kleene plus.** Every non-empty set of events of the type is tried (skip till any match), also where sets contain
each other and wherever the component stands. In SEQ its members are all after what is before it and all before what
is after it; in AND they may be anywhere. b[1], b[i] and b[b.LEN] count its members by position.

**Conditions.** All hold, and one that is UNKNOWN does not. They are expressions of `naive_sase`, or a `Check` of one
or two events in Python. Rules:
- A condition with b[i], b[i-1] or b[..i-1] holds for each i from 2 on, so b[i-1] is the member of the chosen set just
  before b[i]. One with the index "each", written b[].x, holds for each member, and with two such variables for each
  pair; a `Check` holds for each, too.
- A condition is on those clauses that have all of its variables (§4.1 projects conditions on the variables of a
  sub-pattern), and says nothing of others.
- [k]: all events of a match agree in k, absent ones too. NULL agrees with nothing, not even with itself.

**Windows.** A window is of a pattern, and the same for all of its clauses. ("time", w): the last event is at most w
later than the first. An event without a time is in no such window, not even alone. ("events", n): from the first event
to the last one, both counted, there are at most n of the partition and of those that agree with the first in the
columns of [k], whatever their type and whether or not they have a time.

**Negation.** Only single components are negated. Rule: a match is eliminated if some event could be added as the
negated component, were it not negated: one of its types and in no other place of the match, where the structure wants
it, in the window with all others, agreeing with them, and with all conditions that mention it. Hence
- in SEQ it is strictly between its neighbours; after all and before all of them, where they are AND(...);
- at the end of SEQ after the last event and in the window of the first: SEQ(AND(A a, B b), ~(D d)) is the paper's
  example; at the beginning before the first and in the window of the last;
- in AND it is anywhere where the window of the whole match would still hold it: before, between or after the others;
- in AND or SEQ inside SEQ also strictly between what is before and after that AND or SEQ;
- without a window and open to one side, it is anywhere on that side. (`tr.sase` wants a window then.)
Each negated component is looked for on its own. A condition with one is on that absence alone, and no condition has
two. OR(~(B b), ~(C c)) is satisfied if B is absent or C is.

**Output.** A row for each match: the pattern's name, the match number, the times of the first and last event, and the
events by position. Matches are numbered from 1 for each pattern, in each partition by `partition_by` and by [k]: by
the last event, then by the first, then by all events as sequences of positions. Equal patterns under two names
each have all their rows; two patterns of one name are refused.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from naive_sase import Component, Expr, aggregate, identifiers, operate

Row = Mapping[str, Any]
Bound = Mapping[str, tuple[int, ...]]  # variables and the positions of their events, in increasing order
Match = tuple[tuple[str, tuple[int, ...]], ...]  # the same, in the order in which the components are written


@dataclass(frozen=True)
class Node:
    """SEQ, AND or OR of parts."""

    operator: str
    parts: tuple[Structure, ...]


Structure = Node | Component


@dataclass(frozen=True)
class Check:
    """A condition in Python: whether it holds for one event, or for two, of these variables; None is UNKNOWN."""

    variables: tuple[str, ...]
    function: Callable[..., bool | None]


@dataclass(frozen=True)
class Pattern:
    """PATTERN structure WHERE skip_till_any_match { [equivalence] and conditions } WITHIN within."""

    name: str
    structure: Structure
    conditions: tuple[Expr | Check, ...] = ()
    equivalence: tuple[str, ...] = ()
    within: tuple[str, Any] | None = None


@dataclass(frozen=True)
class Stream:
    """The rows of one partition in order, and which columns hold the type and the time."""

    rows: tuple[Row, ...]
    type: str = "type"
    time: str = "time"


@dataclass(frozen=True)
class Found:
    """A row of the result."""

    pattern: str
    match_number: int
    start: Any
    end: Any
    events: tuple[Row, ...]


def match_all(
    patterns: Sequence[Pattern],
    rows: Sequence[Row],
    partition_by: Sequence[str] = (),
    time: Sequence[str] = ("time",),
    type: str = "type",
) -> list[Found]:
    """All matches of all patterns. The first column of `time` is the time, the others put equal times in order."""
    if len({pattern.name for pattern in patterns}) < len(patterns):
        raise ValueError("two patterns have the same name")
    found = []
    for pattern in patterns:
        numbers: Counter[tuple[Any, ...]] = Counter()
        for key, stream in partitions(rows, partition_by, time, type):
            for match in matches(pattern, stream):
                events = [stream.rows[position] for position in positions_of(dict(match))]
                partition = (key, *(events[0].get(column) for column in pattern.equivalence))
                numbers[partition] += 1
                start, end = events[0].get(stream.time), events[-1].get(stream.time)
                found.append(Found(pattern.name, numbers[partition], start, end, tuple(events)))
    return found


def partitions(
    rows: Sequence[Row], partition_by: Sequence[str], time: Sequence[str], type: str
) -> list[tuple[tuple[Any, ...], Stream]]:
    """The partitions with their keys."""

    def moment(row: Row) -> list[tuple[Any, ...]]:
        return [(False,) if row.get(column) is None else (True, row[column]) for column in time]

    cut: dict[tuple[Any, ...], list[Row]] = {}
    for row in sorted(rows, key=moment):
        cut.setdefault(tuple(row.get(column) for column in partition_by), []).append(row)
    return [(key, Stream(tuple(part), type, time[0])) for key, part in cut.items()]


def matches(pattern: Pattern, stream: Stream) -> list[Match]:
    """All matches of one pattern in one partition, each once, in the order of their numbers."""
    check(pattern)
    written = list(dict.fromkeys(component.variable for component in components(pattern.structure)))
    found: set[Match] = set()
    for clause in clauses(pattern.structure):
        for bound in matches_of_clause(pattern, clause, stream):
            found.add(tuple((variable, bound[variable]) for variable in written if variable in bound))
    return sorted(found, key=order)


def order(match: Match) -> tuple[Any, ...]:
    """Matches of the same events give equal rows, so what comes after their positions only makes the order definite."""
    positions = positions_of(dict(match))
    sizes = tuple(len(members) for _, members in match)
    return positions[-1], positions[0], positions, sizes, match


def positions_of(bound: Bound) -> list[int]:
    """All positions of a match, whole or partial."""
    return sorted(itertools.chain.from_iterable(bound.values()))


# ---------------------------------------------------------------------------------------------------------- structure


def clauses(structure: Structure) -> list[Structure]:
    """The clauses of the disjunctive normal form: the structure with one branch of each OR."""
    if isinstance(structure, Component):
        return [structure]
    if structure.operator == "OR":
        return [clause for part in structure.parts for clause in clauses(part)]
    choices = itertools.product(*map(clauses, structure.parts))
    return [Node(structure.operator, choice) for choice in choices]


def components(structure: Structure) -> list[Component]:
    """The components as written, from left to right."""
    if isinstance(structure, Component):
        return [structure]
    return [component for part in structure.parts for component in components(part)]


@cache
def earlier(clause: Structure) -> frozenset[tuple[str, str]]:
    """The pairs of variables of which one is before the other."""
    if isinstance(clause, Component):
        return frozenset()
    pairs: set[tuple[str, str]] = set().union(*map(earlier, clause.parts))
    if clause.operator == "SEQ":
        for one, other in itertools.combinations(clause.parts, 2):
            pairs |= {(a.variable, b.variable) for a in components(one) for b in components(other)}
    return frozenset(pairs)


def in_place(clause: Structure, bound: Bound) -> bool:
    """Whether the events are where the structure wants them, and none of them in two places."""
    positions = positions_of(bound)
    return len(set(positions)) == len(positions) and all(
        bound[one][-1] < bound[other][0] for one, other in earlier(clause) if one in bound and other in bound
    )


# ------------------------------------------------------------------------------------------------------------ matches


def matches_of_clause(pattern: Pattern, clause: Structure, stream: Stream) -> list[Bound]:
    """The matches of a clause: assignments that fulfil everything, and to which nothing absent could be added."""
    absent = [component for component in components(clause) if component.negated]
    return [
        bound
        for bound in assignments(clause, stream)
        if fulfilled(pattern, clause, stream, bound, None)
        and not any(
            fulfilled(pattern, clause, stream, {**bound, component.variable: members}, component.variable)
            for component in absent
            for members in choices(component, stream)
        )
    ]


def assignments(clause: Structure, stream: Stream) -> list[Bound]:
    """Every way to give events of their types to the components that are not negated, all of them in place."""
    ways: list[Bound] = [{}]
    for component in components(clause):
        if not component.negated:
            longer = [{**way, component.variable: members} for way in ways for members in choices(component, stream)]
            ways = [way for way in longer if in_place(clause, way)]
    return ways


def choices(component: Component, stream: Stream) -> list[tuple[int, ...]]:
    """What a component alone can be: any event of its types, or any non-empty set of them."""
    fitting = [position for position, row in enumerate(stream.rows) if row.get(stream.type) in component.types]
    sizes = range(1, len(fitting) + 1) if component.kleene else [1]
    return [members for size in sizes for members in itertools.combinations(fitting, size)]


def fulfilled(pattern: Pattern, clause: Structure, stream: Stream, bound: Bound, absent: str | None) -> bool:
    """Whether all is fulfilled that is said of the bound variables; if one is `absent`, only what is said with it."""
    negated = {component.variable for component in components(clause) if component.negated}
    concerned = [
        condition
        for condition in pattern.conditions
        if variables_of(condition) <= set(bound)
        and (not variables_of(condition) & negated if absent is None else absent in variables_of(condition))
    ]
    return (
        in_place(clause, bound)
        and agree(pattern, stream, positions_of(bound))
        and in_window(pattern, stream, positions_of(bound))
        and all(holds(condition, stream, bound) for condition in concerned)
    )


def agree(pattern: Pattern, stream: Stream, positions: Sequence[int]) -> bool:
    """Whether the events have equal values in the columns of the equivalence test, and have values."""
    first = stream.rows[positions[0]]
    return all(
        operate("=", [first.get(column), stream.rows[position].get(column)]) is True
        for column in pattern.equivalence
        for position in positions
    )


def in_window(pattern: Pattern, stream: Stream, positions: Sequence[int]) -> bool:
    """Whether the first and the last of these events are in one window."""
    if pattern.within is None:
        return True
    kind, size = pattern.within
    first, last = positions[0], positions[-1]
    if kind == "time":
        start, end = (stream.rows[position].get(stream.time) for position in (first, last))
        return start is not None and end is not None and bool(end - start <= size)
    return bool(sum(agree(pattern, stream, [first, position]) for position in range(first, last + 1)) <= size)


# --------------------------------------------------------------------------------------------------------- conditions


def variables_of(condition: Expr | Check) -> set[str]:
    """The variables that a condition mentions."""
    return {variable for variable, _ in indexed(condition)}


def indexed(condition: Expr | Check) -> set[tuple[str, Any]]:
    """The variables with their indexes. In a `Check` every event of a variable is meant."""
    if isinstance(condition, Check):
        return {(variable, "each") for variable in condition.variables}
    return identifiers(condition)


def holds(condition: Expr | Check, stream: Stream, bound: Bound) -> bool:
    """Whether a condition is true for each i and for each member that it speaks of."""
    mentioned = indexed(condition)
    iterated = [variable for variable, index in mentioned if index in ("i", "i-1", "..i-1")]
    iterations = range(2, len(bound[iterated[0]]) + 1) if iterated else [0]
    each = sorted(variable for variable, index in mentioned if index == "each")
    return all(
        value(condition, stream, bound, i, dict(zip(each, members, strict=True))) is True
        for i in iterations
        for members in itertools.product(*(bound[variable] for variable in each))
    )


def value(condition: Expr | Check, stream: Stream, bound: Bound, i: int, each: Mapping[str, int]) -> Any:
    """The value of an expression or a `Check`, for one i and for one member of the variables with "each"."""
    if isinstance(condition, Check):
        return condition.function(*(stream.rows[each[variable]] for variable in condition.variables))
    kind = condition[0]
    if kind == "lit":
        return condition[1]
    if kind == "op":
        return operate(condition[1], [value(operand, stream, bound, i, each) for operand in condition[2]])
    if kind == "attr":
        _, variable, index, column = condition
        if index == "each":
            return stream.rows[each[variable]].get(column)
        number = {None: 1, 1: 1, "i": i, "i-1": i - 1, "LEN": len(bound[variable])}[index]
        return stream.rows[bound[variable][number - 1]].get(column)
    _, function, variable, members, column = condition
    taken = bound[variable] if members == "all" else bound[variable][: i - 1]
    if column is None:
        return len(taken)
    return aggregate(function, [stream.rows[position].get(column) for position in taken])


# ------------------------------------------------------------------------------------------------- what has no meaning


def check(pattern: Pattern) -> None:
    """Reject what the rules give no meaning to."""
    check_operators(pattern.structure)
    kinds: dict[str, tuple[bool, bool]] = {}
    for component in components(pattern.structure):
        kind = (component.kleene, component.negated)
        if kind == (True, True):
            raise ValueError("a negated component has no Kleene plus")
        if kinds.setdefault(component.variable, kind) != kind:
            raise ValueError(f"{component.variable} is single, repeated or negated, and not the same everywhere")
    for clause in clauses(pattern.structure):
        names = [component.variable for component in components(clause)]
        if len(set(names)) < len(names):
            raise ValueError("two components have the same variable")
        if all(component.negated for component in components(clause)):
            raise ValueError("a clause needs a component that is not negated")
    for condition in pattern.conditions:
        check_condition(condition, kinds)


def check_operators(structure: Structure) -> None:
    """Every operator is known and has parts."""
    if isinstance(structure, Node):
        if structure.operator not in ("SEQ", "AND", "OR") or not structure.parts:
            raise ValueError(f"no structure: {structure!r}")
        for part in structure.parts:
            check_operators(part)


def check_condition(condition: Expr | Check, kinds: Mapping[str, tuple[bool, bool]]) -> None:
    """Indexes as `naive_sase` has them; but b[i] may stand beside any event, as nothing says when it is tested."""
    mentioned = indexed(condition)
    if not {variable for variable, _ in mentioned} <= set(kinds):
        raise ValueError(f"unknown variable in {condition!r}")
    absent = {variable for variable, _ in mentioned if kinds[variable][1]}
    if len(absent) > 1:
        raise ValueError(f"more than one negated variable in {condition!r}")
    if isinstance(condition, Check):
        if len(set(condition.variables)) != len(condition.variables) or len(condition.variables) not in (1, 2):
            raise ValueError("a check is of one event or of two")
        return
    if any((index is not None) != kinds[variable][0] for variable, index in mentioned):
        raise ValueError(f"an index is for a Kleene variable and for no other: {condition!r}")
    iterated = {variable for variable, index in mentioned if index in ("i", "i-1", "..i-1")}
    if len(iterated) > 1 or (iterated and absent):
        raise ValueError(f"{sorted(iterated)}[i] together with another [i], or with what is absent: {condition!r}")
