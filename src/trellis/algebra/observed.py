"""What was seen of the events of a workload: plain numbers, for statistics."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Observed"]


@dataclass(frozen=True, slots=True)
class Observed:
    """Of some rows (`rows`), in the order of a `SampleSpec`: what fits each leaf, and how often tests of pairs hold.

    `reaches` has for each window how many events, on average, it holds behind the one that it begins with; `counts` the
    rows of each leaf; `tried` and `held` the pairs that were looked at, and those of them for which the test holds.
    """

    rows: int
    reaches: tuple[float, ...]
    counts: tuple[int, ...]
    tried: tuple[float, ...]
    held: tuple[float, ...]

    def after(self, earlier: Observed, memory: float) -> Observed:
        """The same with what was seen before of pairs, of which few are looked at; `memory` is how much that counts."""
        return Observed(
            self.rows,
            self.reaches,
            self.counts,
            tuple(new + memory * old for new, old in zip(self.tried, earlier.tried, strict=True)),
            tuple(new + memory * old for new, old in zip(self.held, earlier.held, strict=True)),
        )
