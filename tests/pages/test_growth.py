"""The tab "Over time": the size of each block after each run, and what changed it."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent, Block, Editor, Run, Step
from agents.pages import growth
from tests.conftest import edit_of
from tests.support.ledger import shown, step_of


@pytest.fixture
def steps(agent: Agent) -> list[Step]:
    """A step in each of three runs, an hour apart, all of them over."""
    made = [step_of(agent, number) for number in (1, 2, 3)]
    for hours, step in zip((3, 2, 1), made, strict=True):
        began = timezone.now() - timedelta(hours=hours)
        Run.objects.filter(pk=step.run_id).update(started_at=began)
    return made


def bars_in(html: str) -> list[str]:
    return re.findall(r"<title>([\d,]+ characters[^<]*?)(?:, \d+ \w+ \d+, [\d:]+)?</title>", html)


def test_each_block_has_a_bar_for_each_run_and_changes_lead_to_their_steps(
    agent: Agent, human: Block, steps: list[Step], by: Editor, web: Client
) -> None:
    def at(step: Step, text: str) -> None:
        edit = edit_of(human.append(text, by=Editor.agent(step, f"call-{text}")))
        began = Run.objects.get(pk=step.run_id).started_at
        assert began
        type(edit).objects.filter(pk=edit.pk).update(created_at=began + timedelta(minutes=1))

    at(steps[0], "Likes pie")
    at(steps[2], "Likes tea")
    at(steps[2], "Likes jam")
    html = shown(web, agent, "growth")
    assert bars_in(html) == [
        "19 characters, changed",
        "19 characters",
        "39 characters, changed 2 times",
    ]
    assert re.findall(r'data-step="(\d+)"', html) == [str(steps[0].pk), str(steps[2].pk)]
    assert "39 of 2,000 characters" in " ".join(html.split())
    assert "persona (0)" in html or "persona (" in html
    assert "style=" not in html


def test_an_edit_by_hand_leads_to_the_history(
    agent: Agent, human: Block, by: Editor, web: Client
) -> None:
    edit = edit_of(human.append("Likes pie", by=by))
    html = shown(web, agent, "growth")
    assert f"?panel=history&amp;edit={edit.pk}" in html
    assert "Play the past" not in html  # there is no step yet


def test_where_nothing_changed_that_is_said(agent: Agent, web: Client) -> None:
    assert "No block has changed yet" in shown(web, agent, "growth")


def test_of_very_many_blocks_those_that_changed_last_are_drawn(
    agent: Agent, human: Block, by: Editor, web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growth, "MOST_ROWS", 1)
    persona = agent.block("persona")
    assert persona
    human.append("Likes pie", by=by)
    persona.append("Be kind.", by=by)
    html = shown(web, agent, "growth")
    assert html.count("<figure") == 1
    assert "<b>persona</b>" in html
    assert "human (19)" in html
