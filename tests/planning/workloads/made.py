"""Workloads for tests of planning: from short texts, or at random."""

from __future__ import annotations

from random import Random

from trellis.algebra.clauses import Clause
from trellis.analysis.clauses import clauses_of
from trellis.languages.workloads import parse_workload
from trellis.planning.workloads.forms import Forms, Shape
from trellis.planning.workloads.statistics import WorkloadStatistics


def clauses(*patterns: str) -> list[Clause]:
    """The clauses of patterns such as `SEQ(A a, B b) WITHIN 5`; they are called p1, p2, ..."""
    made = parse_workload([f"PATTERN {pattern}" for pattern in patterns])
    return [clause for one in made for clause in clauses_of(one.name, one.query)]


def sequences(*words: str, within: int = 10) -> list[Clause]:
    """`ABC` is SEQ(A a, B b, C c)."""
    parts = (", ".join(f"{letter} {letter.lower()}" for letter in word) for word in words)
    return clauses(*(f"SEQ({part}) WITHIN {within}" for part in parts))


def shapes(made: list[Clause], statistics: WorkloadStatistics | None = None, *, left_deep: bool = False) -> list[Shape]:
    forms = Forms(statistics or WorkloadStatistics(), left_deep=left_deep)
    return [Shape(clause, forms) for clause in made]


def random_pattern(random: Random, types: str, most: int = 5, *, alternatives: bool = False) -> str:
    """A pattern over types that are single letters, with some conditions and a window."""
    count = random.randint(1, most)
    names = [f"v{number}" for number in range(count)]
    drawn = [random.choice(types) for _ in names]
    repeated = random.randrange(count) if random.random() < 0.15 else -1
    written = [
        f"{kind}+ {name}[]" if number == repeated else f"{kind} {name}"
        for number, (kind, name) in enumerate(zip(drawn, names, strict=True))
    ]
    absent = random.random() < 0.2
    text = _nested(random, written, alternatives, outermost=True)
    if absent:
        inside = text[4:-1]
        places = random.choice([f"{inside}, ~({random.choice(types)} n)", f"~({random.choice(types)} n), {inside}"])
        text = f"{text[:4]}{places})"
    tests = []
    read = [f"{name}[1]" if number == repeated else name for number, name in enumerate(names)]
    for _ in range(random.randint(0, count)):
        one, other = random.choice(read), random.choice([*read, *(["n"] if absent else [])])
        if one != other and not alternatives:
            tests.append(f"{one}.{random.choice('xy')} {random.choice(['<', '>', '='])} {other}.{random.choice('xy')}")
    if random.random() < 0.3:
        tests.append(f"{random.choice(read)}.x > 0")
    if random.random() < 0.2:
        tests.append("[k]")
    where = f" WHERE {{ {' and '.join(tests)} }}" if tests else ""
    return f"{text}{where} WITHIN {random.choice([3, 5, 8])}"


def _nested(random: Random, parts: list[str], alternatives: bool, outermost: bool = False) -> str:
    if len(parts) == 1 and not outermost:
        return parts[0]
    operators = ["SEQ", "AND", "OR"] if alternatives and not outermost else ["SEQ", "AND"]
    operator = random.choice(operators)
    if len(parts) > 2 and random.random() < 0.5:
        cut = random.randint(1, len(parts) - 1)
        groups = [parts[:cut], parts[cut:]]
        return f"{operator}({', '.join(_nested(random, group, alternatives) for group in groups)})"
    return f"{operator}({', '.join(parts)})"


def random_workload(seed: int, count: int = 12, types: str = "ABCDE", most: int = 5) -> list[Clause]:
    random = Random(seed)
    return clauses(*(random_pattern(random, types, most) for _ in range(count)))


def random_statistics(seed: int, made: list[Clause]) -> WorkloadStatistics:
    random = Random(seed)
    rates = {kind: random.uniform(0.05, 2.0) for clause in made for part in clause.parts for kind in part.types}
    return WorkloadStatistics(rates)
