"""The operators and functions that kernels compute, and the instructions that do."""

from __future__ import annotations

from trellis.kernels import opcodes as o

__all__ = ["ARITHMETIC", "COMPARISONS", "FLOAT_FUNCTIONS", "TESTS"]

COMPARISONS = {
    "=": o.EQUAL,
    "<>": o.UNEQUAL,
    "<": o.LESS,
    "<=": o.LESS_EQUAL,
    ">": o.GREATER,
    ">=": o.GREATER_EQUAL,
}
ARITHMETIC = {
    "+": (o.ADD_INT, o.ADD_FLOAT),
    "-": (o.SUBTRACT_INT, o.SUBTRACT_FLOAT),
    "*": (o.MULTIPLY_INT, o.MULTIPLY_FLOAT),
    "%": (o.MODULO_INT, o.MODULO_FLOAT),
    "/": (o.DIVIDE_INT, o.DIVIDE_FLOAT),
    "DIV": (o.DIVIDE_INT, o.DIVIDE_FLOAT),
}
TESTS = {
    "IS NULL": (o.IS_NULL, False),
    "IS NOT NULL": (o.IS_NULL, True),
    "IS TRUE": (o.IS_TRUE, False),
    "IS NOT TRUE": (o.IS_TRUE, True),
    "IS FALSE": (o.IS_FALSE, False),
    "IS NOT FALSE": (o.IS_FALSE, True),
}
FLOAT_FUNCTIONS = {"sqrt": o.SQRT, "exp": o.EXP, "ln": o.LN, "log10": o.LOG10, "log2": o.LOG2, "sign": o.SIGN}
