"""A block's settings, and the agents that hold it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from agents.models import Agent, Block, Editor, Event
from tests.support.stored import kinds, stored


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
