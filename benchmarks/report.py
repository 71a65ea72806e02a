"""What a benchmark says: Markdown tables, bars met or missed, the machine, and the page that keeps them."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

import psutil

__all__ = ["Bar", "Section", "machine", "summary", "table", "write_page"]


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of the project, and what was measured against it."""

    what: str
    limit: float
    measured: float
    unit: str = ""
    strict: bool = False

    @property
    def met(self) -> bool:
        """Whether the measure keeps to the limit."""
        return self.measured < self.limit if self.strict else self.measured <= self.limit

    def __str__(self) -> str:
        return f"bar {self.bound}: {'met' if self.met else 'MISSED'}"

    @property
    def bound(self) -> str:
        """The limit as text."""
        return f"{'<' if self.strict else '≤'} {self.limit:g}{self.unit}"


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report."""

    name: str
    title: str
    body: str
    bars: tuple[Bar, ...] = ()

    def text(self, caption: str) -> str:
        """The section in Markdown, with the machine below its tables."""
        return f"## {self.title}\n\n{self.body.strip()}\n\n{caption}\n"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [list(head), ["---"] * len(head), *([str(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def summary(sections: Sequence[Section]) -> Section:
    """All bars of all sections."""
    rows = [
        (bar.what, bar.bound, f"{bar.measured:.2f}{bar.unit}", "met" if bar.met else "MISSED")
        for section in sections
        for bar in section.bars
    ]
    return Section("summary", "Bars", table(("what", "bar", "measured", ""), rows))


def machine(scale: float) -> str:
    """One line: the machine, the versions, the day, and how busy the machine was."""
    memory = psutil.virtual_memory().total / 2**30
    versions = ", ".join(f"{name} {version(name.lower())}" for name in ("PySpark", "Numba", "PyArrow", "NumPy"))
    size = "full size" if scale == 1 else f"{scale:g} of full size"
    busy = f"load average {os.getloadavg()[0]:.1f} at the start"
    return (
        f"*{os.cpu_count()} cores of {_processor()}, {memory:.0f} GB; Python {platform.python_version()}, {versions}; "
        f"Spark local[2]; {date.today().isoformat()}; {size}; {busy}.*"
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        found = re.search(r"model name\s*:\s*(.+)", info.read_text())
        if found:
            return found[1].strip()
    return platform.processor() or platform.machine()


def write_page(page: Path, sections: Sequence[tuple[str, str]]) -> None:
    """Put the text of each section between its marks on a page; sections without marks go to its end."""
    text = page.read_text() if page.exists() else "# Row patterns: measurements\n"
    for name, body in sections:
        begin, end = f"<!-- {name}: written by benchmarks/row_patterns.py -->", f"<!-- end of {name} -->"
        block = f"{begin}\n{body.strip()}\n{end}"
        before, found, rest = text.partition(begin)
        if found:
            _, closed, after = rest.partition(end)
            if not closed:
                raise SystemExit(f"{page} has no line {end}: put it where the section ends.")
            text = before + block + after
        else:
            text = f"{text.rstrip()}\n\n{block}\n"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text)
