"""The tab of tools: attach, detach, rules."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from agents.memory.classes import ChatMemory, TaskMemory
from agents.models import Agent, Event, Tool
from agents.pages.forms.rules import in_words
from agents.pages.tools import COUNTED
from agents.runs.loop import run_agent
from agents.tools.attaching import attach, detach, set_rules
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.threads import at_once
from tests.support.tool_pages import SHOUT, html, tab, words_of


@pytest.fixture
def agent(alice: User) -> Agent:
    """Alice's agent, with two tools."""
    memory = ChatMemory(human="Name: Bob", persona="You are a helpful assistant")
    return Agent.create(alice, "Tutor", memory, tools=["core_memory_append", "core_memory_replace"])


def card(shown: str, name: str) -> str:
    """One tool's card in the tab."""
    found = re.search(rf'<li class="tool-card"[^>]*aria-label="{name}">.*?</footer>', shown, re.S)
    assert found, f"The tab shows no tool {name}."
    return found[0]


# -- the tab ---------------------------------------------------------------------------------------


def test_each_tool_is_shown_with_its_kind_its_arguments_and_its_rules(
    web: Client, alice: User, shout: Tool
) -> None:
    agent = Agent.create(alice, "Worker", TaskMemory(human="Bob", persona="I work", tasks=[]))
    attach(agent, "shout")
    agent.refresh_from_db()
    agent.configure(
        tools=[*agent.tools, "lost"],
        tool_rules=[
            {"type": "run_first", "tool_name": "task_queue_push"},
            {
                "type": "constrain_child_tools",
                "tool_name": "shout",
                "children": ["core_memory_append"],
            },
            {"type": "max_count_per_step", "tool_name": "shout", "max_count_limit": 3},
            {"type": "requires_approval", "tool_name": "core_memory_append"},
            {"type": "exit_loop", "tool_name": "core_memory_append"},
        ],
    )
    shown = tab(web, agent)
    assert "built in" in words_of(card(shown, "core_memory_append"))
    assert "ends the turn needs approval" in words_of(card(shown, "core_memory_append"))
    assert "of TaskMemory" in words_of(card(shown, "task_queue_push"))
    assert "must come first" in words_of(card(shown, "task_queue_push"))
    own = words_of(card(shown, "shout"))
    assert "custom not called Say it loudly." in own
    assert "at most 3 times a run must be followed by core_memory_append" in own
    assert "2 arguments" in own
    assert "times integer · optional · default 1 How often." in own
    assert reverse("tool", args=[shout.pk]) in card(shown, "shout")
    assert "This tool does not exist" in words_of(card(shown, "lost"))


def test_a_tool_that_ends_the_turn_by_itself_says_so(web: Client, agent: Agent) -> None:
    attach(agent, "send_message")
    assert "always ends the turn" in words_of(card(tab(web, agent), "send_message"))


def test_calls_are_counted_also_those_that_failed(
    web: Client, agent: Agent, ask: Ask, model: FakeOpenAI
) -> None:
    append = ("core_memory_append", {"label": "human", "content": "x"})
    model.script(calls(append, append), calls(("core_memory_append", {})), text("Done"))
    ask()
    assert "called 3 times" in words_of(card(tab(web, agent), "core_memory_append"))
    assert "not called" in words_of(card(tab(web, agent), "core_memory_replace"))


def test_only_the_newest_messages_are_read_to_count(web: Client, agent: Agent) -> None:
    call = {"id": "1", "name": "core_memory_append", "arguments": "{}"}
    for number in (1, COUNTED, COUNTED + 1):
        agent.messages.create(
            conversation_id=agent.pk, number=number, role="assistant", tool_calls=[call]
        )
    Agent.objects.filter(pk=agent.pk).update(message_count=COUNTED + 1)
    shown = tab(web, agent)
    assert "called 2 times" in words_of(card(shown, "core_memory_append"))
    assert "Calls are counted in the last 2,000 messages." in words_of(shown)


def test_the_tab_asks_little_of_the_database(
    web: Client, agent: Agent, shout: Tool, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    attach(agent, "shout")
    with django_assert_max_num_queries(9):
        tab(web, agent)


def test_a_tool_is_attached_and_detached_in_the_tab(web: Client, agent: Agent, shout: Tool) -> None:
    address = reverse("tool_attach", args=[agent.pk])
    shown = tab(web, agent)
    assert "<option>shout</option>" in shown
    assert "<option>core_memory_append</option>" not in shown  # it has that
    seq = Agent.objects.get(pk=agent.pk).last_seq
    assert web.post(address, {"tool": "shout"}).status_code == 200
    agent.refresh_from_db()
    assert agent.tools[-1] == "shout"
    assert agent.events.filter(seq__gt=seq, kind=Event.Kind.AGENT_CHANGED).exists()
    assert "<option>shout</option>" not in tab(web, agent)
    web.post(address, {"tool": "shout"})  # a second click
    agent.refresh_from_db()
    assert agent.tools.count("shout") == 1
    assert web.post(reverse("tool_detach", args=[agent.pk]), {"tool": "shout"}).status_code == 204
    agent.refresh_from_db()
    assert "shout" not in agent.tools
    web.post(reverse("tool_detach", args=[agent.pk]), {"tool": "shout"})
    assert Agent.objects.get(pk=agent.pk).tools == agent.tools


def test_what_is_no_tool_of_ones_own_is_not_attached(web: Client, agent: Agent, bob: User) -> None:
    Tool.from_source(bob, SHOUT.replace("def shout", "def bobs_shout"))
    for name in ("bobs_shout", "no_such", "", "task_queue_push"):
        response = web.post(reverse("tool_attach", args=[agent.pk]), {"tool": name})
        assert response.status_code == 422
        assert f"There is no tool &#x27;{name}&#x27; that Tutor can have." in html(response)
    assert "bobs_shout" not in tab(web, agent)
    agent.refresh_from_db()
    assert agent.tools == ["core_memory_append", "core_memory_replace"]


def test_detaching_takes_the_rules_along(agent: Agent) -> None:
    append, replace = agent.tools
    set_rules(agent, append, [{"type": "exit_loop", "tool_name": append}])
    follow = {"type": "constrain_child_tools", "tool_name": replace}
    set_rules(agent, replace, [follow | {"children": [append]}])
    detach(agent, append)
    agent.refresh_from_db()
    assert (agent.tools, agent.tool_rules) == ([replace], [])
    attach(agent, append)
    attach(agent, "archival_memory_insert")
    set_rules(agent, replace, [follow | {"children": [append, "archival_memory_insert"]}])
    detach(agent, append)
    agent.refresh_from_db()
    assert agent.tool_rules == [follow | {"children": ["archival_memory_insert"]}]


# -- rules -----------------------------------------------------------------------------------------


def test_rules_are_set_by_the_form_and_hold_in_a_run(
    web: Client, agent: Agent, ask: Ask, model: FakeOpenAI
) -> None:
    append, replace = agent.tools
    address = reverse("tool_rules", args=[agent.pk])
    form = {"tool": append, "exit_loop": "on", "max_count_limit": "2", "children": [replace]}
    assert web.post(address, form).status_code == 200
    agent.refresh_from_db()
    assert agent.tool_rules == [
        {"type": "exit_loop", "tool_name": append},
        {"type": "constrain_child_tools", "tool_name": append, "children": [replace]},
        {"type": "max_count_per_step", "tool_name": append, "max_count_limit": 2},
    ]
    shown = html(web.get(address, {"tool": append}))
    assert re.search(r'name="exit_loop"[^>]*checked', shown)
    assert re.search(r'name="max_count_limit" value="2"', shown)
    assert re.search(rf'value="{replace}"[^>]*checked', shown)
    assert not re.search(r'name="run_first"[^>]*checked', shown)
    model.script(calls((append, {"label": "human", "content": "x"})))
    assert ask().reason == "end_turn"
    assert web.post(address, {"tool": append}).status_code == 200  # nothing ticked
    agent.refresh_from_db()
    assert agent.tool_rules == []


def test_the_rules_of_other_tools_and_what_else_a_rule_says_stay(web: Client, agent: Agent) -> None:
    append, replace = agent.tools
    other = {"type": "requires_approval", "tool_name": replace}
    more = {"type": "run_first", "tool_name": append, "prompt_template": "First: {{ x }}"}
    agent.configure(tool_rules=[more, other])
    form = {"tool": append, "run_first": "on", "requires_approval": "on"}
    web.post(reverse("tool_rules", args=[agent.pk]), form)
    agent.refresh_from_db()
    assert agent.tool_rules == [other, more, {"type": "requires_approval", "tool_name": append}]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"max_count_limit": "0"}, "Give a number of calls, 1 or more, or leave it empty."),
        ({"max_count_limit": "often"}, "Enter a whole number."),
        ({"children": ["send_message"]}, "send_message is not one of the available choices"),
    ],
)
def test_rules_that_cannot_be_are_refused_in_words(
    web: Client, agent: Agent, wrong: dict[str, Any], said: str
) -> None:
    form = {"tool": agent.tools[0], "exit_loop": "on", **wrong}
    response = web.post(reverse("tool_rules", args=[agent.pk]), form)
    assert response.status_code == 422
    assert said in words_of(html(response))
    assert re.search(r'name="exit_loop"[^>]*checked', html(response))  # what was chosen is kept
    agent.refresh_from_db()
    assert agent.tool_rules == []


def test_rules_in_words() -> None:
    rules: list[dict[str, Any]] = [
        {"type": "constrain_child_tools", "tool_name": "a", "children": ["b", "c"]},
        {"type": "constrain_child_tools", "tool_name": "a", "children": ["c", "d"]},
        {"type": "max_count_per_step", "tool_name": "a", "max_count_limit": 1},
    ]
    assert in_words(rules) == ["at most once a run", "must be followed by b or c or d"]


# -- together --------------------------------------------------------------------------------------


def test_an_agent_calls_a_tool_that_was_made_and_attached_by_hand(
    web: Client, agent: Agent, model: FakeOpenAI
) -> None:
    web.post(reverse("tool_new"), {"source": SHOUT})
    web.post(reverse("tool_attach", args=[agent.pk]), {"tool": "shout"})
    model.script(calls(("shout", {"words": "hey"})), text("Done"))
    agent.refresh_from_db()
    run = agent.send("Shout", "key")
    run_agent(run.pk)
    answer = agent.messages.get(role="tool")
    assert (answer.content, answer.stdout.strip()) == ("HEY", "Shouting 1")
    human = agent.block("human")
    assert human is not None
    assert human.value == "Name: Bob\nHEY"
    assert "called 1 time" in words_of(card(tab(web, agent), "shout"))


@pytest.mark.django_db(transaction=True)
def test_attaching_while_the_tool_is_deleted_leaves_no_name_behind(
    agent: Agent, shout: Tool, web: Client
) -> None:
    """Whichever comes first: the agent ends without it."""
    attach = reverse("tool_attach", args=[agent.pk])
    delete = reverse("tool_delete", args=[shout.pk])
    at_once(lambda path: web.post(path, {"tool": "shout"}), [attach, delete])
    assert not Tool.objects.exists()
    agent.refresh_from_db()
    assert "shout" not in agent.tools


def test_a_placeholder_is_shown_as_one_and_not_offered(web: Client, agent: Agent) -> None:
    attach(agent, "open_files")
    attach(agent, "fetch_webpage")

    shown = tab(web, agent)

    placeholder = words_of(card(shown, "open_files"))
    assert "placeholder" in placeholder
    assert "not set up on this server" in placeholder
    assert "built in" in words_of(card(shown, "fetch_webpage"))
    assert "<option>run_code</option>" in shown
    assert "<option>grep_files</option>" not in shown


def test_a_placeholder_stays_when_the_agent_is_changed_by_the_form(
    web: Client, agent: Agent
) -> None:
    attach(agent, "open_files")

    settings = html(web.get(reverse("agent_settings", args=[agent.pk])))

    assert "Not set up on this server" in settings
    assert 'value="open_files"' in settings
    assert 'value="grep_files"' not in settings
