"""Segment plans as text: conditions, the logical tree with its windows, and the chosen tree with its estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trellis.algebra.plan import ScanPlan
from trellis.algebra.query import Query, Wanted
from trellis.algebra.segments import (
    Both,
    Chain,
    Complement,
    Either,
    Filter,
    Generate,
    Join,
    Leaf,
    LogicalNode,
    Loop,
    Meet,
    Pad,
    PhysicalNode,
    Repetition,
    SegmentCondition,
    SegmentPlan,
    Union,
    Where,
    Without,
    inputs_of,
)
from trellis.planning.describe.before_match import describe_prefilter

__all__ = ["describe_segments", "describe_tree"]


def describe_segments(query: Query, plan: ScanPlan[SegmentPlan], tree: Sequence[str]) -> str:
    """The query, its conditions, the rules that fired, the logical and the chosen tree, and Spark's steps."""
    names = {name: str(expression) for name, expression in plan.projected}
    match = plan.match
    if match.slices is not None:
        names[match.slices.number] = "slice"
    keys = [names[key] for key in match.keys]
    order = [f"{names[name]}{' DESC' if descending else ''}" for name, descending, _ in plan.sorted_by]
    exchange = f"by {', '.join(keys)}" if keys else "to one partition"
    sections = [
        ("Query", str(query).splitlines()),
        ("Conditions", [_condition(number, condition) for number, condition in enumerate(match.conditions)]),
        ("Rules", list(plan.rules) or ["none fired"]),
        ("Prefilter", describe_prefilter(plan.before)),
        ("Logical tree", _logical(match.tree, 0)),
        ("Chosen tree", list(tree)),
        (
            "Plan",
            [
                f"Finish    {', '.join(name for name, _ in plan.finished)}",
                f"+- Segments  {match.rows_per_match.value}, {_wanted(match)}, budget {match.budget:,} segments",
                f"   +- Sort      {', '.join(order) or 'nothing'}",
                f"      +- Exchange  {exchange}",
                f"         +- Project   {', '.join(name for name in names.values() if name != 'slice')}",
                *([] if plan.before.prefilter is None else [f"            +- Prefilter {plan.before.prefilter}"]),
            ],
        ),
    ]
    sections = [(title, lines) for title, lines in sections if lines]
    return "\n\n".join("\n".join([f"== {title} ==", *lines]) for title, lines in sections)


def _wanted(match: SegmentPlan) -> str:
    return match.skip.value if match.wanted is Wanted.PREFERRED else f"{match.wanted.value} matches"


def _condition(number: int, condition: SegmentCondition) -> str:
    how = "scan" if condition.threshold is not None else "program"
    if condition.owner:
        how = f"filter, reads {', '.join(sorted(name for name in condition.reads if name != condition.owner))}"
    return f"#{number}  {how}  {condition.text}"


def _logical(node: LogicalNode, depth: int) -> list[str]:
    binds = f"  [{', '.join(name for name in node.binds if '#' not in name)}]" if node.binds else ""
    indent = "  " * depth
    filters = ""
    below: tuple[LogicalNode, ...] = ()
    match node:
        case Leaf(conditions=numbers, wild=wild):
            title = "any segment" if wild else "segments"
            title += "".join(f" #{number}" for number in numbers)
        case Chain(parts=parts, gap=gap):
            title, below = ("concatenation, shared rows" if gap == 0 else "concatenation"), parts
        case Both(parts=parts):
            title, below = "and", parts
        case Either(parts=parts):
            title, below = "or", parts
        case Without(body=body):
            title, below = "not", (body,)
        case Loop(body=body, least=least, most=most):
            title, below = f"{least} to {'any' if most is None else most} times", (body,)
    if isinstance(node, (Chain, Both, Either)):
        filters = "".join(f" #{number}" for number in node.filters)
        below = (*below, *(item.part for item in node.nested))
    filtered = f", filtered by{filters}" if filters else ""
    lines = [f"{indent}{title}{filtered}  {node.window}{binds}"]
    for part in below:
        lines.extend(_logical(part, depth + 1))
    return lines


def describe_tree(
    tree: PhysicalNode,
    estimates: Mapping[int, float],
    actual: Mapping[int, tuple[int, int]] | None = None,
    depth: int = 0,
) -> list[str]:
    """A physical tree, with the segments that each node was thought to give and, after a run, gave."""
    title = f"{'  ' * depth}{_title(tree)}  {tree.window}"
    numbers = f"about {estimates[id(tree)]:,.0f}" if id(tree) in estimates else ""
    if actual is not None and id(tree) in actual:
        calls, found = actual[id(tree)]
        numbers += f", found {found:,}" + (f" in {calls} calls" if calls > 1 else "")
    lines = [f"{title:<64} {numbers}".rstrip()]
    for below in inputs_of(tree):
        lines.extend(describe_tree(below, estimates, actual, depth + 1))
    return lines


_PROBES = {"merge": "merge", "right": "probes the right", "left": "probes the left"}


def _title(node: PhysicalNode) -> str:
    sets = "bits" if node.dense else "pairs"
    match node:
        case Generate(conditions=()):
            return f"SegGenWindow ({sets})"
        case Generate(conditions=numbers, index=index):
            kind = "SegGenIndexing" if index else "SegGenFilter"
            return f"{kind}{''.join(f' #{number}' for number in numbers)} ({sets})"
        case Join(method=method, between=between):
            return f"{'WildConcat' if between else 'Concat'}, {_PROBES[method]} ({sets})"
        case Pad(before=before, after=after):
            side = "both sides" if before and after else "before" if before else "after"
            return f"WildConcat, any segment {side} ({sets})"
        case Meet(method=method):
            return f"And, {_PROBES[method]}"
        case Union():
            return f"Or ({sets})"
        case Complement(probe=probe):
            return f"{'ProbeNot' if probe else 'MaterializeNot'} ({sets})"
        case Repetition(least=least, most=most):
            return f"Kleene {{{least},{'' if most is None else most}}} ({sets})"
        case Filter(conditions=numbers):
            return f"Filter{''.join(f' #{number}' for number in numbers)}"
        case Where(reads=reads):
            return f"Where, reads {', '.join(sorted(reads))}"
