"""The hundred queries of the matrix are right, and the matrix can tell what is wrong. It itself is `make matrix`."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import local
from matrix import __main__ as matrix
from matrix import cell, environments
from matrix.drawn import DRAWN, QUERIES
from matrix.environments import Size
from trellis.languages.sase import parse_sase_text
from trellis.languages.statement import parse_statement

ALL: list[dict[str, Any]] = json.loads(QUERIES.read_text(encoding="utf-8"))


def test_there_are_a_hundred() -> None:
    assert len({query["text"] for query in ALL}) == len(ALL) == sum(DRAWN.values()) == 100
    assert all(query["expected"] for query in ALL)


def _found(query: dict[str, Any]) -> list[list[Any]]:
    """What Trellis finds, without Spark."""
    schema = [tuple(column.split()) for column in query["schema"].lower().split(", ")]
    rows = [dict(zip([name for name, _ in schema], row, strict=True)) for row in query["rows"]]
    clause: Any = query["text"]
    if query["kind"] == "events":
        clause = parse_sase_text(query["text"], time_columns=tuple(cell.ORDER))
    elif query["kind"] == "sequences":
        clause = parse_statement(query["text"]).clauses[0].query
    return [[row[name] for name in query["columns"]] for row in local.run(clause, rows, schema)]


@pytest.mark.parametrize("kind", DRAWN)
def test_the_answers_that_are_kept_are_those_of_trellis(kind: str) -> None:
    for query in ALL:
        if query["kind"] == kind:
            assert cell.same(_found(query), query["expected"]), query["text"]


def test_rows_are_the_same_in_any_order_and_nothing_else_is() -> None:
    assert cell.same([[1, None], [2, 0.1 + 0.2]], [[2, 0.3], [1, None]])
    assert cell.same([[float("nan")]], [[float("nan")]])
    assert not cell.same([[1]], [[1], [1]])
    assert not cell.same([[1, "a"]], [[1, "b"]])
    assert not cell.same([[1.5]], [[1.6]])
    assert not cell.same([[None]], [[0]])
    assert not cell.same([["1"]], [[1]])


def test_what_went_wrong_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([[[2]], [[1]]])

    def answer(spark: Any, query: Any) -> list[list[Any]]:
        return next(answers)

    monkeypatch.setattr(cell, "answer", answer)
    wrong, lost = cell.run_queries(None, [{"text": text, "expected": [[1]]} for text in ("first", "second", "third")])
    assert wrong.startswith("first\n  found    [[2]]")
    assert lost.startswith("third\nTraceback")


def test_a_quickstart_that_prints_something_else_is_told(tmp_path: Path) -> None:
    page = "```python\nprint(1)\n```\n" * 10 + "```python\nprint(2)\n```\n```text\n{}\n```\n"
    (tmp_path / "quickstart.md").write_text(page.format(2))
    assert cell.run_quickstart(None, tmp_path) == []
    (tmp_path / "quickstart.md").write_text(page.format(3))
    (told,) = cell.run_quickstart(None, tmp_path)
    assert "prints something else" in told


def test_a_missing_interpreter_is_a_line_that_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(environments, "interpreter", lambda version: None)
    tried = matrix.try_cell("3.12", "4.0", tmp_path / "no.whl", tmp_path, SimpleNamespace())
    assert matrix.line_of(tried).startswith("Python 3.12, Spark 4.0: no Python: there is no Python 3.12 on the PATH")


def test_interpreters_are_asked_what_they_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A shim of pyenv has the name of a Python that may not be there."""
    liar = tmp_path / "python3.99"
    liar.write_text("#!/bin/sh\nexit 127\n")
    liar.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert environments.interpreter("3.99") is None
    inside = tmp_path / "versions" / "3.99.1" / "bin"
    inside.mkdir(parents=True)
    (inside / "python").write_text("#!/bin/sh\necho 3.99\n")
    (inside / "python").chmod(0o755)
    assert environments.interpreter("3.99") == inside / "python"


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        (["right", "no Python"], 0),
        (["right", "right"], 0),
        (["right", "wrong"], 1),
        (["broken"], 1),
        (["no Python"], 1),  # nothing ran
    ],
)
def test_the_exit_code(outcomes: list[str], code: int) -> None:
    assert matrix.exit_code([matrix.Cell("3.12", "4.1", outcome) for outcome in outcomes]) == code


def test_a_step_that_fails_says_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(environments.Failed, match="ended with code 3: too bad"):
        environments.run(["sh", "-c", "echo too bad; exit 3"], tmp_path / "log.txt")


def test_the_table() -> None:
    report = {
        "python": "3.12.1",
        "spark": "4.1.4",
        "first_seconds": 20.1,
        "seconds": 99.5,
        "failed": [],
        "queries": 100,
    }
    right = matrix.Cell(
        "3.12", "4.1", "right", report=report, size=Size(900.4, 500.2, 3.14, (("pyarrow", 150.2), ("numba", 20.0)))
    )
    assert matrix.table([right, matrix.Cell("3.13", "4.0", "no Python")])[2:] == [
        "| 3.12.1 | 4.1.4 | right | 20.1 | 99.5 | 900 | 500 | 3.1 |",
        "| 3.13 | 4.0 | no Python |  |  |  |  |  |",
        "",
        "The largest others: pyarrow 150 MB, numba 20 MB.",
    ]


def test_a_cell_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    slow = tmp_path / "python"
    slow.write_text("#!/bin/sh\n(sleep 1; touch lives) &\nsleep 60\n")
    slow.chmod(0o755)
    with pytest.raises(subprocess.TimeoutExpired):
        matrix.tried(slow, tmp_path, tmp_path / "log.txt", 0.2)
    time.sleep(1.5)
    assert not (tmp_path / "lives").exists()


def test_environments_lie_outside_the_checkout(capsys: pytest.CaptureFixture[str]) -> None:
    assert matrix.main(["--folder", str(matrix.ROOT / "build" / "matrix")]) == 2
    assert "outside the checkout" in capsys.readouterr().err
