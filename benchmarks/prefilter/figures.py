"""Figures of kept runs: medians of repeated runs, speed-ups, q-errors, results that differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median

from benchmarks.pages import number
from benchmarks.prefilter.records import CHOSEN, NONE, Record

__all__ = ["Case", "Difference", "Figures", "Size", "seconds"]


@dataclass(frozen=True, slots=True)
class Case:
    """One query of one section on one table, in all its variants; medians where a variant ran several times."""

    query: str
    pattern: str
    definition: str
    minutes: int
    seconds: dict[str, float]
    planning: dict[str, float]
    plans: dict[str, str | None]
    matches: int

    def ratio(self, over: str, under: str) -> float:
        """How many times as long one variant takes as another."""
        return self.seconds[over] / self.seconds[under]

    @property
    def speed_up(self) -> float:
        """Of the chosen plan over no prefilter."""
        return self.ratio(NONE, CHOSEN)

    def has(self, *variants: str) -> bool:
        """Whether all these ran."""
        return all(variant in self.seconds for variant in variants)

    @property
    def same_as_chosen(self) -> str:
        """The forced variant that has the chosen plan, if one ran."""
        if self.plans[CHOSEN] is None:
            return NONE
        same = (name for name, plan in self.plans.items() if name != CHOSEN and plan == self.plans[CHOSEN])
        return next(same, CHOSEN)


@dataclass(frozen=True, slots=True)
class Size:
    """The rows that a prefilter was thought to leave, and those it left."""

    query: str
    definition: str
    form: str
    of_set: bool
    estimate: float
    rows: int

    @property
    def q_error(self) -> float:
        """How many times too many or too few; nothing is less than one row."""
        estimate, rows = max(self.estimate, 1.0), max(self.rows, 1)
        return max(estimate / rows, rows / estimate)


@dataclass(frozen=True, slots=True)
class Difference:
    """How the results of the variants of some queries compare."""

    section: str
    table: str
    queries: int
    runs: int
    matches: int
    differing: tuple[str, ...]


class Figures:
    """All runs of a file."""

    def __init__(self, kept: Iterable[Record]) -> None:
        records = list(kept)
        self.records = [record for record in records if not record.error and not record.skipped]
        succeeded = {record.key for record in self.records}
        self.failures = list({r.key: r for r in records if r.error and r.key not in succeeded}.values())
        self.machines = [str(r.facts["text"]) for r in self.records if r.section == "about" and r.query == "machine"]
        self.about = {r.table: r.facts for r in self.records if r.section == "about" and r.query == "table"}

    def rows(self, table: str) -> int:
        """How many rows a table has."""
        return int(str(self.about[table]["rows"]))

    def tables(self, section: str) -> list[str]:
        """The tables of a section, the generated one first."""
        return sorted({record.table for record in self.records if record.section == section})

    def cases(self, section: str, table: str) -> list[Case]:
        """The queries of a section, in the order in which they ran."""
        found: dict[str, list[Record]] = defaultdict(list)
        for record in self.records:
            if record.section == section and record.table == table:
                found[record.query].append(record)
        return [_case(query, runs) for query, runs in found.items()]

    def pairs(self, section: str, table: str) -> list[Case]:
        """The queries that ran both with the chosen plan and without a prefilter."""
        return [case for case in self.cases(section, table) if case.has(CHOSEN, NONE)]

    def sizes(self, table: str) -> list[Size]:
        """Estimates and real sizes of all prefilters."""
        return [
            Size(
                record.query,
                str(record.facts["definition"]),
                record.plan.split()[0],
                record.variant.startswith("set: "),
                record.estimate,
                record.rows,
            )
            for record in self.records
            if record.section == "sizes" and record.table == table
            if record.plan is not None and record.estimate is not None and record.rows is not None
        ]

    def differences(self) -> list[Difference]:
        """For each section and table: do all variants of a query give the same rows, in whatever section they ran?

        A query that ran in one variant alone says nothing, and is left out.
        """
        texts: dict[tuple[str, str], list[Record]] = defaultdict(list)
        for record in self.records:
            if record.digest:
                texts[record.table, record.text or record.query].append(record)
        compared = {text: runs for text, runs in texts.items() if len({run.variant for run in runs}) > 1}
        wrong = {text for text, runs in compared.items() if len({run.digest for run in runs}) > 1}
        results: dict[tuple[str, str], dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
        for runs in compared.values():
            for run in runs:
                results[run.section, run.table][run.query].append(run)
        return [
            Difference(
                section,
                table,
                len(queries),
                sum(map(len, queries.values())),
                sum(runs[0].matches for runs in queries.values()),
                tuple(query for query, runs in queries.items() if (table, runs[0].text or query) in wrong),
            )
            for (section, table), queries in results.items()
        ]


def _case(query: str, runs: list[Record]) -> Case:
    variants: dict[str, list[Record]] = defaultdict(list)
    for run in runs:
        variants[run.variant].append(run)
    facts = runs[0].facts
    return Case(
        query,
        str(facts.get("pattern", "")),
        str(facts.get("definition", "")),
        int(str(facts.get("minutes", 0))),
        {name: median(run.seconds for run in held) for name, held in variants.items()},
        {name: median(run.planning for run in held) for name, held in variants.items()},
        {name: held[-1].plan for name, held in variants.items()},
        max(run.matches for run in runs),
    )


def seconds(cases: Iterable[Case], of: Callable[[Case], float]) -> str:
    """A median in seconds, as text; nothing if there are no cases."""
    values = [of(case) for case in cases]
    return number(median(values)) if values else ""
