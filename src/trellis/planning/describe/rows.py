"""The search of a row pattern as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from trellis.algebra.automaton import AutomatonScan, Condition, MatchScan, Search, SkipSpec
from trellis.algebra.scan import Gather, ListAggregate, Number, Output, PatternName, Value
from trellis.kernels import opcodes as o

__all__ = ["conditions", "output_text", "search", "summary", "tested_by"]

_WHERE = {
    "always": "always true",
    "spark": "by Spark",
    "bit": "as a bit",
    "kernel": "by the kernel",
}


def conditions(scan: MatchScan) -> list[str]:
    """A line for each condition: its variable, who tests it, and what it became."""
    width = max((len(condition.variable) for condition in scan.conditions), default=0)
    where = [tested_by(condition) for condition in scan.conditions]
    place = max(map(len, where), default=0)
    return [
        f"{condition.variable:{width}}  {how:{place}}  {condition.text}".rstrip()
        for condition, how in zip(scan.conditions, where, strict=True)
    ]


def tested_by(condition: Condition) -> str:
    """Who tests a condition."""
    return f"{_WHERE[condition.where]}{', slow' if condition.slow else ''}"


def summary(scan: AutomatonScan) -> str:
    """How large the automaton is, and what it is asked for."""
    slots = len(scan.slots) + len(scan.measure_slots)
    return (
        f"{len(scan.instructions)} instructions, {len(scan.variables)} variables, {slots} slots, "
        f"{scan.rows_per_match.value}{' SHOW TIMEOUT MATCHES' if scan.timeouts else ''}, {scan.skip.value}"
    )


def search(scan: AutomatonScan) -> list[str]:
    """How the automaton is searched, and those beside it."""
    lines = _one_search(scan)
    for other in scan.others:
        lines += ["beside it, in the same rows:", *_one_search(other)]
    return lines


def _one_search(scan: AutomatonScan) -> list[str]:
    if scan.skips is not None:
        return _skipping(scan, scan.skips)
    if scan.search is Search.TABLE:
        return ["search: by table, linear in rows (conditions look at rows only)"]
    kinds = [merge.kind for merge in scan.merges]
    local = all(condition.where != "kernel" for condition in scan.conditions)
    lines = [f"search: backtracking{'' if not local else ', linear in rows (conditions look at rows only)'}"]
    if scan.timeouts:
        lines = ["search: backtracking, from each row to the end of its window (matches that timed out are wanted)"]
    if o.KEYED in kinds:
        lines.append("states are the same where what later conditions read is the same")
    if o.NEVER in kinds:
        lines.append("some states cannot be compared: the search may take many steps")
    lines.append(f"step budget {scan.budget:,} for each series")
    return lines


def output_text(output: Output, names: Mapping[str, str], scan: MatchScan) -> str:
    """What an output of the search is."""
    place = getattr(output, "place", None)
    where = "" if place is None else "row" if place < 0 else str(scan.measure_places[place])
    match output:
        case Gather(column=column):
            return f"[{names[column]} @ {where}]"
        case Number():
            return "MATCH_NUMBER()"
        case PatternName():
            return "[name of the pattern]"
        case Value(aggregate=aggregate):
            return f"[aggregate {aggregate}]"
        case ListAggregate(columns=columns):
            return f"[values of {names[columns[0]]}]"
        case _:
            return f"[{type(output).__name__.lower()} @ {where}]"


def _skipping(scan: AutomatonScan, skips: SkipSpec) -> list[str]:
    """The tables of a search by skipping, as the paper writes them."""
    lines = ["search: by skipping, linear in rows (conditions look at rows only)", *_table(scan, skips)]
    if skips.sure_next:
        lines.append(f"where no value is NULL{' and no number that is multiplied negative' if skips.positive else ''}:")
        lines += _table(scan, replace(skips, shift=skips.sure_shift, next=skips.sure_next, passes=skips.sure_passes))
    return lines


def _table(scan: AutomatonScan, skips: SkipSpec) -> list[str]:
    names = [
        ("*" if star else "") + scan.variables[number] for number, star in zip(skips.elements, skips.stars, strict=True)
    ]
    width = max(map(len, names))
    following = [f"{one}{'!' if passes else ''}" for one, passes in zip(skips.next[1:], skips.passes[1:], strict=True)]
    rows = (("fails", names), ("shift", skips.shift[1:]), ("next", following))
    return [f"  {title:5}  {' '.join(f'{value!s:>{width}}' for value in values)}" for title, values in rows]
