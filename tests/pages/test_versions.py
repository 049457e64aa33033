"""Saying a message again, by the page's plain requests: who may, and what is asked."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents.models import Agent, AgentShare, Conversation, Message, Role, Run
from agents.runs.loop import run_agent
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, text

APPEND = ("core_memory_append", {"label": "human", "content": "Likes pie"})


def address(name: str, agent: Agent, row: Any) -> str:
    return reverse(name, args=[agent.pk, row.pk])


def page(web: Client, agent: Agent) -> str:
    return web.get(agent.first_conversation.get_absolute_url()).content.decode()


@pytest.fixture
def run(agent: Agent, model: FakeOpenAI, ask: Ask) -> Run:
    model.script(text("Hello, Bob."))
    return ask("Hello")


def test_a_message_is_edited_and_the_versions_can_be_changed_between(
    web: Client, agent: Agent, run: Run
) -> None:
    again = address("run_again", agent, run)
    form = web.get(again).content.decode()
    assert ">Hello</textarea>" in form
    assert 'name="memory"' not in form
    web.post(again, {"text": "Good day", "key": "k"})
    new = Run.objects.latest("pk")
    run_agent(new.pk)
    shown = page(web, agent)
    assert "Good day" in shown
    assert f"run-{run.pk}-foot" not in shown
    assert "2/2" in shown
    web.post(address("run_show", agent, run))
    shown = page(web, agent)
    assert "1/2" in shown
    assert "Good day" not in shown


def test_a_link_to_what_was_put_away_offers_to_go_there(
    web: Client, agent: Agent, run: Run
) -> None:
    web.post(address("run_again", agent, run), {"text": "Good day", "key": "k"})
    run_agent(Run.objects.latest("pk").pk)
    step = run.steps.get()
    shown = web.get(f"/agents/{agent.pk}/?step={step.pk}").content.decode()
    assert "Go to that version" in shown
    assert address("run_show", agent, run) in shown
    web.post(address("run_show", agent, run))
    shown = web.get(f"/agents/{agent.pk}/?step={step.pk}").content.decode()
    assert f"step-{step.pk}" in shown


def test_it_is_asked_whether_memory_goes_back_where_it_changed(
    web: Client, agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    model.script(calls(APPEND), text("Noted."))
    run = ask("I like pie.")
    asked = web.post(address("run_again", agent, run), {"key": "k"})
    assert "changed its memory (human)" in asked.content.decode()
    assert Conversation.every.filter(version_of=agent.pk).count() == 0
    web.post(address("run_again", agent, run), {"key": "k", "memory": "back"})
    assert (
        agent.core_memory()[1].value == "Name: Bob" or agent.core_memory()[0].value == "Name: Bob"
    )


def test_what_cannot_be_said_again_is_refused_in_words(web: Client, agent: Agent, run: Run) -> None:
    again = address("run_again", agent, run)
    refused = web.post(again, {"text": " ", "key": "k"})
    assert refused.status_code == 422
    assert "The message is empty" in refused.content.decode()
    agent.first_conversation.send("Another", "other")
    refused = web.post(again, {"text": "Good day", "key": "k"})
    assert refused.status_code == 422
    assert "still at work" in refused.content.decode()
    assert web.post(address("run_show", agent, run)).status_code == 409


def test_who_may_talk_says_only_their_own_messages_again(
    bobs_web: Client, bob: User, agent: Agent, run: Run
) -> None:
    AgentShare.share(agent, bob, Role.CHATTER)
    refused = bobs_web.post(address("run_again", agent, run), {"text": "Mine", "key": "k"})
    assert refused.status_code == 409
    own = agent.first_conversation.send("From Bob", "bobs", author=bob)
    run_agent(own.pk)
    assert (
        bobs_web.post(address("run_again", agent, own), {"text": "Mine", "key": "k2"}).status_code
        == 302
    )
    assert not Message.objects.filter(conversation=agent.pk, content="From Bob").exists()


def test_a_message_is_copied_forked_from_and_left_out(
    web: Client, agent: Agent, run: Run, model: FakeOpenAI
) -> None:
    said = Message.objects.get(conversation=agent.pk, role="assistant")
    copied = web.get(address("message_text", agent, said))
    assert copied.content.decode() == "Hello, Bob."
    web.post(address("message_fork", agent, said))
    fork = agent.conversations.exclude(pk=agent.pk).get()
    assert [row.content for row in fork.messages.all()] == ["Hello", "Hello, Bob."]
    web.post(address("message_leave_out", agent, said))
    new = agent.first_conversation.send("And now?", "k")
    run_agent(new.pk)
    heard = [message["content"] for message in model.requests[-1]["messages"][1:]]
    assert heard == ["Hello\n\nAnd now?"]
    assert "left out of the context" in page(web, agent)
