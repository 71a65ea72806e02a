"""From what is seen of events to statistics: what the leaves and pairs stand for that are looked at."""

from __future__ import annotations

from dataclasses import dataclass

from trellis.algebra.clauses import Window
from trellis.algebra.observed import Observed
from trellis.algebra.workload_scan import SampleSpec
from trellis.planning.workloads.statistics import Compared, WorkloadStatistics

__all__ = ["Sample"]

# So many pairs are thought to have been seen before any is: they hold as often as is assumed where nothing is known.
_ASSUMED = 0.5
_LEAST = 1e-9


@dataclass(frozen=True, slots=True)
class Sample:
    """What is looked at (`spec`): leaves by the labels of parts, pairs by their conditions, then by columns of keys."""

    spec: SampleSpec
    labels: tuple[str, ...]
    conditions: tuple[Compared, ...]
    keys: tuple[str, ...]
    windows: tuple[Window, ...]

    def statistics(self, observed: Observed) -> WorkloadStatistics:
        """What planning knows after a look at the events."""
        if observed.rows == 0:
            return WorkloadStatistics()
        rate = self._event_rate(observed)
        unbounded = [
            reach for window, reach in zip(self.windows, observed.reaches, strict=False) if window.size is None
        ]
        shares = [(count + _ASSUMED) / (observed.rows + 1.0) for count in observed.counts]
        known = WorkloadStatistics()
        seen = list(zip(observed.tried, observed.held, strict=True))
        selectivities = {
            one: _share(*pair, known.selectivity(one)) for one, pair in zip(self.conditions, seen, strict=False)
        }
        agreements = {
            key: _share(*pair, known.agreement(key))
            for key, pair in zip(self.keys, seen[len(self.conditions) :], strict=True)
        }
        return WorkloadStatistics(
            # Behind the labels of parts stands one leaf for all events.
            rates={label: share * rate for label, share in zip(self.labels, shares, strict=False)},
            selectivities=selectivities,
            keys=agreements,
            event_rate=rate,
            horizon=max([_LEAST, *unbounded]) / rate,
        )

    def _event_rate(self, observed: Observed) -> float:
        """Events of one series in a unit of time, by the windows of time; where there is none, the unit is an event."""
        reached = size = 0.0
        for window, reach in zip(self.windows, observed.reaches, strict=False):
            if window.events is None and window.size is not None:
                reached += max(reach, 0.0)
                size += window.size
        if size <= 0.0:
            return 1.0
        # Where windows hold nothing but the event that they begin with, events are rare, but not known to be absent.
        return max(reached, 0.5 / observed.rows) / size


def _share(tried: float, held: float, assumed: float) -> float:
    return (held + _ASSUMED * assumed) / (tried + _ASSUMED)
