"""Windows: how many rows a segment may have, and how much time it may take."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["TimeWindow", "Window"]


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A bound on the last less the first value of a slot, in microseconds; None is without bound."""

    slot: int
    least: int | None
    most: int | None

    def __str__(self) -> str:
        least, most = ("" if bound is None else _duration(bound) for bound in (self.least, self.most))
        return f"{least}..{most}"


@dataclass(frozen=True, slots=True)
class Window:
    """How many rows a segment may have, and how much time it may take."""

    least: int = 1
    most: int | None = None
    times: tuple[TimeWindow, ...] = ()

    def __str__(self) -> str:
        rows = f"{self.least}..{'' if self.most is None else self.most} rows"
        return ", ".join([rows, *map(str, self.times)])

    def __and__(self, other: Window) -> Window:
        times: dict[int, TimeWindow] = {}
        for time in (*self.times, *other.times):
            known = times.get(time.slot)
            times[time.slot] = time if known is None else _narrower(known, time)
        return Window(max(self.least, other.least), _least_of(self.most, other.most), tuple(times.values()))


def _narrower(one: TimeWindow, other: TimeWindow) -> TimeWindow:
    bounds = [bound for bound in (one.least, other.least) if bound is not None]
    return TimeWindow(one.slot, max(bounds, default=None), _least_of(one.most, other.most))


def _least_of(one: int | None, other: int | None) -> int | None:
    return min((bound for bound in (one, other) if bound is not None), default=None)


def _duration(micros: int) -> str:
    """Microseconds in the largest unit that needs no fraction."""
    for unit, size in (("d", 86_400_000_000), ("h", 3_600_000_000), ("min", 60_000_000)):
        if micros and micros % size == 0:
            return f"{micros // size} {unit}"
    return f"{micros / 1e6:g} s"
