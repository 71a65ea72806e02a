"""Which options go together. A mistake ends with code 2 and a sentence, before Spark is thought of."""

from __future__ import annotations

import re
from argparse import Namespace

import pytest

from trellis.cli.arguments import read_arguments
from trellis.cli.output import Target
from trellis.cli.tables import Table


def read(line: str) -> Namespace:
    return read_arguments(line.split())


def test_all_of_run() -> None:
    args = read(
        "run q.sql --table t=csv:a/*.txt --table u=u.parquet --schema t=a:int --option t.sep=; --option t.header=false "
        "--param low=3 --hint step_budget=9 --master local[2] --memory 2g --conf a.b=c=d --out m.csv --limit 7 "
        "--overwrite --fail-if-empty --quiet --debug"
    )
    assert args.tables == [
        Table("t", "a/*.txt", "csv", "a:int", {"sep": ";", "header": "false"}),
        Table("u", "u.parquet"),
    ]
    assert args.target == Target("m.csv", "csv", partitioned=False, overwrite=True)
    assert (args.param, args.hint, args.conf) == ([("low", 3)], [("step_budget", 9)], [("a.b", "c=d")])
    assert (args.query, args.limit, args.memory, args.master) == ("q.sql", 7, "2g", "local[2]")
    assert args.fail_if_empty and args.quiet and args.debug and not args.explain


def test_explain_is_run_explain() -> None:
    for line in ("explain q.sql --table t=t.parquet", "run q.sql --table t=t.parquet --explain"):
        assert read(line).explain


def test_the_picture_is_drawn_on_the_only_table() -> None:
    args = read("run q.sql --table t=t.parquet --plot m.html --x ts --y price --by symbol --by venue")
    assert (args.series, args.by) == ("t", ["symbol", "venue"])


def test_a_picture_of_events_needs_no_columns() -> None:
    args = read("run q.sase --table t=t.parquet --plot m.html --by symbol")
    assert (args.series, args.x, args.y, args.by) == ("t", None, None, ["symbol"])


def test_no_command() -> None:
    args = read("")
    assert args.command is None and "trellis run query.sql" in args.help and "exit codes" in args.help


@pytest.mark.parametrize(
    ("line", "about"),
    [
        ("walk", "invalid choice"),
        ("run", "name one query"),
        ("run q.sql --sql x", "name one query"),
        ("run q.sql --table ticks.parquet", "not of the form key=value"),
        ("run q.sql --table t=a.csv --table t=b.csv", "two tables called t"),
        ("run q.sql --schema t=x", "no --table t="),
        ("run q.sql --option t.sep=;", "no --table t="),
        ("run q.sql --param x:int=y", "'y' is not of the type int"),
        ("run q.sql --master local --remote sc://x", "not allowed with"),
        ("run q.sql --remote sc://x --memory 2g", "not for --remote"),
        ("run q.sql --out m.txt", "no suffix of parquet, csv, tsv, json"),
        ("run q.sql --out m.orc", "no suffix of parquet, csv, tsv, json"),
        ("run q.sql --out m.csv --format table", "without --out"),
        ("run q.sql --format parquet", "needs --out"),
        ("run q.sql --overwrite", "need --out"),
        ("run q.sql --partitioned", "need --out"),
        ("run q.sql --x ts", "--x needs --plot"),
        ("run q.sql --table t=t.csv --plot m.gif --x a --y b", "suffixes .html, .png, .svg, .json"),
        ("run q.sql --table t=t.csv --plot m.png --x a", "needs --x and --y"),
        ("run q.sql --table t=t.csv --plot m.png --label a", "needs --x and --y"),
        ("run q.sql --table t=t.csv --plot m.png --zoom 0", "needs --x and --y"),
        ("run q.sql --table t=t.csv --zoom", "--zoom needs --plot"),
        ("run q.sql --plot m.png --x a --y b", "there is none"),
        ("run q.sql --table t=t.csv --table u=u.csv --plot m.png --x a --y b", "one of the tables: t, u"),
        ("run q.sql --tab t=t.csv", "there is no option"),
        ("explain q.sql --out m.csv", "there is no option"),
    ],
)
def test_mistakes(line: str, about: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read(line)
    assert ended.value.code == 2
    assert re.search(re.escape(about), capsys.readouterr().err)


@pytest.mark.parametrize("out", ["m.parquet", "m.PQ", "m.json", "m.ndjson", "m.tsv"])
def test_the_suffix_says_the_format(out: str) -> None:
    kinds = {"parquet": "parquet", "pq": "parquet", "json": "json", "ndjson": "json", "tsv": "tsv"}
    assert read(f"run q.sql --out {out}").target.kind == kinds[out.split(".")[1].lower()]


def test_the_format_wins_over_the_suffix() -> None:
    assert read("run q.sql --out m.txt --format csv").target.kind == "csv"


def test_help_fits_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as ended:
        read("run --help")
    shown = capsys.readouterr().out
    assert ended.value.code == 0 and "--fail-if-empty" in shown and "exit codes" in shown
    assert max(map(len, shown.splitlines())) <= 105


def test_why() -> None:
    args = read("why q.sql --table t=t.parquet --sample 1000 --format json")
    assert (args.command, args.sample, args.nearest, args.format, args.explain) == ("why", 1000, 3, "json", False)
