"""The tab of tools, and the pages of custom tools: attach, rules, write, rename, try, delete."""

from __future__ import annotations

import re
import threading
import time
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries, Settings

from agents.loop import run_agent
from agents.memory import ChatMemory, TaskMemory
from agents.models import Agent, Editor, Event, Passage, Tool
from agents.tool_arguments import ArgumentsForm
from agents.tool_forms import EXAMPLE, in_words
from agents.tools import custom, of_agent, trying
from agents.tools.attaching import attach, detach, rewrite, set_rules
from agents.tools.custom import read_source, sandbox
from agents.views.tools import COUNTED
from tests.addresses import everything
from tests.conftest import Ask
from tests.fake_openai import FakeOpenAI, calls, text

SHOUT = '''\
def shout(agent_state, words: str, times: int = 1):
    """Say it loudly.

    Args:
        words (str): What to say.
        times (int): How often.
    """
    print("Shouting", times)
    block = agent_state.memory.get_block("human")
    agent_state.memory.update_block_value("human", block.value + "\\n" + words.upper())
    return words.upper() * times
'''
PUT_AWAY = '''\
def put_away(agent_state, text: str):
    """Put a text away, and look for it.

    Args:
        text (str): The text.
    """
    from letta_client import Letta
    client = Letta()
    client.agents.passages.create(agent_state.id, text=text, tags=["kept"])
    return len(client.agents.passages.search(agent_state.id, query=text).results)
'''


def browser(user: User, settings: Settings) -> Client:
    settings.ACCOUNTS = True
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def agent(alice: User) -> Agent:
    """Alice's agent, with two tools."""
    memory = ChatMemory(human="Name: Bob", persona="You are a helpful assistant")
    return Agent.create(alice, "Tutor", memory, tools=["core_memory_append", "core_memory_replace"])


@pytest.fixture
def shout(alice: User) -> Tool:
    return Tool.from_source(alice, SHOUT)


def html(response: Any) -> str:
    return str(response.content.decode())


def tab(web: Client, agent: Agent) -> str:
    return html(web.get(reverse("panel_tab", args=[agent.pk, "tools"])))


def card(shown: str, name: str) -> str:
    """One tool's card in the tab."""
    found = re.search(rf'<li class="tool-card"[^>]*aria-label="{name}">.*?</footer>', shown, re.S)
    assert found, f"The tab shows no tool {name}."
    return found[0]


def words_of(markup: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", markup).split())


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
    assert "times integer, optional, else 1 How often." in own
    assert reverse("tool", args=[shout.pk]) in card(shown, "shout")
    assert "There is no such tool" in words_of(card(shown, "lost"))


def test_a_tool_that_ends_the_turn_by_itself_says_so(web: Client, agent: Agent) -> None:
    attach(agent, "send_message")
    assert "ends the turn, by itself" in words_of(card(tab(web, agent), "send_message"))


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
        agent.messages.create(number=number, role="assistant", tool_calls=[call])
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
        assert f"There is no tool &#x27;{name}&#x27; that Tutor could be given." in html(response)
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
        ({"max_count_limit": "0"}, "Give a number of calls, 1 or more, or nothing."),
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


# -- one's own tools -------------------------------------------------------------------------------


def test_the_example_is_a_tool_that_works(web: Client, agent: Agent) -> None:
    shown = html(web.get(reverse("tool_new")))
    assert "def note_deadline(" in shown
    assert "note_deadline" in words_of(shown.partition('id="told"')[2])
    form = {"source": EXAMPLE, "agent": str(agent.pk)}
    form |= {"argument-what": "Taxes", "argument-date": "2027-05-31", "argument-urgent": "true"}
    tried = words_of(html(web.post(reverse("tool_try_new"), form)))
    assert "Noted; the block has 2 lines." in tried
    assert "Adding: Deadline 2027-05-31: Taxes (urgent)" in tried
    assert "+ Deadline 2027-05-31: Taxes (urgent)" in tried


def test_a_tool_is_made_by_the_form(web: Client, alice: User) -> None:
    form = {"source": SHOUT.replace("\n", "\r\n"), "tags": " loud, fun ,loud,", "seconds": "2.5"}
    made = web.post(reverse("tool_new"), form)
    tool = Tool.objects.get(owner=alice)
    assert made.headers["Location"] == reverse("tool", args=[tool.pk])
    assert (tool.name, tool.source) == ("shout", SHOUT)
    assert (tool.tags, tool.seconds, tool.megabytes) == (["loud", "fun"], 2.5, None)
    assert tool.return_char_limit == 50_000
    listed = words_of(html(web.get(reverse("tools"))))
    assert "shout loud fun Say it loudly. No agent uses it" in listed


def test_the_list_says_which_agents_use_a_tool(web: Client, agent: Agent, shout: Tool) -> None:
    attach(agent, "shout")
    gone = Agent.create(agent.owner, "Gone", ChatMemory(), tools=["shout"])
    gone.trash()
    listed = words_of(html(web.get(reverse("tools"))))
    assert "Used by Tutor · changed" in listed


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"source": "def f(:"}, "The source is not Python: invalid syntax in line 1. Line 1."),
        ({"source": "\n\ndef f(x):\n    '''Do.'''"}, "is missing; write 'x: str'. Line 3."),
        ({"source": ""}, "The source is empty; write a function."),
        ({"source": "x = 1"}, "The source has no public function"),
        ({"source": "def send_message():\n    '''Do.'''"}, "'send_message' is a built-in tool"),
        ({"seconds": "6"}, "A tool may take more than 0 and at most 5 s."),
        ({"seconds": "soon"}, "Enter a number."),
        ({"megabytes": "-1"}, "A tool may take more than 0 and at most 64 MB."),
        ({"return_char_limit": "50001"}, "less than or equal to 50000"),
        ({"tags": ",".join(map(str, range(51)))}, "There are 51 tags; 50 is the most."),
    ],
)
def test_what_cannot_be_saved_is_said_and_typing_is_kept(
    web: Client, changed: dict[str, str], said: str
) -> None:
    form = {"source": SHOUT, "seconds": "1", "tags": "a, b", **changed}
    response = web.post(reverse("tool_new"), form)
    assert response.status_code == 422
    shown = html(response).replace("&#x27;", "'")
    assert said in words_of(shown)
    assert form["tags"] in shown
    assert form["source"][:20] in shown
    assert not Tool.objects.exists()


def test_all_that_is_wrong_is_said_at_once(web: Client) -> None:
    response = web.post(reverse("tool_new"), {"source": "def f(:", "seconds": "77"})
    assert html(response).count("The source is not Python") == 1
    assert "at most 5 s." in html(response)


def test_a_name_that_is_taken_is_not_overwritten(
    web: Client, shout: Tool, bob: User, settings: Settings
) -> None:
    other = SHOUT.replace("loudly", "quietly")
    response = web.post(reverse("tool_new"), {"source": other})
    assert response.status_code == 422
    assert "You have a tool &#x27;shout&#x27; already" in html(response)
    shout.refresh_from_db()
    assert shout.description == "Say it loudly."
    assert browser(bob, settings).post(reverse("tool_new"), {"source": other}).status_code == 302


def save(web: Client, tool: Tool, **changed: Any) -> Any:
    tool.refresh_from_db()
    form = {"source": tool.source, "seen": tool.updated_at.isoformat(), **changed}
    return web.post(reverse("tool", args=[tool.pk]), form)


def test_a_renamed_function_stays_with_its_agents_and_rules(
    web: Client, agent: Agent, shout: Tool
) -> None:
    attach(agent, "shout")
    append = agent.tools[0]
    set_rules(agent, "shout", [{"type": "exit_loop", "tool_name": "shout"}])
    follow = {"type": "constrain_child_tools", "tool_name": append}
    set_rules(agent, append, [follow | {"children": ["shout"]}])
    gone = Agent.create(agent.owner, "Gone", ChatMemory(), tools=["shout"])
    gone.trash()
    source = SHOUT.replace("def shout", "def whisper")
    read = web.post(reverse("tool_read", args=[shout.pk]), {"source": source})
    assert "Saving renames the tool from shout to whisper" in html(read)
    assert save(web, shout, source=source).status_code == 302
    for each in (agent, gone, shout):
        each.refresh_from_db()
    assert shout.name == "whisper"
    assert agent.tools[-1] == "whisper"
    assert "whisper" in of_agent(agent)
    assert gone.tools == ["whisper"]
    assert agent.tool_rules == [
        {"type": "exit_loop", "tool_name": "whisper"},
        follow | {"children": ["whisper"]},
    ]


def test_a_tool_keeps_its_function_when_another_is_added_below(web: Client, shout: Tool) -> None:
    source = SHOUT + '\n\ndef last():\n    """Another."""\n'
    assert save(web, shout, source=source).status_code == 302
    shout.refresh_from_db()
    assert (shout.name, shout.source) == ("shout", source)


def test_a_new_name_that_an_agent_has_for_another_tool_is_refused(
    web: Client, alice: User, shout: Tool
) -> None:
    agent = Agent.create(alice, "Worker", TaskMemory(human="", persona="", tasks=[]))
    attach(agent, "shout")
    response = save(web, shout, source=SHOUT.replace("def shout", "def task_queue_push"))
    assert response.status_code == 422
    assert "The agent Worker uses this tool and has another one called" in html(response)
    shout.refresh_from_db()
    assert shout.name == "shout"


def test_a_saved_change_shows_in_the_open_panels_of_agents_that_use_it(
    web: Client, agent: Agent, shout: Tool
) -> None:
    attach(agent, "shout")
    seq = Agent.objects.get(pk=agent.pk).last_seq
    assert save(web, shout, source=SHOUT.replace("loudly", "quietly")).status_code == 302
    assert agent.events.filter(seq__gt=seq, kind=Event.Kind.AGENT_CHANGED).count() == 1


def test_a_change_made_meanwhile_is_not_overwritten_unseen(web: Client, shout: Tool) -> None:
    first = shout.updated_at
    theirs = SHOUT.replace("loudly", "softly")
    rewrite(shout, first, source=theirs)
    mine = SHOUT.replace("loudly", "at length")
    form = {"source": mine, "seen": first.isoformat()}
    response = web.post(reverse("tool", args=[shout.pk]), form)
    assert response.status_code == 409
    assert "was changed since you opened it, so nothing was saved" in html(response)
    assert "Say it softly." in html(response)
    assert "Say it at length." in html(response)
    shout.refresh_from_db()
    assert shout.source == theirs
    again = re.search(r'name="seen" value="([^"]+)"', html(response))
    assert again
    assert web.post(reverse("tool", args=[shout.pk]), form | {"seen": again[1]}).status_code == 302
    shout.refresh_from_db()
    assert shout.source == mine
    for nonsense in ("", "yesterday", "2027-99-99T00:00", str(first + timedelta(days=1))):
        response = web.post(reverse("tool", args=[shout.pk]), form | {"seen": nonsense})
        assert response.status_code == 409


def test_a_deleted_tool_leaves_its_agents_and_their_rules(
    web: Client, agent: Agent, shout: Tool
) -> None:
    attach(agent, "shout")
    set_rules(agent, "shout", [{"type": "exit_loop", "tool_name": "shout"}])
    gone = Agent.create(agent.owner, "Gone", ChatMemory(), tools=["shout"])
    gone.trash()
    address = reverse("tool_delete", args=[shout.pk])
    asked = words_of(html(web.get(address)))
    assert "Delete shout?" in asked
    assert "1 agent can no longer call it, and loses the rules that name it: Tutor" in asked
    assert Tool.objects.filter(pk=shout.pk).exists()
    assert web.post(address).headers["Location"] == reverse("tools")
    for each in (agent, gone):
        each.refresh_from_db()
        assert "shout" not in each.tools
    assert agent.tool_rules == []
    assert not Tool.objects.exists()


# -- reading while typing --------------------------------------------------------------------------


def test_the_schema_follows_what_is_typed(web: Client) -> None:
    form = {"source": SHOUT, "argument-words": "<b>hi", "seconds": "99"}
    shown = html(web.post(reverse("tool_read_new"), form))
    assert "times integer, optional, else 1" in words_of(shown)
    assert "&lt;b&gt;hi" in shown  # what was typed as an argument is kept
    assert "refusal" not in shown  # of the source; the limits are looked at when it is saved
    assert not Tool.objects.exists()


def test_a_source_that_cannot_be_read_says_where(web: Client) -> None:
    source = SHOUT.replace("words: str", "words: strng")
    shown = html(web.post(reverse("tool_read_new"), {"source": source}))
    assert 'data-line="1"' in shown
    assert "strng is not one of" in shown
    assert 'hx-target="#try-fields"' not in shown  # what was typed there stays


def test_what_a_source_says_is_shown_as_text(web: Client, agent: Agent) -> None:
    nasty = "<script>alert(1)</script>"
    source = SHOUT.replace("loudly", nasty).replace("What to say", nasty)
    source = source.replace('print("Shouting", times)', f'print("{nasty}")')
    form = {"source": source, "argument-words": nasty, "agent": str(agent.pk)}
    tool = web.post(reverse("tool_new"), form).headers["Location"]
    attach(agent, "shout")
    for shown in (
        html(web.get(tool)),
        html(web.get(reverse("tools"))),
        html(web.post(reverse("tool_read_new"), form)),
        html(web.post(tool + "try/", form)),
        tab(web, agent),
    ):
        assert nasty not in shown
        assert "&lt;script&gt;" in shown


# -- trying ----------------------------------------------------------------------------------------


def attempt(web: Client, agent: Agent, source: str, **arguments: str) -> Any:
    form = {"source": source, "agent": str(agent.pk)}
    form |= {f"argument-{name}": value for name, value in arguments.items()}
    return web.post(reverse("tool_try_new"), form)


def test_a_try_shows_what_would_happen_and_changes_nothing(web: Client, agent: Agent) -> None:
    before = everything()
    response = attempt(web, agent, SHOUT, words="Name: Sarah", times="2")
    assert response.status_code == 200
    said = words_of(html(response))
    assert "ran" in said
    assert re.search(r"\d+ ms · on the memory of Tutor · nothing was changed", said)
    assert "Return NAME: SARAHNAME: SARAH Printed Shouting 2" in said
    assert "It would change block human + NAME: SARAH" in said
    assert everything() == before


def test_a_try_shows_the_passages_it_would_put_away(web: Client, agent: Agent) -> None:
    response = attempt(web, agent, PUT_AWAY, text="Bob likes pie")
    said = words_of(html(response))
    assert "It would put into archival memory Bob likes pie kept" in said
    assert "Return 1" in said
    assert not Passage.objects.exists()


def test_a_try_that_fails_says_in_which_line(web: Client, agent: Agent) -> None:
    source = SHOUT.replace("    print", "    1 / 0\n    print", 1)
    shown = html(attempt(web, agent, source, words="x"))
    assert "ZeroDivisionError: division by zero (line 8 of its source)" in shown
    assert 'data-line="8"' in shown
    assert "It would change block" not in shown


def test_a_try_keeps_to_the_limits_that_are_typed(web: Client, agent: Agent) -> None:
    source = 'def turn():\n    """Turn round."""\n    while True:\n        pass\n'
    form = {"source": source, "agent": str(agent.pk), "seconds": "0.2"}
    began = time.monotonic()
    shown = html(web.post(reverse("tool_try_new"), form))
    assert "it did not end within 0.2 s" in shown
    assert time.monotonic() - began < 5
    cut = {"source": SHOUT, "agent": str(agent.pk), "argument-words": "abc" * 9}
    shown = html(web.post(reverse("tool_try_new"), cut | {"return_char_limit": "3"}))
    assert "[Cut here: 24 of 27 characters left out.]" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"words": "x", "times": "1.5"}, "shout was not called: the argument 'times'"),
        ({"words": "x", "times": "many"}, "The argument 'times' is not JSON"),
        ({"words": "x", "times": "NaN"}, "shout was not called: the argument 'times'"),
        ({"words": "x", "times": "[" * 100_000}, "The argument 'times' is not JSON"),
    ],
)
def test_arguments_that_do_not_fit_are_said(
    web: Client, agent: Agent, arguments: dict[str, str], said: str
) -> None:
    response = attempt(web, agent, SHOUT, **arguments)
    assert response.status_code == 422
    assert said in html(response).replace("&#x27;", "'")


def test_odd_texts_are_tried_all_the_same(web: Client, agent: Agent) -> None:
    echo = 'def echo(x: list):\n    """Say it.\n\n    Args:\n        x (list): What.\n    """\n'
    for odd in ('["\\ud800"]', '["\\u0000"]', "[1e999]"):
        response = attempt(web, agent, f"{echo}    print(x)\n    return x\n", x=odd)
        assert response.status_code in (200, 422), odd


def test_a_source_whose_name_is_taken_can_be_tried(web: Client, agent: Agent, shout: Tool) -> None:
    louder = SHOUT.replace("words.upper() * times", "words.upper() + '!'")
    assert "HEY!" in html(attempt(web, agent, louder, words="hey"))


def test_a_try_needs_a_source_and_an_agent_of_ones_own(
    web: Client, agent: Agent, bob: User
) -> None:
    assert "The source is not Python" in html(attempt(web, agent, "def f(:"))
    bobs = Agent.create(bob, "Bob's", ChatMemory(human="Secret"))
    for pk in (str(bobs.pk), str(uuid4()), "x", ""):
        form = {"source": SHOUT, "agent": pk, "argument-words": "x"}
        response = web.post(reverse("tool_try_new"), form)
        assert response.status_code == 422
        assert "Choose one of your agents" in html(response)


def test_a_person_tries_one_tool_at_a_time_and_leaves_sandboxes_to_others(
    web: Client, agent: Agent, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    with trying.one_at_a_time(alice):
        response = attempt(web, agent, SHOUT, words="x")
        assert response.status_code == 429
        assert "A try of yours still goes on" in html(response)
        with trying.one_at_a_time(bob):
            third = trying.one_at_a_time(User.objects.create_user("carol"))
            with pytest.raises(trying.Busy, match="Others are trying"):
                third.__enter__()
    assert attempt(web, agent, SHOUT, words="x").status_code == 200
    monkeypatch.setattr(custom.CustomTool, "prepare", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        attempt(web, agent, SHOUT, words="x")
    assert not trying._trying


@pytest.mark.django_db(transaction=True)
def test_the_database_itself_refuses_a_try_that_writes(
    agent: Agent, web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    Passage.insert(agent, "Bob likes pie", [], by=Editor.person(agent.owner))
    found = words_of(html(attempt(web, agent, PUT_AWAY, text="likes pie")))
    assert "Return 2" in found  # searching needs no writing
    prepare = custom.CustomTool.prepare

    def writes(tool: custom.CustomTool, of: Agent, arguments: dict[str, Any]) -> Any:
        Agent.objects.filter(pk=of.pk).update(name="Changed")
        return prepare(tool, of, arguments)

    monkeypatch.setattr(custom.CustomTool, "prepare", writes)
    with pytest.raises(Exception, match=r"readonly|read-only"):
        attempt(web, agent, SHOUT, words="x")
    assert Agent.objects.get(pk=agent.pk).name == "Tutor"
    with connection.cursor() as cursor:
        cursor.execute("UPDATE agents_agent SET name = 'Writable again'")


def test_where_the_sandbox_is_missing_its_sentence_stands_in_its_place(
    web: Client, agent: Agent, shout: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = Tool.from_source(agent.owner, SHOUT.replace("def shout", "def quiet"))
    attach(agent, "shout")
    monkeypatch.setattr(sandbox, "_pools", {})
    monkeypatch.setenv("MONTY_BIN", "/bin/false")
    off = "Custom tools are off: the sandbox they run in, pydantic-monty, does not start"
    for shown in (
        html(web.get(reverse("tools"))),
        html(web.get(reverse("tool", args=[shout.pk]))),
        html(web.get(reverse("tool_new"))),
        tab(web, agent),
        html(attempt(web, agent, SHOUT, words="x")),
    ):
        assert off in shown
    assert 'id="try-form"' not in html(web.get(reverse("tool_new")))
    assert f"<option>{quiet.name}</option>" not in tab(web, agent)
    assert save(web, shout, source=SHOUT.replace("loudly", "softly")).status_code == 302


# -- the form of the arguments ---------------------------------------------------------------------


TYPES = '''
from typing import Literal, Optional

def f(text: str, maybe: Optional[str], number: int, share: float, yes: bool,
      many: list, how: Literal["a", 2], one: Literal["x"], given: Optional[list] = None,
      later: str = "tea", on: bool = True):
    """Do.

    Args:
        text: A.
        maybe: A.
        number: A.
        share: A.
        yes: A.
        many: A.
        how: A.
        one: A.
        given: A.
        later: A.
        on: A.
    """
'''


def test_each_argument_has_a_field_of_its_type() -> None:
    schema = read_source(TYPES).schema
    shown = str(ArgumentsForm(schema, {}))
    assert re.search(r'<input type="number" name="argument-number"', shown)
    assert re.search(r'<textarea name="argument-text"', shown)
    assert 'placeholder="JSON […]"' in shown
    assert re.search(r'<select name="argument-yes"[^>]*>\s*<option value="true">True', shown)
    assert re.search(r'<option value="2">2</option>', shown)
    assert "left out, so true" in shown
    assert "errorlist" not in shown


def test_arguments_are_read_as_their_types() -> None:
    schema = read_source(TYPES).schema
    typed = {"text": "a\r\nb", "maybe": "", "number": "3", "share": "0.5", "yes": "false"}
    typed |= {"many": '["x"]', "how": "2", "one": '"x"'}
    form = ArgumentsForm(schema, {f"argument-{name}": value for name, value in typed.items()})
    given = form.arguments()
    assert given == {
        "text": "a\nb",
        "maybe": None,
        "number": 3,
        "share": 0.5,
        "yes": False,
        "many": ["x"],
        "how": 2,
        "one": "x",
    }
    read_source(TYPES).arguments.model_validate(given, strict=True)
    more = {"argument-given": "[1]", "argument-later": "pie", "argument-on": "false"}
    given = ArgumentsForm(schema, more).arguments()
    assert (given["given"], given["later"], given["on"]) == ([1], "pie", False)


# -- whose it is -----------------------------------------------------------------------------------


def test_a_strangers_tools_are_not_there(
    agent: Agent, shout: Tool, bob: User, settings: Settings
) -> None:
    attach(agent, "shout")
    stranger = browser(bob, settings)
    before = everything()
    form = {"source": SHOUT, "tool": "shout", "agent": str(agent.pk)}
    for name in ("tool", "tool_read", "tool_try", "tool_delete"):
        address = reverse(name, args=[shout.pk])
        assert stranger.post(address, form).status_code == 404, name
        assert stranger.get(address).status_code in (404, 405), name
    for name in ("tool_attach", "tool_detach", "tool_rules"):
        address = reverse(name, args=[agent.pk])
        assert stranger.post(address, form).status_code == 404, name
    assert (
        stranger.get(reverse("tool_rules", args=[agent.pk]), {"tool": "shout"}).status_code == 404
    )
    assert "shout" not in html(stranger.get(reverse("tools")))
    nobody = Client()
    for name in ("tools", "tool_new"):
        assert nobody.get(reverse(name)).status_code == 302
    left = everything()
    for table in ("agents.Agent", "agents.Tool", "agents.Event"):
        assert left[table] == before[table]


def test_nothing_is_changed_by_looking(web: Client, agent: Agent, shout: Tool) -> None:
    attach(agent, "shout")
    before = everything()
    for address in (
        reverse("tools"),
        reverse("tool_new"),
        reverse("tool", args=[shout.pk]),
        reverse("tool_delete", args=[shout.pk]),
        reverse("tool_rules", args=[agent.pk]) + "?tool=shout",
        reverse("panel_tab", args=[agent.pk, "tools"]),
    ):
        assert web.get(address).status_code == 200, address
    for name in ("tool_attach", "tool_detach"):
        assert web.get(reverse(name, args=[agent.pk])).status_code == 405
    for name in ("tool_read", "tool_try"):
        assert web.get(reverse(name, args=[shout.pk])).status_code == 405
        assert web.get(reverse(f"{name}_new")).status_code == 405
    assert everything() == before


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
    begin = threading.Barrier(2)

    def at_once(path: str, form: dict[str, str]) -> None:
        begin.wait(5)
        web.post(path, form)
        connection.close()

    ways = [
        (reverse("tool_attach", args=[agent.pk]), {"tool": "shout"}),
        (reverse("tool_delete", args=[shout.pk]), {}),
    ]
    threads = [threading.Thread(target=at_once, args=way) for way in ways]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not Tool.objects.exists()
    agent.refresh_from_db()
    assert "shout" not in agent.tools
