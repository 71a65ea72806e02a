"""The options, their help, and which of them go together."""

from __future__ import annotations

import argparse
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from trellis.cli import values
from trellis.cli.output import KINDS, target_of
from trellis.cli.session import remote_of
from trellis.cli.tables import is_url, table

__all__ = ["read_arguments"]

_PICTURES = (".html", ".png", ".svg", ".json")
_EXAMPLE = """\
example:
  trellis run query.sql --table ticks=ticks.parquet --out matches.parquet

  where query.sql says, for instance:
    SELECT * FROM ticks MATCH_RECOGNIZE (
      PARTITION BY symbol ORDER BY ts
      MEASURES first(ts) AS start, last(ts) AS end
      PATTERN (A DOWN+ UP+)
      DEFINE DOWN AS price < prev(price), UP AS price > prev(price))
"""
_EXIT_CODES = """
exit codes:
  0    the query ran, even if it found nothing
  1    it found nothing, and --fail-if-empty was given
  2    wrong options, or a query that cannot be run: syntax, names, types
  3    the data or the machine stopped it: a skip that cannot advance, a step budget, memory, no Java
  4    a file cannot be read or written
  70   a fault of Trellis
  130  interrupted (143: terminated, 141: the reader of the pipe left)
"""


def read_arguments(argv: Sequence[str] | None) -> Namespace:
    """The arguments, complete and in agreement with each other; a mistake ends the process with code 2.

    `command` is None where there was none; `help` is then the text to print.
    """
    parser = ArgumentParser(
        prog="trellis",
        description="Find patterns in ordered rows: SQL:2016 MATCH_RECOGNIZE on Apache Spark.",
        epilog=_EXAMPLE + _EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(debug=False, analyze=False)
    parser.add_argument("--version", action="store_true", help="print the version")
    commands = parser.add_subparsers(dest="command", metavar="command")
    run = _command(commands, "run", "run a query on files")
    explain = _command(commands, "explain", "say how a query would be run; with --analyze, run it and count")
    why = _command(commands, "why", "say why a query finds nothing, or what fails beside what it finds")
    warmup = _command(commands, "warmup", "compile the kernels ahead, once on a machine")
    studio = _command(commands, "studio", "write and run queries on a page in the browser")
    _command(commands, "version", "print the versions of Trellis and of what it stands on")
    for command in (run, explain, why):
        _add_query(command)
        _add_spark(command)
    explain.add_argument(
        "--analyze", action="store_true", help="run the query, throw its rows away, and show the real counts"
    )
    _add_output(run)
    _add_plot(run)
    _add_report(why)
    _add_tables(studio.add_argument_group("the tables"))
    _add_page(studio)
    _add_spark(studio, remote=False)
    for command in (run, explain, why, warmup, studio):
        command.add_argument("--debug", action="store_true", help="show stack traces, and all that Spark says")
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        _refuse(unknown[0], parser, commands.choices.get(args.command))
    args.help = parser.format_help()
    if args.command in ("run", "explain", "why"):
        _complete(args, {"run": run, "explain": explain, "why": why}[args.command])
    elif args.command == "studio":
        _complete_tables(args, studio)
    return args


def _refuse(option: str, parser: ArgumentParser, command: ArgumentParser | None) -> None:
    """Refuse an argument that nobody knows, with one of a similar name."""
    speaking = command or parser
    known = [name.strip("-") for action in speaking._actions for name in action.option_strings]
    close = get_close_matches(option.split("=")[0].strip("-"), known, n=1, cutoff=0.6)
    cure = f"did you mean --{close[0]}?" if close else f"see {speaking.prog} --help"
    speaking.error(f"there is no option {option}: {cure}")


def _command(commands: argparse._SubParsersAction[ArgumentParser], name: str, text: str) -> ArgumentParser:
    return commands.add_parser(
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog=_EXIT_CODES if name == "run" else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _add_query(command: ArgumentParser) -> None:
    group = command.add_argument_group("the query and its tables")
    group.add_argument("query", nargs="?", metavar="FILE", help="the file that holds the query; - reads it from stdin")
    group.add_argument("--sql", metavar="TEXT", help="the query itself, instead of a file")
    _add_tables(group)
    group.add_argument(
        "--event-type",
        default="type",
        metavar="COLUMN",
        help="for an event pattern (PATTERN SEQ...): the column with the type of an event; type unless given",
    )
    group.add_argument(
        "--event-time",
        default="time",
        metavar="COLUMNS",
        help="for an event pattern: the column with its time, and after commas those that order equal times; time "
        "unless given",
    )
    group.add_argument(
        "--event-partition",
        metavar="COLUMNS",
        help="for many event patterns (name: PATTERN ...; name: PATTERN ...): the columns, with commas between, in "
        "which all events of a match agree",
    )


def _add_tables(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--table",
        action="append",
        default=[],
        type=values.named,
        metavar="NAME=PATH",
        help="a table: Parquet, CSV, TSV, JSON lines or ORC; a file, a folder or a glob. The suffix says the format, "
        "or NAME=csv:PATH does. CSV has a header line, and its types are inferred. Repeatable",
    )
    group.add_argument(
        "--schema",
        action="append",
        default=[],
        type=values.named,
        metavar="NAME=TYPES",
        help='the columns of a CSV or JSON table, instead of inferring them: ticks="ts timestamp, price double"',
    )
    group.add_argument(
        "--option",
        action="append",
        default=[],
        type=values.table_option,
        metavar="NAME.KEY=VALUE",
        help="an option of Spark's reader for one table: ticks.sep=';' or ticks.header=false",
    )
    group.add_argument(
        "--param",
        action="append",
        default=[],
        type=values.parameter,
        metavar="NAME=VALUE",
        help="the value of :name in the query: a number, true, false, or text. NAME:TYPE=VALUE says the type: int, "
        "double, decimal, boolean, string, date, timestamp",
    )
    group.add_argument(
        "--hint",
        action="append",
        default=[],
        type=values.hint,
        metavar="NAME=VALUE",
        help="an option of planning or running, such as step_budget=1000000",
    )


def _add_page(command: ArgumentParser) -> None:
    group = command.add_argument_group("the page")
    group.add_argument(
        "--port",
        type=values.port,
        default=0,
        metavar="N",
        help="where to listen on this machine, and only there; by default a free port is chosen",
    )
    group.add_argument("--no-browser", action="store_true", help="print the address, and do not open it")
    group.add_argument(
        "--sample",
        type=values.sample,
        default=50_000,
        metavar="ROWS",
        help="how many rows of a table a first run sees at most; 50000 unless given",
    )


def _add_spark(command: ArgumentParser, *, remote: bool = True) -> None:
    group = command.add_argument_group("Spark")
    where = group.add_mutually_exclusive_group()
    where.add_argument("--master", metavar="URL", help="where Spark runs; by default here, on all cores: local[*]")
    if remote:
        where.add_argument(
            "--remote", metavar="URL", help="a Spark Connect server, sc://host:port; paths are paths there"
        )
    group.add_argument("--memory", type=values.memory, metavar="SIZE", help="memory of the driver, such as 4g")
    group.add_argument(
        "--conf", action="append", default=[], type=values.pair, metavar="KEY=VALUE", help="a setting of Spark"
    )
    group.add_argument("--quiet", action="store_true", help="no progress bar, no messages but errors")


def _add_output(command: ArgumentParser) -> None:
    group = command.add_argument_group("the result")
    group.add_argument(
        "--out",
        metavar="PATH",
        help="write one file, .parquet, .csv, .tsv or .json (lines). Without it the rows are printed",
    )
    group.add_argument(
        "--format",
        choices=("table", *KINDS),
        help="of the file, if not what its suffix says; of printed rows: table on a terminal, csv elsewhere",
    )
    group.add_argument(
        "--limit",
        type=values.limit,
        metavar="N",
        help="at most so many rows, or all; by default all, but 20 for a table",
    )
    group.add_argument(
        "--partitioned", action="store_true", help="let Spark write a folder of files; for very large results"
    )
    group.add_argument("--overwrite", action="store_true", help="replace the file if it is there already")
    group.add_argument("--fail-if-empty", action="store_true", help="end with code 1 if no row was found")
    group.add_argument("--explain", action="store_true", help="only say how the query would be run")


def _add_report(command: ArgumentParser) -> None:
    group = command.add_argument_group("the report")
    group.add_argument(
        "--sample",
        type=values.sample,
        metavar="ROWS",
        help="look at so many rows at most: whole partitions, or the first rows of one; by default at all",
    )
    group.add_argument(
        "--nearest",
        type=values.sample,
        default=3,
        metavar="N",
        help="how many of the nearest misses to tell; 3 unless given",
    )
    group.add_argument("--format", choices=("text", "json", "html"), default="text", help="text unless given")


def _add_plot(command: ArgumentParser) -> None:
    group = command.add_argument_group("a picture of the matches")
    group.add_argument("--plot", metavar="PATH", help="draw the matches: .html, .png, .svg or .json")
    group.add_argument(
        "--series", metavar="NAME", help="the table whose rows are the line; needed if there are several"
    )
    group.add_argument("--x", metavar="COLUMN", help="the column to draw over")
    group.add_argument(
        "--y", metavar="COLUMN", help="the column to draw; words become lanes. Event patterns need neither --x nor --y"
    )
    group.add_argument("--by", action="append", metavar="COLUMN", help="a partitioning column: one panel a series")
    group.add_argument("--start", metavar="COLUMN", help="the measure with the x of the first row (default: start)")
    group.add_argument("--end", metavar="COLUMN", help="the measure with the x of the last row (default: end)")
    group.add_argument("--match", metavar="COLUMN", help="for ALL ROWS PER MATCH: the column with MATCH_NUMBER()")
    group.add_argument("--label", metavar="COLUMN", help="the column to write over each match")
    group.add_argument(
        "--zoom",
        nargs="?",
        const=True,
        type=values.zoom,
        metavar="ROWS",
        help="one panel for each of the first 12 matches, with as many rows around it as it has, or with ROWS on both "
        "sides; or BEFORE,AFTER",
    )
    group.add_argument("--title", metavar="TEXT", help="the heading")


# ---- what goes together ----


def _complete(args: Namespace, parser: ArgumentParser) -> None:
    """Check the arguments against each other and put together what belongs together."""
    if (args.query is None) == (args.sql is None):
        parser.error("name one query: a FILE, - for stdin, or --sql TEXT")
    _complete_tables(args, parser)
    if args.memory and remote_of(args):
        parser.error("--memory is for a Spark that is started here, not for --remote")
    if args.command == "explain":
        args.explain = True
    elif args.command == "why":
        args.explain = False
    else:
        _complete_output(args, parser)
        _complete_plot(args, parser)


def _complete_tables(args: Namespace, parser: ArgumentParser) -> None:
    names = [name for name, _ in args.table]
    schemas = dict(args.schema)
    options: dict[str, dict[str, str]] = {}
    for name, key, value in args.option:
        options.setdefault(name, {})[key] = value
    for name in names:
        if names.count(name) > 1:
            parser.error(f"there are two tables called {name}")
    for name in [*schemas, *options]:
        if name not in names:
            parser.error(f"there is no --table {name}=...")
    args.tables = [table(name, text, schemas.get(name), options.get(name)) for name, text in args.table]


def _complete_output(args: Namespace, parser: ArgumentParser) -> None:
    args.target = None
    if args.out is None:
        if args.partitioned or (args.overwrite and not args.plot):
            parser.error("--partitioned and --overwrite need --out")
        if args.format == "parquet":
            parser.error("--format parquet needs --out")
        return
    if args.format == "table":
        parser.error("--format table is for printing, without --out")
    args.target = target_of(args.out, args.format, partitioned=args.partitioned, overwrite=args.overwrite)
    if args.target is None:
        parser.error(f"{args.out} has no suffix of {', '.join(KINDS)}: add one, or --format")


def _complete_plot(args: Namespace, parser: ArgumentParser) -> None:
    options = ("series", "x", "y", "by", "start", "end", "match", "label", "zoom", "title")
    given = [name for name in options if vars(args)[name] is not None]
    if args.plot is None:
        if given:
            parser.error(f"--{given[0]} needs --plot")
        return
    if Path(args.plot).suffix.lower() not in _PICTURES or is_url(args.plot):
        parser.error(f"{args.plot} is no picture: name a file with one of the suffixes {', '.join(_PICTURES)}")
    of_lines = [name for name in ("x", "y", "start", "end", "match", "label", "zoom") if vars(args)[name] is not None]
    if of_lines and not (args.x and args.y):
        parser.error("--plot needs --x and --y, or for an event pattern none of what belongs to them")
    names = [one.name for one in args.tables]
    if args.series is None and len(names) == 1:
        args.series = names[0]
    if args.series not in names:
        parser.error(f"--plot needs --series, one of the tables: {', '.join(names) or 'there is none'}")
