"""Figures in a file: a line of JSON for each, written at once, so that a long measurement goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic, TypeVar

__all__ = ["Results"]

Record = TypeVar("Record")


class Results(Generic[Record]):
    """The figures of a file, and those that are added to it; without a file they are held in memory alone.

    Figures are dataclasses. Where a file holds several kinds, each line names its own. A kind that is made of other
    dataclasses has a class method `of` that reads it back.
    """

    def __init__(self, path: Path | None, *kinds: type[Record]) -> None:
        self.path = path
        self._kinds = {kind.__name__: kind for kind in kinds}
        self._records: list[Record] = []
        if path is None or not path.exists():
            return
        text = path.read_text()
        lines = text.splitlines()
        for number, line in enumerate(lines, 1):
            try:
                self._records.append(self._read(json.loads(line)))
            except (json.JSONDecodeError, KeyError, TypeError) as problem:
                # The last line may have been cut off by a crash.
                if number < len(lines) or text.endswith("\n"):
                    raise SystemExit(
                        f"{path}, line {number}, is not a figure of this benchmark: {problem}"
                    ) from problem
        if text and not text.endswith("\n"):
            path.write_text("".join(self._line(record) for record in self._records))

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)

    def add(self, record: Record) -> Record:
        """Hold a figure, and write it at once."""
        self._records.append(record)
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a") as file:
                file.write(self._line(record))
        return record

    def _read(self, values: dict[str, Any]) -> Record:
        name = values.pop("kind") if len(self._kinds) > 1 else next(iter(self._kinds))
        kind = self._kinds[name]
        read: Callable[..., Record] = getattr(kind, "of", kind)
        return read(**values)

    def _line(self, record: Record) -> str:
        kind = {"kind": type(record).__name__} if len(self._kinds) > 1 else {}
        return json.dumps({**kind, **asdict(record)}) + "\n"  # type: ignore[call-overload]
