"""The ways through a graph of matches, one after the other."""

from __future__ import annotations

from typing import NamedTuple

from trellis.kernels.arrays import Bools, Ints
from trellis.kernels.compile import kernel

__all__ = ["Walk", "list_ways"]


class Walk(NamedTuple):
    """Where a walk through a graph stands: what is still to be tried, and the nodes from the end to here.

    `left[0]` is how many nodes are to be tried.
    """

    todo_node: Ints
    todo_depth: Ints
    path: Ints
    left: Ints


@kernel
def list_ways(first: Ints, before: Ints, is_event: Bools, walk: Walk, begins: Ints, nodes: Ints) -> int:
    """Write down ways to the last node as long as there is room, go on from where the walk stands; how many.

    The nodes that may stand before node `n` are `before[first[n]:first[n + 1]]`; a way begins where there are none.
    Way `k` is `nodes[begins[k]:begins[k + 1]]`, without the choices.
    """
    count, used = 0, 0
    begins[0] = 0
    todo = walk.left[0]
    while todo > 0:
        todo -= 1
        node, depth = walk.todo_node[todo], walk.todo_depth[todo]
        while True:
            at = depth
            if is_event[node]:
                walk.path[depth] = node
                depth += 1
            if first[node] == first[node + 1]:
                if count + 1 >= len(begins) or used + depth > len(nodes):
                    walk.todo_node[todo], walk.todo_depth[todo] = node, at
                    walk.left[0] = todo + 1
                    return count
                for k in range(depth):
                    nodes[used + k] = walk.path[depth - 1 - k]
                count += 1
                used += depth
                begins[count] = used
                break
            for k in range(first[node + 1] - 1, first[node], -1):
                walk.todo_node[todo], walk.todo_depth[todo] = before[k], depth
                todo += 1
            node = before[first[node]]
    walk.left[0] = 0
    return count
