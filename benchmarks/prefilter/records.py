"""The figures of prefilters: what is kept of each run, and what has been run already."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.results import Results

__all__ = ["AGAIN", "CHOSEN", "NONE", "SELECTIVE", "Keep", "Key", "Record"]

CHOSEN = "chosen"
"""The variant with all rules on, and all choices by cost."""
NONE = "no prefilter"
"""The same engine without prefilter and without row elimination; slices stay."""
AGAIN = "no prefilter, again"
"""The same as `NONE`, to see how far two runs of one plan differ."""
SELECTIVE = 0.01
"""A query is selective if less than this share of the rows reaches the matcher."""

Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Record:
    """One run of one query in one variant, or (in section `about`) facts about a table or the machine.

    `seconds` is the whole, `planning` the part of it before anything was asked for. `digest` stands for the rows of the
    result, whatever their order. `plan` is the prefilter of the plan, `estimate` the rows that it was thought to leave,
    `rows` those that it left. `facts` say what the tables group by.
    """

    section: str
    table: str
    query: str
    variant: str
    text: str = ""
    seconds: float = 0.0
    planning: float = 0.0
    matches: int = 0
    digest: str = ""
    plan: str | None = None
    estimate: float | None = None
    rows: int | None = None
    facts: dict[str, object] = field(default_factory=dict)
    error: str = ""
    skipped: str = ""

    @property
    def key(self) -> Key:
        """What the figure is kept under."""
        return self.section, self.table, self.query, self.variant


class Keep:
    """All figures, and the runs among them by key. Runs that failed are not there: they are tried again."""

    def __init__(self, path: Path | None) -> None:
        self._results = Results(path, Record)
        self._held: dict[Key, list[Record]] = defaultdict(list)
        for record in self._results:
            self._hold(record)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._results)

    def _hold(self, record: Record) -> None:
        if not record.error:
            self._held[record.key].append(record)

    def add(self, record: Record) -> Record:
        """Write a record at once."""
        self._hold(record)
        return self._results.add(record)

    def other(self, what: str) -> SystemExit:
        """The file belongs to another measurement."""
        return SystemExit(f"{self._results.path} holds figures of another {what}: use another file.")

    def held(self, key: Key, text: str) -> list[Record]:
        """The runs under a key, which must be of the same query: another seed or bound belongs into another file."""
        runs = self._held.get(key, [])
        if any(run.text != text for run in runs):
            raise self.other(f"query named {key[2]!r}")
        return runs

    def plan(self, key: Key) -> str | None:
        """The prefilter of the last run under a key."""
        runs = self._held.get(key, [])
        return runs[-1].plan if runs else None

    def seconds(self, key: Key) -> float | None:
        """The median time under a key, None if there is none."""
        runs = [run.seconds for run in self._held.get(key, []) if not run.skipped]
        return median(runs) if runs else None
