"""Whether Spark may compute an expression twice and get the same values."""

from __future__ import annotations

import re

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression

__all__ = ["CHANGING_FUNCTIONS", "is_repeatable"]

CHANGING_FUNCTIONS = frozenset(
    "rand randn random uniform randstr uuid shuffle monotonically_increasing_id spark_partition_id "
    "input_file_name input_file_block_start input_file_block_length java_method reflect".split()
)
_CALL = re.compile(r"(\w+)\s*\(")


def is_repeatable(expression: Expression) -> bool:
    """Whether no function in it gives another value each time."""
    for node in e.walk(expression):
        match node:
            case e.Call(function=function) if function.lower() in CHANGING_FUNCTIONS:
                return False
            case e.Raw(parts=parts):
                texts = [part for part in parts if isinstance(part, str)]
                if any(name.lower() in CHANGING_FUNCTIONS for text in texts for name in _CALL.findall(text)):
                    return False
            case _:
                pass
    return True
