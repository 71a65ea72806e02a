"""How far a task has come, told while it runs."""

from __future__ import annotations

import os
import pickle
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from trellis.execution import pulse as pulses
from trellis.execution.pulse import Told, folder_of_pulses, read_pulses, telling


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulses, "_PERIOD", 0.01)


def told_until(folder: Path, wanted: Told) -> None:
    deadline = time.monotonic() + 10
    found: list[Told] = []
    while found != [wanted] and time.monotonic() < deadline:
        found = read_pulses(str(folder))
        time.sleep(0.005)
    assert found == [wanted]


def test_where_the_search_is_inside_a_chunk(tmp_path: Path) -> None:
    batches = [pa.record_batch({"a": [1] * 30}), pa.record_batch({"a": [1] * 20})]
    progress = np.array([0, -1], np.int64)
    with telling(str(tmp_path)) as told:
        reading = told.reading(batches)
        assert next(reading).num_rows == 30
        told.follow(progress, 1)
        told_until(tmp_path, Told(30, 0, False, False))
        progress[1] = 12
        told_until(tmp_path, Told(30, 12, False, False))
        told.chunk_is_done(30)
        assert [batch.num_rows for batch in reading] == [20]
        told.at(7)
        told_until(tmp_path, Told(50, 37, True, False))
    assert read_pulses(str(tmp_path)) == [Told(50, 50, True, True)]
    assert read_pulses(str(tmp_path)) == [] and not list(tmp_path.iterdir())


def test_nothing_is_told_where_nobody_watches(tmp_path: Path) -> None:
    for folder in ("", str(tmp_path / "gone")):
        with telling(folder) as told:
            assert list(told.reading([])) == []
    assert not list(tmp_path.iterdir())
    assert read_pulses(str(tmp_path / "gone")) == []


def test_a_watcher_that_leaves_does_not_disturb_the_task(tmp_path: Path) -> None:
    folder = tmp_path / "pulses"
    folder.mkdir()
    with telling(str(folder)) as told:
        told.at(0)
        told_until(folder, Told(0, 0, False, False))
        for path in folder.iterdir():
            path.unlink(missing_ok=True)
        folder.rename(tmp_path / "elsewhere")
        time.sleep(0.05)


def test_what_is_half_written_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "1-a").write_bytes(b"half")
    (tmp_path / "2-b.new").write_bytes(b"")
    assert read_pulses(str(tmp_path)) == []


def test_the_folder_belongs_to_the_process() -> None:
    folder = folder_of_pulses()
    assert str(os.getpid()) in folder and folder == folder_of_pulses()
    assert pickle.loads(pickle.dumps(folder)) == folder
