"""One block in several agents, also of several people; no edit is ever lost."""

from __future__ import annotations

import os

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from agents.memory.classes import BasicBlockMemory
from agents.models import Agent, Block, BlockEdit, BlockShare, Editor, MemoryRefusal, Run, Step
from tests.support.stored import of
from tests.support.threads import at_once


@pytest.fixture
def block(agent: Agent) -> Block:
    """A block of Alice's agent."""
    found = agent.block("human")
    assert found is not None
    return found


@pytest.fixture
def other(bob: User) -> Agent:
    """Bob's agent, without blocks."""
    return Agent.create(bob, "Bob's", BasicBlockMemory())


def in_step(agent: Agent) -> Editor:
    run = Run.objects.create(**of(agent), key="k", text="Hello", status=Run.Status.RUNNING)
    return Editor.agent(Step.objects.create(run=run, number=1, model="m", endpoint="e"), "call")


def test_a_block_is_usable_by_its_owner_and_those_it_was_given_to(
    block: Block, alice: User, bob: User
) -> None:
    assert block in Block.objects.usable_by(alice)
    assert block not in Block.objects.usable_by(bob)
    share = BlockShare.share(block, bob, can_write=False)
    assert block in Block.objects.usable_by(bob)
    share.stop()
    assert block not in Block.objects.usable_by(bob)
    with pytest.raises(ValidationError):
        BlockShare.share(block, alice, can_write=True)


def test_who_was_given_a_block_to_read_cannot_write_it(
    block: Block, bob: User, other: Agent
) -> None:
    BlockShare.share(block, bob, can_write=False)
    other.attach(block)
    for by in (Editor.person(bob), Editor.person(bob, Editor.API), in_step(other)):
        with pytest.raises(MemoryRefusal, match="alice's and was shared to be read only"):
            block.append("x", by=by)
    BlockShare.share(block, bob, can_write=True)
    assert block.append("From Bob", by=Editor.person(bob))


def test_a_change_is_told_to_every_agent_that_holds_the_block(
    block: Block, agent: Agent, bob: User, other: Agent
) -> None:
    BlockShare.share(block, bob, can_write=True)
    other.attach(block)
    edit = block.append("From Bob", by=Editor.person(bob))
    assert edit is not None
    for holder in (agent, other):
        event = holder.events.latest("seq")
        assert (event.kind, event.data["edit"]) == ("block_edited", edit.pk)
    assert "From Bob" in str([b.value for b in agent.core_memory()])


def test_a_block_taken_back_leaves_the_other_persons_agents(
    block: Block, agent: Agent, bob: User, other: Agent
) -> None:
    share = BlockShare.share(block, bob, can_write=True)
    other.attach(block)
    share.stop()
    assert other.core_memory() == []
    assert block in agent.core_memory()


def test_deleting_an_agent_leaves_blocks_that_others_hold(
    block: Block, agent: Agent, alice: User
) -> None:
    second = Agent.create(alice, "Second", BasicBlockMemory())
    second.attach(block)
    agent.purge()
    assert second.core_memory() == [block]


@pytest.mark.django_db(transaction=True)
def test_the_other_holders_are_told_when_an_agent_is_deleted_and_comes_back(
    block: Block, agent: Agent, bob: User, other: Agent
) -> None:
    BlockShare.share(block, bob, can_write=True)
    other.attach(block)
    for change in (agent.trash, agent.restore, agent.purge):
        seen = other.events.latest("seq").seq
        change()
        assert [event.kind for event in other.events.after(seen)] == ["memory_changed"]


EDITS = int(os.environ.get("MEMORYWEB_TEST_EDITS", "400"))


@pytest.mark.django_db(transaction=True)
def test_of_many_edits_at_the_same_time_none_is_lost(agent: Agent, alice: User, bob: User) -> None:
    """Two people and two agents append lines and take earlier ones out, all at once."""
    block = agent.block("human")
    assert block is not None
    Block.objects.filter(pk=block.pk).update(value="", limit=50_000)
    BlockShare.share(block, bob, can_write=True)
    second = Agent.create(bob, "Second", BasicBlockMemory())
    second.attach(block)
    writers = [Editor.person(alice), Editor.person(bob), in_step(agent), in_step(second)]
    each = EDITS // 8  # an append and a replace

    def write(number: int) -> None:
        for turn in range(each):
            mine = Block.objects.get(pk=block.pk)
            assert mine.append(f"{number}:{turn};", by=writers[number])
            assert mine.replace(f"{number}:{turn};", f"{number}+", by=writers[number])

    at_once(write, range(4))
    block.refresh_from_db()
    assert sorted(block.value.split("\n")) == sorted(f"{n}+" for n in range(4) for _ in range(each))
    versions, after = [], ""
    for edit in BlockEdit.objects.filter(block=block).order_by("version").iterator():
        assert edit.before == after
        after = edit.after
        versions.append(edit.version)
    assert versions == list(range(1, 8 * each + 1))
    assert after == block.value
    for holder in (agent, second):
        seqs = list(holder.events.filter(kind="block_edited").values_list("seq", flat=True))
        assert len(seqs) == len(set(seqs)) == len(versions)


def test_a_replace_whose_text_is_gone_says_so(block: Block, alice: User, agent: Agent) -> None:
    seen = Block.objects.get(pk=block.pk)
    block.set_value("Name: Rob", by=in_step(agent))
    with pytest.raises(MemoryRefusal, match="does not occur in block 'human'; its value is now"):
        seen.replace("Name: Bob", "Name: Bobby", by=Editor.person(alice))
