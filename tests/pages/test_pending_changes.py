"""A change of memory that waits for approval stands in the block until it is decided."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from agents.live import fragments
from agents.models import Agent, Approval, Block, Event, Run
from agents.runs.loop import run_agent
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.pages import at

APPEND = ("core_memory_append", {"label": "human", "content": "Likes <b>pie</b>"})


@pytest.fixture
def waiting(agent: Agent, human: Block, model: FakeOpenAI, ask: Ask) -> Run:
    """A run whose change of memory waits."""
    human.configure(ask_before_write=True)
    model.script(calls(APPEND))
    run = ask("I like pie")
    assert run.status == Run.Status.WAITING
    return run


def panel_of(web: Client, agent: Agent) -> str:
    """Core memory on the agent's page."""
    html = web.get(at("agent", agent)).content.decode()
    return html.partition('id="core-memory"')[2].partition("</section>")[0]


def told(agent: Agent) -> str:
    """What the newest event of memory draws, as a page that was away is told."""
    event = agent.events.filter(kind=Event.Kind.MEMORY_CHANGED).latest("seq")
    return fragments.render(agent.first_conversation, event.kind, event.data)


def test_a_change_that_waits_stands_in_the_block_with_approve_and_refuse(
    waiting: Run, agent: Agent, web: Client
) -> None:
    approval = Approval.objects.get()
    for html in (panel_of(web, agent), told(agent)):
        assert "What would change in block human" in html
        assert "Likes &lt;b&gt;pie&lt;/b&gt;" in html
        assert at("approval_decide", agent, approval.pk) in html
        assert re.findall(r'name="decision" value="(\w+)"', html) == ["approved", "refused"]
    view = panel_of(web, agent).partition('class="value"')[2].partition("</div>")[0]
    assert "pie" not in view  # the block itself is still what it was


@pytest.mark.parametrize("decision", ["approved", "refused", "stopped"])
def test_it_is_gone_once_it_is_decided_anywhere(
    decision: str, waiting: Run, agent: Agent, model: FakeOpenAI, web: Client
) -> None:
    seq = agent.events.latest("seq").seq
    if decision == "stopped":
        waiting.stop()
    else:
        model.script(text("Noted."))
        address = at("approval_decide", agent, Approval.objects.get().pk)
        assert web.post(address, {"decision": decision}).status_code == 302
    run_agent(waiting.pk)
    kinds = list(agent.events.filter(seq__gt=seq).values_list("kind", flat=True))
    assert Event.Kind.MEMORY_CHANGED in kinds
    for html in (panel_of(web, agent), told(agent)):
        assert "What would change" not in html
    assert ("pie" in Block.objects.get(label="human").value) == (decision == "approved")
