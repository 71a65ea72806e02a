"""The page of what is taken away before the match: bars, tables, plots, from the figures that were kept."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import median

from benchmarks.pages import Bar, bar_table, code, latest, number, page, percentile, section, show
from benchmarks.prefilter.data import KEEPS
from benchmarks.prefilter.figures import Figures
from benchmarks.prefilter.queries import DEFINITIONS
from benchmarks.prefilter.records import CHOSEN, NONE, Record
from benchmarks.prefilter.tables import SECTIONS, core_seconds, lost, points, selective

__all__ = ["page_of", "show_page"]

REASONS: dict[str, str] = {
    "the worst regression of the chosen plan": (
        "Missed on the real sample alone. Its queries take 0.2 to 0.5 s, and where the chosen plan looks slower, it is "
        "the same plan as without prefilter: the difference is chance, as between two runs of one plan (below)."
    ),
    "selective queries: whole query against a plain filtered scan of the same columns": (
        "Only row elimination reads the data once. Masks read it twice: few columns to find the buckets, then the rows "
        "in them. Before that, planning looks at a sample, which takes half as long as the scan: 0.2 s against 0.4 s "
        "on this table. On larger tables the share of planning falls; the second read stays: without planning the "
        "median is 2.1×."
    ),
    "unpartitioned, 30-minute window, two cores against one": (
        "`local[1]` is no single core: while the JVM reads and sorts, the Python worker searches, on the second core. "
        "With both held on one processor the ratio is the second figure. Spark alone, scanning and sorting these rows, "
        "gains 1.69× (the last line of the table)."
    ),
}
"""Why a bar is missed, by the name of the bar. Written by hand; all else on the page follows from the figures."""

_MAIN = "generated"
_NOT_MEASURED = "not measured"


def _bars(figures: Figures) -> list[Bar]:
    return [
        _equal(figures),
        *_speed(figures),
        _lost(figures),
        _selective(figures),
        _axes(figures),
        _cores(figures, "unpartitioned, 30-minute window, two cores against one", 1.7, ("skip to", "skip past")),
        _cores(figures, "one partition with 90 % of the rows, two cores against one", 1.6, ("90 %",)),
        _q_error(figures),
    ]


def _equal(figures: Figures) -> Bar:
    found = figures.differences()
    what, bound = "results with and without each rule, every instance", "equal"
    if not found:
        return Bar(what, bound, _NOT_MEASURED, None, "–")
    wrong, failed = sum(len(one.differing) for one in found), len(figures.failures)
    text = f"{wrong} of {sum(one.queries for one in found)} queries differ, {sum(one.runs for one in found):,} runs"
    text += f"; {failed} runs failed" if failed else ""
    return Bar(what, bound, text, wrong + failed == 0, "–")


def _speed(figures: Figures) -> list[Bar]:
    faster, slower = "chosen plan against no prefilter, same engine: median", "the worst regression of the chosen plan"
    cases, small = figures.pairs("speed", _MAIN), figures.pairs("speed", "real")
    if not cases:
        return [
            Bar(faster, "≥ 3×", _NOT_MEASURED, None, "5.4× (Trino)"),
            Bar(slower, "≤ 1.15×", _NOT_MEASURED, None, "1.11–1.3×"),
        ]
    ups = [case.speed_up for case in cases]
    middle, worst = median(ups), 1 / min(ups)
    text, bad = f"{number(middle)}×, {len(cases)} queries", f"{number(worst)}×"
    if small:
        text += f" (real sample: {number(median(case.speed_up for case in small))}×)"
        worst_small = max(1 / case.speed_up for case in small)
        bad += f" (real sample: {number(worst_small)}×)"
        worst = max(worst, worst_small)
    return [
        Bar(faster, "≥ 3×", text, middle >= 3, "5.4× (Trino)"),
        Bar(slower, "≤ 1.15×", bad, worst <= 1.15, "1.11–1.3×"),
    ]


def _lost(figures: Figures) -> Bar:
    what = "speed-up lost against the best symbol set, median, for (A Z* B Z* C)"
    cases = [case for case in figures.pairs("symbols", _MAIN) if len(case.seconds) > 2]
    shares = {one: [lost(case) for case in cases if case.definition == one] for one in DEFINITIONS}
    medians = {one: median(held) for one, held in shares.items() if held}
    if not medians:
        return Bar(what, "≤ 20 %", _NOT_MEASURED, None, "0–27 %")
    text = ", ".join(f"{one} {value:.0%}" for one, value in medians.items())
    return Bar(what, "≤ 20 %", text, max(medians.values()) <= 0.2, "0–27 %")


def _selective(figures: Figures) -> Bar:
    what = "selective queries: whole query against a plain filtered scan of the same columns"
    ratios = [case.ratio(CHOSEN, "scan") for case in selective(figures, _MAIN)]
    if not ratios:
        return Bar(what, "≤ 2×", _NOT_MEASURED, None, "–")
    within = sum(ratio <= 2 for ratio in ratios)
    text = f"median {number(median(ratios))}×, worst {number(max(ratios))}×; {within} of {len(ratios)} within"
    return Bar(what, "≤ 2×", text, max(ratios) <= 2, "–")


def _axes(figures: Figures) -> Bar:
    what = "window from 1 to 24 hours, pattern length from 2 to 6: medians against no prefilter"
    worst: list[tuple[float, str]] = []
    for kind, unit in (("windows", "hours"), ("lengths", "symbols")):
        for family, held in points(figures, kind, _MAIN).items():
            for at, cases in held.items():
                chosen, none = (median(case.seconds[one] for case in cases) for one in (CHOSEN, NONE))
                worst.append((chosen / none, f"{code(family)}, {at} {unit}"))
    if not worst:
        return Bar(what, "≤ 1.15× anywhere", _NOT_MEASURED, None, "converges")
    ratio, where = max(worst)
    return Bar(what, "≤ 1.15× anywhere", f"at most {number(ratio)}× ({where})", ratio <= 1.15, "converges")


def _cores(figures: Figures, what: str, bound: float, cases: tuple[str, ...]) -> Bar:
    """Judged against `local[1]`, where Python still runs beside the JVM; one processor for both is shown, too."""
    seconds = {case: took for case, took in core_seconds(figures, _MAIN).items() if case.startswith(cases)}
    gains = {
        case: took["local[1]"] / took["local[2]"]
        for case, took in seconds.items()
        if {"local[1]", "local[2]"} <= set(took)
    }
    paper = "not possible" if bound == 1.7 else "–"
    if not gains:
        return Bar(what, f"≥ {bound}×", _NOT_MEASURED, None, paper)
    text = ", ".join(f"{number(gain)}× ({case})" for case, gain in gains.items())
    held = [
        number(took["one CPU"] / took["local[2]"]) for took in seconds.values() if {"one CPU", "local[2]"} <= set(took)
    ]
    text += f"; with one processor for both {'×, '.join(held)}×" if held else ""
    return Bar(what, f"≥ {bound}×", text, min(gains.values()) >= bound, paper)


def _q_error(figures: Figures) -> Bar:
    what = "q-error of the estimated prefilter size, median"
    errors = [size.q_error for size in figures.sizes(_MAIN)]
    if not errors:
        return Bar(what, "≤ 2", _NOT_MEASURED, None, "1.93")
    text = f"{number(median(errors))} (95th percentile {number(percentile(errors, 95))}), {len(errors)} prefilters"
    return Bar(what, "≤ 2", text, median(errors) <= 2, "1.93")


def _queries(figures: Figures) -> str:
    """What is asked, of what."""
    facts = figures.about.get(_MAIN) or next(iter(figures.about.values()), None)
    if facts is None:
        return ""
    types, bound = facts["types"], float(str(facts["bound"]))
    assert isinstance(types, list)
    rows = ", ".join(f"{int(str(held['rows'])):,} rows ({name})" for name, held in sorted(figures.about.items()))
    return f"""\
## Data and queries

Crimes: {rows}. {KEEPS.strip()}

Six patterns (the paper's table 1) with three definitions: *WithinDistrict*, every symbol a type, all in one district;
*PartByBeat*, types, PARTITION BY beat; *DyGeoBox*, types, longitude and latitude within 0.025 of the first report's.
ORDER BY tstamp, id; AFTER MATCH SKIP TO NEXT ROW; WITHIN 30 minutes; measures are the `id` of each variable's report
(first and last where it repeats). Instances are random, with a seed: types are drawn uniformly from the {len(types)}
that have at least {bound:.2%} of the reports, a type of its own for each variable, and the district uniformly from all
{facts["districts"]}. The paper skips types with less than 10,000 of its 6.5 million reports, 0.15 %. The higher that
bound, the commoner the types, and the less there is to drop.
"""


def page_of(records: Iterable[Record], *, plots: bool = True) -> str:
    """The whole page; without `plots`, no pictures are named."""
    figures = Figures(records)
    bars = _bars(figures)
    reasons = [f"*{bar.what}.* {REASONS[bar.what]}" for bar in bars if bar.met is False and bar.what in REASONS]
    caption = latest(figures.machines)
    intro = (
        "Prefilters, row elimination and slices: the queries of the paper on row pattern joins, on Spark with two "
        "cores. Times are of whole queries, planning and its sample job included; results are computed and thrown "
        "away. Written by\n\n```\n"
        "python -m benchmarks prefilter --data FOLDER --work FOLDER --keep figures.jsonl "
        "--write docs/benchmarks/prefilter.md\n```"
    )
    text = page(
        "# Less work before the match: measurements",
        intro,
        section("Bars", "On the generated table, where nothing else is said.", bar_table(bars), caption),
        section("Why bars are missed", *reasons) if reasons else "",
        _queries(figures),
        *(make(figures) for make in SECTIONS),
        caption,
    )
    return text if plots else "\n".join(line for line in text.split("\n") if not line.startswith("!["))


def show_page(records: Iterable[Record], target: Path | None) -> None:
    """Write the page, and its plots beside it; without a target it is printed."""
    held = list(records)
    if target is not None:
        from benchmarks.prefilter.plots import draw

        draw(Figures(held), target.parent)
    show(page_of(held, plots=target is not None), target)
