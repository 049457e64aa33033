"""Blocks by themselves: listed, made, edited, given, attached, deleted; and what others may not."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents import memory
from agents.accounts import owner
from agents.diff import Piece
from agents.memory import BasicBlockMemory, ChatMemory, Memory
from agents.models import Agent, Block, BlockShare, Editor, Event, MemoryRefusal, Tool
from agents.templatetags.blocks import noted, with_repeats
from tests.addresses import everything


@pytest.fixture(autouse=True)
def accounts(settings: Any) -> None:
    settings.ACCOUNTS = True


def browser_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def as_alice(alice: User) -> Client:
    return browser_of(alice)


@pytest.fixture
def as_bob(bob: User) -> Client:
    return browser_of(bob)


@pytest.fixture
def human(agent: Agent) -> Block:
    """A block of Alice's agent."""
    block = agent.block("human")
    assert block is not None
    return block


@pytest.fixture
def team(alice: User) -> Block:
    """A block of Alice's that no agent holds."""
    return Block.objects.create(owner=alice, label="team", value="Ten people")


@pytest.fixture
def bobs(bob: User) -> Agent:
    """Bob's agent, without blocks."""
    return Agent.create(bob, "Planner", BasicBlockMemory())


def at(name: str, *ids: Any) -> str:
    return reverse(name, args=[getattr(each, "pk", each) for each in ids])


def shown(response: Any, status: int = 200) -> str:
    """A page's words, without tags and white space."""
    assert response.status_code == status, response.content
    text = re.sub(r"<script.*?</script>|<[^>]+>", " ", response.content.decode(), flags=re.DOTALL)
    return re.sub(r"\s+([,.;:])", r"\1", re.sub(r"\s+", " ", unescape(text)))


SETTINGS = {"label": "team", "description": "", "kind": "text", "schema": "", "limit": "2000"}


# -- the list --------------------------------------------------------------------------------------


def test_ones_own_blocks_are_listed_with_the_agents_that_hold_them(
    as_alice: Client, agent: Agent, human: Block, team: Block, alice: User
) -> None:
    Agent.create(alice, "Second", BasicBlockMemory()).attach(human)
    page = shown(as_alice.get(at("blocks")))
    assert "human 9 / 2,000 What the agent knows of the person it talks with. Name: Bob" in page
    assert "Held by Second and Tutor" in page
    assert "team 10 / 2,000 Ten people No agent holds it" in page
    assert "Given to you" not in page


def test_given_blocks_are_listed_with_their_owner_and_how_they_were_given(
    as_bob: Client, agent: Agent, human: Block, team: Block, bob: User, bobs: Agent
) -> None:
    BlockShare.give(human, bob, can_write=False)
    BlockShare.give(team, bob, can_write=True)
    bobs.attach(team)
    page = shown(as_bob.get(at("blocks")))
    assert "human alice’s, read only 9 / 2,000" in page
    assert "team alice’s 10 / 2,000" in page
    assert "None of your agents holds it" in page
    assert "Held by Planner" in page
    assert "Tutor" not in page  # whose agents Alice has is not Bob's business


def test_a_list_asks_the_same_number_of_queries_however_long_it_is(
    as_alice: Client, alice: User, django_assert_max_num_queries: Any
) -> None:
    for number in range(15):
        Agent.create(alice, f"Agent {number}", ChatMemory())
    with django_assert_max_num_queries(12):
        as_alice.get(at("blocks"))


def test_the_sidebar_leads_to_the_blocks(as_alice: Client, agent: Agent) -> None:
    assert f'href="{at("blocks")}"' in as_alice.get(at("agent", agent)).content.decode()


# -- a block by itself -----------------------------------------------------------------------------


def test_a_block_is_made_that_no_agent_holds(as_alice: Client, alice: User) -> None:
    given = SETTINGS | {"value": "Ten people\r\nin Riga", "ask_before_write": "on"}
    response = as_alice.post(at("blocks_new"), given)
    block = Block.objects.get()
    assert response.headers["Location"] == at("block", block)
    assert (block.owner, block.value, block.ask_before_write) == (
        alice,
        "Ten people\nin Riga",
        True,
    )
    assert not block.agents.exists()


def test_what_is_no_block_is_not_made_and_what_was_typed_stays(as_alice: Client) -> None:
    given = SETTINGS | {"value": "[1, 2", "kind": "list"}
    page = shown(as_alice.post(at("blocks_new"), given), 422)
    assert "The value cannot stay: it would no longer be JSON" in page
    assert "[1, 2" in page
    assert not Block.objects.exists()


def test_a_value_is_edited_and_the_page_loads_anew(
    as_alice: Client, team: Block, alice: User
) -> None:
    editor = as_alice.get(at("block_value", team)).content.decode()
    assert f'hx-post="{at("block_value", team)}"' in editor
    assert "Ten people" in editor
    response = as_alice.post(at("block_value", team), {"value": "Eleven", "version": "0"})
    assert (response.status_code, response.headers["HX-Refresh"]) == (200, "true")
    edit = team.edits.get()
    assert (edit.after, edit.editor_kind, edit.user) == ("Eleven", Editor.PERSON, alice)


def test_an_edit_of_an_older_version_shows_both(as_alice: Client, team: Block, alice: User) -> None:
    team.append("in Riga", by=Editor.person(alice))
    response = as_alice.post(at("block_value", team), {"value": "Ten cats", "version": "0"})
    page = shown(response, 409)
    assert "alice changed this block while you were typing" in page
    assert "Ten people in Riga" in page
    assert "Ten cats" in page
    assert "HX-Refresh" not in response.headers
    team.refresh_from_db()
    assert team.value == "Ten people\nin Riga"


def test_a_value_that_breaks_its_kind_is_refused_with_the_reason(
    as_alice: Client, team: Block
) -> None:
    team.set_value('["one"]', by=Editor.person(team.owner))
    team.configure(kind="list", schema={"items": {"type": "string"}})
    for value, reason in (
        ('["one"', "it would no longer be JSON"),
        ('{"a": 1}', "it would be an object, not a JSON list"),
        ("[1]", "it would not fit the block's schema: at [0], 1 is not of type 'string'"),
    ):
        page = shown(as_alice.post(at("block_value", team), {"value": value, "version": 1}), 422)
        assert reason in page
        assert value in page  # typing is kept
    team.refresh_from_db()
    assert (team.value, team.version) == ('["one"]', 1)


def test_the_history_of_a_block_restores_a_version(
    as_alice: Client, team: Block, alice: User
) -> None:
    for value in ("One", "Two", "Three"):
        team.set_value(value, by=Editor.person(alice))
    page = shown(as_alice.get(at("block_history", team)))
    assert page.index("version 3") < page.index("version 2") < page.index("version 1")
    response = as_alice.post(at("block_version_restore", team, 1))
    assert response.headers["Location"] == at("block", team)
    team.refresh_from_db()
    assert (team.value, team.version) == ("One", 4)
    assert "has no version 99" in shown(as_alice.post(at("block_version_restore", team, 99)), 409)


def test_a_long_history_goes_on(as_alice: Client, team: Block, alice: User) -> None:
    for number in range(35):
        team.set_value(f"Value {number}", by=Editor.person(alice))
    page = as_alice.get(at("block_history", team)).content.decode()
    older = re.search(r'href="(\?before=\d+)"', page)
    assert older
    rest = shown(as_alice.get(at("block_history", team) + older[1]))
    assert "version 5 " in rest
    assert "version 6 " not in rest
    assert "Older" not in rest


# -- settings --------------------------------------------------------------------------------------


def settle(client: Client, block: Block, **changes: str) -> Any:
    return client.post(at("block_configure", block), SETTINGS | changes)


def test_kind_schema_and_asking_are_set(as_alice: Client, team: Block) -> None:
    team.set_value("", by=Editor.person(team.owner))
    schema = '{"type": "array", "items": {"type": "string"}}'
    response = settle(as_alice, team, kind="list", schema=schema, ask_before_write="on")
    assert response.headers["HX-Refresh"] == "true"
    team.refresh_from_db()
    assert (team.kind, team.schema, team.ask_before_write) == ("list", json.loads(schema), True)
    assert team.value == "[]"  # an empty text is no list; the ledger tells of it
    assert team.edits.latest("version").after == "[]"
    form = as_alice.get(at("block_configure", team)).content.decode()
    assert "{\n  &quot;type&quot;: &quot;array&quot;,\n" in form


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"limit": "5"}, "Block 'team' would be 10 of 5 characters; shorten it by 5"),
        ({"kind": "list"}, "The value cannot stay: it would no longer be JSON"),
        ({"kind": "object", "schema": "{"}, "This is not JSON:"),
        ({"kind": "object", "schema": "[]"}, "A schema is a JSON object."),
        ({"kind": "object", "schema": '{"type": "no such"}'}, "This is no JSON Schema:"),
        ({"kind": "object", "schema": '{"a": NaN}'}, "NaN is no number in JSON"),
        ({"kind": "object", "schema": '{"a": 1e999}'}, "This is not JSON:"),
        ({"kind": "object", "schema": '{"\\u0000": 1}'}, "a character that cannot be stored"),
        ({"kind": "poem"}, "is not one of the available choices"),
        ({"label": ""}, "This field is required."),
    ],
)
def test_settings_that_cannot_be_are_refused_at_their_field(
    changes: dict[str, str], words: str, as_alice: Client, team: Block
) -> None:
    if "schema" in changes:
        team.set_value("{}", by=Editor.person(team.owner))
    before = everything()
    response = settle(as_alice, team, **changes)
    assert words in shown(response, 422)
    (field,) = [name for name in changes if name != "kind"] or ["kind"]
    wrong = re.search(r'<div class="field wrong">(.*?)</ul>', response.content.decode(), re.DOTALL)
    assert wrong
    assert f'name="{field}"' in wrong[1]
    assert everything() == before


def test_settings_that_say_nothing_of_the_kind_leave_it(as_alice: Client, team: Block) -> None:
    team.set_value("[]", by=Editor.person(team.owner))
    team.configure(kind="list")
    as_alice.post(at("block_configure", team), {"label": "group", "limit": "9"})
    team.refresh_from_db()
    assert (team.label, team.limit, team.kind) == ("group", 9, "list")


def test_a_schema_that_the_value_does_not_fit_is_refused(as_alice: Client, team: Block) -> None:
    team.set_value("[1]", by=Editor.person(team.owner))
    team.configure(kind="list")
    page = shown(
        settle(as_alice, team, kind="list", schema='{"items": {"type": "string"}}'),
        422,
    )
    assert "it would not fit the block's schema" in page


def test_a_label_that_a_holder_has_is_refused(as_alice: Client, human: Block, agent: Agent) -> None:
    page = shown(settle(as_alice, human, label="persona"), 422)
    assert "'Tutor' already has a block 'persona'." in page


def test_settings_are_the_owners(
    as_bob: Client, human: Block, agent: Agent, bob: User, bobs: Agent
) -> None:
    BlockShare.give(human, bob, can_write=True)
    bobs.attach(human)
    before = everything()
    for address in (at("block_configure", human), at("block_settings", bobs, human)):
        words = "This block is alice’s, and only alice can change its settings."
        assert words in shown(as_bob.get(address))
        assert words in shown(as_bob.post(address, SETTINGS | {"label": "mine"}), 403)
    assert everything() == before


# -- giving ----------------------------------------------------------------------------------------


def give(client: Client, block: Block, to: str, access: str = "read") -> Any:
    return client.post(at("share_give", block), {"username": to, "access": access})


def test_a_block_is_given_changed_and_taken_back(
    as_alice: Client, as_bob: Client, team: Block, bob: User, bobs: Agent
) -> None:
    assert as_bob.get(at("block", team)).status_code == 404
    assert give(as_alice, team, "bob").headers["Location"] == at("block", team)
    assert "bob may read Write too" in shown(as_alice.get(at("block", team)))
    assert "team alice’s, read only" in shown(as_bob.get(at("blocks")))
    give(as_alice, team, "bob", "write")
    share = team.shares.get()
    assert share.can_write
    assert "bob may read and write Only read" in shown(as_alice.get(at("block", team)))
    bobs.attach(team)
    as_alice.post(at("share_take_back", team, share))
    assert not team.shares.exists()
    assert bobs.core_memory() == []
    assert "team" not in shown(as_bob.get(at("blocks")))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nobody", "There is no person 'nobody'."),
        ("<b>", "There is no person '<b>'."),
        ("alice", "The block is yours already; give it to somebody else."),
        ("owner", "There is no person 'owner'."),
        ("left", "There is no person 'left'."),
        ("", "This field is required."),
        ("a\0b", "Null characters are not allowed."),
    ],
)
def test_a_block_is_not_given_to_nobody_or_oneself(
    name: str, words: str, as_alice: Client, team: Block
) -> None:
    owner()
    User.objects.create_user("left", is_active=False)
    assert words in shown(give(as_alice, team, name), 422)
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
    as_bob: Client, team: Block, bob: User, alice: User
) -> None:
    User.objects.create_user("carol")
    share = BlockShare.give(team, bob, can_write=True)
    assert "carol" not in shown(as_bob.get(at("block", team)))
    before = everything()
    assert give(as_bob, team, "carol").status_code == 404
    assert as_bob.post(at("share_take_back", team, share)).status_code == 404
    assert as_bob.post(at("block_delete", team), {"sure": "1"}).status_code == 404
    assert everything() == before


def test_another_blocks_share_is_not_taken_back(
    as_alice: Client, team: Block, human: Block, bob: User
) -> None:
    share = BlockShare.give(human, bob, can_write=True)
    assert as_alice.post(at("share_take_back", team, share)).status_code == 404
    assert human.shares.exists()


def test_who_may_only_read_can_only_read(
    as_bob: Client, team: Block, bob: User, bobs: Agent, alice: User
) -> None:
    edit = team.append("in Riga", by=Editor.person(alice))
    BlockShare.give(team, bob, can_write=False)
    bobs.attach(team)
    page = as_bob.get(at("block", team)).content.decode()
    assert "Ten people" in page
    assert f'"{at("block_value", team)}"' not in page
    panel = as_bob.get(at("agent", bobs)).content.decode()
    assert "alice’s, read only" in panel
    assert f'"{at("block_edit", bobs, team)}"' not in panel
    assert f'"{at("block_undo", bobs, edit)}"' not in panel
    refused = "Block 'team' is alice's and was shared to be read only"
    form = {"value": "Mine", "version": "1"}
    assert refused in shown(as_bob.post(at("block_value", team), form), 422)
    assert refused in shown(as_bob.post(at("block_edit", bobs, team), form), 422)
    stale = {"value": "Mine", "version": "0"}
    assert refused in shown(as_bob.post(at("block_edit", bobs, team), stale), 422)
    assert refused in shown(as_bob.post(at("block_undo", bobs, edit)), 409)
    assert refused in shown(as_bob.post(at("block_version_restore", team, 0)), 409)
    team.refresh_from_db()
    assert (team.value, team.version) == ("Ten people\nin Riga", 1)


def of_block(block: Block) -> list[str]:
    names = ("block", "block_value", "block_configure", "block_history", "block_delete")
    addresses = [at(name, block) for name in (*names, "share_give")]
    return [*addresses, at("block_version_restore", block, 0), at("share_take_back", block, 1)]


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_block_that_was_never_given_is_like_one_that_never_was(
    method: str, as_bob: Client, human: Block, bob: User, bobs: Agent, alice: User
) -> None:
    BlockShare.give(human, User.objects.create_user("carol"), can_write=True)
    form = {"value": "Mine", "version": "0", "username": "bob", "access": "write", "sure": "1"}
    before = everything()
    for address in of_block(human):
        response = getattr(as_bob, method)(address, form)
        assert response.status_code in (404, 405), address
        assert "Name: Bob" not in response.content.decode()
    assert as_bob.post(at("block_attach", bobs), {"block": human.pk}).status_code == 404
    assert "human" not in shown(as_bob.get(at("block_attach", bobs)))
    assert everything() == before


def test_who_lost_a_block_can_no_longer_reach_it(
    as_bob: Client, human: Block, bob: User, bobs: Agent
) -> None:
    share = BlockShare.give(human, bob, can_write=True)
    bobs.attach(human)
    edit = human.append("By Bob", by=Editor.person(bob))
    share.take_back()
    before = everything()
    form = {"value": "Mine", "version": "1", "block": human.pk}
    below = [at(n, bobs, human) for n in ("block_edit", "block_settings", "block_detach")]
    below += [at("block_undo", bobs, edit), at("block_attach", bobs)]
    for address in [*of_block(human), *below]:
        assert as_bob.post(address, form).status_code in (404, 405), address
    assert as_bob.get(at("block_blame", bobs, human)).status_code == 404
    assert "By Bob" not in as_bob.get(at("agent", bobs)).content.decode()
    with pytest.raises(MemoryRefusal):
        Block.objects.get(pk=human.pk).append("Mine", by=Editor.person(bob))
    assert everything() == before


# -- attaching and detaching -----------------------------------------------------------------------


def test_a_block_is_attached_in_the_panel(
    as_alice: Client, agent: Agent, team: Block, human: Block
) -> None:
    form = as_alice.get(at("block_attach", agent)).content.decode()
    assert str(team.pk) in form
    assert str(human.pk) not in form  # it holds that already
    assert as_alice.post(at("block_attach", agent), {"block": team.pk}).status_code == 200
    assert [block.label for block in agent.core_memory()] == ["persona", "human", "team"]
    assert agent.events.latest("seq").kind == Event.Kind.MEMORY_CHANGED
    assert as_alice.post(at("block_attach", agent), {"block": team.pk}).status_code == 200
    assert agent.attachments.count() == 3
    assert "There is no block that this agent does not hold" in shown(
        as_alice.get(at("block_attach", agent))
    )


def test_a_label_that_is_taken_is_said(as_alice: Client, agent: Agent, alice: User) -> None:
    other = Block.objects.create(owner=alice, label="human", value="Name: Eve")
    form = as_alice.get(at("block_attach", agent))
    assert "1 whose label Tutor has already; a label can be there once human" in shown(form)
    assert re.search(f'value="{other.pk}"[^>]* disabled', form.content.decode())
    page = shown(as_alice.post(at("block_attach", agent), {"block": other.pk}), 422)
    assert "This agent already has a block 'human'." in page
    assert agent.attachments.count() == 2


@pytest.mark.parametrize("sent", ["", "x", "²", str(UUID(int=7))])
def test_what_is_no_block_is_not_attached(sent: str, as_alice: Client, agent: Agent) -> None:
    assert as_alice.post(at("block_attach", agent), {"block": sent}).status_code == 404


def test_a_given_block_is_attached_with_its_owners_name(
    as_bob: Client, bob: User, bobs: Agent, human: Block
) -> None:
    BlockShare.give(human, bob, can_write=False)
    assert "human alice’s, read only Name: Bob" in shown(as_bob.get(at("block_attach", bobs)))
    as_bob.post(at("block_attach", bobs), {"block": human.pk})
    assert bobs.core_memory() == [human]


def test_nobody_attaches_a_block_to_anothers_agent(as_bob: Client, agent: Agent, bob: User) -> None:
    block = Block.objects.create(owner=bob, label="mine")
    assert as_bob.post(at("block_attach", agent), {"block": block.pk}).status_code == 404
    assert not block.agents.exists()


def test_a_detached_block_stays_among_the_blocks(
    as_alice: Client, agent: Agent, human: Block
) -> None:
    form = shown(as_alice.get(at("block_settings", agent, human)))
    assert "Detach" in form
    assert (
        "It stays in “Blocks”" in as_alice.get(at("block_settings", agent, human)).content.decode()
    )
    as_alice.post(at("block_detach", agent, human))
    assert "human" not in [block.label for block in agent.core_memory()]
    assert "human 9 / 2,000" in shown(as_alice.get(at("blocks")))


def test_the_panel_says_who_else_has_a_block(
    as_alice: Client, agent: Agent, human: Block, alice: User, bob: User, bobs: Agent
) -> None:
    assert "shared with" not in shown(as_alice.get(at("agent", agent)))
    second = Agent.create(alice, "Second", BasicBlockMemory())
    second.attach(human)
    assert "shared with 1 agent" in shown(as_alice.get(at("agent", agent)))
    BlockShare.give(human, bob, can_write=True)
    bobs.attach(human)
    panel = as_alice.get(at("agent", agent))
    assert "shared with 2 agents, given to 1 person" in shown(panel)
    assert f'href="{at("block", human)}"' in panel.content.decode()
    assert "Held by Second, Tutor and 1 agent of other people" in shown(
        as_alice.get(at("block", human))
    )
    page = shown(browser_of(bob).get(at("agent", bobs)))
    assert "alice’s" in page
    assert "read only" not in page
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
    as_alice: Client, team: Block, bob: User, alice: User
) -> None:
    team.append("in Riga", by=Editor.person(alice))
    BlockShare.give(team, bob, can_write=True)
    asked = shown(as_alice.get(at("block_delete", team)))
    assert "its value of 18 characters and its history of 1 change." in asked
    assert "bob, whom you gave it to, will no longer have it." in asked
    again = shown(as_alice.post(at("block_delete", team)), 422)
    assert "Nothing is deleted yet" in again
    assert Block.objects.filter(pk=team.pk).exists()
    response = as_alice.post(at("block_delete", team), {"sure": "1"})
    assert response.headers["Location"] == at("blocks")
    assert not Block.objects.filter(pk=team.pk).exists()
    assert not BlockShare.objects.exists()
    assert "team" not in shown(browser_of(bob).get(at("blocks")))


def test_a_block_that_agents_hold_is_not_deleted(
    as_alice: Client, agent: Agent, human: Block, bob: User, bobs: Agent, alice: User
) -> None:
    BlockShare.give(human, bob, can_write=True)
    bobs.attach(human)
    gone = Agent.create(alice, "Old", BasicBlockMemory())
    gone.attach(human)
    gone.trash()
    before = everything()
    for page in (
        shown(as_alice.get(at("block_delete", human))),
        shown(as_alice.post(at("block_delete", human), {"sure": "1"}), 409),
    ):
        assert "The block is not deleted: agents hold it. Detach it from these first." in page
        assert "Tutor" in page
        assert "Old, which is among the deleted agents" in page
        assert "an agent of bob: take the block back from bob" in page
        assert "Planner" not in page
    assert everything() == before


def test_the_end_of_an_agent_takes_no_block_that_somebody_else_has(
    agent: Agent, human: Block, bob: User, bobs: Agent
) -> None:
    BlockShare.give(human, bob, can_write=True)
    bobs.attach(human)
    agent.detach(human)
    bobs.purge()  # the last agent that holds it, but not its owner's
    assert Block.objects.filter(pk=human.pk).exists()
    agent.attach(human)
    agent.purge()  # its owner's, but Bob was given it
    assert Block.objects.filter(pk=human.pk).exists()


# -- duplicates ------------------------------------------------------------------------------------


def test_lines_that_repeat_are_marked_in_the_panel(
    as_alice: Client, agent: Agent, human: Block
) -> None:
    human.set_value(
        "Name: Bob\n- Likes pie.\nborn in 1971\nlikes Pie", by=Editor.person(agent.owner)
    )
    page = as_alice.get(at("agent", agent)).content.decode()
    assert page.count('title="says what line 2 says"') == 1
    assert "(says what line 2 says)" in page
    assert "(says what line 2 says)" in as_alice.get(at("block", human)).content.decode()


def test_lists_and_objects_have_no_lines_that_repeat(human: Block) -> None:
    value = '[\n"the same",\n"the same"\n]'
    human.set_value(value, by=Editor.person(human.owner))
    assert any(piece.kind == "repeat" for piece in noted(human))
    human.configure(kind="list")
    assert [piece.kind for piece in noted(human)] == ["same"]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([Piece("same", "one\ntwo\none")], [("same", "one\ntwo\none"), ("repeat", "1")]),
        (
            [Piece("same", "one\none"), Piece("added", "\ntwo\n")],
            [("same", "one\none"), ("repeat", "1"), ("added", "\ntwo\n")],
        ),
        (
            [Piece("removed", "gone\n"), Piece("same", "one\n"), Piece("added", "one")],
            [("removed", "gone\n"), ("same", "one\n"), ("added", "one"), ("repeat", "1")],
        ),
    ],
)
def test_a_mark_stands_at_the_end_of_its_line(
    pieces: list[Piece], expected: list[tuple[str, str]]
) -> None:
    new = "".join(piece.text for piece in pieces if piece.kind != "removed")
    repeats = {i: 0 for i, line in enumerate(new.split("\n")) if i and line == "one"}
    marked = with_repeats(pieces, repeats)
    joined = "".join(p.text for p in marked if p.kind in ("same", "added"))
    assert joined == new
    merged: list[tuple[str, str]] = []
    for kind, text in marked:
        if merged and merged[-1][0] == kind != "repeat":
            merged[-1] = (kind, merged[-1][1] + text)
        else:
            merged.append((kind, text))
    if ("repeat", "1") in expected and expected[-1] != ("repeat", "1"):
        assert ("repeat", "1") in merged
    else:
        assert merged == expected


# -- a new agent's memory class --------------------------------------------------------------------


class DiaryMemory(ChatMemory):
    """A class of an operator's own."""

    description = "Persona, human and a diary"

    def __init__(self, human: str = "", persona: str = "", limit: int = 500) -> None:
        super().__init__(human, persona, limit)
        self.set_block(
            Block(
                label="diary",
                value='{"days": []}',
                kind="object",
                schema={"required": ["days"]},
                limit=limit,
                ask_before_write=True,
            )
        )

    def diary_read(self) -> str:
        """Read the diary."""
        return self.get_block("diary").value


@pytest.fixture
def diary(monkeypatch: pytest.MonkeyPatch) -> type[Memory]:
    """Found through MEMORYWEB_MEMORY_CLASSES."""
    found = memory.load_classes([f"{__name__}.DiaryMemory"])
    monkeypatch.setitem(memory.CLASSES, "DiaryMemory", found["DiaryMemory"])
    return found["DiaryMemory"]


def first(client: Client, name: str) -> str:
    response = client.get(at("agent_new_first_blocks"), {"memory_class": name})
    assert response.status_code == 200
    return response.content.decode()


def labels(page: str) -> list[str]:
    return re.findall(r'name="blocks-\d+-label" value="(\w+)"', page)


def test_each_memory_class_has_its_first_blocks(as_alice: Client, diary: type[Memory]) -> None:
    assert labels(first(as_alice, "ChatMemory")) == ["persona", "human"]
    assert labels(first(as_alice, "BasicBlockMemory")) == []
    tasks = first(as_alice, "TaskMemory")
    assert labels(tasks) == ["persona", "human", "tasks"]
    assert '<option value="list" selected>' in tasks
    assert labels(first(as_alice, "DiaryMemory")) == ["persona", "human", "diary"]
    for name in ("", "Nope", "os.system"):
        asked = {"memory_class": name}
        assert as_alice.get(at("agent_new_first_blocks"), asked).status_code == 404


def fields_of(page: str) -> dict[str, str]:
    """What a browser would send of the blocks in a page."""
    found: dict[str, str] = {}
    for tag in re.findall(r'<input[^>]*name="blocks-[^>]*>', page):
        given = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if given["type"] != "checkbox" or " checked" in tag:
            found[given["name"]] = given.get("value", "on")
    areas = re.findall(r'<textarea name="(blocks-[^"]*)"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)
    found |= dict(areas)
    chosen = re.findall(
        r'<select name="(blocks-[^"]*)".*?value="(\w+)" selected.*?</select>', page, re.DOTALL
    )
    found |= dict(chosen)
    return {name: text.replace("&quot;", '"') for name, text in found.items()}


def make(client: Client, chosen: str, page: str, **more: str) -> Any:
    form = fields_of(page) | {"name": "New", "memory_class": chosen, "system_prompt": "x"}
    count = {"blocks-TOTAL_FORMS": str(len(labels(page))), "blocks-INITIAL_FORMS": "0"}
    return client.post(at("agent_new"), form | count | more)


def test_an_agent_of_a_class_of_ones_own_has_its_blocks_and_tools(
    as_alice: Client, diary: type[Memory]
) -> None:
    response = make(as_alice, "DiaryMemory", first(as_alice, "DiaryMemory"))
    assert response.status_code == 302
    agent = Agent.objects.get()
    assert agent.memory_class == "DiaryMemory"
    assert agent.tools == [*Memory.tool_names, "diary_read"]
    block = agent.block("diary")
    assert block is not None
    assert (block.value, block.kind, block.limit) == ('{"days": []}', "object", 500)
    assert (block.schema, block.ask_before_write) == ({"required": ["days"]}, True)


def test_a_task_agent_made_by_the_form_can_work_off_its_tasks(as_alice: Client) -> None:
    make(as_alice, "TaskMemory", first(as_alice, "TaskMemory"))
    agent = Agent.objects.get()
    assert agent.tools[-2:] == ["task_queue_push", "task_queue_pop"]
    tasks = agent.block("tasks")
    assert tasks is not None
    assert (tasks.kind, tasks.value) == ("list", "[]")


def test_an_agent_without_blocks_may_be_made(as_alice: Client) -> None:
    assert make(as_alice, "BasicBlockMemory", "").status_code == 302
    assert Agent.objects.get().core_memory() == []


def test_what_was_refused_comes_back_as_it_was_typed(as_alice: Client) -> None:
    page = first(as_alice, "TaskMemory")
    more = {"name": "", "blocks-1-value": "Name: Eve", "blocks-1-limit": "2000"}
    response = make(as_alice, "TaskMemory", page, **more)
    assert response.status_code == 422
    again = response.content.decode()
    assert labels(again) == ["persona", "human", "tasks"]
    assert "Name: Eve" in again
    # those that are as the class has them may go when another class is chosen
    assert again.count("data-fresh") == 2
    assert not Agent.objects.exists()


def test_a_value_that_is_not_of_its_kind_makes_no_agent(as_alice: Client) -> None:
    page = first(as_alice, "TaskMemory")
    response = make(as_alice, "TaskMemory", page, **{"blocks-2-value": "1. Buy milk"})
    assert "The value cannot stay: it would no longer be JSON" in shown(response, 422)
    assert not Agent.objects.exists()


# -- an agent's settings ---------------------------------------------------------------------------

SOURCE = '''
def roll_dice(sides: int) -> str:
    """Roll dice.

    Args:
        sides (int): How many sides they have.
    """
    return "4"
'''
AGENT = {"name": "Tutor", "model": "", "system_prompt": "x", "max_steps": "50"}


def configure(client: Client, agent: Agent, **changes: Any) -> Any:
    response = client.post(at("agent_settings", agent), AGENT | changes)
    agent.refresh_from_db()
    return response


def test_tools_are_chosen_from_three_families(as_alice: Client, alice: User, bob: User) -> None:
    Tool.from_source(alice, SOURCE)
    Tool.from_source(bob, SOURCE.replace("roll_dice", "bobs_dice"))
    agent = Agent.create(alice, "Tasks", memory.TaskMemory())
    page = shown(as_alice.get(at("agent_settings", agent)))
    for words in ("Built in", "Of its memory class, TaskMemory", "Your own", "Roll dice."):
        assert words in page
    assert "bobs_dice" not in page
    chosen = ["archival_memory_search", "task_queue_pop", "roll_dice"]
    assert configure(as_alice, agent, tools=chosen).status_code == 302
    assert agent.tools == chosen
    response = configure(as_alice, agent, tools=["bobs_dice"])
    assert "bobs_dice is not one of the available choices" in shown(response, 422)
    assert agent.tools == chosen


def rules(*rows: tuple[str, str, str, str]) -> dict[str, list[str]]:
    parts = ("tool", "type", "children", "most")
    return {
        f"tool_rules-{part}": list(column)
        for part, column in zip(parts, zip(*rows, strict=True), strict=True)
    }


TOOLS = ["core_memory_append", "core_memory_replace"]


def test_tool_rules_are_set_a_row_each(as_alice: Client, agent: Agent) -> None:
    given = rules(
        ("core_memory_append", "run_first", "", ""),
        ("core_memory_append", "constrain_child_tools", " core_memory_replace , ", ""),
        ("", "exit_loop", "", ""),
        ("core_memory_replace", "max_count_per_step", "", "2"),
        ("core_memory_replace", "requires_approval", "ignored", "3"),
    )
    assert configure(as_alice, agent, tools=TOOLS, **given).status_code == 302
    append, replace = TOOLS
    assert agent.tool_rules == [
        {"tool_name": append, "type": "run_first"},
        {"tool_name": append, "type": "constrain_child_tools", "children": [replace]},
        {"tool_name": replace, "type": "max_count_per_step", "max_count_limit": 2},
        {"tool_name": replace, "type": "requires_approval"},
    ]
    page = as_alice.get(at("agent_settings", agent)).content.decode()
    assert page.count('class="rule"') == 5  # and an empty one
    assert f'value="{replace}"' in page
    again = rules(("", "exit_loop", "", ""))
    configure(as_alice, agent, tools=TOOLS, **again)
    assert agent.tool_rules == []


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (
            ("send_message", "exit_loop", "", ""),
            "A rule names the tool 'send_message', which the agent does not have.",
        ),
        (
            ("core_memory_append", "constrain_child_tools", " , ", ""),
            "The rule for what follows core_memory_append names no tools.",
        ),
        (
            ("core_memory_append", "constrain_child_tools", "nope", ""),
            "A rule names the tool 'nope', which the agent does not have.",
        ),
        (
            ("core_memory_append", "max_count_per_step", "", "²"),
            "The rule for core_memory_append needs a number of calls, 1 or more.",
        ),
        (
            ("core_memory_append", "max_count_per_step", "", ""),
            "The rule for core_memory_append needs a number of calls, 1 or more.",
        ),
        (("core_memory_append", "dance", "", ""), "There is no tool rule 'dance'"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_in_words(
    row: tuple[str, str, str, str], words: str, as_alice: Client, agent: Agent
) -> None:
    response = configure(as_alice, agent, tools=TOOLS, **rules(row))
    assert words in shown(response, 422)
    assert agent.tool_rules == []
    if row[2].strip(" ,"):
        assert row[2] in response.content.decode()


def test_a_rule_for_a_tool_that_is_gone_is_shown_and_can_be_left_out(
    as_alice: Client, agent: Agent
) -> None:
    agent.configure(tool_rules=[{"tool_name": "gone", "type": "exit_loop"}])
    assert (
        '<option value="gone" selected>gone</option>'
        in as_alice.get(at("agent_settings", agent)).content.decode()
    )


def test_reflection_and_window_are_set_and_bounded(as_alice: Client, agent: Agent) -> None:
    assert configure(as_alice, agent, reflect_every="5", context_window="1000").status_code == 302
    assert (agent.reflect_every, agent.context_window) == (5, 1000)
    page = shown(configure(as_alice, agent, reflect_every="0", context_window="999"), 422)
    assert "greater than or equal to 1." in page
    assert "greater than or equal to 1000." in page
    configure(as_alice, agent)
    assert (agent.reflect_every, agent.context_window) == (None, None)
