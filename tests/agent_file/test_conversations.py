"""Agent files of agents that have several conversations: all of them, or one alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from agents.agent_file import import_agent, written
from agents.memory.context_messages import context_messages
from agents.models import Agent, Compaction, Conversation, Message
from agents.runs.loop import run_agent
from tests.support.fake_openai import FakeOpenAI, calls, text


def say(conversation: Conversation, words: str) -> None:
    run_agent(conversation.send(words, f"key-{words}").pk)
    conversation.refresh_from_db()


@pytest.fixture
def two(agent: Agent, model: FakeOpenAI) -> tuple[Agent, Conversation]:
    """An agent whose second conversation lies between two parts of the first and has a summary."""
    append = ("core_memory_append", {"label": "human", "content": "Pie"})
    model.script(text("One."), calls(append), text("Two."), text("Three."), text("Four."))
    second = Conversation.create(agent, title="Pies", description="What they like")
    say(agent.first_conversation, "First")
    say(second, "I like pie")
    say(second, "And cake")
    say(agent.first_conversation, "Last")
    run = second.last_run()
    assert run
    last = second.messages.filter(content="Two.").get().number
    rest = {"tokens_before": 90, "tokens_after": 40, "written_by": "person"}
    Compaction.objects.create(
        conversation=second, run=run, first=3, last=last, summary="They like pie.", **rest
    )
    second.context_from = last + 1
    second.archive()
    second.save()
    agent.refresh_from_db()
    return agent, second


def file_of(agent: Agent, conversation: Conversation | None = None) -> dict[str, Any]:
    file: dict[str, Any] = json.loads("".join(written(agent, conversation)))
    return file


def sent(conversation: Conversation) -> list[str]:
    return [each.json for each in context_messages(conversation)]


def test_a_file_of_one_conversation_has_its_messages_alone(two: tuple[Agent, Conversation]) -> None:
    agent, second = two
    whole = json.dumps(file_of(agent, second)["agents"][0]["messages"][1:])
    assert "I like pie" in whole
    assert "And cake" in whole
    assert "First" not in whole
    assert "Last" not in whole


def test_one_conversation_comes_back_as_the_agents_first(
    two: tuple[Agent, Conversation], bob: User
) -> None:
    agent, second = two
    imported = import_agent(bob, file_of(agent, second))
    assert imported.notes == []
    (only,) = imported.agent.conversations.all()
    assert (only.is_first, only.title, only.description) == (True, "Pies", "What they like")
    assert only.archived_at is None
    assert only.context_from == 5
    summary = Compaction.newest(only)
    assert summary
    assert (summary.summary, summary.first, summary.last) == ("They like pie.", 1, 4)
    assert next(iter(summary.messages())).content == "I like pie"
    assert sent(only) == sent(second)
    human = imported.agent.block("human")
    assert human
    assert [edit.step is not None for edit in human.edits.all()] == [True]


def test_all_conversations_come_back_where_one_was_deleted_before(
    two: tuple[Agent, Conversation], bob: User
) -> None:
    agent, second = two
    third = Conversation.create(agent)
    say(third, "To go")
    fourth = Conversation.create(agent, title="After")
    say(fourth, "Kept")
    newest = fourth.messages.last()
    assert newest
    fourth.context_from = newest.number
    fourth.save()
    third.remove()
    agent.refresh_from_db()
    again = import_agent(bob, file_of(agent)).agent
    assert [each.title for each in again.conversations.order_by("created_at")] == [
        *("First", "Pies", "After")
    ]
    for old, new in ((second, "Pies"), (fourth, "After"), (agent.first_conversation, "First")):
        assert sent(again.conversations.get(title=new)) == sent(old)


def test_a_message_that_was_left_out_stays_out(two: tuple[Agent, Conversation], bob: User) -> None:
    agent, second = two
    said = second.messages.get(content="And cake")
    newest = second.messages.last()
    assert newest
    Message.objects.filter(pk=said.pk).update(left_out=newest.number)
    (only,) = import_agent(bob, file_of(agent, second)).agent.conversations.all()
    assert only.messages.get(content="And cake").left_out == only.messages.count()
    assert "And cake" not in "".join(sent(only))
