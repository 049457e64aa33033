"""The panel's tabs, and a chat that is opened at a step of long ago."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents.live import fragments
from agents.memory.classes import ChatMemory
from agents.models import Agent, Block, Editor, Step
from agents.pages import history
from tests.support.ledger import edits_in, shown, step_of, written

# -- tabs ------------------------------------------------------------------------------------------


def test_the_page_opens_with_the_tab_its_address_names(
    agent: Agent, human: Block, by: Editor, web: Client
) -> None:
    edit = written(human, 1, by)[0]
    address = reverse("agent", args=[agent.pk])
    html = web.get(address, {"panel": "history", "block": str(human.pk)}).content.decode()
    assert edits_in(html) == [edit.pk]
    selected = re.findall(r'id="(tab-\w+)"[^>]*aria-selected="true"', html)
    assert selected == ["tab-history"]
    assert f"/panel/history/?block={human.pk}" in html


@pytest.mark.parametrize("query", [{}, {"panel": "memory"}, {"panel": "nonsense"}])
def test_what_is_not_open_is_not_drawn(
    query: dict[str, str], agent: Agent, web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any) -> None:
        raise AssertionError("This tab is not open.")

    monkeypatch.setattr(history.Ledger, "from_query", refuse)
    html = web.get(reverse("agent", args=[agent.pk]), query).content.decode()
    assert re.findall(r'id="(tab-\w+)"[^>]*aria-selected="true"', html) == ["tab-memory"]


def test_a_tab_that_is_not_there_is_not_found(agent: Agent, web: Client) -> None:
    assert web.get(reverse("panel_tab", args=[agent.pk, "nonsense"])).status_code == 404


def test_the_tools_as_the_model_is_told_of_them(agent: Agent, web: Client) -> None:
    html = shown(web, agent, "tools")
    for name in agent.tools:
        assert f"<h3>{name}</h3>" in html
    assert "<code>label</code>" in html
    assert re.search(r'<span class="type">\s*string\s*</span>', html)
    agent.configure(tools=[])
    assert "it can only talk" in shown(web, agent, "tools")


def test_a_strangers_page_reaches_nothing_of_it(
    agent: Agent, human: Block, by: Editor, bob: User, bobs_web: Client
) -> None:
    written(human, 2, by)
    for name in ("older_edits", "newer_edits"):
        assert bobs_web.get(reverse(name, args=[agent.pk])).status_code == 404
    for tab in ("history", "tools"):
        assert bobs_web.get(reverse("panel_tab", args=[agent.pk, tab])).status_code == 404
    assert bobs_web.get(reverse("block_blame", args=[agent.pk, human.pk])).status_code == 404
    restore = reverse("block_restore", args=[agent.pk, human.pk, 1])
    assert bobs_web.post(restore).status_code == 404
    own = Agent.create(bob, "Bob's", ChatMemory())
    for name, more in (("block_restore", [1]), ("block_blame", [])):
        address = reverse(name, args=[own.pk, human.pk, *more])
        for method in (bobs_web.get, bobs_web.post):
            assert method(address).status_code in (404, 405)
    assert (
        edits_in(
            bobs_web.get(
                reverse("panel_tab", args=[own.pk, "history"]), {"block": str(human.pk)}
            ).content.decode()
        )
        == []
    )
    assert Block.objects.get(pk=human.pk).version == 2


def test_restoring_is_not_for_looking(agent: Agent, human: Block, by: Editor, web: Client) -> None:
    written(human, 2, by)
    assert web.get(reverse("block_restore", args=[agent.pk, human.pk, 1])).status_code == 405


# -- a step that is long ago -----------------------------------------------------------------------


@pytest.fixture
def long_ago(agent: Agent) -> list[Step]:
    """A step in each of 60 runs."""
    return [step_of(agent, number) for number in range(1, 61)]


def runs_in(html: str) -> list[int]:
    return [int(pk) for pk in re.findall(r'id="run-(\d+)"', html)]


def chat(web: Client, agent: Agent, **query: Any) -> str:
    return web.get(reverse("agent", args=[agent.pk]), query).content.decode()


def test_a_step_long_ago_is_on_the_page_with_all_that_followed(
    agent: Agent, long_ago: list[Step], web: Client
) -> None:
    html = chat(web, agent, step=long_ago[15].pk)
    assert f'id="step-{long_ago[15].pk}"' in html
    assert runs_in(html) == [step.run_id for step in long_ago[5:]]
    assert "Show the newest" not in html


def test_where_too_much_followed_the_page_is_about_the_step(
    agent: Agent, long_ago: list[Step], web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fragments, "MOST_RUNS", 40)
    html = chat(web, agent, step=long_ago[15].pk)
    assert runs_in(html) == [step.run_id for step in long_ago[5:25]]
    assert "35 newer messages of yours are not shown here" in html
    assert "Show the newest" in html
    older = web.get(reverse("older_runs", args=[agent.pk, long_ago[5].run_id])).content.decode()
    assert runs_in(older) == [step.run_id for step in long_ago[:5]]


def test_a_step_among_the_newest_changes_nothing(
    agent: Agent, long_ago: list[Step], web: Client
) -> None:
    assert runs_in(chat(web, agent, step=long_ago[55].pk)) == runs_in(chat(web, agent))


@pytest.mark.parametrize("step", ["x", "0", "9" * 40, "-1", "another's"])
def test_a_step_that_is_not_the_agents_shows_the_newest(
    step: str, agent: Agent, alice: User, long_ago: list[Step], web: Client
) -> None:
    if step == "another's":
        step = str(step_of(Agent.objects.create(owner=alice, name="Planner")).pk)
    assert runs_in(chat(web, agent, step=step)) == [step.run_id for step in long_ago[-20:]]
