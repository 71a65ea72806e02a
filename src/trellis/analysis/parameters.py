"""Parameters of a query (`:name`): what can be said of their values before Spark reads them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal

from trellis.algebra import expression as e
from trellis.errors import BindingError

__all__ = ["check_width", "require_value"]


def require_value(parameter: e.Parameter, parameters: Mapping[str, object]) -> object:
    """The value of a parameter; an error if there is none."""
    if parameter.name not in parameters:
        raise BindingError(
            f"The parameter :{parameter.name} has no value.",
            cure=f"Pass args={{{parameter.name!r}: ...}}.",
            span=parameter.span,
        )
    return parameters[parameter.name]


def check_width(width: e.Parameter, parameters: Mapping[str, object]) -> None:
    """The width of WITHIN as a parameter: what validation checks of a literal."""
    value = require_value(width, parameters)
    zero = timedelta(0) if isinstance(value, timedelta) else 0
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal, timedelta)) or not value > zero:  # type: ignore[operator]
        raise BindingError(
            f"The width :{width.name} of WITHIN must be a positive number or datetime.timedelta, not {value!r}.",
            cure=f"Pass args={{{width.name!r}: timedelta(hours=2)}} for times, a number for numbers.",
            span=width.span,
        )
