"""Plans as text, for people: what was asked, how it was split, which rules fired, what runs where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trellis.algebra import expression as e
from trellis.algebra.automaton import AutomatonScan
from trellis.algebra.event_scan import EventScan
from trellis.algebra.expression import Expression
from trellis.algebra.plan import NeighbourPlan, Plan, Scan
from trellis.algebra.query import Query
from trellis.algebra.scan import Output
from trellis.algebra.segments import SegmentScan
from trellis.algebra.workload_scan import WorkloadScan
from trellis.errors import assert_never
from trellis.planning.before_match.neighbours import as_written
from trellis.planning.describe import events, rows, segments, workloads
from trellis.planning.describe.before_match import describe_prefilter

__all__ = ["describe_parts", "describe_plan"]


# Rules that take less are nobody's concern.
_SLOW_RULE = 0.1


def describe_plan(query: Query, plan: Plan, tree: Sequence[str] = (), kept: Sequence[str] = ()) -> str:
    """The query, its conditions, the rules that fired, and the steps of the plan.

    `tree` is the chosen tree of a segment query as lines, `kept` what a stream remembers of each key for ever.
    """
    return f"== Query ==\n{query}\n\n{describe_parts(plan, tree, kept)}"


def describe_parts(plan: Plan, tree: Sequence[str] = (), kept: Sequence[str] = ()) -> str:
    """The same without the query."""
    sections = [
        ("Conditions", _conditions(plan.scan)),
        ("Rules", _rules(plan) or ["none fired"]),
        ("Prefilter", describe_prefilter(plan.before)),
        ("Logical tree", segments.logical_tree(plan.scan.tree) if isinstance(plan.scan, SegmentScan) else []),
        ("Chosen tree", list(tree)),
        ("Stream", _stream(plan, kept)),
        ("Plan", _steps(plan)),
    ]
    return "\n\n".join("\n".join([f"== {title} ==", *lines]) for title, lines in sections if lines)


def _rules(plan: Plan) -> list[str]:
    return [f"{fired}{f' ({fired.seconds:.1f} s)' if fired.seconds > _SLOW_RULE else ''}" for fired in plan.rules]


_LATE = {"drop": "are dropped and counted", "error": "end the query", "column": "are given out in the column late"}


def _stream(plan: Plan, kept: Sequence[str]) -> list[str]:
    """How rows that keep coming are searched."""
    spec = plan.stream
    if spec is None:
        return []
    names = dict(spec.columns)
    return [
        f"rows are searched in the order of {', '.join(names[name] for name, _, _ in spec.sorted_by)},",
        f"  once the watermark of {names[spec.time]} has passed them",
        f"rows that come behind it {_LATE[spec.late]}",
        f"{len(spec.columns)} columns are kept of each row that is not settled, in {spec.buckets} buckets of keys",
        f"of a key that is never seen again, {' and '.join(kept) or 'nothing'} is kept",
    ]


def _conditions(scan: Scan) -> list[str]:
    match scan:
        case AutomatonScan() | EventScan():
            return rows.conditions(scan)
        case WorkloadScan():
            return workloads.conditions(scan)
        case SegmentScan():
            return segments.conditions(scan)
    assert_never(scan)


def _search(scan: Scan) -> tuple[str, list[str]]:
    """What the search is, and lines on how it goes about it."""
    match scan:
        case AutomatonScan():
            return rows.summary(scan), rows.search(scan)
        case EventScan():
            return events.summary(scan), events.search(scan)
        case SegmentScan():
            return segments.summary(scan), []
        case WorkloadScan():
            return workloads.summary(scan), [f"step budget {scan.budget:,} for each chunk of series"]
    assert_never(scan)


def _output(output: Output, names: Mapping[str, str], scan: Scan) -> str:
    match scan:
        case AutomatonScan() | EventScan() | WorkloadScan():
            return rows.output_text(output, names, scan)
        case SegmentScan():
            return segments.output_text(output, names, scan)
    assert_never(scan)


def _steps(plan: Plan) -> list[str]:
    """The steps, the last one first, as Spark prints its plans."""
    scan = plan.scan
    names = {name: str(expression) for name, expression in plan.projected}
    if scan.slices is not None:
        names[scan.slices.number] = "slice"
    late = {} if plan.neighbours is None else _neighbour_names(plan.neighbours, names)
    names |= late
    keys = [names[key] for key in scan.keys]
    order = [
        f"{names[name]}{' DESC' if descending else ''}{'' if nulls_first != descending else _nulls(nulls_first)}"
        for name, descending, nulls_first in plan.sorted_by
    ]
    projected = [text for name, text in names.items() if name not in late]
    steps = [
        *([] if plan.neighbours is None else [("Keep", late[""])]),
        ("Sort", ", ".join(order) or "nothing"),
        ("Exchange", f"by {', '.join(keys)}" if keys else "to one partition"),
        ("Project", ", ".join(projected) or "nothing"),
    ]
    first = "   " * (len(steps) + 1)
    summary, details = _search(scan)
    return [
        f"Finish    {', '.join(_finished(plan, names))}",
        *(f"|         {text}: Spark groups the rows of each match" for text in _grouped(plan).values()),
        f"+- Match     {summary}",
        *(f"   |         {line}" for line in details),
        *(f"{'   ' * depth}+- {step:<9} {text}" for depth, (step, text) in enumerate(steps, 1)),
        *(f"{first}+- {step}" for step in _pairs(plan)),
        *([] if plan.before.keep is None else [f"{first}+- Keep      {plan.before.keep}"]),
        *([] if plan.before.prefilter is None else [f"{first}+- Prefilter {plan.before.prefilter}"]),
    ]


def _pairs(plan: Plan) -> list[str]:
    if plan.pairs is None:
        return []
    if not plan.pairs.values:
        return ["Number    rows of each series"]
    return [f"Pairs     {value}: for all pairs of rows, slow" for _, value in plan.pairs.values]


def _nulls(first: bool) -> str:
    return " NULLS FIRST" if first else " NULLS LAST"


def _finished(plan: Plan, names: Mapping[str, str]) -> list[str]:
    outputs = {name: _output(output, names, plan.scan) for name, output in plan.scan.outputs} | _grouped(plan)

    def shown(node: Expression) -> Expression:
        if isinstance(node, e.Column) and node.path[0] in outputs:
            return e.Raw((outputs[node.path[0]],))
        return e.rebuild(node, shown)

    return [f"{name} = {shown(expression)}" for name, expression in plan.finished]


def _grouped(plan: Plan) -> dict[str, str]:
    """The aggregates that Spark computes after the match, as texts."""
    return {name: text for group in plan.grouped for (name, _), text in zip(group.aggregates, group.texts, strict=True)}


def _neighbour_names(neighbours: NeighbourPlan, names: Mapping[str, str]) -> dict[str, str]:
    """What the values of neighbouring rows are, and what is made of them; under "" the rows that are kept."""
    texts = dict(names)
    for name, source, shift in neighbours.columns:
        texts[name] = str(as_written(e.Raw((names[source],)), shift))

    def written(node: Expression) -> Expression:
        if not isinstance(node, e.Column):
            return e.rebuild(node, written)
        text = texts[node.path[0]]
        return e.Raw((f"({text})" if " " in text else text,))

    return {name: str(written(expression)) for name, expression in (*neighbours.projected, ("", neighbours.keep))}
