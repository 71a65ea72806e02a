"""Tables of Delta Lake and Apache Iceberg, in an environment with a Spark that both have a release for."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from brokers.jars import Missing, fetch
from matrix import environments

SPARK = "4.1"
"""The newest Spark that both had a release for when this was written; the installed one may be newer."""
DELTA = "io.delta:delta-spark_4.1_2.13:4.4.0"
ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
IN_NO_SPARK = ("delta-", "unitycatalog-", "iceberg-")
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "platforms.md"


def test_the_page_names_what_is_tested() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert f"Spark {SPARK}" in page
    assert DELTA in page and ICEBERG in page


@pytest.mark.thorough
def test_delta_and_iceberg(tmp_path: Path) -> None:
    try:
        jars = [jar for artifact in (DELTA, ICEBERG) for jar in fetch(artifact)]
    except Missing as missing:
        pytest.skip(str(missing))
    named = ",".join(str(jar) for jar in jars if jar.name.startswith(IN_NO_SPARK))
    log = tmp_path / "log.txt"
    python = environments.interpreter("3.11") or environments.interpreter("3.12")
    assert python is not None
    inside = environments.create(python, tmp_path / "env", log)
    environments.run([inside, "-m", "pip", "install", "--quiet", ROOT, f"pyspark=={SPARK}.*"], log)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK", "SPARK_"))
    }
    program = Path(__file__).with_name("program.py")
    done = subprocess.run(
        [inside, program, tmp_path, named],
        cwd=tmp_path,
        env={**environment, "PYSPARK_PYTHON": str(inside)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    kinds = ("a table by name, and as a DataFrame", "an earlier version", "results written to a table", "as a stream")
    assert done.stdout.splitlines() == [f"{name}: {what}" for name in ("delta", "iceberg") for what in kinds]
