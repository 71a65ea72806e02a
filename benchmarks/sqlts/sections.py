"""What the paper measures, and what it costs on Spark, section by section."""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path
from statistics import median
from unittest import mock

import trellis as tr
from benchmarks.pages import Bar, table
from benchmarks.sections import Section
from benchmarks.sessions import noop
from benchmarks.sqlts.patterns import SHAPES, clause_of, query_of, walk
from benchmarks.sqlts.searches import Bench, Search, naive
from benchmarks.timing import in_turns
from trellis.algebra.automaton import AutomatonScan, SkipSpec
from trellis.languages.statement import parse_statement
from trellis.planning import rules
from trellis.planning.rows.skip_search import plan_skips

# The engine without Spark, and the paper's queries, are those of the tests.
sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

import local
from sqlts_examples import double_bottom

__all__ = ["compilation", "double_bottoms", "kernels", "longer", "results", "spark"]

_SCHEMA = [("k", "int"), ("date", "int"), ("price", "double")]
_PAPER = (93, 800)
_PERCENTS = (2, 3, 4, 5, 6)
_ALL_YEARS = (1885, 2019)
_WINDOWS = tuple((first, first + 24) for first in range(1972, 1982))


def results(bench: Bench) -> Section:
    """Whether skipping, trying every row and the automaton give the same."""
    patterns = 3_000 if bench.scale == 1 else 20
    wrong = matches = 0
    chance = random.Random(1)
    for number in range(patterns):
        length = chance.randint(2, 9)
        shape = "".join(chance.choice("CDU") for _ in range(length))
        stars = [chance.random() < 0.6 for _ in shape]
        text = _starred(query_of(shape, chance.choice((0.5, 1, 2))), stars)
        query = parse_statement(text).clauses[0].query
        rows = walk(1, 400, seed=number).to_pylist()
        found = [
            [(row["first"], row["last"]) for row in local.run(query, rows, _SCHEMA, **options)]
            for options in ({}, {"off": ("skip_search",)}, {"search": "backtrack", "off": ("merge_states",)})
        ]
        wrong += found[0] != found[1] or found[0] != found[2]
        matches += len(found[0])
    for name, search in _searches(bench).items():
        assert search.scan.skips is not None, name
        skipped, tried = search.tested(search.scan.skips), search.tested(naive(search.scan.skips))
        wrong += not skipped.matches == tried.matches == search.tested(None).matches
        matches += len(skipped.matches)
    bar = Bar("queries whose searches differ", "0", str(wrong), wrong == 0)
    body = (
        f"{patterns:,} random patterns of two to nine elements, with and without stars, on as many walks of 400 rows: "
        "by skipping, and by the automaton with and without memory of failed states. All queries of the next two "
        f"sections: by skipping, trying every row, and by the automaton. {matches:,} matches in all. `make test` "
        "compares with the definition, too, and all examples of the paper."
    )
    return Section("results", "Results", body, (bar,))


def double_bottoms(bench: Bench) -> Section:
    """Example 6.1 on the Dow Jones average."""
    rows = []
    ratios: dict[tuple[int, str], float] = {}
    for first, last in (*_WINDOWS, _ALL_YEARS):
        for element in ("X", "*X"):
            search = bench.search(double_bottom(element), bench.djia(first, last))
            assert search.scan.skips is not None
            tried, skipped = search.tested(naive(search.scan.skips)), search.tested(search.scan.skips)
            ratio = ratios[first, element] = tried.tests / max(1, skipped.tests)
            rows.append(
                (
                    f"{first}–{last}",
                    f"`{element}`",
                    f"{search.rows:,}",
                    len(skipped.matches),
                    f"{tried.tests:,}",
                    f"{skipped.tests:,}",
                    f"{ratio:.1f}",
                )
            )
    least = min(ratios[first, "*X"] for first, _ in _WINDOWS)
    printed = ratios[1977, "X"]
    bars = (
        Bar(
            "example 6.1 with a star at its first element, the least of ten spans of 25 years",
            *("≥ 93", f"{least:.1f}", least >= _PAPER[0], "93"),
        ),
        Bar("example 6.1 as printed, 1977–2001", "≥ 93", f"{printed:.2f}", printed >= _PAPER[0], "93"),
    )
    head = ("years", "first element", "rows", "matches", "tests, every row", "tests, skipping", "ratio")
    return Section("double_bottoms", "The relaxed double bottom", table(head, rows), bars)


def longer(bench: Bench) -> Section:
    """Patterns that begin with a calm, in 25 years."""
    rows, best = [], 0.0
    for name, search in _searches(bench).items():
        assert search.scan.skips is not None
        tried, skipped = search.tested(naive(search.scan.skips)), search.tested(search.scan.skips)
        ratio = tried.tests / max(1, skipped.tests)
        best = max(best, ratio)
        rows.append(
            (
                f"`{name[0]}`",
                f"{name[1]} %",
                len(skipped.matches),
                f"{tried.tests:,}",
                f"{skipped.tests:,}",
                f"{ratio:.0f}",
            )
        )
    bar = Bar(
        "best of the longer patterns, tests by trying every row over tests by skipping",
        "≥ 800",
        f"{best:.0f}",
        best >= _PAPER[1],
        "800",
    )
    head = ("pattern", "calm within", "matches", "tests, every row", "tests, skipping", "ratio")
    return Section("longer", "Longer patterns", table(head, rows), (bar,))


def kernels(bench: Bench) -> Section:
    """The time of the search itself, in millions of rows."""
    rows, worst = [], float("inf")
    series = 1_000
    prices = bench.walks(series, max(10, bench.size(10_000_000) // series))
    for shape, percent in (("CDCUCDCU", 2), ("CDCUCDCU", 3), ("CUCDC", 1)):
        search = bench.search(query_of(shape, percent, clusters=True), prices)
        greedy = bench.search(clause_of(shape, percent), prices, off=("skip_search",))
        assert search.scan.skips is not None
        jobs = {
            "skipping": search.kernel(search.scan.skips),
            "automaton": search.kernel(None),
            "table": greedy.kernel(None),
        }
        rounds: dict[str, list[float]] = {name: [] for name in jobs}
        whole = in_turns(jobs, bench.repeats, tell=False)
        for _ in range(bench.repeats):
            for name, job in jobs.items():
                rounds[name].append(job())
        seconds = {name: median(times) for name, times in rounds.items()}
        tests = search.tested(search.scan.skips).tests
        worst = min(worst, seconds["automaton"] / seconds["skipping"], seconds["table"] / seconds["skipping"])
        rows.append(
            (
                f"`{shape}`, {percent} %",
                f"{tests / search.rows:.2f}",
                *(f"{seconds[name]:.3f}" for name in jobs),
                f"{seconds['automaton'] / seconds['skipping']:.1f}",
                f"{seconds['table'] / seconds['skipping']:.1f}",
                f"{whole.median('table') / whole.median('skipping'):.2f}",
            )
        )
    bar = Bar("kernel time, automaton over skipping, least of all", "≥ 3", f"{worst:.1f}", worst >= 3)
    head = (
        "pattern",
        "tests for a row",
        "skipping, s",
        "automaton, s",
        "table, s",
        "automaton / skipping",
        "table / skipping",
        "with loading and conditions: table / skipping",
    )
    body = (
        f"{search.rows:,} rows in {series:,} series; the automaton goes back, the table is that of the same pattern in "
        "MATCH_RECOGNIZE."
    )
    return Section("kernels", "Kernels", f"{body}\n\n{table(head, rows)}", (bar,))


def compilation(bench: Bench) -> Section:
    """How long the tables of nine elements take."""
    seconds: list[float] = []

    def timed(*args: object) -> SkipSpec | None:
        began = time.perf_counter()
        found = plan_skips(*args)  # type: ignore[arg-type]
        seconds.append(time.perf_counter() - began)
        return found

    query = parse_statement(double_bottom("*X")).clauses[0].query
    whole: list[float] = []
    with mock.patch.object(rules, "plan_skips", timed):
        for _ in range(20):
            began = time.perf_counter()
            scan = local.plan_clause(query, _SCHEMA).scan
            whole.append(time.perf_counter() - began)
    assert isinstance(scan, AutomatonScan) and scan.skips is not None
    best = median(seconds) * 1000
    bar = Bar.at_most("tables of a pattern of nine elements", 20, best, " ms")
    body = (
        f"Median of {len(seconds)}: {best:.1f} ms for the tables of example 6.1, of {median(whole) * 1000:.1f} ms for "
        "the whole plan without Spark."
    )
    return Section("compilation", "Compilation", body, (bar,))


def spark(bench: Bench) -> Section:
    """The same through Spark."""
    rows = []
    prices = bench.walks(1_000, max(10, bench.size(10_000_000) // 1_000))
    for shape, percent in (("CDCUCDCU", 2), ("CUCDC", 1)):
        text = query_of(shape, percent, clusters=True)

        def job(off: tuple[str, ...], text: str = text) -> None:
            noop(tr.sqlts(text, djia=prices, hints={"off": off, "statistics": "off"}))

        rounds = in_turns({"skipping": lambda: job(()), "automaton": lambda: job(("skip_search",))}, bench.repeats)
        rows.append(
            (
                f"`{shape}`, {percent} %",
                rounds.text("skipping"),
                rounds.text("automaton"),
                rounds.ratio("automaton", "skipping"),
            )
        )
    head = ("pattern", "skipping, s", "automaton, s", "automaton / skipping")
    return Section("spark", "Through Spark", table(head, rows))


def _searches(bench: Bench) -> dict[tuple[str, int], Search]:
    prices = bench.djia(1977, 2001)
    shapes, percents = (SHAPES, _PERCENTS) if bench.scale == 1 else (SHAPES[:2], _PERCENTS[:1])
    return {
        (shape, percent): bench.search(query_of(shape, percent), prices) for shape in shapes for percent in percents
    }


def _starred(text: str, stars: list[bool]) -> str:
    """The query with some of its stars alone; what is no star has no ends."""
    for number, star in enumerate(stars):
        if not star:
            for letter in "CDU":
                name = f"{letter}{number}"
                text = text.replace(f"*{name}", name).replace(f"FIRST({name})", name).replace(f"LAST({name})", name)
    return text
