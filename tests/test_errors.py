"""What workers raise, out of the text that Spark makes of it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from trellis.errors import BindingError, DataError, ResourceError, raising_worker_errors, worker_error

KINDS = {f"{kind}Error" for kind in "Argument Binding Data File QuerySyntax Resource Unsupported".split()}

# As classic Spark, Spark Connect and an error of Java hand it over.
CLASSIC = """
An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "/trellis/spark/worker.py", line 216, in _check
    raise self._error(int(status[0]), int(status[1]), chunk)
trellis.errors.DataError: A condition divides by zero at row 2 of the partition ('x').
Guard it with NULLIF(divisor, 0).
"""
CONNECT = f"""

  An exception was thrown from the Python worker. Please see the stack trace below.
[PYTHON_EXCEPTION] {CLASSIC.strip()}
 SQLSTATE: 38000
"""
JAVA = f"""An error occurred while calling o61.parquet.
: org.apache.spark.SparkException: Job aborted: (TID 2): org.apache.spark.api.python.PythonException: \
{CLASSIC.strip()}

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:581)
Caused by: something else
"""


@pytest.mark.parametrize("text", [CLASSIC, CONNECT, JAVA])
def test_the_error_of_a_worker(text: str) -> None:
    found = worker_error(Exception(text))
    assert type(found) is DataError
    assert found.problem == "A condition divides by zero at row 2 of the partition ('x')."
    assert found.cure == "Guard it with NULLIF(divisor, 0)."
    assert str(found) == f"{found.problem}\n{found.cure}"


def test_an_error_without_a_cure() -> None:
    found = worker_error(Exception("trellis.errors.ResourceError: It was too much."))
    assert type(found) is ResourceError
    assert (found.problem, found.cure) == ("It was too much.", None)


@pytest.mark.parametrize("package", ["trellis", "trellis.spark", "numba", "numpy", "pyarrow"])
def test_workers_without_a_package(package: str) -> None:
    found = worker_error(
        Exception(f"Traceback:\n  File x\nModuleNotFoundError: No module named '{package}'\n SQLSTATE")
    )
    assert type(found) is ResourceError
    assert f"have no package {package.split('.')[0]}." in found.problem
    assert found.cure is not None and "PYSPARK_PYTHON" in found.cure


@pytest.mark.parametrize(
    "text",
    [
        "Traceback:\nValueError: trellis.errors.DataError: not at the beginning of a line",
        "trellis.errors.OtherError: no error of ours",
        "other.trellis.errors.DataError: of another package",
        "ModuleNotFoundError: No module named 'scipy'",
        "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012",
        "",
    ],
)
def test_other_failures(text: str) -> None:
    assert worker_error(Exception(text)) is None
    failure = RuntimeError(text)
    with pytest.raises(RuntimeError) as caught, raising_worker_errors():
        raise failure
    assert caught.value is failure


def test_an_error_of_trellis_is_itself() -> None:
    error = BindingError("x")
    assert worker_error(error) is error
    with pytest.raises(BindingError) as caught, raising_worker_errors():
        raise error
    assert caught.value is error


def test_the_page_of_text_is_kept_but_not_shown() -> None:
    failure = RuntimeError(CLASSIC)
    with pytest.raises(DataError) as caught, raising_worker_errors():
        raise failure
    assert caught.value.__context__ is failure
    assert caught.value.__suppress_context__


def test_every_error_has_a_cure() -> None:
    """Except those of the studio's protocol, which its own page speaks, and that of Java, which holds its cure."""
    source = Path(__file__).parents[1] / "src" / "trellis"
    lacking = []
    for file in sorted(source.rglob("*.py")):
        if file.relative_to(source).parts[0] in ("studio", "java.py"):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KINDS
            if made and node.args and not any(keyword.arg == "cure" for keyword in node.keywords):
                lacking.append(f"{file.relative_to(source)}:{node.lineno}")
    assert not lacking, f"errors without a cure: {lacking}"
