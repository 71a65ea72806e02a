"""What the search for events wrote, as measures read it."""

from __future__ import annotations

import numpy as np

from trellis.execution.rows.outputs import Graphs
from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Bools, Ints, Matched
from trellis.kernels.event_arrays import EventGraphs, EventMatches

__all__ = ["count_matches", "numbers_before", "put_in_order", "read_graphs", "read_matches"]


def read_matches(matches: EventMatches, progress: Ints) -> Matched:
    """Matches with all of their rows."""
    count, used = int(progress[o.MATCHES]), int(progress[o.USED])
    begins, rows = matches.begins[: count + 1], matches.rows[:used]
    shown = np.ones(used, np.bool_)
    return Matched(rows[begins[:-1]], matches.owners[:count], begins, rows, matches.parts[:used], shown)


def numbers_before(owners: Ints, timed_out: Bools, given: Ints) -> Ints:
    """What is added to the number of each match among those of its series here, `given` matches of it before.

    What has timed out is no match: it gets the number 0, and does not count.
    """
    places = np.arange(len(owners))
    firsts = np.searchsorted(owners, owners)
    count = np.cumsum(timed_out)
    # Of each series, how many have timed out up to here.
    missed: Ints = count - (count - timed_out)[firsts]
    return np.where(timed_out, firsts - places - 1, given[owners] - missed)


def read_graphs(graphs: EventGraphs, progress: Ints, last: int) -> tuple[Matched, Graphs]:
    """A match for each event that ends matches, in the component `last`, and what is known of these."""
    count, nodes, edges = int(progress[o.MATCHES]), int(progress[o.NODES]), int(progress[o.EDGES])
    return _ends(graphs.owners[:count], graphs.rows[:count], last), Graphs(
        graphs.high[:count],
        graphs.low[:count],
        graphs.nodes[: count + 1],
        graphs.node_row[:nodes],
        graphs.node_part[:nodes],
        graphs.edges[: count + 1],
        graphs.source[:edges],
        graphs.target[:edges],
    )


def count_matches(matched: Matched) -> tuple[Matched, Graphs]:
    """The same of matches that were listed; those that end at one event stand together."""
    ends = matched.rows[matched.begins[1:] - 1]
    firsts = np.flatnonzero(np.diff(ends, prepend=-1))
    counts = np.diff(firsts, append=len(ends))
    none = np.zeros(0, np.int64)
    nowhere = np.zeros(len(firsts) + 1, np.int64)
    last = int(matched.variables[-1])
    return _ends(matched.owners[firsts], ends[firsts], last), Graphs(
        np.zeros_like(counts), counts, nowhere, none, none, nowhere, none, none
    )


def put_in_order(matched: Matched) -> Matched:
    """The matches as searches give them that keep all runs at once: by their last row, then by all of their rows."""
    begins = matched.begins
    keys = [
        (matched.rows[end - 1], tuple(matched.rows[begin:end]), tuple(-matched.variables[begin:end]))
        for begin, end in zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True)
    ]
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
    lengths = np.diff(begins)[order]
    places = np.concatenate([np.arange(begins[k], begins[k + 1]) for k in order])
    return Matched(
        matched.starts[order],
        matched.owners[order],
        np.append(0, np.cumsum(lengths)),
        matched.rows[places],
        matched.variables[places],
        matched.shown,
    )


def _ends(owners: Ints, rows: Ints, last: int) -> Matched:
    count = len(rows)
    return Matched(
        rows,
        owners,
        np.arange(count + 1, dtype=np.int64),
        rows,
        np.full(count, last, np.int32),
        np.ones(count, np.bool_),
    )
