"""What a check found."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

OK, WARNING, FAILED = "ok", "warning", "failed"


class Found(NamedTuple):
    """One line: what was looked at, `state` (ok, warning, failed), what was found, what to do."""

    name: str
    state: str
    words: str
    advice: str = ""


Check = Callable[[], Found]


def ok(name: str, words: str) -> Found:
    return Found(name, OK, words)


def warning(name: str, words: str, advice: str) -> Found:
    return Found(name, WARNING, words, advice)


def failed(name: str, words: str, advice: str = "") -> Found:
    return Found(name, FAILED, words, advice)
