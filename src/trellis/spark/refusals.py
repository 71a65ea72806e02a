"""What Spark refuses, as an error of Trellis: in one sentence, with a cure, at its place in the text of the user.

Spark speaks of texts that Trellis wrote: its lines and columns mean nothing to a reader. But it also says which part of
the text it means; if that part stands in the user's text just once, that is the place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.errors import AnalysisException, ParseException, PySparkException

from trellis.errors import BindingError, QuerySyntaxError, Span, TrellisError

__all__ = ["locate", "refused"]

# Rows of tables beside a sequence are numbered in the order of all of their columns.
_UNORDERED = re.compile(r'INVALID_ORDERING_TYPE.*"trellis_(\w+) ASC')
# What Spark appends: the text and the plan, its own numbers, places in texts that nobody has seen, and links.
_APPENDED = re.compile(r"\n== SQL|;\n'|\n'|\n\nJVM stacktrace")
_NOISE = re.compile(
    r" SQLSTATE: \w+|;? ?\(?line \d+,? pos \d+\)?(?=[.;:\s]*$)| Please, refer to '[^']*' for a fix\."
    r"|\s*If you did not qualify the name.*|\s*To tolerate the error.*|\s*Search path: \[.*?\]\.",
    re.DOTALL,
)
_CURES = {
    "DATATYPE_MISMATCH": "Cast one of them, as in CAST(x AS DOUBLE).",
    "INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX": "Leave that out: it belongs to aggregates.",
    "MISSING_GROUP_BY": "Put an aggregate around it, or add GROUP BY.",
    "UNRESOLVED_ROUTINE": "Mind the spelling, or register it with spark.udf.register.",
    "WRONG_NUM_ARGS": "Pass as many arguments as it takes.",
}


def refused(problem: PySparkException) -> TrellisError:
    """Spark's refusal of a text, without the plan and the stack that Spark appends."""
    condition, told = problem.getCondition() or "", _parameters(problem)
    if condition == "TABLE_OR_VIEW_NOT_FOUND":
        name = told.get("relationName", "").replace("`", "")
        return BindingError(
            f"There is no table or view {name}.",
            cure=f"A DataFrame is passed by name: {{{name}}} in the text, {name}=df.",
        )
    if condition.startswith("UNRESOLVED_COLUMN") and told.get("proposal"):
        close = told["proposal"].replace("`", "")
        return BindingError(
            f"There is no column {told.get('objectName', '').replace('`', '')} here.", cure=f"There are {close}."
        )
    message = str(problem)
    if isinstance(problem, (AnalysisException, ParseException)):
        message = _APPENDED.split(message)[0].strip()
    unordered = _UNORDERED.search(message)
    if unordered is not None:
        return BindingError(
            f"The table {unordered[1]} in FROM has a column that cannot be ordered, so its rows cannot be told apart.",
            cure="Leave out maps and the like in a subquery, or make them arrays:"
            f" FROM (SELECT id, map_entries(m) AS m FROM t) AS {unordered[1]}.",
        )
    kind = QuerySyntaxError if isinstance(problem, ParseException) else BindingError
    message = _NOISE.sub("", message).strip()
    cure = _CURES.get(condition) or _CURES.get(condition.split(".")[0])
    return kind(f"Spark does not accept this: {message}", cure=cure)


def locate(error: TrellisError, problem: PySparkException, text: str) -> None:
    """Show the place in the user's text that Spark means, as narrow as that is known."""
    around = error.span or Span(0, len(text))
    for fragment in _fragments(problem):
        word = re.compile(rf"(?<!\w){_as_written(fragment)}(?!\w)", re.IGNORECASE)
        places = [found.span() for found in word.finditer(text, around.start, around.end)]
        if len(places) == 1:
            error.span = Span(*places[0])
            return


def _as_written(fragment: str) -> str:
    """A regular expression for a part of a text as users write it: names without backticks, or after a variable."""
    pieces = re.split(r"(`[^`]*`|\s+)", fragment)
    return "".join(
        rf"(?:\w+\s*\.\s*)?`?{re.escape(piece[1:-1])}`?"
        if piece[:1] == "`"
        else r"\s*"
        if piece.isspace()
        else re.escape(piece)
        for piece in pieces
    )


def _fragments(problem: PySparkException) -> list[str]:
    """The parts of a text that Spark means, the likeliest first."""
    found = [context.fragment() for context in problem.getQueryContext() if context.contextType().name == "SQL"]
    if isinstance(problem, ParseException):
        near = _parameters(problem).get("error", "")
        found.append(near.strip("'"))
    return [fragment for fragment in found if fragment.strip()]


def _parameters(problem: PySparkException) -> Mapping[str, str]:
    return problem.getMessageParameters() or {}
