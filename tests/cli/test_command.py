"""The command line as a whole: without Spark what can be tested without, then on a session, then as a process."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from reasons.test_text import REPORT
from trellis import samples
from trellis.cli import command, main
from trellis.cli.arguments import read_arguments
from trellis.errors import BindingError, DataError, QuerySyntaxError, ResourceError, Span

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOURCE = Path(__file__).parents[2] / "src"
WEATHER = f"--table=w={samples.path('weather_daily')}"
FALLS = """
    SELECT * FROM w MATCH_RECOGNIZE (
        PARTITION BY city ORDER BY day
        MEASURES WARM.day AS start, last(day) AS end, WARM.temp - last(temp) AS fall
        PATTERN (WARM FALL{2,})
        DEFINE FALL AS temp < prev(temp) - :step
    ) ORDER BY fall DESC, city, start;
"""

# ---- without Spark ----


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], list[tuple[Any, ...]]]:
    """Put something else in the place of the query: an exit code, or an error. The answer is what it was given."""

    def put(answer: Any) -> list[tuple[Any, ...]]:
        given: list[tuple[Any, ...]] = []

        def fake(*args: Any) -> int:
            given.append(args)
            if isinstance(answer, BaseException):
                raise answer
            return int(answer)

        @contextlib.contextmanager
        def session(args: Namespace) -> Iterator[object]:
            yield object()

        monkeypatch.setattr(command, "open_session", session)
        monkeypatch.setattr(command, "_answer", fake)
        return given

    return put


def test_alone_it_prints_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "usage: trellis" in capsys.readouterr().out


@pytest.mark.parametrize("argument", ["--version", "version"])
def test_version(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([argument]) == 0
    assert capsys.readouterr().out.startswith("trellis 0.")


def test_warmup(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command.tr, "warmup", lambda: 1.25)
    assert main(["warmup"]) == 0
    assert capsys.readouterr().out == "The kernels are ready after 1.2 seconds.\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (QuerySyntaxError("bad", span=Span(0, 3), text="bad query"), 2),
        (DataError("bad"), 3),
        (ResourceError("bad"), 3),
        (OSError("bad"), 4),
        (RuntimeError("bad"), 70),
        (KeyboardInterrupt(), 130),
    ],
)
def test_an_error_is_a_sentence_and_a_code(
    error: BaseException, code: int, answers: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(error)
    assert main(["run", "--sql", "SELECT 1"]) == code
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("trellis: ") and "Traceback" not in said.err
    assert ("^^^" in said.err) == isinstance(error, QuerySyntaxError)


def test_debug_shows_the_stack(answers: Any, capsys: pytest.CaptureFixture[str]) -> None:
    answers(DataError("bad"))
    assert main(["run", "--sql", "SELECT 1", "--debug"]) == 3
    assert "Traceback" in capsys.readouterr().err


def test_where_the_query_comes_from(answers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = answers(0)
    (tmp_path / "q.sql").write_text("SELECT 'ä'", encoding="utf-8-sig")
    monkeypatch.setattr(sys, "stdin", io.StringIO("SELECT 2"))
    for arguments in (["--sql", "SELECT 1"], ["-"], [str(tmp_path / "q.sql")]):
        assert main(["run", *arguments]) == 0
    assert [text for _, text, *_ in given] == ["SELECT 1", "SELECT 2", "SELECT 'ä'"]


def test_queries_that_cannot_be_read(answers: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = answers(0)
    (tmp_path / "q.sql").write_bytes(b"SELECT '\xff'")
    (tmp_path / "empty.sql").write_text(" \n")
    assert main(["run", str(tmp_path / "nope.sql")]) == 4
    assert main(["run", str(tmp_path / "q.sql")]) == 4
    assert main(["run", str(tmp_path / "empty.sql")]) == 2
    assert main(["run", "--sql", "SELECT 1", WEATHER, "--plot", "m.html"]) == 2
    assert given == []
    assert "not UTF-8" in capsys.readouterr().err


def test_files_are_checked_before_spark_starts(answers: Any, tmp_path: Path) -> None:
    given = answers(0)
    (tmp_path / "m.html").touch()
    out = str(tmp_path / "m.html")
    drawn = ["--plot", out, "--x", "day", "--y", "temp"]
    assert main(["run", "--sql", "SELECT 1", "--table", f"t={tmp_path}/nope.csv"]) == 4
    assert main(["run", "--sql", "SELECT 1", "--out", out, "--format", "csv"]) == 4
    assert main(["run", "--sql", "SELECT 1", WEATHER, *drawn]) == 4
    assert given == []
    assert main(["run", "--sql", "SELECT 1", WEATHER, *drawn, "--overwrite"]) == 0
    assert main(["run", "--sql", "SELECT 1", WEATHER, *drawn, "--explain"]) == 0


def test_without_java_there_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from pyspark.sql import SparkSession

    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr("trellis.java._session_is_running", lambda: False)
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    assert main(["run", "--sql", "SELECT 1"]) == 3
    said = capsys.readouterr().err
    assert said.startswith("trellis: Spark needs Java") and said.count("\n") == 1


def test_the_handler_of_termination_is_put_back(answers: Any) -> None:
    answers(0)
    before = signal.getsignal(signal.SIGTERM)
    main(["run", "--sql", "SELECT 1"])
    assert signal.getsignal(signal.SIGTERM) is before


def test_why_prints_its_report(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    given: dict[str, Any] = {}

    def why(text: str, **asked: Any) -> Any:
        given.update(asked, text=text)
        return REPORT

    monkeypatch.setattr(command.tr, "why", why)
    progress: Any = SimpleNamespace(show=lambda _: None, hide=lambda: None)
    for format_ in ("text", "json", "html"):
        args = read_arguments(["why", "--sql", "SELECT 1", "--sample", "9", "--param", "a=1", "--format", format_])
        spark: Any = None
        assert command._why(args, args.sql, {}, spark, progress) == 0
    assert (given["text"], given["sample"], given["nearest"], given["args"]) == ("SELECT 1", 9, 3, {"a": 1})
    text, rest = capsys.readouterr().out.split("\n{", 1)
    assert text == str(REPORT)
    told, end = json.JSONDecoder().raw_decode("{" + rest)
    assert told["pattern"] == "C Z* P" and rest[end:].startswith('<div class="trellis-why">')
    with pytest.raises(BindingError, match="about one pattern"):
        command._why(args, "a: PATTERN SEQ(A a); b: PATTERN SEQ(B b)", {}, spark, progress)


# ---- on the session of the tests ----


@pytest.fixture
def run(spark: SparkSession, capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., tuple[int, str, str]]:
    """The command line in this process, on a sister of the test session."""

    def run(*arguments: object) -> tuple[int, str, str]:
        code = main(["run", *map(str, arguments)])
        said = capfdbinary.readouterr()
        return code, said.out.decode(), said.err.decode()

    return run


@pytest.mark.connect
def test_a_table_to_read(run: Any) -> None:
    code, out, _ = run("--sql", FALLS, WEATHER, "--param", "step=6", "--format", "table", "--limit", "2")
    lines = out.splitlines()
    assert code == 0 and len(lines) == 5
    assert lines[0].split() == ["city", "start", "end", "fall"]
    assert lines[-1] == "(2 rows; there are more: see --limit and --out)"


@pytest.mark.thorough
@pytest.mark.connect(thorough=True)
def test_the_same_rows_in_every_format(run: Any, tmp_path: Path) -> None:
    query = ("--sql", FALLS, WEATHER, "--param", "step=6")
    code, out, said = run(*query)  # no terminal: CSV, all rows
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0 and said == "" and len(rows) > 20
    assert [float(row["fall"]) for row in rows] == sorted((float(row["fall"]) for row in rows), reverse=True)
    for name in ("m.parquet", "m.csv", "m.json"):
        code, out, said = run(*query, "--out", tmp_path / name)
        assert (code, out) == (0, "") and said == f"Wrote {len(rows)} rows to {tmp_path / name}.\n"
    assert list(csv.DictReader(io.StringIO((tmp_path / "m.csv").read_text()))) == rows
    found = [json.loads(line) for line in (tmp_path / "m.json").read_text().splitlines()]
    assert [{name: str(value) for name, value in row.items()} for row in found] == rows
    stored = pq.read_table(tmp_path / "m.parquet").to_pylist()
    assert [{name: str(value) for name, value in row.items()} for row in stored] == rows
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.csv", "m.json", "m.parquet"]


@pytest.mark.connect(thorough=True)
def test_an_error_of_a_worker(run: Any, tmp_path: Path) -> None:
    stuck = FALLS.replace("PATTERN", "AFTER MATCH SKIP TO WARM PATTERN")
    code, out, said = run("--sql", stuck, WEATHER, "--param", "step=6", "--out", tmp_path / "m.csv")
    assert (code, out) == (3, "")
    assert "leads to its first row" in said and "Traceback" not in said.split("trellis: ")[-1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.connect
def test_a_query_that_does_not_fit(run: Any) -> None:
    code, _, said = run("--sql", FALLS.replace("prev(temp)", "prev(tmp)"), WEATHER, "--param", "step=6")
    assert code == 2 and "no column tmp" in said and "^^^" in said


def test_explain(run: Any) -> None:
    code, out, _ = run("--sql", FALLS, WEATHER, "--param", "step=6", "--explain")
    assert code == 0 and "PATTERN (WARM FALL{2,})" in out


def test_every_type_survives(run: Any, tmp_path: Path) -> None:
    query = """SELECT timestamp_ntz'2020-01-01 01:02:03.123456' AS ntz, timestamp'2020-01-01 01:02:03.123456Z' AS at,
        CAST(NULL AS int) AS nothing, '' AS empty, 'a"b, c\\n ' AS text, array(1, 2) AS list, X'00FF' AS bytes,
        CAST(1.10 AS decimal(10, 2)) AS money"""
    _, out, _ = run("--sql", query, "--format", "csv", "--conf", "x=y")
    (row,) = csv.DictReader(io.StringIO(out))
    assert row["ntz"] == "2020-01-01 01:02:03.123456"
    assert (row["nothing"], row["empty"], row["text"]) == ("", "", 'a"b, c\n ')
    assert (row["list"], row["bytes"], row["money"]) == ("[1, 2]", "00FF", "1.10")
    assert ',,"",' in out  # NULL and the empty text differ
    _, out, _ = run("--sql", query, "--format", "json")
    (line,) = out.splitlines()
    assert json.loads(line)["ntz"] == "2020-01-01T01:02:03.123456" and json.loads(line)["nothing"] is None
    run("--sql", query, "--out", tmp_path / "m.parquet")
    kinds = pq.read_schema(tmp_path / "m.parquet")
    assert str(kinds.field("ntz").type) == "timestamp[us]" and str(kinds.field("money").type) == "decimal128(10, 2)"
    assert kinds.field("list").type.value_type.bit_width == 32


def test_a_folder_of_files_and_its_own_input(run: Any, tmp_path: Path) -> None:
    folder = tmp_path / "two words.parquet"
    assert run("--sql", "SELECT id FROM range(10)", "--out", folder, "--partitioned")[0] == 0
    assert (folder / "_SUCCESS").exists()
    code, _, said = run("--sql", "SELECT 1 AS id", "--out", folder, "--partitioned")
    assert code == 4 and "--overwrite" in said
    query = ("--sql", "SELECT * FROM t WHERE id < 3", "--table", f"t={folder}")
    code, _, said = run(*query, "--out", folder, "--partitioned", "--overwrite")  # Spark alone would destroy it
    assert code == 0 and said.startswith("Wrote 3 rows")
    assert sorted(pq.read_table(folder)["id"].to_pylist()) == [0, 1, 2]
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


def test_empty_results(run: Any, tmp_path: Path) -> None:
    nothing = ("--sql", "SELECT id FROM range(3) WHERE id > 5")
    assert run(*nothing)[:2] == (0, "id\n")
    assert run(*nothing, "--fail-if-empty")[0] == 1
    assert run("--sql", "SELECT 1 AS one", "--fail-if-empty")[0] == 0
    for name in ("m.parquet", "m.csv", "m.json"):
        assert run(*nothing, "--out", tmp_path / name, "--fail-if-empty", "--quiet")[::2] == (1, "")
    assert pq.read_schema(tmp_path / "m.parquet").names == ["id"]
    assert (tmp_path / "m.csv").read_text() == "id\n" and (tmp_path / "m.json").read_text() == ""
    for name in ("p.csv", "p.json"):
        assert run(*nothing, "--out", tmp_path / name, "--partitioned", "--fail-if-empty")[0] == 1


def test_csv_and_json_tables(run: Any, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("k,day\n1,2020-01-01\n2,2020-01-02\n")
    (tmp_path / "b.txt").write_text("1;x\n")
    (tmp_path / "c.jsonl").write_text('{"k": 1, "n": 5}\n{"k": 2, "n": 6}\n')
    query = "SELECT a.k, day + 1 AS day, s, n FROM a JOIN {c} c ON a.k = c.k LEFT JOIN b ON b.k = a.k ORDER BY a.k"
    code, out, _ = run(
        *("--sql", query, "--table", f"a={tmp_path}/a.csv", "--table", f"c={tmp_path}/c.jsonl"),
        *("--table", f"b=csv:{tmp_path}/b.txt", "--schema", "b=k int, s string"),
        *("--option", "b.sep=;", "--option", "b.header=false"),
    )
    assert code == 0 and out == "k,day,s,n\n1,2020-01-02,x,5\n2,2020-01-03,,6\n"


def test_an_event_pattern(run: Any, tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("kind,at,id\nOrder,1,7\nOrder,2,8\nPayment,4,8\n")
    (tmp_path / "unpaid.sase").write_text("PATTERN SEQ(Order o, ~(Payment p)) WHERE { [id] } WITHIN 9 RETURN o.id")
    columns = ["--event-type", "kind", "--event-time", "at,id"]
    table = ["--table", f"orders={tmp_path / 'orders.csv'}"]
    code, out, _ = run(str(tmp_path / "unpaid.sase"), *table, *columns, "--format", "csv")
    assert (code, out) == (0, "kind,at,id\nMatch,1,7\n")
    code, _, err = run(str(tmp_path / "unpaid.sase"), *columns)
    assert (code, err) == (2, "trellis: An event pattern reads one table.\nName it: --table events=PATH.\n")


def test_many_event_patterns(run: Any, tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("kind,at,id\nOrder,1,7\nOrder,2,8\nPayment,4,8\n")
    desk = tmp_path / "desk.sase"
    desk.write_text("paid: PATTERN SEQ(Order o, Payment p) WITHIN 9;\ntwo: PATTERN AND(Order a, Order b) WITHIN 9")
    asked = (str(desk), "--table", f"orders={tmp_path / 'orders.csv'}", "--event-type", "kind", "--event-time", "at")
    code, out, _ = run(*asked, "--event-partition", "id", "--format", "json")
    assert code == 0
    (row,) = map(json.loads, out.splitlines())
    assert (row["id"], row["pattern"], row["start"], row["end"]) == (8, "paid", 2, 4)
    code, out, _ = run(*asked, "--explain")
    assert code == 0 and "== Shared plan ==" in out and "paid, two" in out
    code, _, err = run(*asked, "--plot", str(tmp_path / "m.html"))
    assert code == 2 and err.startswith("trellis: Matches of many patterns are not drawn.\nDraw those of one:")
    code, _, err = run("--sql", "SELECT 1 AS a", "--event-partition", "id")
    assert code == 2 and "--event-partition is for many event patterns" in err


def test_rows_that_do_not_fit_fail(run: Any, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("k,v\n1,2\nx\n")
    code, _, said = run("--sql", "SELECT * FROM a", "--table", f"a={tmp_path}/a.csv")
    assert code == 3 and "a.csv" in said and "Malformed" in said
    code, _, said = run("--sql", "SELECT * FROM a", "--table", f"a={tmp_path}/a.csv", "--schema", "a=v int, k int")
    assert code == 3 and "header" in said


def test_two_columns_of_one_name(run: Any) -> None:
    twice = ("--sql", "SELECT 1 AS a, 2 AS a", "--format")
    assert run(*twice, "csv")[:2] == (0, "a,a\n1,2\n")
    assert run(*twice, "table")[0] == 0
    code, _, said = run(*twice, "json")
    assert code == 2 and "two columns called a" in said


@pytest.mark.thorough
def test_a_picture(run: Any, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    drawn = ("--plot", tmp_path / "m.svg", "--x", "day", "--y", "temp", "--by", "city", "--title", "Falls")
    query = ("--sql", FALLS, WEATHER, "--param", "step=6")
    code, out, said = run(*query, *drawn, "--out", tmp_path / "m.parquet", "--limit", "3")
    assert (code, out) == (0, "") and said.splitlines()[-1] == f"Drew {tmp_path / 'm.svg'}."
    assert (tmp_path / "m.svg").read_text().startswith("<svg")
    code, _, said = run(*query, *drawn, "--overwrite", "--start", "nope")
    assert code == 2 and "no column 'nope'" in said


@pytest.mark.thorough
def test_a_picture_of_events(run: Any, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    (tmp_path / "e.csv").write_text("type,time,id\nA,1,7\nX,2,7\nB,3,7\nA,4,8\n")
    query = ("--sql", "PATTERN SEQ(A a, B b) WHERE { [id] }", "--table", f"events={tmp_path}/e.csv")
    code, out, said = run(*query, "--plot", tmp_path / "m.svg", "--by", "id", "--title", "Chains")
    assert (code, out) == (0, "") and said.splitlines()[-1] == f"Drew {tmp_path / 'm.svg'}."
    assert "1 match in 1 of 2 series · 4 events" in (tmp_path / "m.svg").read_text()
    code, _, said = run(*query, "--plot", tmp_path / "n.svg", "--by", "shop")
    assert code == 2 and "no column 'shop'" in said


# ---- as a process of its own ----


def start(*arguments: object, path: str = os.environ["PATH"], **options: Any) -> subprocess.Popen[str]:
    # What starts with PYSPARK is of the test session.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK")}
    environment |= {"PYTHONPATH": str(SOURCE), "TERM": "xterm", "PATH": path}
    return subprocess.Popen(
        [sys.executable, "-m", "trellis.cli", "run", "--memory", "1g", "--master", "local[2]", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        **options,
    )


@pytest.mark.spark
@pytest.mark.thorough
def test_a_process_says_nothing_of_spark(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Its workers run on its own Python, whichever is on the PATH: here one that runs nothing."""
    other = tmp_path_factory.mktemp("bin") / "python3"
    other.write_text("#!/bin/sh\nexit 1\n")
    other.chmod(0o755)
    process = start(
        *("-", WEATHER, "--param", "step=6", "--limit", "1"),
        path=f"{other.parent}{os.pathsep}{os.environ['PATH']}",
        cwd=tmp_path,
        stdin=subprocess.PIPE,
    )
    out, said = process.communicate(FALLS, timeout=300)
    assert (process.returncode, said) == (0, "")
    assert out.splitlines()[0] == "city,start,end,fall" and len(out.splitlines()) == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spark
@pytest.mark.thorough
def test_a_process_that_fails_says_one_thing(tmp_path: Path) -> None:
    stuck = FALLS.replace("PATTERN", "AFTER MATCH SKIP TO WARM PATTERN")
    process = start("--sql", stuck, WEATHER, "--param", "step=6", "--out", "m.csv", cwd=tmp_path)
    out, said = process.communicate(timeout=300)
    assert (process.returncode, out) == (3, "")
    assert said.startswith("trellis: AFTER MATCH SKIP TO") and len(said.splitlines()) == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spark
@pytest.mark.thorough
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_process_that_is_stopped_leaves_nothing(number: signal.Signals, code: int, tmp_path: Path) -> None:
    process = start("--sql", "SELECT count(*) FROM range(1e15) WHERE hash(id) = 1", "--out", "m.csv", cwd=tmp_path)
    deadline = time.monotonic() + 120
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:  # the scratch folder: the query runs
        time.sleep(0.1)
    time.sleep(1)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == code and "Traceback" not in said
    assert list(tmp_path.iterdir()) == []
