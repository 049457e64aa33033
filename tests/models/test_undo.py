"""Undoing edits of a block, in any order and under later ones."""

from __future__ import annotations

import random

import pytest

from agents.models import Agent, Block, Editor, MemoryRefusal
from tests.conftest import edit_of
from tests.support.stored import kinds, stored

THREE_LINES = "Name: Bob\nCity: Riga\nLikes: pie"


def test_the_newest_edit_is_taken_back_by_a_new_one(human: Block, by: Editor) -> None:
    edit = edit_of(human.append("Likes pie", by=by))
    back = edit_of(human.undo(edit, by=by))
    assert stored(human).value == "Name: Bob"
    assert (back.version, back.undoes) == (2, edit)


def test_an_undo_can_be_undone(human: Block, by: Editor) -> None:
    back = edit_of(human.undo(edit_of(human.append("Likes pie", by=by)), by=by))
    human.undo(back, by=by)
    assert stored(human).value == "Name: Bob\nLikes pie"


def test_undoing_an_older_edit_keeps_what_was_changed_elsewhere(human: Block, by: Editor) -> None:
    human.set_value(THREE_LINES, by=by)
    older = edit_of(human.replace("Bob", "Sarah", by=by))
    human.replace("pie", "cake", by=by)
    human.undo(older, by=by)
    assert stored(human).value == "Name: Bob\nCity: Riga\nLikes: cake"


def test_undoing_a_line_that_was_added_keeps_the_lines_after_it(human: Block, by: Editor) -> None:
    older = edit_of(human.append("Likes pie", by=by))
    human.set_value("Called Bob\n" + stored(human).value, by=by)
    human.undo(older, by=by)
    assert stored(human).value == "Called Bob\nName: Bob"


def test_of_two_lines_added_one_after_the_other_either_can_be_undone(
    human: Block, by: Editor
) -> None:
    first, second = (
        edit_of(human.append("Likes pie", by=by)),
        edit_of(human.append("Has a dog", by=by)),
    )
    human.undo(first, by=by)
    assert human.undo(first, by=by) is None
    assert stored(human).value == "Name: Bob\nHas a dog"
    human.undo(second, by=by)
    assert stored(human).value == "Name: Bob"


def test_the_first_line_of_a_block_can_be_undone_under_the_next(human: Block, by: Editor) -> None:
    human.set_value("", by=by)
    first = edit_of(human.append("Likes pie", by=by))
    human.append("Has a dog", by=by)
    human.undo(first, by=by)
    assert stored(human).value == "Has a dog"


def test_many_lines_added_can_be_undone_in_any_order(human: Block, by: Editor) -> None:
    human.set_value("", by=by)
    edits = {n: edit_of(human.append(f"Fact {n}", by=by)) for n in range(8)}
    left = list(edits)
    for number in random.Random(3).sample(left, 7):
        left.remove(number)
        human.undo(edits[number], by=by)
        assert stored(human).value == "\n".join(f"Fact {n}" for n in left)


def test_a_line_taken_away_comes_back_though_another_was_added_there(
    human: Block, by: Editor
) -> None:
    human.set_value(THREE_LINES, by=by)
    edit = edit_of(human.set_value("Name: Bob\nCity: Riga", by=by))
    human.append("Has a dog", by=by)
    human.undo(edit, by=by)
    assert stored(human).value == THREE_LINES + "\nHas a dog"
    assert human.undo(edit, by=by) is None


def test_undo_is_refused_where_the_same_lines_changed_since(
    human: Block, by: Editor, agent: Agent
) -> None:
    older = edit_of(human.replace("Bob", "Sarah", by=by))
    human.replace("Sarah", "Sara", by=by)
    before = kinds(agent)
    with pytest.raises(MemoryRefusal, match="Version 1 of block 'human' cannot be undone"):
        human.undo(older, by=by)
    assert stored(human).value == "Name: Sara"
    assert kinds(agent) == before


def test_an_undo_over_the_limit_is_refused(human: Block, by: Editor) -> None:
    shorter = edit_of(human.replace("Name: Bob", "Bob", by=by))
    human.configure(limit=5)
    with pytest.raises(MemoryRefusal, match="would be 9 of 5 characters"):
        human.undo(shorter, by=by)


def test_undoing_twice_changes_nothing_more(human: Block, by: Editor) -> None:
    human.set_value(THREE_LINES, by=by)
    edit = edit_of(human.replace("City: Riga\n", "", by=by))
    human.undo(edit, by=by)
    assert human.undo(edit, by=by) is None
    assert stored(human).value == THREE_LINES


def test_an_edit_undone_and_redone_can_be_undone_again(human: Block, by: Editor) -> None:
    edit = edit_of(human.append("Likes pie", by=by))
    human.undo(edit_of(human.undo(edit, by=by)), by=by)
    human.append("Has a dog", by=by)
    human.undo(edit, by=by)
    assert stored(human).value == "Name: Bob\nHas a dog"
