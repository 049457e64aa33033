"""Core memory: a block's verbs, its limit, its ledger, and what its agents are told."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
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
from tests.conftest import edit_of
from tests.support.stored import kinds, of, stored


@pytest.fixture
def in_step(agent: Agent) -> Editor:
    """The agent, in a step of its own."""
    run = Run.objects.create(**of(agent), key="k", text="Hello", status=Run.Status.RUNNING)
    return Editor.agent(Step.objects.create(run=run, number=1, model="m", endpoint="e"), "call-1")


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
    edit = edit_of(human.append("x", by=Editor.person(bob)))
    bob.delete()
    edit.refresh_from_db()
    assert (edit.user, edit.editor_name) == (None, "bob")


def test_a_version_is_written_once(human: Block, by: Editor) -> None:
    edit = edit_of(human.append("x", by=by))
    with pytest.raises(IntegrityError), transaction.atomic():
        BlockEdit.objects.create(block=human, version=edit.version, editor_kind="x")


# -- who is told -----------------------------------------------------------------------------------


def test_an_edit_is_in_the_log_of_every_agent_that_holds_the_block(
    human: Block, by: Editor, agent: Agent, alice: User
) -> None:
    others = [Agent.objects.create(owner=alice, name=f"Agent {n}") for n in range(3)]
    for other in others[:2]:
        other.attach(human)
    edit = edit_of(human.append("Likes pie", by=by))
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
