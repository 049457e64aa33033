"""Conversations: one agent, one memory, several histories."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from pytest_django import DjangoCaptureOnCommitCallbacks
from pytest_django.fixtures import Settings

from agents.ledger.fork_conversation import fork
from agents.memory.context import compile_context
from agents.models import Agent, Compaction, Conversation, Editor, Event, LimitReached, Message, Run
from agents.models.conversation_list import list_conversations
from agents.runs import engine
from agents.runs.loop import run_agent
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.stored import stored
from tests.support.threads import at_once

APPEND = ("core_memory_append", {"label": "human", "content": "Likes pie"})


@pytest.fixture
def second(agent: Agent) -> Conversation:
    return Conversation.create(agent)


def say(conversation: Conversation, words: str, key: str) -> Run:
    run = conversation.send(words, key)
    run_agent(run.pk)
    run.refresh_from_db()
    return run


def sent(model: FakeOpenAI) -> str:
    """What the model was sent last, without the system message."""
    return str(model.requests[-1]["messages"][1:])


def test_what_is_said_in_one_is_not_sent_in_another_but_memory_is_in_both(
    agent: Agent, second: Conversation, ask: Ask, model: FakeOpenAI
) -> None:
    model.script(calls(APPEND), text("Noted."), text("Pie."))
    ask("I like pie")
    say(second, "What do I like?", "k")
    assert "I like pie" not in sent(model)
    assert "Likes pie" in str(model.requests[-1]["messages"][0])
    assert "What do I like?" not in str(compile_context(agent.first_conversation).history)


def test_runs_of_two_conversations_go_on_at_once_and_those_of_one_wait(
    agent: Agent, second: Conversation, model: FakeOpenAI
) -> None:
    first, other = agent.send("One", "1"), second.send("Two", "2")
    assert (first.status, other.status) == ("running", "running")
    assert second.send("Three", "3").status == "queued"
    model.script(text("To two."), text("To three."))
    run_agent(other.pk)
    assert [run.text for run in Run.objects.filter(status="running")] == ["One", "Three"]


def test_a_message_that_waits_behind_no_run_is_begun_in_its_conversation(
    second: Conversation, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    Run.objects.create(agent=second.agent, conversation=second, key="left", text="Left lying")
    second.agent.send("Goes on elsewhere", "1")
    engine.take_up()
    assert Run.objects.get(key="left").status == "running"


def test_the_first_message_gives_a_conversation_its_title(second: Conversation) -> None:
    second.send("  How do\nI grow " + "very " * 20 + "tall tomatoes?", "k")
    title = stored_conversation(second).title
    assert title.startswith("How do I grow very")
    assert title.endswith("very…")
    assert len(title) <= 60
    second.send("And cucumbers?", "k2")
    assert stored_conversation(second).title == title


def stored_conversation(conversation: Conversation) -> Conversation:
    return Conversation.objects.get(pk=conversation.pk)


def test_a_message_brings_an_archived_conversation_back(second: Conversation) -> None:
    second.archive()
    (listed,) = list_conversations(second.agent, second.agent.owner).groups
    assert listed[1] == [second.agent.first_conversation]
    second.send("Still here?", "k")
    assert stored_conversation(second).archived_at is None


def test_a_deleted_conversation_leaves_memory_as_it_is_and_takes_no_message(
    agent: Agent, second: Conversation, model: FakeOpenAI
) -> None:
    model.script(calls(APPEND), text("Noted."))
    say(second, "I like pie", "k")
    second.remove()
    assert not Message.objects.exists()
    human = agent.block("human")
    assert human is not None
    assert "Likes pie" in stored(human).value
    with pytest.raises(ValidationError, match="deleted"):
        second.send("Hello?", "k2")


def test_a_conversation_in_which_a_run_goes_on_is_not_deleted(second: Conversation) -> None:
    second.send("Hello", "k")
    with pytest.raises(ValidationError, match="goes on or waits"):
        second.remove()


def test_the_first_conversation_is_reset_and_not_deleted(
    agent: Agent, second: Conversation, ask: Ask, model: FakeOpenAI
) -> None:
    model.script(text("Hi."), text("Hi again."))
    ask("Hello")
    say(second, "Hello from here", "k")
    with pytest.raises(ValidationError, match="reset it instead"):
        agent.first_conversation.remove()
    assert agent.first_conversation.reset()
    assert [message.content for message in agent.messages.order_by("number")] == [
        "Hello from here", "Hi again.",
    ]  # fmt: skip
    model.script(text("Once more."))
    say(second, "And now?", "k2")
    assert "Hello from here" in sent(model)


def test_a_summary_belongs_to_its_conversation(
    agent: Agent, second: Conversation, ask: Ask, model: FakeOpenAI
) -> None:
    model.script(text("One."), text("Two."), text("They said two things."), text("Three."))
    ask("First")
    ask("Second")
    run_agent(agent.first_conversation.start("Compact now", "c", Run.Kind.COMPACTION).pk)
    assert Compaction.newest(agent.first_conversation) is not None
    assert Compaction.newest(second) is None
    say(second, "Third", "k")
    assert "They said two things" not in str(model.requests[-1])


def test_an_agent_has_no_more_conversations_than_it_may(agent: Agent, settings: Settings) -> None:
    settings.CONVERSATIONS_LIMIT = 2
    Conversation.create(agent)
    with pytest.raises(LimitReached, match="at most 2"):
        Conversation.create(agent)


def test_what_only_one_conversation_draws_is_marked_as_its_own(
    agent: Agent, second: Conversation, model: FakeOpenAI
) -> None:
    model.script(calls(APPEND), text("Noted."))
    last = Agent.objects.get(pk=agent.pk).last_seq
    say(second, "I like pie", "k")
    of: dict[str, set[object]] = {}
    for kind, conversation in agent.events.after(last).values_list("kind", "conversation"):
        of.setdefault(kind, set()).add(conversation)
    assert of.pop(Event.Kind.BLOCK_EDITED) == {None}
    assert {each for found in of.values() for each in found} == {second.pk}


def test_a_fork_begins_with_what_is_in_the_context_up_to_a_message(
    agent: Agent, ask: Ask, model: FakeOpenAI
) -> None:
    model.script(calls(APPEND), text("Noted."), text("Two."))
    ask("I like pie")
    until = Message.objects.get(role="assistant", content="")
    ask("One plus one?")
    forked = fork(agent.first_conversation, until)
    roles = list(forked.messages.order_by("number").values_list("role", flat=True))
    assert roles == ["user", "assistant", "tool"], "a call goes with its return"
    model.script(text("Forked."))
    say(forked, "Go on", "k")
    assert "I like pie" in sent(model)
    assert "One plus one?" not in sent(model)
    assert agent.first_conversation.messages.count() == 6


@pytest.mark.django_db(transaction=True)
def test_two_conversations_and_a_script_write_one_block_at_once_and_nothing_is_lost(
    agent: Agent,
    second: Conversation,
    model: FakeOpenAI,
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine, "submit", lambda run: None)
    for number in range(12):
        append = ("core_memory_append", {"label": "human", "content": f"Fact {number}."})
        model.script(calls(append))
    model.script(text("Done."), text("Done."))
    runs = [agent.send("Note it all", "1"), second.send("Note it all", "2")]

    def by_script() -> None:
        for number in range(12, 18):
            human = agent.block("human")
            assert human is not None
            human.append(f"Fact {number}.", by=Editor.person(alice, Editor.API))

    writers: list[Callable[[], None]] = [partial(run_agent, run.pk) for run in runs]
    at_once(lambda write: write(), [*writers, by_script])
    human = agent.block("human")
    assert human is not None
    assert {f"Fact {number}." in human.value for number in range(18)} == {True}
    assert human.version == human.edits.count() == 18
    assert set(Run.objects.values_list("status", flat=True)) == {"done"}
