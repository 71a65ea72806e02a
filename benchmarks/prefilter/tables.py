"""The tables of the page on prefilters, one function for each section."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from statistics import median

from benchmarks.pages import code, number, percentile, section, table
from benchmarks.prefilter.figures import Case, Figures, Size, seconds
from benchmarks.prefilter.queries import DEFINITIONS, PATTERNS, alternatives, sequence, variables_of
from benchmarks.prefilter.records import AGAIN, CHOSEN, NONE

__all__ = [
    "SECTIONS",
    "TITLES",
    "Points",
    "core_seconds",
    "lost",
    "points",
    "selective",
    "single_rules",
]

TITLES = {"generated": "the generated table", "real": "the real sample"}

_PAPER_LOST = {"WithinDistrict": "21 · 13 · 0 %", "PartByBeat": "27 · 0 · 5.3 %", "DyGeoBox": "0 · 0 · 0 %"}


# Speed-ups.


def _speed(figures: Figures) -> str:
    parts = [
        "How many times as long a query takes without prefilter and row elimination as with the plan that costs "
        "choose: the same engine, slices included, planning included. One run each after a warm-up, in turns; where "
        "the chosen plan was slower by more than 1.1, medians of five runs each. *Slow-down*: the worst case of the "
        "chosen plan over no prefilter; below 1, no query is slower."
    ]
    for name in figures.tables("speed"):
        cases = figures.pairs("speed", name)
        if not cases:
            continue
        groups: list[tuple[str, list[Case]]] = [("**all**", cases)]
        groups += [(code(pattern), [case for case in cases if case.pattern == pattern]) for pattern in PATTERNS]
        groups += [(one, [case for case in cases if case.definition == one]) for one in DEFINITIONS]
        head = ("queries", "of", "median", "5th", "95th", "slow-down", "no prefilter, s", "chosen, s", "planning, s")
        parts += [
            f"On {TITLES[name]}, {figures.rows(name):,} rows:",
            table(head, [_speed_row(title, held) for title, held in groups if held]),
            _noise(cases),
            "![Speed-ups](prefilter_speedups.svg)" if name == figures.tables("speed")[0] else "",
            "Medians by pattern and definition:",
            table(("pattern", *DEFINITIONS), [_grid_row(pattern, cases) for pattern in PATTERNS]),
        ]
    return section("Speed-ups (the paper's figures 9 and 10)", *parts) if len(parts) > 1 else ""


def _speed_row(title: str, cases: list[Case]) -> Sequence[object]:
    ups = [case.speed_up for case in cases]
    return (
        title,
        len(cases),
        f"**{number(median(ups))}**",
        number(percentile(ups, 5)),
        number(percentile(ups, 95)),
        number(1 / min(ups)),
        seconds(cases, lambda case: case.seconds[NONE]),
        seconds(cases, lambda case: case.seconds[CHOSEN]),
        seconds(cases, lambda case: case.planning[CHOSEN]),
    )


def _noise(cases: list[Case]) -> str:
    """What the same measure says of two runs of one plan."""
    ratios = [case.ratio(NONE, AGAIN) for case in cases if case.has(AGAIN)]
    if not ratios:
        return ""
    return (
        f"How much of this is chance: two runs of one plan (no prefilter, {len(ratios)} queries) have ratios of "
        f"{number(median(ratios))} (median), {number(percentile(ratios, 5))} (5th) and "
        f"{number(percentile(ratios, 95))} (95th percentile)."
    )


def _grid_row(pattern: str, cases: list[Case]) -> Sequence[object]:
    row = [code(pattern)]
    for definition in DEFINITIONS:
        row.append(seconds((c for c in cases if (c.pattern, c.definition) == (pattern, definition)), _up))
    return row


def _up(case: Case) -> float:
    return case.speed_up


def _regressions(figures: Figures) -> str:
    parts = []
    for name in figures.tables("speed"):
        cases = figures.pairs("speed", name)
        slower = sorted((case for case in cases if case.speed_up < 1), key=_up)
        if not cases:
            continue
        parts.append(
            f"On {TITLES[name]} {len(slower)} of {len(cases)} queries are slower with the chosen plan, "
            f"{sum(case.speed_up < 1 / 1.15 for case in slower)} of them by more than 1.15."
        )
        rows = [
            (
                f"{code(case.pattern)} {case.definition}",
                number(case.seconds[NONE]),
                number(case.seconds[CHOSEN]),
                number(1 / case.speed_up),
                number(case.planning[CHOSEN] - case.planning[NONE]),
                case.plans[CHOSEN] or "none",
            )
            for case in slower[:10]
        ]
        head = ("query", "no prefilter, s", "chosen, s", "slow-down", "more planning, s", "chosen prefilter")
        parts.append(table(head, rows) if rows else "")
        if any(case.plans[CHOSEN] is None for case in slower[:10]):
            parts.append("Where no prefilter is chosen, both plans are the same, but for rows that are eliminated.")
    return section("Regressions", *parts) if parts else ""


def _groups(cases: list[Case]) -> list[tuple[str, list[Case]]]:
    """All cases, and those of each definition; empty groups are left out."""
    groups = [("all", cases), *((one, [case for case in cases if case.definition == one]) for one in DEFINITIONS)]
    return [(title, held) for title, held in groups if held]


def single_rules(figures: Figures, name: str) -> list[Case]:
    """The queries that ran with each rule alone."""
    wanted = (CHOSEN, NONE, "no rule", "elimination only", "prefilter only")
    return [case for case in figures.cases("speed", name) if case.has(*wanted)]


def _rules(figures: Figures) -> str:
    parts = [
        "Medians of speed-ups over the engine with none of the three rules: no prefilter, no row elimination, no "
        "slices. A part of the instances."
    ]
    for name in figures.tables("speed"):
        cases = single_rules(figures, name)
        rows = []
        for title, held in _groups(cases):
            kinds = (NONE, "elimination only", "prefilter only", CHOSEN)
            shown = [number(median(case.ratio("no rule", kind) for case in held)) for kind in kinds]
            rows.append((title, len(held), *shown, seconds(held, lambda case: case.seconds["no rule"])))
        head = ("queries", "of", "slices", "and elimination", "and prefilter", "all rules", "no rule, s")
        if rows:
            parts += [f"On {TITLES[name]}:", table(head, rows)]
    return section("What each rule is worth", *parts) if len(parts) > 1 else ""


def selective(figures: Figures, name: str) -> list[Case]:
    """The queries whose chosen plan leaves few rows, with the scan that ran beside them."""
    return [case for case in figures.cases("selective", name) if case.has(CHOSEN, "scan")]


def _selective(figures: Figures) -> str:
    parts = [
        "Queries of which less than 1 % of the rows reach the matcher, against a plain scan of the same columns that "
        "keeps the rows which fulfil the condition of any variable (`select(…).where(A or B or …)`, rows thrown away). "
        "Both in turns; medians of three runs."
    ]
    for name in figures.tables("selective"):
        cases = selective(figures, name)
        rows = []
        for title, held in _groups(cases):
            ratios = [case.ratio(CHOSEN, "scan") for case in held]
            bare = [(c.seconds[CHOSEN] - c.planning[CHOSEN]) / c.seconds["scan"] for c in held]
            rows.append(
                (
                    title,
                    len(held),
                    f"**{number(median(ratios))}**",
                    number(max(ratios)),
                    number(median(bare)),
                    seconds(held, lambda case: case.seconds[CHOSEN]),
                    seconds(held, lambda case: case.planning[CHOSEN]),
                    seconds(held, lambda case: case.seconds["scan"]),
                )
            )
        head = ("queries", "of", "ratio", "worst", "without planning", "query, s", "planning, s", "scan, s")
        if rows:
            parts += [f"On {TITLES[name]}:", table(head, rows)]
    return section("Selective queries against a filtered scan", *parts) if len(parts) > 1 else ""


# The choice of symbols, and the sizes it rests on.


def lost(case: Case, *, shared: bool = False) -> float:
    """The share of the best plan's speed-up that the chosen plan loses.

    `shared`: the chosen plan has the time of the forced run with the same plan, so that only the choice counts.
    """
    chosen = case.seconds[case.same_as_chosen if shared else CHOSEN]
    best = min(took for name, took in case.seconds.items() if not shared or name != CHOSEN)
    return max(0.0, 1 - best / chosen)


def _symbols(figures: Figures) -> str:
    parts = [
        "`(A Z* B Z* C)` with row elimination off, so that the choice matters: all sets of one to three symbols, in "
        "every form that applies, no prefilter, and what costs choose. Lost is the share of the best plan's speed-up; "
        "planning is in all times, and planning a forced set may be cheaper. *By choice alone* gives the chosen plan "
        "the time of the forced run with the same plan. The paper's figures are for Trino, SQL Server's column store "
        "and row store."
    ]
    for name in figures.tables("symbols"):
        cases = [case for case in figures.pairs("symbols", name) if len(case.seconds) > 2]
        rows = []
        for definition in DEFINITIONS:
            held = [case for case in cases if case.definition == definition]
            if held:
                gains = [case.seconds[NONE] / min(case.seconds.values()) for case in held]
                rows.append(
                    (
                        definition,
                        len(held),
                        f"**{median(map(lost, held)):.0%}**",
                        f"{max(map(lost, held)):.0%}",
                        f"{median(lost(case, shared=True) for case in held):.0%}",
                        number(median(map(_up, held))),
                        number(median(gains)),
                        _PAPER_LOST[definition],
                    )
                )
        head = ("definition", "of", "lost", "worst", "by choice alone", "chosen's speed-up", "best's", "paper: lost")
        if rows:
            parts += [f"On {TITLES[name]}:", table(head, rows), _set_table(cases)]
    return section("The best symbol set (the paper's table 2)", *parts) if len(parts) > 1 else ""


def _set_table(cases: list[Case]) -> str:
    """Which plans were best and which were chosen."""
    fastest = ((case, min(case.seconds.items(), key=itemgetter(1))[0]) for case in cases)
    best = Counter(case.same_as_chosen if name == CHOSEN else name for case, name in fastest)
    chosen = Counter(case.same_as_chosen for case in cases)
    names = sorted({name for case in cases for name in case.seconds} - {CHOSEN})
    rows = []
    for name in names:
        row: list[object] = [name]
        for definition in DEFINITIONS:
            took = [c.seconds[name] for c in cases if c.definition == definition and name in c.seconds]
            row.append(number(median(took)) if took else "")
        rows.append((*row, best[name] or "", chosen[name] or ""))
    return table(("plan", *(f"{definition}, s" for definition in DEFINITIONS), "best", "chosen"), rows)


def _sizes(figures: Figures) -> str:
    parts = [
        "The rows that a prefilter was estimated to leave against those that it left: the q-error is the larger of "
        "estimate / real and real / estimate. All sets and forms of `(A Z* B Z* C)`, and the chosen plans of all "
        "queries that have a prefilter."
    ]
    for name in figures.tables("sizes"):
        sizes = figures.sizes(name)
        groups: list[tuple[str, list[Size]]] = [("**all**", sizes)]
        groups += [("symbol sets", [size for size in sizes if size.of_set])]
        groups += [("chosen plans", [size for size in sizes if not size.of_set])]
        groups += [
            (definition, [size for size in sizes if size.definition == definition]) for definition in DEFINITIONS
        ]
        groups += [(form, [size for size in sizes if size.form == form]) for form in sorted({s.form for s in sizes})]
        rows = [
            (
                title,
                len(held),
                f"**{number(median(size.q_error for size in held))}**",
                number(percentile((size.q_error for size in held), 95)),
                number(median(max(size.estimate, 1) / max(size.rows, 1) for size in held)),
            )
            for title, held in groups
            if held
        ]
        if rows:
            head = ("prefilters", "of", "q-error, median", "95th", "estimate / real, median")
            parts += [f"On {TITLES[name]}:", table(head, rows), "![Estimated and real sizes](prefilter_sizes.svg)"]
    return section("Estimated sizes (the paper's figure 8a: median 1.93)", *parts) if len(parts) > 1 else ""


# Windows and lengths.

Points = dict[str, dict[int, list[Case]]]
"""For each family, the cases at each point of the axis."""


def points(figures: Figures, section: str, name: str) -> Points:
    """The cases of a plot."""
    found: Points = defaultdict(lambda: defaultdict(list))
    for case in figures.pairs(section, name):
        length = len(variables_of(case.pattern)) // (2 if "|" in case.pattern else 1)
        at = case.minutes // 60 if section == "windows" else length
        family = alternatives if "|" in case.pattern else sequence
        title = case.pattern if section == "windows" else f"{family(2)[:-1]} …)"
        found[title][at].append(case)
    return found


def _axis(kind: str, title: str, axis: str, text: str) -> Callable[[Figures], str]:
    def make(figures: Figures) -> str:
        parts = [text]
        for name in figures.tables(kind):
            rows = [
                (
                    code(family),
                    at,
                    len(cases),
                    seconds(cases, lambda case: case.seconds[NONE]),
                    seconds(cases, lambda case: case.seconds[CHOSEN]),
                    number(_middle(cases, NONE) / _middle(cases, CHOSEN)),
                    number(max(1 / case.speed_up for case in cases)),
                )
                for family, held in points(figures, kind, name).items()
                for at, cases in sorted(held.items())
            ]
            if rows:
                head = ("pattern", axis, "of", "no prefilter, s", "chosen, s", "ratio", "worst slow-down of one query")
                parts += [f"On {TITLES[name]}:", f"![{title}](prefilter_{kind}.svg)", table(head, rows)]
        return section(title, *parts) if len(parts) > 1 else ""

    return make


def _middle(cases: Iterable[Case], variant: str) -> float:
    return median(case.seconds[variant] for case in cases)


# Cores and results.


def core_seconds(figures: Figures, name: str) -> dict[str, dict[str, float]]:
    """For each case the median time in each setting."""
    return {case.query: case.seconds for case in figures.cases("cores", name)}


def _cores(figures: Figures) -> str:
    parts = [
        "DyGeoBox `(A Z* B Z* C)` for the three commonest types, prefilter and row elimination off: all rows go "
        "through the matcher. Each setting in a process of its own, median of the runs after one that is not timed. "
        "`local[1]` still lets Spark and its Python worker share two processors; in *one CPU* everything is held on "
        "one. *Not cut* is `local[2]` without slices. The last line is what Spark itself gains."
    ]
    for name in figures.tables("cores"):
        rows = []
        for case, took in core_seconds(figures, name).items():
            two = took.get("local[2]")
            cells = [number(took[kind]) if kind in took else "" for kind in _SETTINGS]
            ratios = [number(took[kind] / two) if two and kind in took else "" for kind in _SETTINGS[1:]]
            rows.append((case, *cells, *ratios))
        settings = ("local[2]", "local[1]", "one CPU", "not cut")
        head = ("case", *(f"{one}, s" for one in settings), *(f"{one} / local[2]" for one in settings[1:]))
        if rows:
            parts += [f"On {TITLES[name]}:", table(head, rows)]
    return section("Two cores against one", *parts) if len(parts) > 1 else ""


_SETTINGS = ("local[2]", "local[1]", "one CPU", "local[2], not cut")


def _equal(figures: Figures) -> str:
    rows = [
        (one.section, TITLES[one.table], one.queries, one.runs, f"{one.matches:,}", len(one.differing))
        for one in figures.differences()
    ]
    if not rows:
        return ""
    head = ("section", "on", "queries", "runs", "matches", "queries that differ")
    failures = [(code(one.query), one.table, one.variant, one.error) for one in figures.failures]
    return section(
        "Equal results",
        "Every timed run adds up a hash of its rows, and all runs of a query must have the same number of rows and the "
        "same sum. Section `equal` runs every query with each rule off, with all off, and with a prefilter forced; the "
        "first instances with the rules off in all combinations, with each form forced, and cut into slices.",
        table(head, rows),
        *[f"`{query}` differs ({one.section})." for one in figures.differences() for query in one.differing[:20]],
        f"{len(failures)} runs failed:" if failures else "",
        table(("query", "on", "variant", "error"), failures[:20]) if failures else "",
    )


SECTIONS: tuple[Callable[[Figures], str], ...] = (
    _speed,
    _regressions,
    _rules,
    _selective,
    _symbols,
    _sizes,
    _axis(
        "windows",
        "Window size (the paper's figure 12)",
        "hours",
        "WithinDistrict, windows of one hour to a day; medians.",
    ),
    _axis(
        "lengths",
        "Pattern length (the paper's figure 11)",
        "symbols in a match",
        "WithinDistrict, windows of 30 minutes, matches of two to six defined reports; medians.",
    ),
    _cores,
    _equal,
)
