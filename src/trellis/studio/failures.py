"""A failure as the page shows it: what, where in the text, and the cure."""

from __future__ import annotations

from typing import Any

from trellis.errors import Span, TrellisError

__all__ = ["failure_of", "place_of"]


def failure_of(error: TrellisError, text: str) -> dict[str, Any]:
    """What the page needs to show an error; places only if the error speaks of this text."""
    told: dict[str, Any] = {"problem": error.problem, "cure": error.cure or "", "place": None}
    if error.span is not None and error.text in (None, text):
        told["place"] = place_of(text, error.span)
    return told


def place_of(text: str, span: Span) -> dict[str, int]:
    """A stretch of a text as JavaScript counts it, in UTF-16; and its line and column as readers do, from one."""
    start = min(max(span.start, 0), len(text))
    end = min(max(span.end, start), len(text))
    return {
        "start": _units(text[:start]),
        "end": _units(text[:end]),
        "line": text.count("\n", 0, start) + 1,
        "column": start - text.rfind("\n", 0, start),
    }


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
