"""Sub-patterns as people write patterns: slots have letters, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Iterator

from trellis.algebra.subpatterns import SubPattern

__all__ = ["short_text", "sub_pattern_text"]

# How the tests of a part name it.
_ITSELF = "`?0`"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def sub_pattern_text(pattern: SubPattern) -> str:
    """The whole sub-pattern.

    Examples
    --------
    >>> falls = (("`?0`.price > `?1`.price", (1, 0)),)
    >>> print(sub_pattern_text(SubPattern(("Buy+ {`?0`[1].size > 9}", "Sell"), ((1, 0),), falls, ("symbol",))))
    SEQ(Sell a, Buy+ b[] {b[1].size > 9}) { [symbol] AND a.price > b.price }
    """
    slots, sequence = _shown(pattern)
    letters = {slot: _letter(place) for place, slot in enumerate(slots)}
    parts = ", ".join(_part(pattern.parts[slot], letters[slot]) for slot in slots)
    tests = [f"[{', '.join(pattern.keys)}]"] if pattern.keys else []
    if not sequence:
        tests += [f"{letters[first]} -> {letters[second]}" for first, second in _neighbours(pattern.order)]
    for template, reads in pattern.conditions:
        for place, slot in enumerate(reads):
            template = template.replace(f"`?{place}`", letters[slot])
        tests.append(template)
    text = parts if len(slots) == 1 else f"{_operator(sequence)}({parts})"
    return f"{text} {{ {' AND '.join(tests)} }}" if tests else text


def short_text(pattern: SubPattern) -> str:
    """Its operator and its types alone.

    Examples
    --------
    >>> print(short_text(SubPattern(("A {`?0`.x > 3}", "B+"), conditions=(("`?0`.x < `?1`[1].x", (0, 1)),))))
    AND(A, B+)
    """
    slots, sequence = _shown(pattern)
    types = ", ".join(pattern.parts[slot].partition(" {")[0] for slot in slots)
    return types if len(slots) == 1 else f"{_operator(sequence)}({types})"


def _shown(pattern: SubPattern) -> tuple[list[int], bool]:
    """The slots in the order in which they are shown, and whether events come in that order."""
    size = len(pattern.parts)
    sequence = len(pattern.order) == size * (size - 1) // 2
    before = [sum(second == slot for _, second in pattern.order) for slot in range(size)]
    return sorted(range(size), key=before.__getitem__) if sequence else list(range(size)), sequence


def _neighbours(order: tuple[tuple[int, int], ...]) -> Iterator[tuple[int, int]]:
    """The pairs that say it all: where `a -> b` and `b -> c` are said, `a -> c` need not be."""
    known = set(order)
    slots = {slot for pair in order for slot in pair}
    for first, second in order:
        if not any((first, slot) in known and (slot, second) in known for slot in slots):
            yield first, second


def _operator(sequence: bool) -> str:
    return "SEQ" if sequence else "AND"


def _letter(place: int) -> str:
    return _LETTERS[place] if place < len(_LETTERS) else f"v{place}"


def _part(label: str, letter: str) -> str:
    types, opening, tests = label.partition(" {")
    return f"{types} {letter}{'[]' if types.endswith('+') else ''}{opening}{tests.replace(_ITSELF, letter)}"
