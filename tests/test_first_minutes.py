"""From a fresh environment to the first picture of one's own Parquet file: three commands of the README, executed."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]
SECTION = re.compile(r"^## From nothing to a picture.*?^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands() -> list[list[str]]:
    """The commands of the README, each as its words. A text in quotes may go over several lines."""
    found = SECTION.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert found is not None
    listed: list[list[str]] = []
    kept = ""
    for line in found[1].splitlines(keepends=True):
        kept += line
        try:
            listed.append(shlex.split(kept))
            kept = ""
        except ValueError:  # a quotation that is still open
            continue
    assert not kept
    return listed


def write_prices(folder: Path) -> None:
    """A Parquet file of one's own: two shares, one of which falls and rises."""
    days = [date(2024, 5, 6) + timedelta(days=number) for number in range(6)]
    columns = {"symbol": ["up"] * 6 + ["dips"] * 6, "day": days * 2, "price": [1.0, 2, 3, 4, 5, 6, 9, 7, 6, 8, 9, 9]}
    pq.write_table(pa.table(columns), folder / "prices.parquet")


def assert_drawn(folder: Path) -> None:
    page = (folder / "dips.html").read_text(encoding="utf-8")
    assert "1 match" in page and "dips" in page


def test_three_commands_are_enough() -> None:
    listed = commands()
    assert 1 <= len(listed) <= 3
    assert [words[0].rpartition("/")[2] for words in listed] == ["python3", "pip", "trellis"]


def test_the_last_one_draws(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from trellis.cli import main

    monkeypatch.chdir(tmp_path)
    write_prices(tmp_path)
    assert main(commands()[-1][1:]) == 0
    assert_drawn(tmp_path)


@pytest.mark.thorough
def test_all_three_in_a_fresh_environment(tmp_path: Path) -> None:
    """As a stranger types them, but for the package: it is the one of this checkout."""
    write_prices(tmp_path)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK", "SPARK"))
    }
    for words in commands():
        words = [sys.executable if word == "python3" else word for word in words]
        words = [word.replace("trellis-spark", str(ROOT)) for word in words]
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert_drawn(tmp_path)
