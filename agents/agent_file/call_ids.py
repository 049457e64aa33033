"""Ids and names of tool calls that every endpoint accepts in a history.

OpenAI's API accepts ids of up to 40 characters and names of up to 64 letters, digits, '_' and '-';
others refuse an id that occurs twice. A file can contain anything.
"""

from __future__ import annotations

import hashlib
import re

Ids = dict[tuple[int | None, str], str]
"""A step's position and the id of a call in the file → its id here."""

ID = re.compile(r"\A[A-Za-z0-9_-]{1,40}\Z")
NAME = re.compile(r"\A[A-Za-z0-9_-]{1,64}\Z")
NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]+")


def sendable_name(name: str) -> str:
    """A tool's name as a call in the history may have it."""
    return name if NAME.match(name) else NOT_IN_A_NAME.sub("_", name)[:64] or "tool"


class CallIds:
    """Gives each call a unique id, its own if possible."""

    def __init__(self) -> None:
        self.changed: Ids = {}
        self.used: set[str] = set()
        self.numbers: dict[str, int] = {}

    def own(self, old: str, step: int | None) -> str:
        """The id of one more call."""
        new = first = (
            old if ID.match(old) else f"call_{hashlib.sha256(old.encode()).hexdigest()[:24]}"
        )
        while new in self.used:
            number = self.numbers[first] = self.numbers.get(first, 1) + 1
            new = f"{first[:30]}_{number}"
        self.used.add(new)
        if new != old:
            self.changed[step, old] = new
        return new
