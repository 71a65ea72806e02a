"""The arrays of the search for many event patterns: instances of nodes, and the tests between their events.

An *instance* of a node is an event (a row) for each of its slots. Instances of all nodes lie in one array, one behind
the other: `pool[instance]` has the `FIRST` and the `LAST` of its rows, a `KEY` to sort by, and from `SLOTS` on the row
of each slot. Those of one node are in the order of their first rows.

Windows are rows, too: a match that begins at a row ends before `until[row]`; nothing before `earliest[row]` can be in a
match with that row.
"""

from __future__ import annotations

from typing import NamedTuple

from trellis.kernels.arrays import Aggregates, Bools, Ints, Places, Program, Shorts, Slots, Stack, Track

__all__ = [
    "ABOVE",
    "BEFORE",
    "BELOW",
    "COMPARED",
    "DISTINCT",
    "FIRST",
    "INNER",
    "KEY",
    "LAST",
    "LISTS",
    "OUTER",
    "SLOTS",
    "Finish",
    "Lists",
    "Matched",
    "Nodes",
    "Plain",
    "Reading",
    "Tests",
    "Window",
    "Windows",
]

FIRST, LAST, KEY, SLOTS = range(4)


class Window(NamedTuple):
    """How far matches reach, of each row."""

    until: Shorts
    earliest: Shorts


class Lists(NamedTuple):
    """Rows that fit leaves: those of leaf `n` are `rows[begins[n] : begins[n + 1]]`."""

    rows: Shorts
    begins: Ints


class Windows(NamedTuple):
    """The same for several windows: `until[window, row]`."""

    until: Shorts
    earliest: Shorts


class Nodes(NamedTuple):
    """The nodes of a plan, each behind those that it is made of.

    A leaf has the `inner` node -1, and takes its events from the list `outer`. Otherwise, for each instance of the
    outer node some of the inner one are tried. If an `equation` is there (outer slot, row of codes, inner slot, row of
    codes; -1 if not), those are tried whose event in that slot has the same code. Node `n` ends the search for a while
    if it is `paused`: there is something to be done that is left to the caller.

    What a join is, is in lists, one behind the other in `items`; list `k` of node `n` begins at `begins[n, k]` and ends
    where the next one begins. By their names below: `OUTER` and `INNER` say which slot each slot of theirs becomes. The
    first event of an inner instance is after those of the slots `ABOVE`, and before those of the slots `BELOW`: that
    bounds what is tried. All pairs of slots of `BEFORE` are in order, of `DISTINCT` they hold different events.
    `COMPARED` are tests of a value of one slot with a value of another: slot, value, slot, value, comparison, and
    whether the values are floats.
    """

    outer: Shorts
    inner: Shorts
    window: Shorts
    equation: Shorts
    paused: Bools
    begins: Shorts
    items: Shorts


OUTER, INNER, ABOVE, BELOW, BEFORE, DISTINCT, COMPARED = range(7)
LISTS = 7


class Plain(NamedTuple):
    """Roots of whose instances each is a match, if it is not too long: of each its number, its node and its window.

    The labels of the slots of root `r` are `labels[begins[r] : begins[r + 1]]`.
    """

    number: Shorts
    node: Shorts
    window: Shorts
    begins: Shorts
    labels: Shorts


class Tests(NamedTuple):
    """Tests between events: comparisons of two values, or programs.

    Test `t` has the operands `first[t]` to `first[t + 1]`: for each the slot whose events it reads, in which role, and
    the variable of the program, with the set of that. A comparison is of `value[...]` of its two operands.
    """

    is_program: Bools
    comparison: Shorts
    is_float: Bools
    begin: Ints
    end: Ints
    first: Shorts
    slot: Shorts
    role: Shorts
    variable: Shorts
    set: Shorts
    value: Shorts


class Reading(NamedTuple):
    """What programs read, and room to run them."""

    program: Program
    slots: Slots
    places: Places
    aggregates: Aggregates
    track: Track
    stack: Stack


class Finish(NamedTuple):
    """How instances become matches: the rest of each set, tests, and what must be absent.

    `set_slots[s]` is the slot of the first event of set `s`, `set_of[slot]` its number, or -1. Further events are from
    the list `set_lists[s]`, before those of the slots `bounds[s]` (-1: no more), and pass the tests `set_tests[s]` to
    `set_tests[s + 1]`. Then come the tests of the whole, up to `whole_tests`. Absent events are from the list
    `absent_lists[a]`, behind all of `after[a]` and before all of `before[a]`, and pass the tests `absent_tests[a]` to
    `absent_tests[a + 1]`. `labels` are the variables of slots.
    """

    set_slots: Shorts
    set_of: Shorts
    set_lists: Shorts
    bounds: Shorts
    set_tests: Shorts
    whole_tests: int
    absent_lists: Shorts
    after: Shorts
    before: Shorts
    absent_tests: Shorts
    labels: Shorts


class Matched(NamedTuple):
    """Matches: of match `m` the rows `begins[m]` to `begins[m + 1]`, in order, with labels; `source` is its origin.

    That is its instance when a node is filtered, the number of its root when matches are found.
    """

    begins: Ints
    rows: Shorts
    labels: Shorts
    source: Ints
