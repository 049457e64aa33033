"""Temporary chats: an agent without its memory, of which nothing is found and nothing stays."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.utils import timezone

from agents.accounts.leaving import hand_over
from agents.agent_file import export_agent
from agents.ledger.fork import fork
from agents.ledger.time_travel import step_at
from agents.memory import sent_requests
from agents.models import Agent, LimitReached, Message, Run, Tool
from agents.models.agent_list import list_agents
from agents.models.temporary import GRACE, LONGEST_IDLE, LONGEST_STOP, MOST
from agents.runs.loop import run_agent
from agents.search.across import agents_with, newest_keys
from agents.search.embedder import eligible
from agents.search.finding import find_in
from agents.search.scope import Messages
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, text

SECRET = "The heron nests at noon"
WRITE = '''
def note(agent_state: "AgentState", text: str):
    """Note a text in memory.

    Args:
        text: What.
    """
    agent_state.memory.update_block_value("human", text)
'''


@pytest.fixture
def chat(agent: Agent, alice: User) -> Agent:
    return agent.begin_temporary(alice)


def closed(chat: Agent) -> bool:
    return not Agent.every.filter(pk=chat.pk).exists()


def late(chat: Agent, **moments: timedelta) -> None:
    """As if the chat were so much older."""
    ago = {field: timezone.now() - back for field, back in moments.items()}
    Agent.every.filter(pk=chat.pk).update(**ago)


# -- without memory --------------------------------------------------------------------------------


def test_the_model_gets_no_memory_and_no_tool_of_it(
    agent: Agent, chat: Agent, ask: Ask, model: FakeOpenAI
) -> None:
    agent.refresh_from_db()
    Agent.every.filter(pk=chat.pk).update(tools=[*agent.tools, "run_code"])
    model.script(text("Hello."))
    ask(SECRET, of=Agent.every.get(pk=chat.pk))
    request = json.dumps(model.requests[-1])
    assert "You are a tutor." in request
    for word in ("Name: Bob", "recall memory", "archival", "core_memory", "conversation_search"):
        assert word not in request
    offered = [each["function"]["name"] for each in model.requests[-1]["tools"]]
    assert offered == ["run_code"]
    sent = sent_requests.sent(Run.objects.get(agent=chat).step_list[0])
    assert sent
    assert sent.proven


def test_a_tool_of_memory_is_refused_in_words_and_a_rule_cannot_demand_one(
    agent: Agent, alice: User, ask: Ask, model: FakeOpenAI
) -> None:
    rule = {"type": "required_before_exit", "tool_name": "core_memory_append"}
    agent.configure(tools=["core_memory_append", "archival_memory_search"], tool_rules=[rule])
    chat = agent.begin_temporary(alice)
    append = ("core_memory_append", {"label": "human", "content": "Likes pie"})
    model.script(calls(append, ("archival_memory_search", {"query": "pie"})), text("I cannot."))
    run = ask("I like pie", of=chat)
    assert run.reason == "end_turn"
    for answer in run.messages.filter(role="tool"):
        assert answer.is_error
        assert "This is a temporary chat, in which there is no memory" in answer.content
    human = agent.block("human")
    assert human
    assert human.value == "Name: Bob"


def test_a_tool_of_one_s_own_finds_no_memory_to_write(
    agent: Agent, alice: User, ask: Ask, model: FakeOpenAI
) -> None:
    Tool.from_source(alice, WRITE)
    agent.configure(tools=["note"])
    model.script(calls(("note", {"text": SECRET})), text("Well."))
    run = ask("Note it", of=agent.begin_temporary(alice))
    assert run.messages.get(role="tool").is_error
    assert [block.value for block in agent.core_memory() if SECRET in block.value] == []


# -- found nowhere ---------------------------------------------------------------------------------


def test_nothing_of_it_is_found_listed_counted_or_exported(
    agent: Agent, alice: User, chat: Agent, ask: Ask, model: FakeOpenAI
) -> None:
    model.script(text("Hello."), text(f"{SECRET}, you say."))
    ask("Good morning")
    agent.refresh_from_db()
    before = agent.message_count, agent.last_seq, agent.runs.count()
    ask(SECRET, of=chat)
    agent.refresh_from_db()
    assert before == (agent.message_count, agent.last_seq, agent.runs.count())
    assert Message.objects.filter(agent=chat, content__contains=SECRET).count() == 2
    assert not find_in(agent, "heron")[1]
    assert newest_keys(alice, [["heron"]], 9, Messages) == []
    assert agents_with(alice, "heron nests", 9) == [agent]
    assert not eligible(Message).filter(agent=chat).exists()
    listed: Any
    (listed,) = [each for _, group in list_agents(alice).groups for each in group]
    assert listed == agent
    assert "heron" not in listed.last_line
    step = step_at(agent, 1)
    assert step
    forked = fork(step, "Fork", alice)
    for each in (agent, forked):
        assert SECRET not in json.dumps(export_agent(each), default=str)
    assert set(Agent.objects.visible_to(alice)) == {agent, forked}
    assert set(alice.agents.all()) == {agent, forked}
    assert not Agent.objects.trashed_by(alice).exists()


# -- gone ------------------------------------------------------------------------------------------


def rows_of(chat: Agent) -> int:
    """How many rows there are of an agent, in all tables."""
    count = 0
    for model in apps.get_app_config("agents").get_models():
        fields = [f.name for f in model._meta.concrete_fields if f.related_model is Agent]
        rows: Any = model._base_manager.all()
        count += sum(rows.filter(**{name: chat.pk}).count() for name in fields)
    return count


def test_what_was_closed_leaves_no_row(
    chat: Agent, ask: Ask, model: FakeOpenAI, agent: Agent
) -> None:
    model.script(text("Hello."))
    ask(SECRET, of=chat)
    assert rows_of(chat) > 0
    chat.close_temporary()
    assert closed(chat)
    assert rows_of(chat) == 0
    assert not Message.objects.filter(content__contains=SECRET).exists()
    agent.refresh_from_db()
    assert agent.block("human")


def test_what_goes_on_is_stopped_before_it_is_deleted(chat: Agent, alice: User) -> None:
    run = chat.send("Hello", "one", author=alice)
    waiting = chat.send("And?", "two", author=alice)
    chat.close_temporary()
    run.refresh_from_db()
    assert run.stop_requested
    assert not Run.objects.filter(pk=waiting.pk).exists()
    assert Agent.find_visible_to(alice, chat.pk, temporary=True) is None, "nobody sees it any more"
    Agent.end_temporary()
    assert not closed(chat), "a worker has it in hand"
    run_agent(run.pk)
    run.refresh_from_db()
    assert run.status == "stopped"
    Agent.end_temporary()
    assert closed(chat)


def test_a_run_that_nobody_ends_does_not_keep_it(chat: Agent, alice: User) -> None:
    chat.send("Hello", "one", author=alice)
    chat.close_temporary()
    late(chat, deleted_at=LONGEST_STOP * 2)
    Agent.end_temporary()
    assert closed(chat)


def test_it_is_closed_when_no_page_shows_it_and_when_nobody_says_anything(
    agent: Agent, alice: User
) -> None:
    open_, left, idle, lively = (agent.begin_temporary(alice) for _ in range(4))
    late(left, seen_at=GRACE * 1.1)
    for chat in (idle, lively):
        late(chat, created_at=LONGEST_IDLE * 1.1)
    lively.send("Hello", "key", author=alice)
    Agent.end_temporary()
    assert [closed(each) for each in (open_, left, idle, lively)] == [False, True, True, False]
    assert agent.temporary_chats(alice.pk) == [open_, lively], "the newest first"


def test_a_page_keeps_it_open_without_writing_each_time(chat: Agent) -> None:
    late(chat, seen_at=GRACE / 2)
    chat.refresh_from_db()
    chat.keep_open()
    now = Agent.every.get(pk=chat.pk).seen_at
    assert timezone.now() - now < timedelta(seconds=30)
    chat.keep_open()
    assert Agent.every.get(pk=chat.pk).seen_at == now


def test_they_go_with_their_agent_and_with_its_owner(agent: Agent, alice: User, bob: User) -> None:
    first, second = agent.begin_temporary(alice), agent.begin_temporary(alice)
    hand_over(alice, bob)
    second.refresh_from_db()
    assert second.owner_id == bob.pk, "whose keys and tools it uses"
    first.close_temporary()
    agent.refresh_from_db()
    agent.trash()
    assert closed(second)
    agent.begin_temporary(bob)
    agent.purge()
    assert not Agent.every.exists()


def test_a_person_has_so_many_at_most(agent: Agent, alice: User, bob: User) -> None:
    for _ in range(MOST):
        agent.begin_temporary(alice)
    with pytest.raises(LimitReached, match="Close one of them"):
        agent.begin_temporary(alice)
    agent.begin_temporary(bob)


def test_a_lasting_agent_is_never_closed(agent: Agent, alice: User) -> None:
    agent.close_temporary()
    agent.keep_open()
    Agent.end_temporary()
    assert Agent.objects.get().seen_at is None
