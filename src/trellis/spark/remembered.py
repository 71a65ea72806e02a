"""Answers that Spark gave, kept for as long as its session: the same question is not asked twice.

Made for statistics, which only choose between plans with the same result: nothing is wrong if they are old.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from hashlib import sha256
from typing import TypeVar, cast
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession

__all__ = ["remembered"]

_Answer = TypeVar("_Answer")

_MOST = 1024
_LOCK = threading.Lock()
_known: WeakKeyDictionary[SparkSession, dict[bytes, object]] = WeakKeyDictionary()


def remembered(spark: SparkSession, question: str, ask: Callable[[], _Answer]) -> _Answer:
    """The answer to a question of this session, by `ask` if it is new.

    Of too many answers, the one goes that was not wanted for longest.
    """
    key = sha256(question.encode()).digest()
    with _LOCK:
        answers = _known.setdefault(spark, {})
        if key in answers:
            answers[key] = answers.pop(key)
            return cast(_Answer, answers[key])
    answer = ask()
    with _LOCK:
        answers[key] = answer
        if len(answers) > _MOST:
            del answers[next(iter(answers))]
    return answer
