"""The argument `types`: all types of events that there are."""

from __future__ import annotations

from collections.abc import Collection

from trellis.errors import BindingError

__all__ = ["known_types"]


def known_types(types: Collection[str] | None) -> frozenset[str] | None:
    """The types as a set; a single text would be taken for its letters."""
    if isinstance(types, str):
        raise BindingError(
            f"types lists all types of events, and {types!r} is one text.", cure=f"Write types=[{types!r}]."
        )
    return None if types is None else frozenset(types)
