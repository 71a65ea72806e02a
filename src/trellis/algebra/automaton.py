"""Row patterns as plans: the instructions of an automaton, how conditions are tested, and what measures read.

Plain values; no arrays, no Spark.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import TypeAlias

from trellis.algebra.place import Place
from trellis.algebra.query import RowsPerMatch, SkipTo
from trellis.algebra.scan import Output, ProgramSpec, SliceSpec, SlotSource

__all__ = [
    "AggregateSpec",
    "AutomatonScan",
    "Condition",
    "Instruction",
    "MatchScan",
    "Merge",
    "Op",
    "Register",
    "Search",
    "Sets",
    "SkipSpec",
    "WithinSpec",
]


Sets: TypeAlias = tuple[frozenset[str] | None, ...]
"""Sets of variables whose rows a kernel must remember; None is the set of all."""


class Op(IntEnum):
    """What an instruction of the automaton does."""

    CONSUME = 0
    SPLIT = 1
    JUMP = 2
    ANCHOR_START = 3
    ANCHOR_END = 4
    ACCEPT = 5
    FAIL = 6
    KEEP = 7
    """A split before an instruction at `x` that consumes: if a row is taken there, the search never comes to `y`."""
    FORGET = 8
    """The jump behind that instruction."""
    CHECK = 9
    """Test `variable` on the match so far; no row is taken."""


class Search(Enum):
    """How the automaton looks for the preferred match from a row."""

    TABLE = "by table"
    """A table says for every instruction and row where the match ends. Conditions must look at rows only."""
    BACKTRACKING = "backtracking"
    """The ways through the automaton are tried in order of preference."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of the automaton: CONSUME a row of `variable`; go on at `x`, or for SPLIT at `x` or else `y`."""

    op: Op
    variable: int = -1
    excluded: bool = False
    x: int = -1
    y: int = -1


@dataclass(frozen=True, slots=True)
class Condition:
    """How a variable is tested. `where` is `always`, `spark` (a column), `bit` (a program for each row) or `kernel`.

    A column may hold several conditions, and `mask` is the number of this one's bit; or one truth value, and
    `mask` is -1. `slow`: it reads functions of two rows that Spark computes for all pairs.
    """

    variable: str
    where: str
    text: str
    column: str = ""
    begin: int = 0
    end: int = 0
    slow: bool = False
    mask: int = -1


@dataclass(frozen=True, slots=True)
class AggregateSpec:
    """A kernel aggregate.

    Kind, set of variables, slot for each variable, slot of MAX_BY's value, chain for DISTINCT; where the program of an
    argument that no slot can hold begins and ends; whether slots have two words.
    """

    kind: int
    variables: frozenset[str] | None
    slots: tuple[int, ...]
    second: tuple[int, ...] = ()
    previous: int = -1
    final: bool = False
    begin: int = -1
    end: int = -1
    wide: bool = False

    @property
    def is_computed(self) -> bool:
        """Whether a program gives the argument."""
        return self.begin >= 0


@dataclass(frozen=True, slots=True)
class Register:
    """A part of the match so far that a later condition may read: kind, set or aggregate, depth."""

    kind: int
    number: int
    depth: int


@dataclass(frozen=True, slots=True)
class Merge:
    """When two search states at an instruction are the same: `kind` is PURE, KEYED (by registers) or NEVER."""

    kind: int
    registers: tuple[Register, ...] = ()


@dataclass(frozen=True, slots=True)
class WithinSpec:
    """WITHIN: the columns of the order key and of the last key allowed from there; `descending` turns both round.

    Without a column `deadline`, the last key is `width` units further (or less far, where int64 ends).
    """

    key: str
    deadline: str
    descending: bool
    width: int = 0


@dataclass(frozen=True, slots=True)
class SkipSpec:
    """A pattern of elements one after the other, as a search by skipping needs it.

    `elements` are their variables, `stars` says which are repeated as long as they hold, `instructions` are the ones
    that consume their rows. `shift`, `next` and `passes` say how to go on where an element fails, as in `SkipTables`.
    So do `sure_shift`, `sure_next` and `sure_passes`, for rows where the slots in `positive` hold no negative number
    and those in `present` no NULL.
    """

    elements: tuple[int, ...]
    stars: tuple[bool, ...]
    instructions: tuple[int, ...]
    shift: tuple[int, ...]
    next: tuple[int, ...]
    passes: tuple[bool, ...]
    positive: tuple[int, ...] = ()
    present: tuple[int, ...] = ()
    sure_shift: tuple[int, ...] = ()
    sure_next: tuple[int, ...] = ()
    sure_passes: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchScan:
    """What every search that maps rows to variables needs: conditions, and what measures read of the matches.

    `sets` (`measure_sets`) are the sets of variables that conditions (measures) read. `dropped`: rows may be missing,
    so that numbers of rows are not those of the input.
    """

    keys: tuple[str, ...]
    variables: tuple[str, ...]
    conditions: tuple[Condition, ...]
    slots: tuple[SlotSource, ...]
    program: ProgramSpec
    places: tuple[Place, ...]
    aggregates: tuple[AggregateSpec, ...]
    sets: Sets
    within: WithinSpec | None
    rows_per_match: RowsPerMatch
    measure_slots: tuple[SlotSource, ...]
    measure_places: tuple[Place, ...]
    measure_aggregates: tuple[AggregateSpec, ...]
    measure_sets: Sets
    outputs: tuple[tuple[str, Output], ...]
    budget: int
    chunk_rows: int
    slices: SliceSpec | None = None
    dropped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AutomatonScan(MatchScan):
    """Everything the matcher needs to turn sorted rows into output rows; pickled to the workers.

    `backward` lists the instructions so that those reached without consuming a row come first. `key_width` is the
    length of the longest key of a search state. With `skips`, series that are whole are searched by skipping.
    `others` are further automata that search the same rows: they share all but instructions and what follows from them.
    `timeouts`: matches that timed out are given out, too.
    """

    instructions: tuple[Instruction, ...]
    backward: tuple[int, ...]
    merges: tuple[Merge, ...]
    key_width: int
    skip: SkipTo
    skip_to: frozenset[str]
    search: Search
    skips: SkipSpec | None = None
    others: tuple[AutomatonScan, ...] = ()
    timeouts: bool = False
