"""Somebody leaves: what they had is handed over or exported, and nothing is lost."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.apps import apps
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import models
from django.test import Client
from django.urls import reverse

from agents.accounts.leaving import hand_over, renamed
from agents.memory.classes import ChatMemory
from agents.models import Agent, AgentShare, Block, BlockShare, Editor, Identity, Role, Token, Tool
from tests.support.sockets import heard, socket
from tests.support.tool_pages import SHOUT

pytestmark = pytest.mark.usefixtures("accounts")
STAYS = {Token}  # a script's key opens one person's account, and is nobody else's


def test_everything_that_has_an_owner_is_handed_over(agent: Agent, alice: User, bob: User) -> None:
    trashed = Agent.create(alice, "Old", ChatMemory())
    trashed.trash()
    Tool.from_source(alice, SHOUT)
    Identity.objects.create(owner=alice, identifier_key="k", name="K", identity_type="user")
    before = {block.label: block.value for block in agent.core_memory()}
    counts = hand_over(alice, bob)
    assert (counts.agents, counts.tools) == (2, 1)
    for model in apps.get_app_config("agents").get_models():
        for field in model._meta.get_fields():
            if field.name == "owner" and isinstance(field, models.ForeignKey):
                assert model in STAYS or not model._default_manager.filter(owner=alice).exists()
    agent.refresh_from_db()
    assert Agent.objects.visible_to(bob).get() == agent
    assert {block.label: block.value for block in agent.core_memory()} == before
    agent.core_memory()[0].append("Likes pie", by=Editor.person(bob))
    trashed.refresh_from_db()
    trashed.restore()
    alice.delete()
    assert Agent.objects.visible_to(bob).count() == 2


def test_what_has_a_name_that_is_taken_gets_another_one(
    agent: Agent, alice: User, bob: User
) -> None:
    Tool.from_source(bob, SHOUT)
    tool = Tool.from_source(alice, SHOUT)
    agent.configure(tools=[*agent.tools, tool.name])
    for each in (alice, bob):
        Identity.objects.create(owner=each, identifier_key="k", name="K", identity_type="user")
    hand_over(alice, bob)
    names = sorted(Tool.objects.filter(owner=bob).values_list("name", flat=True))
    assert names == [tool.name, f"{tool.name}_2"]
    agent.refresh_from_db()
    assert f"{tool.name}_2" in agent.tools
    keys = Identity.objects.filter(owner=bob).values_list("identifier_key", flat=True)
    assert sorted(keys) == ["k", "k_2"]


def test_a_function_is_renamed_where_it_is_called_and_nowhere_else() -> None:
    source = 'def f(n):\n    """f of n"""\n    return n and f(n - 1) + ff(x.f)\n'
    assert renamed(source, "f", "f_2") == (
        'def f_2(n):\n    """f of n"""\n    return n and f_2(n - 1) + ff(x.f)\n'
    )


def test_blocks_of_a_third_person_stay_with_the_agents(
    agent: Agent, alice: User, bob: User, operator: User
) -> None:
    team = Block.objects.create(owner=operator, label="team", value="Ten")
    mine = Block.objects.create(owner=bob, label="bobs", value="Bob's")
    ours = Block.objects.create(owner=alice, label="ours", value="Ours")
    BlockShare.share(team, alice, can_write=True)
    BlockShare.share(mine, alice, can_write=False)
    BlockShare.share(ours, bob, can_write=False)
    agent.attach(team)
    agent.attach(mine)
    hand_over(alice, bob)
    shares = {(str(s.block.label), s.with_whom, s.can_write) for s in BlockShare.objects.all()}
    assert shares == {("team", "bob", True)}
    assert {"team", "bobs"} <= {block.label for block in agent.core_memory()}


def test_nobody_hands_over_to_themselves_or_to_a_disabled_account(alice: User, bob: User) -> None:
    with pytest.raises(ValidationError, match="theirs already"):
        hand_over(alice, alice)
    User.objects.filter(pk=bob.pk).update(is_active=False)
    bob.refresh_from_db()
    with pytest.raises(ValidationError, match="is disabled"):
        hand_over(alice, bob)


@pytest.mark.django_db(transaction=True)
async def test_open_pages_lose_what_was_handed_over(agent: Agent, alice: User, bob: User) -> None:
    async with socket(alice) as page:
        await page.connect()
        follow = {"command": "follow", "agent": str(agent.pk), "after": agent.last_seq}
        await page.send_to(text_data=json.dumps(follow))
        await heard(page, "content")
        await sync_to_async(hand_over)(alice, bob)
        assert "agent" in (await heard(page, "content"))["content"]


# -- in the admin ----------------------------------------------------------------------------------


def test_an_administrator_exports_hands_over_and_disables(
    desk: Client, agent: Agent, alice: User, bob: User
) -> None:
    page = desk.get(reverse("admin:auth_user_change", args=[alice.pk])).content.decode()
    leave = reverse("admin:person_leave", args=[alice.pk])
    assert leave in page
    assert "alice has 1 agent" in desk.get(leave).content.decode()
    sent: Any = desk.post(reverse("admin:person_export", args=[alice.pk]))
    with zipfile.ZipFile(io.BytesIO(b"".join(sent.streaming_content))) as archive:
        (name,) = archive.namelist()
        file = json.loads(archive.read(name))
    assert name.endswith(".af")
    assert "Name: Bob" in json.dumps(file)
    said = desk.post(leave, {"to": bob.pk}, follow=True).content.decode()
    assert "1 agent, 2 blocks and 0 tools now belong to bob" in said
    assert Agent.objects.visible_to(bob).get() == agent
    Token.make(alice, "script", ["read"])
    desk.post(leave, {"disable": "1"})
    alice.refresh_from_db()
    assert not alice.is_active
    assert not Token.objects.exists()


def test_only_administrators_do(agent: Agent, alice: User, bob: User) -> None:
    User.objects.filter(pk=bob.pk).update(is_staff=True)
    staff = Client()
    staff.force_login(bob)
    for name in ("person_leave", "person_export"):
        assert staff.post(reverse(f"admin:{name}", args=[alice.pk])).status_code == 403
    assert Agent.objects.visible_to(alice).get() == agent


def test_agents_that_were_shared_with_them_are_shared_with_the_other(
    alice: User, bob: User, bobs: Agent, agent: Agent
) -> None:
    carol = User.objects.create_user("carol")
    others = Agent.create(carol, "Hers", ChatMemory())
    for shared, to, role in ((others, alice, Role.EDITOR), (others, bob, Role.VIEWER)):
        AgentShare.share(shared, to, role)
    AgentShare.share(bobs, alice, Role.CHATTER)
    AgentShare.share(agent, bob, Role.CHATTER)
    hand_over(alice, bob)
    shares = {(s.agent.name, s.with_whom, s.role) for s in AgentShare.objects.all()}
    assert shares == {("Hers", "bob", Role.EDITOR)}
