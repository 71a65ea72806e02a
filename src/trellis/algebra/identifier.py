"""Names as they are written."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Identifier"]


@dataclass(frozen=True, slots=True)
class Identifier:
    """A name as written. Unquoted names compare without case."""

    text: str
    quoted: bool = False

    def __str__(self) -> str:
        # As written: with quotes added, a name would compare with case when it is read back.
        plain = not self.quoted and self.text.replace("_", "a").isalnum() and not self.text[0].isdigit()
        return self.text if plain else f"`{self.text.replace('`', '``')}`"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identifier) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> str:
        return self.text if self.quoted else self.text.upper()
