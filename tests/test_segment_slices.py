"""Long series are cut into slices: the cuts must not show."""

from __future__ import annotations

import random
from typing import Any

import pytest

import local_segments
from trellis.execution import segments

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
