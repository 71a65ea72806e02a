"""`main`: the arguments in, the exit code out, and what each command does."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import signal
import sys
import traceback
from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import NumericType

import trellis as tr
from trellis.cli import failures
from trellis.cli.arguments import read_arguments
from trellis.cli.failures import FileError, describe
from trellis.cli.output import check_target, check_writable, print_lines, some_rows, texts, write
from trellis.cli.progress import Progress, wanted
from trellis.cli.session import is_local, open_session, wants_local
from trellis.cli.tables import Table, local_url, locate, open_table
from trellis.errors import BindingError, QuerySyntaxError
from trellis.languages.sase import is_sase
from trellis.languages.workloads import is_workload
from trellis.table_text import counted, table_text

__all__ = ["main"]

_ROWS_OF_A_TABLE = 20
_ROWS_OF_A_PICTURE = 1_000_000
_OTHER_KEYWORDS = {"spark", "args", "hints", "type", "time", "sample", "nearest"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        The exit code: 0 ran, 1 empty (with `--fail-if-empty`), 2 bad options or query, 3 data or resources, 4 files,
        70 a fault of Trellis, 130 interrupted.

    Examples
    --------
    >>> from trellis.cli import main
    >>> main(["run", "--sql", "SELECT 1 AS one", "--format", "csv"])  # doctest: +SKIP
    one
    1
    0
    """
    args = read_arguments(argv)
    before = _on_termination(_terminate)
    try:
        code = _run(args)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("trellis: interrupted", file=sys.stderr)
        return failures.INTERRUPTED
    except BrokenPipeError:
        _drop_stdout()
        return failures.BROKEN_PIPE
    except Exception as error:
        if args.debug:
            traceback.print_exc()
        code, message = describe(error)
        print(f"trellis: {message}", file=sys.stderr)
        return code
    finally:
        _on_termination(before)


def _run(args: Namespace) -> int:
    match args.command:
        case "run" | "explain" | "why":
            return _query(args)
        case "warmup":
            print(f"The kernels are ready after {tr.warmup():.1f} seconds.")
        case "studio":
            from trellis.cli.studio import serve_studio  # with a server, which only the studio needs

            serve_studio(args)
        case "version":
            print(f"trellis {tr.__version__}, PySpark {pyspark.__version__}, Python {platform.python_version()}")
        case _:
            print(f"trellis {tr.__version__}" if args.version else args.help.rstrip())
    return failures.RAN


# ---- a query ----


def _query(args: Namespace) -> int:
    """Check what can be checked without Spark, then start it and do what was asked for."""
    text = _text(args)
    if args.event_partition and not is_workload(text):
        raise BindingError(
            "--event-partition is for many event patterns.", cure="Write `name: PATTERN ...`, or [column] in a pattern."
        )
    if args.command == "why":
        return _with_spark(args, text)
    if not args.explain and args.plot and is_workload(text):
        raise BindingError("Matches of many patterns are not drawn.", cure="Draw those of one: PATTERN ... alone.")
    if not args.explain and args.plot and not args.x and not is_sase(text):
        raise BindingError(
            "--plot needs --x and --y.", cure="Name the columns to draw. Only an event pattern is drawn without them."
        )
    return _with_spark(args, text)


def _with_spark(args: Namespace, text: str) -> int:
    local = wants_local(args)
    tables = [locate(table, local=local) for table in args.tables]
    if not args.explain and args.command == "run":
        _check_files(args, tables, local=local)
    with Progress(sys.stderr, on=wanted(sys.stderr, quiet=args.quiet)) as progress:
        progress.show("starting Spark")
        with open_session(args) as spark:
            progress.watch(spark)
            try:
                return _answer(args, text, tables, spark, progress)
            finally:
                progress.leave()


def _answer(args: Namespace, text: str, tables: Sequence[Table], spark: SparkSession, progress: Progress) -> int:
    progress.show("reading")
    frames = {table.name: open_table(spark, table) for table in tables}
    if args.command == "why":
        return _why(args, text, frames, spark, progress)
    if is_workload(text):
        desk, asked = tr.workload(text), _of_workload(args)
        explain = partial(desk.explain, _events(frames), **asked)
        match = partial(desk.match, _events(frames), **asked)
    else:
        keywords = _of_query(args, text, frames, spark)
        explain = partial(tr.explain, text, **keywords)
        match = partial(tr.sase if is_sase(text) else tr.sql, text, **keywords)
    if args.explain:
        if args.analyze:
            progress.show("matching")
        explained = explain(analyze=args.analyze)
        progress.hide()
        print(explained)
        return failures.RAN
    result = match()
    progress.show("matching")
    rows = _deliver(args, result, frames, progress)
    return failures.EMPTY if args.fail_if_empty and rows == 0 else failures.RAN


def _why(args: Namespace, text: str, frames: dict[str, DataFrame], spark: SparkSession, progress: Progress) -> int:
    if is_workload(text):
        raise BindingError("why is about one pattern.", cure="Ask for one of them: PATTERN ... alone.")
    progress.show("following partial matches")
    keywords = _of_query(args, text, frames, spark)
    report = tr.why(text, sample=args.sample, nearest=args.nearest, **keywords)
    progress.hide()
    match args.format:
        case "json":
            print(json.dumps(report.to_dict(), indent=2))
        case "html":
            print(report._repr_html_())
        case _:
            print(report)
    return failures.RAN


def _of_query(args: Namespace, text: str, frames: dict[str, DataFrame], spark: SparkSession) -> dict[str, Any]:
    keywords: dict[str, Any] = {"spark": spark, "args": dict(args.param), "hints": dict(args.hint)}
    if is_sase(text):
        return keywords | {"events": _events(frames), "type": args.event_type, "time": args.event_time.split(",")}
    # The others are views, and stand in the text without braces.
    named = {name for name in frames if f"{{{name}}}" in text and name not in _OTHER_KEYWORDS}
    return keywords | {name: frames[name] for name in named}


def _of_workload(args: Namespace) -> dict[str, Any]:
    partition = [name for name in (args.event_partition or "").split(",") if name]
    return {
        "type": args.event_type,
        "time": args.event_time.split(","),
        "partition_by": partition,
        "args": dict(args.param),
        "hints": dict(args.hint),
    }


def _events(frames: dict[str, DataFrame]) -> DataFrame:
    """The table that an event pattern reads: the only one, or that called `events`."""
    if len(frames) != 1 and "events" not in frames:
        raise BindingError("An event pattern reads one table.", cure="Name it: --table events=PATH.")
    return frames["events"] if "events" in frames else next(iter(frames.values()))


def _deliver(args: Namespace, result: DataFrame, frames: dict[str, DataFrame], progress: Progress) -> int | None:
    """Write, draw or print; the answer is the number of rows, where it is known."""
    local = is_local(result.sparkSession)
    limited = result.limit(args.limit) if args.limit else result
    rows: int | None = None
    if args.target is not None:
        rows = write(limited, args.target, local=local)
        progress.hide()
        _tell(args, f"Wrote {'' if rows is None else f'{counted(rows)} to '}{args.target.path}.")
        if local and args.target.kind == "parquet":
            limited = result.sparkSession.read.parquet(local_url(args.target.path))  # a picture need not match again
    if args.plot:
        progress.show("drawing")
        draw = _draw if args.x else _draw_chains
        rows = draw(args, limited, frames[args.series], progress)
    elif args.target is None:
        rows = _print(args, result, progress, local=local)
    if rows is None and args.fail_if_empty:
        rows = some_rows(result.sparkSession, args.target)
    return rows


def _print(args: Namespace, result: DataFrame, progress: Progress, *, local: bool) -> int:
    kind = args.format or ("table" if sys.stdout.isatty() else "csv")
    if kind == "table":
        return _print_table(result, _ROWS_OF_A_TABLE if args.limit is None else args.limit, progress)
    limited = result.limit(args.limit) if args.limit else result
    return print_lines(limited, kind, sys.stdout.buffer, local=local, ready=progress.hide)


def _print_table(result: DataFrame, limit: int, progress: Progress) -> int:
    """Print the first rows; one more than these is asked for, to know whether there are more."""
    shown = texts(result)
    rows = [tuple(row) for row in (shown.limit(limit + 1) if limit else shown).collect()]
    progress.hide()
    more = bool(limit) and len(rows) > limit
    rows = rows[:limit] if limit else rows
    numeric = [isinstance(column.dataType, NumericType) for column in result.schema]
    for line in table_text(result.columns, rows, numeric):
        print(line)
    note = "; there are more: see --limit and --out" if more else ""
    print(f"({counted(len(rows))}{note})")
    return len(rows)


def _draw(args: Namespace, matches: DataFrame, series: DataFrame, progress: Progress) -> int:
    from trellis.plots import plot  # with pandas, which only pictures need

    found = matches.limit(_ROWS_OF_A_PICTURE + 1).toPandas()
    picture = plot(
        found,
        series,
        x=args.x,
        y=args.y,
        by=args.by,
        start=args.start or "start",
        end=args.end or "end",
        match=args.match,
        label=args.label,
        zoom=False if args.zoom is None else args.zoom,
        title=args.title,
        path=Path(args.plot).expanduser(),
        max_rows=_ROWS_OF_A_PICTURE,
    )
    progress.hide()
    _tell(args, f"Drew {picture}.")
    return len(found)


def _draw_chains(args: Namespace, matches: DataFrame, events: DataFrame, progress: Progress) -> int:
    """As `_draw`, for an event pattern; Spark keeps its matches, from which `plot` takes what it needs."""
    from trellis.plots import plot

    found = matches.persist()
    try:
        picture = plot(
            found,
            events,
            x=args.event_time.split(",")[0],
            type=args.event_type,
            by=args.by,
            title=args.title,
            path=Path(args.plot).expanduser(),
            max_rows=_ROWS_OF_A_PICTURE,
        )
        rows = found.count()
    finally:
        found.unpersist()
    progress.hide()
    _tell(args, f"Drew {picture}.")
    return rows


def _text(args: Namespace) -> str:
    """The query."""
    if args.sql is not None:
        text = str(args.sql)
    elif args.query == "-":
        text = sys.stdin.read()
    else:
        try:
            text = Path(args.query).expanduser().read_text(encoding="utf-8-sig")
        except (OSError, UnicodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise FileError(
                f"The query {args.query} cannot be read: {reason}.",
                cure="Name a file with the query, or write the query itself: --sql 'SELECT ...'.",
            ) from error
    if not text.strip():
        raise QuerySyntaxError(
            "The query is empty.", cure="Name a file that holds one, or write it: --sql 'SELECT ...'."
        )
    return text


def _check_files(args: Namespace, tables: Sequence[Table], *, local: bool) -> None:
    if args.target is not None:
        check_target(args.target, [table.path for table in tables], local=local)
    if args.plot:
        check_writable(Path(args.plot).expanduser(), overwrite=args.overwrite)


# ---- the process ----


def _tell(args: Namespace, message: str) -> None:
    if not args.quiet:
        print(message, file=sys.stderr)


def _terminate(number: int, frame: FrameType | None) -> None:
    """Leave as if interrupted, where Spark cancels its jobs and our files do not stay behind."""
    interrupt = signal.getsignal(signal.SIGINT)
    with contextlib.suppress(KeyboardInterrupt):
        if callable(interrupt):
            interrupt(number, frame)
    sys.exit(failures.TERMINATED)


def _on_termination(handler: Any) -> Any:
    """What to do on SIGTERM; the answer is what was done before. Only the main thread may say."""
    try:
        return signal.signal(signal.SIGTERM, handler)
    except (TypeError, ValueError):
        return None


def _drop_stdout() -> None:
    """Nobody reads stdout any more: keep Python from trying once again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
