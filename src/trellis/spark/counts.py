"""What a query that ran really did: rows in, matches and rows out, observed by Spark on the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

__all__ = ["Counts", "run_counted"]


@dataclass(slots=True)
class Counts:
    """Observations of one run; `str()` after the run. `frame` is the last DataFrame that is watched.

    `ties` is a DataFrame of one number, of the rows that are equal to others in keys and order.
    """

    observed: list[tuple[str, Observation]] = field(default_factory=list)
    frame: DataFrame | None = None
    ties: DataFrame | None = None
    tied: int = 0

    def count_ties(self, keys: DataFrame) -> None:
        """Count rows that are not alone with their values, in a job of its own: no sort would show them together."""
        rows = keys.groupBy(*keys.columns).agg(F.count(F.lit(1)).alias("n")).where("n > 1")
        self.ties = rows.agg(F.coalesce(F.sum("n"), F.lit(0)))

    def watch(self, frame: DataFrame, what: str, value: Column | None = None) -> DataFrame:
        """The same DataFrame, whose rows (or the rows where `value` is true) are counted when it runs."""
        observation = Observation()
        self.observed.append((what, observation))
        counted = F.count(F.lit(1)) if value is None else F.count_if(value)
        self.frame = frame.observe(observation, counted.alias("n"))
        return self.frame

    def __str__(self) -> str:
        numbers = [(what, observation.get["n"]) for what, observation in self.observed]
        lines = [*numbers[:1], *([] if self.ties is None else [("tied rows", self.tied)]), *numbers[1:]]
        return "\n".join(f"{what:<14} {number:>14,}" for what, number in lines)


def run_counted(frame: DataFrame, counts: Iterable[Counts]) -> None:
    """Run a DataFrame for its counts alone; its rows are thrown away."""
    counts = list(counts)
    for watched in counts:
        if watched.ties is not None:
            watched.tied = int(watched.ties.collect()[0][0])
    if "connect" not in type(frame).__module__:
        frame.write.format("noop").mode("overwrite").save()
        return
    # Spark Connect brings no observations back from inside a statement: what is watched runs by itself.
    for watched in counts:
        if watched.frame is not None:
            watched.frame.count()
