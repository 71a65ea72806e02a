"""How far the runs of an event pattern can come: the pattern stage by stage, each a query of its own.

A run decides about an event by its own component and what it has taken before. So what the runs of a pattern take into
a component is what ends the matches of the pattern up to there, with the conditions that are tested up to there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trellis.algebra.events import Component, EventClauses, component_text, components_of
from trellis.algebra.expression import Aggregate, Identifier, Star
from trellis.algebra.pattern import Concat
from trellis.algebra.query import Measure, Query, Wanted
from trellis.analysis.edges import Edge, EdgeKind
from trellis.analysis.events import edges_of
from trellis.analysis.source import Source

__all__ = ["Stage", "stages_of"]


@dataclass(frozen=True, slots=True)
class Stage:
    """What a stage adds to those before it, as text, and the query whose matches are the runs that come so far."""

    component: str
    conditions: tuple[str, ...]
    query: Query


def stages_of(query: Query, source: Source) -> list[Stage]:
    """The stages of an event pattern; their queries return how many `runs` come so far with an event.

    First come the components that take events, in order. The conditions on a whole repeated component are a stage of
    their own after it: with each event that it takes, it may or may not be complete. Last come the components that must
    be absent: they are looked for around whole matches. OUTPUT and SHOW count for nothing.
    """
    pattern = _Pattern.of(query, source)
    components = list(enumerate(components_of(query.pattern)))
    kept: list[int] = []
    tested: list[int] = []
    stages = []
    for number, component in components:
        if component.absent:
            continue
        kept.append(number)
        tested += pattern.conditions(component, EdgeKind.BEGIN, EdgeKind.TAKE)
        stages.append(pattern.stage(number, kept, tested, EdgeKind.BEGIN, EdgeKind.TAKE))
        ending = pattern.conditions(component, EdgeKind.PROCEED)
        if ending:
            tested += ending
            stages.append(pattern.stage(number, kept, tested, EdgeKind.PROCEED))
    for number, component in components:
        if component.absent:
            kept = sorted([*kept, number])
            tested += pattern.conditions(component, EdgeKind.ABSENT)
            stages.append(pattern.stage(number, kept, tested, EdgeKind.ABSENT))
    return stages


@dataclass(frozen=True, slots=True)
class _Pattern:
    query: Query
    events: EventClauses
    components: tuple[Component, ...]
    edges: tuple[Edge, ...]

    @staticmethod
    def of(query: Query, source: Source) -> _Pattern:
        assert query.events is not None
        return _Pattern(query, query.events, components_of(query.pattern), edges_of(query, source))

    def conditions(self, component: Component, *kinds: EdgeKind) -> list[int]:
        """The numbers of the conditions on these edges of a component."""
        wanted = {Edge(component.variable, kind) for kind in kinds}
        return [number for number, edge in enumerate(self.edges) if edge in wanted]

    def stage(self, number: int, kept: Sequence[int], tested: Sequence[int], *kinds: EdgeKind) -> Stage:
        """The stage of a component, by the conditions on these edges, after the components and conditions so far."""
        component, variable = self.components[number], self.events.variables[number]
        new = self.conditions(component, *kinds)
        same = [f"[{', '.join(map(str, self.events.same))}]"] if self.events.same else []
        if EdgeKind.PROCEED in kinds:
            same, text = [], f"end of {Identifier(variable.name)}[]"
        else:
            text = component_text(component, variable)
        conditions = (*same, *(str(self.events.where[place]) for place in new))
        return Stage(text, conditions, self._query(kept, sorted(tested)))

    def _query(self, kept: Sequence[int], tested: Sequence[int]) -> Query:
        pattern = self.query.pattern
        every = pattern.parts if isinstance(pattern, Concat) else (pattern,)
        parts = [every[number] for number in kept]
        return replace(
            self.query,
            pattern=parts[0] if len(parts) == 1 else Concat(tuple(parts)),
            definitions=tuple(self.query.definitions[number] for number in kept),
            measures=(Measure("runs", Aggregate("count", (Star(),))),),
            wanted=Wanted.ALL,
            timeouts=False,
            events=replace(
                self.events,
                variables=tuple(self.events.variables[number] for number in kept),
                where=tuple(self.events.where[number] for number in tested),
            ),
        )
