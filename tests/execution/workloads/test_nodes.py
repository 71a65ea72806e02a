"""Room for instances grows by doubling up to the most that is held, then in one step; it never creeps."""

from __future__ import annotations

import pytest

from trellis.execution.workloads import nodes


def test_room_grows_to_its_limit_in_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "_MOST_CELLS", 6 * 1000)
    found, rooms = nodes.new_instances(4, 100), []
    with pytest.raises(nodes.TooManyError):
        while True:
            room = found.rows.shape[1]
            rooms.append(room)
            # What is joined next may need ten places.
            found = nodes._longer(found, room - 9, 10)
    assert rooms == [100, 200, 400, 800, 1000]
