"""Dry runs: a tool runs in the sandbox on an agent's memory, and nothing is written."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext

from agents.models import Agent, LimitReached
from agents.models.event import snapshot
from agents.models.tool import Tool as Row
from agents.text.diff import Lines, lines_changed

from .custom import Prepared, from_row, sandbox

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LINE = re.compile(r"\(line (\d+) of its source\); nothing was changed$")
AT_ONCE = 2  # dry runs in this process; its other sandboxes are left to agents
_lock = threading.Lock()
_running: set[int] = set()  # keys of the people whose dry run goes on


@dataclass(frozen=True)
class DryRun:
    """What a call came to, and how long it took."""

    prepared: Prepared
    milliseconds: int

    @property
    def line(self) -> int:
        """The line of the source where it failed, counted from 1; 0 where that is not known."""
        match = LINE.search(self.prepared.error)
        return int(match[1]) if match else 0

    def diffs(self) -> list[tuple[str, Lines]]:
        """Each block it would change: the label, the lines it would change."""
        return [
            (change.label, lines_changed(change.before, change.after))
            for change in self.prepared.changes
        ]


def dry_run(person: User, row: Row, agent: Agent, arguments: dict[str, Any]) -> DryRun:
    """Call a tool, stored or not, as the agent would, in a transaction that can only read.

    Raises ToolError where the arguments do not fit, LimitReached where it has to wait.
    """
    tool = from_row(row)
    checked = tool.parse(json.dumps(arguments))
    with one_at_a_time(person), snapshot():
        began = time.monotonic()
        prepared = tool.prepare(agent, checked)
        return DryRun(prepared, round((time.monotonic() - began) * 1000))


@contextmanager
def one_at_a_time(person: User) -> Iterator[None]:
    """One dry run of a person at a time, so that no page can take every sandbox. None waits for a
    sandbox, as that would hold a thread that others need."""
    if sandbox.is_full(person.pk):
        words = gettext("%(reason)s Try again in a few seconds.")
        raise LimitReached(words % {"reason": sandbox.full()}, seconds=2)
    with _lock:
        if person.pk in _running:
            words = gettext(
                "A tool that you ran is still running. Wait until it ends, then try again."
            )
            raise LimitReached(words, seconds=2)
        if len(_running) >= AT_ONCE:
            words = gettext("Other people are running tools right now. Try again in a few seconds.")
            raise LimitReached(words, seconds=2)
        _running.add(person.pk)
    try:
        yield
    finally:
        with _lock:
            _running.discard(person.pk)
