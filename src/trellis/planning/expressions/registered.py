"""Functions that somebody registered, where a row that they read may be missing.

The standard's value of a column in a row that does not exist is NULL, and Spark's own functions are computed for such
NULLs ahead of the search, since nobody knows whether it will ask. A registered function may not know what to make of
them, and Spark calls Python functions whatever stands around them. So they are marked here, and `hoist_slots` and
`pair_slots` make them NULL there, without a call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

from trellis.algebra import expression as e
from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression
from trellis.algebra.place import Place
from trellis.analysis.source import Source
from trellis.planning.expressions.hoist_slots import STRICT_FUNCTIONS

__all__ = ["mark_registered"]

# Spark need not be asked about these: they are its own.
_BUILT_IN = STRICT_FUNCTIONS | frozenset("coalesce nvl ifnull nullif if iff least greatest".split())


def mark_registered(bound: BoundQuery, source: Source) -> BoundQuery:
    """The query with its calls of registered functions marked, as far as rows that they read may be missing."""
    ask = cache(source.is_registered)
    return replace(
        bound,
        conditions=tuple((name, _marked(part, _around(part), ask)) for name, part in bound.conditions),
        measures=tuple((name, _marked(part, _inside(part), ask)) for name, part in bound.measures),
    )


def _marked(expression: Expression, asked: Iterator[e.Call], is_registered: Callable[[str], bool]) -> Expression:
    names = {call.function for call in asked} - _BUILT_IN
    registered = frozenset(name for name in sorted(names) if is_registered(name))

    def mark(node: Expression) -> Expression:
        if isinstance(node, e.Call) and node.function in registered:
            node = replace(node, registered=True)
        return e.rebuild(node, mark)

    return mark(expression) if registered else expression


def _around(condition: Expression) -> Iterator[e.Call]:
    """The calls around values of other rows than the current one, and around labels, which such rows may lack."""
    for node in e.walk(condition):
        if isinstance(node, e.Call) and any(map(_may_lack, e.walk(node))):
            yield node


def _may_lack(part: Expression) -> bool:
    return isinstance(part, (e.ClassifierAt, e.Classifier)) or (isinstance(part, e.At) and part.place != Place())


def _inside(measure: Expression) -> Iterator[e.Call]:
    """The calls inside navigation, which Spark would compute when it finishes the measure."""
    for node in e.walk(measure):
        if isinstance(node, e.At):
            yield from (part for part in e.walk(node.value) if isinstance(part, e.Call))
