"""The mistakes a user or a cluster can make.

Every exception that Trellis raises on purpose is a `TrellisError`. Where the mistake stands in a text,
the message shows that line with a caret below it; where there is a cure, the message ends with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NoReturn

__all__ = [
    "ArgumentError",
    "BindingError",
    "DataError",
    "QuerySyntaxError",
    "ResourceError",
    "Span",
    "TrellisError",
    "TrellisWarning",
    "UnsupportedError",
    "WorkloadError",
    "assert_never",
    "raising_worker_errors",
    "worker_error",
]


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the query text: `text[start:end]`."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The stretch from the start of this span to the end of the other."""
        return Span(self.start, other.end)


class TrellisError(Exception):
    """The base of all errors of Trellis.

    Attributes
    ----------
    problem : str
        One sentence that says what is wrong.
    cure : str or None
        One sentence that says what to do.
    span : Span or None
        Where in `text` the mistake stands.
    text : str or None
        The query text.
    """

    def __init__(
        self,
        problem: str,
        *,
        cure: str | None = None,
        span: Span | None = None,
        text: str | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.cure = cure
        self.span = span
        self.text = text

    def with_text(self, text: str) -> TrellisError:
        """Attach the query text, unless a text is attached already."""
        if self.text is None:
            self.text = text
        return self

    def __str__(self) -> str:
        lines = [self.problem]
        if self.text is not None and self.span is not None:
            lines.append(_show(self.text, self.span))
        if self.cure:
            lines.append(self.cure)
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process borders (Python worker to driver), so they must survive pickling.
        return _rebuild, (type(self), self.problem, self.cure, self.span, self.text)


class QuerySyntaxError(TrellisError):
    """The text is not a query: a missing bracket, an unknown clause, a cut-off text."""


class BindingError(TrellisError):
    """The query does not fit the data or itself: an unknown column or variable, a wrong type."""


class ArgumentError(BindingError, TypeError):
    """A call in Python is wrong: a list where names and texts belong, something that is no DataFrame."""


class UnsupportedError(TrellisError):
    """The query makes sense, but Trellis cannot run it."""


class DataError(TrellisError):
    """The rows break the query at run time: a skip that cannot advance, an overflow."""


class ResourceError(TrellisError):
    """A limit was reached: the step budget of the search, memory, or a missing Java."""


class WorkloadError(TrellisError):
    """Some patterns of a workload are wrong; none of it was run.

    Attributes
    ----------
    wrong : tuple of (str, TrellisError)
        The names of these patterns, each with its mistake, in the order of the workload.
    """

    def __init__(self, wrong: tuple[tuple[str, TrellisError], ...], total: int) -> None:
        names = dict.fromkeys(name for name, _ in wrong)
        problem = f"{len(names)} of {total} patterns {'is' if len(names) == 1 else 'are'} wrong."
        super().__init__("\n\n".join([problem, *(f"{name}: {error}" for name, error in wrong)]))
        self.wrong = wrong
        self.total = total

    def __reduce__(self) -> tuple[object, ...]:
        return WorkloadError, (self.wrong, self.total)


class TrellisWarning(UserWarning):
    """The query will run, but perhaps not as cheaply as its author thinks, or not say what its author means."""


def worker_error(failure: BaseException) -> TrellisError | None:
    """The error of Trellis that ended an action of Spark; None if something else did.

    Spark hands over what a Python worker raised as text, below a page of other text.

    Parameters
    ----------
    failure : BaseException
        What `collect`, `show`, `write` or another action raised.

    Returns
    -------
    TrellisError or None
        A `DataError` or `ResourceError` with `problem` and `cure`; the failure itself if it is a `TrellisError`.

    Examples
    --------
    >>> from trellis.errors import worker_error
    >>> worker_error(Exception("trellis.errors.DataError: A condition divides by zero at row 3."))
    DataError('A condition divides by zero at row 3.')
    """
    if isinstance(failure, TrellisError):
        return failure
    text = str(failure)
    raised = _RAISED.search(text)
    if raised is not None:
        problem, _, cure = raised["text"].partition("\n")
        return _KINDS[raised["kind"]](problem, cure=cure or None)
    missing = _MISSING.search(text)
    if missing is not None:
        return ResourceError(
            f"The Python workers of Spark have no package {missing[1]}.",
            cure="Install Trellis where they run, too; or let PYSPARK_PYTHON name a Python that has it.",
        )
    return None


@contextmanager
def raising_worker_errors() -> Iterator[None]:
    """Actions of Spark inside this block raise the error of a worker itself, not a page of text around it.

    What else Spark raises is left as it is.

    Examples
    --------
    >>> from trellis.errors import raising_worker_errors
    >>> with raising_worker_errors():
    ...     raise Exception("trellis.errors.DataError: A condition divides by zero at row 3.")
    Traceback (most recent call last):
    trellis.errors.DataError: A condition divides by zero at row 3.
    """
    try:
        yield
    except Exception as failure:
        found = worker_error(failure)
        if found is None or found is failure:
            raise
        raise found from None  # the failure stays in __context__


_KINDS: dict[str, type[TrellisError]] = {
    kind.__name__: kind for kind in (BindingError, DataError, ResourceError, TrellisError, UnsupportedError)
}
_RAISED = re.compile(
    rf"^trellis\.errors\.(?P<kind>{'|'.join(_KINDS)}): "
    r"(?P<text>.*?)\s*(?:SQLSTATE: \w+\s*)?(?=\n\n|\n\s+at |\Z)",
    re.MULTILINE | re.DOTALL,
)
_MISSING = re.compile(r"^ModuleNotFoundError: No module named '(trellis|numba|numpy|pyarrow)[.']", re.MULTILINE)


def _rebuild(
    kind: type[TrellisError],
    problem: str,
    cure: str | None,
    span: Span | None,
    text: str | None,
) -> TrellisError:
    return kind(problem, cure=cure, span=span, text=text)


def _show(text: str, span: Span) -> str:
    """The line of the text that holds the start of the span, with carets below the span."""
    start = min(max(span.start, 0), len(text))
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line = text[line_start : line_end if line_end >= 0 else len(text)].replace("\t", " ")
    number = text.count("\n", 0, start) + 1
    column = start - line_start
    width = max(1, min(span.end - start, len(line) - column))
    prefix = f"line {number}: "
    return f"{prefix}{line}\n{' ' * (len(prefix) + column)}{'^' * width}"


def assert_never(value: NoReturn) -> NoReturn:
    """The end of a `match` that names every case: type checkers refuse it where one is missing."""
    raise AssertionError(f"no case for {value!r}")
