"""Core memory: a block's verbs, its limit, its ledger, and what its agents are told."""

from __future__ import annotations

import random
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from agents.models import (
    Agent,
    Block,
    BlockEdit,
    BlockShare,
    Editor,
    Event,
    MemoryRefusal,
    Run,
    Step,
)
from agents.text.diff import Piece, lines_changed, words_changed
from agents.text.merge import merged
from tests.conftest import made

THREE_LINES = "Name: Bob\nCity: Riga\nLikes: pie"


@pytest.fixture
def in_step(agent: Agent) -> Editor:
    """The agent, in a step of its own."""
    run = Run.objects.create(agent=agent, key="k", text="Hello", status=Run.Status.RUNNING)
    return Editor.agent(Step.objects.create(run=run, number=1, model="m", endpoint="e"), "call-1")


def stored(block: Block) -> Block:
    return Block.objects.get(pk=block.pk)


def kinds(agent: Agent) -> list[str]:
    return list(agent.events.order_by("seq").values_list("kind", flat=True))


# -- append, replace, set_value --------------------------------------------------------------------


def test_append_adds_a_line(human: Block, by: Editor) -> None:
    human.append("Likes pie", by=by)
    assert stored(human).value == "Name: Bob\nLikes pie"


def test_append_to_an_empty_block_begins_it(human: Block, by: Editor) -> None:
    human.set_value("", by=by)
    human.append("Likes pie", by=by)
    assert stored(human).value == "Likes pie"


def test_replace_changes_every_place(human: Block, by: Editor) -> None:
    human.set_value("Bob, or Bobby", by=by)
    human.replace("Bob", "Rob", by=by)
    assert stored(human).value == "Rob, or Robby"


def test_replace_by_nothing_takes_away(human: Block, by: Editor) -> None:
    human.replace("Name: ", "", by=by)
    assert stored(human).value == "Bob"


@pytest.mark.parametrize(
    ("old", "words"),
    [
        ("Paris", "'Paris' does not occur in block 'human'; its value is now:\nName: Bob"),
        ("name: bob", "does not occur"),
        ("", "The text to replace is empty"),
    ],
)
def test_replacing_what_is_not_there_is_refused(
    old: str, words: str, human: Block, by: Editor, agent: Agent
) -> None:
    before = kinds(agent)
    with pytest.raises(MemoryRefusal, match=words.replace("(", r"\(")):
        human.replace(old, "new", by=by)
    assert stored(human).value == "Name: Bob"
    assert kinds(agent) == before


def test_a_change_is_made_to_what_the_block_holds_now(human: Block, by: Editor) -> None:
    seen_earlier = stored(human)
    human.append("Likes pie", by=by)
    seen_earlier.append("Has a dog", by=by)
    assert stored(human).value == "Name: Bob\nLikes pie\nHas a dog"


@pytest.mark.parametrize(
    "change",
    [
        lambda block, by: block.set_value("Name: Bob", by=by),
        lambda block, by: block.replace("Bob", "Bob", by=by),
    ],
)
def test_where_nothing_changes_nothing_is_written(
    change: Any, human: Block, by: Editor, agent: Agent
) -> None:
    before = kinds(agent)
    assert change(human, by) is None
    assert (stored(human).version, human.edits.count(), kinds(agent)) == (0, 0, before)


# -- the limit -------------------------------------------------------------------------------------


@pytest.mark.parametrize("character", ["x", "é", "語", "😀", "\n"])
def test_the_limit_counts_code_points(character: str, human: Block, by: Editor) -> None:
    human.set_value(character * 2000, by=by)
    assert len(stored(human).value) == 2000
    with pytest.raises(
        MemoryRefusal,
        match=r"^block 'human' would be 2,001 of 2,000 characters; shorten it by 1 or move",
    ):
        human.set_value(character * 2001, by=by)
    assert len(stored(human).value) == 2000


def test_a_family_of_joined_emoji_is_as_long_as_its_code_points(human: Block, by: Editor) -> None:
    human.set_value("👨‍👩‍👧", by=by)
    human.configure(limit=5)
    with pytest.raises(MemoryRefusal, match="would be 7 of 5 characters; shorten it by 2"):
        human.append("x", by=by)


def test_an_append_counts_its_line_break(human: Block, by: Editor) -> None:
    human.configure(limit=20)
    human.append("x" * 10, by=by)
    assert len(stored(human).value) == 20


def test_what_is_refused_leaves_no_trace(human: Block, by: Editor, agent: Agent) -> None:
    before = kinds(agent)
    with pytest.raises(MemoryRefusal):
        human.append("x" * 2130, by=by)
    assert (stored(human).value, stored(human).version) == ("Name: Bob", 0)
    assert (human.edits.count(), kinds(agent)) == (0, before)


def test_the_database_itself_refuses_a_row_over_the_limit(human: Block) -> None:
    for values in ({"value": "😀" * 2001}, {"limit": 5}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Block.objects.filter(pk=human.pk).update(**values)
    Block.objects.filter(pk=human.pk).update(value="😀" * 2000)


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"])
def test_what_a_database_cannot_hold_is_refused(text: str, human: Block, by: Editor) -> None:
    with pytest.raises(MemoryRefusal, match="cannot hold"):
        human.append(text, by=by)
    assert stored(human).value == "Name: Bob"


# -- read-only -------------------------------------------------------------------------------------


def test_a_read_only_block_is_written_by_people_only(
    human: Block, by: Editor, in_step: Editor
) -> None:
    human.configure(read_only=True)
    for write in (
        lambda: human.append("x", by=in_step),
        lambda: human.replace("Bob", "Rob", by=in_step),
        lambda: human.set_value("x", by=in_step),
    ):
        with pytest.raises(MemoryRefusal, match="read-only"):
            write()
    human.append("By hand", by=by)
    assert stored(human).value == "Name: Bob\nBy hand"


# -- version and ledger ----------------------------------------------------------------------------


def test_each_write_is_a_version_and_a_row_of_the_ledger(
    human: Block, by: Editor, in_step: Editor, alice: User
) -> None:
    human.append("Likes pie", by=in_step)
    human.replace("Bob", "Sarah", by=by)
    human.set_value("", by=by)
    first, second, third = human.edits.order_by("version")
    assert [e.version for e in (first, second, third)] == [1, 2, 3]
    assert first.before == "Name: Bob"
    assert (first.after, second.after) == (second.before, third.before)
    assert third.after == stored(human).value == ""
    assert (first.editor_kind, first.editor_name, first.tool_call_id) == (
        "agent",
        "Tutor",
        "call-1",
    )
    assert first.step == in_step.step
    assert first.user is None
    assert (second.editor_kind, second.editor_name, second.user) == ("person", "alice", alice)


def test_a_ledger_outlives_its_editor(human: Block, bob: User) -> None:
    BlockShare.share(human, bob, can_write=True)
    edit = made(human.append("x", by=Editor.person(bob)))
    bob.delete()
    edit.refresh_from_db()
    assert (edit.user, edit.editor_name) == (None, "bob")


def test_a_version_is_written_once(human: Block, by: Editor) -> None:
    edit = made(human.append("x", by=by))
    with pytest.raises(IntegrityError), transaction.atomic():
        BlockEdit.objects.create(block=human, version=edit.version, editor_kind="x")


# -- undo ------------------------------------------------------------------------------------------


def test_the_newest_edit_is_taken_back_by_a_new_one(human: Block, by: Editor) -> None:
    edit = made(human.append("Likes pie", by=by))
    back = made(human.undo(edit, by=by))
    assert stored(human).value == "Name: Bob"
    assert (back.version, back.undoes) == (2, edit)


def test_an_undo_can_be_undone(human: Block, by: Editor) -> None:
    back = made(human.undo(made(human.append("Likes pie", by=by)), by=by))
    human.undo(back, by=by)
    assert stored(human).value == "Name: Bob\nLikes pie"


def test_undoing_an_older_edit_keeps_what_was_changed_elsewhere(human: Block, by: Editor) -> None:
    human.set_value(THREE_LINES, by=by)
    older = made(human.replace("Bob", "Sarah", by=by))
    human.replace("pie", "cake", by=by)
    human.undo(older, by=by)
    assert stored(human).value == "Name: Bob\nCity: Riga\nLikes: cake"


def test_undoing_a_line_that_was_added_keeps_the_lines_after_it(human: Block, by: Editor) -> None:
    older = made(human.append("Likes pie", by=by))
    human.set_value("Called Bob\n" + stored(human).value, by=by)
    human.undo(older, by=by)
    assert stored(human).value == "Called Bob\nName: Bob"


def test_of_two_lines_added_one_after_the_other_either_can_be_undone(
    human: Block, by: Editor
) -> None:
    first, second = made(human.append("Likes pie", by=by)), made(human.append("Has a dog", by=by))
    human.undo(first, by=by)
    assert human.undo(first, by=by) is None
    assert stored(human).value == "Name: Bob\nHas a dog"
    human.undo(second, by=by)
    assert stored(human).value == "Name: Bob"


def test_the_first_line_of_a_block_can_be_undone_under_the_next(human: Block, by: Editor) -> None:
    human.set_value("", by=by)
    first = made(human.append("Likes pie", by=by))
    human.append("Has a dog", by=by)
    human.undo(first, by=by)
    assert stored(human).value == "Has a dog"


def test_many_lines_added_can_be_undone_in_any_order(human: Block, by: Editor) -> None:
    human.set_value("", by=by)
    edits = {n: made(human.append(f"Fact {n}", by=by)) for n in range(8)}
    left = list(edits)
    for number in random.Random(3).sample(left, 7):
        left.remove(number)
        human.undo(edits[number], by=by)
        assert stored(human).value == "\n".join(f"Fact {n}" for n in left)


def test_a_line_taken_away_comes_back_though_another_was_added_there(
    human: Block, by: Editor
) -> None:
    human.set_value(THREE_LINES, by=by)
    edit = made(human.set_value("Name: Bob\nCity: Riga", by=by))
    human.append("Has a dog", by=by)
    human.undo(edit, by=by)
    assert stored(human).value == THREE_LINES + "\nHas a dog"
    assert human.undo(edit, by=by) is None


def test_undo_is_refused_where_the_same_lines_changed_since(
    human: Block, by: Editor, agent: Agent
) -> None:
    older = made(human.replace("Bob", "Sarah", by=by))
    human.replace("Sarah", "Sara", by=by)
    before = kinds(agent)
    with pytest.raises(MemoryRefusal, match="Version 1 of block 'human' cannot be undone"):
        human.undo(older, by=by)
    assert stored(human).value == "Name: Sara"
    assert kinds(agent) == before


def test_an_undo_over_the_limit_is_refused(human: Block, by: Editor) -> None:
    shorter = made(human.replace("Name: Bob", "Bob", by=by))
    human.configure(limit=5)
    with pytest.raises(MemoryRefusal, match="would be 9 of 5 characters"):
        human.undo(shorter, by=by)


def test_undoing_twice_changes_nothing_more(human: Block, by: Editor) -> None:
    human.set_value(THREE_LINES, by=by)
    edit = made(human.replace("City: Riga\n", "", by=by))
    human.undo(edit, by=by)
    assert human.undo(edit, by=by) is None
    assert stored(human).value == THREE_LINES


def test_an_edit_undone_and_redone_can_be_undone_again(human: Block, by: Editor) -> None:
    edit = made(human.append("Likes pie", by=by))
    human.undo(made(human.undo(edit, by=by)), by=by)
    human.append("Has a dog", by=by)
    human.undo(edit, by=by)
    assert stored(human).value == "Name: Bob\nHas a dog"


# -- who is told -----------------------------------------------------------------------------------


def test_an_edit_is_in_the_log_of_every_agent_that_holds_the_block(
    human: Block, by: Editor, agent: Agent, alice: User
) -> None:
    others = [Agent.objects.create(owner=alice, name=f"Agent {n}") for n in range(3)]
    for other in others[:2]:
        other.attach(human)
    edit = made(human.append("Likes pie", by=by))
    for holder in (agent, *others[:2]):
        event = holder.events.latest("seq")
        assert (event.kind, event.data) == (
            Event.Kind.BLOCK_EDITED,
            {"block": str(human.pk), "edit": edit.pk},
        )
    assert not others[2].events.exists()


def test_a_log_has_no_gap_under_many_edits(human: Block, by: Editor, agent: Agent) -> None:
    for number in range(50):
        human.set_value(f"Number {number}", by=by)
        if number % 7 == 0:
            agent.record(Event(kind=Event.Kind.ACTIVITY), Event(kind=Event.Kind.QUEUE_CHANGED))
    agent.refresh_from_db()
    seqs = list(agent.events.order_by("seq").values_list("seq", flat=True))
    assert seqs == list(range(1, agent.last_seq + 1))


def test_a_log_has_no_gap_after_a_change_that_was_given_up(
    human: Block, by: Editor, agent: Agent
) -> None:
    def change_and_give_up() -> None:
        with transaction.atomic():
            human.append("Given up", by=by)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        change_and_give_up()
    stored(human).append("Kept", by=by)
    seqs = list(agent.events.order_by("seq").values_list("seq", flat=True))
    assert seqs == list(range(1, len(seqs) + 1))
    assert stored(human).value == "Name: Bob\nKept"


# -- settings --------------------------------------------------------------------------------------


def test_settings_are_changed_and_told(human: Block, agent: Agent) -> None:
    human.configure(label="person", limit=300, description="Who they are", read_only=True)
    block = agent.block("person")
    assert block is not None
    assert (block.pk, block.limit, block.read_only) == (human.pk, 300, True)
    assert agent.block("human") is None
    assert kinds(agent)[-1] == Event.Kind.MEMORY_CHANGED
    assert not human.edits.exists()


def test_a_label_that_a_holder_already_has_is_refused(human: Block, agent: Agent) -> None:
    with pytest.raises(ValidationError, match="'Tutor' already has a block 'persona'"):
        human.configure(label="persona")
    assert stored(human).label == "human"
    assert [b.label for b in agent.core_memory()] == ["persona", "human"]


@pytest.mark.parametrize(
    "label", ["", " ", "two  spaces", "a<b", 'a"b', "a\nb", " human", "x" * 51, "a>"]
)
def test_a_label_that_would_break_the_prompt_is_refused(label: str, human: Block) -> None:
    with pytest.raises(ValidationError):
        human.configure(label=label)
    assert stored(human).label == "human"


@pytest.mark.parametrize("label", ["human", "team notes", "a/b.c-d_e", "Über", "記憶"])
def test_a_label_is_letters_digits_and_a_few_signs(label: str, human: Block) -> None:
    human.configure(label=label)
    assert stored(human).label == label


@pytest.mark.parametrize("limit", [8, 0, -1, 1_000_001])
def test_a_limit_that_cannot_be_is_refused(limit: int, human: Block) -> None:
    with pytest.raises(ValidationError):
        human.configure(limit=limit)
    assert stored(human).limit == 2000


def test_a_limit_below_what_is_there_says_by_how_much(human: Block) -> None:
    with pytest.raises(ValidationError, match="would be 9 of 8 characters; shorten it by 1"):
        human.configure(limit=8)


def test_settings_are_given_to_the_block_as_it_is_now(human: Block, by: Editor) -> None:
    seen_earlier = stored(human)
    human.append("Likes pie", by=by)
    seen_earlier.configure(limit=500)
    assert (stored(human).value, stored(human).version) == ("Name: Bob\nLikes pie", 1)


# -- holding blocks --------------------------------------------------------------------------------


def test_blocks_are_held_in_order_and_each_label_once(agent: Agent, alice: User) -> None:
    team = Block.objects.create(owner=alice, label="team")
    agent.attach(team)
    assert [b.label for b in agent.core_memory()] == ["persona", "human", "team"]
    with pytest.raises(ValidationError, match="already has a block 'team'"):
        agent.attach(Block.objects.create(owner=alice, label="team"))


def test_a_block_let_go_keeps_its_ledger(agent: Agent, human: Block, by: Editor) -> None:
    human.append("Likes pie", by=by)
    agent.detach(human)
    assert agent.block("human") is None
    assert stored(human).edits.count() == 1
    assert kinds(agent)[-1] == Event.Kind.MEMORY_CHANGED


# -- merging what two people did -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mine", "theirs", "merge"),
    [
        (THREE_LINES, THREE_LINES, THREE_LINES),
        ("Name: Sarah\nCity: Riga\nLikes: pie", THREE_LINES, "Name: Sarah\nCity: Riga\nLikes: pie"),
        (THREE_LINES, "Name: Bob\nCity: Riga", "Name: Bob\nCity: Riga"),
        (
            "Name: Sarah\nCity: Riga\nLikes: pie",
            "Name: Bob\nCity: Riga\nLikes: cake",
            "Name: Sarah\nCity: Riga\nLikes: cake",
        ),
        (
            "Name: Sarah\nCity: Riga\nLikes: pie",
            "Name: Bob\nCity: Riga\nLikes: pie\nHas a dog",
            "Name: Sarah\nCity: Riga\nLikes: pie\nHas a dog",
        ),
        (THREE_LINES + "\nSame", THREE_LINES + "\nSame", THREE_LINES + "\nSame"),
    ],
)
def test_changes_of_different_lines_are_merged(mine: str, theirs: str, merge: str) -> None:
    assert merged(THREE_LINES, mine, theirs) == (merge, False)


@pytest.mark.parametrize(
    ("base", "mine", "theirs", "merge"),
    [
        ("Bob", "Sarah", "Sara", "Sarah\nSara"),
        (THREE_LINES, f"{THREE_LINES}\nMine", f"{THREE_LINES}\nTheirs", None),
        ("", "Mine", "Theirs", "Mine\nTheirs"),
        ("Bob\n", "Sarah\n", "Sara\n", "Sarah\nSara\n"),
    ],
)
def test_changes_of_the_same_lines_are_both_kept_to_choose_from(
    base: str, mine: str, theirs: str, merge: str | None
) -> None:
    assert merged(base, mine, theirs) == (merge or f"{THREE_LINES}\nMine\nTheirs", True)


def test_a_merge_loses_no_line_that_somebody_added() -> None:
    chance = random.Random(1)
    for _ in range(300):
        base = [f"line {n}" for n in range(chance.randrange(6))]
        mine, theirs = with_changes(chance, base, "mine"), with_changes(chance, base, "theirs")
        merge, _overlaps = merged("\n".join(base), "\n".join(mine), "\n".join(theirs))
        added = {line for line in mine + theirs if line not in base}
        assert added <= set(merge.split("\n")), (base, mine, theirs)


def test_a_merge_with_nobody_is_what_one_did() -> None:
    chance = random.Random(2)
    for _ in range(100):
        base = [f"line {n}" for n in range(chance.randrange(1, 6))]
        mine = "\n".join(with_changes(chance, base, "mine"))
        unchanged = "\n".join(base)
        assert merged(unchanged, mine, unchanged) == (mine, False)
        assert merged(unchanged, unchanged, mine) == (mine, False)


def with_changes(chance: random.Random, lines: list[str], who: str) -> list[str]:
    changed: list[str] = []
    for line in lines:
        action = chance.choice(["keep", "keep", "keep", "change", "drop", "insert"])
        if action == "change":
            line = f"{line} by {who}"
        if action != "drop":
            changed.append(line)
        if action == "insert":
            changed.append(f"new by {who}")
    return changed


# -- showing what changed --------------------------------------------------------------------------


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
