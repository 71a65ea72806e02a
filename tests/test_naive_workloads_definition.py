"""The oracle for workloads against a second definition, against that of SASE+, and against itself, on random cases."""

from __future__ import annotations

import itertools
import operator
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive_sase
from naive_sase import Component, EventQuery, Strategy
from naive_sase_notation import attr, op
from naive_workloads import (
    Found,
    Node,
    Pattern,
    Row,
    Stream,
    Structure,
    clauses,
    components,
    indexed,
    match_all,
    matches,
    partitions,
)
from naive_workloads_notation import render, render_structure, structure
from test_naive_sase_definition import Case as SaseCase
from test_naive_sase_definition import cases as sase_cases
from trellis.languages.sase import parse_sase_text
from workload_cases import TIME, Case, cases

# -------------------------------------------------------------------------------------------------- a second definition
#
# Each row is given a label: a variable, or none. Labels make a match if for some choice of a branch in every OR the
# stretches that the parts of the structure take follow each other where SEQ is, and no row between two bounds, which
# are the stretches of the parts before and after, is what must be absent.

Labels = tuple[str | None, ...]
Places = dict[str, list[int]]
_OPERATORS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "<>": operator.ne,
}


def labelled(pattern: Pattern, rows: Sequence[Row]) -> Iterator[Labels]:
    names: list[list[str | None]] = [
        [
            None,
            *dict.fromkeys(
                c.variable for c in components(pattern.structure) if row["type"] in c.types and not c.negated
            ),
        ]
        for row in rows
    ]
    return itertools.product(*names)


def chosen(part: Structure, branches: Iterator[int]) -> Structure:
    """The structure with one branch of each OR; a number says which."""
    if isinstance(part, Component):
        return part
    if part.operator == "OR":
        return chosen(part.parts[next(branches) % len(part.parts)], branches)
    return Node(part.operator, tuple(chosen(inner, branches) for inner in part.parts))


def readings(part: Structure) -> list[Structure]:
    ors = render_structure(part).count("OR(")
    most = max(len(node.parts) for node in nodes(part) if isinstance(node, Node))
    return [chosen(part, iter(numbers)) for numbers in itertools.product(range(most), repeat=ors)]


def nodes(part: Structure) -> Iterator[Structure]:
    yield part
    if isinstance(part, Node):
        for inner in part.parts:
            yield from nodes(inner)


def stretch(part: Structure, places: Places, rows: Sequence[Row]) -> tuple[int, int] | None:
    """From which row to which a part goes, (99, -1) if it takes none; None if it is not as the structure wants it."""
    if isinstance(part, Component):
        if part.negated:
            return 99, -1
        taken = places.get(part.variable, [])
        if not taken or (len(taken) > 1 and not part.kleene) or any(rows[at]["type"] not in part.types for at in taken):
            return None
        return taken[0], taken[-1]
    inner = [stretch(one, places, rows) for one in part.parts]
    known = [one for one in inner if one is not None]
    if len(known) < len(inner):
        return None
    taking = [one for one in known if one != (99, -1)]
    if part.operator == "SEQ" and any(one[1] >= other[0] for one, other in itertools.pairwise(taking)):
        return None
    return min(one[0] for one in known), max(one[1] for one in known)


def absences(
    part: Structure, places: Places, rows: Sequence[Row], low: int, high: int
) -> list[tuple[Component, int, int]]:
    """What must be absent, after which row and before which."""
    if isinstance(part, Component):
        return [(part, low, high)] if part.negated else []
    found = []
    for number, inner in enumerate(part.parts):
        bounds = [low], [high]
        if part.operator == "SEQ":
            bounds[0].extend(stretch(one, places, rows)[1] for one in part.parts[:number])
            bounds[1].extend(stretch(one, places, rows)[0] for one in part.parts[number + 1 :])
        found += absences(inner, places, rows, max(bounds[0]), min(bounds[1]))
    return found


def together(pattern: Pattern, taken: Sequence[int], rows: Sequence[Row]) -> bool:
    """Whether rows agree and are in one window."""
    keys = [[rows[at][column] for at in taken] for column in pattern.equivalence]
    if any(None in values or len(set(values)) > 1 for values in keys):
        return False
    if pattern.within is None:
        return True
    kind, size = pattern.within
    if kind == "time":
        times = [rows[at]["time"] for at in taken]
        return None not in times and max(times) - min(times) <= size
    alike = [
        row
        for row in rows[min(taken) : max(taken) + 1]
        if all(row[c] == rows[taken[0]][c] for c in pattern.equivalence)
    ]
    return len(alike) <= size


def instances(condition: Any, places: Places) -> Iterator[dict[tuple[str, Any], int]]:
    """For each instance of a condition, the rows that its variables and indexes stand for."""
    ways: list[list[dict[tuple[str, Any], int]]] = []
    for variable in sorted({variable for variable, _ in indexed(condition)}):
        taken = places[variable]
        fixed = {(variable, None): taken[0], (variable, 1): taken[0], (variable, "LEN"): taken[-1]}
        mine = [dict(fixed)]
        if any(name == variable and index in ("i", "i-1") for name, index in indexed(condition)):
            mine = [
                fixed | {(variable, "i-1"): one, (variable, "i"): other} for one, other in itertools.pairwise(taken)
            ]
        elif (variable, "each") in indexed(condition):
            mine = [fixed | {(variable, "each"): member} for member in taken]
        ways.append(mine)
    for way in itertools.product(*ways):
        yield {name: at for part in way for name, at in part.items()}


def computed(expr: Any, instance: dict[tuple[str, Any], int], rows: Sequence[Row]) -> Any:
    if expr[0] == "lit":
        return expr[1]
    if expr[0] == "attr":
        return rows[instance[expr[1], expr[2]]][expr[3]]
    left, right = (computed(operand, instance, rows) for operand in expr[2])
    if left is None or right is None:
        return None
    return left + right if expr[1] == "+" else _OPERATORS[expr[1]](left, right)


def true(condition: Any, places: Places, rows: Sequence[Row]) -> bool:
    return all(computed(condition, instance, rows) for instance in instances(condition, places))


def is_match(pattern: Pattern, reading: Structure, places: Places, rows: Sequence[Row]) -> bool:
    positive = {component.variable for component in components(reading) if not component.negated}
    if set(places) != positive or stretch(reading, places, rows) is None:
        return False
    taken = [at for members in places.values() for at in members]
    said = [(condition, {variable for variable, _ in indexed(condition)}) for condition in pattern.conditions]
    if not together(pattern, taken, rows) or not all(true(c, places, rows) for c, names in said if names <= positive):
        return False
    for absent, low, high in absences(reading, places, rows, -1, len(rows)):
        for at in range(low + 1, high):
            if (
                at not in taken
                and rows[at]["type"] in absent.types
                and together(pattern, [*taken, at], rows)
                and all(
                    true(c, places | {absent.variable: [at]}, rows)
                    for c, names in said
                    if absent.variable in names and names <= positive | {absent.variable}
                )
            ):
                return False
    return True


def by_labels(pattern: Pattern, rows: Sequence[Row]) -> list[list[int]]:
    """The rows of each match, in order."""
    found = []
    for labels in labelled(pattern, rows):
        places: Places = {}
        for at, label in enumerate(labels):
            if label is not None:
                places.setdefault(label, []).append(at)
        if places and any(is_match(pattern, reading, places, rows) for reading in readings(pattern.structure)):
            found.append([at for at, label in enumerate(labels) if label is not None])
    return sorted(found, key=lambda taken: (taken[-1], taken[0], taken))


@given(cases(most_patterns=3))
def test_the_second_definition_agrees(case: Case) -> None:
    case = replace(case, rows=case.rows[:7])
    expected: list[Found] = []
    for pattern in case.patterns:
        for _, stream in partitions(case.rows, case.partition_by, TIME, "type"):
            numbers: Counter[Any] = Counter()
            for taken in by_labels(pattern, stream.rows):
                events = tuple(stream.rows[at] for at in taken)
                key = tuple(events[0][column] for column in pattern.equivalence)
                numbers[key] += 1
                expected.append(Found(pattern.name, numbers[key], events[0]["time"], events[-1]["time"], events))
    assert case.expected() == expected


# ---------------------------------------------------------------------------------------------------------------- SASE+


def as_pattern(query: EventQuery) -> Pattern:
    return Pattern("p", Node("SEQ", query.components), query.predicates, query.equivalence, query.within)


@given(sase_cases, st.data())
def test_a_sequence_is_that_of_sase(case: SaseCase, data: st.DataObject) -> None:
    """The same matches in the same order, with negation in any place, and all conditions of SASE+."""
    query, events = case
    query = replace(query, strategy=Strategy.ANY)
    if data.draw(st.booleans()):
        place = data.draw(st.integers(0, len(query.components)))
        negative = Component("n", ("X", "B"), negated=True)
        known = [attr(c.variable, "x", "LEN" if c.kleene else None) for c in query.components]
        above = [op(attr("n", "x"), symbol, other) for other in known for symbol in ("<", ">")]
        query = replace(
            query,
            components=(*query.components[:place], negative, *query.components[place:]),
            predicates=(*query.predicates, *data.draw(st.lists(st.sampled_from(above), max_size=1))),
        )
    assert matches(as_pattern(query), Stream(tuple(events))) == naive_sase.matches(query, events)


def is_sequence(pattern: Pattern) -> bool:
    assert isinstance(pattern.structure, Node)
    return pattern.structure.operator == "SEQ" and all(isinstance(part, Component) for part in pattern.structure.parts)


@given(cases(each=False))
def test_sequences_of_workloads_are_those_of_sase(case: Case) -> None:
    sequences = [pattern for pattern in case.patterns if is_sequence(pattern)]
    assume(sequences)
    rows = [row for row in case.rows if row["time"] is not None]
    [stream] = [stream for _, stream in partitions(rows, (), TIME, "type")] or [Stream(())]
    for pattern in sequences:
        query = EventQuery(
            tuple(components(pattern.structure)), Strategy.ANY, pattern.conditions, pattern.equivalence, pattern.within
        )
        assert matches(pattern, stream) == naive_sase.matches(query, stream.rows)


@given(cases(each=False))
def test_texts_of_sequences_are_sase(case: Case) -> None:
    """The texts are what is read today, as far as SEQ alone goes."""
    for pattern in case.patterns:
        assert structure(render_structure(pattern.structure)) == pattern.structure
        if is_sequence(pattern):
            parse_sase_text(case.texts[pattern.name])


def test_a_text_with_everything() -> None:
    sought = Pattern(
        "p",
        structure("SEQ(A a, AND(B b, C+ c[]), OR((A | B) d, ~(D e)))"),
        (op(("attr", "c", "each", "x"), "<", attr("a", "x")), op(attr("c", "x", "i"), ">", attr("c", "y", "i-1"))),
        ("k", "y"),
        ("time", 5),
    )
    assert render(sought, unit="seconds").splitlines() == [
        "PATTERN SEQ(A a, AND(B b, C+ c[]), OR((A | B) d, ~(D e)))",
        "WHERE skip_till_any_match { [k, y] and c[].x < a.x and c[i].x > c[i-1].y }",
        "WITHIN 5 seconds",
    ]


# ------------------------------------------------------------------------------------------------ laws of the operators


def ids(pattern: Pattern, rows: Sequence[Row]) -> Counter[tuple[int, ...]]:
    return Counter(tuple(event["id"] for event in row.events) for row in match_all([pattern], rows, (), TIME))


@given(cases())
def test_and_is_every_order(case: Case) -> None:
    """Of single events. Different orders cannot give the same assignment, so none is counted twice."""
    for pattern in case.patterns:
        leaves = components(pattern.structure)
        if not any(leaf.kleene or leaf.negated for leaf in leaves) and len(clauses(pattern.structure)) == 1:
            orders = [Node("SEQ", parts) for parts in itertools.permutations(leaves)]
            expected = sum((ids(replace(pattern, structure=one), case.rows) for one in orders), Counter())
            assert ids(replace(pattern, structure=Node("AND", tuple(leaves))), case.rows) == expected


@given(cases())
def test_time_can_run_backwards(case: Case) -> None:
    """Sequences in reverse have the same matches in rows in reverse, but for what counts members from the first."""

    def mirrored(part: Structure) -> Structure:
        if isinstance(part, Component):
            return part
        return Node(part.operator, tuple(mirrored(inner) for inner in reversed(part.parts)))

    rows = [row for row in case.rows if row["time"] is not None]
    back = [{**row, "time": -row["time"], "id": -row["id"]} for row in rows]
    for pattern in case.patterns:
        if not any(index in ("i", 1, "LEN") for condition in pattern.conditions for _, index in indexed(condition)):
            turned = ids(replace(pattern, structure=mirrored(pattern.structure)), back)
            assert ids(pattern, rows) == {tuple(-at for at in reversed(taken)): n for taken, n in turned.items()}


@given(cases())
def test_what_must_be_absent_only_takes_matches_away(case: Case) -> None:
    def positive(part: Structure) -> Structure | None:
        if isinstance(part, Component):
            return None if part.negated else part
        parts = tuple(inner for inner in map(positive, part.parts) if inner is not None)
        return Node(part.operator, parts) if parts else None

    for pattern in case.patterns:
        if len(clauses(pattern.structure)) == 1:
            without = replace(pattern, structure=positive(pattern.structure))
            absent = {leaf.variable for leaf in components(pattern.structure) if leaf.negated}
            left = [c for c in pattern.conditions if not absent & {variable for variable, _ in indexed(c)}]
            assert ids(pattern, case.rows) <= ids(replace(without, conditions=tuple(left)), case.rows)


# ------------------------------------------------------------------------------------------------- the cases themselves


def test_cases_have_what_they_should() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=150, database=None)
    @given(cases())
    def look(case: Case) -> None:
        finding = {row.pattern for row in case.expected()}
        seen["cases"] += 1
        seen["patterns"] += len(case.patterns)
        seen["patterns with matches"] += len(finding)
        seen["ties"] += len({row["time"] for row in case.rows}) < len(case.rows)
        for pattern in case.patterns:
            for leaf in components(pattern.structure):
                seen["repeated"] += leaf.kleene and pattern.name in finding
                seen["absent"] += leaf.negated and pattern.name in finding
            for node in nodes(pattern.structure):
                if isinstance(node, Node):
                    seen[node.operator] += pattern.name in finding
        for one, other in itertools.combinations(case.patterns, 2):
            if one.structure == other.structure:
                seen["equal"] += replace(one, name="") == replace(other, name="")
                seen["other window"] += one.within != other.within
                seen["other conditions"] += one.conditions != other.conditions
                texts = [str(pattern.conditions) for pattern in (one, other)]
                seen["other column"] += texts[0] != texts[1] and len({text.replace("y", "x") for text in texts}) == 1
            parts = [pattern.structure.parts for pattern in (one, other)]
            seen["reversed"] += parts[0] == parts[1][::-1] and parts[0] != parts[1]

    look()
    assert seen["patterns with matches"] > seen["patterns"] / 3, seen
    for what in "ties repeated absent SEQ AND OR equal reversed".split() + [
        "other window",
        "other conditions",
        "other column",
    ]:
        assert seen[what] >= 10, (what, seen)
