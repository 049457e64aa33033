"""Template filters for blocks: a value with what changed and what repeats."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString

from agents.models import Block
from agents.text.diff import Piece
from agents.text.similar_lines import similar_lines

from .display import diff_html

register = template.Library()


@register.filter
def value_html(block: Block) -> SafeString:
    """A block's value as HTML, with what its newest edit changed and which lines repeat."""
    return diff_html(value_pieces(block), "Empty")


def value_pieces(block: Block) -> list[Piece]:
    """A block's value in pieces: what its newest edit changed and, of text, lines that repeat.

    A piece of the kind `repeat` stands at the end of such a line; its text is the number of the
    line that says the same, counted from 1.
    """
    if block.newest_edit:
        pieces = block.newest_edit.pieces()
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
