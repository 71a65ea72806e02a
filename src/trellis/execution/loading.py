"""From Arrow columns and plan values to the arrays that kernels work on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from trellis.algebra.automaton import AggregateSpec, AutomatonScan, MatchScan, Merge, Sets, WithinSpec
from trellis.algebra.place import Place
from trellis.algebra.scan import SliceSpec, SlotSource
from trellis.execution.chunks import Chunk
from trellis.execution.open_series import EVER, OpenSeries, rows_ahead, rows_measured
from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Aggregates, Automaton, Bools, Edges, Ints, Merging, Places, Slots, Starts, Within

__all__ = [
    "Dictionary",
    "has_negative",
    "is_known",
    "load_aggregates",
    "load_automaton",
    "load_edges",
    "load_member",
    "load_merges",
    "load_merging",
    "load_places",
    "load_slots",
    "load_starts",
    "load_within",
    "slice_numbers",
    "slice_parts",
    "sortable",
]


class Dictionary:
    """Codes for the strings of a chunk, in the order of their bytes, so that codes compare as the strings do."""

    def __init__(self, chunk: Chunk, columns: list[str], constants: list[str]) -> None:
        binary = pa.large_binary()
        pools = [pa.array([text.encode() for text in constants], binary)]
        self._columns = {name: _texts(chunk.column(name)).cast(binary) for name in columns}
        pools += [pc.unique(column) for column in self._columns.values()]
        values = pc.drop_null(pc.unique(pa.concat_arrays(pools)))
        self._values = values.take(pc.sort_indices(values))
        self._constants = self.codes(pools[0]).to_numpy(zero_copy_only=False)
        self._places = {text: place for place, text in enumerate(constants)}

    def codes(self, column: pa.Array) -> pa.Array:
        """The codes of a column, NULL where it is NULL."""
        return pc.index_in(column, value_set=self._values).cast(pa.int64())

    def column(self, name: str) -> pa.Array:
        """The codes of a column of the chunk."""
        return self.codes(self._columns[name])

    def constant(self, text: str) -> int:
        """The code of a constant."""
        return int(self._constants[self._places[text]])


def _texts(column: pa.Array) -> pa.Array:
    """The strings of a column, or of the arrays in it."""
    return column.flatten() if pa.types.is_list(column.type) else column


def has_negative(slots: Slots, sources: tuple[SlotSource, ...], number: int) -> bool:
    """Whether a slot holds a number below zero."""
    values = slots.floats[number] if sources[number].held == "float" else slots.ints[number]
    return bool(((values < 0) & slots.known[number]).any())


def load_slots(chunk: Chunk, sources: tuple[SlotSource, ...], dictionary: Dictionary | None) -> Slots:
    """All slots of a kernel, for the rows of a chunk."""
    rows = chunk.table.num_rows
    ints = np.empty((len(sources), rows), np.int64)
    floats = ints.view(np.float64)
    known = np.empty((len(sources), rows), np.bool_)
    pairs: list[pa.Array] = []
    for number, source in enumerate(sources):
        if source.held == "previous":
            values = ints[source.of]
            if sources[source.of].held == "float":
                values = _canonical(floats[source.of])
            elif sources[source.of].held == "low":
                _, values = np.unique(ints[source.of : source.of + 2], axis=1, return_inverse=True)
            ints[number] = _previous(values, known[source.of], chunk.offsets)
            known[number] = True
            continue
        if source.held == "code":
            assert dictionary is not None
            column = dictionary.column(source.column)
        elif source.held.startswith("pair"):
            listed = chunk.column(source.column)
            ints[number] = listed.offsets.to_numpy()[:-1] - listed.offsets[0].as_py() + sum(map(len, pairs))
            known[number] = True
            if source.held == "pair code":
                assert dictionary is not None
                pairs.append(dictionary.column(source.column))
            else:
                pairs.append(listed.flatten())
            continue
        else:
            column = chunk.column(source.column)
        known[number] = is_known(column)
        if source.held == "float":
            floats[number] = _floats(column)
        elif source.held == "high":
            ints[number] = _words(column)[1::2]
        else:
            ints[number] = _integers(column)
    pair_ints, pair_known = np.zeros(1, np.int64), np.zeros(1, np.bool_)
    if pairs:
        pair_known = np.concatenate([is_known(column) for column in pairs])
        pair_ints = np.concatenate([_bits(column) for column in pairs])
    return Slots(ints, floats, known, pair_ints, pair_ints.view(np.float64), pair_known)


def load_within(chunk: Chunk, spec: WithinSpec | None) -> Within:
    """The key of each row and the last key that a match from there may reach, as integers that rise."""
    if spec is None:
        return Within(False, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.bool_))
    key = chunk.column(spec.key)
    known, keys = is_known(key), sortable(key)
    if spec.deadline:
        deadline = chunk.column(spec.deadline)
        known, deadlines = known & is_known(deadline), sortable(deadline)
        if spec.descending:
            keys, deadlines = ~keys, ~deadlines
    else:
        keys = ~keys if spec.descending else keys
        deadlines = np.minimum(keys, np.iinfo(np.int64).max - spec.width) + spec.width
    return Within(True, _own(keys), _own(deadlines), _own(known))


def load_starts(chunk: Chunk, spec: SliceSpec | None) -> Starts:
    """Where matches of each series, or slice of one, may start."""
    if spec is None:
        entries = np.ones(len(chunk.offsets) - 1, np.int64)
        return Starts(_own(chunk.offsets[:-1]), _own(chunk.offsets[1:]), entries, np.zeros(0, np.bool_))
    part = slice_parts(chunk, spec)
    rows = np.append(0, np.cumsum(part > 0))[chunk.offsets]
    firsts = np.append(0, np.cumsum(part == 2))[chunk.offsets]
    entries = np.diff(firsts) + 1 if spec.resolve else np.ones(len(rows) - 1, np.int64)
    ends = chunk.offsets[:-1] + np.diff(rows)
    entries = np.minimum(entries, np.diff(rows) + 1)
    return Starts(_own(chunk.offsets[:-1]), _own(ends), _own(entries), np.zeros(len(part), np.bool_))


def load_edges(
    plan: MatchScan, chunk: Chunk, series: OpenSeries | None = None, final: Bools | None = None, horizon: int = EVER
) -> Edges:
    """What is known beyond the rows of series that still grow, or of which rows are gone; otherwise they are whole."""
    first, last = chunk.offsets[:-1], chunk.offsets[1:]
    number = np.ones(len(first), np.int64)
    if series is not None and final is not None:
        first = np.where(series.first == 0, first, -1)
        last = np.where(final, last, -1)
        number += series.matches
    ahead, undecided = _shorts(rows_ahead(plan)), np.zeros(len(number), np.int64)
    return Edges(_own(first), _own(last), number, ahead, rows_measured(plan), undecided, horizon)


def slice_numbers(chunk: Chunk, spec: SliceSpec) -> Ints:
    """The number of the slice of each row; later slices have greater ones, neighbours follow each other."""
    column = chunk.column(spec.number)
    begins = _integers(column)
    if not pa.types.is_timestamp(column.type):
        return begins
    return -((begins + spec.window) // spec.width) - 1 if spec.descending else begins // spec.width


def slice_parts(chunk: Chunk, spec: SliceSpec) -> Ints:
    """What each row is in its slice: 0 halo, 1 the slice, 2 its first rows."""
    if spec.part:
        return _integers(chunk.column(spec.part))
    keys = _integers(chunk.column(spec.key))
    offsets = (~keys if spec.descending else keys) - slice_numbers(chunk, spec) * spec.width
    return np.where(offsets >= spec.width, 0, np.where(offsets < spec.window, 2, 1))


def bits_of(chunk: Chunk, column: str, mask: int) -> Bools:
    """A truth value of Spark: true, or not; a bit of a number, or (-1) a column of its own."""
    if mask >= 0:
        values = chunk.column(column).to_numpy(zero_copy_only=False)
        found: Bools = (values >> mask & 1).astype(np.bool_)
        return found
    bits: Bools = pc.fill_null(chunk.column(column).cast(pa.bool_()), False).to_numpy(zero_copy_only=False)
    return bits


def load_automaton(plan: AutomatonScan) -> Automaton:
    """The instructions as arrays."""
    code = plan.instructions
    return Automaton(
        _shorts([i.op for i in code]),
        _shorts([i.variable for i in code]),
        np.array([i.excluded for i in code], np.bool_),
        _shorts([i.x for i in code]),
        _shorts([i.y for i in code]),
        _shorts(list(plan.backward)),
    )


def load_places(places: tuple[Place, ...], sets: Sets, *, measures: bool) -> Places:
    """Places as arrays. In conditions the current row is special; in measures it is the last one seen."""
    numbers = []
    for place in places:
        if place.variables is not None:
            numbers.append(sets.index(place.variables))
        elif place.numbered:
            numbers.append(o.NUMBERED_ROW)
        elif not measures and place == Place(shift=place.shift):
            numbers.append(o.CURRENT_ROW)
        else:
            numbers.append(o.ANY_ROW)
    return Places(
        _shorts(numbers),
        np.array([place.from_first for place in places], np.bool_),
        _shorts([place.offset for place in places]),
        _shorts([place.shift for place in places]),
        np.array([place.final for place in places], np.bool_),
    )


def load_aggregates(specs: tuple[AggregateSpec, ...], sets: Sets, variables: int) -> Aggregates:
    """Aggregates as arrays."""
    slots = np.array([spec.slots for spec in specs], np.int32).reshape(len(specs), variables)
    return Aggregates(
        _shorts([spec.kind for spec in specs]),
        _shorts([sets.index(spec.variables) for spec in specs]),
        slots,
        np.array([spec.second or (-1,) * variables for spec in specs], np.int32).reshape(len(specs), variables),
        _shorts([spec.previous for spec in specs]),
        np.array([spec.wide for spec in specs], np.bool_),
        np.array([spec.begin for spec in specs], np.int64),
        np.array([spec.end for spec in specs], np.int64),
        any(spec.is_computed for spec in specs),
    )


def load_member(sets: Sets, variables: tuple[str, ...]) -> Bools:
    """Which variable belongs to which set."""
    member = np.zeros((len(sets), len(variables)), np.bool_)
    for number, members in enumerate(sets):
        member[number] = [members is None or name in members for name in variables]
    return member


def load_merging(plan: AutomatonScan) -> Merging:
    """When search states are the same, as arrays."""
    return load_merges(plan.merges, plan.key_width, plan.aggregates)


def load_merges(merges: tuple[Merge, ...], width: int, aggregates: tuple[AggregateSpec, ...]) -> Merging:
    """The same for the instructions of another automaton."""
    registers = [(r.kind, r.number, r.depth) for merge in merges for r in merge.registers]
    ends = np.cumsum([len(merge.registers) for merge in merges])
    begins = ends - [len(merge.registers) for merge in merges]
    return Merging(
        _shorts([merge.kind for merge in merges]),
        begins.astype(np.int32),
        ends.astype(np.int32),
        np.array(registers, np.int32).reshape(len(registers), 3),
        width,
        np.array([spec.kind >= o.SUM_WIDE for spec in aggregates], np.bool_),
    )


def _shorts(values: list[int]) -> NDArray[np.int32]:
    return np.array(values, np.int32)


def _own(array: NDArray[Any]) -> NDArray[Any]:
    """The array made contiguous and writable. Arrow's are not, and kernels would be compiled anew."""
    return np.require(array, requirements=["C", "W"])


def is_known(column: pa.Array) -> Bools:
    """Where a column has a value."""
    if column.null_count == 0:
        return np.ones(len(column), np.bool_)
    known: Bools = column.is_valid().to_numpy(zero_copy_only=False)
    return known


def _integers(column: pa.Array) -> Ints:
    """Integers, dates, timestamps, intervals, booleans and scaled decimals as int64; NULLs as something."""
    type_ = column.type
    if pa.types.is_decimal(type_):
        # The lower half of a 128-bit integer holds every decimal of up to 18 digits.
        return _words(column)[::2]
    if pa.types.is_null(type_):
        return np.zeros(len(column), np.int64)
    if pa.types.is_boolean(type_):
        column = column.cast(pa.int8())
    elif pa.types.is_date(type_):
        column = column.cast(pa.int32())
    elif pa.types.is_temporal(type_):
        column = column.cast(pa.int64())
    if column.null_count:
        column = pc.fill_null(column, 0)
    values: Ints = column.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return values


def _words(column: pa.Array) -> Ints:
    """Decimals as 128-bit integers, in two words each, the lower one first."""
    wide = column.cast(pa.decimal128(38, column.type.scale))
    words: Ints = np.frombuffer(wide.buffers()[1], np.int64)
    return words[2 * wide.offset : 2 * (wide.offset + len(wide))]


def _floats(column: pa.Array) -> NDArray[np.float64]:
    if column.null_count:
        column = pc.fill_null(column, 0)
    values: NDArray[np.float64] = column.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    return values


def _bits(column: pa.Array) -> Ints:
    """Integers as they are, floats by their bits."""
    if not pa.types.is_floating(column.type):
        return _integers(column)
    bits: Ints = np.array(_floats(column)).view(np.int64)
    return bits


def _canonical(values: NDArray[np.float64]) -> Ints:
    """The bits of floats, the same for equal values: zeros of both signs, and all NaNs."""
    canonical = np.where(np.isnan(values), np.nan, values + 0.0)
    bits: Ints = canonical.view(np.int64)
    return bits


def sortable(column: pa.Array) -> Ints:
    """Integers in the order of the values; floats by the usual turn of their bits, NaN last."""
    if not pa.types.is_floating(column.type):
        return _integers(column)
    values = _floats(column) + 0.0
    bits: Ints = values.view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(2**63 - 1))


def _previous(values: Ints, known: Bools, offsets: Ints) -> Ints:
    """For each row the row before it in its series that holds the same known value, or -1."""
    series = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((values, ~known, series))
    before, after = order[:-1], order[1:]
    same = (values[before] == values[after]) & (series[before] == series[after]) & known[before] & known[after]
    previous = np.full(len(values), -1, np.int64)
    previous[after[same]] = before[same]
    return previous
