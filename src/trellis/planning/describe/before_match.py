"""What happens before the match, as text: candidates with their estimates, or the reason why there is no prefilter."""

from __future__ import annotations

from trellis.algebra.prefilter import BeforeMatch

__all__ = ["describe_prefilter"]

_SHOWN = 12


def describe_prefilter(before: BeforeMatch) -> list[str]:
    """The lines of a section of `explain`; none if there is nothing to say."""
    chosen, considered, reason = before.prefilter, before.considered, before.reason
    if not considered:
        return [f"{chosen}: {reason}" if chosen is not None else f"none: {reason}"] if reason else []
    lines = []
    names = ["none" if one.prefilter is None else str(one.prefilter) for one in considered]
    width = max(map(len, names[:_SHOWN]))
    for name, one in list(zip(names, considered, strict=True))[:_SHOWN]:
        mark = "*" if one.prefilter == chosen else " "
        bound = "≥ " if one.at_least else ""
        rows, cost = f"{bound}{one.rows:,.0f}", f"{bound}{one.cost / 1e6:,.0f}"
        lines.append(f"{mark} {name:{width}}  {rows:>14} rows left  {cost:>10} ms")
    if len(considered) > _SHOWN:
        lines.append(f"  and {len(considered) - _SHOWN} more")
    return lines
