"""The report as text: the first screen says what to look at."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trellis.reasons.report import End, Miss, Variable, Why

__all__ = ["end_text", "head_text", "report_text", "rows_text"]

_WIDTH = 110
_BAR = 24
_WIDEST = 44
_MOST_VARIABLES = 8
_MOST_STEPS = 8
_MOST_FINDINGS = 4
_MOST_ENDS = 5
_MOST_LINES_OF_MISSES = 12


def report_text(why: Why) -> str:
    """All of the report in forty lines; longer lists are cut, and say so."""
    lines = [_cut(head_text(why))]
    lines += [line for finding in why.findings[:_MOST_FINDINGS] for line in _wrapped(finding)]
    lines += [line for note in why.notes for line in _wrapped(f"({note})", "    ")]
    if why.variables and why.rows:
        lines += ["", why.words.alone, *_variables(why)]
    if why.funnel and why.starts:
        lines += ["", why.words.funnel.format(rows_text(why.starts)), *_funnel(why)]
    if why.ends:
        lines += ["", why.words.ends, *_ends(why)]
    misses = _misses(why)
    if misses:
        lines += ["", "Nearest misses" if len(why.nearest) > 1 else "Nearest miss", *misses]
    return "\n".join(lines)


def head_text(why: Why) -> str:
    """How many matches there are, of what, and where."""
    matches = "An unknown number of matches" if why.matches is None else _plural(why.matches, "match", "matches")
    where = "" if why.partitions <= 1 else f" in {why.partitions:,} partitions"
    sample = "" if why.rows == why.total else f" (a sample: there are {why.total:,})"
    return f"{matches} of ({why.pattern}) in {rows_text(why.rows)}{where}{sample}"


def _variables(why: Why) -> list[str]:
    width = max(len(variable.name) for variable in why.variables)
    lines: list[str] = []
    for at, variable in enumerate(why.variables):
        if len(lines) >= _MOST_VARIABLES:
            lines.append(f"  ... and {len(why.variables) - at} more")
            break
        told = _of_segments(variable, why) if not why.words.shares else _of_rows(variable, why)
        for number, (count, text) in enumerate(told):
            lines.append(_cut(f"  {variable.name if number == 0 else '':{width}} {count:>13}  {text}"))
    return lines


def _of_rows(variable: Variable, why: Why) -> list[tuple[str, str]]:
    """A line for the condition; or where no row satisfies it, or it looks at the match, for each of its parts."""
    parts = variable.parts if variable.rows == 0 or variable.looks_at_match else ()
    if len(parts) <= 1 and not variable.looks_at_match:
        mark = "   <- no row" if variable.rows == 0 else ""
        return [(f"{variable.rows:,}", f"{variable.condition or why.words.whole}{mark}")]
    lines = []
    for number, part in enumerate(parts):
        mark = "   <- looks at the match" if part.rows is None else "   <- no row" if part.rows == 0 else ""
        count = "?" if part.rows is None else f"{part.rows:,}"
        lines.append((count, f"{'and ' if number else ''}{part.text}{mark}"))
    return lines


def _of_segments(variable: Variable, why: Why) -> list[tuple[str, str]]:
    """A line for the variable, and if it has several conditions one for each."""
    mark = "   <- no segment" if variable.rows == 0 else ""
    lines = [(_count(variable.rows), f"{variable.condition or why.words.whole}{mark}")]
    if len(variable.parts) > 1:
        lines += [
            (_count(part.rows), f"  of {part.text}{'   <- none' if part.rows == 0 else ''}") for part in variable.parts
        ]
    return lines


def _funnel(why: Why) -> list[str]:
    gap = len(why.funnel) - _MOST_STEPS
    cut = [*why.funnel[: _MOST_STEPS // 2], *why.funnel[-(_MOST_STEPS // 2) :]] if gap > 0 else list(why.funnel)
    steps = [(step.text, step.count, step.runs) for step in cut] + [(why.words.match, why.matched, None)]
    width = min(_WIDEST, max(len(text) for text, _, _ in steps))
    most = why.starts if why.words.shares else max([1, *(count for _, count, _ in steps if count is not None)])
    lines = []
    for number, (text, count, runs) in enumerate(steps):
        if gap > 0 and number == _MOST_STEPS // 2:
            lines.append(f"  ... {_plural(gap, 'place', 'places')} between")
        name = text if len(text) <= width else f"{text[: width - 1]}…"
        if count is None:
            lines.append(f"  {name:{width}} {'too many':>13}")
            continue
        share = min(1.0, count / most)
        told = "" if runs is None or not count else f"  in {_plural(runs, 'run', 'runs')}"
        bar = "<- none" if count == 0 else "#" * round(_BAR * share) or "."
        percent = f"{share:>6.1%}  " if why.words.shares else ""
        lines.append(f"  {name:{width}} {count:>13,}  {percent}{bar}{told}")
    return lines


def _count(count: int | None) -> str:
    return "too many" if count is None else f"{count:,}"


def _ends(why: Why) -> list[str]:
    lines = [_cut(f"  {end.count:>13,}  {end_text(end)}") for end in why.ends[:_MOST_ENDS]]
    rest = why.ends[_MOST_ENDS:]
    if rest:
        lines.append(f"  {sum(end.count for end in rest):>13,}  for {len(rest)} other reasons")
    if why.within:
        told = "would have gone on" if why.cut else "would have gone on, so it is not WITHIN"
        lines.append(f"  {why.cut:>13,}  of all these {told}, had WITHIN {why.within} not ended them")
    return lines


def end_text(end: End) -> str:
    """What ended partial matches, in a few words."""
    match end.reason:
        case "condition":
            return f"{end.element}: not {end.text}" if " " not in end.text else f"{end.element}: not ({end.text})"
        case "within":
            return f"{end.element}: the row lies beyond WITHIN"
        case "rows":
            return f"{end.element}: there is no more row"
        case _:
            return end.text


def _misses(why: Why) -> list[str]:
    lines: list[str] = []
    for number, miss in enumerate(why.nearest):
        told = _miss(number + 1, miss, why.columns)
        if lines and len(lines) + len(told) > _MOST_LINES_OF_MISSES:
            break
        lines += told
    return lines


def _miss(number: int, miss: Miss, columns: tuple[str, ...]) -> list[str]:
    keys = "".join(f"{name} = {value}, " for name, value in miss.keys)
    first = miss.rows[0].number if miss.rows else 0
    short = f"{_plural(miss.missing, 'row', 'rows')} short"
    lines = [_cut(f"  {number}. {keys}from row {first}, {short}: {end_text(miss.end)}")]
    names = ["row", *columns, ""]
    cells = [[f"{row.number:,}", *row.values, row.element or f"not {miss.end.element}"] for row in miss.rows]
    widths = [max(len(line[at]) for line in [names, *cells]) for at in range(len(names))]
    for at, line in enumerate([names, *cells]):
        if miss.gap and at == 4:
            lines.append(f"     ... {_plural(miss.gap, 'row', 'rows')} between")
        right = "  ".join(f"{cell:>{size}}" for cell, size in zip(line[:-1], widths, strict=False))
        lines.append(_cut(f"     {right}  {line[-1]}".rstrip()))
    return lines


def _wrapped(text: str, mark: str = "  * ") -> list[str]:
    return wrap(text, _WIDTH, initial_indent=mark, subsequent_indent="    ")


def rows_text(count: int) -> str:
    """A number of rows."""
    return _plural(count, "row", "rows")


def _plural(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _cut(line: str) -> str:
    line = " ".join(line.split("\n"))
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"
