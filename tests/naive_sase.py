"""SASE+ event patterns by definition: the truth that a real engine is compared with.

The paper is "Efficient Pattern Matching over Event Streams" (Agrawal, Diao, Gyllstrom, Immerman, SIGMOD 2008); "§3.2
step 2" names a place in it and quotation marks hold its words. A "rule" is a choice made where the paper leaves one.
Every run of the automaton NFA^b is simulated on its own, event by event. That is exponential and meant to be: speed
would need ideas, and ideas are what this file must not share with the engine.

Expressions are tuples:
    ("lit", value)
    ("attr", variable, index, column)           index: None (singleton or negated variable) or 1, "i", "i-1", "LEN"
    ("agg", function, variable, range, column)  range: "..i-1" or "all"; column None only with count: count of members
    ("op", symbol, (operand, ...))              = <> < <= > >= + - * / % AND OR NOT and IS NULL
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from naive import operate_on_two

Expr = tuple[Any, ...]
Event = Mapping[str, Any]  # "type", "time" and attributes; an attribute that an event does not have is NULL
Match = tuple[tuple[str, tuple[int, ...]], ...]  # for each positive component: its variable and its events' positions
Edge = tuple[str, str]  # a variable and "begin", "take" or "proceed"


class Strategy(Enum):
    """The event selection strategies of §2."""

    STRICT = "strict contiguity"
    PARTITION = "partition contiguity"
    NEXT = "skip till next match"
    ANY = "skip till any match"


@dataclass(frozen=True)
class Component:
    """One component of SEQ: a variable for one event, for one or more (Kleene plus), or for none (negation)."""

    variable: str
    types: tuple[str, ...]
    kleene: bool = False
    negated: bool = False


@dataclass(frozen=True)
class EventQuery:
    """PATTERN SEQ(components) WHERE strategy {predicates} WITHIN within.

    `predicates` are the conjuncts after §3.2 step 2 "rewrites all the predicates into conjunctive normal form"; only
    the equivalence test is left to be expanded. `equivalence` names the columns of [column, ...]. `within` is
    ("time", longest time between the first and last event) or ("events", largest number of events, both counted).
    `timeouts` asks for what `timed_out` gives, too.
    """

    components: tuple[Component, ...]
    strategy: Strategy = Strategy.NEXT
    predicates: tuple[Expr, ...] = ()
    equivalence: tuple[str, ...] = ()
    within: tuple[str, int] | None = None
    non_overlap: bool = False
    timeouts: bool = False


def matches(query: EventQuery, events: Sequence[Event]) -> list[Match]:
    """All matches of the query, in the order of `order`.

    §3.1 on negation: "we first compute matches of the NFA^b automaton that includes only the positive pattern
    components, then search for matches of the NFA^b automaton for each negative component. Any match of the latter
    eliminates the former from the answer set."
    """
    check(query)
    found = [match for match in accepted(query, events) if not eliminated(query, events, match)]
    found.sort(key=order)
    return without_overlap(query, events, found) if query.non_overlap else found


def timed_out(query: EventQuery, events: Sequence[Event]) -> list[Match]:
    """The buffers of all runs that have come to no match when their window closes. This is no part of the paper.

    The window of a run closes with an event that lies beyond it, or with the end of the events. A run that another
    event ends has failed. A run has come to a match if one of the runs that it becomes with an event is accepted,
    whether that match is given out or eliminated; so have all that it becomes then. OUTPUT NON_OVERLAP is about
    matches alone.
    """
    check(query)
    found: set[Match] = set()
    runs: set[tuple[Run, bool]] = set()  # a run, and whether it has come to a match
    for position in range(len(events)):
        moved: set[tuple[Run, bool]] = set()
        for run, has_matched in [*runs, (Run((), 0), False)]:
            if run.buffer and not in_window(query, events, first_event(run.buffer), position):
                found |= set() if has_matched else {run.buffer}
                continue
            becomes = moves(query, events, run, position)
            matched = has_matched or any(is_accepted(query, events, one) for one in becomes)
            moved |= {(one, matched) for one in becomes if automaton(query)[one.state].component is not None}
        runs = moved
    found |= {run.buffer for run, has_matched in runs if not has_matched}
    return sorted(match for match in found if not eliminated(query, events, match, partial=True))


def value(expr: Expr, match: Match, events: Sequence[Event]) -> Any:
    """The value of a RETURN expression: attributes with index None, 1 or "LEN", aggregates over "all"."""
    return evaluate(expr, dict(match), events)


def check(query: EventQuery) -> None:
    """Reject what the paper and the rules give no meaning to."""
    variables = [component.variable for component in query.components]
    if len(set(variables)) < len(variables):
        raise ValueError("two components have the same variable")
    if not positive(query):
        raise ValueError("a pattern needs a component that is not negated")
    if any(component.negated and component.kleene for component in query.components):
        raise ValueError("a negated component has no Kleene plus")
    kleene = {component.variable for component in query.components if component.kleene}
    for conjunct in query.predicates:
        mentioned = variables_of(conjunct)
        if not mentioned <= set(variables):
            raise ValueError(f"unknown variable in {conjunct!r}")
        if len(mentioned & negated(query)) > 1:
            raise ValueError(f"more than one negated variable in {conjunct!r}")
        for variable, index in identifiers(conjunct):
            if (index is not None) != (variable in kleene):
                raise ValueError(f"an index is for a Kleene variable and for no other: {conjunct!r}")
            elsewhere = mentioned & negated(query) or edge_of(conjunct, query) != (variable, "take")
            if instantiated_by(index) == "take" and elsewhere:
                raise ValueError(f"{variable}[i] together with something later in {conjunct!r}")


def positive(query: EventQuery) -> list[Component]:
    """The components that the automaton knows."""
    return [component for component in query.components if not component.negated]


def negated(query: EventQuery) -> set[str]:
    """The negated variables."""
    return {component.variable for component in query.components if component.negated}


# ----------------------------------------------------------------------------------- the order and choice of matches


def order(match: Match) -> tuple[int, int, tuple[int, ...], tuple[int, ...]]:
    """Rule: by last event, then by first event, then by all positions, then by the sizes of the components."""
    every = tuple(position for _, positions in match for position in positions)
    return last_event(match), first_event(match), every, tuple(len(positions) for _, positions in match)


def first_event(match: Match) -> int:
    """The position of the first event of a match, whole or partial."""
    return match[0][1][0]


def last_event(match: Match) -> int:
    """The position of the last event of a match, whole or partial."""
    return match[-1][1][-1]


def without_overlap(query: EventQuery, events: Sequence[Event], found: list[Match]) -> list[Match]:
    """§2: "one match in a partition is output only if it starts after the previous match completes".

    "For strict contiguity, treat the input stream as a single partition." Rule: matches are tried in the order of
    `order`, and "after" compares positions in the stream, not times.
    """
    given: list[Match] = []
    ends: dict[tuple[Any, ...], int] = {}  # for each partition, where the match given last ends
    for match in found:
        first = events[first_event(match)]
        columns = () if query.strategy is Strategy.STRICT else query.equivalence
        partition = tuple(first.get(column) for column in columns)
        if first_event(match) > ends.get(partition, -1):
            given.append(match)
            ends[partition] = last_event(match)
    return given


# ---------------------------------------------------------------------------------------------------------- negation


def eliminated(query: EventQuery, events: Sequence[Event], match: Match, *, partial: bool = False) -> bool:
    """§3.1, Query 1: "for each pair of such readings it ensures that there does not exist a register reading ...".

    Rule: each negated component is checked on its own.
    """
    return any(
        contradicts(query, events, match, component, position)
        for number, component in enumerate(query.components)
        if component.negated
        for position in forbidden(query, events, match, number, partial)
    )


def forbidden(query: EventQuery, events: Sequence[Event], match: Match, number: int, partial: bool) -> list[int]:
    """The positions at which the negated component `number` must not occur.

    §3.1: "in between". Rule: strictly between the last event of the positive component before it and the first event
    of the one after it; at the end of the pattern after the last event and within the window from the first; at the
    beginning before the first event and within the window to the last. Of a `partial` match, the last event is the
    last that it has, and what must be absent after its last component may occur.
    """
    bound = dict(match)
    before = [bound[c.variable] for c in query.components[:number] if c.variable in bound]
    after = [bound[c.variable] for c in query.components[number:] if c.variable in bound]
    first, last = first_event(match), last_event(match)
    if not before:
        return [position for position in range(first) if in_window(query, events, position, last)]
    if not after and partial:
        return []
    if not after:
        return [position for position in range(last + 1, len(events)) if in_window(query, events, first, position)]
    return list(range(before[-1][-1] + 1, after[0][0]))


def contradicts(query: EventQuery, events: Sequence[Event], match: Match, component: Component, position: int) -> bool:
    """Rule: an event of the component's types that satisfies the equivalence and all conjuncts with its variable.

    What a partial match has not reached is NULL there.
    """
    event = events[position]
    missing: Mapping[str, tuple[int, ...]] = {other.variable: () for other in positive(query)}
    bound = {**missing, **dict(match), component.variable: (position,)}
    return (
        event["type"] in component.types
        and equivalent(query, events[first_event(match)], event)
        and all(
            evaluate(conjunct, bound, events) is True
            for conjunct in query.predicates
            if component.variable in variables_of(conjunct)
        )
    )


# ----------------------------------------------------------------------------------------- the automaton and its runs


@dataclass(frozen=True)
class State:
    """A state of NFA^b: a singleton state or p[1], or if `repeats` the state p[i]; without component the final one."""

    component: Component | None
    repeats: bool = False


@dataclass(frozen=True)
class Run:
    """A run of the automaton; its buffer holds (1) and (2).

    §3.1: "uniquely defined by (1) the sequence of events that it has selected into the match buffer, e.g., e3, e4 and
    e6, (2) the naming of the corresponding units in the buffer, e.g., a[1], a[2], and b for Query 3, and (3) the
    current NFA^b state".
    """

    buffer: Match
    state: int


def automaton(query: EventQuery) -> list[State]:
    """The states of the positive components.

    §3.1: "a linear sequence consisting of any number of occurrences of singleton states, s, for non-Kleene plus
    components, or pairs of states, p[1], p[i], for Kleene plus components, plus a rightmost final state, F".
    """
    states: list[State] = []
    for component in positive(query):
        states.append(State(component))
        if component.kleene:
            states.append(State(component, repeats=True))
    return [*states, State(None)]


def accepted(query: EventQuery, events: Sequence[Event]) -> set[Match]:
    """The buffers of all runs that reach the final state; a set, as rule: the same match appears once.

    §5.2.1: "If none of the edge formulas is satisfied, the run fails and terminates right away", "if more than one edge
    formula is satisfied, the run splits". Every event may also start a run (§4.1: "a newer run can start before an
    older run completes"): the waiting run with the empty buffer is there anew for each event.
    """
    found: set[Match] = set()
    runs: set[Run] = set()
    for position in range(len(events)):
        waiting = Run((), 0)
        runs = {moved for run in [*runs, waiting] for moved in moves(query, events, run, position)}
        found |= {run.buffer for run in runs if is_accepted(query, events, run)}
        runs = {run for run in runs if automaton(query)[run.state].component is not None}
    return found


def is_accepted(query: EventQuery, events: Sequence[Event], run: Run) -> bool:
    """Whether the run is in the final state or can proceed to it from p[i].

    Rule: proceeding to the final state is not restricted by peeking (§3.2 step 6 is for when "the subsequent state is
    not the final state"), so each event that a last Kleene component takes gives a match; the run itself goes on.
    """
    state = automaton(query)[run.state]
    if state.component is None:
        return True
    following = automaton(query)[run.state + 1]
    return state.repeats and following.component is None and proceed(query, events, state.component, run.buffer)


def moves(query: EventQuery, events: Sequence[Event], run: Run, position: int) -> list[Run]:
    """The runs that `run` becomes by reading the event at `position`: none, one, or several if it splits."""
    state, following = automaton(query)[run.state : run.state + 2]
    assert state.component is not None
    moved: list[Run] = []
    if state.repeats:
        longer = select_another(run.buffer, position)
        selectable = edge_holds(query, events, state.component, "take", longer)
        if selectable:
            moved.append(Run(longer, run.state))
        # §3.2 step 6: "we restrict the proceed move by 'peeking' at the current event and deciding if it can satisfy
        # the begin condition of the next state". Rule: always, also when the proceed edge has a condition of its own;
        # the proceed edge reads nothing (§3.1: "a special ε-edge"), so the begin edge then consumes this very event.
        #
        # The exception, "when the take and ignore edges at a[i] both evaluate to False, we would allow an opportunistic
        # move to the state b", cannot help: at b the event must be consumed by begin, which peeking has denied, or by
        # b's ignore edge, which is False for the same reason as the ignore edge at a[i]. STRICT: always. PARTITION and
        # ANY: the formula is the same at both states. NEXT: if take is False then only the window made ignore False,
        # and the window is the same at both states. So the run fails at b with this event.
        if following.component is not None and proceed(query, events, state.component, run.buffer):
            begun = select_first(run.buffer, following.component, position)
            if edge_holds(query, events, following.component, "begin", begun):
                moved.append(Run(begun, run.state + 2))
    else:
        begun = select_first(run.buffer, state.component, position)
        selectable = edge_holds(query, events, state.component, "begin", begun)
        if selectable:
            moved.append(Run(begun, run.state + 1))
    # §3.1: "Every state (except the start and final states) has a looping ignore edge."
    if run.state > 0 and ignore(query, events, first_event(run.buffer), position, selectable):
        moved.append(run)
    return moved


def select_first(buffer: Match, component: Component, position: int) -> Match:
    """The buffer after a begin edge: the event becomes the (first) event of the component."""
    return (*buffer, (component.variable, (position,)))


def select_another(buffer: Match, position: int) -> Match:
    """The buffer after a take edge: the event becomes one more event of the last component."""
    *earlier, (variable, positions) = buffer
    return (*earlier, (variable, (*positions, position)))


def edge_holds(query: EventQuery, events: Sequence[Event], component: Component, edge: str, buffer: Match) -> bool:
    """The formula of a begin or take edge; `buffer` is as it will be if the last event in it is selected.

    It holds the event type (§3.2 footnote 4: "Such checks can be easily added to the edge formulas"), the equivalence
    test in its "canonical form, e.g., a[i].symbol = a[1].symbol" (step 2; rule: the first event is compared with
    itself, so that an event without a value in these columns is in no match), the window (step 5: "copied onto all
    take, ignore, and begin edges") and the conjuncts of the edge (step 2).
    """
    first, last = first_event(buffer), last_event(buffer)
    return (
        events[last]["type"] in component.types
        and equivalent(query, events[first], events[last])
        and in_window(query, events, first, last)
        and conjuncts_hold(query, events, (component.variable, edge), buffer)
    )


def proceed(query: EventQuery, events: Sequence[Event], component: Component, buffer: Match) -> bool:
    """The formula of a proceed edge before peeking: the conjuncts whose last identifier is a[LEN] (§3.2 step 2)."""
    return conjuncts_hold(query, events, (component.variable, "proceed"), buffer)


def ignore(query: EventQuery, events: Sequence[Event], first: int, position: int, selectable: bool) -> bool:
    """The formula of an ignore edge, §3.2 step 3, and the window by step 5.

    `selectable` is the take condition at a state p[i], and the begin condition at a singleton state or p[1]. Rule: a
    condition that is UNKNOWN does not hold, and then its negation here does: "causing all events that do not satisfy
    the take condition to be ignored".
    """
    if not in_window(query, events, first, position):
        return False
    if query.strategy is Strategy.STRICT:
        return False
    if query.strategy is Strategy.PARTITION:
        return not equivalent(query, events[first], events[position])
    if query.strategy is Strategy.NEXT:
        return not selectable
    return True


def equivalent(query: EventQuery, first: Event, event: Event) -> bool:
    """§2: "equality comparison across all events is referred to as an equivalence test". Rule: NULL equals nothing."""
    return all(operate("=", [first.get(column), event.get(column)]) is True for column in query.equivalence)


def in_window(query: EventQuery, events: Sequence[Event], first: int, last: int) -> bool:
    """§3.2 step 4: "compares the time difference between the first and last selected events against the ... window".

    Rule: the bound is inclusive. A window in events counts the first, the last and those between them: all of the
    stream for STRICT, otherwise those of the first event's partition (§4.2: "strict contiguity treats the input stream
    as a single partition").
    """
    if query.within is None:
        return True
    kind, size = query.within
    if kind == "time":
        return bool(events[last]["time"] - events[first]["time"] <= size)
    counted = [
        position
        for position in range(first, last + 1)
        if query.strategy is Strategy.STRICT or position == first or equivalent(query, events[first], events[position])
    ]
    return len(counted) <= size


# ------------------------------------------------------------------------------------------ the places of conjuncts


def conjuncts_hold(query: EventQuery, events: Sequence[Event], edge: Edge, buffer: Match) -> bool:
    """Whether all conjuncts on the edge are true. Rule: one with a negated variable constrains only that negation."""
    return all(
        evaluate(conjunct, dict(buffer), events) is True
        for conjunct in query.predicates
        if not variables_of(conjunct) & negated(query) and edge_of(conjunct, query) == edge
    )


def edge_of(conjunct: Expr, query: EventQuery) -> Edge:
    """§3.2 step 2: "places each conjunct on an edge of its last identifier's instantiation state".

    "The last identifier of a conjunct is the one that is instantiated the latest": by the order of the components, and
    inside a Kleene component a[1] before a[i] before a[LEN]. Rule: a conjunct without identifiers stands on the first
    begin edge.
    """
    edges: list[Edge] = []
    for component in positive(query):
        edges.append((component.variable, "begin"))
        if component.kleene:
            edges += [(component.variable, "take"), (component.variable, "proceed")]
    used = {(variable, instantiated_by(index)) for variable, index in identifiers(conjunct)}
    return max((edge for edge in edges if edge in used), key=edges.index, default=edges[0])


def identifiers(expr: Expr) -> set[tuple[str, Any]]:
    """§3.2 step 2: "each occurrence of a variable in the WHERE clause", as the variable and its index or range."""
    if expr[0] == "attr":
        return {(expr[1], expr[2])}
    if expr[0] == "agg":
        return {(expr[2], expr[3])}
    if expr[0] == "op":
        return {identifier for operand in expr[2] for identifier in identifiers(operand)}
    return set()


def variables_of(expr: Expr) -> set[str]:
    """The variables that an expression mentions."""
    return {variable for variable, _ in identifiers(expr)}


def instantiated_by(index: Any) -> str:
    """The kind of edge that instantiates an identifier.

    §3.2 step 2: "on the take edge if the last identifier is a[i], and on the proceed edge otherwise (e.g., the
    identifier is a[a.LEN])". Rule: a[i-1] and a[..i-1] go with a[i], aggregates over all of a[] go with a[LEN].
    """
    if index in (None, 1):
        return "begin"
    if index in ("i", "i-1", "..i-1"):
        return "take"
    if index in ("LEN", "all"):
        return "proceed"
    raise ValueError(f"unknown index {index!r}")


# --------------------------------------------------------------------------------------------------- the expressions


def evaluate(expr: Expr, bound: Mapping[str, Sequence[int]], events: Sequence[Event]) -> Any:
    """The value of an expression where each variable is bound to the positions of its events so far.

    On the take edge of a[] the current event a[i] is already the last of a; a conjunct with a[LEN] or "all" is only
    evaluated when a is complete. So both a[i] and a[LEN] are the last event bound to a.
    """
    kind = expr[0]
    if kind == "lit":
        return expr[1]
    if kind == "attr":
        _, variable, index, column = expr
        positions = bound[variable]
        if not positions:
            return None
        position = {None: 0, 1: 0, "i": -1, "i-1": -2, "LEN": -1}[index]
        return events[positions[position]].get(column)
    if kind == "agg":
        _, function, variable, members, column = expr
        positions = bound[variable] if members == "all" else bound[variable][:-1]
        if column is None:
            return len(positions)
        return aggregate(function, [events[position].get(column) for position in positions])
    if kind == "op":
        return operate(expr[1], [evaluate(operand, bound, events) for operand in expr[2]])
    raise ValueError(f"unknown expression {expr!r}")


def aggregate(function: str, values: Iterable[Any]) -> Any:
    """As in SQL: NULLs do not take part; over nothing count is 0 and everything else is NULL.

    Of "count distinct" equal values count once.
    """
    present = [value for value in values if value is not None]
    function, _, distinct = function.partition(" ")
    if distinct:
        present = list(dict.fromkeys(present))
    if function == "count":
        return len(present)
    if not present:
        return None
    if function == "sum":
        return sum(present)
    if function == "avg":
        return sum(present) / len(present)
    if function == "min":
        return min(present)
    if function == "max":
        return max(present)
    if function == "first":
        return present[0]
    if function == "last":
        return present[-1]
    raise ValueError(f"unknown aggregate {function}")


def operate(symbol: str, args: Sequence[Any]) -> Any:
    """SQL operators over three-valued logic; None is NULL and UNKNOWN."""
    if symbol == "AND":
        return False if any(arg is False for arg in args) else None if None in args else True
    if symbol == "OR":
        return True if any(arg is True for arg in args) else None if None in args else False
    if symbol == "IS NULL":
        return args[0] is None
    if None in args:
        return None
    if symbol == "NOT":
        return not args[0]
    left, right = args
    return None if symbol in ("/", "%") and right == 0 else operate_on_two(symbol, left, right)
