"""What a query that ran really did: rows in, matches and rows out, observed by Spark on the way."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

__all__ = ["Counts"]


@dataclass(slots=True)
class Counts:
    """Observations of one run; `str()` after the run."""

    observed: list[tuple[str, Observation]] = field(default_factory=list)

    def watch(self, frame: DataFrame, what: str, value: Column | None = None) -> DataFrame:
        """The same DataFrame, whose rows (or the rows where `value` is true) are counted when it runs."""
        observation = Observation()
        self.observed.append((what, observation))
        counted = F.count(F.lit(1)) if value is None else F.count_if(value)
        return frame.observe(observation, counted.alias("n"))

    def __str__(self) -> str:
        return "\n".join(f"{what:<14} {observation.get['n']:>14,}" for what, observation in self.observed)
