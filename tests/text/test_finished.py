"""A text that grows: its finished blocks are drawn one by one, as the whole text is in the end."""

from __future__ import annotations

import random
import re

import pytest

from agents.text.finished import finished_blocks, so_far
from agents.text.markdown import LONGEST, render
from tests.support.text_shapes import SHAPES

TEXTS = [
    "Hello *you*,\n\nhere is more.\nAnd a line.\n\nEnd",
    "1. a\n\n2. b\n\n   more\n\n3. c\n\nx",
    "para\n#foo\n# bar\nx\n",
    "- a\n\n*b* c\n\n> quote\nlazy\n\n>d\n",
    "```\na\n\n- b\n\n```\nend\n\n~~~\nx\n\ny",
    "$$\n- a\n- b\n$$\n\nnext\n\n\\[\nx\n\\]\n\n- a\n- b\n\n  c\n- d\n\ne\n",
    "| a |\n|---|\n| b |\n\nx\n\n<div>\n\nhi\n</div>\n\n    code\n\n    more\n\nz",
    "a\r\n\r\nb\r\n- c\r\n\r\nd\re\r\rf\n\ng",
    "\n\n[x]: http://a\n\n[x](y)\n\n\n\n\n# T\n\n***\n\n***bold*** x\n",
    "a\n=\n\nb\n-\nc\n\n|d|\n\n😀 👨\u200d👩\u200d👧\n\nשלום\n\n\ud800\n\nz",
]


def streamed(text: str, size: int) -> list[tuple[int, int, str]]:
    """The blocks that were finished while the text came in pieces."""
    blocks: list[tuple[int, int, str]] = []
    start = 0
    for end in range(0, len(text) + size, size):
        for block in finished_blocks(text[start:end]):
            blocks.append((start + block.start, start + block.end, str(block.html)))
        start = blocks[-1][1] if blocks else 0
    return blocks


def drawn(html: str) -> str:
    return re.sub(r"\s*\n\s*", "\n", html).strip()


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("size", [1, 2, 7])
def test_the_blocks_are_the_same_however_the_text_comes_and_those_of_the_whole(
    text: str, size: int
) -> None:
    blocks = streamed(text, size)
    assert blocks
    assert blocks == [(each.start, each.end, str(each.html)) for each in finished_blocks(text)]
    shown = so_far(text)
    assert shown.rest == text[shown.start :]
    assert drawn(shown.html + render(shown.rest)) == drawn(render(text))


@pytest.mark.parametrize("name", [name for name in sorted(SHAPES) if "refer" not in name])
def test_no_block_is_taken_back_whatever_follows(name: str) -> None:
    text = f"Hello\n\n{SHAPES[name](400)}\n\n{SHAPES['blocks by chance'](200)}\n"
    cuts = sorted(random.Random(name).sample(range(len(text)), 40))
    whole = {each.start for each in finished_blocks(text)} | {so_far(text).start}
    for cut in cuts:
        assert {each.end for each in finished_blocks(text[:cut])} <= whole


def test_what_may_still_be_closed_is_not_finished() -> None:
    assert so_far("a\n\n$$\nx\n\n- y\n\nz").rest.startswith("a")
    assert so_far("a\n\nb\n\n[^1]: c\n\nd\n\ne\n").start == len("a\n\n")
    assert so_far("```\n" + "a\n\n" * 50).start == 0
    assert so_far("a\n\n" * LONGEST).start <= LONGEST
