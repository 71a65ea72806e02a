"""The oracle for SASE+ against a second definition, which knows no automaton: random queries and streams."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from naive_sase import Component, Event, EventQuery, Expr, Match, Strategy, aggregate, matches, operate
from naive_sase_notation import ANY, PARTITION, STRICT, agg, all_selected, attr, lit, op

# ------------------------------------------------------------------------------------ a second definition, no automaton
#
# A match is an assignment of increasing positions to the components. Skip till any match wants those that satisfy the
# query; each other strategy also says which events between the first and the last may be left out:
#   STRICT: none. PARTITION: those of other partitions.
#   NEXT: an event that could not have been the next one selected, after the events selected before it: as one more of
#   the Kleene component under way, or if the last event selected is a singleton's, as the first of the next component.


def assignments(query: EventQuery, events: Sequence[Event]) -> Iterator[Match]:
    """All ways to give increasing positions to the components, one to a singleton and at least one to a Kleene plus."""
    components = [component for component in query.components if not component.negated]
    for size in range(len(components), len(events) + 1):
        for positions in itertools.combinations(range(len(events)), size):
            for cuts in itertools.combinations(range(1, size), len(components) - 1):
                ends = [0, *cuts, size]
                parts = [positions[i:j] for i, j in itertools.pairwise(ends)]
                if all(len(part) == 1 or c.kleene for part, c in zip(parts, components, strict=True)):
                    yield tuple((c.variable, part) for part, c in zip(parts, components, strict=True))


def grounded(expr: Expr, match: Match, events: Sequence[Event], i: int | None) -> Any:
    """The value of an expression in which the iteration `i` (from 1, as in the paper) is given."""
    if expr[0] == "lit":
        return expr[1]
    if expr[0] == "op":
        return operate(expr[1], [grounded(operand, match, events, i) for operand in expr[2]])
    members = [events[position] for position in dict(match)[expr[1] if expr[0] == "attr" else expr[2]]]
    if expr[0] == "attr":
        number = {None: 1, 1: 1, "LEN": len(members), "i": i, "i-1": i - 1 if i else None}[expr[2]]
        assert number is not None
        return members[number - 1].get(expr[3])
    if expr[3] == "..i-1":
        assert i is not None
        members = members[: i - 1]
    return len(members) if expr[4] is None else aggregate(expr[1], [event.get(expr[4]) for event in members])


def mentions(expr: Expr) -> set[tuple[str, Any]]:
    if expr[0] == "op":
        return set().union(*map(mentions, expr[2]))
    return {"lit": set(), "attr": {tuple(expr[1:3])}, "agg": {tuple(expr[2:4])}}[expr[0]]


def iterated(conjunct: Expr) -> str | None:
    """The variable that a conjunct mentions with i."""
    return next((variable for variable, index in mentions(conjunct) if "i" in str(index)), None)


def fits(query: EventQuery, match: Match, events: Sequence[Event]) -> bool:
    """Types and equivalence, the latter between every two events."""
    types = {component.variable: component.types for component in query.components}
    return all(events[p]["type"] in types[name] for name, positions in match for p in positions) and all(
        same_partition(query, events[p], events[q]) for p, q in itertools.combinations(all_selected(match), 2)
    )


def same_partition(query: EventQuery, one: Event, other: Event) -> bool:
    return all(one.get(c) is not None and one.get(c) == other.get(c) for c in query.equivalence)


def in_time(query: EventQuery, match: Match, events: Sequence[Event]) -> bool:
    if query.within is None:
        return True
    first, last = all_selected(match)[0], all_selected(match)[-1]
    if query.within[0] == "time":
        return bool(events[last]["time"] <= events[first]["time"] + query.within[1])
    between = sum(same_partition(query, events[first], event) for event in events[first + 1 : last])
    return (0 if first == last else between + 1) < query.within[1]


def satisfies(query: EventQuery, match: Match, events: Sequence[Event]) -> bool:
    for conjunct in query.predicates:
        variable = iterated(conjunct)
        iterations = [None] if variable is None else range(2, len(dict(match)[variable]) + 1)
        if not all(grounded(conjunct, match, events, i) is True for i in iterations):
            return False
    return True


def may_leave_out(query: EventQuery, match: Match, events: Sequence[Event], position: int) -> bool:
    """Whether the strategy allows the event at `position`, between the first and last of the match, to be left out."""
    if query.strategy is STRICT:
        return False
    if query.strategy is PARTITION:
        return not same_partition(query, events[all_selected(match)[0]], events[position])
    return query.strategy is ANY or not could_be_next(query, match, events, position)


def could_be_next(query: EventQuery, match: Match, events: Sequence[Event], position: int) -> bool:
    kleene = {component.variable for component in query.components if component.kleene}
    cut = [(name, tuple(p for p in positions if p < position)) for name, positions in match]
    so_far = [(name, positions) for name, positions in cut if positions]
    name, positions = so_far[-1]
    if name in kleene:
        so_far[-1] = (name, (*positions, position))
        longer = tuple(so_far)
        relevant = [conjunct for conjunct in query.predicates if iterated(conjunct) == name]
        i = len(positions) + 1
        return fits(query, longer, events) and all(grounded(c, longer, events, i) is True for c in relevant)
    name = match[len(so_far)][0]
    longer = (*so_far, (name, (position,)))
    relevant = [
        conjunct
        for conjunct in query.predicates
        if {variable for variable, _ in mentions(conjunct)} <= set(dict(longer))
        and {index for variable, index in mentions(conjunct) if variable == name} in ({None}, {1})
    ]
    return fits(query, longer, events) and all(grounded(c, longer, events, None) is True for c in relevant)


def declared(query: EventQuery, events: Sequence[Event]) -> set[Match]:
    """The matches of a query without negation, by the second definition."""
    return {
        match
        for match in assignments(query, events)
        if fits(query, match, events)
        and all(events[all_selected(match)[0]].get(column) is not None for column in query.equivalence)
        and in_time(query, match, events)
        and satisfies(query, match, events)
        and all(
            may_leave_out(query, match, events, position)
            for position in range(all_selected(match)[0], all_selected(match)[-1])
            if position not in all_selected(match)
        )
    }


def conditions(variable: str, kleene: bool, earlier: list[tuple[str, bool]]) -> list[Expr]:
    """Conditions on a component, alone and with each component before it."""
    x = "x"
    if not kleene:
        heads = [attr(variable, x)]
        alone = [op(heads[0], "<>", lit(1))]
    else:
        head, each, before, last = (attr(variable, x, index) for index in (1, "i", "i-1", "LEN"))
        heads = [head, each, last]
        alone = [
            op(head, "<>", lit(1)),
            op(each, ">", before),
            op(each, ">=", agg("avg", variable, "..i-1", x)),
            op(each, "<=", head),
            op(agg("count", variable, "..i-1"), "<", lit(2)),
            op(last, ">", lit(0)),
            op(last, "<>", head),
            op(agg("sum", variable, "all", x), "<", lit(4)),
            op(agg("count", variable, "all"), ">", lit(1)),
        ]
    known = [
        other
        for name, repeated in earlier
        for other in (
            [attr(name, x, 1), attr(name, x, "LEN"), agg("max", name, "all", x)] if repeated else [attr(name, x)]
        )
    ]
    return alone + [op(head, symbol, other) for head in heads for other in known for symbol in ("<=", ">")]


def random_query(chance: random.Random) -> EventQuery:
    components: list[Component] = []
    possible: list[Expr] = [op(lit(1), "=", lit(1))]
    for variable in "abc"[: chance.choice([1, 2, 2, 3])]:
        kleene = chance.random() < 0.6
        possible += conditions(variable, kleene, [(c.variable, c.kleene) for c in components])
        components.append(Component(variable, chance.choice([("A", "B"), ("A", "B"), ("A",), ("A", "B", "X")]), kleene))
    return EventQuery(
        components=tuple(components),
        strategy=chance.choice(list(Strategy)),
        predicates=tuple(chance.sample(possible, min(chance.choice([0, 1, 1, 2]), len(possible)))),
        equivalence=chance.choice([(), (), ("k",), ("k",), ("k",), ("k", "type")]),
        within=chance.choice([None, None, ("time", chance.randint(0, 9)), ("events", chance.randint(1, 7))]),
    )


def random_stream(chance: random.Random) -> list[Event]:
    events: list[Event] = []
    time = 0
    for _ in range(chance.choice([0, 1, 3, 5, 6, 6, 6, 7, 7, 7])):
        time += chance.choice([0, 1, 1, 2])
        events.append(
            {
                "type": chance.choice("AAABBX"),
                "time": time,
                "k": chance.choice([1, 1, 1, 1, 1, 2, 2, None]),
                "x": chance.choice([0, 1, 1, 2, 2, 2, 3, 3, None]),
            }
        )
    return events


# Random numbers fill a case more evenly than Hypothesis would, which prefers the small and the repeated: most
# cases have matches, and each strategy is seen to differ from the next.
cases = st.integers(0, 2**32).map(random.Random).map(lambda chance: (random_query(chance), random_stream(chance)))
Case = tuple[EventQuery, list[Event]]


@settings(max_examples=300, deadline=None)
@given(cases)
def test_automaton_and_second_definition_agree(case: Case) -> None:
    query, events = case
    for strategy in Strategy:
        by_automaton = matches(replace(query, strategy=strategy), events)
        assert len(set(by_automaton)) == len(by_automaton)
        assert set(by_automaton) == declared(replace(query, strategy=strategy), events)


@settings(max_examples=60, deadline=None)
@given(cases)
def test_each_strategy_relaxes_the_one_before(case: Case) -> None:
    query, events = case
    results = [set(matches(replace(query, strategy=strategy), events)) for strategy in Strategy]
    for narrow, wide in itertools.pairwise(results):
        assert narrow <= wide
    if not query.equivalence:
        assert results[0] == results[1]  # without a partition condition every event is in the partition


@settings(max_examples=300, deadline=None)
@given(cases, st.data())
def test_negation_is_a_nested_query(case: Case, data: st.DataObject) -> None:
    """A match is eliminated if it can be extended by the negated component as a positive one, by any event."""
    query, events = case
    place = data.draw(st.integers(0, len(query.components)))
    negative = Component("n", ("X", "B"), negated=True)
    components = (*query.components[:place], negative, *query.components[place:])
    known = [attr(c.variable, "x", "LEN" if c.kleene else None) for c in query.components]
    above = [op(attr("n", "x"), symbol, other) for other in known for symbol in ("<", ">")]
    predicates = (*query.predicates, *data.draw(st.lists(st.sampled_from(above), max_size=1)))
    if query.strategy is STRICT and query.within is not None and query.within[0] == "events":
        query = replace(query, equivalence=())  # otherwise STRICT counts other events than ANY
    with_negation = replace(query, components=components, predicates=predicates)
    affirmed = tuple(replace(component, negated=False) for component in components)
    extended = matches(replace(with_negation, components=affirmed, strategy=ANY), events)
    spoiled = {tuple(part for part in match if part[0] != "n") for match in extended}
    assert matches(with_negation, events) == [match for match in matches(query, events) if match not in spoiled]


@settings(max_examples=100, deadline=None)
@given(cases)
def test_non_overlap_is_greedy(case: Case) -> None:
    query, events = case
    every = matches(query, events)
    given_out = matches(replace(query, non_overlap=True), events)

    def partition(match: Match) -> list[Any]:
        columns = () if query.strategy is STRICT else query.equivalence
        return [events[all_selected(match)[0]].get(column) for column in columns]

    def overlap(one: Match, other: Match) -> bool:
        first, second = sorted([all_selected(one), all_selected(other)])
        return partition(one) == partition(other) and second[0] <= first[-1]

    assert [match for match in every if match in given_out] == given_out
    assert not any(overlap(one, other) for one, other in itertools.combinations(given_out, 2))
    for number, match in enumerate(every):
        if match not in given_out:
            assert any(overlap(match, earlier) for earlier in every[:number] if earlier in given_out)


@settings(max_examples=60, deadline=None)
@given(cases)
def test_order_of_the_result(case: Case) -> None:
    query, events = case

    def key(match: Match) -> list[Any]:
        positions = all_selected(match)
        return [positions[-1], positions[0], positions, [len(part) for _, part in match]]

    result = matches(query, events)
    assert result == sorted(result, key=key)
