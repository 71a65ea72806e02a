"""The page of what is taken away before the match: bars, tables, plots, from the figures that were kept.

python benchmarks/prefilter_report.py figures.jsonl --write docs/benchmarks/prefilter.md
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from prefilter_data import KEEPS
from prefilter_figures import Figures, code, number, percentile
from prefilter_keep import CHOSEN, NONE, Record, read_records
from prefilter_queries import DEFINITIONS
from prefilter_tables import SECTIONS, core_seconds, lost, points, selective
from report import table

__all__ = ["page", "write_page"]

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


@dataclass(frozen=True, slots=True)
class _Bar:
    what: str
    bound: str
    paper: str
    measured: str
    met: bool | None

    def row(self) -> tuple[str, str, str, str, str]:
        verdict = {True: "met", False: "MISSED", None: ""}[self.met]
        return self.what, self.bound, self.paper, self.measured, verdict


def _bars(figures: Figures) -> list[_Bar]:
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


def _equal(figures: Figures) -> _Bar:
    found = figures.differences()
    what, bound = "results with and without each rule, every instance", "equal"
    if not found:
        return _Bar(what, bound, "–", _NOT_MEASURED, None)
    wrong, failed = sum(len(one.differing) for one in found), len(figures.failures)
    text = f"{wrong} of {sum(one.queries for one in found)} queries differ, {sum(one.runs for one in found):,} runs"
    text += f"; {failed} runs failed" if failed else ""
    return _Bar(what, bound, "–", text, wrong + failed == 0)


def _speed(figures: Figures) -> list[_Bar]:
    faster, slower = "chosen plan against no prefilter, same engine: median", "the worst regression of the chosen plan"
    cases, small = figures.pairs("speed", _MAIN), figures.pairs("speed", "real")
    if not cases:
        return [
            _Bar(faster, "≥ 3×", "5.4× (Trino)", _NOT_MEASURED, None),
            _Bar(slower, "≤ 1.15×", "1.11–1.3×", _NOT_MEASURED, None),
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
        _Bar(faster, "≥ 3×", "5.4× (Trino)", text, middle >= 3),
        _Bar(slower, "≤ 1.15×", "1.11–1.3×", bad, worst <= 1.15),
    ]


def _lost(figures: Figures) -> _Bar:
    what = "speed-up lost against the best symbol set, median, for (A Z* B Z* C)"
    cases = [case for case in figures.pairs("symbols", _MAIN) if len(case.seconds) > 2]
    shares = {one: [lost(case) for case in cases if case.definition == one] for one in DEFINITIONS}
    medians = {one: median(held) for one, held in shares.items() if held}
    if not medians:
        return _Bar(what, "≤ 20 %", "0–27 %", _NOT_MEASURED, None)
    text = ", ".join(f"{one} {value:.0%}" for one, value in medians.items())
    return _Bar(what, "≤ 20 %", "0–27 %", text, max(medians.values()) <= 0.2)


def _selective(figures: Figures) -> _Bar:
    what = "selective queries: whole query against a plain filtered scan of the same columns"
    ratios = [case.ratio(CHOSEN, "scan") for case in selective(figures, _MAIN)]
    if not ratios:
        return _Bar(what, "≤ 2×", "–", _NOT_MEASURED, None)
    within = sum(ratio <= 2 for ratio in ratios)
    text = f"median {number(median(ratios))}×, worst {number(max(ratios))}×; {within} of {len(ratios)} within"
    return _Bar(what, "≤ 2×", "–", text, max(ratios) <= 2)


def _axes(figures: Figures) -> _Bar:
    what = "window from 1 to 24 hours, pattern length from 2 to 6: medians against no prefilter"
    worst: list[tuple[float, str]] = []
    for section, unit in (("windows", "hours"), ("lengths", "symbols")):
        for family, held in points(figures, section, _MAIN).items():
            for at, cases in held.items():
                chosen, none = (median(case.seconds[one] for case in cases) for one in (CHOSEN, NONE))
                worst.append((chosen / none, f"{code(family)}, {at} {unit}"))
    if not worst:
        return _Bar(what, "≤ 1.15× anywhere", "converges", _NOT_MEASURED, None)
    ratio, where = max(worst)
    return _Bar(what, "≤ 1.15× anywhere", "converges", f"at most {number(ratio)}× ({where})", ratio <= 1.15)


def _cores(figures: Figures, what: str, bound: float, cases: tuple[str, ...]) -> _Bar:
    """Judged against `local[1]`, where Python still runs beside the JVM; one processor for both is shown, too."""
    seconds = {case: took for case, took in core_seconds(figures, _MAIN).items() if case.startswith(cases)}
    gains = {
        case: took["local[1]"] / took["local[2]"]
        for case, took in seconds.items()
        if {"local[1]", "local[2]"} <= set(took)
    }
    paper = "not possible" if bound == 1.7 else "–"
    if not gains:
        return _Bar(what, f"≥ {bound}×", paper, _NOT_MEASURED, None)
    text = ", ".join(f"{number(gain)}× ({case})" for case, gain in gains.items())
    held = [
        number(took["one CPU"] / took["local[2]"]) for took in seconds.values() if {"one CPU", "local[2]"} <= set(took)
    ]
    text += f"; with one processor for both {'×, '.join(held)}×" if held else ""
    return _Bar(what, f"≥ {bound}×", paper, text, min(gains.values()) >= bound)


def _q_error(figures: Figures) -> _Bar:
    what = "q-error of the estimated prefilter size, median"
    errors = [size.q_error for size in figures.sizes(_MAIN)]
    if not errors:
        return _Bar(what, "≤ 2", "1.93", _NOT_MEASURED, None)
    text = f"{number(median(errors))} (95th percentile {number(percentile(errors, 95))}), {len(errors)} prefilters"
    return _Bar(what, "≤ 2", "1.93", text, median(errors) <= 2)


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


def page(records: Sequence[Record], *, plots: bool = True) -> str:
    """The whole page; without `plots`, no pictures are named."""
    figures = Figures(records)
    bars = _bars(figures)
    reasons = [f"*{bar.what}.* {REASONS[bar.what]}" for bar in bars if bar.met is False and bar.what in REASONS]
    several = f"*Figures of {len(figures.machines)} sessions, the last one on:* " if len(figures.machines) > 1 else ""
    caption = several + figures.machines[-1] if figures.machines else ""
    intro = (
        "Prefilters, row elimination and slices: the queries of the paper on row pattern joins, on Spark with two "
        "cores. Times are of whole queries, planning and its sample job included; results are computed and thrown "
        "away. Written by\n\n```\n"
        "python benchmarks/prefilter.py --data FOLDER --work FOLDER --keep figures.jsonl "
        "--write docs/benchmarks/prefilter.md\n```"
    )
    rows = [bar.row() for bar in bars]
    parts = [
        "# Less work before the match: measurements",
        intro,
        "## Bars",
        "On the generated table, where nothing else is said.",
        table(("what", "bar", "the paper's", "measured", ""), rows),
        caption,
        *(["## Why bars are missed", *reasons] if reasons else []),
        _queries(figures),
        *(make(figures) for make in SECTIONS),
        caption,
    ]
    text = "\n\n".join(part.strip() for part in parts if part) + "\n"
    return text if plots else "\n".join(line for line in text.split("\n") if not line.startswith("!["))


def write_page(records: Sequence[Record], target: Path) -> None:
    """Write the page, and its plots beside it."""
    from prefilter_plots import draw

    target.parent.mkdir(parents=True, exist_ok=True)
    draw(Figures(records), target.parent)
    target.write_text(page(records))


def main() -> None:
    """Write the page of figures that were kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("keep", type=Path, help="what `prefilter.py --keep` wrote")
    parser.add_argument("--write", type=Path, help="the page, with its plots beside it; otherwise it is printed")
    asked = parser.parse_args()
    records = read_records(asked.keep)
    if not records:
        raise SystemExit(f"There are no figures in {asked.keep}.")
    if asked.write:
        write_page(records, asked.write)
    else:
        print(page(records, plots=False))


if __name__ == "__main__":
    main()
