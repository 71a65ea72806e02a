"""The arrays of the search for events: the automaton, runs, and the graph that all of them share.

A *run* is a match in the making: a state, a pointer into the graph, and what later conditions read. State `2k` waits
for the first event of component `k`, state `2k + 1` is inside the repeated component `k`.

The graph is made of *cells*, which never change. A cell is an event in a component with what may stand before it
(`left`; -1: nothing, a match begins here), or a choice between two cells (`row` is -1). So a prefix of many matches is
stored once, and a run that stands for many beginnings is one pointer.
"""

from __future__ import annotations

from typing import NamedTuple

from trellis.kernels.arrays import (
    Aggregates,
    Bools,
    Conditions,
    Floats,
    Ints,
    Places,
    Program,
    Shorts,
    Slots,
    Stack,
    Track,
    Within,
)

__all__ = [
    "Absences",
    "Cells",
    "EventAutomaton",
    "EventGraphs",
    "EventMatches",
    "Growth",
    "Registers",
    "Room",
    "Runs",
    "Step",
]


class EventAutomaton(NamedTuple):
    """The positive components of SEQ and the tests on their edges.

    A test has two parts: `..._bit` is the number of a bit of the event alone, `..._program` that of a condition that
    reads what was taken before; -1 where there is none. `selection`, `merged` and `alone` (one run at a time) say how
    to search; `wanted` says what is written down of the matches that an event completes; `one_by_one` asks for matches
    that do not overlap, `timeouts` for runs, too, that have come to no match when their window closes.
    """

    repeated: Bools
    begin_bit: Ints
    begin_program: Ints
    take_bit: Ints
    take_program: Ints
    proceed_program: Ints
    selection: int
    merged: bool
    alone: bool
    wanted: int
    one_by_one: bool
    timeouts: bool


class Absences(NamedTuple):
    """Negated components: `after[n]` is the positive component before it (-1: at the beginning of the pattern).

    `before[n, row]` is how many events before `row` fit as far as they alone say.
    """

    after: Ints
    bit: Ints
    program: Ints
    before: Ints


class Growth(NamedTuple):
    """Of each series what is known beyond its rows; and where its search stands at the end, if it `grows`.

    Matches begin at the row `begins[k]` or later, and before `stops[k]`: after it come rows of the next slice. Those
    that end before `shown[k]` were given out. If it `grows[k]`, the rows to come have the time `horizon[k]` or a later
    one. If it `waits[k]`, what must be absent at the end of a match may be among them.

    In the end, the matches that end before the row `ends[k]` are given out: the first undecided one ends there, or it
    is the end of the rows. Those that end there or later begin at `starts[k]` or later, and no row before `firsts[k]`
    is looked at for them. Once no row to come has the time `due[k]` or an earlier one, something more is known.
    """

    begins: Ints
    stops: Ints
    shown: Ints
    grows: Bools
    waits: Bools
    horizon: Ints
    ends: Ints
    starts: Ints
    firsts: Ints
    due: Ints


class Registers(NamedTuple):
    """What a run remembers, in words: of each set of variables the first and the last row, of each aggregate its state.

    `live[state, word]` says whether conditions to come read it. `slots[word, :]` are the slots that they read in the
    row (-1: no more): rows with equal values are the same. `by_row[word]`: the row itself counts. `as_known[word]`: it
    only counts whether it is above 0. `reads_spread` says of which aggregates the spread (or the row of the extreme)
    counts. `distinct`: an aggregate looks at all events of a run, since equal values count once; such runs stay apart.
    """

    live: Bools
    slots: Ints
    by_row: Bools
    as_known: Bools
    sets: int
    aggregates: int
    reads_spread: Bools
    distinct: bool


class Runs(NamedTuple):
    """Runs of one series, in two groups that take turns: `state[group, run]`.

    `start` is, of the rows at which a run begins, the one whose window ends last. Runs that may be equal are chained:
    `chain` is the one before, -1 if there is none, and `key` is equal, too. Where it counts which runs time out, none
    are merged, and `key` is 1 if a run has come to a match.
    """

    state: Ints
    cell: Ints
    start: Ints
    key: Ints
    chain: Ints
    words: Ints


class Cells(NamedTuple):
    """The graph. Cell `c` lies at `c - BASE`.

    `part` is the component of an event, and for a choice the row at which it was made. `latest` is, of the rows at
    which matches of a cell begin, the one whose window ends last.
    """

    row: Ints
    part: Ints
    left: Ints
    right: Ints
    latest: Ints


class EventMatches(NamedTuple):
    """The matches found: match `k` of the series `owners[k]` has the rows `rows[begins[k]:begins[k + 1]]`.

    `parts` are the components of its rows. If it is no match but has timed out, `owners[k]` is -1 - the series. The
    rest is room to put matches that end together in order.
    """

    owners: Ints
    begins: Ints
    rows: Ints
    parts: Shorts
    order: Ints
    spare: Ints
    spare_rows: Ints
    spare_parts: Shorts


class EventGraphs(NamedTuple):
    """What ends at one event each: the number of matches, in two words, and perhaps the graph of them.

    Graph `k` ends at the event `rows[k]` of the series `owners[k]`; `high[k]` is below 0 if there are too many matches
    to count. Its nodes are `node_row` and `node_part` (-1: a choice) from `nodes[k]` to `nodes[k + 1]`, in an order in
    which everything comes after what may stand before it; the last one is the end of all its matches. Its edges, from
    `edges[k]` to `edges[k + 1]`, lead from the node `source` to the node `target`, counted within the graph.

    The rest is room, a place for each cell: `state` says what is known of it, `number` is its node, and `paths` (high,
    low) how many ways lead to it.
    """

    owners: Ints
    rows: Ints
    high: Ints
    low: Ints
    nodes: Ints
    node_row: Ints
    node_part: Ints
    edges: Ints
    source: Ints
    target: Ints
    state: Shorts
    number: Ints
    paths_high: Ints
    paths_low: Ints


class Step(NamedTuple):
    """Everything that does not change while the events of a chunk are looked at; but for what is found of `growth`."""

    automaton: EventAutomaton
    growth: Growth
    absences: Absences
    conditions: Conditions
    program: Program
    slots: Slots
    places: Places
    aggregates: Aggregates
    registers: Registers
    within: Within
    most_events: int


class Room(NamedTuple):
    """What every step writes to: the run under test as conditions read it, the interpreter, the graph, counters.

    `final` are the cells that the current event completes, and from its end on those that time out; `path_...` and
    `todo_...` are room to walk back from them.
    `heads` and `stamps` find runs that may be equal: the first of a chain, and the step in which it was written.
    """

    track: Track
    stack: Stack
    cells: Cells
    final: Ints
    heads: Ints
    stamps: Ints
    path_row: Ints
    path_part: Shorts
    todo_cell: Ints
    todo_depth: Ints
    progress: Ints
    float_cell: Floats
    int_cell: Ints
    status: Ints
