"""Thoughts that a model writes into its text, told apart from its answer as they come.

Servers without a parser for a model's reasoning send it as text: `<think>…</think>` before the
answer, in pieces of any length, at times never closed, at times without the opening tag, which was
in the prompt.
"""

from __future__ import annotations

import re
from typing import NamedTuple

TAGS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "[THINK]": "[/THINK]",
}
# Not where it is quoted, as in "the tag `</think>`".
UNOPENED = re.compile(r"(?<![`'\"])</think>(?![`'\"])")


class Delta(NamedTuple):
    """A piece of a message: text for the person, or the model's reasoning."""

    field: str  # "content" or "reasoning"
    text: str


class ThoughtSplitter:
    """Splits text, as it comes, into thought and answer."""

    def __init__(self) -> None:
        self.held = ""  # what may be the beginning of a tag
        self.closing = ""  # the tag that ends the thought at hand
        self.answering = False

    def take(self, text: str) -> list[Delta]:
        """The pieces that are certain by now."""
        deltas: list[Delta] = []
        self.held += text
        while self.held and not self.answering:
            if not (self._think(deltas) if self.closing else self._begin()):
                return deltas
        if self.held:
            deltas.append(Delta("content", self.held))
            self.held = ""
        return deltas

    def end(self) -> list[Delta]:
        """What is still held, as nothing more comes."""
        held, self.held = self.held, ""
        if self.closing:
            return [Delta("reasoning", held)] if held else []
        return [Delta("content", held)] if held.strip() else []

    def _begin(self) -> bool:
        """Look whether a thought begins here; False where more text must come first."""
        start = self.held.lstrip()
        for opening, closing in TAGS.items():
            if start.startswith(opening):
                self.closing, self.held = closing, start[len(opening) :]
                return True
        if not start or any(opening.startswith(start) for opening in TAGS):
            return False
        self.answering = True
        return True

    def _think(self, deltas: list[Delta]) -> bool:
        """Go on with a thought; True where it ends here."""
        thought, closed, rest = self.held.partition(self.closing)
        if closed:
            self.closing, self.held = "", rest.lstrip()
        else:
            kept = _overlap(self.held, self.closing)
            thought, self.held = self.held[: len(self.held) - kept], self.held[-kept:] * bool(kept)
        if thought:
            deltas.append(Delta("reasoning", thought))
        return bool(closed)


def _overlap(text: str, tag: str) -> int:
    """How many characters at the end of a text may begin the tag."""
    longest = min(len(text), len(tag) - 1)
    return next((size for size in range(longest, 0, -1) if text.endswith(tag[:size])), 0)


def split_unopened(content: str) -> tuple[str, str]:
    """The thought and the answer in a whole text whose thought was opened in the prompt."""
    if closing := UNOPENED.search(content):
        return content[: closing.start()].strip(), content[closing.end() :].lstrip()
    return "", content
