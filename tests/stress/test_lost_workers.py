"""The setting that docs/cluster.md advises keeps the workers of other queries alive when a query fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from trellis.java import require_java


@pytest.mark.spark
@pytest.mark.thorough
def test_a_query_survives_the_failure_of_another() -> None:
    require_java()
    script = Path(__file__).with_name("lost_workers.py")
    ended = subprocess.run([sys.executable, script, "false"], capture_output=True, text=True, timeout=300)
    assert ended.stdout.split() == ["survived"], ended.stderr
