"""Random workloads: patterns that have much in common, and rows, for the oracle and for engines.

A workload begins with a pattern. Each further one is new, or one of the earlier ones with a single change: another
name, the other direction, another column, another window and so on. These are the patterns whose parts an engine must
share, or must not. Patterns come as the oracle has them; `Case.texts` has them in SASE+.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from naive_sase import Component, Expr
from naive_workloads import Found, Node, Pattern, Row, Structure, clauses, components, earlier, indexed, match_all
from naive_workloads_notation import render

TIME = ("time", "id")  # equal times are in the order of `id`
MOST_ROWS = 10
_OPERATORS = ("<", "<=", ">", ">=", "=", "<>")


@dataclass(frozen=True)
class Case:
    """Patterns and rows. The rows have `id`, `type`, `time`, `x`, `y` and `k`, and are in the order of `id`."""

    patterns: tuple[Pattern, ...]
    rows: tuple[Row, ...]
    partition_by: tuple[str, ...] = ()

    @property
    def texts(self) -> dict[str, str]:
        """The patterns in SASE+; times are numbers."""
        return {pattern.name: render(pattern) for pattern in self.patterns}

    def expected(self) -> list[Found]:
        """What the oracle finds."""
        return match_all(self.patterns, self.rows, self.partition_by, TIME)

    def __str__(self) -> str:
        texts = "\n".join(f"{name}: {text}" for name, text in self.texts.items())
        return "\n".join([texts, *map(str, self.rows), f"partition by {self.partition_by}"])


@st.composite
def cases(draw: DrawFn, each: bool = True, most_patterns: int = 6) -> Case:
    """Workloads of 2 to 6 patterns with their rows; without `each` no condition has b[].x, which is new in SASE+."""
    patterns: list[Pattern] = []
    for number in range(draw(st.integers(2, most_patterns))):
        if number and draw(st.integers(0, 3)):
            pattern = draw_change(draw, draw(st.sampled_from(patterns)), draw(st.sampled_from(patterns)), each)
        else:
            pattern = draw_pattern(draw, each)
        patterns.append(replace(pattern, name=f"p{number}"))
    partition_by = draw(st.sampled_from(((), (), (), ("k",))))
    return Case(tuple(patterns), tuple(draw(rows())), partition_by)


@st.composite
def rows(draw: DrawFn) -> list[dict[str, Any]]:
    """Few types and times, so that there are ties; NULL in every column but `id`.

    Random numbers fill rows more evenly than Hypothesis would, so that more patterns have matches; which of the rows
    are left out is drawn, so that failures can be made small.
    """
    chance = random.Random(draw(st.integers(0, 2**32)))
    every = [
        {
            "id": number,
            "type": chance.choice([*"AAAABBBBCCD", None]),
            "time": chance.choice([*range(8), *range(8), None]),
            "x": chance.choice([0, 1, 1, 2, 2, 3, None]),
            "y": chance.choice([0, 1, 1, 2, 2, 3, None]),
            "k": chance.choice([1, 1, 1, 1, 1, 2, None]),
        }
        for number in range(MOST_ROWS)
    ]
    left_out = draw(st.sets(st.integers(0, MOST_ROWS - 1), max_size=draw(st.sampled_from((0, 2, MOST_ROWS)))))
    return [row for row in every if row["id"] not in left_out]


# ----------------------------------------------------------------------------------------------------------- patterns


def draw_pattern(draw: DrawFn, each: bool) -> Pattern:
    """A pattern of 1 to 4 components, named a, b, c and d as they are written."""
    leaves = [draw_component(draw, variable) for variable in "abcd"[: draw(st.sampled_from((2, 3, 2, 3, 4, 1)))]]
    structure = draw_structure(draw, leaves)
    if draw(st.sampled_from((False, False, False, True))):
        leaf = draw(st.sampled_from(leaves))
        structure = with_leaf(structure, replace(leaf, kleene=False, negated=True))
    pattern = Pattern(
        "new",
        structure,
        (),
        draw(st.sampled_from(((), (), (), ("k",)))),
        draw(st.sampled_from((("time", 4), ("time", 6), ("time", 2), ("events", 5), ("events", 7), None))),
    )
    for _ in range(draw(st.sampled_from((0, 1, 1, 2)))):
        pattern = with_condition(draw, pattern, each)
    return sound(pattern)


def draw_component(draw: DrawFn, variable: str) -> Component:
    types = draw(st.sampled_from((("A",), ("B",), ("A",), ("B",), ("C",), ("A", "B"))))
    return Component(variable, types, kleene=draw(st.sampled_from((False, False, False, True))))


def draw_structure(draw: DrawFn, leaves: list[Component]) -> Node:
    """An operator over the components, perhaps with another operator over some neighbours among them."""
    operator = draw(st.sampled_from(("SEQ", "SEQ", "SEQ", "AND", "AND", "OR")))
    parts: list[Structure] = list(leaves)
    if len(leaves) > 2 and draw(st.booleans()):
        start = draw(st.integers(0, len(leaves) - 2))
        inner = draw(st.sampled_from(("AND", "SEQ", "OR", "AND")))
        parts[start : start + 2] = [Node(inner, tuple(parts[start : start + 2]))]
    return Node(operator, tuple(parts))


def with_condition(draw: DrawFn, pattern: Pattern, each: bool) -> Pattern:
    """One more condition: of an event and a constant, or of two events, or of two members of a set."""
    every = list({component.variable: component for component in components(pattern.structure)}.values())
    one, other = draw(st.sampled_from(every)), draw(st.sampled_from(every))
    column, symbol = draw(st.sampled_from("xy")), draw(st.sampled_from(_OPERATORS))
    indexes = ["each", "each", 1, "LEN", "i", "i"] if each else [1, "LEN", "i", "i"]
    index = draw(st.sampled_from(indexes)) if one.kleene else None
    left: Expr = ("attr", one.variable, index, column)
    right: Expr = ("lit", draw(st.integers(0, 3)))
    if one.kleene and one == other and index == "i":
        right = ("attr", one.variable, "i-1", column)
    elif one != other and not (one.negated and other.negated) and not (index == "i" and other.negated):
        pair = draw(st.sampled_from(("each", 1, "LEN") if each else (1, "LEN"))) if other.kleene else None
        right = ("attr", other.variable, pair, draw(st.sampled_from((column, column, "x", "y"))))
        if draw(st.integers(0, 5)) == 0:
            right = ("op", "+", (right, ("lit", 1)))
    return replace(pattern, conditions=(*pattern.conditions, ("op", symbol, (left, right))))


# ------------------------------------------------------------------------------------------------------------ changes


def draw_change(draw: DrawFn, pattern: Pattern, other: Pattern, each: bool) -> Pattern:
    """A pattern like an earlier one, so that an engine is tempted to share too much."""
    changes: list[Callable[[DrawFn, Pattern], Pattern]] = [
        lambda draw, pattern: pattern,
        reversed_sequence,
        other_operator,
        other_column,
        other_symbol,
        one_condition_less,
        lambda draw, pattern: with_condition(draw, pattern, each),
        other_window,
        other_equivalence,
        last_repeated,
        other_negation,
        one_part_more,
        one_part_less,
        renamed,
        lambda draw, pattern: either(pattern, other),
    ]
    return sound(draw(st.sampled_from(changes))(draw, pattern))


def top(structure: Structure) -> Node:
    return structure if isinstance(structure, Node) else Node("SEQ", (structure,))


def reversed_sequence(draw: DrawFn, pattern: Pattern) -> Pattern:
    """SEQ(A a, B b) beside SEQ(B b, A a)."""
    node = top(pattern.structure)
    return replace(pattern, structure=Node(node.operator, node.parts[::-1]))


def other_operator(draw: DrawFn, pattern: Pattern) -> Pattern:
    """AND(A a, B b) beside SEQ(A a, B b)."""
    node = top(pattern.structure)
    names = [leaf.variable for leaf in components(node)]
    if len(set(names)) < len(names):  # branches of OR may share variables, other parts may not
        return pattern
    return replace(pattern, structure=Node("SEQ" if node.operator == "AND" else "AND", node.parts))


def other_column(draw: DrawFn, pattern: Pattern) -> Pattern:
    """The other column in one condition."""
    if not pattern.conditions:
        return pattern

    def swapped(expr: Expr) -> Expr:
        if expr[0] == "attr":
            return (*expr[:3], {"x": "y", "y": "x"}[expr[3]])
        return ("op", expr[1], tuple(map(swapped, expr[2]))) if expr[0] == "op" else expr

    return changed_condition(draw, pattern, swapped)


def other_symbol(draw: DrawFn, pattern: Pattern) -> Pattern:
    """Another operator in one condition."""
    symbol = draw(st.sampled_from(_OPERATORS))
    return changed_condition(draw, pattern, lambda expr: ("op", symbol, expr[2])) if pattern.conditions else pattern


def changed_condition(draw: DrawFn, pattern: Pattern, change: Callable[[Any], Expr]) -> Pattern:
    number = draw(st.integers(0, len(pattern.conditions) - 1))
    before, after = pattern.conditions[:number], pattern.conditions[number + 1 :]
    return replace(pattern, conditions=(*before, change(pattern.conditions[number]), *after))


def one_condition_less(draw: DrawFn, pattern: Pattern) -> Pattern:
    return replace(pattern, conditions=pattern.conditions[1:])


def other_window(draw: DrawFn, pattern: Pattern) -> Pattern:
    kind = draw(st.sampled_from(("time", "time", "events")))
    return replace(pattern, within=(kind, draw(st.sampled_from((1, 2, 3, 4, 5, 6, 7)))))


def other_equivalence(draw: DrawFn, pattern: Pattern) -> Pattern:
    return replace(pattern, equivalence=() if pattern.equivalence else draw(st.sampled_from((("k",), ("x",)))))


def last_repeated(draw: DrawFn, pattern: Pattern) -> Pattern:
    """SEQ(A a, B+ b[]) beside SEQ(A a, B b)."""
    last = components(pattern.structure)[-1]
    return replace(pattern, structure=with_leaf(pattern.structure, replace(last, kleene=True, negated=False)))


def other_negation(draw: DrawFn, pattern: Pattern) -> Pattern:
    """SEQ(A a, ~(B b), C c) beside SEQ(A a, B b, C c)."""
    leaf = draw(st.sampled_from(components(pattern.structure)))
    return replace(
        pattern, structure=with_leaf(pattern.structure, replace(leaf, kleene=False, negated=not leaf.negated))
    )


def one_part_more(draw: DrawFn, pattern: Pattern) -> Pattern:
    """SEQ(A a, B b, C c) beside SEQ(A a, B b), or SEQ(C c, A a, B b)."""
    node = top(pattern.structure)
    unused = [name for name in "abcd" if name not in {leaf.variable for leaf in components(node)}]
    if not unused:
        return pattern
    leaf = draw_component(draw, unused[0])
    return replace(
        pattern, structure=Node(node.operator, (*node.parts, leaf) if draw(st.booleans()) else (leaf, *node.parts))
    )


def one_part_less(draw: DrawFn, pattern: Pattern) -> Pattern:
    """SEQ(A a, B b) beside SEQ(A a, B b, C c), with the conditions that are left."""
    node = top(pattern.structure)
    if len(node.parts) == 1:
        return pattern
    number = draw(st.integers(0, len(node.parts) - 1))
    return replace(pattern, structure=Node(node.operator, node.parts[:number] + node.parts[number + 1 :]))


def renamed(draw: DrawFn, pattern: Pattern, names: str = "badc") -> Pattern:
    """The same with other variables, two of which change places."""
    new = dict(zip("abcd", names, strict=True))

    def of_structure(part: Structure) -> Structure:
        if isinstance(part, Component):
            return replace(part, variable=new.get(part.variable, part.variable))
        return Node(part.operator, tuple(map(of_structure, part.parts)))

    def of_expr(expr: Any) -> Expr:
        if expr[0] == "attr":
            return ("attr", new.get(expr[1], expr[1]), *expr[2:])
        return ("op", expr[1], tuple(map(of_expr, expr[2]))) if expr[0] == "op" else expr

    return replace(
        pattern, structure=of_structure(pattern.structure), conditions=tuple(map(of_expr, pattern.conditions))
    )


def either(pattern: Pattern, other: Pattern) -> Pattern:
    """OR of two earlier patterns, with the window and the equivalence test of the first."""
    if len(clauses(pattern.structure)) + len(clauses(other.structure)) > 3:
        return pattern
    kinds = {leaf.variable: (leaf.kleene, leaf.negated) for leaf in components(pattern.structure)}
    if any(kinds.get(leaf.variable, leaf_kind(leaf)) != leaf_kind(leaf) for leaf in components(other.structure)):
        return pattern
    return replace(
        pattern,
        structure=Node("OR", (pattern.structure, other.structure)),
        conditions=tuple(dict.fromkeys((*pattern.conditions, *other.conditions))),
    )


def leaf_kind(leaf: Component) -> tuple[bool, bool]:
    return leaf.kleene, leaf.negated


def with_leaf(structure: Structure, leaf: Component) -> Structure:
    """The structure with another component for this variable."""
    if isinstance(structure, Component):
        return leaf if structure.variable == leaf.variable else structure
    return Node(structure.operator, tuple(with_leaf(part, leaf) for part in structure.parts))


# ---------------------------------------------------------------------------------------------------------- soundness


def sound(pattern: Pattern) -> Pattern:
    """The pattern with what it lacks to be allowed, also by SASE+: conditions that fit, a window, few large sets."""
    repeated = [leaf for leaf in components(pattern.structure) if leaf.kleene]
    for leaf in repeated[2:]:  # there are too many matches otherwise
        pattern = replace(pattern, structure=with_leaf(pattern.structure, replace(leaf, kleene=False)))
    for clause in clauses(pattern.structure):
        if all(leaf.negated for leaf in components(clause)):
            leaf = components(clause)[0]
            pattern = replace(pattern, structure=with_leaf(pattern.structure, replace(leaf, negated=False)))
    if pattern.within is None and any(map(is_open, clauses(pattern.structure))):
        pattern = replace(pattern, within=("time", 4))
    leaves = {leaf.variable: leaf for leaf in components(pattern.structure)}
    before = [earlier(clause) for clause in clauses(pattern.structure)]
    fitting = [condition for condition in pattern.conditions if fits(condition, leaves, set().union(*before))]
    return replace(pattern, conditions=tuple(dict.fromkeys(fitting)))


def is_open(clause: Structure) -> bool:
    """Whether something must be absent that has an event of the match only on one side, or on none."""
    pairs = earlier(clause)
    taken = {leaf.variable for leaf in components(clause) if not leaf.negated}
    return any(
        leaf.negated
        and not (
            any((one, leaf.variable) in pairs for one in taken) and any((leaf.variable, one) in pairs for one in taken)
        )
        for leaf in components(clause)
    )


def fits(condition: Any, leaves: dict[str, Component], before: set[tuple[str, str]]) -> bool:
    """Whether the condition still has a meaning: its variables are there, with the right indexes.

    SASE+ has b[i] only beside events that are before it, and not beside what is absent.
    """
    mentioned = indexed(condition)
    if any(variable not in leaves or (index is not None) != leaves[variable].kleene for variable, index in mentioned):
        return False
    variables = {variable for variable, _ in mentioned}
    iterated = {variable for variable, index in mentioned if index in ("i", "i-1")}
    known = all((other, one) in before for one in iterated for other in variables - iterated)
    absent = sum(leaves[variable].negated for variable in variables)
    return absent <= 1 and len(iterated) <= 1 and not (absent and iterated) and known
