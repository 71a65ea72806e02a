"""The plan of a segment query: what Spark projects, the logical tree with its conditions, and what Spark finishes.

The physical tree is chosen by the workers, from statistics of the rows that they get.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from trellis.algebra import expression as e
from trellis.algebra import pattern as p
from trellis.algebra.bound import BoundSegments, BoundWindow
from trellis.algebra.expression import Expression, Place
from trellis.algebra.plan import ScanPlan, SlotSource
from trellis.algebra.prefilter import BeforeMatch
from trellis.algebra.query import RowsPerMatch
from trellis.algebra.segments import (
    Both,
    Chain,
    Either,
    Function,
    Leaf,
    LogicalNode,
    Loop,
    SegmentCondition,
    SegmentPlan,
    SegmentValue,
    TimeWindow,
    Window,
    Without,
    places_of,
)
from trellis.analysis.types import Kind
from trellis.errors import BindingError
from trellis.kernels import opcodes as o
from trellis.planning.before_match.plan import Survey, plan_before_match
from trellis.planning.before_match.slices import slice_columns, sliced_by
from trellis.planning.exchange import check_arrow, check_order, comparable_key, sort_by
from trellis.planning.expressions.columns import Columns, TypesOf
from trellis.planning.expressions.program import ProgramBuilder
from trellis.planning.expressions.unfailing import Safety
from trellis.planning.hints import Hints
from trellis.planning.segments.demands import segment_buckets, segment_cut, segment_demand
from trellis.planning.segments.measures import SegmentMeasures
from trellis.planning.segments.place_filters import Lifted, place_filters
from trellis.planning.segments.push_windows import push_windows
from trellis.planning.segments.tree import TreeBuilder
from trellis.planning.segments.values import WHOLE_MATCH, SegmentValues

__all__ = ["plan_segments"]

# What the search costs for each row, in tests of a row pattern; far from the truth for many queries, which it can be:
# moving rows is what prefilters save.
_TESTS = 50.0


def plan_segments(
    bound: BoundSegments, types_of: TypesOf, hints: Hints, survey: Survey | None = None, *, lenient: bool = False
) -> ScanPlan[SegmentPlan]:
    """Plan a segment query; `survey` gives statistics of the input, `lenient` is Spark without ANSI mode."""
    columns = Columns(types_of)
    keys = [comparable_key(expression, columns) for _, expression in bound.partition_by]
    columns.learn([*keys, *(expression for _, expression in bound.order_by)])
    check_order(bound, columns)
    values = SegmentValues(columns)
    planned = _Conditions(bound, values)
    tree = planned.tree()
    measures = SegmentMeasures(values)
    finished = _finish(bound, measures)
    places, functions = tuple(measures.places), tuple(measures.functions)
    tracked = {place.variable for place in places}.union(*(function.variables for function in functions))
    skip = bound.query.after_match
    if skip.variable is not None:
        tracked.add(skip.variable)
    tracked |= {boundary.variable for boundary in bound.query.preference if boundary.variable is not None}
    for name in sorted(tracked - {WHOLE_MATCH}):
        planned.check_bound(tree, name)
    _check_stretches(bound, tree)
    key_names = tuple(columns.ship(key) for key in keys)
    order_names = [columns.project(expression) for _, expression in bound.order_by]
    if not columns.shipped:
        columns.ship(e.Literal("TRUE"))
    check_arrow(columns)
    conditions = tuple(planned.conditions)
    before = _plan_before(bound, tuple(keys), columns, tree.window, tuple(values.sources), hints, survey, lenient)
    outputs = tuple((name, output) for output, name in measures.outputs.items())
    slices, spec = slice_columns(before.slices, outputs, columns)
    series = key_names if spec is None else (*key_names, spec.number)
    return ScanPlan(
        projected=tuple((name, expression) for expression, name in columns.names.items()),
        sorted_by=sort_by(bound.query.order_by, series, order_names, columns),
        shipped=(*columns.shipped, *sliced_by(spec)),
        match=SegmentPlan(
            keys=series,
            tree=tree,
            conditions=conditions,
            slots=tuple(values.sources),
            scales=tuple(values.scales),
            program=values.finish(),
            tracked=tuple(sorted(tracked - {WHOLE_MATCH})),
            places=places,
            values=functions,
            outputs=outputs,
            wanted=bound.query.wanted,
            skip=skip.to,
            skip_to=skip.variable or "",
            preference=bound.query.preference,
            rows_per_match=bound.query.rows_per_match,
            reach=_reach(conditions),
            budget=hints.step_budget,
            chunk_rows=hints.chunk_rows,
            choices=hints.choices,
            costs=hints.costs,
            slices=spec,
        ),
        finished=finished,
        rules=(*planned.rules, *before.rules),
        before=replace(before, slices=slices),
        partition_keys=tuple(keys),
    )


def _plan_before(
    bound: BoundSegments,
    keys: tuple[Expression, ...],
    columns: Columns,
    window: Window,
    sources: tuple[SlotSource, ...],
    hints: Hints,
    survey: Survey | None,
    lenient: bool,
) -> BeforeMatch:
    """What happens to the rows before they come to the matcher."""
    buckets = segment_buckets(bound, window, sources, columns)
    cut = segment_cut(bound, keys, buckets, window, columns)
    conditions = (part for _, parts in bound.conditions for part in parts)
    demand = segment_demand(bound, keys, buckets, Safety.of(conditions, columns, lenient))
    return plan_before_match(demand, None, cut, lambda _: _TESTS, hints, survey)


class _Conditions:
    """The conditions of all variables, those that look at others apart, and the tree that tests them."""

    def __init__(self, bound: BoundSegments, values: SegmentValues) -> None:
        self.bound, self.values = bound, values
        self.conditions: list[SegmentCondition] = []
        self.rules: list[str] = []
        self._numbers: dict[tuple[tuple[SegmentValue, ...], tuple[object, ...]], int] = {}

    def tree(self) -> LogicalNode:
        """The logical tree, windows pushed down, filters in place."""
        bound = self.bound
        variables = p.variables_of(bound.pattern)
        own: dict[str, tuple[int, ...]] = {}
        between: dict[str, list[Expression]] = {}
        for variable, conjuncts in bound.conditions:
            numbers = []
            for conjunct in conjuncts:
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
        places = Counter(node.name for node in p.walk(bound.pattern) if isinstance(node, p.Var))
        builder = TreeBuilder(bound.segments, windows, own, watching, places, self._anchors())
        tree, _ = builder.build(bound.pattern)
        if tree is None:
            first = next((node.span for node in p.walk(bound.pattern) if isinstance(node, p.Var)), None)
            raise BindingError("The pattern matches no segment: none of its parts has rows.", span=first)
        lifted = {alias: self._lift(alias, between[variable], variable) for alias, variable in builder.aliases.items()}
        if lifted:
            self.rules.append(
                f"place_filters: tested where all their variables are known ({', '.join(sorted(between))})"
            )
        try:
            tree = place_filters(tree, lifted)
        except BindingError as error:
            spans = [conjunct.span for conjuncts in between.values() for conjunct in conjuncts]
            error.span = error.span or next((span for span in spans if span is not None), None)
            raise
        whole = Window() if bound.within is None else self._window(bound.within)
        pushed = push_windows(tree, whole)
        if pushed != tree:
            self.rules.append("push_windows: parts are as short as the whole allows")
        return pushed

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
        if not any(isinstance(node, p.Anchor) for node in p.walk(self.bound.pattern)):
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
                raise BindingError(f"{name} is not a variable of the pattern.", span=conjunct.span)

    def check_bound(self, tree: LogicalNode, name: str) -> None:
        """A measure can only read a variable that has a segment outside of negations."""
        if not places_of(tree, name):
            raise BindingError(
                f"{name} stands only inside ~: a match has no segment of it.",
                cure="Measure a variable outside of the negation.",
                span=next(
                    (n.span for n in p.walk(self.bound.pattern) if isinstance(n, p.Var) and n.name == name), None
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


def _check_stretches(bound: BoundSegments, tree: LogicalNode) -> None:
    """From outside, only the first and the last row can be read of a variable that has no single stretch of rows.

    That is so where it stands in several places, or beside others in a quantifier.
    """
    expressions: list[tuple[str | None, Expression]] = [(None, measure) for _, measure in bound.measures]
    expressions += [(variable, part) for variable, parts in bound.conditions for part in parts]
    for owner, expression in expressions:
        for node in e.walk(expression):
            names: tuple[str | None, ...] = ()
            match node:
                case e.SegmentCall(variables=names):
                    pass
                case e.At(place=place) if place.offset and place.variables is not None:
                    names = tuple(place.variables)
            for name in names:
                if name is not None and name != owner and not _is_stretch(tree, owner, name):
                    raise BindingError(
                        f"{name} stands in several places or iterations: its rows are not one stretch.",
                        cure=f"Read first({name}.x) and last({name}.x) only, or name the whole stretch: "
                        "`(...)+ & ALL_OF_IT` with SEGMENT ALL_OF_IT AS true.",
                        span=node.span,
                    )


def _is_stretch(tree: LogicalNode, owner: str | None, name: str) -> bool:
    """Whether the segments of a variable that a condition of `owner` (or a measure) sees make one stretch."""
    scopes = [tree] if owner is None else _scopes(tree, owner, name)
    return all(_is_stretch_in(scope, name) for scope in scopes)


def _scopes(tree: LogicalNode, owner: str, name: str) -> list[LogicalNode]:
    """The innermost scopes around the places of `owner` in which the variable is bound."""
    found: list[LogicalNode] = []

    def visit(node: LogicalNode, scope: LogicalNode) -> None:
        if owner in node.binds:
            found.append(scope)
        match node:
            case (
                Chain(parts=parts, nested=nested)
                | Both(parts=parts, nested=nested)
                | Either(parts=parts, nested=nested)
            ):
                for part in (*parts, *(item.part for item in nested)):
                    visit(part, scope)
            case Loop(body=body) | Without(body=body):
                visit(body, body if places_of(body, name) else scope)
            case Leaf():
                pass

    visit(tree, tree)
    return found


def _is_stretch_in(tree: LogicalNode, name: str) -> bool:
    if places_of(tree, name) > 1:
        return False

    def covers(node: LogicalNode) -> bool:
        """Whether the variable, if it is below, takes up the whole of the node."""
        if name in node.binds:
            return True
        match node:
            case Both(parts=parts, nested=nested):
                return any(covers(part) for part in (*parts, *(item.part for item in nested)))
            case Loop(body=body):
                return covers(body)
            case _:
                return False

    def sound(node: LogicalNode) -> bool:
        match node:
            case Loop(body=body):
                return not places_of(body, name) or (covers(body) and sound(body))
            case (
                Chain(parts=parts, nested=nested)
                | Both(parts=parts, nested=nested)
                | Either(parts=parts, nested=nested)
            ):
                return all(sound(part) for part in (*parts, *(item.part for item in nested)))
            case Leaf() | Without():
                return True

    return sound(tree)


def _reach(conditions: tuple[SegmentCondition, ...]) -> int:
    """How many rows beyond a segment its conditions may read."""
    reach = 1
    for condition in conditions:
        for value in condition.values:
            if isinstance(value, Function):
                reach = max(reach, *(int(number) for number in value.constants), 1)
            else:
                reach = max(reach, abs(value.shift))
    return reach


def _finish(bound: BoundSegments, measures: SegmentMeasures) -> tuple[tuple[str, Expression], ...]:
    """The columns of the result: keys, measures, and for all rows the columns of the input."""
    partition = list({name: measures.carried(expression) for name, expression in bound.partition_by}.items())
    listed = list(bound.measures)
    rewritten = bool(bound.query.preference)
    if not listed and not rewritten and bound.query.rows_per_match is RowsPerMatch.ONE:
        # Without measures nothing would tell the segments apart.
        if bound.order_by:
            key = bound.order_by[0][1]
            listed = [("match_start", e.At(key, Place(from_first=True))), ("match_end", e.At(key, Place()))]
        else:
            listed = [("match_rows", e.SegmentCall("rows", (), (None,)))]
    values = [(name, measures.finish(measure)) for name, measure in listed]
    if bound.query.rows_per_match is RowsPerMatch.ONE:
        return (*partition, *values)
    sorts = {name: measures.carried(expression) for name, expression in bound.order_by if name not in dict(partition)}
    named = {name for name, _ in (*partition, *sorts.items())}
    rest = [(name, measures.carried(e.Column((name,)))) for name in bound.columns if name not in named]
    return (*partition, *sorts.items(), *values, *rest)
