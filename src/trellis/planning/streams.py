"""Plans for streams: what they cannot do, what bounds their state, and the order in which rows are searched."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from trellis.algebra import expression as e
from trellis.algebra.automaton import AutomatonScan, Instruction, Op
from trellis.algebra.event_scan import EventScan
from trellis.algebra.plan import LATE, Plan, StreamSpec
from trellis.algebra.query import Query
from trellis.algebra.segments import SegmentScan
from trellis.algebra.words import Words
from trellis.algebra.workload_scan import WorkloadScan
from trellis.analysis.source import Source
from trellis.errors import BindingError, UnsupportedError, assert_never
from trellis.planning.hints import Hints

__all__ = ["hints_for_streams", "plan_stream"]

# What looks at all rows before the match, or at whole series.
_NOT_ON_STREAMS = ("prefilter", "slices", "neighbour_columns", "pair_slots", "skip_search")

_HASH = "xxhash64("
"""How the column begins that breaks ties (`trellis.planning.exchange`)."""


def hints_for_streams(hints: Hints) -> Hints:
    """Hints with the rules off that need all rows."""
    return replace(hints, off=(*hints.off, *_NOT_ON_STREAMS), statistics="off")


def plan_stream(plan: Plan, query: Query, source: Source, hints: Hints, text: str | None = None) -> Plan:
    """The plan as one for a stream that a watermark follows; `text` is what must not change while it is stopped."""
    watermark = source.watermark
    assert watermark is not None
    keys = len(plan.scan.keys)
    # The order asked for, and the hash that breaks ties; rows that still are equal are interchangeable.
    sorted_by = plan.sorted_by[keys : keys + len(plan.order_keys) + 1]
    _check_order(plan, watermark, query.words)
    _check_search(plan)
    if not hints.allow_unbounded:
        _check_bounds(plan, query.words)
    projected = dict(plan.projected)
    names = {name: str(projected[name]) for name in (*plan.shipped, *(name for name, _, _ in sorted_by))}
    columns = tuple(names.items())
    text = _text(str(replace(query, measures=())) if text is None else text, source, hints)
    if isinstance(plan.scan, SegmentScan):
        plan = replace(plan, scan=replace(plan.scan, time=sorted_by[0][0]))
    tied = sorted_by[len(plan.order_keys) :]
    spec = StreamSpec(
        time=sorted_by[0][0],
        sorted_by=sorted_by,
        columns=columns,
        buckets=hints.buckets,
        late=hints.late,
        query=text,
        keys=tuple(names[name] for name in plan.scan.keys),
        order=tuple(_key_text(names[name], *how) for name, *how in sorted_by[: len(plan.order_keys)]),
        ties=next((names[name] for name, _, _ in tied if names[name].startswith(_HASH)), ""),
    )
    return _with_late_rows(replace(plan, stream=spec), source) if hints.late == "column" else replace(plan, stream=spec)


def _key_text(text: str, descending: bool, nulls_first: bool) -> str:
    return f"{text}{' DESC' if descending else ''} NULLS {'FIRST' if nulls_first else 'LAST'}"


def _with_late_rows(plan: Plan, source: Source) -> Plan:
    """The plan with a column for rows of the input that come too late; nothing else is known of them."""
    if any(name.lower() == "late" for name, _ in plan.finished):
        raise BindingError("The result has a column late already.", cure="Give it another name.")
    row = e.Call("struct", tuple(e.Column((name,)) for name, _ in source.schema.columns))
    late = e.Column((LATE,))
    on_time = e.Operator("IS NULL", (late,))
    finished = ((name, e.Case(((on_time, value),))) for name, value in plan.finished)
    return replace(plan, projected=(*plan.projected, (LATE, row)), finished=(*finished, ("late", late)))


def _text(query: str, source: Source, hints: Hints) -> str:
    """What must not change while a stream is stopped. Parameters are hashed: nobody needs to read them there."""
    values = sorted((name, repr(value)) for name, value in source.parameters.items())
    given = [f"with parameters {sha256(repr(values).encode()).hexdigest()[:16]}"] if values else []
    return "\n".join([query, *given, f"in {hints.buckets} buckets"])


def _check_order(plan: Plan, watermark: str, words: Words) -> None:
    """Rows must be searched in the order of time: that is how they become complete."""
    first = plan.order_keys[0] if plan.order_keys else None
    cure = words.ordered_by.format(watermark)
    if not (isinstance(first, e.Column) and first.path == (watermark,)):
        raise BindingError(
            f"On a stream rows are searched in the order of their event time, {watermark}.",
            cure=cure,
            span=None if first is None else first.span,
        )
    if plan.sorted_by[len(plan.scan.keys)][1]:
        raise BindingError("On a stream time cannot run backwards.", cure=cure, span=first.span)


def _check_search(plan: Plan) -> None:
    scan = plan.scan
    if plan.grouped:
        names = ", ".join(text for group in plan.grouped for text in group.texts)
        raise UnsupportedError(
            f"Spark would have to group the rows of each match to compute {names}: it cannot on a stream.",
            cure="Leave it out, or give out the rows of matches and compute it in foreachBatch.",
        )
    if isinstance(scan, AutomatonScan) and any(step.op is Op.ANCHOR_END for step in scan.instructions):
        raise UnsupportedError("A stream has no last row, so `$` never holds.", cure="Leave it out, or use WITHIN.")
    if isinstance(scan, AutomatonScan) and any(place.numbered for place in scan.places):
        raise UnsupportedError(
            "A function of MATCH_NUMBER() is computed for all rows of a series: it cannot be while rows still come.",
            cure="Use operators that conditions have between rows.",
        )
    # Of a series two rows are remembered: where a match may begin, and from where on rows are needed. Here the second
    # says where runs begin that may time out.
    events = scan if isinstance(scan, EventScan) and scan.timeouts and scan.non_overlapping else None
    if events is not None and any(one.after < 0 for one in events.absences):
        raise UnsupportedError(
            "On a stream, OUTPUT NON_OVERLAP and SHOW TIMEOUT MATCHES together keep no events before a match, and "
            "something must be absent there.",
            cure="Leave out one of the two, or what must be absent at the beginning.",
        )
    if isinstance(scan, AutomatonScan) and scan.others:
        raise UnsupportedError(
            "Several patterns in one query cannot be searched while rows still come.",
            cure="Ask for each of them in a query of its own.",
        )


def _check_bounds(plan: Plan, words: Words) -> None:
    """Something must let go of rows, or the state of the stream grows for ever."""
    scan = plan.scan
    match scan:
        case AutomatonScan():
            bounded = scan.within is not None or not _repeats(scan.instructions)
        case EventScan():
            bounded = scan.within is not None or scan.most_events > 0
        case WorkloadScan():
            bounded = all(window.within is not None or window.events > 0 for window in scan.windows)
        case SegmentScan():
            window = scan.tree.window
            bounded = window.most is not None or any(time.most is not None for time in window.times)
        case _:
            assert_never(scan)
    if bounded:
        return
    cure = "Bound the matches with a window(...) around the pattern" if isinstance(scan, SegmentScan) else words.bounded
    raise UnsupportedError(
        "Nothing bounds how long a match may be, so a stream would have to keep its rows for ever.",
        cure=f"{cure}, or insist with hints={{'allow_unbounded': True}}.",
    )


def _repeats(code: tuple[Instruction, ...]) -> bool:
    """Whether the automaton has a cycle, so that matches may be of any length."""
    done: set[int] = set()
    pending, path = [(0, False)], set[int]()
    while pending:
        at, left = pending.pop()
        if left:
            path.discard(at)
            done.add(at)
            continue
        if at in path:
            return True
        if at in done:
            continue
        path.add(at)
        pending.append((at, True))
        pending += [(target, False) for target in (code[at].x, code[at].y) if target >= 0]
    return False
