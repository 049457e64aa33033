"""A custom tool is tried: with what arguments, and what it would do."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse

from agents.memory.classes import ChatMemory
from agents.models import Agent, Editor, LimitReached, Passage, Tool
from agents.pages.forms.tool_arguments import ArgumentsForm
from agents.tools import custom, dry_run
from agents.tools.attaching import attach
from agents.tools.custom import read_source, sandbox
from tests.support.addresses import everything
from tests.support.tool_pages import SHOUT, html, save, tab, words_of

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


@pytest.fixture
def agent(alice: User) -> Agent:
    """Alice's agent, with two tools."""
    memory = ChatMemory(human="Name: Bob", persona="You are a helpful assistant")
    return Agent.create(alice, "Tutor", memory, tools=["core_memory_append", "core_memory_replace"])


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
    assert "It would add to archival memory Bob likes pie kept" in said
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
    shown = html(web.post(reverse("tool_try_new"), form))
    assert "it did not end within 0.2 s" in shown
    cut = {"source": SHOUT, "agent": str(agent.pk), "argument-words": "abc" * 9}
    shown = html(web.post(reverse("tool_try_new"), cut | {"return_char_limit": "3"}))
    assert "truncated since it exceeded the character limit: 27 &gt; 3]" in shown


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
    with dry_run.one_at_a_time(alice):
        response = attempt(web, agent, SHOUT, words="x")
        assert (response.status_code, response.headers["Retry-After"]) == (429, "2")
        assert "A tool that you ran is still running" in html(response)
        with dry_run.one_at_a_time(bob):
            third = dry_run.one_at_a_time(User.objects.create_user("carol"))
            with pytest.raises(LimitReached, match="Other people are running tools"):
                third.__enter__()
    assert attempt(web, agent, SHOUT, words="x").status_code == 200
    monkeypatch.setattr(custom.CustomTool, "prepare", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        attempt(web, agent, SHOUT, words="x")
    assert not dry_run._running


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
