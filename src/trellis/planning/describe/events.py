"""The search for events as text."""

from __future__ import annotations

from trellis.algebra.event_scan import EventResult, EventScan, EventSearch

__all__ = ["search", "summary"]

_SEARCHES = {
    EventSearch.MERGED: "runs that later conditions cannot tell apart are one",
    EventSearch.APART: "each run by itself",
    EventSearch.ONE_AT_A_TIME: "one run after the other",
}

_RESULTS = {
    EventResult.MATCHES: "all matches",
    EventResult.COUNTS: "the number of matches that end at each event",
    EventResult.GRAPHS: "the graph of all matches that end at each event",
    EventResult.NOTHING: "no matches",
}


def summary(scan: EventScan) -> str:
    """How large the automaton is, and what it is asked for."""
    states = len(scan.parts) + sum(part.repeated for part in scan.parts) + 1
    wanted = "matches that do not overlap" if scan.non_overlapping else _RESULTS[scan.result]
    if scan.timeouts:
        wanted += " and those that timed out"
    return (
        f"{states} states, {len(scan.variables)} variables, {len(scan.slots)} slots, {scan.selection.value}, {wanted}"
    )


def search(scan: EventScan) -> list[str]:
    """How runs are kept, and what they remember."""
    why = ", since each has a window that closes" if scan.timeouts else ""
    lines = [f"search: {_SEARCHES[scan.search]}{why}"]
    for number, part in enumerate(scan.parts):
        for inside in range(1 + part.repeated):
            kept = sum(2 * number + inside in word.states for word in scan.words)
            if kept and scan.search is EventSearch.MERGED:
                where = f"inside {scan.variables[number]}" if inside else f"before {scan.variables[number]}"
                lines.append(f"{where} a run remembers {kept} value{'s' if kept > 1 else ''}")
    lines.append(f"step budget {scan.budget:,} for each series")
    return lines
