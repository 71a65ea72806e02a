"""The plan of many event patterns as text: the patterns, the nodes that they share, and what the plan saves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from trellis.algebra.shared_tree import JoinNode, LeafNode, SharedTree
from trellis.algebra.workload_scan import WorkloadScan
from trellis.planning.describe import rows
from trellis.planning.describe.sub_patterns import short_text, sub_pattern_text
from trellis.planning.workloads.gains import WorkloadCosts

__all__ = ["conditions", "describe_workload", "graph_of", "summary"]

_NAMES = 4
_MOST_SHARED = 12
_TITLE, _LEAST = 88, 30
_PATTERN = 100
_NAME = 40
_CONDITIONS = 40

PlainNode = tuple[str, str, tuple[str, ...], tuple[str, ...], float, int | None]
"""A short and a long text, the patterns that use the node, those whose matches it holds, instances thought and real."""
PlainEdges = tuple[tuple[int, int], ...]
PlainAbsences = tuple[tuple[int, str], ...]


def describe_workload(
    tree: SharedTree,
    patterns: Mapping[str, str],
    costs: WorkloadCosts,
    *,
    strategy: str,
    seconds: float,
    actual: Sequence[int] | None = None,
    most: int = 40,
) -> str:
    """The patterns by name, the nodes of the plan, and its cost.

    `seconds` is how long the search for the plan took, by `strategy`. `actual` are the instances that each node had in
    a run. About `most` patterns and nodes are shown, and how many more there are.
    """
    plan = _Plan(tree, actual)
    shown = _trees(plan, most)
    cut = len(plan.seen) < len(tree.nodes)
    sections = [
        ("Patterns", _patterns(plan, patterns, costs, most)),
        ("Shared plan", [*_summary(plan), *shown, *(_left_out(plan) if cut else [])]),
        ("Most shared", _most_shared(plan) if cut else []),
        ("Cost", [*_costs(plan, costs), f"strategy {strategy}, {seconds:.1f} s"]),
    ]
    return "\n\n".join("\n".join([f"== {title} ==", *lines]) for title, lines in sections if lines)


def conditions(scan: WorkloadScan) -> list[str]:
    """A line for each condition, however many patterns have it: its events have numbers."""
    # Variables have no condition: they stand among these, since each has a number.
    tested = scan.conditions[len(scan.variables) :]
    lines = _aligned([(one.variable.partition(" ")[2], rows.tested_by(one)) for one in tested[:_CONDITIONS]])
    more = len(tested) - _CONDITIONS
    return [*lines, *([f"and {more:,} more"] if more > 0 else [])]


def summary(scan: WorkloadScan) -> str:
    """How large the tree is."""
    patterns = _counted(len(scan.patterns), "pattern")
    return f"{patterns} along a shared tree of {len(scan.nodes):,} nodes, {len(scan.slots)} slots, all matches"


def graph_of(
    tree: SharedTree, actual: Sequence[int] | None = None
) -> tuple[tuple[PlainNode, ...], PlainEdges, PlainAbsences]:
    """The plan in plain values, for a picture: its nodes; which is a part of which; what must be absent for whom."""
    plan = _Plan(tree, actual)
    nodes = tuple(
        (
            f"#{number} {short_text(node.pattern)}",
            f"{sub_pattern_text(node.pattern)} WITHIN {node.window}",
            plan.users[number],
            tuple(plan.results[number]),
            node.estimate,
            None if actual is None else actual[number],
        )
        for number, node in enumerate(tree.nodes)
    )
    edges = tuple((part, number) for number in range(len(tree.nodes)) for part in dict.fromkeys(plan.parts(number)))
    absences = dict.fromkeys((absence.leaf, root.pattern) for root in tree.roots for absence in root.absences)
    return nodes, edges, tuple(absences)


@dataclass(slots=True)
class _Plan:
    """A tree with what is asked of it again and again. `seen` are the nodes that were shown."""

    tree: SharedTree
    actual: Sequence[int] | None
    users: tuple[tuple[str, ...], ...] = field(init=False)
    results: list[dict[str, None]] = field(init=False)
    absent: list[dict[int, dict[str, None]]] = field(init=False)
    seen: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.users = self.tree.users()
        # The patterns whose matches a node holds, and the leaves that must have nothing for each of them.
        self.results = [{} for _ in self.tree.nodes]
        self.absent = [{} for _ in self.tree.nodes]
        for root in self.tree.roots:
            self.results[root.node][root.pattern] = None
            for one in root.absences:
                self.absent[root.node].setdefault(one.leaf, {})[root.pattern] = None

    @property
    def patterns(self) -> int:
        """How many patterns the plan finds."""
        return len({root.pattern for root in self.tree.roots})

    def parts(self, number: int) -> tuple[int, ...]:
        """The nodes that a node is made of."""
        node = self.tree.nodes[number]
        return (node.left, node.right) if isinstance(node, JoinNode) else ()

    def tops(self) -> list[int]:
        """The nodes that are no part of another, in the order of the patterns."""
        inner = {part for number in range(len(self.tree.nodes)) for part in self.parts(number)}
        return list(dict.fromkeys(root.node for root in self.tree.roots if root.node not in inner))


def _patterns(plan: _Plan, patterns: Mapping[str, str], costs: WorkloadCosts, most: int) -> list[str]:
    """A line for each pattern: its name and text, where its matches are, and what it would cost by itself."""
    places: dict[str, dict[int, None]] = {}
    for root in plan.tree.roots:
        places.setdefault(root.pattern, {})[root.node] = None
    rows = []
    for name in [*patterns][:most]:
        where = _listed([f"#{number}" for number in places.get(name, ())])
        alone = f"{_many(costs.alone[name])} by itself" if name in costs.alone else ""
        text = _one_line(patterns[name], _PATTERN)
        rows.append((_one_line(name, _NAME), text, f"-> {where}" if where else "no match is possible", alone))
    more = len(patterns) - len(rows)
    return [*_aligned(rows), *([f"and {more:,} more"] if more else [])]


def _summary(plan: _Plan) -> list[str]:
    nodes = plan.tree.nodes
    leaves = sum(isinstance(node, LeafNode) for node in nodes)
    shared = sum(len(names) > 1 for names in plan.users)
    found = "" if plan.actual is None else "; found: in a run"
    return [
        f"{_counted(len(nodes), 'node')} for {_counted(plan.patterns, 'pattern')}: "
        f"{_counted(leaves, 'leaf', 'leaves')} and {_counted(len(nodes) - leaves, 'join')}; {shared:,} shared",
        f"about: instances that are thought to be held at a time{found}; ->: patterns whose matches they are",
    ]


def _trees(plan: _Plan, most: int) -> list[str]:
    """The nodes, each once, above what they are made of. Trees are shown whole, until there are enough."""
    rows: list[tuple[str, ...]] = []
    for top in plan.tops():
        if len(plan.seen) >= most:
            break
        rows += _tree(plan, top, "", "", "")
    return _aligned(rows)


def _tree(plan: _Plan, number: int, role: str, first: str, rest: str) -> Iterator[tuple[str, ...]]:
    """A node and what is below it; `first` stands before its own line, and `rest` before the others."""
    if number in plan.seen:
        yield (f"{first}{role}#{number}, above",)
        return
    plan.seen.add(number)
    yield _row(plan, number, f"{first}{role}")
    below = [(part, "") for part in plan.parts(number)]
    for leaf, names in plan.absent[number].items():
        # Instances of the node stay: another pattern may be made of them.
        below.append((leaf, f"for {_listed([*names])} without "))
    for place, (part, role) in enumerate(below, 1):
        yield from _tree(plan, part, role, f"{rest}+- ", f"{rest}{'|  ' if place < len(below) else '   '}")


def _row(plan: _Plan, number: int, before: str = "") -> tuple[str, ...]:
    """What is said of a node: sub-pattern, window, instances, and the patterns that share it or that it is."""
    node = plan.tree.nodes[number]
    about = f"about {_many(node.estimate)}"
    if plan.actual is not None:
        about += f", found {plan.actual[number]:,}"
    names = plan.users[number]
    results = [*plan.results[number]]
    notes = [f"-> {_listed(results)}"] if results else []
    if len(names) > max(1, len(results)):
        notes.append(f"shared by {_listed(names) if len(names) <= _NAMES else f'{len(names):,}: {_listed(names)}'}")
    title = f"{before}#{number}  "
    return (
        title + _one_line(sub_pattern_text(node.pattern), max(_LEAST, _TITLE - len(title))),
        f"WITHIN {node.window}",
        about,
        "; ".join(notes),
    )


def _left_out(plan: _Plan) -> list[str]:
    hidden = len(plan.tree.nodes) - len(plan.seen)
    shown = {name for number in plan.seen for name in plan.results[number]}
    return [f"and {_counted(hidden, 'more node', 'more nodes')}, for {_counted(plan.patterns - len(shown), 'pattern')}"]


def _most_shared(plan: _Plan) -> list[str]:
    """The nodes that would hold the most if each pattern had its own."""
    nodes = plan.tree.nodes
    shared = [number for number, names in enumerate(plan.users) if len(names) > 1]
    shared.sort(key=lambda number: (1 - len(plan.users[number])) * nodes[number].estimate)
    more = len(shared) - _MOST_SHARED
    rows = _aligned([_row(plan, number) for number in shared[:_MOST_SHARED]])
    return [*rows, *([f"and {more:,} more"] if more > 0 else [])]


def _costs(plan: _Plan, costs: WorkloadCosts) -> list[str]:
    """Instances in all nodes: those of the plan, and of plans that share nothing."""
    apart = sum(costs.alone.values())
    found = "" if plan.actual is None else f", found {sum(plan.actual):,}"
    rows = [
        ("this plan", f"about {_many(costs.plan)}{found}", ""),
        ("each pattern by itself", f"about {_many(apart)}", _times(apart, costs.plan)),
        ("patterns as written", f"about {_many(costs.written)}", _times(costs.written, costs.plan)),
    ]
    return _aligned(rows)


def _times(cost: float, least: float) -> str:
    return f"{_many(cost / least)} times as many" if least > 0.0 else ""


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows in columns; a row of a single value needs none."""
    columns = max(map(len, rows), default=0)
    widths = [max(len(row[column]) for row in rows if len(row) > max(column, 1)) for column in range(columns)]
    return ["  ".join(f"{value:{width}}" for value, width in zip(row, widths, strict=False)).rstrip() for row in rows]


def _listed(names: Sequence[str]) -> str:
    """All names, or the first ones and how many more there are."""
    shown = [_one_line(name, _NAME) for name in names]
    return ", ".join(shown) if len(names) <= _NAMES else f"{', '.join(shown[:3])} and {len(names) - 3:,} more"


def _one_line(text: str, most: int) -> str:
    """A text that may have several lines, and be longer than there is room for."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def _many(number: float) -> str:
    """A number of instances, which may be tiny or very large."""
    return f"{number:,.0f}" if 100 <= number < 1e12 else f"{number:.3g}"
