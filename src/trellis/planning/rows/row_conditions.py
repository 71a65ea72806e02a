"""The conditions of a row pattern as the matcher tests them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trellis.algebra.automaton import AggregateSpec, Condition, Register, Sets
from trellis.algebra.place import Place
from trellis.algebra.scan import ProgramSpec
from trellis.planning.expressions.slots import SlotTable

__all__ = ["RowConditions"]


@dataclass(frozen=True, slots=True)
class RowConditions:
    """The conditions of a query, with the slots, programs, places and aggregates that they read.

    `sets` are the sets of variables whose rows a kernel must remember, `reads` the registers of those conditions that
    look at the match.
    """

    conditions: tuple[Condition, ...]
    slots: SlotTable
    program: ProgramSpec
    places: tuple[Place, ...]
    aggregates: tuple[AggregateSpec, ...]
    sets: Sets
    reads: Mapping[str, frozenset[Register]]

    @property
    def look_at_rows_only(self) -> bool:
        """Whether no condition depends on the match so far."""
        return all(condition.where != "kernel" for condition in self.conditions)
