"""What conditions may read of other variables: whose rows make up one stretch, and who is known first."""

from __future__ import annotations

from trellis.algebra import expression as e
from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression
from trellis.algebra.logical_tree import (
    Both,
    Chain,
    Either,
    Leaf,
    LogicalNode,
    Loop,
    Without,
    next_nested,
    places_of,
    walk_all,
)
from trellis.errors import BindingError, UnsupportedError

__all__ = ["check_nested", "check_stretches"]


def check_stretches(bound: BoundQuery, tree: LogicalNode) -> None:
    """From outside, only the first and the last row can be read of a variable that has no single stretch of rows.

    That is so where it stands in several places, or beside others in a quantifier.
    """
    expressions: list[tuple[str | None, Expression]] = [(None, measure) for _, measure in bound.measures]
    expressions += bound.conditions
    for owner, expression in expressions:
        for node in e.walk(expression):
            names: tuple[str | None, ...] = ()
            match node:
                case e.SegmentCall(variables=names):
                    pass
                case e.At(place=place) if place.offset and place.variables is not None:
                    names = tuple(place.variables)
            for name in names:
                if name is not None and name != owner and not _is_stretch(tree, owner, name):
                    raise BindingError(
                        f"{name} stands in several places or iterations: its rows are not one stretch.",
                        cure=f"Read first({name}.x) and last({name}.x) only, or name the whole stretch: "
                        "`(...)+ & ALL_OF_IT` with SEGMENT ALL_OF_IT AS true.",
                        span=node.span,
                    )


def check_nested(tree: LogicalNode) -> None:
    """Parts that look outside are asked one after the other, so two of them cannot read each other."""
    for node in walk_all(tree):
        waiting = list(node.nested) if isinstance(node, Chain | Both | Either) else []
        while waiting:
            item = next_nested(waiting)
            if item is None:
                raise UnsupportedError(
                    "Two quantified or negated parts read each other's variables.",
                    cure="Let one of the conditions read a variable outside of both.",
                )
            waiting.remove(item)


def _is_stretch(tree: LogicalNode, owner: str | None, name: str) -> bool:
    """Whether the segments of a variable that a condition of `owner` (or a measure) sees make one stretch."""
    scopes = [tree] if owner is None else _scopes(tree, owner, name)
    return all(_is_stretch_in(scope, name) for scope in scopes)


def _scopes(tree: LogicalNode, owner: str, name: str) -> list[LogicalNode]:
    """The innermost scopes around the places of `owner` in which the variable is bound."""
    found: list[LogicalNode] = []

    def visit(node: LogicalNode, scope: LogicalNode) -> None:
        if owner in node.binds:
            found.append(scope)
        match node:
            case (
                Chain(parts=parts, nested=nested)
                | Both(parts=parts, nested=nested)
                | Either(parts=parts, nested=nested)
            ):
                for part in (*parts, *(item.part for item in nested)):
                    visit(part, scope)
            case Loop(body=body) | Without(body=body):
                visit(body, body if places_of(body, name) else scope)
            case Leaf():
                pass

    visit(tree, tree)
    return found


def _is_stretch_in(tree: LogicalNode, name: str) -> bool:
    if places_of(tree, name) > 1:
        return False

    def covers(node: LogicalNode) -> bool:
        """Whether the variable, if it is below, takes up the whole of the node."""
        if name in node.binds:
            return True
        match node:
            case Both(parts=parts, nested=nested):
                return any(covers(part) for part in (*parts, *(item.part for item in nested)))
            case Loop(body=body):
                return covers(body)
            case _:
                return False

    def sound(node: LogicalNode) -> bool:
        match node:
            case Loop(body=body):
                return not places_of(body, name) or (covers(body) and sound(body))
            case (
                Chain(parts=parts, nested=nested)
                | Both(parts=parts, nested=nested)
                | Either(parts=parts, nested=nested)
            ):
                return all(sound(part) for part in (*parts, *(item.part for item in nested)))
            case Leaf() | Without():
                return True

    return sound(tree)
