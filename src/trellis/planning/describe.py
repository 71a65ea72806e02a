"""Plans as text, for people: what was asked, how it was split, which rules fired, what runs where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.algebra.plan import (
    BesidePlan,
    Condition,
    Gather,
    ListAggregate,
    MatchPlan,
    Number,
    Output,
    ScanPlan,
    Value,
)
from trellis.algebra.query import Query
from trellis.kernels import opcodes as o
from trellis.planning.beside import as_written
from trellis.planning.describe_prefilter import describe_prefilter

__all__ = ["describe"]

_WHERE = {
    "always": "always true",
    "spark": "by Spark",
    "bit": "as a bit",
    "kernel": "by the kernel",
}


def describe(query: Query, plan: ScanPlan[MatchPlan]) -> str:
    """The logical plan, the split of the conditions, the rules that fired and the physical plan."""
    names = {name: str(expression) for name, expression in plan.projected}
    sections = [
        ("Query", str(query).splitlines()),
        ("Conditions", _conditions(plan.match.conditions)),
        ("Rules", plan.rules or ("none fired",)),
        ("Prefilter", describe_prefilter(plan.before)),
        ("Plan", _steps(plan, names)),
    ]
    sections = [(title, lines) for title, lines in sections if lines]
    return "\n\n".join("\n".join([f"== {title} ==", *lines]) for title, lines in sections)


def _names_beside(beside: BesidePlan, names: Mapping[str, str]) -> dict[str, str]:
    """What the columns are that stand beside a row, and what is made of them; under "" the rows that are kept."""
    texts = dict(names)
    for name, source, shift in beside.columns:
        texts[name] = str(as_written(e.Raw((names[source],)), shift))

    def written(node: Expression) -> Expression:
        if not isinstance(node, e.Column):
            return e.rebuild(node, written)
        text = texts[node.path[0]]
        return e.Raw((f"({text})" if " " in text else text,))

    return {name: str(written(expression)) for name, expression in (*beside.projected, ("", beside.keep))}


def _conditions(conditions: Sequence[Condition]) -> list[str]:
    width = max((len(condition.variable) for condition in conditions), default=0)
    where = [f"{_WHERE[condition.where]}{', slow' if condition.slow else ''}" for condition in conditions]
    place = max(map(len, where), default=0)
    return [
        f"{condition.variable:{width}}  {how:{place}}  {condition.text}".rstrip()
        for condition, how in zip(conditions, where, strict=True)
    ]


def _steps(plan: ScanPlan[MatchPlan], names: dict[str, str]) -> list[str]:
    """The steps, the last one first, as Spark prints its plans."""
    if plan.match.slices is not None:
        names = {**names, plan.match.slices.number: "slice"}
    late = {} if plan.beside is None else _names_beside(plan.beside, names)
    names = {**names, **late}
    keys = [names[key] for key in plan.match.keys]
    exchange = f"by {', '.join(keys)}" if keys else "to one partition"
    order = [
        f"{names[name]}{' DESC' if descending else ''}{'' if nulls_first != descending else _nulls(nulls_first)}"
        for name, descending, nulls_first in plan.sorted_by
    ]
    projected = [name for name in names if name not in late]
    steps = [
        *([] if plan.beside is None else [("Keep", late[""])]),
        ("Sort", ", ".join(order) or "nothing"),
        ("Exchange", exchange),
        ("Project", ", ".join(names[name] for name in projected) or "nothing"),
    ]
    first = "   " * (len(steps) + 1)
    return [
        f"Finish    {', '.join(_named(plan, names))}",
        *(f"|         {text}: Spark groups the rows of each match" for text in _grouped(plan).values()),
        f"+- Match     {_match(plan.match)}",
        *(f"   |         {line}" for line in _search(plan.match)),
        *(f"{'   ' * depth}+- {step:<9} {text}" for depth, (step, text) in enumerate(steps, 1)),
        *(f"{first}+- Pairs     {value}: for all pairs of rows, slow" for _, value in _pairs(plan)),
        *([] if plan.before.keep is None else [f"{first}+- Keep      {plan.before.keep}"]),
        *([] if plan.before.prefilter is None else [f"{first}+- Prefilter {plan.before.prefilter}"]),
    ]


def _pairs(plan: ScanPlan[MatchPlan]) -> tuple[tuple[str, Expression], ...]:
    return () if plan.pairs is None else plan.pairs.values


def _nulls(first: bool) -> str:
    return " NULLS FIRST" if first else " NULLS LAST"


def _grouped(plan: ScanPlan[MatchPlan]) -> dict[str, str]:
    """The aggregates that Spark computes after the match, as texts."""
    return {name: text for group in plan.grouped for (name, _), text in zip(group.aggregates, group.texts, strict=True)}


def _named(plan: ScanPlan[MatchPlan], names: dict[str, str]) -> list[str]:
    outputs = {name: _output(output, names, plan.match) for name, output in plan.match.outputs}
    outputs |= _grouped(plan)

    def shown(node: Expression) -> Expression:
        if isinstance(node, e.Column) and node.path[0] in outputs:
            return e.Raw((outputs[node.path[0]],))
        return e.rebuild(node, shown)

    return [f"{name} = {shown(expression)}" for name, expression in plan.finished]


def _output(output: Output, names: dict[str, str], match: MatchPlan) -> str:
    place = getattr(output, "place", None)
    where = "" if place is None else "row" if place < 0 else str(match.measure_places[place])
    match output:
        case Gather(column=column):
            return f"[{names[column]} @ {where}]"
        case Number():
            return "MATCH_NUMBER()"
        case Value(aggregate=aggregate):
            return f"[aggregate {aggregate}]"
        case ListAggregate(columns=columns):
            return f"[values of {names[columns[0]]}]"
        case _:
            return f"[{type(output).__name__.lower()} @ {where}]"


def _match(match: MatchPlan) -> str:
    slots = len(match.slots) + len(match.measure_slots)
    return (
        f"{len(match.instructions)} instructions, {len(match.variables)} variables, {slots} slots, "
        f"{match.rows_per_match.value}, {match.skip.value}"
    )


def _search(match: MatchPlan) -> list[str]:
    if match.by_table:
        return ["search: by table, linear in rows (conditions look at rows only)"]
    kinds = [merge.kind for merge in match.merges]
    local = all(condition.where != "kernel" for condition in match.conditions)
    lines = [f"search: backtracking{'' if not local else ', linear in rows (conditions look at rows only)'}"]
    if o.KEYED in kinds:
        lines.append("states are the same where what later conditions read is the same")
    if o.NEVER in kinds:
        lines.append("some states cannot be compared: the search may take many steps")
    lines.append(f"step budget {match.budget:,} for each series")
    return lines
