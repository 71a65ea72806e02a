"""Room for instances grows by doubling up to the most that is held, then in one step; it never creeps."""

from __future__ import annotations

import pytest

from trellis.execution.workloads import nodes


def test_room_grows_to_its_limit_in_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "_LEAST_ROOM", 100)
    monkeypatch.setattr(nodes, "_MOST_CELLS", 9 * 1000)
    pool, rooms = nodes.Pool(4), []
    pool.rows[99] = 7
    with pytest.raises(nodes.TooManyError):
        while True:
            rooms.append(len(pool.rows))
            pool.grow(len(pool.rows) + 1)
    assert rooms == [100, 200, 400, 800, 1000]
    assert (pool.rows[99] == 7).all()


def test_what_few_chunks_need_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "_KEPT_CELLS", 1 << 20)
    pool = nodes.Pool(4)
    pool.grow(1 << 17)
    pool.shrink(0)
    assert len(pool.rows) == 1 << 17
    pool.grow(1 << 18)
    pool.shrink(1 << 17)
    assert len(pool.rows) == 1 << 18
    pool.shrink(1 << 15)
    assert len(pool.rows) < 1 << 17
