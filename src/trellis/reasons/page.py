"""The report as HTML that stands for itself: styles are inside, nothing is fetched, and all text is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from trellis.reasons.text import end_text, head_text, rows_text

if TYPE_CHECKING:
    from trellis.reasons.report import Miss, Why

__all__ = ["report_html"]

# Colours are taken from what is around, so that the page fits light and dark notebooks.
_STYLE = """
.trellis-why { font: 13px/1.5 system-ui, sans-serif; max-width: 60em; }
.trellis-why h3 { font-size: 15px; margin: 0.2em 0 0.4em; }
.trellis-why h4 { font-size: 13px; margin: 1em 0 0.2em; }
.trellis-why ul { margin: 0.3em 0; padding-left: 1.3em; }
.trellis-why table { border-collapse: collapse; }
.trellis-why td, .trellis-why th { padding: 1px 10px 1px 0; text-align: left; vertical-align: top; border: 0; }
.trellis-why th { font-weight: 600; opacity: 0.7; }
.trellis-why .n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.trellis-why code { font: 12px ui-monospace, monospace; background: none; color: inherit; }
.trellis-why .none td, .trellis-why .failed td { color: #c62828; }
.trellis-why .bar { display: inline-block; height: 0.7em; background: #4c78a8; min-width: 1px; }
.trellis-why .note { opacity: 0.7; }
.trellis-why summary { cursor: pointer; }
"""
_BAR = 200


def report_html(why: Why) -> str:
    """The whole report; what is long can be opened."""
    parts = [f"<h3>{escape(head_text(why))}</h3>"]
    if why.findings:
        parts.append("<ul>" + "".join(f"<li>{escape(finding)}</li>" for finding in why.findings) + "</ul>")
    parts += [f'<div class="note">{escape(note)}</div>' for note in why.notes]
    if why.rows:
        parts += [*_variables(why), *_funnel(why), *_ends(why)]
        if why.nearest:
            parts.append("<h4>Nearest misses</h4>")
            parts += [_miss(number, miss, why) for number, miss in enumerate(why.nearest, 1)]
    return f'<div class="trellis-why"><style>{_STYLE}</style>{"".join(parts)}</div>'


def _variables(why: Why) -> list[str]:
    if not why.variables:
        return []
    lines = []
    segments = not why.words.shares
    for variable in why.variables:
        test = f"<code>{escape(variable.condition)}</code>" if variable.condition else why.words.whole
        told = [(variable.rows, test)] if segments or len(variable.parts) != 1 else []
        if len(variable.parts) > 1 or not segments:
            before = "of " if segments else "and "
            parts = [(part.rows, f"<code>{escape(part.text)}</code>") for part in variable.parts]
            told = told if segments or not parts else []
            told += [(rows, f"{before if told or at else ''}{text}") for at, (rows, text) in enumerate(parts)]
        for number, (rows, text) in enumerate(told):
            unknown = "too many" if segments else '<span title="looks at the match">?</span>'
            count = unknown if rows is None else f"{rows:,}"
            cells = [escape(variable.name) if number == 0 else "", count, text]
            lines.append(_line(cells, numbers={1}, kind="none" if rows == 0 else ""))
    return [f"<h4>{why.words.alone}</h4>", _table(lines)]


def _funnel(why: Why) -> list[str]:
    if not why.funnel or not why.starts:
        return []
    lines = []
    steps = [(step.text, step.count, step.runs) for step in why.funnel]
    most = why.starts if why.words.shares else max([1, *(count for _, count, _ in steps if count is not None)])
    for text, count, runs in [*steps, (why.words.match, why.matched, None)]:
        if count is None:
            lines.append(_line([escape(text), "too many"], numbers={1}))
            continue
        share = min(1.0, count / most)
        bar = f'<span class="bar" style="width: {round(_BAR * share)}px"></span>' if count else ""
        told = "" if runs is None or not count else f' <span class="note">in {runs:,} runs</span>'
        percent = f"{share:.1%}" if why.words.shares else ""
        cells = [escape(text), f"{count:,}", percent, bar + told]
        lines.append(_line(cells, numbers={1, 2}, kind="" if count else "none"))
    return [f"<h4>{escape(why.words.funnel.format(rows_text(why.starts)))}</h4>", _table(lines)]


def _ends(why: Why) -> list[str]:
    if not why.ends:
        return []
    lines = [_line([f"{end.count:,}", f"<code>{escape(end_text(end))}</code>"], numbers={0}) for end in why.ends]
    if why.within:
        told = f"of all these would have gone on, had WITHIN {why.within} not ended them"
        lines.append(_line([f"{why.cut:,}", escape(told)], numbers={0}))
    return [f"<h4>{why.words.ends}</h4>", _table(lines)]


def _miss(number: int, miss: Miss, why: Why) -> str:
    keys = ", ".join(f"{name} = {value}" for name, value in miss.keys)
    short = f"{rows_text(miss.missing)} short"
    head = f"{escape(keys + ': ' if keys else '')}{short}, <code>{escape(end_text(miss.end))}</code>"
    lines = [_line(["row", *map(escape, why.columns), ""], numbers={0}, tag="th")]
    for at, row in enumerate(miss.rows):
        if miss.gap and at == 3:
            lines.append(_line(["", f'<span class="note">{rows_text(miss.gap)} between</span>'], numbers=set()))
        name = escape(row.element) if row.element else f"not {escape(miss.end.element)}"
        kind = "" if row.element else "failed"
        lines.append(_line([f"{row.number:,}", *map(escape, row.values), name], numbers={0}, kind=kind))
    opened = ' open="open"' if number == 1 else ""
    return f"<details{opened}><summary>{head}</summary>{_table(lines)}</details>"


def _table(lines: Sequence[str]) -> str:
    return f"<table>{''.join(lines)}</table>"


def _line(cells: Sequence[str], *, numbers: set[int], kind: str = "", tag: str = "td") -> str:
    told = "".join(
        f'<{tag} class="n">{cell}</{tag}>' if at in numbers else f"<{tag}>{cell}</{tag}>"
        for at, cell in enumerate(cells)
    )
    return f'<tr class="{kind}">{told}</tr>' if kind else f"<tr>{told}</tr>"
