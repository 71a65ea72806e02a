"""The operators SEQ, AND and OR of event patterns: trees of components, and what no such tree may be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from trellis.algebra.pattern import Alt, And, Concat, Not, Pattern, children
from trellis.errors import BindingError, Span

__all__ = ["check_tree", "join_parts"]

Named = tuple[str, str, Span]
"""A variable, its name as written, and where its component stands."""


def join_parts(operator: str, parts: Sequence[Pattern]) -> Pattern:
    """SEQ, AND or OR of parts; what stands inside the same operator is part of it, and one part is itself."""
    if len(parts) == 1:
        return parts[0]
    kind: type[Concat | And | Alt] = {"SEQ": Concat, "AND": And, "OR": Alt}[operator]
    return kind(tuple(chain.from_iterable(children(part) if isinstance(part, kind) else (part,) for part in parts)))


def check_tree(pattern: Pattern, components: Sequence[Named], span: Span) -> None:
    """Refuse two components of one name that can be in the same match, and matches of nothing.

    `components` are the leaves of the tree, in order. Alternatives may use the same name, if it means events of the
    same kind: single, repeated or absent.
    """
    _names(pattern, iter(components))
    if _can_be_nothing(pattern):
        raise BindingError(
            "Every component is negated: there is no event that a match could be told by.",
            cure="Name the event around which the others must be absent.",
            span=span,
        )


def _names(pattern: Pattern, components: Iterator[Named]) -> dict[str, tuple[type[Pattern], Named]]:
    """The variables of a part: what each of them means, and the first component that it names."""
    if not isinstance(pattern, Concat | And | Alt):
        component = next(components)
        return {component[0]: (type(pattern), component)}
    found: dict[str, tuple[type[Pattern], Named]] = {}
    for part in children(pattern):
        for variable, (kind, component) in _names(part, components).items():
            if variable in found and not (isinstance(pattern, Alt) and found[variable][0] is kind):
                raise BindingError(
                    f"Two components are called {component[1]}.",
                    cure="Give each component a name of its own.",
                    span=component[2],
                )
            found.setdefault(variable, (kind, component))
    return found


def _can_be_nothing(pattern: Pattern) -> bool:
    if isinstance(pattern, Alt):
        return any(map(_can_be_nothing, pattern.options))
    if isinstance(pattern, Concat | And):
        return all(map(_can_be_nothing, pattern.parts))
    return isinstance(pattern, Not)
