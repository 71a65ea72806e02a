"""The arrays that kernels work on, in named groups.

A *chunk* is many whole series, one after the other: series `k` has the rows `offsets[k]` to `offsets[k + 1]`.
All row numbers are positions in the chunk.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Aggregates",
    "Array",
    "Automaton",
    "Bools",
    "Bytes",
    "Conditions",
    "Edges",
    "Elements",
    "Floats",
    "Ints",
    "Matched",
    "Matches",
    "Merging",
    "Places",
    "Program",
    "Shorts",
    "Slots",
    "Stack",
    "Starts",
    "Track",
    "Within",
    "Words",
    "Work",
]

Ints: TypeAlias = NDArray[np.int64]
Shorts: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Bytes: TypeAlias = NDArray[np.uint8]
Words: TypeAlias = NDArray[np.uint64]
Array: TypeAlias = NDArray[Any]


class Slots(NamedTuple):
    """Values of each row: `ints` and `floats` are two views of the same memory, `[slot, row]`.

    Values of pairs of rows lie in `pair_ints`, from `ints[slot, row]` on, one for each row of the series.
    """

    ints: Ints
    floats: Floats
    known: Bools
    pair_ints: Ints
    pair_floats: Floats
    pair_known: Bools


class Automaton(NamedTuple):
    """A pattern as instructions. `x` is the next (SPLIT: the preferred) instruction, `y` the other one of SPLIT.

    `backward` lists the instructions so that those reached without consuming a row come first.
    """

    op: Shorts
    variable: Shorts
    excluded: Bools
    x: Shorts
    y: Shorts
    backward: Shorts


class Conditions(NamedTuple):
    """How the condition of each variable is tested: by `bits[bit, row]` or by a program."""

    kind: Shorts
    bit: Shorts
    begin: Ints
    end: Ints
    bits: Bools


class Elements(NamedTuple):
    """Places of a pattern that take rows. An automaton of elements has their numbers where others have variables.

    An element takes rows of a `variable`, which must pass `tests[begin:end]`: numbers of conditions, in this order.
    `missing` says for each instruction how many rows a match needs at least from there on.
    """

    variable: Shorts
    begin: Ints
    end: Ints
    tests: Shorts
    missing: Shorts


class Program(NamedTuple):
    """Instructions of a stack machine, `[instruction, (op, a, b)]`, and their constants.

    `labels[v]` is the code of the name of variable `v`, in the same dictionary as string slots.
    `lenient`: a division by zero is NULL (Spark without ANSI mode).
    """

    code: Shorts
    ints: Ints
    floats: Floats
    labels: Ints
    lenient: bool


class Places(NamedTuple):
    """Which row a value is read from.

    Set -1 is the current row, set -2 is any row of the match, set -3 the row of the series with the match's number.
    """

    sets: Shorts
    from_first: Bools
    offset: Shorts
    shift: Shorts
    final: Bools


class Aggregates(NamedTuple):
    """Aggregates over the rows of a set.

    `slot[aggregate, variable]` is what a row of that variable gives; EVERY_ROW counts the row itself, COMPUTED runs
    the program from `begin` to `end` (`computed`: there is such an aggregate). `wide`: its slots have two words.
    `second[aggregate, variable]` is the slot of the value that MAX_BY and MIN_BY return, `previous` the slot that
    holds, for DISTINCT, the row before with an equal value, or LOOK_BACK_...; -1 where not needed.
    """

    kind: Shorts
    sets: Shorts
    slot: Shorts
    second: Shorts
    previous: Shorts
    wide: Bools
    begin: Ints
    end: Ints
    computed: bool


class Merging(NamedTuple):
    """What makes two search states at one instruction and row equivalent.

    `kind[pc]`: PURE where nothing that follows looks at the match so far; KEYED where what follows reads only the
    registers `begin[pc]:end[pc]` (kind, set or aggregate, depth); NEVER where states cannot be compared.
    `width` is the length of the longest key, `wide` says which aggregates are of numbers with two words.
    """

    kind: Shorts
    begin: Shorts
    end: Shorts
    registers: Shorts
    width: int
    wide: Bools


class Within(NamedTuple):
    """A row belongs to a match from `start` only if `key[row] <= deadline[start]` and both are known."""

    active: bool
    key: Ints
    deadline: Ints
    known: Bools


class Track(NamedTuple):
    """What the search remembers of the match so far, for conditions that look at it.

    `rows[s, i]` is the i-th row of the match in set `s`, `counts[s]` how many there are; `member[s, v]` says whether
    variable `v` belongs to set `s`. `label[row - low]` is the variable of a row. For aggregate `g` after the n-th row
    of its set, `tally[g, n]` counts values, `whole[g, n]` holds an integer (sum, extreme), `high[g, n]` its second word
    if it has two, `real[g, n]` a float, and `spread[g, n]` the sum of squared differences or the row of the extreme.
    `distinct_int[g, i]` (and `distinct_high`) or `distinct_float[g, i]` is the i-th value that was counted by an
    aggregate that looks back. `given_int`, `given_high`, `given_float` and `given_known` hold the value of each
    computed argument in the row that is about to be mapped.
    """

    active: bool
    member: Bools
    rows: Shorts
    counts: Ints
    label: Shorts
    tally: Ints
    whole: Ints
    high: Ints
    real: Floats
    spread: Floats
    distinct_int: Ints
    distinct_high: Ints
    distinct_float: Floats
    given_int: Ints
    given_high: Ints
    given_float: Floats
    given_known: Bools


class Matches(NamedTuple):
    """The matches found: first row, end (exclusive), series, and in `paths` the instruction of each of their rows.

    There is room for a match at every row; `paths` may have to grow. `following` is the row at which the search goes on
    after a match; below 0 it cannot (as `status` says for series that are whole). TIMED_OUT there says that this is no
    match, but the beginning of one that timed out.
    """

    starts: Ints
    stops: Ints
    owners: Ints
    following: Ints
    paths: Shorts
    progress: Ints


class Matched(NamedTuple):
    """Matches as measures read them. Other rows may lie between the rows of a match.

    Match `k` of the series `owners[k]` was looked for at the row `starts[k]`. Its rows, in order, are
    `rows[begins[k]:begins[k + 1]]`; `variables` are theirs, and `shown` says which of them ALL ROWS PER MATCH shows.
    """

    starts: Ints
    owners: Ints
    begins: Ints
    rows: Ints
    variables: Shorts
    shown: Bools


class Starts(NamedTuple):
    """Where matches of each series may start: from the row `begins[k]` on, before the row `ends[k]`.

    `entries[k]` is 1 for a whole series: the search begins at its first row. For a slice of one it may begin at any of
    its first rows, since nobody knows yet where the slice before leaves off: `seen` marks the rows it came by.
    """

    begins: Ints
    ends: Ints
    entries: Ints
    seen: Bools


class Edges(NamedTuple):
    """What is known beyond the rows at hand, for each series.

    `first[k]` is the row at which `^` holds, -1 if the series began before the rows at hand. `last[k]` is the row at
    which `$` holds, -1 if the series is open: more rows may come. `number[k]` is the number of the next match.

    `ahead[v]` is how many rows beyond the row under test the condition of variable `v` looks, `measured` how many rows
    beyond a match measures look. The search fills in `undecided[k]`: the first row at which rows to come decide
    whether a match starts there, and which; all starts before it are settled.

    Rows to come have no smaller key of WITHIN than `horizon`.
    """

    first: Ints
    last: Ints
    number: Ints
    ahead: Shorts
    measured: int
    undecided: Ints
    horizon: int


class Stack(NamedTuple):
    """The stack of the interpreter: a value is an integer or a float, and may be unknown.

    `highs` are second words of integers that have two; `limbs` and `words` are room to compute with these. Programs
    without such integers have no `limbs`, so that kernels are compiled without what computes with them.
    """

    ints: Ints
    floats: Floats
    known: Bools
    highs: Ints
    limbs: Ints | None
    words: Ints


class Work(NamedTuple):
    """Room for one search: choices not yet tried, the trail of states, failed states, the stack of the interpreter.

    `cell_float` and `cell_int` are the same eight bytes: floats become key parts bit by bit.
    """

    choice_pc: Shorts
    choice_row: Shorts
    choice_trail: Shorts
    trail_pc: Shorts
    trail_row: Shorts
    failed: Bytes
    memo: Ints
    memo_epoch: Ints
    epoch: Ints
    key: Ints
    cell_float: Floats
    cell_int: Ints
    stack: Stack
