"""The oracle for SASE+ on the workload of the paper's section 6."""

from __future__ import annotations

import itertools
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from naive_sase import Event, EventQuery, Expr, Match, Strategy, matches
from naive_sase_notation import ANY, NEXT, PARTITION, agg, all_selected, attr, found, lit, op, seq, table

# --------------------------------------------------------------------------------------------------- the workload of §6


def template(strategy: Strategy, *iterator: Expr, within: int | None = None) -> EventQuery:
    """SEQ(STOCK+ a[], STOCK b) {[symbol] and a[1].price % 500 = 0 and P and b.volume < 150} WITHIN `within` events."""
    return EventQuery(
        components=seq("STOCK+ a, STOCK b"),
        strategy=strategy,
        predicates=(
            op(op(attr("a", "price", 1), "%", lit(500)), "=", lit(0)),
            *iterator,
            op(attr("b", "volume"), "<", lit(150)),
        ),
        equivalence=("symbol",),
        within=None if within is None else ("events", within),
    )


EACH = attr("a", "price", "i")
P1: tuple[Expr, ...] = ()
P2 = (op(EACH, ">", attr("a", "price", "i-1")),)
P3_MAX, P3_MIN, P3_AVG = ((op(EACH, ">", agg(name, "a", "..i-1", "price")),) for name in ("max", "min", "avg"))


def test_workload_by_hand() -> None:
    events = table(
        "type symbol price volume time",
        [
            ("STOCK", 1, 500, 900, 0),  # 0: starts
            ("STOCK", 2, 499, 100, 1),  # 1: the other symbol
            ("STOCK", 1, 502, 900, 2),  # 2
            ("STOCK", 1, 501, 100, 3),  # 3: may be b
            ("STOCK", 1, 503, 100, 4),  # 4: may be b
        ],
    )
    # p1: every event of the symbol is taken, and 3 and 4 each also complete a match. 3 is taken before 4 completes.
    every = ["a=0,2 b=3", "a=0,2,3 b=4"]
    assert found(template(PARTITION, *P1), events) == found(template(NEXT, *P1), events) == every
    # p2: 501 does not rise. The contiguous run ends there, after completing a match; the other one skips it.
    assert found(template(PARTITION, *P2), events) == ["a=0,2 b=3"]
    assert found(template(NEXT, *P2), events) == ["a=0,2 b=3", "a=0,2 b=4"]
    # p3 with min: 501 is above 500.
    assert found(template(PARTITION, *P3_MIN), events) == found(template(NEXT, *P3_MIN), events) == every
    # p3 with avg: 501 is not above avg(500, 502).
    assert found(template(NEXT, *P3_AVG), events) == ["a=0,2 b=3", "a=0,2 b=4"]
    # Skip till any match: any subset of the risers.
    assert found(template(ANY, *P2), events) == ["a=0,2 b=3", "a=0 b=3", *("a=0,2 b=4", "a=0,3 b=4", "a=0 b=4")]


@st.composite
def tickers(draw: st.DrawFn) -> list[Event]:
    values = st.tuples(st.sampled_from([1, 2]), st.sampled_from([500, 501, 499, 1000]), st.sampled_from([100, 900]))
    rows = draw(st.lists(values, max_size=8))
    return table("type symbol price volume time", [("STOCK", *row, time) for time, row in enumerate(rows)])


@settings(max_examples=60, deadline=None)
@given(tickers(), st.none() | st.integers(1, 6))
def test_workload_equalities(events: list[Event], within: int | None) -> None:
    def run(strategy: Strategy, iterator: tuple[Expr, ...]) -> list[Match]:
        return matches(template(strategy, *iterator, within=within), events)

    # §6.1: "For the predicate p1 which is set to True, s2 and s3 perform the same because they both select every event
    # in a partition": one match for each start and each later event of the symbol with a low volume, and all events of
    # the symbol between them in a.
    symbols = {symbol: [i for i, event in enumerate(events) if event["symbol"] == symbol] for symbol in (1, 2)}
    expected = {
        (("a", tuple(members[i:j])), ("b", (members[j],)))
        for members in symbols.values()
        for i, j in itertools.combinations(range(len(members)), 2)
        if events[members[i]]["price"] in (500, 1000) and events[members[j]]["volume"] < 150
        if within is None or j - i < within
    }
    assert set(run(PARTITION, P1)) == set(run(NEXT, P1)) == expected

    # Skip till next match never loses a run of this query before its window ends, and there is one run for each start.
    # So the iterator predicate chooses what is in a, but not where matches start and end.
    def ends(found: list[Match]) -> list[tuple[int, int]]:
        return [(all_selected(match)[0], all_selected(match)[-1]) for match in found]

    for iterator in (P2, P3_MAX, P3_MIN, P3_AVG):
        assert ends(run(NEXT, iterator)) == ends(run(NEXT, P1))
    # "p3 using the aggregate function max performs similarly to p2": it is the same, as the last price is the greatest.
    for strategy in (PARTITION, NEXT, ANY):
        assert run(strategy, P2) == run(strategy, P3_MAX)
    # And with min it asks for more than a[1], as the first price stays the least.
    assert run(NEXT, P3_MIN) == run(NEXT, (op(EACH, ">", attr("a", "price", 1)),))


def test_workload_lengths() -> None:
    """Table 2 in small: a partition window of 20 events where the paper has 500, prices that rise with 0.7."""
    window = 20
    workload = {"p1": P1, "p2": P2, "p3": P3_MIN}
    lengths: dict[tuple[str, Strategy], list[int]] = {(name, s): [] for name in workload for s in (PARTITION, NEXT)}
    chance = random.Random(8)
    for _ in range(15):
        price = {1: 500, 2: 500}
        rows = []
        for time in range(3 * window):
            symbol = chance.choice([1, 2])
            rows.append(("STOCK", symbol, price[symbol], chance.randint(1, 1000), time))
            price[symbol] += chance.choices([1, 0, -1], [0.7, 0.15, 0.15])[0]
        events = table("type symbol price volume time", rows)
        for name, strategy in lengths:
            found_here = matches(template(strategy, *workload[name], within=window), events)
            lengths[name, strategy] += [len(all_selected(match)) for match in found_here]
    mean = {key: sum(values) / len(values) for key, values in lengths.items()}
    assert lengths["p1", PARTITION] == lengths["p1", NEXT]  # in the paper 250 and 250
    assert window * 0.4 < mean["p1", NEXT] < window * 0.6  # half of the window, as 250 is of 500
    assert 3 < mean["p2", PARTITION] < 6  # 4.5: the length of a rise does not depend on the window
    assert 1.5 * mean["p2", PARTITION] < mean["p2", NEXT] < mean["p1", NEXT]  # 140
    assert abs(mean["p3", PARTITION] - mean["p1", NEXT]) < 2 > abs(mean["p3", NEXT] - mean["p1", NEXT])  # 250 and 250
