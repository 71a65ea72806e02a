"""What the paper measures, section by section."""

from __future__ import annotations

import time
from functools import partial

from pyspark.sql import Window
from pyspark.sql import functions as F

import trellis as tr
from benchmarks.events.runs import runs_at_a_time
from benchmarks.events.searches import Bench, Search
from benchmarks.events.stream import ALL, AVG, EXTENDED, FINITE, MAX, MIN, P1, P2, Template
from benchmarks.events.truth import differences
from benchmarks.pages import Bar, table
from benchmarks.sections import Section
from benchmarks.sessions import noop
from benchmarks.timing import Job, Rounds, in_turns
from trellis.algebra.event_scan import EventResult, EventSearch

__all__ = ["backtracking", "growth", "merging", "results", "spark", "throughput"]

_WINDOWS = (500, 1_000, 1_500, 2_000)
_LENGTHS = {"p1 s2": "250", "p1 s3": "250", "p2 s2": "4.5", "p2 s3": "140", "p3 min s2": "250", "p3 min s3": "250"}
_GAINS = {"p1 s3": "1.5", "p2 s3": "1.4", "p3 min s3": "1.5"}
_RATE = 1.1
_FEW_WINDOWS = 5
# Skip till next match is the more expensive strategy.
_NEXT = (P1, P2, MIN, MAX, AVG)


def results(bench: Bench) -> Section:
    """Whether everything gives the same: the definition on short streams, the searches each other on long ones."""
    wrong, compared = differences(40 if bench.scale == 1 else 2, 24, 10)
    rows = []
    unequal = 0
    for window in _WINDOWS:
        for template in FINITE:
            search = bench.search(template, window)
            merged, apart = search.found(EventSearch.MERGED), search.found(EventSearch.APART)
            # One run at a time holds all of its matches, to put them in order.
            few = bench.search(template, window, windows=_FEW_WINDOWS)
            alone = few.found(EventSearch.ONE_AT_A_TIME)
            unequal += merged != apart or alone != few.found(EventSearch.MERGED)
            rows.append(
                (template.name, f"{window:,}", f"{search.events:,}", f"{merged.matches:,}", f"{merged.length:.1f}")
            )
    bars = (
        Bar("queries on short streams that differ from the definition", "0", str(wrong), wrong == 0),
        Bar("queries on long streams whose three searches differ", "0", str(unequal), unequal == 0),
    )
    body = (
        f"Short streams: the definition of the tests against all three searches, all four strategies and five "
        f"predicates, {compared:,} matches. Long ones: merged against separate runs, match by match; one run at a time "
        f"against merged ones in the first {_FEW_WINDOWS} windows of each symbol. Skip till any match is not among "
        "them: a run may skip any event, so 500 events have up to 2^500 matches.\n\n"
        + table(("query", "window", "events", "matches", "mean length"), rows)
    )
    return Section("results", "Results", body, bars)


def throughput(bench: Bench) -> Section:
    """Events for each second of one core, all matches written."""
    rows, bars = [], []
    for template in ALL:
        search = bench.search(template, 500)
        rounds = _cpu(search, bench)
        matches, events = rounds.results["merged"]
        rate = search.events / rounds.best("merged") / 1e6
        bars.append(Bar(f"{template.name}: M events for each CPU second", f"≥ {_RATE}", f"{rate:.2f}", rate >= _RATE))
        rows.append(
            (
                template.name,
                f"{rate:.2f}",
                f"{search.events / rounds.best('alone') / 1e6:.2f}",
                f"{matches:,}",
                f"{events / max(1, matches):.1f}",
                _LENGTHS.get(template.name, "–"),
            )
        )
    head = ("query", "M events/s", "without writing matches", "matches", "mean length", "the paper's")
    body = (
        f"W = 500, merged runs, one thread, the best of {bench.repeats}: the time of conditions, search and matches as "
        f"arrays.\n\n{table(head, rows)}"
    )
    return Section("throughput", "Throughput of the kernel", body, tuple(bars))


def _cpu(search: Search, bench: Bench) -> Rounds[str]:
    jobs = {"merged": search.job(), "alone": search.job(result=EventResult.NOTHING)}
    return in_turns(jobs, bench.repeats, clock=time.process_time, tell=False)


def merging(bench: Bench) -> Section:
    """What merging runs gains, without writing matches."""
    rows, bars, live = [], [], []
    for template in _NEXT:
        gains = []
        name = template.name.removesuffix(" s3")
        alive = [runs_at_a_time(name, window, max(bench.size(60_000), 3 * window)) for window in _WINDOWS]
        live.append((template.name, *(f"{apart:.2f} / {merged:.2f} = {apart / merged:.2f}" for apart, merged in alive)))
        for window in _WINDOWS:
            search = bench.search(template, window)
            jobs = {
                "merged": search.job(result=EventResult.NOTHING),
                "apart": search.job(EventSearch.APART, EventResult.NOTHING),
            }
            rounds = in_turns(jobs, bench.repeats, clock=time.process_time, tell=False)
            gains.append(rounds.ratio("apart", "merged").value)
        rows.append((template.name, *(f"{gain:.2f}" for gain in gains), _GAINS.get(template.name, "–")))
        if template in (P1, P2, MIN):
            bars += [
                Bar(
                    f"{template.name}: merged over separate runs, W = {window:,}",
                    f"≥ {least}",
                    f"{gain:.2f}",
                    gain >= least,
                )
                for window, gain, least in ((500, gains[0], 1.4), (2_000, gains[-1], 2.0))
            ]
    body = "The search alone; how many times as long separate runs take.\n\n" + table(
        ("query", *(f"W = {window:,}" for window in _WINDOWS), "the paper's at 500, with matches"), rows
    )
    body += (
        "\n\nHow many runs there are at a time, separate and merged, counted by definition. About their ratio can be "
    )
    body += "gained, less what an event costs whatever runs there are.\n\n"
    body += table(("query", *(f"W = {window:,}" for window in _WINDOWS)), live)
    return Section("merging", "Merged runs", body, tuple(bars))


def backtracking(bench: Bench) -> Section:
    """One run after the other, all results."""
    rows, bars = [], []
    for template in (P1, P2, MIN, EXTENDED):
        search = bench.search(template, 500, windows=20)
        jobs = {"merged": search.job(), "one at a time": search.job(EventSearch.ONE_AT_A_TIME)}
        rounds = in_turns(jobs, bench.repeats, clock=time.process_time, tell=False)
        gain = rounds.ratio("one at a time", "merged")
        if template is P1:
            bars.append(
                Bar(
                    "p1 s3: merged over backtracking, all results",
                    "≥ 200",
                    f"{gain.value:.1f}",
                    gain.value >= 200,
                    "200–300",
                )
            )
        rows.append((template.name, rounds.text("merged"), rounds.text("one at a time"), gain))
    body = "All matches written.\n\n" + table(("query", "merged, s", "one run at a time, s", "ratio"), rows)
    return Section("backtracking", "Backtracking", body, tuple(bars))


def growth(bench: Bench) -> Section:
    """How the cost grows with what is given out."""
    rows, bars = [], []
    for template in _NEXT:
        costs = []
        for window in _WINDOWS:
            search = bench.search(template, window)
            rounds = _cpu(search, bench)
            _, events = rounds.results["merged"]
            costs.append((rounds.best("merged"), max(1, events)))
        first, *_, last = (seconds / events for seconds, events in costs)
        bars.append(
            Bar.at_most(f"{template.name}: time for an event of a match, W = 2,000 against W = 500", 1.2, last / first)
        )
        rows.append(
            (
                template.name,
                *(
                    f"{events / 1e6:,.1f} M in {seconds:.2f} s: {seconds / events * 1e9:.1f} ns"
                    for seconds, events in costs
                ),
            )
        )
    head = ("query", *(f"W = {window:,}" for window in _WINDOWS))
    body = (
        "The output complexity (the events of all matches), the time, and the time for each of them. Linear is what "
        "does not take longer for each of them as they become more; the search, a part of the time, counts for less "
        "then.\n\n"
    ) + table(head, rows)
    return Section("growth", "Cost against output", body, tuple(bars))


def spark(bench: Bench) -> Section:
    """Five million events through Spark, beside `lag`."""
    symbols, events = bench.size(1_000_000) // 1_000, bench.size(5_000_000)
    stream = bench.stream(symbols, events)
    returned = "a[1].time AS since, count(a[]) AS events, b.time AS until"

    def lag() -> None:
        window = Window.partitionBy("symbol").orderBy("time")
        noop(stream.select("symbol", "time", "price", "volume", F.lag("price").over(window).alias("before")))

    def query(template: Template) -> None:
        noop(tr.sase(template.text(500, returned), events=stream))

    jobs: dict[str, Job] = {"`lag`": lag, **{template.name: partial(query, template) for template in ALL}}
    rounds = in_turns(jobs, bench.repeats)
    bars = tuple(
        Bar.at_most(f"{template.name} through Spark, beside `lag`", 3, rounds.ratio(template.name, "`lag`").value)
        for template in ALL
    )
    counts = {template.name: tr.sase(template.text(500, returned), events=stream).count() for template in ALL}
    rows = [
        (
            name,
            rounds.text(name),
            "1" if name == "`lag`" else rounds.ratio(name, "`lag`"),
            f"{counts[name]:,}" if name in counts else "",
        )
        for name in rounds.times
    ]
    body = (
        f"{events:,} events of {symbols:,} symbols, W = 500, all matches with their first and last time and their "
        f"number of events.\n\n{table(('job', 'median s (min–max)', 'against `lag`', 'matches'), rows)}"
    )
    return Section("spark", "Through Spark", body, bars)
