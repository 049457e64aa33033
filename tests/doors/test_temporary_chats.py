"""A temporary chat is its person's alone: every other address, command and operation is shut."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents.live.commands import CommandError, find_conversation
from agents.models import Agent, AgentShare, Role, Run
from agents.permissions import TEMPORARY
from tests.conftest import browser
from tests.support.addresses import ids_of, of_agents
from tests.support.api_client import Api
from tests.support.pages import at, shown

pytestmark = pytest.mark.usefixtures("accounts")


@pytest.fixture
def chat(agent: Agent, bob: User) -> Agent:
    """Bob's, with an agent that alice shares with him."""
    AgentShare.share(agent, bob, Role.EDITOR)
    return agent.begin_temporary(bob)


def test_it_opens_what_the_table_says_and_nothing_else(
    agent: Agent, chat: Agent, bobs_web: Client
) -> None:
    ids = ids_of(agent) | {"agent_id": chat.pk}
    addresses = of_agents(ids)
    of_messages = {name for name in TEMPORARY if name.startswith("message_")}
    assert addresses.keys() >= TEMPORARY - of_messages
    addresses.pop("temporary_close")
    addresses.pop("agent_restore")  # names deleted agents only, of which it is none
    for name, address in addresses.items():
        answers = {bobs_web.get(address).status_code, bobs_web.post(address).status_code}
        if name in TEMPORARY:
            assert 403 not in answers, name
        else:
            assert answers <= {403, 405}, name
    assert bobs_web.post(reverse("agent_restore", args=[chat.pk])).status_code == 404
    page = shown(bobs_web.get(at("agent_settings", chat)), status=403)
    assert "This is a temporary chat" in page


def test_nobody_else_sees_it_not_even_the_owner_of_the_agent(
    agent: Agent, chat: Agent, alice: User, operator: User
) -> None:
    AgentShare.share(agent, operator, Role.EDITOR)
    ids = ids_of(agent) | {"agent_id": chat.pk}
    for person in (alice, operator):
        for name, address in of_agents(ids).items():
            client = browser(person)
            answers = {client.get(address).status_code, client.post(address).status_code}
            assert answers <= {404, 405}, name
        with pytest.raises(CommandError):
            find_conversation(person, {"agent": str(chat.pk), "command": "follow"})
    assert str(chat.pk) not in browser(alice).get(at("agent", agent)).content.decode()


def test_no_operation_of_the_api_and_no_list_of_the_admin_knows_it(
    agent: Agent, chat: Agent, bob: User, desk: Client
) -> None:
    run = chat.send("The heron nests at noon", "key", author=bob)
    api = Api(bob)
    of = f"/agents/agent-{chat.pk}"
    for path in (of, f"{of}/messages", f"{of}/context", f"/conversations/conv-{chat.pk}"):
        api.get(path, expect=404)
    api.post(f"{of}/messages", {"input": "Hello"}, expect=404)
    api.get(f"/runs/run-{run.pk}", expect=404)
    assert api.post("/messages/search", {"query": "heron"}) == []
    for name in ("agents", "conversations", "runs", "messages"):
        assert "heron" not in str(api.get(f"/{name}/")), name
        assert str(chat.pk) not in str(api.last.content), name
    for table in ("agent", "conversation", "message", "run", "event"):
        page = desk.get(reverse(f"admin:agents_{table}_changelist"))
        assert page.status_code == 200
        assert "heron" not in page.content.decode(), table
        assert str(chat.pk) not in page.content.decode(), table


def test_who_loses_the_agent_loses_the_chat(agent: Agent, chat: Agent, bobs_web: Client) -> None:
    assert bobs_web.get(at("agent", chat)).status_code == 200
    share = AgentShare.share(agent, User.objects.get(username="bob"), Role.VIEWER)
    assert bobs_web.post(at("message_send", chat), {"text": "Hello"}).status_code == 403
    assert bobs_web.post(at("temporary_new", agent)).status_code == 403
    share.stop()
    assert bobs_web.get(at("agent", chat)).status_code == 404


def test_it_is_begun_shown_marked_and_closed(agent: Agent, web: Client) -> None:
    begun = web.post(at("temporary_new", agent), follow=True)
    page = shown(begun)
    assert "Tutor has no memory here" in page
    assert "Nothing of this chat will be kept" in page
    assert "Name: Bob" not in page
    chat = Agent.every.get(temporary_of=agent)
    assert at("agent", chat) in web.get(at("agent", agent)).content.decode()
    assert web.post(at("temporary_close", agent)).status_code == 404
    web.post(at("message_send", chat), {"text": "Hello"})
    run = Run.objects.get(agent=chat)
    run.end(Run.Reason.CANCELLED)
    closed = web.post(at("temporary_close", chat))
    assert closed.headers["Location"] == at("agent", agent)
    assert web.get(at("agent", chat)).status_code == 404
    assert not Run.objects.exists()
