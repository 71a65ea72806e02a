"""What a run remembers, and until when: the rows and aggregates that conditions still to come read.

Two runs in one state are the same if all that counts there is the same: the masks of the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trellis.algebra.event_scan import PartSpec, WordSpec
from trellis.kernels import opcodes as o
from trellis.planning.rows.row_conditions import RowConditions

__all__ = ["words_of"]

# Sums and extremes know by their number of values only whether there are any.
_KNOWN_ONLY = frozenset(range(o.SUM_INT, o.SUM_WIDE + 3)) - {o.AVG, *range(o.VAR_SAMP, o.STDDEV_POP + 1)}


def words_of(parts: tuple[PartSpec, ...], conditions: RowConditions) -> tuple[WordSpec, ...]:
    """The words of a run."""
    states: dict[int, set[int]] = {}
    slots: dict[int, set[int]] = {}
    by_row: set[int] = set()
    for state in range(2 * len(parts)):
        for condition in _ahead(state, parts):
            for word, slot in _reads(condition, conditions):
                states.setdefault(word, set()).add(state)
                if slot is None:
                    by_row.add(word)
                elif slot >= 0:
                    slots.setdefault(word, set()).add(slot)
    aggregates = 2 * len(conditions.sets)
    count = aggregates + o.AGGREGATE_WORDS * len(conditions.aggregates)
    return tuple(
        WordSpec(
            frozenset(states.get(word, ())),
            tuple(sorted(slots.get(word, ()))),
            word in by_row,
            as_known=(word - aggregates) % o.AGGREGATE_WORDS == 0
            and word >= aggregates
            and conditions.aggregates[(word - aggregates) // o.AGGREGATE_WORDS].kind in _KNOWN_ONLY,
        )
        for word in range(count)
    )


def _ahead(state: int, parts: tuple[PartSpec, ...]) -> Iterator[int]:
    """The conditions on what was taken before that a run in this state may still meet."""
    part, inside = divmod(state, 2)
    for number in range(part, len(parts)):
        edges = [] if inside and number == part else [parts[number].begin]
        if parts[number].repeated:
            edges += [parts[number].take, parts[number].proceed]
        yield from (edge.before for edge in edges if edge.before >= 0)


def _reads(number: int, conditions: RowConditions) -> Iterable[tuple[int, int | None]]:
    """The words that a condition reads, and the slots of rows: None is the row itself, -1 is no slot."""
    condition = conditions.conditions[number]
    sets, aggregates = conditions.sets, 2 * len(conditions.sets)
    for op, slot, place in conditions.program.code[condition.begin : condition.end]:
        if op in (o.AGGREGATE_INT, o.AGGREGATE_FLOAT, o.AGGREGATE_WIDE):
            yield from ((aggregates + o.AGGREGATE_WORDS * slot + word, -1) for word in range(o.AGGREGATE_WORDS))
            continue
        if op not in (o.LOAD_INT, o.LOAD_FLOAT, o.LOAD_WIDE, o.PRESENT, o.ROW, o.LABEL):
            continue
        where = conditions.places[place]
        if where.variables is None:
            continue
        word = 2 * sets.index(where.variables) + (not where.from_first)
        if op in (o.LOAD_INT, o.LOAD_FLOAT):
            yield word, slot
        elif op == o.LOAD_WIDE:
            yield word, slot
            yield word, slot + 1
        else:
            yield word, -1 if op == o.PRESENT else None
