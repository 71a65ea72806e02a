"""What is measured, section by section: speed-ups, equal results, symbol sets, sizes, windows, lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import inf
from random import Random

from benchmarks.prefilter.queries import (
    ALTERNATIVES,
    DEFINITIONS,
    SEQUENCE,
    Query,
    alternatives,
    instance,
    instances,
    sequence,
    some,
    variables_of,
)
from benchmarks.prefilter.records import CHOSEN, NONE, SELECTIVE
from benchmarks.prefilter.runner import OFF, VARIANTS, HintValues, Planned, Runner, estimates
from benchmarks.timing import say

__all__ = ["FORMS", "HOURS", "LENGTHS", "SECTIONS", "Section"]

FORMS = ("masks", "joins", "ranges")
HOURS = (1, 2, 4, 8, 12, 24)
LENGTHS = (2, 3, 4, 5, 6)

_RULES = ("prefilter", "eliminate_rows", "slices")
_SINGLE = ("off: nothing", *(f"off: {rule}" for rule in _RULES), f"off: {', '.join(_RULES)}", "forced: always")
# Of so many instances of each query all variants run; of so many rows are counted, and all forms run.
_ALL_VARIANTS, _COUNTED = 2, 5


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the measurements: what runs, how many instances of each query by default, and on which tables."""

    run: Callable[[Runner, int], None]
    instances: int
    tables: tuple[str, ...] = ("real", "generated")


def speed(runner: Runner, count: int) -> None:
    """The chosen plan and no prefilter; of the first instances each rule alone, and a scan beside selective ones."""
    queries = instances(runner.choices, count)
    for done, query in enumerate(queries, 1):
        took = runner.group("speed", query, tuple(VARIANTS) if query.number < _ALL_VARIANTS else (CHOSEN, NONE))
        rows = runner.counted("sizes", query, CHOSEN, VARIANTS[CHOSEN]) if query.number < _COUNTED else None
        if rows is not None and rows < SELECTIVE * runner.rows:
            for want in (1, 2, 3):
                runner.timed("selective", query, CHOSEN, VARIANTS[CHOSEN], want)
                runner.scanned("selective", query, want)
        _progress("speed", runner, done, len(queries), query, took)


def equal(runner: Runner, count: int) -> None:
    """Each rule off, and all; of the first instances every combination, every form: only the results matter."""
    combined = dict(some(list(_combinations())))
    single = {variant: hints for variant, hints in combined.items() if variant in _SINGLE}
    queries = instances(runner.choices, count)
    for done, query in enumerate(queries, 1):
        for variant, hints in (combined if query.number < _ALL_VARIANTS else single).items():
            runner.timed("equal", query, variant, hints, rehearse=False)
        say(f"equal, {runner.table}, {done} of {len(queries)}: {query.name}")


def symbols(runner: Runner, count: int) -> None:
    """All symbol sets for (A Z* B Z* C), without row elimination, so that the choice matters."""
    for number, definition in some(list(product(range(count), DEFINITIONS))):
        _symbols(runner, instance(runner.choices, SEQUENCE, definition, number))


def _symbols(runner: Runner, query: Query) -> None:
    # Of the first instances all forms run; of the others those that planning weighs, which without conditions between
    # rows are masks alone.
    weighed = ("masks", "joins") if query.definition == "DyGeoBox" else ("masks",)
    forms = FORMS if query.number < _COUNTED else weighed
    sets = {variant: (hints, accept) for variant, hints, accept in _sets(query, forms)}

    def run(variant: str, want: int = 1) -> float:
        hints, accept = sets[variant]
        seconds = runner.timed("symbols", query, variant, hints, want, accept)
        return inf if seconds is None else seconds

    order = list(sets)
    Random(query.name).shuffle(order)
    took = {variant: run(variant) for variant in order}
    # The best of many single runs is partly luck: it runs again, until the best one has several runs. So do the chosen
    # plan and the forced one that is the same.
    plans = {variant: runner.keep.plan(("symbols", runner.table, query.name, variant)) for variant in order}
    again = {variant for variant in order if plans[variant] == plans[CHOSEN] and took[variant] < inf}
    took |= {variant: run(variant, 3) for variant in again}
    while (best := min(took, key=lambda variant: took[variant])) not in again and took[best] < inf:
        again.add(best)
        took[best] = run(best, 3)
    ran = sum(seconds < inf for seconds in took.values())
    say(f"symbols, {runner.table}: {query.name}: best {best}, {ran} of {len(took)} ran")


def sizes(runner: Runner, count: int) -> None:
    """Rows behind each prefilter of (A Z* B Z* C), beside their estimates."""
    for number, definition in some(list(product(range(count), DEFINITIONS))):
        query = instance(runner.choices, SEQUENCE, definition, number)
        # A forced plan is not estimated; the same one is, where planning is free to choose.
        weighed = estimates(query.text, runner.frame, {**VARIANTS["prefilter only"], "prefilter": "always"})
        known = {str(one.prefilter): one.rows for one in weighed if one.prefilter is not None}
        for variant, hints, accept in _sets(query, FORMS):
            if variant != NONE:
                runner.counted("sizes", query, f"set: {variant}", hints, accept, known)
        say(f"sizes, {runner.table}: {query.name}")


def windows(runner: Runner, count: int) -> None:
    """From one hour to a day."""
    axis = some(list(product(range(count), HOURS, (SEQUENCE, ALTERNATIVES))))
    for done, (number, hours, pattern) in enumerate(axis, 1):
        query = instance(runner.choices, pattern, "WithinDistrict", number, hours * 60)
        _progress("windows", runner, done, len(axis), query, runner.group("windows", query))


def lengths(runner: Runner, count: int) -> None:
    """From two to six symbols."""
    axis = some(list(product(range(count), LENGTHS, (sequence, alternatives))))
    for done, (number, length, family) in enumerate(axis, 1):
        query = instance(runner.choices, family(length), "WithinDistrict", number)
        _progress("lengths", runner, done, len(axis), query, runner.group("lengths", query))


SECTIONS: Mapping[str, Section] = {
    "speed": Section(speed, 20),
    "equal": Section(equal, 20, ("real",)),
    "symbols": Section(symbols, 20, ("generated",)),
    "sizes": Section(sizes, 3, ("generated",)),
    "windows": Section(windows, 5, ("generated",)),
    "lengths": Section(lengths, 5, ("generated",)),
}


def _combinations() -> Iterator[tuple[str, HintValues]]:
    """Rules switched off in all combinations; each form forced with and without elimination; long series cut."""
    for size in range(len(_RULES) + 1):
        for off in combinations(_RULES, size):
            yield f"off: {', '.join(off) or 'nothing'}", {"off": list(off)}
    yield "off: derive_window", {"off": ["derive_window"]}
    for form in ("always", *FORMS):
        yield f"forced: {form}", {"prefilter": form}
        yield f"forced: {form}, off: eliminate_rows", {"prefilter": form, "off": ["eliminate_rows"]}
    yield "forced: 3 slices", {"slices": 3}
    yield "forced: 3 slices, off: prefilter, eliminate_rows", {"slices": 3, "off": list(OFF)}
    yield "forced: 3 slices, always", {"slices": 3, "prefilter": "always"}


_Set = tuple[str, HintValues, Callable[[Planned], str] | None]


def _sets(query: Query, forms: Sequence[str]) -> list[_Set]:
    """No prefilter, what planning chooses, and each symbol set in these forms."""
    found: list[_Set] = [(NONE, VARIANTS[NONE], None), (CHOSEN, VARIANTS["prefilter only"], None)]
    names = variables_of(query.pattern)
    for size in some((1, 2, 3)):
        for chosen in some(list(combinations(names, size))):
            for form in some(forms):
                hints = {"prefilter": form, "symbols": [list(chosen)], "off": ["eliminate_rows"]}
                found.append((f"{form} of ({', '.join(chosen)})", hints, _is(form, chosen)))
    return found


def _is(form: str, names: tuple[str, ...]) -> Callable[[Planned], str]:
    """Why a plan is not the one that was asked for: not every form applies to every query."""

    def check(planned: Planned) -> str:
        prefilter = planned.prefilter
        if prefilter is None:
            return "does not apply"
        used = {prefilter.symbols[number].variable for part in prefilter.components for number in part.symbols}
        if prefilter.form.value != form or used != set(names):
            return f"became {prefilter}"
        return ""

    return check


def _progress(
    section: str, runner: Runner, done: int, total: int, query: Query, took: Mapping[str, float | None]
) -> None:
    chosen, none = took[CHOSEN], took[NONE]
    figures = "failed" if chosen is None or none is None else f"{none:.2f} s, {chosen:.2f} s with the chosen plan"
    say(f"{section}, {runner.table}, {done} of {total}: {query.name}: {figures}")
