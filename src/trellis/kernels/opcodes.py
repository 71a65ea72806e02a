"""The instruction sets: numbers that planning writes and kernels read."""

from __future__ import annotations

# Automaton.
CONSUME, SPLIT, JUMP, ANCHOR_START, ANCHOR_END, ACCEPT, FAIL, KEEP, FORGET, CHECK = range(10)

# Conditions of a variable.
ALWAYS, BIT, PROGRAM = range(3)

# Places: special sets.
CURRENT_ROW, ANY_ROW, NUMBERED_ROW = -1, -2, -3

# Expression programs. Operands are taken from the stack, results put back; `a` and `b` as said.
(
    LOAD_INT,  # a: slot, b: place
    LOAD_FLOAT,
    CONST_INT,  # a: constant
    CONST_FLOAT,
    CONST_NULL,
    LABEL,  # b: place
    PRESENT,  # b: place
    ROW,  # b: place; the number of the row
    LOAD_PAIR,  # a: slot; takes the numbers of two rows, gives an integer and a float
    MATCH_NUMBER,
    AGGREGATE_INT,  # a: aggregate
    AGGREGATE_FLOAT,
    TO_FLOAT,
    TO_INT,
    SCALE_INT,  # a: constant, the factor; b: 1 to cut what leaves int64 instead of failing
    UNSCALE,  # a: float constant, the divisor
    ADD_INT,
    SUBTRACT_INT,
    MULTIPLY_INT,
    DIVIDE_INT,
    MODULO_INT,
    ADD_FLOAT,
    SUBTRACT_FLOAT,
    MULTIPLY_FLOAT,
    DIVIDE_FLOAT,
    MODULO_FLOAT,
    COMPARE_INT,  # a: comparison
    COMPARE_FLOAT,
    SAME_INT,  # null-safe equality
    SAME_FLOAT,
    SMALLER_INT,  # least, greatest: nulls are skipped
    SMALLER_FLOAT,
    LARGER_INT,
    LARGER_FLOAT,
    NEGATE_INT,
    NEGATE_FLOAT,
    ABS_INT,
    ABS_FLOAT,
    FUNCTION,  # a: function of one float
    POWER,
    RANGE_CHECK,  # a: constant, the least; a + 1: the greatest value of the type
    AND,
    OR,
    NOT,
    IS_NULL,
    IS_TRUE,
    IS_FALSE,
    GO,  # a: target
    GO_IF_FALSE,  # keeps the operand when it jumps and when it does not
    GO_IF_TRUE,
    GO_UNLESS_TRUE,  # takes the operand
    GO_IF_KNOWN,  # keeps the operand when it jumps, takes it otherwise
    FAIL,  # ends the search: a function fails for this label
    # Decimals of more than 18 digits have two words.
    LOAD_WIDE,  # a: slot of the low word, the high one stands behind; b: place
    CONST_WIDE,  # a: constant, the low word; a + 1: the high one
    AGGREGATE_WIDE,  # a: aggregate
    COMPARE_WIDE,  # a: comparison
    SAME_WIDE,
    SMALLER_WIDE,
    LARGER_WIDE,
    DECIMAL,  # a: constants: ADD_INT or the like, digits up (left, right), digits down, digits of the result
    WIDEN,  # an integer gets a second word
    NEGATE_WIDE,
    ABS_WIDE,
    RESCALE,  # a: constants: digits up, digits down, digits of the result
    WIDE_TO_FLOAT,  # a: digits behind the point
) = range(66)

EQUAL, UNEQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL = range(6)

SQRT, EXP, LN, LOG10, FLOOR, CEIL, SIGN, LOG2, TO_SINGLE = range(9)

# Aggregates. The first group gives integers, the second floats, the third the row that holds the value.
COUNT, SUM_INT = range(2)
SUM_FLOAT, AVG, VAR_SAMP, VAR_POP, STDDEV_SAMP, STDDEV_POP = range(2, 8)
MIN_INT, MAX_INT, MIN_FLOAT, MAX_FLOAT = range(8, 12)
# Of decimals with two words, in conditions alone.
SUM_WIDE, MIN_WIDE, MAX_WIDE = range(12, 15)

# In place of the slot of an aggregate: the row counts whatever it holds; a program gives the value.
EVERY_ROW, COMPUTED = -2, -3
# In place of the chain of an aggregate over distinct values: all values count; integers or floats are compared with all
# before.
NO_CHAIN, LOOK_BACK_INT, LOOK_BACK_FLOAT = -1, -2, -3

# Search states and the registers that tell them apart.
PURE, KEYED, NEVER = range(3)
FIRST_ROWS, LAST_ROWS, AGGREGATE_STATE, MATCH_STATE = range(4)

# Skip modes.
SKIP_PAST_LAST, SKIP_NEXT, SKIP_FIRST, SKIP_LAST = range(4)

# Output modes.
ONE_ROW, ALL_ROWS, ALL_OMIT_EMPTY, ALL_UNMATCHED = range(4)

# Status of a kernel that ran.
DONE, OUT_OF_STEPS, SKIP_MISSING, SKIP_TO_START, OVERFLOW, DIVISION_BY_ZERO, FUNCTION_FAILED = range(7)

# What a search returns instead of the end of a match.
NO_MATCH, STOPPED, NEEDS_ROOM, NEEDS_PATHS, UNDECIDED = -1, -2, -3, -4, -5
# In the place of the row at which the search goes on after a match.
TIMED_OUT = -3

# Events: which may lie between two events of a match, for those of its partition.
CONTIGUOUS, SKIP_NEXT_MATCH, SKIP_ANY = range(3)
# What a run remembers of an aggregate: tally, integer, its second word, float, spread.
AGGREGATE_WORDS = 5
# The tests of a run, in this order.
TAKE, BEGIN, PROCEED = range(3)
# What is written down of the matches that an event completes: nothing, all of them, how many there are, their graph.
NOTHING, ALL_MATCHES, COUNTS, GRAPHS = range(4)
# How far the search has come: counters.
(
    AT_SERIES,
    AT_ROW,  # -1 before the first row of a series
    IS_ADVANCED,  # 1 after the step of the runs, 2 after the writing of what timed out, until matches are written
    TURN,  # which of the two groups of runs is current
    RUNS,
    CELLS,
    BASE,
    FINALS,
    OPEN,  # the first row at which a match may begin that goes on at the current one
    MATCHES,
    USED,
    STEPS,
    MERGED,  # runs that were merged with others
    STAMP,  # counts the steps of all series
    HASHED,  # the last of them in which there were so many runs that they were hashed
    NODES,
    EDGES,
    TIMEOUTS,  # how many runs have timed out at the current row
    ENDED,  # of matches that do not overlap, the row at which the last one ended
    COUNTERS,
) = range(20)
# What the search for events comes back for.
FINISHED, MORE_RUNS, MORE_CELLS, MORE_MATCHES, FULL = range(5)

# What is known of partial matches from a row: nothing yet, no match, a match, or too many ways to follow.
REACHES_UNASKED, REACHES_NONE, REACHES_MATCH, REACHES_UNKNOWN = range(4)
