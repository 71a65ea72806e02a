"""One case on both sides, with engines that are functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import naive
from naive import NaiveQuery, Row
from peers.compare import GIVEN_UP, SKIP, Answer, Outcome, Refusal
from peers.known import KNOWN, mistaken_oracle, oracle
from peers.queries import COLUMNS, Case
from peers.trial import answers, compare_spark, judge, replies, smallest


def table(number: int, *values: int) -> tuple[Row, ...]:
    return tuple(
        {"c": number, "id": id_, "k": 1, "t": 0, "x": x, "y": 0.0, "s": "a", "b": True} for id_, x in enumerate(values)
    )


QUERY = NaiveQuery(
    pattern=("cat", (("var", "A"), ("rep", ("var", "B"), 0, 1, True))),
    define=(("B", ("op", ">", (("col", None, "x"), ("lit", 0)))),),
    measures=(("m", ("nav", "FIRST", ("col", None, "x"), 1, None)),),
    partition_by=("c",),
    order_by=(("id", False, True),),
    rows_per_match="ALL",
)
CASE = Case(QUERY, (table(0, 1, 2, 3), table(1, 5, 0), table(2)))
SKIPPING = Case(replace(QUERY, skip=("LAST", "B")), (table(0, 1, 2), table(1, 1, 0), table(2)))


def right(query: NaiveQuery, rows: Sequence[Row]) -> Outcome:
    found = oracle(query, tuple(rows))
    assert found is not None
    return found


def looking_ahead(query: NaiveQuery, rows: Sequence[Row]) -> Outcome:
    found = mistaken_oracle((KNOWN[0],), query, tuple(rows))
    assert found is not None
    return found


def losing_the_last(query: NaiveQuery, rows: Sequence[Row]) -> Outcome:
    found = right(query, rows)
    return found if isinstance(found, Refusal) else Answer(found.rows[:-1])


def test_equal_answers() -> None:
    ours = answers(right, CASE)
    verdict = judge(CASE, ours, replies(CASE, ours, right))
    assert (verdict.tables, verdict.rows, verdict.refused) == (3, 5, 0)
    assert not verdict.known and not verdict.unexplained


def test_a_known_difference() -> None:
    ours = answers(right, CASE)
    verdict = judge(CASE, ours, replies(CASE, ours, looking_ahead))
    assert verdict.known == {KNOWN[0].name}
    assert not verdict.unexplained


def test_a_difference_without_a_name_is_found_in_its_table() -> None:
    ours = answers(right, CASE)
    verdict = judge(CASE, ours, replies(CASE, ours, losing_the_last))
    assert [difference.rows for difference in verdict.unexplained] == [CASE.tables[1]]


def test_a_refused_skip_does_not_hide_the_other_tables() -> None:
    asked: list[int] = []

    def counting(query: NaiveQuery, rows: Sequence[Row]) -> Outcome:
        asked.append(len(rows))
        return right(query, rows)

    ours = answers(right, SKIPPING)
    # A series of two B's ends in A at the last row, which no B follows; so does that with a zero.
    assert [isinstance(outcome, Refusal) for outcome in ours] == [True, True, False]
    verdict = judge(SKIPPING, ours, replies(SKIPPING, ours, counting))
    assert (verdict.tables, verdict.refused, asked) == (3, 2, [0, 2, 2])
    assert not verdict.unexplained


def test_a_refusal_on_one_side_is_a_difference() -> None:
    ours = answers(right, SKIPPING)
    verdict = judge(SKIPPING, ours, replies(SKIPPING, ours, lambda query, rows: Answer(())))
    assert [difference.ours for difference in verdict.unexplained] == [
        Refusal(SKIP, "the match contains no row of B"),
        Refusal(SKIP, "the match contains no row of B"),
    ]
    ours = answers(right, CASE)
    verdict = judge(CASE, ours, replies(CASE, ours, lambda query, rows: Refusal("INTERNAL")))
    assert [difference.theirs for difference in verdict.unexplained] == [Refusal("INTERNAL")]


def test_what_trino_gives_up_is_no_difference_and_not_compared() -> None:
    ours = answers(right, CASE)
    verdict = judge(CASE, ours, replies(CASE, ours, lambda query, rows: Refusal(GIVEN_UP)))
    assert (verdict.given_up, verdict.tables, verdict.rows, verdict.refused) == (True, 0, 0, 0)
    assert not verdict.unexplained
    assert not judge(CASE, ours, replies(CASE, ours, right)).given_up


def test_spark_is_compared_with_trellis_alone() -> None:
    ours = answers(right, CASE)
    assert compare_spark(CASE, ours, right) == []
    assert [found.rows for found in compare_spark(CASE, ours, losing_the_last)] == [CASE.tables[1]]


def test_the_smallest_case_is_neither_known_nor_another_one() -> None:
    def both(query: NaiveQuery, rows: Sequence[Row]) -> Outcome:
        ahead = looking_ahead(query, rows)
        return ahead if isinstance(ahead, Refusal) else Answer(ahead.rows[:-1])

    ours = answers(right, CASE)
    (difference,) = judge(CASE, ours, replies(CASE, ours, both)).unexplained[:1]
    found = smallest(difference, right, both)
    assert len(found.rows) == 1
    assert found.query.pattern == ("var", "A")
    assert found.query.measures == ()
    assert naive.run(list(found.rows), COLUMNS, found.query) and found.theirs == Answer(())
