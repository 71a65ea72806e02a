"""Events in a CPU second on two small streams, of which figures of OpenCEP are known."""

from __future__ import annotations

from benchmarks.options import is_quick
from benchmarks.pages import Bar, table
from benchmarks.sections import Section
from benchmarks.workloads.measures import Bench, searches
from benchmarks.workloads.patterns import Recipe, draw_patterns
from benchmarks.workloads.searches import Workload
from benchmarks.workloads.streams import Stream, made_up_stream, nasdaq_stream

__all__ = ["opencep"]

_ALL = float("inf")
_OF_OPENCEP = {"seven tickers": "28–48", "forty tickers": "461–2,143"}
_AIM = {"seven tickers": 4_800, "forty tickers": 214_300}


def opencep(bench: Bench) -> Section:
    """A hundred sequences of three to five tickers."""
    patterns = bench.some((100,))[0]
    rows, bars = [], []
    for name, stream in _streams(bench).items():
        recipe = Recipe(
            patterns,
            size=4,
            types=len(stream.counts),
            skew=0.0 if name == "seven tickers" else 1.0,
            most_matches=_ALL,
            plain=True,
        )
        drawn = draw_patterns(stream, recipe, 0)
        workload = Workload(stream, [next(drawn) for _ in range(patterns)])
        measured = bench.measured(workload, searches("none", "annealing"))
        rates = {plan: measured.events / seconds for plan, seconds in measured.seconds.items()}
        rate, aim = rates["annealing"], _AIM[name]
        bars.append(
            Bar(f"{name}: events in a CPU second", f"≥ {aim:,}", f"{rate:,.0f}", rate >= aim, _OF_OPENCEP[name])
        )
        rows.append(
            (
                name,
                f"{measured.events:,}",
                f"{measured.matches:,}",
                *(f"{rates[plan]:,.0f}" for plan in ("none", "annealing")),
                _OF_OPENCEP[name],
            )
        )
    head = ("stream", "events", "matches", "as written, events/s", "annealing, events/s", "OpenCEP, events/s")
    return Section("opencep", "Beside OpenCEP", table(head, rows), tuple(bars))


def _streams(bench: Bench) -> dict[str, Stream]:
    minutes = 12 if is_quick() else 36
    seven = made_up_stream("seven", 7, 1.0, minutes, 3) if is_quick() else nasdaq_stream(bench.data, minutes)
    return {"seven tickers": seven, "forty tickers": made_up_stream("forty", 40, 0.15, 240, 4)}
