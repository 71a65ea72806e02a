"""How far partial matches come, as a plan: the elements of a pattern, and what is tested at each. Plain values."""

from __future__ import annotations

from dataclasses import dataclass

from trellis.algebra.automaton import AutomatonScan, Instruction, Merge

__all__ = ["Element", "PartialScan", "Test"]


@dataclass(frozen=True, slots=True)
class Element:
    """A place in a pattern that takes rows of a variable; `checks`: it takes none, but tests the match so far.

    `text` is what is written there. What is repeated a fixed number of times is several elements: this is the `nth`.
    """

    variable: int
    text: str
    checks: bool = False
    nth: int = 0

    def __str__(self) -> str:
        return f"{self.text} #{self.nth}" if self.nth else self.text


@dataclass(frozen=True, slots=True)
class Test:
    """A part of the condition of a variable, as it is tested; those before it hold then.

    `part` is its number in the condition as it is written, `condition` that among the conditions of the search.
    `local`: it looks at a row and its neighbours only.
    """

    text: str
    part: int
    condition: int
    local: bool


@dataclass(frozen=True, slots=True)
class PartialScan:
    """What a worker needs to follow all partial matches.

    `scan` is the search itself: its conditions are those of the variables, then those of all tests. The `instructions`
    are those of its pattern with an element in the place of each variable, `merges` and `key_width` as there.
    `missing` says for each instruction how many rows a match needs at least from there on. `shown` are the columns that
    are shown of rows: names, and what workers call them; `keys` those of the series.

    So many of the `nearest` misses are told. No start is followed for more than `start_steps`, no chunk for more than
    `row_steps` for each of its rows.
    """

    scan: AutomatonScan
    elements: tuple[Element, ...]
    tests: tuple[tuple[Test, ...], ...]
    instructions: tuple[Instruction, ...]
    backward: tuple[int, ...]
    merges: tuple[Merge, ...]
    key_width: int
    missing: tuple[int, ...]
    shown: tuple[tuple[str, str], ...]
    keys: tuple[tuple[str, str], ...]
    nearest: int
    start_steps: int
    row_steps: int
