"""What a rule is, and how rules are applied: each can be switched off, is timed, and says what it did."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, ParamSpec, TypeVar

from trellis.algebra.plan import Fired

__all__ = ["Change", "Firing", "Rule"]

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Change(Generic[T]):
    """What a rule made of its input, and a note for readers of `explain`; none where nothing is worth telling."""

    value: T
    note: str


@dataclass(frozen=True, slots=True)
class Rule(Generic[P, T]):
    """A rewriting that leaves the result of every query as it is; `apply` gives None where it has nothing to do."""

    name: str
    about: str
    apply: Callable[P, Change[T] | None]


@dataclass(slots=True)
class Firing:
    """The rules as one query uses them: those that are `off` never fire, those that `fired` are remembered."""

    off: frozenset[str] = frozenset()
    fired: list[Fired] = field(default_factory=list)

    def apply(self, rule: Rule[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """What the rule makes of its arguments; None if it is off, or has nothing to do."""
        if rule.name in self.off:
            return None
        began = time.perf_counter()
        change = rule.apply(*args, **kwargs)
        if change is None:
            return None
        if change.note:
            self.fired.append(Fired(rule.name, change.note, time.perf_counter() - began))
        return change.value
