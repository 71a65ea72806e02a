from __future__ import annotations

from trellis.table_text import counted, table_text


def test_names_a_rule_and_rows() -> None:
    rows = [("Ur", "1.5"), ("Nippur", "-12"), (None, None)]
    assert list(table_text(["city", "low"], rows, [False, True])) == [
        "city     low",
        "------  ----",
        "Ur       1.5",
        "Nippur   -12",
        "NULL    NULL",
    ]


def test_no_rows_and_no_columns() -> None:
    assert list(table_text(["a"], [], [True])) == ["a", "-"]
    assert list(table_text([], [], [])) == ["", ""]


def test_nothing_in_a_cell_steers_the_terminal() -> None:
    lines = list(table_text(["a"], [("x\ny\x1b[2J\t",)], [False]))
    assert lines[-1] == r"x\ny\x1b[2J\t"


def test_long_cells_are_cut() -> None:
    lines = list(table_text(["a"], [("x" * 100,)], [False]))
    assert lines[-1] == "x" * 59 + "…"


def test_wide_letters_take_two_places() -> None:
    lines = list(table_text(["a", "b"], [("東京", "1"), ("Aš", "2"), ("e\u0301", "3")], [False, True]))
    assert lines[2:] == ["東京  1", "Aš    2", "e\u0301     3"]


def test_counted() -> None:
    assert [counted(number) for number in (0, 1, 2, 12345)] == ["0 rows", "1 row", "2 rows", "12,345 rows"]
