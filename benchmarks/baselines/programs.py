"""The programs of the automaton executor: for each segment template, states, arcs and conditions as tables of numbers.

A state is a set of arcs. An arc leads from the current row to every end row within its windows for which its conditions
hold, and there to its target. As the T-ReX paper did for AFA (section 6.3.1), all is ordered by hand: cheap conditions
come before expensive ones, and windows are pushed to the earliest arc that can use them. `automaton` is the executor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from benchmarks.segments.data import MINUTE, SegmentData
from benchmarks.segments.templates import Parameters

__all__ = ["ACCEPT", "COLUMNS", "DIFFERENCE", "FLAG", "KENDALL", "NOT_PREFIX", "PROGRAMS", "QUOTIENT", "R2", "REVERSE"]
__all__ += ["SCORES", "TICKS", "TICK_SUMS", "Program"]

Array = np.ndarray[Any, Any]

ACCEPT = -1  # as the target of an arc
COLUMNS = 4  # how many columns a program may read
_ANY = 1 << 40  # more rows than there are

# Kinds of conditions, of the rows from `first` (the arc's beginning, or a register's row) to `last` (the arc's end).
FLAG = 0  # a condition of the last row alone, evaluated once for every row: `extra` is its number among such
DIFFERENCE = 1  # last - first
QUOTIENT = 2  # last / first, NULL if first is 0
REVERSE = 3  # first / last, NULL if last is 0
R2 = 4  # linear_regression_r2_signed over tstamp, inclusive, by the regression index (a program has at most one)
TICKS = 5  # equal_up_down_ticks, `extra` being the derived column of TICK_SUMS
KENDALL = 6  # mann_kendall_test
NOT_PREFIX = 7  # the condition number `extra` holds for no segment from `first` to a row up to `last`

# Kinds of derived columns, computed for each series before anything else.
SCORES = 0  # the zscore of `source` over so many rows
TICK_SUMS = 1  # the rises less the falls of `source` up to a row


@dataclass(frozen=True, slots=True)
class _Condition:
    """A kind's number above (side 1) or below (side -1) a bound."""

    kind: int
    side: int = 1
    bound: float = 0.0
    inclusive: bool = False
    column: int = 0
    register: int = -1
    extra: int = -1
    prefix: _Condition | None = None


@dataclass(slots=True)
class Program:
    """States from 0 on and their arcs. Windows are offsets from row to row: window(3, 10) is least 2, most 9."""

    columns: list[Array]
    registers: int = 1  # register 0 is the start
    regression: int = -1  # the column of the regression index
    start_flag: _Condition | None = None
    whole_least: int = 0
    whole_most: int = _ANY
    span: int = -1  # a time window of all, instead of whole_most
    derived: list[tuple[int, int, int]] = field(default_factory=list)
    _arcs: list[tuple[int, list[int], tuple[_Condition, ...]]] = field(default_factory=list)
    _slots: dict[int, int] = field(default_factory=dict)

    def derive(self, kind: int, source: int, rows: int = 0) -> int:
        """Add a derived column; its number follows those of the columns given."""
        self.derived.append((kind, source, rows))
        return len(self.columns) + len(self.derived) - 1

    def arc(
        self,
        state: int,
        target: int,
        *conditions: _Condition,
        least: int = 0,
        most: int = _ANY,
        need: int = 0,
        within: tuple[int, int, int] = (0, 0, _ANY),
        mark: int = -1,
        once: bool = False,
    ) -> None:
        """Add an arc.

        At least `need` rows must follow its end (windows pushed down); `within` (register, least, most) bounds its end;
        `mark` remembers its end in a register; `once` says that what follows depends on the start and the end alone.
        """
        slot = self._slots.setdefault(target, len(self._slots) + 1) if once or target == ACCEPT else 0
        self._arcs.append((state, [target, least, most, need, *within, mark, slot], conditions))

    def tables(self) -> tuple[Array, Array, Array, Array, Array, Array, Array]:
        """Numbers for the executor: header, states, arcs, conditions and their bounds, derived columns, flags."""
        listed: list[_Condition] = []
        states, arcs = [0], []
        for state in range(1 + max(origin for origin, _, _ in self._arcs)):
            for origin, numbers, conditions in self._arcs:
                if origin == state:
                    arcs.append([*numbers, len(listed), len(listed) + len(conditions)])
                    listed += conditions
            states.append(len(arcs))
        for k in range(len(listed)):
            inner = listed[k].prefix
            if inner is not None:
                listed[k] = replace(listed[k], extra=len(listed))
                listed.append(inner)
        if self.start_flag is not None:
            listed.append(self.start_flag)
        flags: dict[_Condition, int] = {}
        places = []
        for k, condition in enumerate(listed):
            if condition.kind == FLAG:
                if condition not in flags:
                    flags[condition] = len(flags)
                    places.append(k)
                listed[k] = replace(condition, extra=flags[condition])
        start = listed[-1].extra if self.start_flag is not None else -1
        table = [[c.kind, c.column, c.register, c.side, int(c.inclusive), c.extra] for c in listed]
        whole = [self.whole_least, self.whole_most, self.span]
        return (
            np.array([self.registers, len(self._slots) + 1, self.regression, len(self.columns), start, *whole]),
            np.array(states),
            np.array(arcs),
            np.array(table),
            np.array([condition.bound for condition in listed], np.float64),
            np.array(self.derived, np.int64).reshape(-1, 3),
            np.array(places, np.int64),
        )


def _r2_above(bound: float) -> _Condition:
    return _Condition(R2, 1, bound, True)


def _r2_below(bound: float) -> _Condition:
    return _Condition(R2, -1, bound, True)


def _above(kind: int, bound: float, register: int = -1) -> _Condition:
    return _Condition(kind, 1, bound, register=register)


def _below(kind: int, bound: float, register: int = -1) -> _Condition:
    return _Condition(kind, -1, bound, register=register)


def _v_shape(data: SegmentData, p: Any) -> Program:
    program = Program([data.columns["price"]], regression=0, whole_least=28, whole_most=p["total"] - 1)
    program.arc(0, 1, _r2_below(p["down_r2_max"]), least=14, need=14)
    program.arc(1, ACCEPT, _r2_above(p["up_r2_min"]), least=14)
    return program


def _head_shldr(data: SegmentData, p: Any) -> Program:
    program = Program([data.columns["price"]], regression=0, registers=3, whole_least=12, whole_most=p["total"] - 1)
    up, down, neck, side = _r2_above(p["t"]), _r2_below(-p["t"]), p["r1"], p["r2"]
    program.arc(0, 1, up, least=2, most=9, need=10, mark=1)
    program.arc(1, 2, down, least=2, most=9, need=8)
    up_to_head = (_above(QUOTIENT, neck), _above(QUOTIENT, side, register=1), up)
    program.arc(2, 3, *up_to_head, least=2, most=9, need=6, mark=2, once=True)
    program.arc(3, 4, _above(REVERSE, neck), down, least=2, most=9, need=4)
    program.arc(4, 5, _above(REVERSE, side, register=2), up, least=2, most=9, need=2, once=True)
    program.arc(5, ACCEPT, down, least=2, most=9)
    return program


def _outlier(data: SegmentData, p: Any) -> Program:
    program = Program([data.columns["price"]], regression=0, whole_least=2, whole_most=p["total"] - 1)
    score = program.derive(SCORES, 0, p["context"])
    up = _r2_above(p["up_r2_min"])
    program.arc(0, 1, _Condition(FLAG, 1, p["z_min"], column=score), up, least=1, need=1)
    program.arc(1, ACCEPT, up, least=1)
    return program


def _rebound(data: SegmentData, p: Any) -> Program:
    program = Program([data.columns["confirmed"]], regression=0, registers=2, whole_least=3, whole_most=59)
    program.arc(0, 1, _r2_above(p["t"]), least=1, need=2, mark=1)
    program.arc(1, 2, _below(QUOTIENT, p["fall"]), _r2_below(-p["t"]), least=1, need=1)
    program.arc(2, ACCEPT, _above(QUOTIENT, p["rise"], register=1), _r2_above(p["t"]), least=1)
    return program


def _cld_wave(data: SegmentData, p: Any) -> Program:
    program = Program([data.columns["temp"]], regression=0, whole_least=24, whole_most=29)
    program.arc(0, 1, need=1)
    wave = (_below(DIFFERENCE, -p["fall_diff"]), _r2_below(-p["down_r2_min"]))
    program.arc(1, 2, *wave, least=1, most=4, once=True)
    program.arc(2, 3, within=(0, 24, 29), once=True)
    program.arc(3, ACCEPT, _Condition(KENDALL, 1, 3.0, True, register=0), most=0)
    return program


def _rptd_pttrn(data: SegmentData, p: Any) -> Program:
    times = int(p["k"])
    program = Program([data.columns["rides"]], regression=0, registers=2, whole_least=47 * times)
    program.whole_most = program.whole_least
    for k in range(times):
        state, rest = 5 * k, 47 * (times - 1 - k)
        after = state + 5 if k < times - 1 else ACCEPT
        rise, fall = _above(QUOTIENT, p["rise"]), _below(QUOTIENT, 1.0 / p["rise"])
        program.arc(state, state + 1, within=(1, 0, 6))
        program.arc(state + 1, state + 2, rise, _r2_above(p["t"]), least=19, most=19, need=22 + rest)
        program.arc(state + 2, state + 3, least=3, most=3, need=19 + rest)
        program.arc(state + 3, state + 4, fall, _r2_below(-p["t"]), least=19, most=19, need=rest)
        program.arc(state + 4, after, within=(1, 47, 47), mark=1, once=True)
    return program


def _limit_sell(data: SegmentData, p: Any) -> Program:
    program = Program([data.columns["price"]], whole_most=p["total"] - 1)
    fallen = _below(QUOTIENT, p["fall"])
    program.arc(0, ACCEPT, _above(QUOTIENT, p["rise"]), _Condition(NOT_PREFIX, prefix=fallen))
    return program


def _stream(data: SegmentData, p: Any) -> tuple[Program, _Condition]:
    ours = (data.columns["ticker"] == p["ticker"]).astype(np.float64)
    flag = _Condition(FLAG, 1, 0.0, column=1)
    return Program([data.columns["peak"], ours], start_flag=flag, span=int(p["total"]) * MINUTE), flag


def _opencep_q1(data: SegmentData, p: Any) -> Program:
    program, flag = _stream(data, p)
    program.arc(0, 1, flag, _above(DIFFERENCE, 0.0), least=1, need=1)
    program.arc(1, ACCEPT, flag, _above(DIFFERENCE, 0.0), least=1)
    return program


def _opencep_q2(data: SegmentData, p: Any) -> Program:
    program, flag = _stream(data, p)
    fall = (flag, _below(DIFFERENCE, 0.0))
    program.arc(0, 1, *fall, least=1, once=True)
    program.arc(1, ACCEPT, most=0)
    program.arc(1, 1, *fall, least=1, once=True)
    return program


def _afa_q1(data: SegmentData, p: Any) -> Program:
    times = int(p["K"])
    program = Program([data.columns["price"]], registers=2, whole_least=1 + 2 * times, whole_most=29)
    ticks = _Condition(TICKS, register=1, extra=program.derive(TICK_SUMS, 0))
    fall, rise = _below(DIFFERENCE, 0.0), _above(DIFFERENCE, 0.0)
    program.arc(0, 1, _below(QUOTIENT, p["ratio"]), least=1, most=1, need=2 * times, mark=1)
    for k in range(times):  # 1 + 2k: a fall may begin; 2 + 2k: falling; 3 + 2k: rising, and the next fall may begin
        rest = 2 * (times - 1 - k)
        program.arc(1 + 2 * k, 2 + 2 * k, fall, least=1, most=1, need=1 + rest)
        program.arc(2 + 2 * k, 2 + 2 * k, fall, least=1, most=1, need=1 + rest)
        program.arc(2 + 2 * k, 3 + 2 * k, rise, least=1, most=1, need=rest)
        program.arc(3 + 2 * k, 3 + 2 * k, rise, least=1, most=1, need=rest)
    program.arc(1 + 2 * times, ACCEPT, ticks, most=0)
    return program


def _afa_q2(data: SegmentData, p: Any) -> Program:
    program = Program([data.columns["price"]], whole_least=3, whole_most=29)
    fall, rise = _below(DIFFERENCE, 0.0), _above(DIFFERENCE, 0.0)
    program.arc(0, 1, _below(QUOTIENT, p["ratio"]), least=1, most=1, need=2)
    program.arc(1, 2, fall, least=1, most=1, need=1)
    program.arc(2, 2, fall, least=1, most=1, need=1)
    program.arc(2, 3, rise, least=1, most=1)
    program.arc(3, ACCEPT, _Condition(DIFFERENCE, 1, 0.0, True, register=0), most=0)
    program.arc(3, 3, rise, least=1, most=1)
    program.arc(3, 2, fall, least=1, most=1, need=1)
    return program


PROGRAMS: dict[str, Callable[[SegmentData, Parameters], Program]] = {
    "v_shape": _v_shape,
    "head_shldr": _head_shldr,
    "outlier": _outlier,
    "rebound": _rebound,
    "cld_wave": _cld_wave,
    "rptd_pttrn": _rptd_pttrn,
    "limit_sell": _limit_sell,
    "OpenCEP_Q1": _opencep_q1,
    "OpenCEP_Q2": _opencep_q2,
    "AFA_Q1": _afa_q1,
    "AFA_Q2": _afa_q2,
}
