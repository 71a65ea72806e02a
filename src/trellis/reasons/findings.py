"""What to look at first: values that no row has, windows that end what would go on, partitions that are too short."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.analysis.condition_kinds import row_value
from trellis.reasons.report import Variable, Why
from trellis.spark.session import Session

__all__ = ["Compared", "compared_in", "find", "values_that_no_row_has"]

_MOST_VALUES = 1_000
_TOLD = 3
_TEXT = re.compile(r"'((?:[^'\\]|\\.|'')*)'", re.DOTALL)
_NUMBER = re.compile(r"-?\d[\d.]*(?:e-?\d+)?[a-z]*", re.IGNORECASE)
_TURNED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Compared:
    """A value of rows that a condition compares with constants: both sides as SQL; `texts` if these are texts."""

    value: Expression
    symbol: str
    constants: tuple[str, ...]
    texts: bool


def find(why: Why, frame: DataFrame, session: Session, conditions: Mapping[str, Expression]) -> tuple[str, ...]:
    """What is plain from a report; for variables that no row satisfies, the rows are asked what they hold."""
    if why.rows == 0:
        return ("There are no rows in the input.",)
    told = [*_too_short(why)]
    for variable in why.variables:
        if variable.rows == 0:
            asked = compared_in(conditions[variable.name]) if variable.name in conditions else []
            told += values_that_no_row_has(variable.name, asked, frame, session) or [_no_row(variable)]
    if why.matches == 0 and not told:
        told += _where_it_stops(why)
    return tuple(told)


def _too_short(why: Why) -> Iterator[str]:
    if why.longest >= why.shortest:
        return
    needed = f"a match needs at least {why.shortest:,} rows, and the longest partition has {why.longest:,}"
    fine = ". Is PARTITION BY too fine?" if why.partitions > 1 else "."
    yield f"No partition is long enough: {needed}{fine}"


def _no_row(variable: Variable) -> str:
    passing = [part for part in variable.parts if part.rows]
    missing = next((part for part in variable.parts if part.rows == 0), None)
    if passing and missing is not None:
        return (
            f"No row satisfies {variable.name}: {passing[-1].rows:,} pass {passing[-1].text}, "
            f"but none of these {missing.text}."
        )
    return f"No row satisfies {variable.name}: {variable.condition}."


def _where_it_stops(why: Why) -> Iterator[str]:
    """No condition is impossible by itself: which step fails, and what mostly fails there."""
    before = None
    for step in why.funnel:
        if step.count == 0:
            ended = next((end for end in why.ends if end.element == step.text and end.reason == "condition"), None)
            came = "" if before is None else f" of {before.count:,} that reach {before.text}"
            most = "" if ended is None else f": {ended.count:,} end where {ended.text} does not hold"
            yield f"None{came} goes on to {step.text}{most}."
            break
        before = step
    if why.cut:
        yield f"{why.cut:,} partial matches would have gone on, had WITHIN {why.within} not ended them."


def compared_in(condition: Expression) -> list[Compared]:
    """The comparisons of a condition with constants; all of them must hold."""
    found = []
    for part in e.conjuncts(condition):
        match part:
            case e.Operator(symbol="IN", operands=(value, *constants)):
                symbol = "="
            case e.Operator(symbol="=" | "<" | "<=" | ">" | ">=" as symbol, operands=(value, constant)):
                constants = [constant]
                if isinstance(value, e.Literal):
                    symbol, value, constants = _TURNED[symbol], constant, [value]
            case _:
                continue
        side = row_value(value)
        literals = [constant.text for constant in constants if isinstance(constant, e.Literal)]
        if side is None or isinstance(side, e.Literal) or len(literals) != len(constants):
            continue
        texts = all(_TEXT.fullmatch(text) for text in literals)
        if texts or all(_NUMBER.fullmatch(text) for text in literals):
            found.append(Compared(side, symbol, tuple(literals), texts))
    return found


def values_that_no_row_has(
    name: str, asked: list[Compared], frame: DataFrame, session: Session, what: str = "row"
) -> list[str]:
    """For each comparison that fails for all rows, what the rows hold instead. One job, and one more for texts."""
    if not asked:
        return []
    named = [(f"v{number}", one.value) for number, one in enumerate(asked)]
    try:
        rows = session.project(frame, named)
        columns = []
        for number, one in enumerate(asked):
            holds = f"`v{number}` IN ({', '.join(one.constants)})"
            if one.symbol != "=":
                holds = f"`v{number}` {one.symbol} {one.constants[0]}"
            columns += [
                F.count(f"v{number}").alias(f"known{number}"),
                F.expr(f"count_if({holds})").alias(f"holds{number}"),
                F.min(f"v{number}").cast("string").alias(f"least{number}"),
                F.max(f"v{number}").cast("string").alias(f"most{number}"),
            ]
        row = rows.agg(*columns).collect()[0]
        told = []
        for number, one in enumerate(asked):
            if row[f"holds{number}"]:
                continue
            value = _plain(one.value)
            if row[f"known{number}"] == 0:
                told.append(f"{value} is NULL in all {what}s ({name}).")
            elif one.texts and one.symbol == "=":
                told.append(_instead(name, value, one, rows, f"v{number}", what))
            else:
                least, most = row[f"least{number}"], row[f"most{number}"]
                listed = " IN (" + ", ".join(one.constants) + ")"
                test = listed if len(one.constants) > 1 else f" {one.symbol} {one.constants[0]}"
                told.append(f"{value}{test} holds in no {what}: {value} is from {least} to {most} ({name}).")
        return told
    except PySparkException:
        # A hint is not worth an error: casts and functions may fail on rows that the query never tests.
        return []


def _instead(name: str, value: str, one: Compared, rows: DataFrame, column: str, what: str) -> str:
    """What a column of texts holds, where it does not hold what is asked for."""
    counts = rows.where(F.col(column).isNotNull()).groupBy(column).count()
    common = counts.orderBy(F.desc("count"), column).limit(_MOST_VALUES).collect()
    held = {str(row[0]): int(row[1]) for row in common}
    missing = " or ".join(one.constants)
    verb = "occurs" if len(one.constants) == 1 else "occur"
    for constant in one.constants:
        near = _nearest(_unquoted(constant), held)
        if near is not None:
            rows_of = f"{held[near]:,} {what}{'' if held[near] == 1 else 's'}"
            return f"{missing} {verb} in no {what}'s {value}; '{near}' does, in {rows_of} ({name})."
    told = ", ".join(f"'{text}' ({count:,})" for text, count in list(held.items())[:_TOLD])
    more = f" and {len(held) - _TOLD:,} more" if len(held) > _TOLD else ""
    more = more if len(held) < _MOST_VALUES else " and many more"
    return f"{missing} {verb} in no {what}'s {value}, which holds {told}{more} ({name})."


def _nearest(text: str, held: Mapping[str, int]) -> str | None:
    """The value that was meant, perhaps: the same but for case and blanks, else one that looks like it."""
    folded: dict[str, str] = {}
    for value in held:
        folded.setdefault("".join(value.casefold().split()), value)
    key = "".join(text.casefold().split())
    if key in folded:
        return folded[key]
    close = get_close_matches(key, list(folded), n=1, cutoff=0.7)
    return folded[close[0]] if close else None


def _unquoted(literal: str) -> str:
    return re.sub(r"\\(.)|''", lambda found: found[1] or "'", literal[1:-1])


def _plain(value: Expression) -> str:
    """A value as people write it."""
    return re.sub(r"`(\w+)`", r"\1", str(value))
