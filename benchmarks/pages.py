"""What a benchmark says: Markdown tables, bars met or MISSED, the machine, and the page that keeps them."""

from __future__ import annotations

import math
import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
import psutil

__all__ = ["Bar", "bar_table", "code", "latest", "machine", "number", "page", "percentile", "section", "show", "table"]
__all__ += ["with_blocks"]


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of the project, and what was measured against it.

    `met` is None where nothing was judged; without a bound (`–`) a figure is reported only.
    """

    what: str
    bound: str
    measured: str
    met: bool | None
    paper: str = ""

    @classmethod
    def at_most(cls, what: str, limit: float, measured: float, unit: str = "", *, below: bool = False) -> Bar:
        """A figure that must not exceed a limit, or must stay below it."""
        met = measured < limit if below else measured <= limit
        return cls(what, f"{'<' if below else '≤'} {limit:g}{unit}", f"{measured:.2f}{unit}", met)

    @property
    def verdict(self) -> str:
        """One word for the last column."""
        if self.met is None:
            return "report" if self.bound == "–" else ""
        return "met" if self.met else "MISSED"

    def __str__(self) -> str:
        return f"bar {self.bound}: {self.verdict}"


def bar_table(bars: Sequence[Bar]) -> str:
    """Bars as a table; with the paper's figures where there are any."""
    papers = any(bar.paper for bar in bars)
    head = ("what", "bar", *(["the paper's"] if papers else []), "measured", "")
    return table(head, [(b.what, b.bound, *([b.paper] if papers else []), b.measured, b.verdict) for b in bars])


# Text.


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [list(head), ["---"] * len(head), *([str(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def section(title: str, *parts: str) -> str:
    """A heading, and the parts that hold anything."""
    return "\n\n".join([f"## {title}", *(part.strip() for part in parts if part.strip())])


def page(*parts: str) -> str:
    """A page of the parts that hold anything."""
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def number(value: float) -> str:
    """Three digits or so."""
    if math.isinf(value):
        return "given up"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def code(text: str) -> str:
    """A pattern in a table: its bars must not end the cell."""
    return f"`{text}`".replace("|", "\\|")


def percentile(values: Iterable[float], percent: float) -> float:
    """A percentile, between values if need be."""
    return float(np.percentile(list(values), percent))


def machine(how: str, size: str) -> str:
    """One line: the machine, the versions, how and when it ran, how much, and how busy the machine was."""
    memory = psutil.virtual_memory().total / 2**30
    versions = ", ".join(f"{name} {version(name.lower())}" for name in ("PySpark", "Numba", "PyArrow", "NumPy"))
    return (
        f"*{os.cpu_count()} cores of {_processor()}, {memory:.0f} GB; Python {platform.python_version()}, {versions}; "
        f"{how}; {date.today().isoformat()}; {size}; load average {os.getloadavg()[0]:.1f} at the start.*"
    )


def latest(machines: Sequence[str]) -> str:
    """The machine of the last session, and how many sessions there were."""
    several = f"*Figures of {len(machines)} sessions, the last one on:* " if len(machines) > 1 else ""
    return several + machines[-1] if machines else ""


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        found = re.search(r"model name\s*:\s*(.+)", info.read_text())
        if found:
            return found[1].strip()
    return platform.processor() or platform.machine()


# Pages.


def show(text: str, target: Path | None) -> None:
    """Write a page, or print it."""
    if target is None:
        print(text, flush=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)


def with_blocks(target: Path, writer: str, blocks: Mapping[str, str]) -> str:
    """The text of a page with each block between its marks; blocks without marks go to its end."""
    text = target.read_text() if target.exists() else ""
    for name, body in blocks.items():
        begin, end = f"<!-- {name}: written by {writer} -->", f"<!-- end of {name} -->"
        block = f"{begin}\n{body.strip()}\n{end}"
        before, found, rest = text.partition(begin)
        if found:
            _, closed, after = rest.partition(end)
            if not closed:
                raise SystemExit(f"{target} has no line {end}: put it where the section ends.")
            text = before + block + after
        else:
            text = f"{text.rstrip()}\n\n{block}\n".lstrip()
    return text
