"""Every failure as a few lines for a reader and a number for a script."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyspark.errors import AnalysisException, PySparkException

from trellis.errors import DataError, ResourceError, TrellisError, worker_error

__all__ = [
    "BAD_QUERY",
    "BROKEN_PIPE",
    "EMPTY",
    "FAULT",
    "FILE_TROUBLE",
    "INTERRUPTED",
    "RAN",
    "RUN_TIME",
    "TERMINATED",
    "FileError",
    "Told",
    "describe",
]

RAN, EMPTY, BAD_QUERY, RUN_TIME, FILE_TROUBLE = 0, 1, 2, 3, 4
FAULT, INTERRUPTED, BROKEN_PIPE, TERMINATED = 70, 130, 141, 143


class Told(Exception):
    """A failure that has been described, since it cannot be asked any more once Spark has stopped."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class FileError(TrellisError):
    """A file cannot be read or written."""


def describe(error: BaseException) -> tuple[int, str]:
    """The exit code and the message of a failure, without any stack trace."""
    if isinstance(error, Told):
        return error.code, str(error)
    raised = worker_error(error)
    if raised is not None:
        return _code(raised), _for_a_shell(str(raised))
    text = str(error)
    if isinstance(error, PySparkException) or _headline(text) is not None:
        message = _from_spark(text)
        if "OutOfMemoryError" in text:
            return RUN_TIME, f"Spark ran out of memory: {message}\nGive it more with --memory, such as --memory 8g."
        if _ABOUT_FILES.search(text):
            return FILE_TROUBLE, message
        return BAD_QUERY if isinstance(error, AnalysisException) else RUN_TIME, message
    if isinstance(error, ConnectionError):
        return RUN_TIME, f"The connection to Spark was lost: {text}"
    if isinstance(error, (OSError, UnicodeError)):
        return FILE_TROUBLE, text
    return FAULT, f"This is a fault of Trellis, please report it: {type(error).__name__}: {text}\nSee --debug."


_ABOUT_FILES = re.compile(
    r"\[(PATH_NOT_FOUND|PATH_ALREADY_EXISTS|UNABLE_TO_INFER_SCHEMA|CANNOT_READ_FILE_FOOTER|FAILED_READ_FILE"
    r"\.(CANNOT_READ_FILE_FOOTER|FILE_NOT_EXIST))\b"
    r"|FileNotFoundException|AccessControlException|AccessDeniedException|Permission denied|No space left on device"
    r"|No FileSystem for scheme|Mkdirs failed"
)


def _code(error: TrellisError) -> int:
    match error:
        case FileError():
            return FILE_TROUBLE
        case DataError() | ResourceError():
            return RUN_TIME
        case _:
            return BAD_QUERY


def _for_a_shell(message: str) -> str:
    """What a Python user passes as an argument, a shell user passes as an option."""
    message = re.sub(r"hints=\{'(\w+)': [^{}]*\}", r"--hint \1=...", message)
    message = re.sub(r"args=\{'(\w+)': [^{}]*\}", r"--param \1=...", message)
    return re.sub(
        r"A DataFrame is passed by name: \{(\w+)\} in the text, \1=df\.", r"Name its file: --table \1=PATH.", message
    )


# ---- an error of Spark ----

_JAVA_HEADLINE = re.compile(
    r"(?:^: |^Caused by: |\(TID \d+\) \([^)]*\): )(?P<kind>(?:\w+\.)+\w+)(?:: (?P<text>.*?))?"
    r"(?=\n\s+at |\n\s*\.\.\. \d+ more|\n\nDriver stacktrace|\nCaused by: |\Z)",
    re.MULTILINE | re.DOTALL,
)
_NOISE = re.compile(
    r"\s*SQLSTATE: \w+|^Job aborted due to stage failure:.*?\(TID \d+\) \([^)]*\): (?:\w+\.)+\w+: ", re.S
)
_PLAN = re.compile(r";\s*\n'|\n'\w|\n\+- |\n\nJVM stacktrace|\n== SQL")


_PYTHON = re.compile(r"^(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit)\b.*", re.MULTILINE)


def _from_spark(text: str) -> str:
    """What Spark says first and, where Java tells of causes, what was at the bottom of it."""
    if "Traceback (most recent call last)" in text:
        return _from_python(text)
    headlines = list(dict.fromkeys(filter(None, _headlines(text))))
    if not headlines:
        return _tidy(_PLAN.split(text)[0])
    return headlines[0] if len(headlines) == 1 else f"{headlines[0]}\n{headlines[-1]}"


def _from_python(text: str) -> str:
    """What a Python worker raised, if it was no error of Trellis: the last line of its traceback."""
    raised = _PYTHON.findall(text)
    return f"A Python worker of Spark failed: {_tidy(raised[-1] if raised else text)}"


def _headlines(text: str) -> Iterator[str]:
    for found in _JAVA_HEADLINE.finditer(text):
        yield _tidy(found["text"] or found["kind"])


def _headline(text: str) -> str | None:
    return next(_headlines(text), None)


def _tidy(text: str) -> str:
    lines = (line.rstrip() for line in _NOISE.sub("", text.strip()).splitlines())
    return "\n".join(line for line in lines if line)
