"""Which row of a series a value is read from."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Place"]


@dataclass(frozen=True, slots=True)
class Place:
    """Which row of the series a value is read from.

    Among the rows of the match that carry one of `variables` (None: any), the one `offset` steps from the first
    (`from_first`) or back from the last; then `shift` rows on (or back, if negative) in the series. Running sees
    the match up to the current row, `final` sees all of it. `numbered` is another row: the one whose number in its
    series, from 1, is that of the match.
    """

    variables: frozenset[str] | None = None
    from_first: bool = False
    offset: int = 0
    shift: int = 0
    final: bool = False
    numbered: bool = False

    def __str__(self) -> str:
        if self.numbered:
            return "MATCH_NUMBER"
        rows = "row" if self.variables is None else "|".join(sorted(self.variables))
        text = f"{'FIRST' if self.from_first else 'LAST'}({rows}{f', {self.offset}' if self.offset else ''})"
        if self == Place(shift=self.shift):
            text = "CURRENT"
        elif self.final:
            text = f"FINAL {text}"
        return f"{text}{f' {self.shift:+d}' if self.shift else ''}"
