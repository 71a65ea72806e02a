"""The automata of the eleven templates, one function each; see `hand`.

Rows within a series count from 0 (i, j, ...); `base` is the series' first row. A segment is [i, j], both included.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.baselines.parts import append, compiled, emit, excess, index, longest, scores, sweep, ticks_of, tied

__all__ = [
    "afa_q1",
    "afa_q2",
    "cld_wave",
    "head_shldr",
    "limit_sell",
    "opencep_q1",
    "opencep_q2",
    "outlier",
    "rebound",
    "rptd_pttrn",
    "v_shape",
]

Array = np.ndarray[Any, Any]

_SIZE = 1024  # the output's first size


@compiled
def v_shape(offsets: Array, tstamp: Array, price: Array, down: float, up: float, total: int) -> Any:
    starts, ends, used = np.empty(_SIZE, np.int64), np.empty(_SIZE, np.int64), 0
    most = longest(offsets)
    sums, x, y = np.empty((6, most + 1)), np.empty(most), np.empty(most)
    run, mark = np.empty(most, np.int64), np.empty(most, np.int64)
    hits, inner = np.empty(most), np.empty(most)
    for s in range(len(offsets) - 1):
        base = offsets[s]
        n = offsets[s + 1] - base
        index(tstamp, price, base, n, sums, x, y, run)
        mark[:n] = -1
        for i in range(n):
            last = min(n - 1, i + total - 1)
            top = -1
            sweep(sums, x, y, run, i, i + 14, last - 14, down, -1.0, hits)
            for k in range(i + 14, last - 14 + 1):
                if not hits[k] >= 0.0:
                    continue
                sweep(sums, x, y, run, k, k + 14, last, up, 1.0, inner)
                for j in range(k + 14, last + 1):
                    if inner[j] >= 0.0:
                        mark[j] = i
                        top = max(top, j)
            if top >= 0:
                starts, ends, used = emit(starts, ends, used, mark, top, i, base)
    return starts[:used], ends[:used]


@compiled
def head_shldr(offsets: Array, tstamp: Array, price: Array, t: float, total: int, r_neck: float, r_side: float) -> Any:
    starts, ends, used = np.empty(_SIZE, np.int64), np.empty(_SIZE, np.int64), 0
    most = longest(offsets)
    sums, x, y = np.empty((6, most + 1)), np.empty(most), np.empty(most)
    run, mark = np.empty(most, np.int64), np.empty(most, np.int64)
    hits, inner = np.empty(most), np.empty(most)
    heads, shoulders = np.empty(most, np.int64), np.empty(most, np.int64)
    for s in range(len(offsets) - 1):
        base = offsets[s]
        n = offsets[s + 1] - base
        p = price[base : base + n]
        index(tstamp, price, base, n, sums, x, y, run)
        mark[:n] = -1
        heads[:n] = -1
        shoulders[:n] = -1
        for i in range(n):
            last = min(n - 1, i + total - 1)
            top = -1
            sweep(sums, x, y, run, i, i + 2, min(i + 9, last - 10), t, 1.0, hits)
            for a in range(i + 2, min(i + 9, last - 10) + 1):
                if not hits[a] >= 0.0:
                    continue
                sweep(sums, x, y, run, a, a + 2, min(a + 9, last - 8), -t, -1.0, inner)
                for b in range(a + 2, min(a + 9, last - 8) + 1):
                    if not inner[b] >= 0.0:
                        continue
                    for c in range(b + 2, min(b + 9, last - 6) + 1):
                        # What follows a head depends on the start and on the head alone.
                        if heads[c] == i or not _ratio(p, c, b) > r_neck or not _ratio(p, c, a) > r_side:
                            continue
                        if not excess(sums, x, y, run, b, c, t) >= 0.0:
                            continue
                        heads[c] = i
                        for d in range(c + 2, min(c + 9, last - 4) + 1):
                            if not _ratio(p, c, d) > r_neck or not excess(sums, x, y, run, c, d, -t) <= 0.0:
                                continue
                            for e in range(d + 2, min(d + 9, last - 2) + 1):
                                if shoulders[e] == i or not _ratio(p, c, e) > r_side:
                                    continue
                                if not excess(sums, x, y, run, d, e, t) >= 0.0:
                                    continue
                                shoulders[e] = i
                                for j in range(e + 2, min(e + 9, last) + 1):
                                    if mark[j] != i and excess(sums, x, y, run, e, j, -t) <= 0.0:
                                        mark[j] = i
                                        top = max(top, j)
            if top >= 0:
                starts, ends, used = emit(starts, ends, used, mark, top, i, base)
    return starts[:used], ends[:used]


@compiled
def _ratio(values: Array, above: int, below: int) -> float:
    """A quotient of two values; NULL (NaN) if one is NULL or the lower one 0."""
    if values[below] == 0.0:
        return math.nan
    return float(values[above] / values[below])


@compiled
def outlier(offsets: Array, tstamp: Array, price: Array, up: float, total: int, context: int, z_min: float) -> Any:
    starts, ends, used = np.empty(_SIZE, np.int64), np.empty(_SIZE, np.int64), 0
    most = longest(offsets)
    sums, x, y = np.empty((6, most + 1)), np.empty(most), np.empty(most)
    run, mark = np.empty(most, np.int64), np.empty(most, np.int64)
    hits = np.empty(most)
    odd = np.empty(most)
    for s in range(len(offsets) - 1):
        base = offsets[s]
        n = offsets[s + 1] - base
        index(tstamp, price, base, n, sums, x, y, run)
        scores(price[base : base + n], n, context, odd)
        mark[:n] = -1
        for i in range(n):
            last = min(n - 1, i + total - 1)
            top = -1
            for k in range(i + 1, last):
                # UP1 ends and OUTLIER lies at row k: one transition, its cheaper condition first.
                if not odd[k] > z_min or not excess(sums, x, y, run, i, k, up) >= 0.0:
                    continue
                sweep(sums, x, y, run, k, k + 1, last, up, 1.0, hits)
                for j in range(k + 1, last + 1):
                    if hits[j] >= 0.0:
                        mark[j] = i
                        top = max(top, j)
            if top >= 0:
                starts, ends, used = emit(starts, ends, used, mark, top, i, base)
    return starts[:used], ends[:used]


@compiled
def rebound(offsets: Array, tstamp: Array, confirmed: Array, t: float, fall: float, rise: float) -> Any:
    starts, ends, used = np.empty(_SIZE, np.int64), np.empty(_SIZE, np.int64), 0
    most = longest(offsets)
    sums, x, y = np.empty((6, most + 1)), np.empty(most), np.empty(most)
    run, mark = np.empty(most, np.int64), np.empty(most, np.int64)
    hits, inner = np.empty(most), np.empty(most)
    for s in range(len(offsets) - 1):
        base = offsets[s]
        n = offsets[s + 1] - base
        p = confirmed[base : base + n]
        index(tstamp, confirmed, base, n, sums, x, y, run)
        mark[:n] = -1
        for i in range(n):
            last = min(n - 1, i + 59)
            top = -1
            sweep(sums, x, y, run, i, i + 1, last - 2, t, 1.0, hits)
            for a in range(i + 1, last - 1):
                # FALL and RISE both divide by row a.
                first = p[a]
                if first == 0.0 or not hits[a] >= 0.0:
                    continue
                sweep(sums, x, y, run, a, a + 1, last - 1, -t, -1.0, inner)
                for b in range(a + 1, last):
                    if not inner[b] >= 0.0 or not p[b] / first < fall:
                        continue
                    for j in range(b + 1, last + 1):
                        if mark[j] == i or not p[j] / first > rise:
                            continue
                        if excess(sums, x, y, run, b, j, t) >= 0.0:
                            mark[j] = i
                            top = max(top, j)
            if top >= 0:
                starts, ends, used = emit(starts, ends, used, mark, top, i, base)
    return starts[:used], ends[:used]


@compiled
def cld_wave(offsets: Array, tstamp: Array, temp: Array, fall: float, down: float) -> Any:
    starts, ends, used = np.empty(_SIZE, np.int64), np.empty(_SIZE, np.int64), 0
    most = longest(offsets)
    sums, x, y, run = np.empty((6, most + 1)), np.empty(most), np.empty(most), np.empty(most, np.int64)
    found = np.empty(30, np.int64)
    for s in range(len(offsets) - 1):
        base = offsets[s]
        n = offsets[s + 1] - base
        p = temp[base : base + n]
        index(tstamp, temp, base, n, sums, x, y, run)
        for i in range(n - 24):
            last = min(n - 1, i + 29)
            # The last W1 may reach any row from the end of the wave on, so the earliest such end says it all.
            end = last + 1
            a = i
            while a < end - 1 and end > i + 24:
                for b in range(a + 1, min(a + 4, end - 1) + 1):
                    if p[b] - p[a] < -fall and excess(sums, x, y, run, a, b, -down) <= 0.0:
                        end = b
                        break
                a += 1
            if end > last:
                continue
            # Mann-Kendall for this start, carried on from row to row.
            begin = max(end, i + 24)
            s_total = ties = known = count = 0
            for j in range(i, last + 1):
                if not math.isnan(p[j]):
                    more, more_ties = ticks_of(p, i, j)
                    s_total += more
                    ties += more_ties
                    known += 1
                if j < begin or s_total <= 1:
                    continue
                if (s_total - 1) / math.sqrt((tied(known) - ties) / 18.0) >= 3.0:
                    found[count] = j
                    count += 1
            if count > 0:
                starts, ends, used = append(starts, ends, used, found, count, i, base)
    return starts[:used], ends[:used]


@compiled
def rptd_pttrn(offsets: Array, tstamp: Array, rides: Array, t: float, rise: float, k: int) -> Any:
    starts, ends, used = np.empty(_SIZE, np.int64), np.empty(_SIZE, np.int64), 0
    most = longest(offsets)
    sums, x, y, run = np.empty((6, most + 1)), np.empty(most), np.empty(most), np.empty(most, np.int64)
    found = np.empty(1, np.int64)
    for s in range(len(offsets) - 1):
        base = offsets[s]
        n = offsets[s + 1] - base
        p = rides[base : base + n]
        index(tstamp, rides, base, n, sums, x, y, run)
        for i in range(n - 47 * k):
            at = i
            holds = True
            for _ in range(k):
                # All windows are fixed: the rise may begin at seven rows, then all else has its place.
                holds = False
                for a in range(at, at + 7):
                    if (
                        _ratio(p, a + 19, a) > rise
                        and excess(sums, x, y, run, a, a + 19, t) >= 0.0
                        and _ratio(p, a + 41, a + 22) < 1.0 / rise
                        and excess(sums, x, y, run, a + 22, a + 41, -t) <= 0.0
                    ):
                        holds = True
                        break
                if not holds:
                    break
                at += 47
            if holds:
                found[0] = at
                starts, ends, used = append(starts, ends, used, found, 1, i, base)
    return starts[:used], ends[:used]


@compiled
def limit_sell(offsets: Array, price: Array, rise: float, fall: float, total: int) -> Any:
    starts, ends, used = np.empty(_SIZE, np.int64), np.empty(_SIZE, np.int64), 0
    found = np.empty(total, np.int64)
    for s in range(len(offsets) - 1):
        base = offsets[s]
        p = price[base : offsets[s + 1]]
        for i in range(len(p)):
            first = p[i]
            if first == 0.0:
                continue
            count = 0
            for j in range(i, min(len(p), i + total)):
                quotient = p[j] / first
                if quotient < fall:
                    break
                if quotient > rise:
                    found[count] = j
                    count += 1
            if count > 0:
                starts, ends, used = append(starts, ends, used, found, count, i, base)
    return starts[:used], ends[:used]


@compiled
def opencep_q1(offsets: Array, tstamp: Array, ours: Array, peak: Array, span: int) -> Any:
    starts, ends, used = np.empty(_SIZE, np.int64), np.empty(_SIZE, np.int64), 0
    found = np.empty(longest(offsets), np.int64)
    for s in range(len(offsets) - 1):
        base, stop = offsets[s], offsets[s + 1]
        time, own, p = tstamp[base:stop], ours[base:stop], peak[base:stop]
        for i in range(len(p)):
            if not own[i]:
                continue
            limit = time[i] + span
            count = 0
            # Of all partial matches that wait for A3, the one with the lowest A2 takes whatever the others take.
            lowest = math.inf
            for j in range(i + 1, len(p)):
                if time[j] > limit:
                    break
                if not own[j]:
                    continue
                if p[j] > lowest:
                    found[count] = j
                    count += 1
                elif p[j] > p[i]:
                    lowest = p[j]
            if count > 0:
                starts, ends, used = append(starts, ends, used, found, count, i, base)
    return starts[:used], ends[:used]


@compiled
def opencep_q2(offsets: Array, tstamp: Array, ours: Array, peak: Array, span: int) -> Any:
    starts, ends, used = np.empty(_SIZE, np.int64), np.empty(_SIZE, np.int64), 0
    found = np.empty(longest(offsets), np.int64)
    for s in range(len(offsets) - 1):
        base, stop = offsets[s], offsets[s + 1]
        time, own, p = tstamp[base:stop], ours[base:stop], peak[base:stop]
        for i in range(len(p)):
            if not own[i]:
                continue
            limit = time[i] + span
            count = 0
            # A chain of falls from i is a fall from i: of all partial matches, the first iteration's takes every end.
            for j in range(i + 1, len(p)):
                if time[j] > limit:
                    break
                if not own[j]:
                    continue
                if p[j] < p[i]:
                    found[count] = j
                    count += 1
            if count > 0:
                starts, ends, used = append(starts, ends, used, found, count, i, base)
    return starts[:used], ends[:used]


@compiled
def afa_q1(offsets: Array, price: Array, times: int, ratio: float) -> Any:
    starts, ends, used = np.empty(_SIZE, np.int64), np.empty(_SIZE, np.int64), 0
    found = np.empty(30, np.int64)
    for s in range(len(offsets) - 1):
        base = offsets[s]
        p = price[base : offsets[s + 1]]
        for i in range(len(p) - 1):
            if not _ratio(p, i + 1, i) < ratio:
                continue
            falls = rises = count = 0
            turns = 0  # falls and rises begun: 2 * times of them make a match
            for j in range(i + 2, min(len(p), i + 30)):
                if p[j] < p[j - 1]:
                    falls += 1
                    turns += turns % 2 == 0
                elif p[j] > p[j - 1]:
                    rises += 1
                    turns += turns % 2 == 1
                else:
                    break
                if turns == 0 or turns > 2 * times:
                    break
                if turns == 2 * times and falls == rises:
                    found[count] = j
                    count += 1
            if count > 0:
                starts, ends, used = append(starts, ends, used, found, count, i, base)
    return starts[:used], ends[:used]


@compiled
def afa_q2(offsets: Array, price: Array, ratio: float) -> Any:
    starts, ends, used = np.empty(_SIZE, np.int64), np.empty(_SIZE, np.int64), 0
    found = np.empty(30, np.int64)
    for s in range(len(offsets) - 1):
        base = offsets[s]
        p = price[base : offsets[s + 1]]
        for i in range(len(p) - 1):
            if not _ratio(p, i + 1, i) < ratio:
                continue
            count = 0
            for j in range(i + 2, min(len(p), i + 30)):
                if p[j] > p[j - 1]:
                    if j == i + 2:
                        break
                    if p[j] >= p[i]:
                        found[count] = j
                        count += 1
                elif not p[j] < p[j - 1]:
                    break
            if count > 0:
                starts, ends, used = append(starts, ends, used, found, count, i, base)
    return starts[:used], ends[:used]
