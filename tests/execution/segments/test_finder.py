"""Long series are cut into slices: the cuts must not show."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import local
import local_segments
from trellis.algebra.scan import SlotSource
from trellis.algebra.windows import TimeWindow, Window
from trellis.execution.segments import finder as segments
from trellis.execution.segments.matcher import SegmentMatcher
from trellis.kernels.arrays import Slots
from trellis.planning.segments.choose import choose_tree

SCHEMA = [("k", "int"), ("t", "int"), ("v", "double"), ("u", "int")]
CLAUSES = [
    "PATTERN ((D U) & W) DEFINE SEGMENT D AS last(D.v) < first(D.v), SEGMENT U AS last(U.v) > first(U.v), "
    "SEGMENT W AS window(2, 4)",
    "PATTERN ((A B+) & W) DEFINE A AS zscore(v, 3) < 0.6, B AS v > PREV(v), SEGMENT W AS window(1, 4)",
    "PATTERN (^ S & W) DEFINE SEGMENT S AS NEXT(last(S.v), 2) > 1, SEGMENT W AS window(1, 3)",
    "PATTERN (W & ~(F X)) DEFINE SEGMENT W AS window(3), SEGMENT X AS true, SEGMENT F AS last(F.v) - first(F.v) > 1",
]


@pytest.mark.parametrize("clause", CLAUSES)
@pytest.mark.parametrize("lengths", [(170,), (3, 90, 1, 60), (1,) * 60])
@pytest.mark.parametrize("measures", ["", ", last(t) - first(t) AS n"])
def test_slices(clause: str, lengths: tuple[int, ...], measures: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(len(lengths))
    rows: list[dict[str, Any]] = [
        {"k": k, "t": t, "v": source.choice([0.0, 1.0, 2.0, 3.0, None]), "u": 0}
        for k, length in enumerate(lengths)
        for t in range(length)
    ]
    text = f"PARTITION BY k ORDER BY t MEASURES first(t) AS s, last(t) AS e, MATCH_NUMBER() AS m{measures} {clause}"
    whole = local_segments.run(text, rows, SCHEMA)
    monkeypatch.setattr(segments, "_MOST_ROWS", 16)
    assert local_segments.run(text, rows, SCHEMA) == whole
    assert whole or max(lengths) == 1


def test_slices_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows of time bound slices, too: how far each row reaches is known where times are in order."""
    micros = np.cumsum(np.random.default_rng(3).integers(0, 3, 300)).astype(np.int64) * 1_000_000
    plan = local.plan_clause("ORDER BY t PATTERN (S) DEFINE SEGMENT S AS last(S.v) > first(S.v)", SCHEMA).scan
    window = Window(times=(TimeWindow(1, None, 4_000_000),))
    plan = replace(plan, tree=replace(plan.tree, window=window), scales=(1.0, 1.0))
    ints = np.stack([np.zeros(300, np.int64), micros])
    ints.view(np.float64)[0] = np.random.default_rng(4).integers(0, 5, 300)
    none = np.zeros(1, np.int64)
    slots = Slots(ints, ints.view(np.float64), np.ones((2, 300), np.bool_), none, none.view(np.float64), none > 0)
    sources = (*plan.slots, SlotSource("time", "int"))
    plan = replace(plan, slots=sources)
    offsets = np.array([0, 300], np.int64)
    program = SegmentMatcher(plan, {}, choose_tree).program(None)

    def found() -> list[tuple[int, int]]:
        _, matches = segments.Finder(plan, choose_tree).find(offsets, slots, program)
        return list(zip(matches.starts.tolist(), matches.ends.tolist(), strict=True))

    values = ints.view(np.float64)[0]
    expected = [
        (s, e)
        for s in range(300)
        for e in range(s, 300)
        if micros[e] - micros[s] <= 4_000_000 and values[e] > values[s]
    ]
    assert found() == expected
    monkeypatch.setattr(segments, "_MOST_ROWS", 64)
    assert found() == expected
