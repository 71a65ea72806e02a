"""Graphs of matches in, matches out: some at a time, so that whoever wants a few does not wait for all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from trellis.kernels.arrays import Bools, Ints
from trellis.kernels.ways import Walk, list_ways

__all__ = ["Decompress"]

_WAYS = 10_000
_NODES = 1 << 18


@dataclass(frozen=True, slots=True)
class Decompress:
    """Lists the matches of each row: `carried` columns stay as they are, `nodes` and `edges` become matches."""

    carried: tuple[str, ...]
    nodes: str = "nodes"
    edges: str = "edges"

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The matches of all rows."""
        for batch in batches:
            for row in range(batch.num_rows):
                yield from self._matches(batch, row)

    def _matches(self, batch: pa.RecordBatch, row: int) -> Iterator[pa.RecordBatch]:
        nodes, edges = batch.column(self.nodes)[row].values, batch.column(self.edges)[row].values
        if nodes is None or edges is None or len(nodes) == 0:
            return
        fields = nodes.flatten()
        names = [nodes.type.field(number).name for number in range(nodes.type.num_fields)]
        part = np.full(len(nodes), -1, np.int64)
        for number, field in enumerate(fields):
            part[np.asarray(field.is_valid())] = number
        for begins, way in _ways(len(nodes), edges, part >= 0):
            count = len(begins) - 1
            columns = [batch.column(name).take(pa.array(np.full(count, row))) for name in self.carried]
            columns += [_column(field, number, part[way], begins, way) for number, field in enumerate(fields)]
            yield pa.RecordBatch.from_arrays(columns, [*self.carried, *names])


def _ways(nodes: int, edges: pa.Array, is_event: Bools) -> Iterator[tuple[Ints, Ints]]:
    """Where each way begins, and the nodes of all; some ways at a time."""
    source, target = (np.asarray(ends).astype(np.int64) for ends in edges.flatten())
    order = np.argsort(target, kind="stable")
    first = np.append(0, np.cumsum(np.bincount(target, minlength=nodes)))
    room = len(edges) + 1
    walk = Walk(np.zeros(room, np.int64), np.zeros(room, np.int64), np.zeros(nodes, np.int64), np.ones(1, np.int64))
    walk.todo_node[0] = nodes - 1
    begins, way = np.empty(_WAYS + 1, np.int64), np.empty(max(_NODES, nodes), np.int64)
    while walk.left[0]:
        count = list_ways(first, source[order], is_event, walk, begins, way)
        yield begins[: count + 1], way[: begins[count]]


def _column(field: pa.Array, number: int, part: Ints, begins: Ints, way: Ints) -> pa.Array:
    """The events of one variable: one for each match, or a list if it is repeated."""
    mine = part == number
    if not pa.types.is_list(field.type):
        return field.take(pa.array(way[mine]))
    offsets = np.append(0, np.cumsum(mine))[begins]
    # The list of a node has one event.
    events = field.take(pa.array(way[mine])).flatten()
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), events)
