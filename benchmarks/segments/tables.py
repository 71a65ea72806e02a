"""The tables of the segment measurements, one function for each section of the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.pages import number, section, table
from benchmarks.segments.growth import Growth, Memory, Share
from benchmarks.segments.plans import FORCED, Small, Timing
from benchmarks.segments.templates import TEMPLATES

__all__ = [
    "PAPER_CLD_WAVE",
    "PAPER_NDCG",
    "SECTIONS",
    "Figures",
    "Measured",
    "figures_of",
    "main_figures",
    "milliseconds",
]

# Table 4 of the paper; t.o. is a time-out after two hours.
PAPER_SLOW = {
    "v_shape": "1.0 1.0 1.5 1.5",
    "head_shldr": "2.0 4.4 5.0 3.8",
    "outlier": "4.4 4.5 1.8 1.7",
    "rebound": "3.6 1.5 1.7 1.7",
    "cld_wave": "12.9 1.3 12.2 11.9",
    "rptd_pttrn": "3.4 4.4 8.3 9.1",
    "limit_sell": "1.1 6.0 2.4 2.4",
    "OpenCEP_Q1": "4.0 1333.2 1.6 1.5",
    "OpenCEP_Q2": "1.1 t.o. 6104.4 6059.4",
    "AFA_Q1": "7.0 210.7 6.1 6.2",
    "AFA_Q2": "7.9 1841.8 9.6 9.6",
}
# Table 7 of the paper, with 5 series sampled.
PAPER_NDCG = {
    "v_shape": 0.92,
    "head_shldr": 1.00,
    "outlier": 0.95,
    "rebound": 1.00,
    "cld_wave": 0.96,
    "rptd_pttrn": 0.97,
    "limit_sell": 0.95,
    "OpenCEP_Q1": 0.74,
    "OpenCEP_Q2": 0.99,
    "AFA_Q1": 0.84,
    "AFA_Q2": 0.84,
}
PAPER_CLD_WAVE = 6.0


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that was measured."""

    captions: list[str]
    small: list[Small]
    timings: list[Timing]
    growth: list[Growth]
    shares: list[Share]
    memory: list[Memory]


# Figures.


@dataclass(frozen=True, slots=True)
class Figures:
    """The timings of one template on one dataset."""

    name: str
    dataset: str
    timings: list[Timing]

    @property
    def title(self) -> str:
        main = TEMPLATES[self.name].dataset == self.dataset
        return self.name if main else f"{self.name} on {self.dataset}"

    def median(self, figure: Callable[[Timing], float]) -> float:
        return median(figure(timing) for timing in self.timings)

    def slow_down(self, method: str) -> float:
        return self.median(lambda timing: timing.seconds[method] / timing.fastest())

    def slow_down_whole(self) -> float:
        return self.median(lambda timing: timing.whole() / timing.fastest())

    def score(self, *, distinct: bool = False) -> float:
        return self.median(lambda timing: timing.score(distinct=distinct))

    def seconds(self, method: str) -> float:
        return self.median(lambda timing: timing.seconds[method])

    def speed_up(self, method: str, *, planning: bool = True) -> float:
        """How many times as long a baseline takes; the batch plan has its own planning."""

        def ratio(timing: Timing) -> float:
            own = timing.seconds["optimizer"]
            other = timing.seconds[method]
            if planning:
                own += timing.planning
                other += timing.planning_batch if method == "batch" else 0.0
            return other / own

        return self.median(ratio)

    def has(self, method: str) -> bool:
        return all(method in timing.seconds for timing in self.timings)

    def same_plan(self, one: str, other: str) -> bool:
        return all(timing.plans[one] == timing.plans[other] for timing in self.timings)


def figures_of(measured: Measured) -> list[Figures]:
    keys = dict.fromkeys((timing.template, timing.dataset) for timing in measured.timings)
    return [
        Figures(name, dataset, [t for t in measured.timings if (t.template, t.dataset) == (name, dataset)])
        for name, dataset in keys
    ]


def main_figures(figures: Sequence[Figures]) -> list[Figures]:
    """Each template once, on the paper's data; the long stream is shown beside and not counted."""
    return [one for one in figures if TEMPLATES[one.name].dataset == one.dataset]


def milliseconds(seconds: float) -> str:
    return "given up" if math.isinf(seconds) else f"{seconds * 1e3:.2f}" if seconds < 0.1 else f"{seconds * 1e3:.0f}"


# Sections.


def _equality(measured: Measured, figures: list[Figures]) -> str:
    rows = []
    for one in figures:
        few = [small for small in measured.small if (small.template, small.dataset) == (one.name, one.dataset)]
        rows.append(
            (
                one.title,
                len(one.timings),
                f"{few[0].rows:,}",
                f"{sum(small.matches for small in few):,}",
                sum(small.loosened for small in few),
                f"{one.timings[0].rows:,}",
                f"{sum(timing.matches for timing in one.timings):,}",
                sum(len(small.differing) for small in few) + sum(len(timing.differing) for timing in one.timings),
            )
        )
    head = (
        "template",
        "parameter sets",
        "rows, by definition",
        "segments",
        "sets loosened",
        "rows, against automata",
        "segments",
        "differing",
    )
    return section(
        "Equal results",
        "On a few rows, all plans (the optimizer's and every forced one) against `tests/naive_segments.py`, which "
        "follows the definition; parameters that match nothing there are loosened as well. On all rows, all plans and "
        "the generic automaton against the automata that were written and compiled by hand for each template.",
        table(head, rows),
    )


def _slow_downs(measured: Measured, figures: list[Figures]) -> str:
    rows = []
    for one in figures:
        paper = PAPER_SLOW[one.name].replace(" ", " · ") if TEMPLATES[one.name].dataset == one.dataset else ""
        forced = [number(one.slow_down(name)) for name in FORCED]
        rows.append(
            (
                one.title,
                *forced,
                f"**{number(one.slow_down('optimizer'))}**",
                number(one.slow_down_whole()),
                milliseconds(one.seconds("optimizer")),
                milliseconds(one.median(lambda timing: timing.planning)),
                paper,
            )
        )
    head = ("template", *FORCED, "optimizer", "with planning", "ms", "planning, ms", "paper: the four forced plans")
    texts = [table(head, rows)]
    probed = [f"{name}_pnot" for name in FORCED]
    for one in figures:
        if one.has(probed[0]):
            held = ", ".join(f"{name} {number(one.slow_down(name))}" for name in probed)
            texts.append(f"{one.title} with a probed negation: {held}.")
    return section(
        "Slow-downs of plans (the paper's table 4)",
        "The median over parameter sets of a plan's time over that of the fastest plan of the set. `pr` probes one "
        "side of each concatenation and intersection where the other one leads, `sm` evaluates both sides and "
        "merges; left- or right-deep. In all of them the kind of sets and index or filter are free. The fastest is "
        "looked for among these, the batch plan and the optimizer's. Equal plans have one time. *With planning* adds "
        "what statistics and optimisation take. *Given up*: more than 200 million segments to look at, or not enough "
        "memory.",
        *texts,
    )


def _ranks(measured: Measured, figures: list[Figures]) -> str:
    rows = []
    for one in figures:
        off = one.median(lambda timing: timing.estimates["optimizer"] / 1e9 / timing.seconds["optimizer"])
        paper = f"{PAPER_NDCG[one.name]:.2f}" if TEMPLATES[one.name].dataset == one.dataset else ""
        rows.append((one.title, f"{one.score():.2f}", f"{one.score(distinct=True):.2f}", paper, f"{off:.2f}"))
    return section(
        "NDCG of the cost model (the paper's table 7)",
        "How well the order of estimated costs agrees with the order of measured times, median over parameter sets. A "
        "plan's relevance is r = fastest time / its time; plans in the order of their estimates give "
        "DCG = Σ (2^r − 1) / log2(place + 1); NDCG is this over the DCG of the order by time. The plans are those of "
        "the table above with the batch plan; a plan given up has relevance 0. *Distinct* counts equal plans once. "
        "The last column is the estimated over the measured time of the optimizer's plan.",
        table(("template", "NDCG", "distinct", "paper", "estimated / measured"), rows),
    )


def _speed_ups(measured: Measured, figures: list[Figures]) -> str:
    methods = {"batch": "batch mode", "automaton": "generic automaton", "hand": "hand-compiled automaton"}

    def cells(one: Figures) -> list[str]:
        return [number(one.speed_up(m, planning=p)) for m in methods for p in (True, False)]

    rows: list[Sequence[object]] = [
        (
            one.title,
            *cells(one),
            milliseconds(one.seconds("optimizer")),
            *(milliseconds(one.seconds(m)) for m in methods),
        )
        for one in figures
    ]
    mains = main_figures(figures)
    middle = [number(median(one.speed_up(m, planning=p) for one in mains)) for m in methods for p in (True, False)]
    rows.append(("**median of templates**", *(f"**{value}**" for value in middle), *[""] * (1 + len(methods))))
    head = [text for title in methods.values() for text in (f"over {title}", "without planning")]
    return section(
        "Speed-ups (the paper's figures 12 and 22)",
        "How many times as long a baseline takes as Trellis, median over parameter sets; below 1 the baseline is "
        "faster. As in the paper, planning counts for Trellis; the columns beside leave it out. *Batch mode* is "
        "Trellis without probes, with its own planning. The *generic automaton* takes every query as data; the "
        "*hand-compiled* ones are machine code for one template each, with constants of the query as arguments. The "
        "last columns are medians in ms.",
        table(("template", *head, "Trellis", *methods.values()), rows),
    )


def _sharing(measured: Measured, figures: list[Figures]) -> str:
    rows = [
        (
            one.title,
            *(milliseconds(one.seconds(name)) for name in ("index", "filter", "optimizer")),
            *_against(one, "filter", "index"),
        )
        for one in figures
        if not one.same_plan("index", "filter")
    ]
    sets = [
        (
            one.title,
            *(milliseconds(one.seconds(name)) for name in ("bands", "pairs", "optimizer")),
            *_against(one, "bands", "pairs"),
        )
        for one in figures
    ]
    return section(
        "What sharing and the kind of sets are worth",
        "Values of functions from shared indexes, from the rows of each segment, or as the optimizer chooses; ms, "
        "medians over parameter sets, and the median of ratios. Templates without such functions are left out.",
        table(("template", "index", "filter", "free", "filter / index", "free / best of both"), rows),
        "Sets as bands of bits only, as lists of pairs only, or as the optimizer chooses.",
        table(("template", "bands", "pairs", "free", "bands / pairs", "free / best of both"), sets),
    )


def _against(one: Figures, first: str, second: str) -> tuple[str, str]:
    def free(timing: Timing) -> float:
        return timing.seconds["optimizer"] / min(timing.seconds[first], timing.seconds[second])

    return number(one.median(lambda timing: timing.seconds[first] / timing.seconds[second])), number(one.median(free))


def _growth(measured: Measured, figures: list[Figures]) -> str:
    rows = [
        (
            one.series,
            f"{one.rows:,}",
            milliseconds(one.seconds),
            f"{one.seconds / one.series * 1e3:.3f}",
            f"{(one.seconds + one.planning) / one.series * 1e3:.3f}",
        )
        for one in measured.growth
    ]
    return section(
        "Growth with the number of series",
        "cld_wave, all parameter sets one after another, on the 32 series and on copies of them.",
        table(("series", "rows", "ms", "ms for each series", "with planning"), rows),
    )


def _planning(measured: Measured, figures: list[Figures]) -> str:
    rows = []
    for one in figures:
        shares = [timing.planning / timing.whole() for timing in one.timings]
        rows.append(
            (
                one.title,
                milliseconds(max(t.whole() for t in one.timings)),
                f"{median(shares):.0%}",
                f"{max(shares):.0%}",
            )
        )
    large = [
        (
            share.template,
            ", ".join(f"{name} {value}" for name, value in share.parameters.items()),
            share.factor,
            f"{share.rows:,}",
            f"{share.seconds:.2f}",
            milliseconds(share.planning),
            f"{share.planning / share.seconds:.1%}",
        )
        for share in measured.shares
    ]
    return section(
        "The share of planning",
        "Statistics and optimisation as a share of the whole. On this data hardly any query takes a second, so the "
        "share is high where a query takes a few milliseconds.",
        table(("template", "slowest set, ms", "share, median", "share, most"), rows),
        "The slowest parameter set of each template, its series repeated until it takes more than a second (templates "
        "that would need more than 24 copies are left out), run as a worker runs it.",
        table(("template", "parameters", "copies", "rows", "s", "planning, ms", "share"), large),
    )


def _cold_waves(measured: Measured, figures: list[Figures]) -> str:
    timings = [timing for one in figures if one.name == "cld_wave" for timing in one.timings]
    if not timings:
        return ""
    rows = [
        (
            *(t.parameters[name] for name in ("fall_diff", "down_r2_min")),
            f"{t.matches:,}",
            milliseconds(t.seconds["optimizer"]),
            milliseconds(t.planning),
            *(milliseconds(t.seconds[name]) for name in ("automaton", "hand")),
        )
        for t in timings
    ]
    baselines = ("generic automaton", "hand-compiled automaton")
    return section(
        "cld_wave",
        f"All 32 series, one core, kernels only, in ms. The paper reports about {PAPER_CLD_WAVE:g} s for its data.",
        table(("fall_diff", "down_r2_min", "segments", "Trellis", "planning", *baselines), rows),
    )


def _memory(measured: Measured, figures: list[Figures]) -> str:
    rows = [
        (
            one.template,
            f"{one.parameters['total']} minutes",
            f"{one.matches:,}",
            f"{one.held / 2**20:.0f}",
            f"{one.peak / 2**20:.0f}",
            f"{(one.peak - one.held) / 2**20:.0f}",
        )
        for one in measured.memory
    ]
    return section(
        "Memory of one long stream",
        "OpenCEP's templates on `etf_minutes`, one stream of 595,227 rows, in a process of their own: what it holds "
        "with the data loaded, and its peak while it plans and runs, in MB.",
        table(("template", "window", "segments", "before", "peak", "more"), rows),
    )


SECTIONS = (_slow_downs, _ranks, _speed_ups, _sharing, _growth, _planning, _cold_waves, _memory, _equality)
