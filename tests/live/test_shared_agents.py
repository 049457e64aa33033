"""Several people with one agent: who says what, who looks, and what becomes of a page that may no
longer look."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from agents.asyncio_bridge import in_thread
from agents.memory.context_messages import context_messages
from agents.models import Agent, AgentShare, Role
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, text
from tests.support.followed_page import Open

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("runs_are_executed_here", "runs_end"),
]


@pytest.fixture(autouse=True)
def accounts_without_sessions(settings: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """People are told apart, and nobody's session is looked at: these sockets have none."""
    monkeypatch.setattr("agents.models.role.settings.ACCOUNTS", True)
    monkeypatch.setattr("agents.live.login.Login.check", lambda _: None)


async def test_each_message_says_who_to_the_page_and_to_the_model(
    agent: Agent, alice: User, bob: User, model: FakeOpenAI, open_page: Open
) -> None:
    await in_thread(AgentShare.share, agent, bob, Role.CHATTER)
    model.script(text("Hello Bob."), text("Hello Alice."))
    bobs_page, alices = await open_page(user=bob), await open_page(user=alice)
    for page in (bobs_page, alices):
        await page.follow(agent)
    await bobs_page.send(agent, "It is me")
    await alices.hear_until(lambda frame: "Hello Bob." in frame.get("content", ""))
    assert '-who">bob' in alices.html
    await alices.hear_until(lambda frame: frame.get("kind") == "run_changed")
    await alices.send(agent, "And me")
    await bobs_page.hear_until(lambda frame: "Hello Alice." in frame.get("content", ""))
    assert '-who">alice' in bobs_page.html
    said = model.requests[-1]["messages"]
    assert [each["content"] for each in said if each["role"] == "user"] == [
        "bob: It is me",
        "alice: And me",
    ]


def test_without_others_nothing_is_said_of_who(agent: Agent, model: FakeOpenAI, ask: Ask) -> None:
    model.script(text("Hello."))
    ask("It is me")
    assert context_messages(agent.first_conversation)[0].json.count("It is me") == 1
    assert "alice" not in context_messages(agent.first_conversation)[0].json


async def test_each_sees_who_else_looks(
    agent: Agent, alice: User, bob: User, open_page: Open
) -> None:
    await in_thread(AgentShare.share, agent, bob, Role.VIEWER)
    alices, bobs_page = await open_page(user=alice), await open_page(user=bob)
    await alices.follow(agent)
    await bobs_page.follow(agent)
    await alices.hear_until(lambda frame: ">bob<" in frame.get("content", ""))
    await bobs_page.hear_until(lambda frame: ">alice<" in frame.get("content", ""))
    await bobs_page.socket.disconnect()
    await alices.hear_until(
        lambda frame: "#presence" in frame.get("content", "") and "bob" not in frame["content"]
    )


async def test_a_page_that_may_look_may_not_talk_and_ends_with_the_share(
    agent: Agent, bob: User, open_page: Open
) -> None:
    share = await in_thread(AgentShare.share, agent, bob, Role.VIEWER)
    page = await open_page(user=bob)
    await page.follow(agent)
    for command in ("send", "stop"):
        await page.say(command=command, agent=str(agent.pk), text="Hello", key=command)
        refusal = await page.hear_refusal()
        assert "so that you may look at it. To talk to it, ask alice." in refusal["content"]
    assert not await in_thread(agent.runs.exists)
    await in_thread(share.stop)
    await page.hear_until(lambda frame: "This agent was deleted" in frame.get("content", ""))
    await page.say(command="follow", agent=str(agent.pk), after=0)
    assert "no such agent" in (await page.hear_refusal())["content"]
