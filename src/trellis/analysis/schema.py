"""The columns of the input, as far as binding needs them: names and Spark's text for their types."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from trellis.algebra.expression import Identifier
from trellis.errors import BindingError, Span

__all__ = ["Schema"]


@dataclass(frozen=True, slots=True)
class Schema:
    """Ordered columns: (name, type text). `qualifier` are the names of the input that may stand before a column.

    `padded` are columns with texts of a fixed length (CHAR): Spark fills them and what they are compared with up with
    spaces, though not everywhere, so that what equals two values of others does not make these equal. `lengths` are
    those of padded columns that are no structs.
    """

    columns: tuple[tuple[str, str], ...]
    case_sensitive: bool = False
    qualifier: tuple[str, ...] = ()
    padded: frozenset[str] = frozenset()
    lengths: tuple[tuple[str, int], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(name for name, _ in self.columns)

    def find(self, identifier: Identifier) -> str | None:
        """The exact name of a column, None if there is none; case does not matter unless the session says so."""
        found = [name for name in self.names if self._fold(name) == self._fold(identifier.text)]
        return found[0] if found else None

    def require(self, identifier: Identifier, span: Span | None) -> str:
        """As `find`, with an error for an unknown or ambiguous name."""
        found = [name for name in self.names if self._fold(name) == self._fold(identifier.text)]
        if len(found) > 1:
            raise BindingError(
                f"The name {identifier.text} fits {len(found)} columns of the input.",
                cure="Rename one of them in a subquery.",
                span=span,
            )
        if not found:
            raise BindingError(
                f"There is no column {identifier.text}.", cure=self._suggest(identifier.text, span), span=span
            )
        return found[0]

    def unqualified(self, parts: tuple[Identifier, ...]) -> tuple[Identifier, ...]:
        """The parts of a name without the input's name before the column, as far as there is such a column."""
        names = [self._fold(part.text) for part in parts]
        for length in range(min(len(self.qualifier), len(parts) - 1), 0, -1):
            qualifies = names[:length] == [self._fold(name) for name in self.qualifier[-length:]]
            if qualifies and self.find(parts[length]) is not None:
                return parts[length:]
        return parts

    def type_of(self, name: str) -> str:
        """The type of a column, by its exact name."""
        return dict(self.columns)[name]

    def _fold(self, name: str) -> str:
        return name if self.case_sensitive else name.lower()

    def _suggest(self, name: str, span: Span | None) -> str:
        lowered = {column.lower(): column for column in self.names}
        close = get_close_matches(name.lower(), lowered, n=1, cutoff=0.7)
        if close:
            return f"Did you mean {lowered[close[0]]}?"
        quotes = "" if span is None else f" A text stands in quotes: '{name}'."
        return f"The columns are {', '.join(self.names)}.{quotes}"
