"""Which aggregates Spark computes by grouping, of which rows; without Spark."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from trellis.algebra.expression import Expression
from trellis.algebra.plan import Plan
from trellis.algebra.scan import ListAggregate
from trellis.analysis.schema import Schema
from trellis.analysis.source import Source
from trellis.errors import UnsupportedError
from trellis.languages.match_recognize import parse_clause_text
from trellis.planning.driver import plan_query
from trellis.planning.hints import Hints

_SCHEMA = Schema((("id", "int"), ("x", "int"), ("s", "string")))


def _types(expressions: Sequence[Expression]) -> list[str]:
    truths = ("`x` > 0", "`id` > 1")
    texts = map(str, expressions)
    return ["string" if text == "`s`" else "boolean" if text in truths else "int" for text in texts]


def _plan(measures: str, mode: str = "", define: str = "A AS x > 0") -> Plan:
    clause = f"ORDER BY id MEASURES {measures} {mode} PATTERN (A B*) SUBSET U = (A, B) DEFINE {define}"
    return plan_query(parse_clause_text(clause), Source(_SCHEMA, _types), Hints())


def test_what_kernels_and_arrays_have_stays_there() -> None:
    measures = "sum(x) AS a, max_by(s, x) AS b, median(x) AS c, listagg(s, ',') AS d, any_value(x) AS e, count(*) AS f"
    assert _plan(measures).grouped == ()


def test_aggregates_of_the_same_rows_share_them() -> None:
    plan = _plan("kurtosis(A.x) AS a, mode(A.s) AS b, skewness(x) AS c, RUNNING mode(U.x) AS d", "ALL ROWS PER MATCH")
    grouped = [(len(group.aggregates), group.instead) for group in plan.grouped]
    # U holds all variables, so that its rows are those of the match.
    assert grouped == [(2, ""), (2, "")]
    outputs = dict(plan.scan.outputs)
    names = {name: str(expression) for name, expression in plan.projected}
    lists = [outputs[group.rows] for group in plan.grouped]
    assert all(isinstance(output, ListAggregate) for output in lists)
    assert [names[output.columns[0]] for output in lists if isinstance(output, ListAggregate)] == [
        "named_struct('c0', `x`, 'c1', `s`)",
        "named_struct('c0', `x`)",
    ]
    assert [str(aggregate) for group in plan.grouped for _, aggregate in group.aggregates] == [
        "kurtosis(`__row`.`c0`)",
        "mode(`__row`.`c1`)",
        "skewness(`__row`.`c0`)",
        "mode(`__row`.`c0`)",
    ]


def test_running_and_final_are_different_rows() -> None:
    plan = _plan("RUNNING mode(x) AS a, FINAL mode(x) AS b", "ALL ROWS PER MATCH")
    assert [text for group in plan.grouped for text in group.texts] == [
        "[mode(`x`) OVER *]",
        "[FINAL mode(`x`) OVER *]",
    ]


def test_arguments_keep_their_constants_conditions_and_order() -> None:
    plan = _plan(
        "percentile(x, array(0.1, 0.9)) FILTER (WHERE id > 1) + listagg(s) WITHIN GROUP (ORDER BY id DESC) AS m"
    )
    assert [str(aggregate) for group in plan.grouped for _, aggregate in group.aggregates] == [
        "percentile(`__row`.`c0`, array(0.1, 0.9)) FILTER (WHERE `__row`.`c1` > 1)",
        "listagg(`__row`.`c0`) WITHIN GROUP (ORDER BY `__row`.`c1` DESC)",
    ]
    assert str(plan.finished[0][1]) == "`__g0` + `__g1`"


def test_functions_of_the_user_see_a_row_that_exists() -> None:
    (group,) = _plan("mode(my_function(x)) AS m").grouped
    assert group.instead in dict(_plan("mode(my_function(x)) AS m").scan.outputs)


@pytest.mark.parametrize("condition", ["mode(x) = 1", "kurtosis(A.x) > 0", "array_agg(x) = array(1)"])
def test_refused_in_define(condition: str) -> None:
    with pytest.raises(UnsupportedError, match="cannot be computed while a match is searched") as caught:
        _plan("x AS m", define=f"A AS {condition}")
    assert caught.value.cure is not None
    assert caught.value.cure.startswith("Conditions know any, any_value, avg,")
    assert caught.value.span is not None
