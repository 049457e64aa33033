"""Finished blocks: how much of a text that still grows is drawn already.

A paragraph, a list, a table or code is finished when the next one has begun, and is drawn by
itself. References and footnotes may still come: they act when the whole text is drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from cmarkgfm.cmark import Options
from django.utils.safestring import SafeString, mark_safe

from .formulas import Formulas
from .markdown import LONGEST, OPTIONS, parsed, render, without_special

PLACES = (OPTIONS & ~Options.CMARK_OPT_FOOTNOTES) | Options.CMARK_OPT_SOURCEPOS
ELEMENT = re.compile(r'<(/?)([a-z][a-z0-9]*)(?: data-sourcepos="(\d+):)?[^>]*>')
ALONE = {"br", "hr", "img", "input"}
LINE_END = re.compile(r"\r\n?|\n")
BLANK_LINE = re.compile(r"\n[ \t]*\r?\n\Z")
# after a blank line, these begin a block whatever follows: "2" could be an item of a list before
BEGINNING = re.compile(r"[^\s\d][^\r]*\Z")


class Finished(NamedTuple):
    """A block of a text: where it begins and ends, in characters, and its HTML."""

    start: int
    end: int
    html: SafeString


class SoFar(NamedTuple):
    """A text that still grows: its finished blocks, and the rest with the place where it begins."""

    html: SafeString
    start: int
    rest: str


def so_far(text: str) -> SoFar:
    """What is drawn of a text that still grows."""
    blocks = list(finished_blocks(text))
    start = blocks[-1].end if blocks else 0
    return SoFar(mark_safe("".join(block.html for block in blocks)), start, text[start:])


def finished_blocks(text: str) -> Iterator[Finished]:
    """The blocks of a text that stay as they are, whatever follows; it begins with a block."""
    for start, end in pairwise(beginnings(settled(text[:LONGEST]))):
        yield Finished(start, end, render(text[start:end]))


def settled(text: str) -> str:
    """A text without a last line that may still become anything."""
    whole = text.rfind("\n") + 1
    after_blank = BLANK_LINE.search(text[max(0, whole - 100) : whole])
    return text if after_blank and BEGINNING.match(text, whole) else text[:whole]


def beginnings(text: str) -> list[int]:
    """Where the blocks of a text begin that are in no other, in characters; the first at 0."""
    formulas = Formulas(without_special(text))
    if formulas.open_at is not None:  # its end may come, and take in what looks like blocks
        formulas = Formulas(without_special(text[: formulas.open_at]))
    lines = [0, *(found.end() for found in LINE_END.finditer(text))]
    places, depth = [0], 0
    for closes, name, line in ELEMENT.findall(parsed(formulas.text, PLACES)):
        if closes:
            depth -= 1
            continue
        if line and depth == 0:
            places.append(lines[int(line) - 1])
        depth += name not in ALONE
    return [0, *places[2:]]  # the first has the blank lines before it
