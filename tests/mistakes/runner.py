"""The corpus of mistakes: its files, how each mistake is made, and what its message has to have."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trellis.cli import main
from trellis.errors import TrellisError, WorkloadError, raising_worker_errors

HERE = Path(__file__).parent
_MARKS = re.compile("«|»")


@dataclass(frozen=True, slots=True)
class Mistake:
    """What a user wrote, with marks around the place of the mistake, and the message that came of it."""

    file: str
    title: str
    marked: str
    message: str

    @property
    def written(self) -> str:
        """What the user wrote."""
        return _MARKS.sub("", self.marked)

    @property
    def places(self) -> list[tuple[int, int]]:
        """Where the mistake stands in it: the text between marks, as stretches of `written`."""
        ends, at = [], 0
        for number, found in enumerate(_MARKS.finditer(self.marked)):
            ends.append(found.start() - number)
            at = found.end()
        assert at and len(ends) % 2 == 0, f"{self.title}: no marks"
        return list(zip(ends[::2], ends[1::2], strict=True))


def corpus() -> Iterator[Mistake]:
    """All mistakes, file by file."""
    for file in sorted(HERE.glob("*.txt")):
        for entry in re.split(r"^=== ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            title, _, rest = entry.partition("\n")
            marked, _, message = rest.partition("\n>>>\n")
            yield Mistake(file.name, title, marked.strip("\n"), message.strip("\n"))


def rewrite(messages: Mapping[tuple[str, str], str]) -> None:
    """Write the corpus anew with these messages, by file and title."""
    entries: dict[str, list[str]] = {}
    for one in corpus():
        text = f"=== {one.title}\n{one.marked}\n>>>\n{messages[one.file, one.title]}\n"
        entries.setdefault(one.file, []).append(text)
    for name, texts in entries.items():
        (HERE / name).write_text("\n".join(texts), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The message, and the error behind it, where there is one."""

    message: str
    error: BaseException | None


def make(mistake: Mistake, names: dict[str, Any]) -> Outcome:
    """Do what the user did, and catch what comes of it."""
    import trellis as tr

    text = mistake.written
    if text.startswith("$ trellis "):
        return _in_a_shell(shlex.split(text.removeprefix("$ trellis "), comments=False))
    try:
        with raising_worker_errors():
            if re.match(r"(SELECT|WITH)\b", text):
                tr.sql(text, spark=names["spark"]).collect()
            elif text.startswith("PATTERN"):
                tr.sase(text, events=names["events"]).collect()
            else:
                exec(compile(textwrap.dedent(text), mistake.title, "exec"), dict(names))
    except TrellisError as error:
        return Outcome(f"{type(error).__name__}: {error}", error)
    except Exception as error:
        return Outcome(f"!! {type(error).__name__}: {error}", error)
    return Outcome("!! nothing was said", None)


def _in_a_shell(arguments: list[str]) -> Outcome:
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            code: object = main(arguments)
        except SystemExit as ended:
            code = ended.code
    lines = [line for line in said.getvalue().strip().splitlines() if not re.match(r"usage:|\s+\[", line)]
    return Outcome("\n".join([*lines, f"(exit code {code})"]), None)


# ---- what a message has to have ----


def names_place(mistake: Mistake, outcome: Outcome) -> bool:
    """Whether carets stand below the marked text, or the message names it."""
    shown = re.search(r"^line (\d+): (.*)\n( *)(\^+)", outcome.message, re.MULTILINE)
    if re.search(r"\bat row \d+ of the partition", outcome.message):
        return True  # a place among the rows, where nothing in the text is wrong
    if shown is not None:
        line = shown[2]
        column = len(shown[3]) - len(f"line {shown[1]}: ")
        for found in re.finditer(re.escape(line), mistake.written):
            start, end = found.start() + column, found.start() + column + len(shown[4])
            if any(start < stop + 1 and begin < end + 1 for begin, stop in mistake.places):
                return True
        carets = line[column : column + len(shown[4])]
        return any(_names(carets, mistake.written[begin:stop]) for begin, stop in mistake.places)
    return any(_names(outcome.message, mistake.written[begin:stop]) for begin, stop in mistake.places)


def _names(message: str, text: str) -> bool:
    return bool(text.strip()) and re.search(rf"(?<!\w){re.escape(text.strip())}(?!\w)", message) is not None


def names_cure(outcome: Outcome) -> bool:
    """Whether the message ends with what to do."""
    if isinstance(outcome.error, WorkloadError):
        return all(error.cure for _, error in outcome.error.wrong)
    if isinstance(outcome.error, TrellisError):
        return bool(outcome.error.cure)
    return re.search(_CURE, outcome.message) is not None


# Sentences that tell what to do, where there is no attribute to ask: on the command line.
_CURE = (
    r"(?im)(^|[.;:(] ?|, )(write|use|name|pass|give|add|did you mean|choose|leave|install|remove|rename|replace|see|"
    r"the \w+ are|there (is|are))\b"
)
