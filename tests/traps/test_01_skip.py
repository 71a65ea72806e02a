"""Trap 1: where the search goes on after a match."""

from __future__ import annotations

from typing import Any

import pytest

import local
from kernels.test_search import match
from trellis.errors import BindingError, DataError, TrellisError

_SCHEMA = [("k", "string"), ("id", "int"), ("c", "string")]


def rows_of(text: str, key: str = "p") -> list[dict[str, Any]]:
    return [{"k": key, "id": number, "c": letter} for number, letter in enumerate(text)]


def test_past_last_row_is_the_default() -> None:
    clause = "ORDER BY id MEASURES FIRST(id) AS lo, LAST(id) AS hi {} PATTERN (A A) DEFINE A AS c = 'A'"
    written = clause.format("ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW")
    found = local.run(clause.format(""), rows_of("AAAA"), _SCHEMA)
    assert found == [{"lo": 0, "hi": 1}, {"lo": 2, "hi": 3}]
    assert found == local.run(written, rows_of("AAAA"), _SCHEMA)


def test_next_row_finds_overlapping_matches() -> None:
    assert match("A A", "AAAA", "TO NEXT ROW") == ["0:AA", "1:AA", "2:AA"]


@pytest.mark.parametrize("search", ["auto", "backtrack"])
@pytest.mark.parametrize("skip", ["TO FIRST B", "TO LAST B", "TO B"])
def test_a_variable_that_the_match_does_not_contain(skip: str, search: str) -> None:
    """The third match has no B: an error that names the partition and the row, and no silent step to the next row."""
    clause = f"""PARTITION BY k ORDER BY id AFTER MATCH SKIP {skip} PATTERN (A B? C)
        DEFINE A AS c = 'A', B AS c = 'B', C AS c = 'C'"""
    with pytest.raises(DataError) as caught:
        local.run(clause, rows_of("ABCABCAC", "key-7"), _SCHEMA, search=search)
    assert "key-7" in str(caught.value)
    assert "row 7" in str(caught.value)
    assert "SKIP" in str(caught.value)
    assert caught.value.cure


@pytest.mark.parametrize("search", ["auto", "backtrack"])
@pytest.mark.parametrize(("pattern", "skip"), [("A+", "TO FIRST A"), ("A B*", "TO A"), ("A B", "TO LAST A")])
def test_the_first_row_of_the_match_itself(pattern: str, skip: str, search: str) -> None:
    clause = f"PARTITION BY k ORDER BY id AFTER MATCH SKIP {skip} PATTERN ({pattern}) DEFINE A AS c = 'A', B AS c = 'B'"
    clause = clause if "B" in pattern else clause.replace(", B AS c = 'B'", "")
    with pytest.raises(DataError) as caught:
        local.run(clause, rows_of("CAB", "key-7"), _SCHEMA, search=search)
    assert "key-7" in str(caught.value)
    assert "row 2" in str(caught.value)


def test_last_of_a_loop_may_be_the_first_row() -> None:
    """TO LAST A leads to a later row while the loop has two rows, and to the first where it has one."""
    clause = "ORDER BY id MEASURES count(*) AS n AFTER MATCH SKIP TO LAST A PATTERN (A+ B) DEFINE A AS c = 'A'"
    assert local.run(clause, rows_of("B"), _SCHEMA) == []
    with pytest.raises(DataError):
        # AAB, then from the last A: AB, whose last A is its first row.
        local.run(clause, rows_of("AAB"), _SCHEMA)


@pytest.mark.parametrize("search", ["auto", "backtrack"])
@pytest.mark.parametrize("skip", ["PAST LAST ROW", "TO NEXT ROW", "TO A", "TO FIRST A", "TO LAST A"])
def test_an_empty_match_moves_on_by_one_row(skip: str, search: str) -> None:
    """The clause speaks of the rows of a match, and an empty one has none."""
    assert match("A*", "BBB", skip, search=search) == ["0:", "1:", "2:"]
    assert match("(B A)?", "CBABAC", skip, search=search)[:2] == ["0:", "1:BA"]
    with_a_row = match("(B A)?", "CBAC", skip, search=search)
    assert with_a_row == ["0:", "1:BA", *([] if skip == "PAST LAST ROW" else ["2:"]), "3:"]


def test_skip_to_a_union_variable() -> None:
    clause = """ORDER BY id MEASURES FIRST(id) AS lo, LAST(id) AS hi AFTER MATCH SKIP {} PATTERN (A B? C D)
        SUBSET U = (B, C) DEFINE A AS c IN ('A', 'C'), B AS c = 'B', C AS c = 'C', D AS c IN ('D', 'C')"""
    # ABCD is one match. Its U rows are 1 (B) and 2 (C).
    assert local.run(clause.format("TO FIRST U"), rows_of("ABCD"), _SCHEMA) == [{"lo": 0, "hi": 3}]
    # C C C D: 0-2 as A C D; first U is row 1: 1-3 as A C D; its first U is row 2, where no match starts.
    expected = [{"lo": 0, "hi": 2}, {"lo": 1, "hi": 3}]
    assert local.run(clause.format("TO FIRST U"), rows_of("CCCD"), _SCHEMA) == expected


def test_a_failed_longer_attempt_withholds_nothing() -> None:
    """A B+ C fails at the D, and the B rows it had read are still free for the second option."""
    assert match("A B+ C | B", "ABBBD") == ["1:B", "2:B", "3:B"]
    assert match("A B+ C | B | A", "ABBBD") == ["0:A", "1:B", "2:B", "3:B"]


def test_every_match_counts_from_one_in_each_partition() -> None:
    clause = """PARTITION BY k ORDER BY id MEASURES MATCH_NUMBER() AS n AFTER MATCH SKIP TO NEXT ROW
        PATTERN (A A) DEFINE A AS c = 'A'"""
    found = local.run(clause, rows_of("AAA", "p") + rows_of("BAA", "q"), _SCHEMA)
    assert found == [{"k": "p", "n": 1}, {"k": "p", "n": 2}, {"k": "q", "n": 1}]


@pytest.mark.parametrize("skip", ["TO X", "TO FIRST X", "TO LAST id"])
def test_an_unknown_variable(skip: str) -> None:
    with pytest.raises(BindingError):
        local.run(f"ORDER BY id AFTER MATCH SKIP {skip} PATTERN (A B)", rows_of("AB"), _SCHEMA)


@pytest.mark.parametrize("skip", ["", "PAST", "TO", "PAST LAST", "TO NEXT", "TO FIRST", "PAST NEXT ROW", "TO NEXT A"])
def test_a_broken_skip(skip: str) -> None:
    with pytest.raises(TrellisError):
        local.run(f"ORDER BY id AFTER MATCH SKIP {skip} PATTERN (A B)", rows_of("AB"), _SCHEMA)
