"""The conditions of segments, each once, and the logical tree that tests them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from trellis.algebra import expression as e
from trellis.algebra import pattern as p
from trellis.algebra.bound import BoundQuery, BoundWindow
from trellis.algebra.expression import Expression
from trellis.algebra.logical_tree import LogicalNode, places_of
from trellis.algebra.place import Place
from trellis.algebra.segments import SegmentCondition, SegmentValue
from trellis.algebra.windows import TimeWindow, Window
from trellis.analysis.types import Kind
from trellis.errors import BindingError
from trellis.kernels import opcodes as o
from trellis.planning.expressions.program import ProgramBuilder
from trellis.planning.rule import Firing
from trellis.planning.rules import PLACE_FILTERS, PUSH_WINDOWS
from trellis.planning.segments.place_filters import Lifted, place_filters
from trellis.planning.segments.tree import TreeBuilder
from trellis.planning.segments.values import SegmentValues

__all__ = ["SegmentConditions"]


class SegmentConditions:
    """The conditions of all variables, those that look at others apart, and the tree that tests them."""

    def __init__(self, bound: BoundQuery, values: SegmentValues) -> None:
        self.bound, self.values = bound, values
        self.conditions: list[SegmentCondition] = []
        self._numbers: dict[tuple[tuple[SegmentValue, ...], tuple[object, ...]], int] = {}

    def tree(self, rules: Firing) -> LogicalNode:
        """The logical tree, windows pushed down, filters in place."""
        bound = self.bound
        variables = p.variables_of(bound.query.pattern)
        own: dict[str, tuple[int, ...]] = {}
        between: dict[str, list[Expression]] = {}
        for variable, condition in bound.conditions:
            numbers = []
            for conjunct in e.conjuncts(condition):
                reads = _variables_in(conjunct) - {variable}
                if reads:
                    between.setdefault(variable, []).append(conjunct)
                    self._check_reads(reads, variables, conjunct)
                else:
                    numbers.append(self._add(self.values.condition(conjunct, variable, lifted=False)))
            own[variable] = tuple(dict.fromkeys(numbers))
        windows: dict[str, Window] = {}
        for variable, window in bound.windows:
            windows[variable] = windows.get(variable, Window()) & self._window(window)
        watching = {
            variable: frozenset().union(*map(_variables_in, conjuncts)) - {variable}
            for variable, conjuncts in between.items()
        }
        places = Counter(node.name for node in p.walk(bound.query.pattern) if isinstance(node, p.Var))
        builder = TreeBuilder(bound.query.segments, windows, own, watching, places, self._anchors())
        tree, _ = builder.build(bound.query.pattern)
        if tree is None:
            first = next((node.span for node in p.walk(bound.query.pattern) if isinstance(node, p.Var)), None)
            raise BindingError(
                "The pattern matches no segment: none of its parts has rows.",
                cure="Leave out quantifiers like {0}, or windows that allow no row.",
                span=first,
            )
        lifted = {alias: self._lift(alias, between[variable], variable) for alias, variable in builder.aliases.items()}
        try:
            placed = rules.apply(PLACE_FILTERS, tree, lifted, list(between)) or place_filters(tree, lifted, early=False)
        except BindingError as error:
            spans = [conjunct.span for conjuncts in between.values() for conjunct in conjuncts]
            error.span = error.span or next((span for span in spans if span is not None), None)
            raise
        whole = Window() if bound.within is None else self._window(bound.within)
        bounded = replace(placed, window=placed.window & whole)
        return rules.apply(PUSH_WINDOWS, bounded) or bounded

    def _lift(self, alias: str, conjuncts: list[Expression], variable: str) -> Lifted:
        numbers: list[int] = []
        reads: set[str] = set()
        for conjunct in conjuncts:
            renamed = _renamed(conjunct, variable, alias)
            condition = self.values.condition(renamed, alias, lifted=True)
            reads |= condition.reads - {alias}
            condition = replace(condition, owner=alias, text=str(conjunct), reads=condition.reads | {alias})
            numbers.append(self._add(condition))
        return Lifted(tuple(numbers), frozenset(reads))

    def _add(self, condition: SegmentCondition) -> int:
        """The number of a condition; equal conditions of different variables are one."""
        program = self.values.builder
        code = tuple(program.code[condition.begin : condition.end])
        key = (condition.values, (condition.owner, *_readable(program, code)))
        if key not in self._numbers:
            self._numbers[key] = len(self.conditions)
            self.conditions.append(condition)
        return self._numbers[key]

    def _window(self, window: BoundWindow) -> Window:
        if window.column is None:
            return Window(max(window.least or 1, 1), window.most)
        columns = self.values.columns
        type_ = columns.type_of(window.column)
        if type_ is None or type_.kind not in (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ, Kind.INTERVAL):
            raise BindingError(
                f"A window of time needs a date or a timestamp, not {columns.type_text(window.column)}.",
                cure="For numbers write a condition: last(x) - first(x) <= 10.",
                span=window.column.span,
            )
        column = window.column
        if type_.kind is Kind.DATE:
            column = e.Raw(("CAST(", column, " AS TIMESTAMP_NTZ)"))
            columns.types.setdefault(column, "timestamp_ntz")
        slot = self.values.slot(column, columns.require_type(column))
        return Window(times=(TimeWindow(slot, window.least, window.most),))

    def _anchors(self) -> tuple[int, int] | None:
        if not any(isinstance(node, p.Anchor) for node in p.walk(self.bound.query.pattern)):
            return None
        numbers = []
        for from_first, shift in ((True, -1), (False, 1)):
            place = Place(frozenset({" anchor"}), from_first=from_first, shift=shift)
            outside = e.Operator("IS NULL", (e.At(e.Literal("TRUE"), place),))
            numbers.append(self._add(self.values.condition(outside, " anchor", lifted=False)))
        return numbers[0], numbers[1]

    def _check_reads(self, reads: frozenset[str], variables: tuple[str, ...], conjunct: Expression) -> None:
        for name in sorted(reads):
            if name not in variables:
                raise BindingError(
                    f"{name} is not a variable of the pattern.",
                    cure=f"The variables are {', '.join(variables)}.",
                    span=conjunct.span,
                )

    def check_bound(self, tree: LogicalNode, name: str) -> None:
        """A measure can only read a variable that has a segment outside of negations."""
        if not places_of(tree, name):
            raise BindingError(
                f"{name} stands only inside ~: a match has no segment of it.",
                cure="Measure a variable outside of the negation.",
                span=next(
                    (n.span for n in p.walk(self.bound.query.pattern) if isinstance(n, p.Var) and n.name == name), None
                ),
            )


def _readable(program: ProgramBuilder, code: tuple[tuple[int, int, int], ...]) -> tuple[object, ...]:
    """A program with its constants in place of their numbers: equal programs are equal values."""
    ints, floats, strings = program.ints, program.floats, dict(program.strings)
    shown: list[object] = []
    for op, a, b in code:
        if op in (o.CONST_INT, o.SCALE_INT, o.RANGE_CHECK):
            shown.append((op, ints[a], strings.get(a), b))
        elif op in (o.CONST_FLOAT, o.UNSCALE):
            shown.append((op, floats[a], b))
        elif op >= o.GO:
            shown.append((op, "jump", b))
        else:
            shown.append((op, a, b))
    return tuple(shown)


def _renamed(expression: Expression, old: str, new: str) -> Expression:
    match expression:
        case e.At(place=place) if place.variables == frozenset({old}):
            return replace(expression, place=replace(place, variables=frozenset({new})))
        case e.SegmentCall(variables=variables):
            return replace(expression, variables=tuple(new if name == old else name for name in variables))
        case _:
            return e.rebuild(expression, lambda child: _renamed(child, old, new))


def _variables_in(expression: Expression) -> frozenset[str]:
    names: set[str] = set()
    for node in e.walk(expression):
        match node:
            case e.At(place=Place(variables=frozenset() as members)):
                names |= members
            case e.SegmentCall(variables=variables):
                names |= {name for name in variables if name is not None}
    return frozenset(names)
