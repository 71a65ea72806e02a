"""When two answers are the same."""

from __future__ import annotations

from peers.compare import SKIP, Answer, Refusal, by_table, same


def answer(*rows: dict[str, object]) -> Answer:
    return Answer(tuple(rows))


def test_rows_are_compared_as_multisets() -> None:
    assert same(answer({"a": 1}, {"a": 2}), answer({"a": 2}, {"a": 1}))
    assert not same(answer({"a": 1}, {"a": 1}), answer({"a": 1}))
    assert not same(answer({"a": 1}, {"a": 1}, {"a": 2}), answer({"a": 1}, {"a": 2}, {"a": 2}))


def test_columns_are_compared_by_name() -> None:
    assert same(answer({"a": 1, "b": None}), answer({"b": None, "a": 1}))
    assert not same(answer({"a": 1, "b": None}), answer({"a": None, "b": 1}))
    assert not same(answer({"a": 1}), answer({"b": 1}))


def test_null_is_not_zero_and_not_false() -> None:
    assert not same(answer({"a": None}), answer({"a": 0}))
    assert not same(answer({"a": None}), answer({"a": False}))


def test_floats_are_compared_nearly_and_integers_exactly() -> None:
    assert same(answer({"a": 0.1 + 0.2}, {"a": 1.0}), answer({"a": 1.0}, {"a": 0.3}))
    assert not same(answer({"a": 0.3}), answer({"a": 0.31}))
    assert not same(answer({"a": 10**15}), answer({"a": 10**15 + 1}))


def test_arrays_keep_their_order_and_lose_their_nulls() -> None:
    assert same(answer({"a": [1, None, 2]}), answer({"a": [1, 2]}))
    assert same(answer({"a": []}), answer({"a": None}))
    assert not same(answer({"a": [1, 2]}), answer({"a": [2, 1]}))


def test_two_refusals_are_the_same_for_the_same_reason() -> None:
    assert same(Refusal(SKIP, "in one way"), Refusal(SKIP, "in another"))
    assert not same(Refusal(SKIP), Refusal("ResourceError"))
    assert not same(Refusal(SKIP), answer())


def test_an_answer_is_split_by_table() -> None:
    rows = [{"c": 1, "a": 5}, {"c": 0, "a": 6}, {"c": 1, "a": 7}]
    assert by_table(rows, 3) == [answer(rows[1]), answer(rows[0], rows[2]), answer()]
    assert by_table([{"a": 5}], 1) == [answer({"a": 5})]
