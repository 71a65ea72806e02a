"""Events of a repeated variable: `b[i-1].to`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from trellis.algebra.identifier import Identifier
from trellis.errors import Span

__all__ = ["Member", "MemberIndex"]


class MemberIndex(Enum):
    """Which events of a repeated variable `b[]` are meant; the value is what stands between the brackets."""

    FIRST = "1"
    CURRENT = "i"
    PREVIOUS = "i-1"
    LAST = "LEN"
    EARLIER = "..i-1"
    """All before the current one."""
    ALL = ""

    @property
    def is_range(self) -> bool:
        """Whether several events are meant: then it stands in an aggregate."""
        return self in (MemberIndex.EARLIER, MemberIndex.ALL)

    @property
    def is_running(self) -> bool:
        """Whether it speaks of the event that is about to be taken, or of those before it."""
        return self in (MemberIndex.CURRENT, MemberIndex.PREVIOUS, MemberIndex.EARLIER)


@dataclass(frozen=True, slots=True)
class Member:
    """A value of an event of a repeated variable, or of several: `b[i-1].to`, `b[..i-1].price`; `b[]` is counted."""

    variable: Identifier
    index: MemberIndex
    path: tuple[Identifier, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        index = f"{self.variable}.LEN" if self.index is MemberIndex.LAST else self.index.value
        return ".".join((f"{self.variable}[{index}]", *map(str, self.path)))
