"""The pages of custom tools: written, rewritten, renamed, deleted, each its owner's."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents.memory.classes import ChatMemory, TaskMemory
from agents.models import Agent, Event, Tool
from agents.pages.forms.tool import EXAMPLE
from agents.tools import of_agent
from agents.tools.attaching import attach, rewrite, set_rules
from tests.support.addresses import everything
from tests.support.tool_pages import SHOUT, html, save, tab, words_of


@pytest.fixture
def agent(alice: User) -> Agent:
    """Alice's agent, with two tools."""
    memory = ChatMemory(human="Name: Bob", persona="You are a helpful assistant")
    return Agent.create(alice, "Tutor", memory, tools=["core_memory_append", "core_memory_replace"])


# -- one's own tools -------------------------------------------------------------------------------


def test_the_example_is_a_tool_that_works(web: Client, agent: Agent) -> None:
    shown = html(web.get(reverse("tool_new")))
    assert "def note_deadline(" in shown
    assert "note_deadline" in words_of(shown.partition('id="tool-schema"')[2])
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
        ({"seconds": "6"}, "Give more than 0 and at most 5 s."),
        ({"seconds": "soon"}, "Enter a number."),
        ({"megabytes": "-1"}, "Give more than 0 and at most 64 MB."),
        ({"return_char_limit": "50001"}, "less than or equal to 50000"),
        ({"tags": ",".join(map(str, range(51)))}, "There are 51 tags; at most 50 are allowed."),
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
    web: Client, bobs_web: Client, shout: Tool
) -> None:
    other = SHOUT.replace("loudly", "quietly")
    response = web.post(reverse("tool_new"), {"source": other})
    assert response.status_code == 422
    assert "You have a tool &#x27;shout&#x27; already" in html(response)
    shout.refresh_from_db()
    assert shout.description == "Say it loudly."
    assert bobs_web.post(reverse("tool_new"), {"source": other}).status_code == 302


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
    assert "times integer · optional · default 1" in words_of(shown)
    assert "&lt;b&gt;hi" in shown  # what was typed as an argument is kept
    assert "refusal" not in shown  # of the source; the limits are looked at when it is saved
    assert not Tool.objects.exists()


def test_a_source_that_cannot_be_read_says_where(web: Client) -> None:
    source = SHOUT.replace("words: str", "words: strng")
    shown = html(web.post(reverse("tool_read_new"), {"source": source}))
    assert 'data-line="1"' in shown
    assert "strng is not supported" in shown
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


# -- whose it is -----------------------------------------------------------------------------------


def test_a_strangers_tools_are_not_there(agent: Agent, shout: Tool, bobs_web: Client) -> None:
    attach(agent, "shout")
    before = everything()
    form = {"source": SHOUT, "tool": "shout", "agent": str(agent.pk)}
    for name in ("tool", "tool_read", "tool_try", "tool_delete"):
        address = reverse(name, args=[shout.pk])
        assert bobs_web.post(address, form).status_code == 404, name
        assert bobs_web.get(address).status_code in (404, 405), name
    for name in ("tool_attach", "tool_detach", "tool_rules"):
        address = reverse(name, args=[agent.pk])
        assert bobs_web.post(address, form).status_code == 404, name
    assert (
        bobs_web.get(reverse("tool_rules", args=[agent.pk]), {"tool": "shout"}).status_code == 404
    )
    assert "shout" not in html(bobs_web.get(reverse("tools")))
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
