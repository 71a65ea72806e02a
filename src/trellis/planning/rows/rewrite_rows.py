"""Row patterns whose conditions speak of whole stretches become segment patterns (T-ReX, appendix B, rules 1 to 5).

Before and after, for the paper's figure 2 (U is the subset A, D, B):

    PATTERN (A* D+ B* Z)  DEFINE D AS ts - first(D.ts) <= INTERVAL '5' DAY,
                                 Z AS last(U.ts) - first(U.ts) >= INTERVAL '25' DAY AND last(D.x) < first(D.x)
    PATTERN ((((A D B) & U), Z)
            DEFINE SEGMENT A AS true, SEGMENT B AS true, SEGMENT D AS window(ts, 0, 5, DAY) AND last(D.x) < first(D.x),
                   SEGMENT U AS last(U.ts) - first(U.ts) >= INTERVAL '25' DAY

Why the result is the same, for a concatenation of different variables, each alone or with a quantifier:

1. A variable that is always true and quantified by `*` may be any stretch, also none. `A* D` holds the segments that
   end with one of D and start there or before: those of `A D` with a shared row, where A is any segment.
2. A condition `col - FIRST(X.col) <= c` of every row of X, with rows in the order of col, is the window 0 to c of X.
3. A variable that stands exactly once is tested when all rows before it are mapped. A part of its condition that reads
   one variable before it, which has at least one row, is a condition of the whole stretch of that variable. Parts that
   read several variables, or one that may have no rows, stay: they are tested with all stretches known.
4. All rows of a subset of neighbouring variables, one of which has rows, are one stretch.
5. SQL prefers, of all matches from a row, the one whose first quantifier took most rows (or least, if reluctant), then
   the second, and so on. All matches are found; from each start the preferred one is kept (`preference`), then the
   skip applies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from trellis.algebra import expression as e
from trellis.algebra import pattern as p
from trellis.algebra.expression import Expression, Identifier
from trellis.algebra.literals import in_largest_unit, interval_micros
from trellis.algebra.query import Boundary, Definition, Query, RowsPerMatch, VariableKind

__all__ = ["reads_segments", "rewrite_rows"]

_SEGMENT = VariableKind.SEGMENT
_TRUE = e.Literal("TRUE")


def reads_segments(query: Query, functions: Mapping[str, int]) -> e.Call | None:
    """The first call of a function of whole segments in a row pattern: only segments can compute it."""
    for expression in (*(d.condition for d in query.definitions), *(m.expression for m in query.measures)):
        for node in e.walk(expression):
            if isinstance(node, e.Call) and node.function in functions:
                return node
    return None


def rewrite_rows(query: Query, functions: Mapping[str, int], *, always: bool = False) -> Query | None:
    """The segment query that gives the same matches, None if there is none.

    Row patterns are searched as such unless they call a function of segments, or `always`: types of results and
    errors (overflow, divisions by zero) are those of segments then.
    """
    if not always and reads_segments(query, functions) is None:
        return None
    parts = _parts(query.pattern)
    if parts is None or query.rows_per_match is not RowsPerMatch.ONE or query.kind is not VariableKind.ROW:
        return None
    if p.is_possessive(query.pattern) or query.timeouts:
        return None
    return _Rewriter(query, parts, functions).run()


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    least: int
    most: int | None
    is_greedy: bool

    @property
    def is_once(self) -> bool:
        return self.least == 1 and self.most == 1


def _parts(pattern: p.Pattern) -> list[_Part] | None:
    """A concatenation of different variables, each with a quantifier at most."""
    listed: list[_Part] = []
    for part in pattern.parts if isinstance(pattern, p.Concat) else (pattern,):
        match part:
            case p.Var(name=name):
                listed.append(_Part(name, 1, 1, True))
            case p.Repeat(body=p.Var(name=name), mode=mode):
                least, most = p.counts(part)
                listed.append(_Part(name, least, most, mode is p.Mode.GREEDY))
            case _:
                return None
    names = [part.name for part in listed]
    return listed if len(set(names)) == len(names) and any(part.least for part in listed) else None


class _CannotError(Exception):
    """The query is not of the kind that can be rewritten."""


@dataclass(slots=True)
class _Rewriter:
    query: Query
    parts: list[_Part]
    functions: Mapping[str, int]
    moved: dict[str, list[Expression]] = field(default_factory=dict)
    own: dict[str, list[Expression]] = field(default_factory=dict)
    windows: dict[str, Expression] = field(default_factory=dict)
    points: set[str] = field(default_factory=set)

    def run(self) -> Query | None:
        try:
            self._classify()
            if not self.moved and reads_segments(self.query, self.functions) is None:
                return None
            return self._rewritten()
        except _CannotError:
            return None

    # What each variable asks for.

    @property
    def _order(self) -> dict[str, int]:
        return {part.name: place for place, part in enumerate(self.parts)}

    def _members(self, name: str) -> tuple[int, int]:
        """The first and the last part of a variable or a subset."""
        order = self._order
        if name in order:
            return order[name], order[name]
        subset = next((s for s in self.query.subsets if s.name == name), None)
        places = sorted(order[member] for member in subset.variables) if subset is not None else []
        if not places or places != list(range(places[0], places[-1] + 1)):
            raise _CannotError
        return places[0], places[-1]

    def _classify(self) -> None:
        conditions = {definition.variable: definition.condition for definition in self.query.definitions}
        for place, part in enumerate(self.parts):
            condition = conditions.get(part.name, _TRUE)
            window = self._window(part.name, condition)
            if window is not None:
                self.windows[part.name] = window
                continue
            for conjunct in e.conjuncts(condition):
                if conjunct == _TRUE:
                    continue
                if self._is_local(conjunct, part.name):
                    self.points.add(part.name)
                    self.own.setdefault(part.name, []).append(conjunct)
                elif not part.is_once:
                    raise _CannotError
                else:
                    self._assign(conjunct, part.name, place)
            if part.is_once:
                self.points.add(part.name)

    def _assign(self, conjunct: Expression, owner: str, place: int) -> None:
        """A part of the condition of a variable that stands once: to the variable it reads, if that is one."""
        if any(_may_fail(node) for node in e.walk(conjunct)) and not self._calls(conjunct):
            # A division by zero is an error in a row pattern, and no match in a segment.
            raise _CannotError
        names = self._names(conjunct)
        if None in names or any(isinstance(node, e.MatchNumber) for node in e.walk(conjunct)):
            raise _CannotError
        for name in names:
            first, last = self._members(str(name))
            if last > place or (last == place and name != owner):
                raise _CannotError
        (target,) = names if len(names) == 1 else (None,)
        if target is not None and target != owner:
            first, last = self._members(target)
            if any(part.least for part in self.parts[first : last + 1]):
                self.moved.setdefault(target, []).append(conjunct)
                return
        self.own.setdefault(owner, []).append(conjunct)

    def _calls(self, expression: Expression) -> bool:
        return any(isinstance(node, e.Call) and node.function in self.functions for node in e.walk(expression))

    def _names(self, expression: Expression) -> set[str | None]:
        """The variables of all columns; None for a column without one."""
        known = {*self._order, *(subset.name for subset in self.query.subsets)}
        names: set[str | None] = set()
        for node in e.walk(expression):
            match node:
                case e.Name(parts=(first, *rest)):
                    name = _folded(first)
                    names.add(name if rest and name in known else None)
                case e.Star(variable=variable):
                    names.add(None if variable is None else _folded(variable))
                case e.Classifier():
                    raise _CannotError
        return names

    def _is_local(self, expression: Expression, owner: str) -> bool:
        """Whether a condition reads the row under test and its neighbours only."""
        for node in e.walk(expression):
            match node:
                case e.Aggregate() | e.MatchNumber():
                    return False
                case e.Navigation(function="FIRST" | "LAST"):
                    return False
                case e.Call(function=function) if function in self.functions:
                    return False
        return self._names(expression) <= {None, owner}

    def _window(self, name: str, condition: Expression) -> Expression | None:
        """`col - FIRST(X.col) <= INTERVAL 'n' UNIT` as a window of X."""
        match condition:
            case e.Operator(
                symbol="<=",
                operands=(
                    e.Operator(
                        symbol="-", operands=(e.Name() as column, e.Navigation("FIRST", e.Name() as first, None))
                    ),
                    e.Literal(text=text),
                ),
            ):
                pass
            case _:
                return None
        keys = self.query.order_by
        if not keys or keys[0].descending or not isinstance(keys[0].expression, e.Name):
            return None
        key = keys[0].expression.parts
        plain = {column.parts[-1:] if self._names(column) == {name} else column.parts, first.parts[-1:]}
        micros = interval_micros(text)
        if plain != {key} or self._names(first) != {name} or micros is None or micros < 0:
            return None
        number, unit = in_largest_unit(micros)
        bounds = (e.Literal("0"), e.Literal(str(number)), e.Name((Identifier(unit),)))
        return e.Call("window", (e.Name(key), *bounds))

    # The segment query.

    def _referenced(self) -> set[str]:
        names: set[str | None] = set()
        for conjuncts in (*self.moved.values(), *self.own.values()):
            for conjunct in conjuncts:
                names |= self._names(conjunct)
        for measure in self.query.measures:
            names |= self._names(measure.expression)
        if self.query.after_match.variable is not None:
            names.add(self.query.after_match.variable)
        return {name for name in names if name is not None}

    def _is_wild(self, place: int) -> bool:
        """Whether a part may be any stretch, and nobody asks which."""
        part = self.parts[place]
        plain = part.name not in self.windows and part.name not in self.points and part.name not in self.own
        star = part.least == 0 and part.most is None
        return plain and star and part.name not in self._referenced() and part.name not in self.moved

    def _rewritten(self) -> Query:
        groups = self._groups()
        pattern = self._sequence(0, len(self.parts) - 1, groups)
        definitions: list[Definition] = []
        for place, part in enumerate(self.parts):
            if part.name in self.points:
                if self.own.get(part.name):
                    definitions.append(Definition(part.name, _joined(self.own[part.name])))
                continue
            conjuncts: list[Expression] = [self.windows[part.name]] if part.name in self.windows else []
            if not self._is_wild(place) and not (part.least <= 1 and part.most is None):
                most = e.Literal("NULL" if part.most is None else str(part.most))
                conjuncts.append(e.Call("window", (e.Literal(str(max(part.least, 1))), most)))
            conjuncts += self.moved.get(part.name, [])
            definitions.append(Definition(part.name, _joined(conjuncts), kind=_SEGMENT))
        definitions += [
            Definition(name, _joined(self.moved.get(name, [])), kind=_SEGMENT)
            for name in groups
            if name not in self._order
        ]
        definitions += [
            Definition(_stretch(name), _renamed(_joined(self.moved[name]), name, _stretch(name)), kind=_SEGMENT)
            for name in self.points
            if name in self.moved
        ]
        return replace(
            self.query,
            pattern=pattern,
            definitions=tuple(definitions),
            subsets=(),
            preference=self._preference(),
            after_match=self.query.after_match,
        )

    def _groups(self) -> dict[str, tuple[int, int]]:
        """The subsets that somebody reads, as stretches of parts that lie inside each other or apart."""
        groups: dict[str, tuple[int, int]] = {}
        for name in sorted(self._referenced() | set(self.moved)):
            if name in self._order:
                continue
            first, last = self._members(name)
            if not any(part.least for part in self.parts[first : last + 1]):
                raise _CannotError
            for a, b in groups.values():
                inside = (a <= first and last <= b) or (first <= a and b <= last)
                if not inside and not (last < a or b < first):
                    raise _CannotError
            groups[name] = (first, last)
        return groups

    def _sequence(self, first: int, last: int, groups: dict[str, tuple[int, int]]) -> p.Pattern:
        """Parts in a row; a subset is a part of its own, a wild part shares a row with its neighbour."""
        whole = sorted(name for name, bounds in groups.items() if bounds == (first, last))
        inner = {name: bounds for name, bounds in groups.items() if name not in whole}
        items: list[tuple[p.Pattern, bool]] = []
        place = first
        while place <= last:
            end = max((b for a, b in inner.values() if a == place), default=-1)
            if end < 0:
                items.append((self._item(place), self._is_wild(place)))
                place += 1
                continue
            below = {name: (a, b) for name, (a, b) in inner.items() if place <= a and b <= end}
            items.append((self._sequence(place, end, below), False))
            place = end + 1
        pattern = _linked(items)
        return p.And((pattern, *map(p.Var, whole))) if whole else pattern

    def _item(self, place: int) -> p.Pattern:
        part = self.parts[place]
        variable: p.Pattern = p.Var(part.name)
        if part.name in self.points:
            if not part.is_once:
                variable = p.Repeat(variable, part.least, part.most)
            return p.And((variable, p.Var(_stretch(part.name)))) if part.name in self.moved else variable
        if part.least == 0 and not self._is_wild(place):
            return p.Repeat(variable, 0, 1)
        return variable

    def _preference(self) -> tuple[Boundary, ...]:
        """Which boundary of which variable tells how much each quantifier took, in their order."""
        boundaries = []
        for place, part in enumerate(self.parts):
            if part.is_once:
                continue
            if not self._is_wild(place):
                boundaries.append(Boundary(part.name, at_start=False, latest=part.is_greedy))
                continue
            if place and self._is_wild(place - 1):
                continue
            # Of neighbours that may all be any stretch, also none, reluctant ones leave the rows to the others: where
            # these end together, one that is greedy decides.
            following = next((i for i in range(place + 1, len(self.parts)) if not self._is_wild(i)), None)
            latest = any(part.is_greedy for part in self.parts[place:following])
            if following is None:
                boundaries.append(Boundary(None, at_start=False, latest=latest))
            elif self.parts[following].least == 0:
                raise _CannotError
            else:
                boundaries.append(Boundary(self.parts[following].name, at_start=True, latest=latest))
        return tuple(boundaries)


def _linked(items: list[tuple[p.Pattern, bool]]) -> p.Pattern:
    """Wild parts share a row with a neighbour that has rows, the others stand in rows of their own."""
    merged: list[p.Pattern] = []
    waiting: list[p.Pattern] = []
    for item, wild in items:
        if wild and merged and not waiting:
            if isinstance(merged[-1], p.Repeat) and p.counts(merged[-1])[0] == 0:
                raise _CannotError
            before = merged[-1].parts if isinstance(merged[-1], p.Concat) and not merged[-1].apart else (merged[-1],)
            merged[-1] = p.Concat((*before, item))
        elif wild:
            waiting.append(item)
        elif waiting:
            if len(waiting) > 1 or (isinstance(item, p.Repeat) and p.counts(item)[0] == 0):
                raise _CannotError
            merged.append(p.Concat((*waiting, item)))
            waiting = []
        else:
            merged.append(item)
    if waiting:
        raise _CannotError
    return merged[0] if len(merged) == 1 else p.Concat(tuple(merged), apart=True)


def _joined(conjuncts: list[Expression]) -> Expression:
    if not conjuncts:
        return _TRUE
    return conjuncts[0] if len(conjuncts) == 1 else e.Operator("AND", tuple(conjuncts))


def _may_fail(node: Expression) -> bool:
    return (
        isinstance(node, e.Operator)
        and node.symbol in ("/", "%", "DIV")
        and not isinstance(node.operands[1], e.Literal)
    )


def _folded(identifier: Identifier) -> str:
    return identifier.text if identifier.quoted else identifier.text.upper()


def _stretch(name: str) -> str:
    """The segment variable for all rows of a point variable with a quantifier."""
    return f"{name} rows"


def _renamed(expression: Expression, old: str, new: str) -> Expression:
    match expression:
        case e.Name(parts=(first, *rest)) if rest and _folded(first) == old:
            return replace(expression, parts=(Identifier(new, quoted=True), *rest))
        case e.Star(variable=variable) if variable is not None and _folded(variable) == old:
            return replace(expression, variable=Identifier(new, quoted=True))
        case _:
            return e.rebuild(expression, lambda child: _renamed(child, old, new))
