"""Stretches of a text that are replaced wherever the text is quoted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from trellis.errors import Span

__all__ = ["Edit", "quote"]


@dataclass(frozen=True, slots=True)
class Edit:
    """A stretch of the text, and what stands for it."""

    span: Span
    replacement: str


def quote(text: str, edits: Iterable[Edit], span: Span) -> str:
    """The text of a span with the edits inside it made; edits must not overlap."""
    pieces = []
    at = span.start
    for edit in sorted(edits, key=lambda edit: edit.span.start):
        if at <= edit.span.start and edit.span.end <= span.end:
            pieces += [text[at : edit.span.start], edit.replacement]
            at = edit.span.end
    pieces.append(text[at : span.end])
    return "".join(pieces)
