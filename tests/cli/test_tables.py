from __future__ import annotations

from pathlib import Path

import pytest

from trellis.cli.failures import FileError
from trellis.cli.tables import Table, is_url, kind_of, locate, table


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a.parquet", "parquet"),
        ("a.PQ", "parquet"),
        ("dir.v2/a.csv.gz", "csv"),
        ("a.tsv", "tsv"),
        ("a.jsonl", "json"),
        ("a.orc", "orc"),
        ("*.csv", "csv"),
        ("a.gz", None),
        ("a.txt", None),
        ("a", None),
        ("dir.csv/a", None),
        ("s3://bucket/a.parquet", "parquet"),
    ],
)
def test_the_suffix_says_the_format(path: str, kind: str | None) -> None:
    assert kind_of(path) == kind


def test_the_prefix_says_the_format() -> None:
    assert table("t", "csv:a.txt") == Table("t", "a.txt", "csv")
    assert table("t", "parquet:s3://b/a") == Table("t", "s3://b/a", "parquet")
    assert table("t", "s3://b/a") == Table("t", "s3://b/a")
    assert table("t", "csv://b/a").kind is None  # a scheme, however odd


def test_urls() -> None:
    assert is_url("s3a://b/a") and is_url("file:/a") and is_url("hdfs://x/y")
    assert not is_url("a/b.csv") and not is_url("/a") and not is_url("C:/x")


def test_a_file_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a b.csv").touch()
    monkeypatch.chdir(tmp_path)
    found = locate(Table("t", "a b.csv", None, "a int", {"sep": ";"}), local=True)
    assert found == Table("t", f"file://{tmp_path}/a b.csv", "csv", "a int", {"sep": ";"})


def test_the_shell_does_not_expand_a_home_after_an_equals_sign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert locate(Table("t", "~/a.csv"), local=True).path == f"file://{tmp_path}/a.csv"


def test_a_folder_and_a_glob_are_looked_into(tmp_path: Path) -> None:
    for name in ("part-0.parquet", "_SUCCESS", ".part-0.parquet.crc", "_temporary/x.csv", "day=1/part-1.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert locate(Table("t", str(tmp_path)), local=True).kind == "parquet"
    assert locate(Table("t", f"{tmp_path}/part*"), local=True).kind == "parquet"
    (tmp_path / "b.csv").touch()
    with pytest.raises(FileError, match=r"--table t=csv:"):
        locate(Table("t", str(tmp_path)), local=True)


def test_a_folder_below_a_hidden_one_is_looked_into(tmp_path: Path) -> None:
    folder = tmp_path / ".cache" / "_x"
    folder.mkdir(parents=True)
    (folder / "a.json").touch()
    assert locate(Table("t", str(folder)), local=True).kind == "json"


@pytest.mark.parametrize("path", ["nope.csv", "nope/*.csv"])
def test_a_missing_file_is_noticed_before_spark_starts(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError, match="no file nope"):
        locate(Table("t", path), local=True)


def test_braces_and_other_file_systems_are_left_to_spark() -> None:
    assert locate(Table("t", "/nope/{a,b}.csv"), local=True).path == "file:///nope/{a,b}.csv"
    assert locate(Table("t", "s3://b/a.csv"), local=True).path == "s3://b/a.csv"
    assert locate(Table("t", "nope/a.csv"), local=False).path == "nope/a.csv"


def test_a_format_that_nothing_names(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    with pytest.raises(FileError, match="Nothing says"):
        locate(Table("t", str(tmp_path / "a.txt")), local=True)
    with pytest.raises(FileError, match="Nothing says"):
        locate(Table("t", "s3://b/a"), local=True)
