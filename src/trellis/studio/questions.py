"""What a tab asks: a text, the language it is in, and which columns tell what an event is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from trellis.algebra.query import Query, VariableKind
from trellis.algebra.statement import Statement
from trellis.errors import BindingError, QuerySyntaxError, Span, UnsupportedError
from trellis.languages.lexer import attach_text
from trellis.languages.sase import is_sase, parse_sase_text
from trellis.languages.statement import parse_statement, require_sequence
from trellis.languages.workloads import is_workload

__all__ = ["Language", "Question", "Reading", "guess_columns", "read"]

LONGEST_TEXT = 100_000


class Language(Enum):
    """The languages, by the words of the page's menu."""

    AUTO = "auto"
    ROWS = "rows"
    SEGMENTS = "segments"
    EVENTS = "events"
    SEQUENCES = "sequences"
    PLAIN = "plain"
    """SQL without a pattern; no choice of the menu."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a tab asks.

    `events`, `type` and `time` are the table of an event pattern and its columns; `y` is the column to draw. What
    is empty is chosen. With `zoom` the picture has a panel for each match.
    """

    text: str
    language: Language = Language.AUTO
    events: str = ""
    type: str = ""
    time: str = ""
    y: str = ""
    zoom: bool = False

    @classmethod
    def of(cls, values: object) -> Question:
        """Read what the page sent.

        Raises
        ------
        BindingError
            It is not what the page sends.
        """
        if not isinstance(values, dict) or not isinstance(values.get("text"), str):
            raise BindingError("A question is an object with a text.")
        words = {name: values.get(name, "") for name in ("language", "events", "type", "time", "y")}
        if not all(isinstance(word, str) for word in words.values()):
            raise BindingError("The options of a question are texts.")
        if len(values["text"]) > LONGEST_TEXT:
            raise BindingError(
                f"The query is longer than {LONGEST_TEXT:,} characters.", cure="Use trellis.sql in Python."
            )
        try:
            language = Language(words.pop("language") or "auto")
        except ValueError:
            raise BindingError("There is no such language.") from None
        # Half a character, which JavaScript can send, is none to Spark; the question mark is as long.
        text = values["text"].encode("utf-8", "replace").decode("utf-8")
        return cls(text, language, **words, zoom=values.get("zoom") is True)


@dataclass(frozen=True, slots=True)
class Reading:
    """A text that was read: a statement, or the query of an event pattern on the table `events`."""

    question: Question
    language: Language
    statement: Statement | None = None
    query: Query | None = None
    events: str = ""

    @property
    def queries(self) -> tuple[Query, ...]:
        """The pattern queries in it, those that others read first."""
        if self.query is not None:
            return (self.query,)
        return tuple(clause.query for clause in self.statement.clauses) if self.statement is not None else ()


def read(question: Question, tables: Mapping[str, Sequence[tuple[str, str]]]) -> Reading:
    """Read a text. `tables` are the columns and their types, by the tables that there are.

    Raises
    ------
    TrellisError
        The text is wrong, not of the language that was chosen, or changes something.
    """
    text, chosen = question.text, question.language
    if not text.strip():
        raise QuerySyntaxError(
            "The query is empty.", cure="Write one, or start from an example.", span=Span(0, 1), text=text
        )
    with attach_text(text):
        as_events = chosen is Language.EVENTS or (chosen is Language.AUTO and is_sase(text))
        if not as_events and is_workload(text):
            raise UnsupportedError(
                "The studio runs one pattern at a time.", cure="Many at once are for trellis.workload, or trellis run."
            )
    if as_events:
        return _events(question, tables)
    statement = parse_statement(text)
    with attach_text(text):
        if statement.has_effect:
            raise UnsupportedError(
                "The studio runs queries, not statements that change something.",
                cure="Begin with SELECT or WITH; `trellis run` and Python run the others.",
                span=Span(0, len(text.split(maxsplit=1)[0])),
            )
        language = _language(statement)
        if chosen is Language.SEQUENCES:
            require_sequence(statement)
        elif chosen not in (Language.AUTO, language):
            raise _another(chosen, language)
    return Reading(question, language, statement)


def _events(question: Question, tables: Mapping[str, Sequence[tuple[str, str]]]) -> Reading:
    if not tables:
        raise BindingError("An event pattern reads a table, and there is none.")
    table = question.events or ("events" if "events" in tables else _of_events(tables))
    if table not in tables:
        raise BindingError(f"There is no table {table}.", cure=f"There are {', '.join(tables)}.")
    kind, time = guess_columns(tables[table])
    # Further columns put events of one time in order.
    times = [part.strip() for part in (question.time or time).split(",") if part.strip()]
    query = parse_sase_text(question.text, question.type or kind, times or ["time"])
    return Reading(question, Language.EVENTS, query=query, events=table)


def _of_events(tables: Mapping[str, Sequence[tuple[str, str]]]) -> str:
    """The first table that looks as if it held events, else the first."""
    likely = (name for name, columns in tables.items() if {"type", "event", "kind"} & {column for column, _ in columns})
    return next(likely, next(iter(tables)))


def guess_columns(columns: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """The columns that probably hold the type and the time of events, those that break ties after commas."""
    names = [name for name, _ in columns]
    texts = [name for name, kind in columns if kind == "string"]
    times = [name for name, kind in columns if kind.startswith(("timestamp", "date"))]
    kind = next((name for name in ("type", "event", "kind", "event_type", *texts) if name in names), "type")
    time = next((name for name in ("time", "ts", "timestamp", *times) if name in names), "time")
    ties = [name for name in ("step", "seq", "sequence", "position") if name in names and name != time]
    return kind, ",".join([time, *ties[:1]])


def _language(statement: Statement) -> Language:
    if not statement.clauses:
        return Language.PLAIN
    if any(clause.is_sequence for clause in statement.clauses):
        return Language.SEQUENCES
    kinds = {clause.query.kind for clause in statement.clauses}
    return Language.SEGMENTS if VariableKind.SEGMENT in kinds else Language.ROWS


_NAMES: dict[Language, str] = {
    Language.ROWS: "MATCH_RECOGNIZE with variables of single rows",
    Language.SEGMENTS: "MATCH_RECOGNIZE with segments",
    Language.EVENTS: "SASE+",
    Language.SEQUENCES: "SQL-TS",
    Language.PLAIN: "SQL without a pattern",
}


def _another(chosen: Language, language: Language) -> QuerySyntaxError:
    return QuerySyntaxError(
        f"This is {_NAMES[language]}, and the menu says {_NAMES[chosen]}.",
        cure="Choose Auto there, or write the query in that language.",
        span=Span(0, 1),
    )


def told(reading: Reading) -> dict[str, Any]:
    """What the page says about a text that was read."""
    answer: dict[str, Any] = {"language": reading.language.value}
    if reading.query is not None and reading.query.events is not None:
        answer["events"] = {
            "table": reading.events,
            "type": str(reading.query.events.type.parts[-1].text),
            "time": ", ".join(str(key.expression) for key in reading.query.order_by),
        }
    return answer
