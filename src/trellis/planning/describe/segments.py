"""The search of a segment pattern as text: conditions, the logical tree with its windows, the chosen tree."""

from __future__ import annotations

from collections.abc import Mapping

from trellis.algebra.logical_tree import Both, Chain, Either, Leaf, LogicalNode, Loop, Without
from trellis.algebra.physical_tree import (
    Complement,
    Filter,
    Generate,
    Join,
    Meet,
    Pad,
    PhysicalNode,
    Repetition,
    Union,
    Where,
    inputs_of,
)
from trellis.algebra.query import Wanted
from trellis.algebra.scan import Gather, Number, Output, Value
from trellis.algebra.segments import WHOLE_MATCH, SegmentCondition, SegmentScan
from trellis.algebra.trial import Trial

__all__ = ["chosen_tree", "conditions", "describe_trial", "logical_tree", "output_text", "summary"]


def conditions(scan: SegmentScan) -> list[str]:
    """A line for each condition: its number, how it is tested, and its text."""
    return [_condition(number, condition) for number, condition in enumerate(scan.conditions)]


def _condition(number: int, condition: SegmentCondition) -> str:
    how = "scan" if condition.threshold is not None else "program"
    if condition.owner:
        how = f"filter, reads {', '.join(sorted(name for name in condition.reads if name != condition.owner))}"
    return f"#{number}  {how}  {condition.text}"


def summary(scan: SegmentScan) -> str:
    """What the search is asked for."""
    wanted = scan.skip.value if scan.wanted is Wanted.PREFERRED else f"{scan.wanted.value} matches"
    return f"segments, {scan.rows_per_match.value}, {wanted}, budget {scan.budget:,} segments"


def output_text(output: Output, names: Mapping[str, str], scan: SegmentScan) -> str:
    """What an output of the search is."""
    match output:
        case Gather(column=column, place=-1):
            return f"[{names[column]} @ row]"
        case Gather(column=column, place=place):
            return f"[{names[column]} @ {_place(place, scan)}]"
        case Number():
            return "MATCH_NUMBER()"
        case Value(aggregate=number):
            function = scan.values[number]
            variables = ", ".join(_variable(name) for name in function.variables)
            return f"[{function.name} of {variables}]"
        case _:
            at: int | None = getattr(output, "place", None)
            return f"[{type(output).__name__.lower()}{'' if at is None else f' @ {_place(at, scan)}'}]"


def _place(number: int, scan: SegmentScan) -> str:
    place = scan.places[number]
    offset = f", {place.offset}" if place.offset else ""
    shift = f" {place.shift:+d}" if place.shift else ""
    return f"{'FIRST' if place.from_first else 'LAST'}({_variable(place.variable)}{offset}){shift}"


def _variable(name: str) -> str:
    return "match" if name == WHOLE_MATCH else name


def logical_tree(node: LogicalNode, depth: int = 0) -> list[str]:
    """A logical tree, a line for each node."""
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
        lines.extend(logical_tree(part, depth + 1))
    return lines


def describe_trial(trial: Trial | None) -> list[str]:
    """The tree that was chosen for a sample of the rows, with what it was thought to find and, if it ran, found."""
    if trial is None:
        return ["there are no rows to choose a tree for"]
    head = f"for a sample of {trial.rows:,} rows in {trial.series:,} series; about {trial.chosen.cost / 1e6:,.1f} ms"
    return [head, *chosen_tree(trial.chosen.tree, trial.actual)]


def chosen_tree(tree: PhysicalNode, actual: Mapping[int, tuple[int, int]] | None = None, depth: int = 0) -> list[str]:
    """A physical tree, with the segments that each node was thought to give and, after a run, gave."""
    title = f"{'  ' * depth}{_title(tree)}  {tree.window}"
    numbers = f"about {tree.about:,.0f}"
    if actual is not None and id(tree) in actual:
        calls, found = actual[id(tree)]
        numbers += f", found {found:,}" + (f" in {calls} calls" if calls > 1 else "")
    lines = [f"{title:<64} {numbers}"]
    for below in inputs_of(tree):
        lines.extend(chosen_tree(below, actual, depth + 1))
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
