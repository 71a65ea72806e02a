"""Benchmarks still run: each is listed, its commands are real, and its quick form goes through from end to end.

The quick forms run with `--thorough`.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import SimpleNamespace
from typing import cast

import pytest

import benchmarks
from benchmarks.catalogue import BENCHMARKS, find, listing
from benchmarks.data import data_folder
from benchmarks.made_up import make_up
from benchmarks.options import check
from benchmarks.pages import Bar, bar_table, number, with_blocks
from benchmarks.peers import flink
from benchmarks.results import Results
from benchmarks.streams.beside_flink import beside_flink
from benchmarks.streams.crimes import QUERIES, write_crimes
from benchmarks.streams.definition import Report, by_definition, read_reports
from benchmarks.streams.feeds import Bench
from benchmarks.timing import in_turns

ROOT = Path(__file__).parents[1]
WITHOUT_SPARK = ("segments", "calibration.segments", "baselines")
WITH_SPARK = ("rows", "events", "sqlts", "workloads", "streams", "prefilter", "studio", "why", "calibration.prefilter")

# ---- what is listed ----


def test_every_module_can_be_imported() -> None:
    found = [module.name for module in walk_packages(benchmarks.__path__, "benchmarks.")]
    assert {name.split(".")[1] for name in found if name.count(".") == 2} == {
        *(
            "rows",
            "events",
            "sqlts",
            "workloads",
            "streams",
            "segments",
            "prefilter",
            "studio",
            "why",
            "calibration",
            "baselines",
            "peers",
        )
    }
    for name in found:
        import_module(name)


def test_make_bench_lists_every_benchmark_with_its_question() -> None:
    done = subprocess.run([sys.executable, "-m", "benchmarks"], cwd=ROOT, capture_output=True, text=True, check=True)
    for benchmark in BENCHMARKS:
        (line,) = [line for line in done.stdout.splitlines() if line.split()[0:1] == [benchmark.name]]
        assert benchmark.takes in line
        assert line.endswith("?")
        assert "--quick" in benchmark.parser().format_help()
    assert "$(BIN)/python -m benchmarks $(BENCH)" in (ROOT / "Makefile").read_text()
    assert listing() in (ROOT / "docs/benchmarks/README.md").read_text()


def test_quick_forms_of_all_are_tested() -> None:
    assert {*WITHOUT_SPARK, *WITH_SPARK} == {benchmark.name for benchmark in BENCHMARKS}


def commands() -> list[str]:
    """Every command that a page, a docstring or a message tells people to type."""
    files = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    files += [path for folder in ("src", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    text = "\n".join(path.read_text("utf-8") for path in files)
    named = "|".join(re.escape(benchmark.name) for benchmark in BENCHMARKS)
    plain = re.findall(rf"python -m benchmarks ((?:{named})\b[^`\"\n]*)", text)
    made = re.findall(rf"make bench BENCH=\"((?:{named})\b[^\"\n]*)\"", text)
    made += re.findall(rf"make bench BENCH=((?:{named})\b)", text)
    # An explanation follows two blanks or a backslash.
    return sorted({re.split(r"  |\\", command)[0].rstrip(" .,") for command in plain + made})


@pytest.mark.parametrize("command", commands())
def test_commands_on_pages_are_accepted(command: str) -> None:
    name, *options = shlex.split(command)
    if "--help" not in options:
        find(name).parser().parse_args(options)


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("rows", "row_patterns"),
        ("events", "events"),
        ("sqlts", "sqlts"),
        ("workloads", "workloads"),
        ("streams", "streams"),
        ("studio", "studio"),
        ("why", "why"),
    ],
)
def test_a_page_in_sections_has_a_place_for_each(name: str, page: str) -> None:
    sections = find(name).parser().get_default("only")
    text = (ROOT / f"docs/benchmarks/{page}.md").read_text("utf-8")
    places = re.findall(rf"<!-- (\w+): written by benchmarks/{name} -->.*?<!-- end of \1 -->", text, re.DOTALL)
    assert sorted(places) == sorted(["summary", *sections])


# ---- the harness ----


def test_jobs_run_in_turns_after_a_round_that_is_not_timed() -> None:
    ran: list[str] = []
    rounds = in_turns({"a": lambda: ran.append("a"), "b": lambda: ran.append("b")}, 2, tell=False)
    assert "".join(ran) == "ababab"
    assert [len(times) for times in rounds.times.values()] == [2, 2]


def test_a_slow_job_runs_once_and_a_failing_one_gives_up() -> None:
    ticks = iter(range(1000))
    ran: list[str] = []

    def fail() -> None:
        ran.append("fail")
        raise MemoryError

    def slow() -> str:
        ran.append("slow")
        return "found"

    rounds = in_turns(
        {"slow": slow, "fail": fail},
        3,
        warm_up=False,
        clock=lambda: float(next(ticks)),
        once_above=0.5,
        giving_up=(MemoryError,),
        tell=False,
    )
    assert ran == ["slow", "fail"]
    assert (rounds.best("slow"), rounds.best("fail")) == (1.0, float("inf"))
    assert rounds.results == {"slow": "found"}


def test_ratios_are_of_medians_with_the_spread_of_rounds() -> None:
    ticks = iter([0.0, 1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 2.0])
    rounds = in_turns({"a": str, "b": str}, 2, warm_up=False, clock=lambda: next(ticks), tell=False)
    assert str(rounds.ratio("a", "b")) == "1.00 (0.50–1.50)"
    assert rounds.text("a") == "2.00 (1.00–3.00)"


def test_a_missed_bar_is_printed_as_missed() -> None:
    missed, met = Bar.at_most("slow", 1.0, 1.5, " s"), Bar.at_most("small", 2, 1.99, below=True)
    assert (str(missed), str(met)) == ("bar ≤ 1 s: MISSED", "bar < 2: met")
    assert Bar.at_most("edge", 2, 2, below=True).verdict == "MISSED"
    shown = bar_table([missed, Bar("reported", "–", "3", None), Bar("nothing", "≤ 1", "not measured", None)])
    assert shown.splitlines()[2:] == [
        "| slow | ≤ 1 s | 1.50 s | MISSED |",
        "| reported | – | 3 | report |",
        "| nothing | ≤ 1 | not measured |  |",
    ]
    assert "| the paper's |" in bar_table([Bar("a", "≤ 1", "1", True, "2")])


def test_numbers_have_about_three_digits() -> None:
    assert [number(value) for value in (0.123, 12.34, 1234.5, float("inf"))] == ["0.12", "12.3", "1,234", "given up"]


def test_blocks_go_between_their_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# T\n\n<!-- a: written by w -->\nold\n<!-- end of a -->\n\nprose\n")
    text = with_blocks(page, "w", {"a": "new", "b": "more"})
    assert text == (
        "# T\n\n<!-- a: written by w -->\nnew\n<!-- end of a -->\n\nprose\n\n"
        "<!-- b: written by w -->\nmore\n<!-- end of b -->\n"
    )
    page.write_text("<!-- a: written by w -->\n")
    with pytest.raises(SystemExit, match="no line <!-- end of a -->"):
        with_blocks(page, "w", {"a": "new"})


@dataclass(frozen=True)
class Small:
    name: str
    seconds: float


@dataclass(frozen=True)
class Large:
    parts: tuple[Small, ...]

    @classmethod
    def of(cls, parts: list[dict[str, float]]) -> Large:
        return cls(tuple(Small(**part) for part in parts))  # type: ignore[arg-type]


def test_figures_are_read_back_also_after_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "figures.jsonl"
    first: Results[Small | Large] = Results(path, Small, Large)
    held = [first.add(Small("a", 1.0)), first.add(Large((Small("b", float("inf")),)))]
    with path.open("a") as file:
        file.write('{"kind": "Small", "na')
    again: Results[Small | Large] = Results(path, Small, Large)
    assert list(again) == held
    held.append(again.add(Small("c", 2.0)))
    assert list(Results(path, Small, Large)) == held
    path.write_text('{"no": "figure"}\n' + path.read_text())
    with pytest.raises(SystemExit, match="line 1, is not a figure of this benchmark"):
        Results(path, Small, Large)
    assert list(Results(None, Small)) == []


def test_a_quick_run_mixes_with_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = find("segments").parser()
    kept = tmp_path / "kept.jsonl"

    def asked(*words: str) -> argparse.Namespace:
        return check(parser, parser.parse_args(words))

    assert asked("--quick", "--repeats", "7", "--keep", str(kept)).repeats == 1
    kept.touch()
    for words in (("--quick", "--keep", str(kept)), ("--quick", "--data", "here"), ("--report",), ("--only", "other")):
        with pytest.raises(SystemExit):
            asked(*words)
    said = capsys.readouterr().err
    for problem in ("needs a file of its own", "leave out --data", "--report needs", "there is no template other"):
        assert problem in said


def test_missing_data_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRELLIS_DATA", raising=False)
    asked = argparse.Namespace(quick=False, data=None)
    unsaid = pytest.raises(SystemExit, match=r"reads crimes.parquet: .* as --data, or name it in TRELLIS_DATA")
    with unsaid, data_folder(asked, ["crimes"]):
        pass
    make_up(tmp_path, ("taxi",))
    monkeypatch.setenv("TRELLIS_DATA", str(tmp_path))
    with data_folder(asked, ["taxi"]) as folder:
        assert folder == tmp_path
    with pytest.raises(SystemExit, match=r"There is no covid.parquet in"), data_folder(asked, ["taxi", "covid"]):
        pass


# ---- streams beside Flink ----


def test_no_two_reports_are_alike_in_time_or_half_an_hour_apart(tmp_path: Path) -> None:
    reports, last = write_crimes(tmp_path / "in", 20_000)
    times = [report.at for report in read_reports(reports)]
    assert len(times) == len(set(times)) == 20_000
    assert times == sorted(times)
    assert not {time + timedelta(minutes=30) for time in times} & set(times)
    assert read_reports(last)[0].at > times[-1] + timedelta(days=1)


def test_by_definition_a_reluctant_loop_takes_as_few_rows_as_it_can() -> None:
    kinds = ["ASSAULT", "ASSAULT", "THEFT", "OTHER", "THEFT", "BATTERY", "BATTERY", "ASSAULT", "THEFT", "BATTERY"]
    begin = datetime(2018, 1, 1)
    reports = [
        Report(number, begin + timedelta(minutes=5 * number), kind, 8, 0.0, 0.0) for number, kind in enumerate(kinds)
    ]
    assert by_definition("in one district", reports) == [(0, 2, 5), (7, 8, 9)]
    assert by_definition("partitioned by district", reports[:5]) == []
    wide = [replace(report, at=begin + timedelta(minutes=11 * report.id)) for report in reports]
    assert by_definition("in the district of A", wide) == [(7, 8, 9)]
    apart = [replace(report, lon=0.02 * report.id) for report in reports]
    assert by_definition("in a box around A", apart) == []


def test_without_flink_the_comparison_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flink, "_READY", tmp_path / "missing")
    with pytest.raises(flink.MissingFlinkError, match="--install-flink"):
        flink.find_flink()
    bench = cast(Bench, SimpleNamespace(install_flink=False))
    section = beside_flink(bench)
    assert section.body.startswith("Skipped. Flink")
    assert [bar.verdict for bar in section.bars] == [""] * len(QUERIES)


# ---- quick forms ----


def run_quick(name: str, folder: Path) -> str:
    """What the quick form of a benchmark prints; those with a page write it as well, and read their figures back."""
    environment = {**os.environ, "NUMBA_NUM_THREADS": "1"}
    environment.pop("TRELLIS_DATA", None)
    command = [sys.executable, "-m", "benchmarks", name]
    paged = hasattr(find(name).parser().parse_args([]), "keep")
    keep, page = folder / "figures.jsonl", folder / "page" / "page.md"
    options = ["--keep", str(keep), "--write", str(page)] if paged else []
    done = subprocess.run(
        [*command, "--quick", *options], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    if not paged:
        return done.stdout
    written = page.read_text()
    page.unlink()
    subprocess.run([*command, "--report", *options], cwd=ROOT, env=environment, capture_output=True, check=True)
    assert page.read_text() == written
    return written


@pytest.mark.thorough
@pytest.mark.parametrize("name", WITHOUT_SPARK)
def test_quick_form(name: str, tmp_path: Path) -> None:
    text = run_quick(name, tmp_path)
    said = {"segments": "| 0 of", "calibration.segments": "constant, ns", "baselines": "Times of the automata"}
    assert said[name] in text


@pytest.mark.thorough
@pytest.mark.spark
@pytest.mark.parametrize("name", WITH_SPARK)
def test_quick_form_with_spark(name: str, tmp_path: Path) -> None:
    if name == "studio" and shutil.which("chromium") is None:
        pytest.skip("there is no Chromium on this machine")
    text = run_quick(name, tmp_path)
    said = {
        "rows": "| job |",
        "events": "| query |",
        "sqlts": "| pattern |",
        "workloads": "| patterns |",
        "streams": "| watermark |",
        "prefilter": "| 0 of",
        "studio": "| to the picture, s |",
        "why": "| V shape |",
        "calibration.prefilter": "omega",
    }
    assert said[name] in text
