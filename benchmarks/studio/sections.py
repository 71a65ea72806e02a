"""From a keystroke to its error, and from Ctrl-Enter to the picture."""

from __future__ import annotations

from statistics import median

from benchmarks.pages import Bar, percentile, table
from benchmarks.sections import Section
from benchmarks.studio.page import Bench
from benchmarks.studio.queries import QUERIES
from benchmarks.timing import say

__all__ = ["running", "typing"]

_TO_ERROR, _TO_PICTURE = 0.3, 2.0
_KEYSTROKES = 5


def typing(bench: Bench) -> Section:
    """How long it takes from the keystroke that makes a query wrong until its error is seen."""
    rows, everything = [], []
    with bench.opened() as studio:
        for asked in QUERIES:
            at = asked.text.index(asked.spoilt) + len(asked.spoilt)
            took = []
            for _ in range(1 + bench.repeats * _KEYSTROKES):
                studio.write(asked.text)
                took.append(studio.mistake(at))
            took = took[1:]
            everything += [one["seen"] for one in took]
            parts = [f"{1000 * median(one[name] for one in took):.0f}" for name in ("seen", "waited", "checked")]
            longest = max(one["seen"] for one in took)
            say(f"  {asked.name}: {' '.join(parts)} ms")
            rows.append((asked.name, asked.mistake, *parts, f"{1000 * longest:.0f}"))
    worst = percentile(everything, 95)
    head = ("query", "mistake", "to the error, ms", "until it is asked", "until it is answered", "longest")
    told = f"Medians of {bench.repeats * _KEYSTROKES} keystrokes each, after one that is not timed."
    bar = Bar.at_most("keystroke to error shown, 95 % of all keystrokes", _TO_ERROR, worst, " s")
    return Section("typing", "From a keystroke to its error", f"{table(head, rows)}\n{told}", (bar,))


def running(bench: Bench) -> Section:
    """How long it takes from Ctrl-Enter until the picture is seen, on a sample."""
    rows, medians = [], []
    with bench.opened() as studio:
        for asked in QUERIES:
            studio.write(asked.text)
            if asked.name.startswith("events"):
                studio.page.select_option("#events", "ticks")
                studio.page.wait_for_function("() => document.querySelector('#events').value === 'ticks'")
            first = studio.run()["seen"]
            took = [studio.run() for _ in range(1 + bench.repeats)][1:]
            seen = [one["seen"] for one in took]
            medians.append(median(seen))
            parts = [median(one[name] for one in took) for name in ("rows", "picture")]
            shown = [f"{value:.2f}" for value in (median(seen), *parts, max(seen), first)]
            say(f"  {asked.name}: {' '.join(shown)} s; {studio.told}")
            rows.append((asked.name, studio.matches, *shown))
    head = (
        "query",
        "rows found",
        "to the picture, s",
        "rows at the server",
        "picture at the server",
        "longest",
        "the very first",
    )
    whole = f"{bench.series * bench.length:,}"
    told = (
        f"Medians of {bench.repeats} runs each, on a sample of {bench.sample:,} rows: whole series out of {whole} rows."
    )
    what = f"query on a {bench.sample:,}-row sample to picture, the slowest query"
    bar = Bar.at_most(what, _TO_PICTURE, max(medians), " s")
    return Section("running", "From Ctrl-Enter to the picture", f"{table(head, rows)}\n{told}", (bar,))
