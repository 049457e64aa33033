"""What an edit of one line costs, in a short block and in a long one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.text import cache, similar_lines
from agents.text.diff import hunks_changed, lines_changed, words_changed
from agents.text.similar_lines import after_change, new_similar_lines
from tests.support.work import calls_of

MOST = 1_000_000  # calls; none of these makes as many
WORDS = ("pie", "cats", "Riga", "tea", "jazz", "boats", "maps")


def one_line_changed(count: int) -> tuple[str, str]:
    """A block of so many lines before and after its line in the middle changed."""
    lines = [f"- Likes {WORDS[n % 7]} and {WORDS[n // 7 % 7]} {n}" for n in range(count)]
    before = "\n".join(lines)
    lines[count // 2] = "- Likes dogs, and to walk them"
    return before, "\n".join(lines)


@pytest.mark.parametrize("function", [words_changed, lines_changed, hunks_changed])
def test_a_change_of_one_line_is_told_as_cheaply_in_a_long_block(
    function: Callable[..., Any],
) -> None:
    cache.forget_all()
    short = calls_of(function, *one_line_changed(10), most=MOST)
    assert calls_of(function, *one_line_changed(1000), most=MOST) < 1.5 * short


def test_similar_lines_are_looked_for_among_those_that_changed() -> None:
    before, after = one_line_changed(1000)
    cache.forget_all()
    whole = calls_of(similar_lines.similar_lines, before, most=MOST)
    assert calls_of(new_similar_lines, before, after, most=MOST) < whole / 2
    assert calls_of(similar_lines.similar_lines, after, most=MOST) < 50  # known by now


line = st.sampled_from(
    ["likes pie", "Likes: pie!", "lives in Riga", "born in 1971", "born in 1972", "", "# a"]
)
lines = st.lists(line, max_size=8)


@settings(deadline=None, database=None)
@given(lines, lines, lines, lines, st.integers(3, 10))
def test_what_is_known_of_lines_that_stayed_gives_what_comparing_all_gives(
    head: list[str], old: list[str], new: list[str], tail: list[str], most: int
) -> None:
    before, after = "\n".join([*head, *old, *tail]), "\n".join([*head, *new, *tail])
    with pytest.MonkeyPatch.context() as few:
        few.setattr(similar_lines, "MOST_LINES", most)
        cache.forget_all()  # another number of lines gives other results
        whole = similar_lines.similar_lines.__wrapped__
        assert after_change(whole(before), before, after, after.split("\n")) == whole(after)
