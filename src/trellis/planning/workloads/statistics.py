"""What planning knows of the events of a workload: how often they come, and how often conditions hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from trellis.algebra.clauses import Condition, Part, Window

__all__ = ["Compared", "WorkloadStatistics", "compared"]

Compared = tuple[str, tuple[str, ...]]
"""A condition between parts: its template, and the labels of the parts in the places of `?0`, `?1`, ..."""

# Where nothing is known.
_RATE = 1.0
_EQUAL = 0.1
_OTHER = 0.5


@dataclass(frozen=True, slots=True)
class WorkloadStatistics:
    """Rates and selectivities.

    `rates` are events by unit of time (by microsecond where the time is no number), of a part with its tests by its
    label, or of all events of a type by its name. `selectivities` are the shares of pairs for which a condition holds.
    `keys` is the share of pairs that agree in a column, by its name. `event_rate` is that of all events, by which a
    window of events becomes one of time; `horizon` how long the stream is, which bounds what has no window.
    """

    rates: Mapping[str, float] = field(default_factory=dict)
    selectivities: Mapping[Compared, float] = field(default_factory=dict)
    keys: Mapping[str, float] = field(default_factory=dict)
    event_rate: float = 1.0
    horizon: float = 1e6

    def rate(self, part: Part) -> float:
        """How many events a part takes in a unit of time; of a repeated one, how many may be in its sets."""
        known = self.rates.get(part.label)
        if known is not None:
            return known
        share = 1.0
        for test in part.tests:
            share *= self.selectivity((test.template, ()))
        return share * sum(self.rates.get(name, _RATE) for name in part.types)

    def selectivity(self, condition: Compared) -> float:
        """How often a condition holds."""
        known = self.selectivities.get(condition)
        return known if known is not None else _EQUAL if " = " in condition[0] else _OTHER

    def agreement(self, column: str) -> float:
        """How often two events agree in a column."""
        return self.keys.get(column, _EQUAL)

    def duration(self, window: Window) -> float:
        """A window in units of time."""
        size = window.size
        if size is None:
            return self.horizon
        return size / self.event_rate if window.scale == "events" else size

    def of_share(self, share: float) -> WorkloadStatistics:
        """The statistics of all events, if these were seen of a share of them, taken at random."""
        if share == 1.0:
            return self
        rates = {label: rate / share for label, rate in self.rates.items()}
        return replace(self, rates=rates, event_rate=self.event_rate / share)


def compared(condition: Condition, labels: Mapping[str, str]) -> Compared:
    """A condition with the labels of its variables."""
    return condition.template, tuple(labels[variable] for variable in condition.variables)
