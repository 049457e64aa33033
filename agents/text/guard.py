"""What a value may not say: the marks by which a compiled text is read.

A guard changes as little as it can and in a way that can be taken back: the `<` of what reads like
one of its tags becomes `&lt;`, a line that reads like one of its headings gets a `\\` before it.
Every other `<`, tag or line stays as it is, because an agent copies from what it sees when it
edits a block. Where a text already holds the changed spelling, that is marked once more
(`&amp;lt;`, `\\\\`), so that `taken_back` always gives what was there.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

# what a reader skips between `<` and a name: white space, and characters that are not seen
GAP = r"[\s\u00ad\u200b-\u200f\u2060-\u2064\ufeff]*+"
COUNTED = r"[^<>\"&]{1,120}?\bcharacters\s*="  # by this attribute anything reads as a block
BREAKS = r"(?:^|(?<=[\r\v\f\x1c-\x1e\x85\u2028\u2029]))"
NEVER = r"(?!)"


class Guard:
    """Keeps texts from opening or closing `tags`, and from showing `headings` as their lines."""

    def __init__(self, tags: Collection[str], headings: Collection[str] = ()) -> None:
        tag = rf"{GAP}(?:/{GAP})?+(?:(?:{_any(tags)})(?![\w.-])|{COUNTED})"
        line = rf"[ \t]*+(?:{'|'.join(map(_heading, headings)) or NEVER})"
        self._has_headings = bool(headings)  # without any, no line has to be looked at
        self._tag = _compiled(rf"<(?={tag})|&(?=(?:amp;)*+lt;{tag})")
        self._line = _compiled(rf"{BREAKS}(?=\\*+{line})")
        self._kept_tag = _compiled(rf"&lt;(?={tag})|&amp;(?=(?:amp;)*+lt;{tag})")
        self._kept_line = _compiled(rf"{BREAKS}\\(?=\\*+{line})")

    def over(self, text: str) -> str:
        """A text that cannot be taken for the marks."""
        text = self._tag.sub(lambda found: "&lt;" if found[0] == "<" else "&amp;", text)
        return self._line.sub(r"\\", text) if self._has_headings else text

    def taken_back(self, text: str) -> str:
        """The text that `over` was given."""
        text = self._kept_line.sub("", text) if self._has_headings else text
        return self._kept_tag.sub(lambda found: "<" if found[0] == "&lt;" else "&", text)


def _any(names: Collection[str]) -> str:
    """One of these, the longest first, whatever white space stands in it."""
    longest_first = sorted(filter(None, (name.strip() for name in names)), key=len, reverse=True)
    return "|".join(r"\s+".join(map(re.escape, name.split())) for name in longest_first) or NEVER


def _heading(line: str) -> str:
    """A heading with any numbers in it; the whole line, where it ends in a word."""
    pattern = re.sub(r"\d+", r"\\d+", r"\s+".join(map(re.escape, line.split())))
    return rf"{pattern}\s*?$" if line[-1].isalnum() else pattern


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE)


@lru_cache(maxsize=256)
def guard_of(tags: frozenset[str], headings: frozenset[str] = frozenset()) -> Guard:
    """The guard of these marks; the same blocks are compiled for every step."""
    return Guard(sorted(tags), sorted(headings))
