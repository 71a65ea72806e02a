"""What is written, and what is refused. The rows here are Arrow's; with Spark's it is tested in test_cli.py."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trellis.cli import output
from trellis.cli.failures import FileError
from trellis.cli.output import Target, check_target, check_writable


def refused(target: Target, *, local: bool = True, inputs: tuple[str, ...] = ()) -> str:
    with pytest.raises(FileError) as error:
        check_target(target, inputs, local=local)
    return str(error.value)


def test_nothing_is_replaced_unasked(tmp_path: Path) -> None:
    path = tmp_path / "m.parquet"
    check_target(Target(str(path), "parquet"), (), local=True)
    path.touch()
    assert "--overwrite" in refused(Target(str(path), "parquet"))
    check_target(Target(str(path), "parquet", overwrite=True), (), local=True)


def test_a_folder_is_replaced_only_if_spark_wrote_it(tmp_path: Path) -> None:
    folder = tmp_path / "m.parquet"
    folder.mkdir()
    partitioned = Target(str(folder), "parquet", partitioned=True, overwrite=True)
    check_target(partitioned, (), local=True)
    (folder / "thesis.tex").touch()
    assert "Spark did not write" in refused(partitioned)
    (folder / "_SUCCESS").touch()
    check_target(partitioned, (), local=True)
    assert "is a folder" in refused(Target(str(folder), "parquet", overwrite=True))


def test_a_missing_folder(tmp_path: Path) -> None:
    assert "There is no folder" in refused(Target(str(tmp_path / "nope" / "m.csv"), "csv"))


def test_a_closed_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # To root no folder is closed, so the system's answer is given here.
    monkeypatch.setattr(os, "access", lambda path, mode: not (Path(path) == tmp_path and mode & os.W_OK))
    with pytest.raises(FileError, match="may not be written"):
        check_writable(tmp_path / "m.csv", overwrite=False)


def test_other_file_systems_need_spark_to_write(tmp_path: Path) -> None:
    assert "--partitioned" in refused(Target("s3://b/m.csv", "csv"))
    check_target(Target("s3://b/m.csv", "csv", partitioned=True), (), local=True)
    (tmp_path / "m.csv").touch()
    check_target(Target(str(tmp_path / "m.csv"), "csv", partitioned=True), (), local=False)  # the server's disk


def test_the_input_of_the_query_is_not_replaced_elsewhere() -> None:
    target = Target("s3://b/m.csv", "csv", partitioned=True, overwrite=True)
    assert "read by the query" in refused(target, inputs=("s3://b/m.csv",))


def test_small_batches_become_few_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_GROUP_ROWS", 10)
    batches = [pa.record_batch({"a": list(range(3))}) for _ in range(8)]
    rows = output._write_parquet(batches, batches[0].schema, tmp_path / "m.parquet")
    written = pq.ParquetFile(tmp_path / "m.parquet")
    assert rows == written.metadata.num_rows == 24 and written.num_row_groups == 2
    assert written.read()["a"].to_pylist() == list(range(3)) * 8


def test_no_rows_still_have_columns(tmp_path: Path) -> None:
    schema = pa.schema([("a", pa.timestamp("us", "UTC"))])
    assert output._write_parquet([], schema, tmp_path / "m.parquet") == 0
    assert pq.read_table(tmp_path / "m.parquet").schema == schema


def test_lines() -> None:
    stream = io.BytesIO()
    batches = [pa.record_batch({"line": rows}) for rows in (["1,ä"], [], ["2,", "3,c"])]
    assert output._write_lines(batches, "a,b\n", stream) == 3
    assert stream.getvalue().decode() == "a,b\n1,ä\n2,\n3,c\n"


def test_scratch_folders_vanish(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), output._scratch(tmp_path) as folder:
        (folder / "rows").mkdir()
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []
