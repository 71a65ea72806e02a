"""The arrays of the search for many event patterns: instances of nodes, and the tests between their events.

An *instance* of a node is an event (a row) for each of its slots. Windows are rows, too: a match that begins at a row
ends before `until[row]`; nothing before `earliest[row]` can be in a match with that row.
"""

from __future__ import annotations

from typing import NamedTuple

from trellis.kernels.arrays import Aggregates, Bools, Ints, Places, Program, Shorts, Slots, Stack, Track

__all__ = ["Finish", "Instances", "Join", "Matched", "Reading", "Tests", "Window"]


class Window(NamedTuple):
    """How far matches reach, of each row."""

    until: Shorts
    earliest: Shorts


class Instances(NamedTuple):
    """Instances, `rows[slot, number]`, with the first and the last row of each, in the order of the first."""

    rows: Shorts
    first: Shorts
    last: Shorts


class Join(NamedTuple):
    """How instances of two nodes are put together: for each one of the outer node, some of the inner one are tried.

    `outer` and `inner` say which slot each of theirs becomes. The first event of an inner instance is after those of
    the outer slots `above`, and before those of the outer slots `below`: that bounds what is tried. All pairs of slots
    of `before` are in order, of `distinct` they hold different events. `compared` are tests of a value of one slot with
    a value of another: slot, value, slot, value, comparison, and whether the values are floats.
    """

    outer: Shorts
    inner: Shorts
    above: Shorts
    below: Shorts
    before: Shorts
    distinct: Shorts
    compared: Shorts


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
    `absent_tests[a + 1]`. The list `n` is `listed[list_begins[n] : list_begins[n + 1]]`. `labels` are the variables of
    slots.
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
    listed: Shorts
    list_begins: Ints
    labels: Shorts


class Matched(NamedTuple):
    """Matches: of match `m` the rows `begins[m]` to `begins[m + 1]`, in order, with labels; and its instance."""

    begins: Ints
    rows: Shorts
    labels: Shorts
    instance: Ints
