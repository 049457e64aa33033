"""Who holds a block: given, attached, detached, deleted; and what others may not."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.test import Client

from agents.accounts import owner
from agents.memory.classes import BasicBlockMemory
from agents.models import Agent, Block, BlockShare, Editor, Event, MemoryRefusal
from tests.support.addresses import everything
from tests.support.pages import at, shown

# -- giving ----------------------------------------------------------------------------------------


def give(client: Client, block: Block, to: str, access: str = "read") -> Any:
    return client.post(at("share_add", block), {"name": to, "access": access})


def test_a_block_is_given_changed_and_taken_back(
    web: Client, bobs_web: Client, team: Block, bob: User, bobs: Agent
) -> None:
    assert bobs_web.get(at("block", team)).status_code == 404
    assert give(web, team, "bob").headers["Location"] == at("block", team)
    assert "bob can read Allow writing" in shown(web.get(at("block", team)))
    assert "team from alice, read-only" in shown(bobs_web.get(at("blocks")))
    give(web, team, "bob", "write")
    share = team.shares.get()
    assert share.can_write
    assert "bob can read and write Make read-only" in shown(web.get(at("block", team)))
    bobs.attach(team)
    web.post(at("share_stop", team, share))
    assert not team.shares.exists()
    assert bobs.core_memory() == []
    assert "team" not in shown(bobs_web.get(at("blocks")))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nobody", "There is no user and no group 'nobody'."),
        ("<b>", "There is no user and no group '<b>'."),
        ("alice", "This is yours already; share it with somebody else."),
        ("owner", "There is no user and no group 'owner'."),
        ("left", "There is no user and no group 'left'."),
        ("", "This field is required."),
        ("a\0b", "Null characters are not allowed."),
    ],
)
def test_a_block_is_not_given_to_nobody_or_oneself(
    name: str, words: str, web: Client, team: Block
) -> None:
    owner()
    User.objects.create_user("left", is_active=False)
    assert words in shown(give(web, team, name), 422)
    assert not BlockShare.objects.exists()


def test_in_a_single_user_server_there_is_nobody_to_give_to(settings: Any, db: None) -> None:
    settings.ACCOUNTS = False
    block = Block.objects.create(owner=owner(), label="team")
    User.objects.create_user("bob")
    client = Client()
    assert "People" not in shown(client.get(at("block", block)))
    assert give(client, block, "bob").status_code == 404
    assert not BlockShare.objects.exists()


def test_who_was_given_a_block_does_not_give_it_on(
    bobs_web: Client, team: Block, bob: User, alice: User
) -> None:
    User.objects.create_user("carol")
    mine = Block.objects.create(owner=bob, label="mine")
    share = BlockShare.share(team, bob, can_write=True)
    assert "carol" not in shown(bobs_web.get(at("block", team)))
    before = everything()
    assert give(bobs_web, team, "carol").status_code == 403
    for block, status in ((team, 403), (mine, 404)):
        assert bobs_web.post(at("share_stop", block, share)).status_code == status
    assert bobs_web.post(at("block_delete", team), {"sure": "1"}).status_code == 403
    assert everything() == before


def test_who_may_only_read_can_only_read(
    bobs_web: Client, team: Block, bob: User, bobs: Agent, alice: User
) -> None:
    edit = team.append("in Riga", by=Editor.person(alice))
    BlockShare.share(team, bob, can_write=False)
    bobs.attach(team)
    page = bobs_web.get(at("block", team)).content.decode()
    assert "Ten people" in page
    assert f'"{at("block_value", team)}"' not in page
    panel = bobs_web.get(at("agent", bobs)).content.decode()
    assert "from alice, read-only" in panel
    drawn = panel.partition(f'id="block-{team.pk}-view"')[2].partition('class="block"')[0]
    assert "Ten people" in drawn
    assert ">Edit<" not in drawn
    assert ">Undo<" not in drawn
    refused = "Block 'team' is alice's and was shared to be read only"
    form = {"value": "Mine", "version": "1"}
    assert refused in shown(bobs_web.post(at("block_value", team), form), 422)
    assert refused in shown(bobs_web.post(at("block_edit", bobs, team), form), 422)
    stale = {"value": "Mine", "version": "0"}
    assert refused in shown(bobs_web.post(at("block_edit", bobs, team), stale), 422)
    assert refused in shown(bobs_web.post(at("block_undo", bobs, edit)), 409)
    assert refused in shown(bobs_web.post(at("block_version_restore", team, 0)), 409)
    team.refresh_from_db()
    assert (team.value, team.version) == ("Ten people\nin Riga", 1)


def of_block(block: Block) -> list[str]:
    names = ("block", "block_value", "block_configure", "block_history", "block_delete")
    addresses = [at(name, block) for name in (*names, "share_add")]
    return [*addresses, at("block_version_restore", block, 0), at("share_stop", block, 1)]


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_block_that_was_never_given_is_like_one_that_never_was(
    method: str, bobs_web: Client, human: Block, bob: User, bobs: Agent, alice: User
) -> None:
    BlockShare.share(human, User.objects.create_user("carol"), can_write=True)
    form = {"value": "Mine", "version": "0", "name": "bob", "access": "write", "sure": "1"}
    before = everything()
    for address in of_block(human):
        response = getattr(bobs_web, method)(address, form)
        assert response.status_code in (404, 405), address
        assert "Name: Bob" not in response.content.decode()
    assert bobs_web.post(at("block_attach", bobs), {"block": human.pk}).status_code == 404
    assert "human" not in shown(bobs_web.get(at("block_attach", bobs)))
    assert everything() == before


def test_who_lost_a_block_can_no_longer_reach_it(
    bobs_web: Client, human: Block, bob: User, bobs: Agent
) -> None:
    share = BlockShare.share(human, bob, can_write=True)
    bobs.attach(human)
    edit = human.append("By Bob", by=Editor.person(bob))
    share.stop()
    before = everything()
    form = {"value": "Mine", "version": "1", "block": human.pk}
    below = [at(n, bobs, human) for n in ("block_edit", "block_settings", "block_detach")]
    below += [at("block_undo", bobs, edit), at("block_attach", bobs)]
    for address in [*of_block(human), *below]:
        assert bobs_web.post(address, form).status_code in (404, 405), address
    assert bobs_web.get(at("block_blame", bobs, human)).status_code == 404
    assert "By Bob" not in bobs_web.get(at("agent", bobs)).content.decode()
    with pytest.raises(MemoryRefusal):
        Block.objects.get(pk=human.pk).append("Mine", by=Editor.person(bob))
    assert everything() == before


# -- attaching and detaching -----------------------------------------------------------------------


def test_a_block_is_attached_in_the_panel(
    web: Client, agent: Agent, team: Block, human: Block
) -> None:
    form = web.get(at("block_attach", agent)).content.decode()
    assert str(team.pk) in form
    assert str(human.pk) not in form  # it holds that already
    assert web.post(at("block_attach", agent), {"block": team.pk}).status_code == 200
    assert [block.label for block in agent.core_memory()] == ["persona", "human", "team"]
    assert agent.events.latest("seq").kind == Event.Kind.MEMORY_CHANGED
    assert web.post(at("block_attach", agent), {"block": team.pk}).status_code == 200
    assert agent.attachments.count() == 3
    assert "There are no other blocks to attach" in shown(web.get(at("block_attach", agent)))


def test_a_label_that_is_taken_is_said(web: Client, agent: Agent, alice: User) -> None:
    other = Block.objects.create(owner=alice, label="human", value="Name: Eve")
    form = web.get(at("block_attach", agent))
    assert "1 cannot be attached: Tutor already has a block with that label human" in shown(form)
    assert re.search(f'value="{other.pk}"[^>]* disabled', form.content.decode())
    page = shown(web.post(at("block_attach", agent), {"block": other.pk}), 422)
    assert "This agent already has a block 'human'." in page
    assert agent.attachments.count() == 2


@pytest.mark.parametrize("sent", ["", "x", "²", str(UUID(int=7))])
def test_what_is_no_block_is_not_attached(sent: str, web: Client, agent: Agent) -> None:
    assert web.post(at("block_attach", agent), {"block": sent}).status_code == 404


def test_a_given_block_is_attached_with_its_owners_name(
    bobs_web: Client, bob: User, bobs: Agent, human: Block
) -> None:
    BlockShare.share(human, bob, can_write=False)
    assert "human from alice, read-only Name: Bob" in shown(bobs_web.get(at("block_attach", bobs)))
    bobs_web.post(at("block_attach", bobs), {"block": human.pk})
    assert bobs.core_memory() == [human]


def test_nobody_attaches_a_block_to_anothers_agent(
    bobs_web: Client, agent: Agent, bob: User
) -> None:
    block = Block.objects.create(owner=bob, label="mine")
    assert bobs_web.post(at("block_attach", agent), {"block": block.pk}).status_code == 404
    assert not block.agents.exists()


def test_a_detached_block_stays_among_the_blocks(web: Client, agent: Agent, human: Block) -> None:
    form = web.get(at("block_settings", agent, human)).content.decode()
    assert "Detach" in form
    assert "It stays in “Blocks”" in form
    web.post(at("block_detach", agent, human))
    assert "human" not in [block.label for block in agent.core_memory()]
    assert "human 9 / 2,000" in shown(web.get(at("blocks")))


def test_the_panel_says_who_else_has_a_block(
    web: Client, bobs_web: Client, agent: Agent, human: Block, alice: User, bob: User, bobs: Agent
) -> None:
    assert "shared with" not in shown(web.get(at("agent", agent)))
    second = Agent.create(alice, "Second", BasicBlockMemory())
    second.attach(human)
    assert "shared with 1 agent" in shown(web.get(at("agent", agent)))
    BlockShare.share(human, bob, can_write=True)
    bobs.attach(human)
    panel = web.get(at("agent", agent))
    assert "shared with 2 agents and 1 person" in shown(panel)
    assert f'href="{at("block", human)}"' in panel.content.decode()
    own = shown(web.get(at("block", human)))
    assert "Attached to Second · Tutor and 1 agent of other people" in own
    page = shown(bobs_web.get(at("agent", bobs)))
    assert "from alice" in page
    assert "read-only" not in page
    assert "shared with" not in page  # what Alice has is not Bob's business


def test_every_holder_is_told_when_another_agent_takes_or_lets_go(
    agent: Agent, human: Block, alice: User
) -> None:
    second = Agent.create(alice, "Second", BasicBlockMemory())
    for verb in (second.attach, second.detach):
        seq = agent.events.latest("seq").seq
        verb(human)
        assert [e.kind for e in agent.events.filter(seq__gt=seq)] == ["memory_changed"]


# -- deleting --------------------------------------------------------------------------------------


def test_a_block_is_deleted_when_asked_twice(
    web: Client, bobs_web: Client, team: Block, bob: User, alice: User
) -> None:
    team.append("in Riga", by=Editor.person(alice))
    BlockShare.share(team, bob, can_write=True)
    asked = shown(web.get(at("block_delete", team)))
    assert "its value of 18 characters and its history of 1 change." in asked
    assert "The people you share it with will lose it too: bob" in asked
    again = shown(web.post(at("block_delete", team)), 422)
    assert "Nothing was deleted" in again
    assert Block.objects.filter(pk=team.pk).exists()
    response = web.post(at("block_delete", team), {"sure": "1"})
    assert response.headers["Location"] == at("blocks")
    assert not Block.objects.filter(pk=team.pk).exists()
    assert not BlockShare.objects.exists()
    assert "team" not in shown(bobs_web.get(at("blocks")))


def test_a_block_that_agents_hold_is_not_deleted(
    web: Client, agent: Agent, human: Block, bob: User, bobs: Agent, alice: User
) -> None:
    BlockShare.share(human, bob, can_write=True)
    bobs.attach(human)
    gone = Agent.create(alice, "Old", BasicBlockMemory())
    gone.attach(human)
    gone.trash()
    before = everything()
    for page in (
        shown(web.get(at("block_delete", human))),
        shown(web.post(at("block_delete", human), {"sure": "1"}), 409),
    ):
        assert "The block was not deleted, because it is attached to agents." in page
        assert "Tutor" in page
        assert "Old, one of the deleted agents" in page
        assert "an agent of bob: stop sharing the block with bob" in page
        assert "Planner" not in page
    assert everything() == before


def test_the_end_of_an_agent_takes_no_block_that_somebody_else_has(
    agent: Agent, human: Block, bob: User, bobs: Agent
) -> None:
    BlockShare.share(human, bob, can_write=True)
    bobs.attach(human)
    agent.detach(human)
    bobs.purge()  # the last agent that holds it, but not its owner's
    assert Block.objects.filter(pk=human.pk).exists()
    agent.attach(human)
    agent.purge()  # its owner's, but Bob was given it
    assert Block.objects.filter(pk=human.pk).exists()
