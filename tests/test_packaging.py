"""What the package is called and under which licence it comes: the same everywhere."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
# Where a reader may be told what to install.
TEXTS = [
    *(ROOT / name for name in ("README.md", "Makefile", "pyproject.toml")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "src").rglob("*.py")),
]
# The text of the Apache License 2.0 as its authors publish it.
APACHE = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"


def test_the_licence_is_the_plain_apache_licence() -> None:
    assert hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest() == APACHE
    assert '\nlicense = "Apache-2.0"\nlicense-files = ["LICENSE"]\n' in PYPROJECT
    assert "[LICENSE](LICENSE)" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_source_archive_holds_the_licence() -> None:
    (included,) = re.findall(r"^include = \[(.*)\]$", PYPROJECT, re.MULTILINE)
    assert '"LICENSE"' in included


def test_the_distribution_is_trellis_spark() -> None:
    """`trellis` on the package index is a stranger's code."""
    assert re.search(r'^name = "trellis-spark"', PYPROJECT, re.MULTILINE)
    assert '"trellis-spark[connect,plot,studio]"' in PYPROJECT


def test_nobody_is_told_to_install_another_package() -> None:
    wrong = re.compile(r"""pip install [^\n#]*(?<![\w./-])['"]?trellis(?![\w-])|(?<![\w-])trellis\[\w+(,\w+)*\]""")
    assert not [str(path) for path in TEXTS if wrong.search(path.read_text(encoding="utf-8"))]
