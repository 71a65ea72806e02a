"""The one form of a sub-pattern: the same under other names and orders, and for nothing else."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from trellis.algebra.clauses import Clause, Condition, Part, condition_of, rename
from trellis.algebra.expression import Identifier, Literal, Name, Operator
from trellis.algebra.subpatterns import Projector, SubPattern
from trellis.analysis.clauses import clauses_of
from trellis.languages.sase import parse_sase_text


def clause_of(text: str) -> Clause:
    (clause,) = clauses_of("p", parse_sase_text(f"PATTERN {text}", combined=True))
    return clause


def form(clause: Clause, mask: int | None = None) -> SubPattern:
    return Projector(clause).project((1 << len(clause.parts)) - 1 if mask is None else mask)[0]


def read(variable: str, column: str) -> Name:
    return Name((Identifier(variable, quoted=True), Identifier(column)))


@st.composite
def drawn_clauses(draw: DrawFn) -> Clause:
    """Few types and columns, so that much is alike."""
    count = draw(st.integers(1, 5))
    names = [f"V{number}" for number in range(count)]
    parts = []
    for name in names:
        tested = Operator("<", (Literal("1"), read(name, "x")))
        tests = (condition_of(tested, (name,)),) if draw(st.integers(0, 4)) == 0 else ()
        parts.append(Part(name, (draw(st.sampled_from("AAB")),), draw(st.integers(0, 5)) == 0, tests))
    # Levels make a partial order; parts of one level are in none.
    levels = [draw(st.integers(0, 2)) for _ in names]
    order = [(one, other) for one in range(count) for other in range(count) if 0 < levels[one] < levels[other]]
    conditions: list[Condition] = []
    for _ in range(draw(st.integers(0, 4))):
        if count > 1:
            one, other = draw(st.permutations(names))[:2]
            symbol = draw(st.sampled_from(["<", ">", "=", "<>"]))
            sides = (read(one, draw(st.sampled_from("xy"))), read(other, draw(st.sampled_from("xy"))))
            conditions.append(condition_of(Operator(symbol, sides), tuple(names)))
    keys = (Name((Identifier("k"),)),) if draw(st.booleans()) else ()
    return Clause("p", tuple(parts), tuple(sorted(order)), tuple(conditions), keys=keys)


def written_anew(clause: Clause, places: list[int], names: list[str]) -> Clause:
    """The same clause with other names for its variables, and with its parts and conditions in another order."""
    renamed = {part.variable: names[number] for number, part in enumerate(clause.parts)}

    def again(condition: Condition) -> Condition:
        return condition_of(rename(condition.expression, renamed), tuple(renamed.values()))

    parts = [replace(part, variable=renamed[part.variable]) for part in clause.parts]
    parts = [replace(part, tests=tuple(map(again, part.tests))) for part in parts]
    moved = sorted(range(len(parts)), key=places.__getitem__)
    return Clause(
        "q",
        tuple(parts[old] for old in moved),
        tuple((moved.index(one), moved.index(other)) for one, other in clause.order),
        tuple(again(condition) for condition in reversed(clause.conditions)),
        keys=clause.keys,
    )


@given(drawn_clauses(), st.data())
def test_neither_names_nor_order_matter(clause: Clause, data: st.DataObject) -> None:
    count = len(clause.parts)
    names = data.draw(st.permutations([f"W{number}" for number in range(count)]))
    other = written_anew(clause, data.draw(st.permutations(range(count))), names)
    assert form(clause) == form(other)


def are_alike(one: Clause, other: Clause) -> bool:
    """Whether some mapping of parts makes one clause of the other: all of them are tried."""
    if len(one.parts) != len(other.parts) or one.keys != other.keys:
        return False
    labels = [[part.label for part in clause.parts] for clause in (one, other)]
    truth = _facts(other, list(range(len(other.parts))))
    return any(
        all(labels[0][part] == labels[1][place] for part, place in enumerate(places)) and _facts(one, places) == truth
        for places in map(list, permutations(range(len(one.parts))))
    )


def _facts(clause: Clause, places: list[int]) -> tuple[object, ...]:
    numbers = {part.variable: places[number] for number, part in enumerate(clause.parts)}
    order = {(places[one], places[other]) for one, other in clause.order}
    tests: set[object] = set()
    for condition in clause.conditions:
        reads = [numbers[variable] for variable in condition.variables]
        tests.add((condition.template, frozenset(reads) if condition.symmetric else tuple(reads)))
    return order, tests


@settings(max_examples=300)
@given(drawn_clauses(), drawn_clauses())
def test_equal_forms_are_those_of_clauses_that_are_alike(one: Clause, other: Clause) -> None:
    other = replace(other, keys=one.keys) if len(one.parts) > 1 else replace(other, keys=())
    one = replace(one, keys=other.keys)
    assert (form(one) == form(other)) == are_alike(one, other)


@given(drawn_clauses(), st.data())
def test_slots_hold_the_parts_that_they_say(clause: Clause, data: st.DataObject) -> None:
    mask = data.draw(st.integers(1, (1 << len(clause.parts)) - 1))
    found, parts = Projector(clause).project(mask)
    assert sorted(parts) == [part for part in range(len(clause.parts)) if mask >> part & 1]
    assert found.parts == tuple(clause.parts[part].label for part in parts)
    inside = [(one, other) for one, other in clause.order if one in parts and other in parts]
    assert found.order == tuple(sorted((parts.index(one), parts.index(other)) for one, other in inside))


def test_parts_that_are_all_alike() -> None:
    many = ", ".join(f"A v{number}" for number in range(14))
    assert form(clause_of(f"AND({many})")).parts == ("A",) * 14
    ring = " and ".join(f"v{number}.x < v{(number + 1) % 8}.x" for number in range(8))
    moved = " and ".join(f"v{(3 * number) % 8}.x < v{(3 * number + 3) % 8}.x" for number in range(8))
    eight = ", ".join(f"A v{number}" for number in range(8))
    assert form(clause_of(f"AND({eight}) WHERE {{ {ring} }}")) == form(clause_of(f"AND({eight}) WHERE {{ {moved} }}"))


def test_what_must_not_be_taken_for_the_same() -> None:
    texts = [
        "SEQ(A a, B b)",
        "SEQ(B b, A a)",
        "AND(A a, B b)",
        "SEQ(A a, B b) WHERE { a.x < b.x }",
        "SEQ(A a, B b) WHERE { b.x < a.x }",
        "SEQ(A a, B b) WHERE { a.y < b.y }",
        "SEQ(A a, B b) WHERE { a.x <= b.x }",
        "SEQ(A a, B b) WHERE { a.x < 3 }",
        "SEQ(A a, B b) WHERE { b.x < 3 }",
        "SEQ(A a, B b) WHERE { [x] }",
        "SEQ(A a, (B | C) b)",
        "SEQ(A a, B+ b[])",
        "SEQ(A a, A b)",
        "AND(A a, A b)",
        "AND(A a, A b) WHERE { a.x = b.y }",
        "AND(A a, A b) WHERE { a.x = b.x }",
        "AND(A a, A b) WHERE { a.x < b.x }",
    ]
    assert len({form(clause_of(text)) for text in texts}) == len(texts)


def test_what_is_the_same() -> None:
    pairs = [
        ("SEQ(A a, B b) WHERE { a.x < b.x }", "SEQ(A x, B y) WHERE { y.x > x.x }"),
        ("AND(A a, A b) WHERE { a.x = b.y }", "AND(A a, A b) WHERE { a.y = b.x }"),
        ("AND(A a, A b) WHERE { a.x < b.x }", "AND(A a, A b) WHERE { a.x > b.x }"),
        ("SEQ(A a, (C | B) b)", "SEQ(A a, ANY(B, C) b)"),
        ("SEQ(A a, AND(B b, C c))", "SEQ(A a, AND(C c, B b))"),
        ("SEQ(A a, B b) WITHIN 5", "SEQ(A a, B b) WITHIN 7"),
        ("SEQ(A a) WHERE { a.x < 3 and a.y = 1 }", "SEQ(A b) WHERE { 1 = b.y and 3 > b.x and b.x < 3 }"),
    ]
    for one, other in pairs:
        assert form(clause_of(one)) == form(clause_of(other)), (one, other)


def test_projections() -> None:
    clause = clause_of("SEQ(A a, B b, C c, D d) WHERE { a.x < c.x and b.x < d.x }")
    assert str(form(clause, 0b1010)) == "SEQ(B 0, D 1) { 0.x < 1.x }"
    assert form(clause, 0b0101) == form(clause_of("SEQ(A a, C c) WHERE { a.x < c.x }"))
    assert str(form(clause, 0b0001)) == "A 0"
