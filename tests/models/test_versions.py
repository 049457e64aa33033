"""A message said again: what followed is put away, and comes back as it was, memory included."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from agents.agent_file import export_agent
from agents.memory import sent_requests
from agents.models import Agent, Block, Conversation, Editor, Message, Run
from agents.runs.loop import run_agent
from agents.search import hybrid
from agents.search.scope import Messages
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, text

APPEND = ("core_memory_append", {"label": "human", "content": "Likes pie"})


@pytest.fixture
def talk(agent: Agent, model: FakeOpenAI, ask: Ask) -> list[Run]:
    """Three messages; for the second the agent writes to its memory."""
    model.script(text("Hello, Bob."), calls(APPEND), text("Noted."), text("Pie."))
    return [ask("Hello"), ask("I like pie."), ask("What do I like?")]


def say_again(run: Run, author: User, *, text: str = "I like cake.", back: bool = False) -> Run:
    here = run.agent.first_conversation
    new = here.say_again(run, text, f"again-{run.pk}-{text}", author, with_memory=back)
    run_agent(new.pk)
    new.refresh_from_db()
    return new


def stored(row: Any) -> Any:
    return type(row).objects.get(pk=row.pk)


def shown(agent: Agent) -> list[str]:
    rows = Message.objects.filter(conversation=agent.pk, role__in=("user", "assistant"))
    return [row.content for row in rows if row.content]


def test_what_followed_is_put_away_and_the_model_hears_nothing_of_it(
    talk: list[Run], agent: Agent, alice: User, model: FakeOpenAI
) -> None:
    say_again(talk[1], alice)
    assert shown(agent) == ["Hello", "Hello, Bob.", "I like cake.", "OK"]
    said = [message["content"] for message in model.requests[-1]["messages"][1:]]
    assert said == ["Hello", "Hello, Bob.", "I like cake."]


def test_the_same_key_again_is_the_same_run(talk: list[Run], agent: Agent, alice: User) -> None:
    here = agent.first_conversation
    first = here.say_again(talk[1], "I like cake.", "key", alice)
    assert here.say_again(talk[1], "I like cake.", "key", alice) == first
    assert Conversation.every.filter(version_of=agent.pk).count() == 1


def test_a_version_comes_back_as_it_was_and_its_requests_stay_proven(
    talk: list[Run], agent: Agent, alice: User, model: FakeOpenAI
) -> None:
    before, new = shown(agent), say_again(talk[1], alice)
    assert talk[1].pk in new.versions
    agent.first_conversation.show_version(talk[1], alice)
    assert shown(agent) == before
    for run in talk:
        request = sent_requests.sent(stored(run).step_list[-1])
        assert request
        assert request.proven
    agent.first_conversation.show_version(new, alice)
    assert shown(agent) == ["Hello", "Hello, Bob.", "I like cake.", "OK"]
    request = sent_requests.sent(stored(new).step_list[-1])
    assert request
    assert request.proven


def test_memory_goes_back_and_comes_again_with_its_version(
    talk: list[Run], agent: Agent, human: Block, alice: User
) -> None:
    assert agent.first_conversation.blocks_since(talk[1]) == ["human"]
    assert agent.first_conversation.blocks_since(talk[2]) == []
    new = say_again(talk[1], alice, back=True)
    assert stored(human).value == "Name: Bob"
    agent.first_conversation.show_version(talk[1], alice)
    assert stored(human).value == "Name: Bob\nLikes pie"
    agent.first_conversation.show_version(new, alice)
    assert stored(human).value == "Name: Bob"


def test_memory_stays_where_that_is_wanted(
    talk: list[Run], agent: Agent, human: Block, alice: User
) -> None:
    new = say_again(talk[1], alice)
    assert stored(human).value == "Name: Bob\nLikes pie"
    agent.first_conversation.show_version(talk[1], alice)
    agent.first_conversation.show_version(new, alice)
    assert stored(human).value == "Name: Bob\nLikes pie"


def test_what_somebody_wrote_in_the_same_lines_since_then_is_not_overwritten(
    talk: list[Run], agent: Agent, human: Block, alice: User, by: Editor
) -> None:
    human.replace("Likes pie", "Likes plum pie", by=by)
    new = say_again(talk[1], alice, back=True)
    assert stored(human).value == "Name: Bob\nLikes plum pie"
    agent.first_conversation.show_version(talk[1], alice)
    agent.first_conversation.show_version(new, alice)
    assert stored(human).value == "Name: Bob\nLikes plum pie"


def test_versions_within_versions_keep_their_places(
    talk: list[Run], agent: Agent, alice: User
) -> None:
    later = say_again(talk[2], alice, text="And now?")
    first = say_again(talk[0], alice, text="Good day")
    assert shown(agent) == ["Good day", "OK"]
    agent.first_conversation.show_version(talk[0], alice)
    assert shown(agent)[-2:] == ["And now?", "OK"]
    agent.first_conversation.show_version(talk[2], alice)
    assert shown(agent)[-2:] == ["What do I like?", "Pie."]
    assert stored(talk[2]).versions == [talk[2].pk, later.pk]
    assert stored(first).versions == [talk[0].pk, first.pk]


def test_a_compaction_that_is_put_away_gives_the_context_back(
    talk: list[Run], agent: Agent, alice: User, model: FakeOpenAI
) -> None:
    model.script(text("A summary."))
    here = agent.first_conversation
    compaction = here.start("Compact now", "compact", Run.Kind.COMPACTION)
    run_agent(compaction.pk)
    assert stored(here).context_from > 1
    new = say_again(talk[1], alice)
    assert model.requests[-1]["messages"][1]["content"] == "Hello"
    agent.first_conversation.show_version(talk[1], alice)
    assert stored(here).context_from > 1
    agent.first_conversation.show_version(new, alice)
    assert stored(here).context_from <= 1


def test_nothing_is_put_away_while_the_agent_works(
    talk: list[Run], agent: Agent, alice: User
) -> None:
    here = agent.first_conversation
    here.send("And now?", "key")
    with pytest.raises(ValidationError, match="still at work"):
        here.say_again(talk[1], "I like cake.", "again", alice)
    assert len(shown(agent)) == 7


def test_what_was_put_away_is_in_no_list_search_or_export(
    talk: list[Run], agent: Agent, alice: User
) -> None:
    say_again(talk[1], alice)
    assert [each.pk for each in agent.conversations.all()] == [agent.pk]
    found = hybrid.search(Messages(agent), "pie", 10).rows
    assert [row.content for row, _ in found] == []
    exported = str(export_agent(agent))
    assert "I like cake." in exported
    assert "What do I like?" not in exported


def test_a_version_that_was_put_away_is_gone_with_its_conversation(
    talk: list[Run], agent: Agent, alice: User
) -> None:
    say_again(talk[1], alice)
    agent.first_conversation.reset()
    assert not Conversation.every.filter(version_of=agent.pk).exists()
    assert not Run.objects.filter(agent=agent).exists()
