"""SQL-TS queries by definition: the truth that a real engine is compared with.

The paper is "Expressing and Optimizing Sequence Queries in Database Systems" (Sadri, Zaniolo, Zarkesh, Adibi, TODS
29(2), 2004); "§2.1" names a place in it and quotation marks hold its words. A "rule" is a choice made where the paper
leaves one or contradicts itself. This is the naive search of §3.1 and §4.2: every start is tried, one tuple at a time,
and nothing learnt in one attempt is used in another.

Expressions are tuples:
    ("lit", value)
    ("key", column)                              a CLUSTER BY column without a variable, as SessNo in Example 2.5
    ("attr", element, steps, column)             steps: 0 X.a, -1 X.previous.a, -2 X.previous.previous.a, 1 X.next.a
    ("edge", "FIRST" or "LAST", element, steps, column)    FIRST(X).a; with steps FIRST(X).previous.a and so on
    ("continuous", function, element, column)    ccount(X), csum(X.a), first(X.a): function without its leading c
    ("final", function, element, column)         count(*X), avg(*X.a)
    ("op", symbol, (operand, ...))               = <> < <= > >= + - * / % AND OR NOT and IS NULL
The functions of aggregates are count sum avg min max first last; count alone may have the column None: it then counts
tuples.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from naive_sase import aggregate, operate

Expr = tuple[Any, ...]
Row = Mapping[str, Any]  # a column that a row does not have is NULL
Bound = dict[str, list[int]]  # for each element reached: the positions, in its cluster, of its tuples so far


@dataclass(frozen=True)
class Element:
    """One tuple variable of the AS clause: X is for one tuple, *X for one or more."""

    name: str
    starred: bool = False


@dataclass(frozen=True)
class SortKey:
    """One column of SEQUENCE BY.

    §2.2: "When these specifications are omitted, the system uses ascending-order and nulls-at-the-end as defaults."
    Rule: nulls are at the end also of a descending order unless NULLS FIRST is said; the sentence has no exception.
    """

    column: str
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class Query:
    """SELECT output FROM table CLUSTER BY .. SEQUENCE BY .. AS (elements) WHERE conditions [AND (.. OR ..)].

    `conditions` are the conjuncts of WHERE. `alternatives` are the condition sets of a disjunction between whole
    patterns (§7.2), each of which holds together with `conditions`; () is a query without such a disjunction.
    `overlapping` is SELECT ALL; False is SELECT DISJOINT, "also the policy followed by the system when no explicit
    specification is given" (§2.2).

    `within` and `timeouts` are no part of the paper. A match sees the tuples from its start on for as long as the first
    column of SEQUENCE BY differs by no more than `within`; behind them the cluster is at its end for it. With
    `timeouts`, what was bound when an element first found no tuple left, if it was anything, is an answer where there
    is no match; with SELECT DISJOINT unless it would overlap such an answer.
    """

    elements: tuple[Element, ...]
    conditions: tuple[Expr, ...] = ()
    cluster_by: tuple[str, ...] = ()
    sequence_by: tuple[SortKey, ...] = ()
    overlapping: bool = False
    output: tuple[Expr, ...] = ()
    alternatives: tuple[tuple[Expr, ...], ...] = ()
    within: int | None = None
    timeouts: bool = False


@dataclass(frozen=True)
class Match:
    """One answer: the values of the CLUSTER BY columns and, for each element, the indexes of its input rows."""

    cluster: tuple[Any, ...]
    elements: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class Cluster:
    """The tuples of one cluster in their sequence; `rows[p]` is the input row with the index `indexes[p]`."""

    key: Mapping[str, Any]
    indexes: list[int]
    rows: list[Row]


@dataclass(frozen=True)
class Attempt:
    """One attempt of the naive search: what it bound, None if it failed, and how many element tests it made."""

    bound: Bound | None
    tests: int
    timed_out: Bound | None = None


def matches(query: Query, rows: Sequence[Row]) -> list[Match]:
    """All matches: clusters in the order of their first input row, in a cluster by the start, then by alternative."""
    return [as_match(query, cluster, bound) for cluster, bound in found(query, rows)]


def results(query: Query, rows: Sequence[Row]) -> list[tuple[Any, ...]]:
    """The SELECT output, one tuple for each match, in the order of `matches`.

    Rule: an unaggregated starred variable is its last tuple here, as in a condition after the star. In Example 5.3
    X.NEXT, X starred, is then the tuple Y that follows the whole of *X, a corner of the M that is looked for.
    """
    return [tuple(evaluate(expr, bound, cluster) for expr in query.output) for cluster, bound in found(query, rows)]


def element_tests(query: Query, rows: Sequence[Row]) -> int:
    """How often the naive search tests an element against a tuple: the steps of a path curve in Figure 5.

    A tuple that ends a star is tested twice, against the star and against the next element. An element that finds no
    tuple left tests nothing. Rule: the dummy element of §5.3 looks at no tuple and is not counted. Rule: the patterns
    of a disjunction are "two independent queries" (§7.2), so their tests are added.
    """
    check(query)
    return sum(
        attempt.tests
        for one in without_disjunction(query)
        for cluster in clusters(one, rows)
        for _, attempt in search(one, cluster)
    )


def check(query: Query) -> None:
    """Reject what the paper and the rules give no meaning to."""
    names = [element.name for element in query.elements]
    if not names:
        raise ValueError("a pattern needs an element")
    if len(set(names)) < len(names):
        raise ValueError("two elements have the same name")
    starred = {element.name for element in query.elements if element.starred}
    for expr in (*query.conditions, *query.output, *(one for several in query.alternatives for one in several)):
        for part in parts(expr):
            if part[0] == "key" and part[1] not in query.cluster_by:
                raise ValueError(f"{part[1]} needs a tuple variable: it is not in CLUSTER BY")
            if part[0] in ("attr", "edge", "continuous", "final") and element_of(part) not in names:
                raise ValueError(f"unknown element in {part!r}")
            # §2.1: "Aggregates can only be applied to sequences defined by stars". first(X) is "a built-in aggregate",
            # so FIRST(X) and LAST(X) are aggregates too.
            if part[0] in ("edge", "continuous", "final") and element_of(part) not in starred:
                raise ValueError(f"an aggregate of an element without a star: {part!r}")


# -------------------------------------------------------------------------------------------------------- the clusters


def clusters(query: Query, rows: Sequence[Row]) -> list[Cluster]:
    """The input as CLUSTER BY and SEQUENCE BY see it (§2, Figure 1).

    "The semantics of this construct is basically same as the PARTITIONED BY construct used in SQL:1999 windows": rows
    with NULL in a CLUSTER BY column are together. Without CLUSTER BY there is one cluster, as in Example 6.1.
    """
    grouped: dict[tuple[Any, ...], list[int]] = {}
    for index, row in enumerate(rows):
        grouped.setdefault(tuple(row.get(column) for column in query.cluster_by), []).append(index)
    made = []
    for key, indexes in grouped.items():
        ordered = in_sequence(query, indexes, rows)
        made.append(Cluster(dict(zip(query.cluster_by, key, strict=True)), ordered, [rows[i] for i in ordered]))
    return made


def in_sequence(query: Query, indexes: list[int], rows: Sequence[Row]) -> list[int]:
    """Sorted by SEQUENCE BY. Rule: rows that tie, and all rows if there is no SEQUENCE BY, keep the order they have.

    Each sort is stable, so sorting by the last column first leaves the first column the most important one.
    """
    ordered = list(indexes)
    for key in reversed(query.sequence_by):
        nulls = [index for index in ordered if rows[index].get(key.column) is None]
        others = [index for index in ordered if rows[index].get(key.column) is not None]
        others.sort(key=lambda index: rows[index][key.column], reverse=key.descending)
        ordered = nulls + others if key.nulls_first else others + nulls
    return ordered


# ---------------------------------------------------------------------------------------------------------- the search


def found(query: Query, rows: Sequence[Row]) -> list[tuple[Cluster, Bound]]:
    """Every match, with its cluster; and what timed out, if that is asked for.

    Rule, for a disjunction of patterns. §7.2: "In effect, this query is equivalent to two independent queries", and
    both run-time models keep a cursor "for each disjunctive pattern". So the answer is the union of the answers of the
    alternatives, each searched by itself:
      - SELECT ALL: at every start, the match of each alternative that has one there.
      - SELECT DISJOINT: the matches of one alternative do not overlap each other, but may overlap those of another.
    "The input sequence can satisfy either one pattern or both": that is one sequence, hence one answer, if both give
    every element the same tuples. (Without stars, SELECT ALL so agrees with the OR as an ordinary condition tested at
    the last element. SELECT DISJOINT does not: as one condition the whole query would have no overlapping matches.)
    """
    check(query)
    answers: list[tuple[Cluster, Bound]] = []
    for cluster in clusters(query, rows):
        here: list[tuple[int, Bound]] = []
        for one in without_disjunction(query):
            given = 0
            for start, attempt in search(one, cluster):
                bound = attempt.bound
                if bound is None and query.timeouts and start >= given and attempt.timed_out is not None:
                    bound = attempt.timed_out
                    given = 0 if query.overlapping else start + sum(map(len, bound.values()))
                if bound is not None and (start, bound) not in here:
                    here.append((start, bound))
        here.sort(key=lambda match: match[0])
        answers.extend((cluster, bound) for _, bound in here)
    return answers


def without_disjunction(query: Query) -> list[Query]:
    """The independent queries of §7.2: one for each alternative; the query itself if it has none."""
    return [
        replace(query, conditions=query.conditions + alternative, alternatives=(), output=())
        for alternative in query.alternatives or ((),)
    ]


def search(query: Query, cluster: Cluster) -> list[tuple[int, Attempt]]:
    """All attempts of the naive search through a cluster, with their starts.

    §1: "The naive approach, which advances the search by one position and restart from the beginning of the pattern
    after each failure". §2.2: "SELECT DISJOINT specifies that when a sequence starting at j and ending at k > j is
    found to satisfy the query, the input tuples between j and k are ignored, and the search resumes from point k + 1.
    [...] Instead, with SELECT ALL success has no effect on successive matches." (k = j, one tuple, is no different.)

    Rule: an attempt that runs out of tuples is a failure like any other, and the next start is tried. Algorithms 3.1,
    4.4 and 7.3 give up when i > n. That loses nothing where a condition depends on the tuple and its neighbours alone;
    but (*X, Y) with X.price < FIRST(X).price + 5 on 10, 3, 9 has no match from 10, which swallows all, and one from 3.

    Rule: the next start after a failure is j + 1 even inside a star that the failed attempt went through. So
    count(*A) < 20 in Example 2.5 does not reject a longer sequence of pages: it finds the last 19 of them.
    """
    attempts = []
    start = 0
    while start < len(cluster.rows):
        attempt = attempt_at(query, cluster, start)
        attempts.append((start, attempt))
        if attempt.bound is None or query.overlapping:
            start += 1
        else:
            start += sum(map(len, attempt.bound.values()))
    return attempts


def attempt_at(query: Query, cluster: Cluster, start: int) -> Attempt:
    """Give the tuples from `start` on to the elements, one after the other, without gaps and without second thoughts.

    §2: "By (X, Y, Z) we mean three tuples that immediately follow each other." §2.1: "a star such as *Y denotes a
    maximal sequence of one or more (not zero or more!) tuples that satisfy all the applicable conditions. Thus, a star
    pattern such as *Y fails only when the predicates that become fully instantiated at Y fail on the first input.
    However, if such predicates succeed on the first n ≥ 1 tuples and fail on tuple n + 1, then *Y succeed and completes
    on the nth tuple, and the n + 1 tuple is tested against the element in the pattern immediately following *Y".

    The star never gives a tuple back: "we obtain a query that is never satisfied, since the star consumes every 'd'
    value, leaving none to satisfy the next condition". Rule: the end of the cluster completes a star as a tuple that
    fails does: "maximal" is about the tuples there are, and the counters of §5.1 count a last star that ends with the
    data.
    """
    bound: Bound = {}
    timed_out: Bound | None = None
    position = start
    tests = 0
    for number, element in enumerate(query.elements):
        bound[element.name] = []
        while True:
            if not is_there(query, cluster, start, position):
                if timed_out is None and position > start:
                    timed_out = {name: list(positions) for name, positions in bound.items()}
                break
            tests += 1
            bound[element.name].append(position)
            if not conditions_hold(query, number, bound, cluster):
                bound[element.name].pop()
                break
            position += 1
            if not element.starred:
                break
        if not bound[element.name]:
            return Attempt(None, tests, timed_out)
    # The dummy element. §5.3: "the conditions involving these aggregates are tested in the pattern element following
    # the star in which they were computed (if the star was the last element in the pattern a new dummy element is added
    # to enable this test)". Rule: it needs no tuple and takes none. It tests only what the star left behind, and a
    # condition that always holds, such as count(*X) > 0, must change neither whether a star at the end of the cluster
    # is a match nor where the search resumes under SELECT DISJOINT.
    if not conditions_hold(query, len(query.elements), bound, cluster):
        return Attempt(None, tests, timed_out)
    return Attempt(bound, tests)


def is_there(query: Query, cluster: Cluster, start: int, position: int) -> bool:
    """Whether an attempt finds a tuple: there is one, and WITHIN allows it. Where a key is NULL, it does not."""
    if position >= len(cluster.rows) or query.within is None:
        return position < len(cluster.rows)
    first, last = (cluster.rows[at].get(query.sequence_by[0].column) for at in (start, position))
    return first is not None and last is not None and abs(last - first) <= query.within


def conditions_hold(query: Query, number: int, bound: Bound, cluster: Cluster) -> bool:
    """Whether the conjuncts tested at an element are all true of its newest tuple. One that is NULL does not hold."""
    return all(
        evaluate(conjunct, bound, cluster) is True
        for conjunct in query.conditions
        if tested_at(conjunct, query) == number
    )


def as_match(query: Query, cluster: Cluster, bound: Bound) -> Match:
    """A match as the caller knows it: by the indexes of the input rows."""
    elements = [(e.name, tuple(cluster.indexes[position] for position in bound[e.name])) for e in query.elements]
    return Match(tuple(cluster.key.values()), tuple(elements))


# --------------------------------------------------------------------------------------------- the places of conjuncts


def tested_at(conjunct: Expr, query: Query) -> int:
    """The number of the element at which a conjunct is tested; the number of elements stands for the dummy element.

    §2: "each predicate is evaluated as soon all its variables in the predicate are known—that is, as soon as the
    predicate becomes fully instantiated". §5.3: "the jth group in the partition contains all the clauses that actually
    use the jth variable, and to not use any later variable." Rule: one without variables is tested at the first.
    """
    return max((known_at(part, query) for part in parts(conjunct)), default=0)


def known_at(part: Expr, query: Query) -> int:
    """The number of the element at which one part of an expression is known.

    A final aggregate is known when its star is complete, that is, at the element after it (§5.3).

    Rule: X.next is known with X. The groups of §5.3 ask which variables a clause uses, and X.next uses X alone; tuples
    are "viewed as containing the additional field previous" (§2), and next is one more such field. A search through
    stored tuples can look one ahead; one through a stream has to wait for a tuple. To test X.next at the next element
    instead would find the same matches if X has no star and is not the last (the next element's first tuple is X.next),
    but would have no meaning in a star, where the tuple's membership would wait for the tuple after it.

    Rule: FIRST(X) and LAST(X) are known with X and speak of the star so far, in which LAST(X) is the current tuple.
    "The argument of a final aggregate is prefixed by the star; while there is no star in the argument of continuous
    aggregates" (§2.1), and they have none. The last tuple of the whole star is last(*X.a), or any use of X later on.
    """
    if part[0] in ("attr", "edge", "continuous", "final"):
        number = [element.name for element in query.elements].index(element_of(part))
        return number + 1 if part[0] == "final" else number
    return 0


def parts(expr: Expr) -> Iterable[Expr]:
    """The leaves of an expression."""
    if expr[0] == "op":
        return [leaf for operand in expr[2] for leaf in parts(operand)]
    return [expr]


def element_of(part: Expr) -> str:
    """The name of the element that a leaf speaks of."""
    return str(part[1] if part[0] == "attr" else part[2])


# ----------------------------------------------------------------------------------------------------- the expressions


def evaluate(expr: Expr, bound: Bound, cluster: Cluster) -> Any:
    """The value of an expression where each element is bound to the positions of its tuples so far.

    While *X is under way its newest tuple is the current one: a condition on X speaks of each tuple of the star, and a
    continuous aggregate has taken the current tuple in: "ccount(X) < 100 is satisfied for the first 99 elements in the
    sequence and, upon failing on the 100th element, it brings the star sequence to completion" (§2.1). Once *X is
    complete the newest tuple is its last. Rule: that is what X means from then on: §5.3 passes values on to the next
    element as attributes "updated [...] for each new input in the star sequence", and the last update stays.

    Rule: a conjunct with both X and count(*X) is tested after the star, so X is the last tuple there.
    """
    kind = expr[0]
    if kind == "lit":
        return expr[1]
    if kind == "key":
        return cluster.key[expr[1]]
    if kind == "attr":
        _, element, steps, column = expr
        return value_at(cluster, bound[element][-1] + steps, column) if bound.get(element) else None
    if kind == "edge":
        _, edge, element, steps, column = expr
        if not bound.get(element):
            return None  # what timed out has not come there
        return value_at(cluster, bound[element][{"FIRST": 0, "LAST": -1}[edge]] + steps, column)
    if kind in ("continuous", "final"):
        _, function, element, column = expr
        return aggregated(function, [cluster.rows[position] for position in bound.get(element, ())], column)
    if kind == "op":
        return operate(expr[1], [evaluate(operand, bound, cluster) for operand in expr[2]])
    raise ValueError(f"unknown expression {expr!r}")


def value_at(cluster: Cluster, position: int, column: str) -> Any:
    """An attribute of a tuple, inside the match or not. Rule: beyond either end of the cluster it is NULL.

    So X.price > X.previous.price is not true of a cluster's first tuple. The counters of §5.1 (4, 9, 11) then need a
    tuple below 20 before the prices printed there: without one "the first four elements satisfy p1" is not so.
    """
    return cluster.rows[position].get(column) if 0 <= position < len(cluster.rows) else None


def aggregated(function: str, rows: list[Row], column: str | None) -> Any:
    """An aggregate as in SQL: NULLs do not take part, and over nothing else than NULLs only count has a value.

    Rule: first and last do not skip NULLs. first "always returns the first value passed to it" (§2.1), and first(X.a)
    is FIRST(X).a in another spelling.
    """
    if column is None:
        if function != "count":
            raise ValueError(f"{function} needs a column")
        return len(rows)
    values = [row.get(column) for row in rows]
    if function in ("first", "last"):
        return values[0 if function == "first" else -1] if values else None
    return aggregate(function, values)


# ------------------------------------------------------------------------------------------ short ways to write queries


def pattern(text: str) -> tuple[Element, ...]:
    """The elements of an AS clause such as "*X, Y"."""
    names = [name.strip() for name in text.split(",")]
    return tuple(Element(name.removeprefix("*"), name.startswith("*")) for name in names)


def attr(name: str) -> Expr:
    """An attribute such as "X.price", "X.previous.previous.price", "X.next.price", "FIRST(X).price"."""
    element, *fields, column = name.split(".")
    steps = fields.count("next") - fields.count("previous")
    if "(" in element:
        edge, _, element = element.rstrip(")").partition("(")
        return ("edge", edge, element, steps, column)
    return ("attr", element, steps, column)


def agg(call: str) -> Expr:
    """An aggregate such as "count(*A)", "avg(*A.price)", "ccount(X)", "csum(X.price)", "first(X.price)"."""
    function, _, argument = call.rstrip(")").partition("(")
    element, _, column = argument.removeprefix("*").partition(".")
    if argument.startswith("*"):
        return ("final", function, element, column or None)
    return ("continuous", function if function in ("first", "last") else function[1:], element, column or None)


def term(word: Any) -> Expr:
    """An expression as it is; "X.a" and "f(X)" as attribute and aggregate; anything else as a literal."""
    if isinstance(word, tuple):
        return word
    if isinstance(word, str) and "(" in word and not word.startswith(("FIRST", "LAST")):
        return agg(word)
    if isinstance(word, str) and "." in word:
        return attr(word)
    return ("lit", word)


def op(left: Any, symbol: str, right: Any) -> Expr:
    """An operator between two terms."""
    return ("op", symbol, (term(left), term(right)))
