"""Differences of texts: read well, told in bounded work, whatever the texts are."""

from __future__ import annotations

import random
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.ledger.blame import blame
from agents.models import Agent, Block, BlockEdit, Editor
from agents.text import cache, diff
from agents.text.diff import (
    LONGEST_LINE,
    ROOM_OF_LINE,
    ROOM_SHOWN,
    Piece,
    Work,
    changes,
    hunks_changed,
    lines_changed,
    words_changed,
)
from agents.text.merge import merged, without
from agents.text.similar_lines import similar_lines
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.work import calls_of

THREE_LINES = "Name: Bob\nCity: Riga\nLikes: pie"

chance = random.Random(7)
REPEATING = {
    "one line again and again": ("a\n" * 3000, "a\n" * 2998 + "b\na"),
    "two lines by turns": ("a\nb\n" * 1500, "b\na\n" * 1500),
    "two words by chance": (" ".join(chance.choices("ab", k=3000)), "b " * 3000),
    "lines in another order": (
        "\n".join(map(str, range(1500))),
        "\n".join(map(str, chance.sample(range(1500), 1500))),
    ),
    "backwards": ("\n".join(map(str, range(1500))), "\n".join(map(str, range(1500, 0, -1)))),
    "marks": ("".join(chance.choices("!?.,", k=6000)), "".join(chance.choices("!?.,", k=6000))),
    "many small changes": (
        "\n".join(f"{n}\n{' '.join(chance.choices('ab', k=9))}" for n in range(300)),
        "\n".join(f"{n}\n{' '.join(chance.choices('ab', k=9))}" for n in range(300)),
    ),
}
REPEATING["two lines by chance"] = (
    "\n".join(chance.choices("ab", k=3000)),
    "\n".join(chance.choices("ab", k=3000)),
)
MOST_CALLS = 900_000  # comparing 3,000 equal lines each with each is 9,000,000


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    cache.forget_all()


def rebuilt(pieces: list[Piece], but_for: str) -> str:
    return "".join(piece.text for piece in pieces if piece.kind != but_for)


@pytest.mark.parametrize("name", REPEATING)
def test_texts_that_repeat_themselves_are_compared_in_bounded_work(name: str) -> None:
    before, after = REPEATING[name]
    for function in (words_changed, lines_changed, hunks_changed):
        calls_of(function, before, after, most=MOST_CALLS)
    calls_of(merged, before, after, after[::-1], most=MOST_CALLS)
    calls_of(without, before, after, f"{after}\nmore", most=MOST_CALLS)
    pieces = words_changed(before, after)
    assert (rebuilt(pieces, "added"), rebuilt(pieces, "removed")) == (before, after)


def test_lines_that_are_nearly_alike_are_found_in_bounded_work() -> None:
    lines = ["".join(chance.choices("ab ", k=500)) for _ in range(300)]
    calls_of(similar_lines, "\n".join(lines), most=MOST_CALLS)


@settings(deadline=None, database=None)
@given(st.text("ab\n .", max_size=300), st.text("ab\n .", max_size=300), st.integers(0, 2000))
def test_a_difference_gives_both_texts_however_little_work_is_left(
    before: str, after: str, steps: int
) -> None:
    old, new = diff.WORDS.findall(before), diff.WORDS.findall(after)
    found = changes(old, new, Work(steps))
    end = (0, 0)
    for a, b, c, d in found:
        assert old[end[0] : a] == new[end[1] : c]
        assert old[a:b] or new[c:d]
        end = (b, d)
    assert old[end[0] :] == new[end[1] :]
    assert rebuilt(words_changed(before, after), "removed") == after


@settings(deadline=None, database=None)
@given(*[st.lists(st.sampled_from("abc"), max_size=9).map("\n".join)] * 3)
def test_a_change_is_taken_out_so_that_it_could_be_made_again(
    before: str, after: str, now: str
) -> None:
    assert without(before, after, after) == before
    left = without(before, before, now)
    assert left == now
    merge, _ = merged(before, after, now)
    assert set(after.split("\n")) - {*before.split("\n"), ""} <= set(merge.split("\n"))


def test_words_far_apart_in_a_long_text_are_told_apart() -> None:
    lines = [f"Fact {n} is that {n * n} is its square." for n in range(3000)]
    before = "\n".join(lines)
    after = before.replace("Fact 7 is", "Fact 7 was").replace("Fact 2990 is", "Fact 2990 was")
    told = [piece for piece in words_changed(before, after) if piece.kind != "same"]
    assert told == [Piece("removed", "is"), Piece("added", "was")] * 2


def test_a_long_change_shows_its_first_lines_and_says_how_many_follow() -> None:
    told = lines_changed("", "\n".join(f"line {n}" for n in range(1000)))
    assert told.added == 1000 == len(told.shown) + told.left_out
    assert 90 < len(told.shown) <= ROOM_SHOWN / ROOM_OF_LINE
    both = {piece.kind for piece in lines_changed("a\n" * 3000, "b\n" * 3000).shown}
    assert both == {"removed", "added"}
    (line,) = lines_changed("", "x" * 5000).shown
    assert line.text == "x" * LONGEST_LINE + " … and 3,000 more characters"


def test_what_was_compared_is_not_compared_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = lines_changed("a\nb", "a\nc")
    monkeypatch.setattr(diff, "changes", None)
    assert lines_changed("a\nb", "a\nc") == first
    with pytest.raises(TypeError):
        lines_changed("a\nb", "a\nd")


def test_no_more_is_kept_than_there_is_room_for() -> None:
    for n in range(40):
        words_changed(f"{n}", "x" * 2_000_000)
    assert 0 < cache._kept.currsize <= cache.MOST_KEPT


def test_blame_of_a_block_that_repeats_itself_is_bounded(human: Block, by: Editor) -> None:
    human.configure(limit=100_000)
    rows = []
    for version in range(1, 200):
        before, after = "a\nb\n" * (300 - version % 7), "b\na\n" * (300 - (version + 1) % 7)
        edit = BlockEdit(block=human, version=version, first_value=before, after=after)
        edit.editor_kind = edit.editor_name = "person"
        rows.append(edit)
    BlockEdit.objects.bulk_create(rows)
    Block.objects.filter(pk=human.pk).update(version=199, value=rows[-1].after)
    human.refresh_from_db()
    calls_of(blame, human, most=12_000_000)


# -- in the page -----------------------------------------------------------------------------------


@pytest.fixture
def busy(agent: Agent, human: Block, model: FakeOpenAI, ask: Ask) -> Agent:
    """An agent whose model wrote 3,000 lines into a block, twice."""
    human.configure(limit=100_000)
    one, other = ("\n".join(chance.choices("ab", k=3000)) for _ in range(2))
    arguments: list[Any] = [{"label": "human", "new_memory": value} for value in (one, other)]
    model.script(calls(*(("memory_rethink", each) for each in arguments)), text("Done."))
    agent.configure(tools=[*agent.tools, "memory_rethink"])
    ask("Write a lot")
    return agent


def test_a_page_with_long_edits_says_what_it_leaves_out_and_is_drawn_once(
    busy: Agent, web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    html = web.get(reverse("agent", args=[busy.pk])).content.decode()
    assert " ".join(html.split()).count("not shown here. The history shows the full values.") == 2
    for kind in ("added", "removed"):
        assert 90 < html.count(f'<div class="{kind}">') <= 2 * ROOM_SHOWN / ROOM_OF_LINE
    for name in ("changes", "words_compared"):
        monkeypatch.setattr(diff, name, None)
    assert web.get(reverse("agent", args=[busy.pk])).status_code == 200


# -- words and lines -------------------------------------------------------------------------------


def test_words_are_shown_as_added_and_removed() -> None:
    assert words_changed("Name: Bob", "Name: Sarah") == [
        Piece("same", "Name: "),
        Piece("removed", "Bob"),
        Piece("added", "Sarah"),
    ]


def test_a_difference_joins_back_to_both_texts() -> None:
    chance = random.Random(1)
    words = ["Bob", "likes", "pie", " ", "\n", "😀", ".", "<b>", "é", "\u0301", "_", "\t", "语"]
    for _ in range(300):
        before, after = ("".join(chance.choices(words, k=chance.randrange(20))) for _ in range(2))
        pieces = words_changed(before, after)
        assert "".join(p.text for p in pieces if p.kind != "removed") == after
        assert "".join(p.text for p in pieces if p.kind != "added") == before
        assert all(p.text for p in pieces)


def test_lines_that_did_not_change_are_left_out() -> None:
    changed = lines_changed(THREE_LINES, THREE_LINES.replace("Riga", "Oslo"))
    assert changed.shown == [Piece("removed", "City: Riga"), Piece("added", "City: Oslo")]
    assert (changed.added, changed.removed, changed.left_out) == (1, 1, 0)
