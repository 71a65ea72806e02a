"""The edges of an event pattern, at which its conditions are tested.

A component has up to three edges: `begin` takes its first event, `take` one more (of a repeated one), `proceed` leaves
it. In the tests of an edge the event under test is the current row, and everything else was taken before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

__all__ = ["Edge", "EdgeKind"]


class EdgeKind(IntEnum):
    """In the order in which the events of a component become known."""

    BEGIN = 0
    TAKE = 1
    PROCEED = 2
    ABSENT = 3


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge of a component; its text is the name of its test."""

    variable: str
    kind: EdgeKind

    def __str__(self) -> str:
        return {
            EdgeKind.BEGIN: self.variable,
            EdgeKind.TAKE: f"{self.variable}[i]",
            EdgeKind.PROCEED: f"{self.variable}[LEN]",
            EdgeKind.ABSENT: f"~{self.variable}",
        }[self.kind]
