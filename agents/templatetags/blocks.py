"""Template filters for blocks: a value with what changed and what repeats."""

from __future__ import annotations

from typing import NamedTuple

from django import template
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from agents.models import Block
from agents.text.diff import Piece, words_changed
from agents.text.similar_lines import similar_lines
from agents.text.window import shortened, window_of, within

from .display import diff_html

register = template.Library()


class ShownValue(NamedTuple):
    """A block's value as HTML; `has_removed` where text was deleted that can be shown, `part` says
    which part of a long value it is."""

    html: SafeString
    has_removed: bool
    part: str = ""


@register.filter
def shown_value(block: Block) -> ShownValue:
    """A block's value with what changed since the run began and which lines repeat; of a long one
    a few lines."""
    pieces, part = value_pieces(block), ""
    if window := window_of(block.value, pieces):
        pieces, part = within(pieces, window), window.words(block.value)
    removed = any(piece.kind == "removed" for piece in pieces)
    return ShownValue(diff_html(shortened(pieces), gettext("Empty")), removed, part)


@register.filter
def whole_value(block: Block) -> ShownValue:
    """All of a block's value, drawn the same way."""
    pieces = value_pieces(block)
    removed = any(piece.kind == "removed" for piece in pieces)
    return ShownValue(diff_html(pieces, gettext("Empty")), removed)


def value_pieces(block: Block) -> list[Piece]:
    """A block's value in pieces: what changed since the run began and, of text, lines that repeat.

    A piece of the kind `repeat` stands at the end of such a line; its text is the number of the
    line that says the same, counted from 1.
    """
    if block.marked_from is not None:
        pieces = words_changed(block.marked_from, block.value)
    else:
        pieces = [Piece("same", block.value)] if block.value else []
    repeats = similar_lines(block.value) if block.kind == Block.Kind.TEXT else {}
    return with_repeats(pieces, repeats) if repeats else pieces


def with_repeats(pieces: list[Piece], repeats: dict[int, int]) -> list[Piece]:
    """Pieces with a mark at the end of each line of the new text that repeats an earlier one.

    `repeats`: a line → the earlier line, as indexes.
    """
    marked: list[Piece] = []
    line = 0
    for piece in pieces:
        if piece.kind == "removed":
            marked.append(piece)
            continue
        text, *further = piece.text.split("\n")
        for following in further:
            if line in repeats:
                marked += [Piece(piece.kind, text), Piece("repeat", str(repeats[line] + 1))]
                text = ""
            text += "\n" + following
            line += 1
        marked.append(Piece(piece.kind, text))
    if line in repeats:
        marked.append(Piece("repeat", str(repeats[line] + 1)))
    return [piece for piece in marked if piece.text]
