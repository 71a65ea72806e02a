"""The search for many event patterns as a plan: nodes that join events, and roots that make matches of instances.

An *instance* of a node is one event for each of its slots. A part that may be repeated has its first event there: the
others are found when all else of a match is known, so sets cost only what is given out.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from trellis.algebra.automaton import MatchScan, WithinSpec

__all__ = [
    "AbsenceCheck",
    "JoinSpec",
    "LeafSpec",
    "Operand",
    "Role",
    "RootSpec",
    "SampleSpec",
    "SampledPair",
    "SetSpec",
    "TestSpec",
    "WindowSpec",
    "WorkloadScan",
]


class Role(IntEnum):
    """Which events of a part a condition reads."""

    EVENT = 0
    """The only one, or the first: `a.x`, `b[1].x`."""
    LAST = 1
    """`b[b.LEN].x`."""
    CURRENT = 2
    """`b[i].x`, for each i from 2 on."""
    PREVIOUS = 3
    """`b[i-1].x`."""
    EACH = 4
    """`b[].x` outside of aggregates: the condition holds for each."""
    EARLIER = 5
    """`avg(b[..i-1].x)`."""
    ALL = 6
    """`avg(b[].x)`."""
    ABSENT = 7
    """The event that must not be there."""

    @property
    def is_set(self) -> bool:
        """Whether several events are read at once."""
        return self in (Role.EARLIER, Role.ALL)

    @property
    def is_running(self) -> bool:
        """Whether it depends on i."""
        return self in (Role.CURRENT, Role.PREVIOUS, Role.EARLIER)


@dataclass(frozen=True, slots=True)
class Operand:
    """A variable of a condition (by number), and the events of a slot that stand for it."""

    variable: int
    slot: int
    role: Role = Role.EVENT


@dataclass(frozen=True, slots=True)
class TestSpec:
    """A condition (by number) with its operands."""

    condition: int
    operands: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class LeafSpec:
    """Events of some types that pass a condition of the event alone (by number; -1: any)."""

    types: tuple[str, ...]
    condition: int = -1


@dataclass(frozen=True, slots=True)
class JoinSpec:
    """Instances of two nodes that fit together; see `JoinNode`. `window` is the number of one."""

    left: int
    right: int
    left_slots: tuple[int, ...]
    right_slots: tuple[int, ...]
    window: int
    before: tuple[tuple[int, int], ...] = ()
    distinct: tuple[tuple[int, int], ...] = ()
    tests: tuple[TestSpec, ...] = ()


@dataclass(frozen=True, slots=True)
class SetSpec:
    """A repeated part: the slot of its first event, and what others may be (`members`).

    All of its events are before those of the slots `before`. `tests` can be decided when a member is added: they read
    it, those before it, and first events of other parts.
    """

    slot: int
    members: LeafSpec
    before: tuple[int, ...] = ()
    tests: tuple[TestSpec, ...] = ()


@dataclass(frozen=True, slots=True)
class AbsenceCheck:
    """Something that must not be there, after and before all events of some slots."""

    event: LeafSpec
    after: tuple[int, ...]
    before: tuple[int, ...]
    tests: tuple[TestSpec, ...] = ()


@dataclass(frozen=True, slots=True)
class RootSpec:
    """A clause of a pattern (by number). `tests` are decided when all of its sets are known.

    `variables` are numbers of variables of the pattern for each slot: the same in all of its clauses. `keys` are the
    slots of the columns in which all events of a match agree; matches are counted for each of their values.
    """

    pattern: int
    node: int
    variables: tuple[int, ...]
    window: int
    sets: tuple[SetSpec, ...] = ()
    tests: tuple[TestSpec, ...] = ()
    absences: tuple[AbsenceCheck, ...] = ()
    keys: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """How far the last event of a match may be from the first: in time, in events, or not bounded at all.

    Of `events`, those count that agree with the first in the slots `keys`.
    """

    within: WithinSpec | None = None
    events: int = 0
    keys: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SampledPair:
    """Events of two leaves (by number) within a window (by number), of which statistics ask how often a test holds.

    The operands of the test are the first event (slot 0) and the second (slot 1). `side`: the second event is behind
    the first (1), before it (-1), or either (0).
    """

    first: int
    second: int
    side: int
    window: int
    test: TestSpec


@dataclass(frozen=True, slots=True)
class SampleSpec:
    """What is looked at to learn how often events come, and how often conditions between two of them hold."""

    leaves: tuple[LeafSpec, ...] = ()
    pairs: tuple[SampledPair, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadScan(MatchScan):
    """Everything that a worker needs to find the patterns of a workload.

    `type` is the column that holds the types of events; those without a value in a column of `agreed` are in no match.
    Roots of one pattern stand side by side. `variables` are those of conditions, which know nothing of patterns. What
    statistics of the events ask for is in `sample`.
    """

    type: str
    agreed: tuple[str, ...]
    patterns: tuple[str, ...]
    nodes: tuple[LeafSpec | JoinSpec, ...]
    roots: tuple[RootSpec, ...]
    windows: tuple[WindowSpec, ...]
    sample: SampleSpec = SampleSpec()
