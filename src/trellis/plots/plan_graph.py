"""The plan of many patterns in plain values: nodes, and which is a part of which."""

from __future__ import annotations

from dataclasses import dataclass

from trellis.errors import BindingError

__all__ = ["PlanGraph", "PlanNode"]


@dataclass(frozen=True, slots=True)
class PlanNode:
    """A sub-pattern, in short and in full, and how many instances it is thought to have (`estimate`), or had (`found`).

    `patterns` use it, and of these it gives `results` their matches.
    """

    label: str
    text: str
    patterns: tuple[str, ...]
    results: tuple[str, ...]
    estimate: float
    found: int | None = None

    @property
    def instances(self) -> float:
        """How many it had, or is thought to have: a number that can be drawn."""
        return min(self.estimate if self.found is None else float(self.found), 1e300)


@dataclass(frozen=True, slots=True)
class PlanGraph:
    """The plan of many patterns. `edges` lead from a part to a node that is made of it, which stands behind it.

    `absences` are the nodes of which patterns want no instance.
    """

    nodes: tuple[PlanNode, ...]
    edges: tuple[tuple[int, int], ...]
    absences: tuple[tuple[int, str], ...] = ()

    def __post_init__(self) -> None:
        for part, node in self.edges:
            if not 0 <= part < node < len(self.nodes):
                raise BindingError(
                    f"In a plan of {len(self.nodes)} nodes, node {node} cannot be made of node {part}.",
                    cure="Number nodes from 0, each behind those that it is made of.",
                )

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns, in the order of the nodes that give them their matches."""
        return tuple(dict.fromkeys(name for node in self.nodes for name in node.results))
