"""The Python of the workers: noticed before a job where it cannot run a match, and only where that is sure."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

import trellis
from trellis.errors import ResourceError
from trellis.spark import worker_python
from trellis.spark.worker_python import problem_with, require_worker_python

SOURCE = Path(__file__).parents[2] / "src"


def program(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """A Python without any package."""
    return program(tmp_path / "python3", f'exec "{sys.executable}" -I -S "$@"')


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_python, "_fitting", set())


def classic(python: str, *, files: list[str] | None = None, **conf: str) -> Any:
    """A session, as far as the check looks at it."""
    settings = {"spark.master": "local[2]", **{name.replace("_", "."): value for name, value in conf.items()}}
    context = SimpleNamespace(pythonExec=python, listFiles=files or [])
    return SimpleNamespace(sparkContext=context, conf=settings)


def connect(**conf: str) -> Any:
    return SimpleNamespace(conf={"spark.master": "local[2]", **conf})


# ---- one interpreter ----


def test_this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", None)  # nobody is asked
    assert problem_with(sys.executable) is None
    other = Path(sys.executable).with_name(f"python{sys.version_info[0]}")
    assert not other.exists() or problem_with(str(other)) is None


def test_a_python_without_trellis(bare: str) -> None:
    assert problem_with(bare) == "has no package trellis"


def test_a_python_with_trellis_alone(tmp_path: Path) -> None:
    """As with PYTHONPATH: the package is found, what it needs is not."""
    code = f'import sys; sys.path.insert(0, "{SOURCE}"); exec(sys.argv[1])'
    python = program(tmp_path / "python3", f'exec "{sys.executable}" -I -S -c \'{code}\' "$2"')
    assert problem_with(python) == "has no package numba"


def test_another_python_that_fits_is_asked_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    python = program(tmp_path / "python3", f'echo asked >> "{log}"\nexec "{sys.executable}" "$@"')
    assert problem_with(python) is None
    assert problem_with(python) is None
    assert log.read_text() == "asked\n"


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        (f"has Python 3.8 and trellis {trellis.__version__}", "has Python 3.8 and trellis"),
        ("has Python {}.{} and trellis 0.0.1".format(*sys.version_info), "and trellis 0.0.1, while this program has"),
    ],
)
def test_other_versions(tmp_path: Path, told: str, problem: str) -> None:
    found = problem_with(program(tmp_path / "python3", f'echo "a message of the shell"\necho "{told}"'))
    assert found is not None and problem in found


def test_a_python_that_fails(tmp_path: Path) -> None:
    broken = program(tmp_path / "python3", "echo 'ImportError: no library' >&2; exit 1")
    assert problem_with(broken) == "cannot import trellis: ImportError: no library"


def test_a_python_that_is_not_there() -> None:
    assert problem_with("python-of-nobody") == "is not on the PATH"
    assert problem_with("./env/bin/python-of-nobody") is None  # it may be unpacked where workers start


def test_a_python_that_does_not_answer_is_no_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_python, "_PATIENCE", 0.1)
    assert problem_with(program(tmp_path / "python3", "exec sleep 5")) is None


# ---- a session ----


def test_a_local_session_names_the_cure(bare: str) -> None:
    with pytest.raises(ResourceError) as caught:
        require_worker_python(classic(bare))
    assert caught.value.problem == f"Spark would run its Python workers on {bare}, which has no package trellis."
    assert caught.value.cure is not None and f"set PYSPARK_PYTHON to {sys.executable}." in caught.value.cure


def test_a_name_is_shown_with_its_path(bare: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path(bare).parent))
    with pytest.raises(ResourceError, match=rf"on python3 \({bare}\), which has no package trellis\."):
        require_worker_python(classic("python3"))


def test_a_setting_of_the_session_wins(bare: str) -> None:
    setting = "spark.sql.execution.pyspark.python"
    session = classic(bare)
    session.conf[setting] = sys.executable
    require_worker_python(session)
    session = classic(sys.executable)
    session.conf[setting] = bare
    with pytest.raises(ResourceError, match=f"Set {setting} to "):
        require_worker_python(session)


@pytest.mark.parametrize("master", ["yarn", "k8s://x", "spark://x:7077", "local-cluster[2, 1, 1024]", ""])
def test_clusters_are_left_alone(bare: str, master: str) -> None:
    require_worker_python(classic(bare, spark_master=master))


@pytest.mark.parametrize(
    "sent",
    [
        {"files": ["file:/trellis.zip"]},
        {"spark_submit_pyFiles": "trellis.zip"},
        {"spark_archives": "env.tar.gz#env"},
        {"spark_executorEnv_PYTHONPATH": "/opt/packages"},
    ],
)
def test_packages_that_are_sent_along(bare: str, sent: dict[str, Any]) -> None:
    require_worker_python(classic(bare, **sent))


def test_connect(bare: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", bare)
    monkeypatch.delenv("SPARK_LOCAL_REMOTE", raising=False)
    require_worker_python(connect())  # a server elsewhere, which has a local master of its own
    monkeypatch.setenv("SPARK_LOCAL_REMOTE", "1")
    with pytest.raises(ResourceError, match="has no package trellis"):
        require_worker_python(connect())
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    require_worker_python(connect())


# ---- a program ----

PROGRAM = """
import os, sys
import trellis as tr
from pyspark.sql import SparkSession

builder = SparkSession.builder
builder = builder.remote("local[1]") if sys.argv[1] == "connect" else builder.master("local[1]")
spark = builder.getOrCreate()
ticks = spark.range(3)
text = "SELECT * FROM {ticks} MATCH_RECOGNIZE (ORDER BY id MEASURES A.id AS a PATTERN (A))"
pattern = tr.pattern("A").measures(a="A.id")
tasks = [
    lambda: tr.sql(text, ticks=ticks),
    lambda: pattern.match(ticks, order_by="id"),
    lambda: tr.explain(text, ticks=ticks, analyze=True),
    lambda: pattern.explain(ticks, order_by="id", analyze=True),
]
for task in tasks:
    try:
        task()
        print("ran")
    except tr.errors.ResourceError as error:
        print(error)
assert "== Plan ==" in tr.explain(text, ticks=ticks)
assert "== Plan ==" in pattern.explain(ticks, order_by="id")
assert tr.sql("SELECT 1 AS one", spark=spark).collect() == [(1,)]
spark.conf.set("spark.sql.execution.pyspark.python", sys.executable)
print(tr.sql(text, ticks=ticks).collect())
spark.stop()
"""


def run_without_activating(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run this Python, with the one in the folder first on the PATH."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "SPARK"))}
    environment |= {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(SOURCE),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_SUBMIT_ARGS": "--conf spark.driver.host=127.0.0.1 --conf spark.ui.enabled=false pyspark-shell",
    }
    return subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=folder, capture_output=True, text=True, timeout=900
    )


@pytest.mark.spark
@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["classic", "connect"])
def test_a_program_whose_environment_is_not_activated(bare: str, tmp_path: Path, kind: str) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    done = run_without_activating(tmp_path, "program.py", kind)
    assert done.returncode == 0, done.stderr[-3000:]
    told = (
        f"Spark would run its Python workers on python3 ({bare}), which has no package trellis.\n"
        f"Before Spark starts, activate your environment, or set PYSPARK_PYTHON to {sys.executable}.\n"
    )
    assert done.stdout == told * 4 + "[Row(a=0), Row(a=1), Row(a=2)]\n"
    assert "Traceback" not in done.stderr


@pytest.mark.spark
@pytest.mark.thorough
@pytest.mark.parametrize("where", [["--master", "local[1]"], ["--remote", "local[1]"]])
def test_the_command_line_runs_workers_on_its_own_python(bare: str, tmp_path: Path, where: list[str]) -> None:
    (tmp_path / "t.csv").write_text("id\n1\n2\n")
    query = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY id MEASURES A.id AS a PATTERN (A))"
    done = run_without_activating(tmp_path, "-m", "trellis.cli", "run", "--sql", query, "--table", "t=t.csv", *where)
    assert (done.returncode, done.stdout) == (0, "a\n1\n2\n"), done.stderr[-3000:]


def test_the_demonstration_runs_workers_on_its_own_python(monkeypatch: pytest.MonkeyPatch) -> None:
    from trellis import demo

    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("PYSPARK_PYTHON", "")
    monkeypatch.delenv("PYSPARK_PYTHON")
    monkeypatch.setattr(demo, "SparkSession", MagicMock())
    with demo._session():
        assert os.environ["PYSPARK_PYTHON"] == sys.executable
