"""Turns: how many pages of one person this process draws at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Lock
from weakref import WeakValueDictionary

from django.db import connection
from django.utils.translation import gettext

from agents.models.limits import LimitReached

AT_ONCE = 6  # as many as a browser asks for at once
WAITING = 50
SECONDS = 20.0  # that a page waits for its turn


class _Line:
    """The pages of one person: how many are drawn, and how many wait."""

    def __init__(self) -> None:
        self.drawn = self.waiting = 0
        self.moved = Condition()


_lines: WeakValueDictionary[int, _Line] = WeakValueDictionary()
_lock = Lock()


@contextmanager
def turn_of(person: int) -> Iterator[None]:
    """Draw a page when it is its turn; LimitReached if that does not come."""
    with _lock:
        line = _lines.setdefault(person, _Line())
    with line.moved:
        if line.drawn >= AT_ONCE:
            _wait(line)
        line.drawn += 1
    try:
        yield
    finally:
        with line.moved:
            line.drawn -= 1
            line.moved.notify()


def _wait(line: _Line) -> None:
    """Wait for a turn, without keeping a database connection from others meanwhile."""
    words = gettext("You are loading many pages at once; wait a few seconds, then try again.")
    if line.waiting >= WAITING:
        raise LimitReached(words, seconds=5)
    if connection.vendor != "sqlite" and not connection.in_atomic_block:
        connection.close()
    line.waiting += 1
    try:
        if not line.moved.wait_for(lambda: line.drawn < AT_ONCE, SECONDS):
            raise LimitReached(words, seconds=5)
    finally:
        line.waiting -= 1
