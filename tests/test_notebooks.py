"""The notebooks in examples/ run, and show what they show on disk: `python tools/run_notebooks.py` runs them anew."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import notebook_cells

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path: Path, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = notebook_cells.read(path)
    kept = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    given = notebook_cells.run(notebook, path.name, {"__name__": "__main__"})
    for number, (now, before) in enumerate(zip(given, kept, strict=True), start=1):
        assert notebook_cells.words(now) == notebook_cells.words(before), f"{path.name}, code cell {number}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_small(path: Path) -> None:
    assert path.stat().st_size < 300_000


def test_there_are_three() -> None:
    assert len(NOTEBOOKS) >= 3


def test_a_cell_shows_what_it_prints_and_its_last_value() -> None:
    source = "x = 20\nprint('hello')\nx + 1\n"
    assert notebook_cells.words(notebook_cells.run_cell(source, "n", 1, {})) == ["hello", "21"]
    assert notebook_cells.run_cell("y = 1", "n", 1, {}) == []
    with pytest.raises(ZeroDivisionError):
        notebook_cells.run({"cells": [{"cell_type": "code", "source": ["1 / 0"]}]}, "n", {})
