"""Every example in a docstring runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOURCE = Path(__file__).parents[1] / "src"
# Examples of what is public need a session, which they call `spark`.
ON_SPARK = ("trellis.api.", "trellis.running", "trellis.streams")


def modules_with_examples() -> list[str]:
    """The modules that have examples, by name."""
    paths = [path for path in sorted(SOURCE.rglob("*.py")) if "    >>> " in path.read_text("utf-8")]
    names = [".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in paths]
    return [name.removesuffix(".__init__") for name in names]


def run_examples(module: str, **names: object) -> None:
    result = doctest.testmod(importlib.import_module(module), extraglobs=names)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("module", [name for name in modules_with_examples() if not name.startswith(ON_SPARK)])
def test_examples(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_examples(module)


@pytest.mark.spark
@pytest.mark.parametrize("module", [name for name in modules_with_examples() if name.startswith(ON_SPARK)])
def test_examples_on_spark(module: str, spark: SparkSession) -> None:
    run_examples(module, spark=spark)
