"""Fragments that are rendered from the log, for a page that was away, fit the page of today."""

from __future__ import annotations

from agents.live import fragments
from agents.models import Agent, Event, Run
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, text


def test_a_run_without_steps_leaves_the_gauge_of_the_last_step(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    model.script(text("Hello.", usage=(1234, 5)))
    ask()
    agent.first_conversation.start("Compact now", "k", Run.Kind.COMPACTION).end(
        Run.Reason.COMPACTED
    )
    event = agent.events.filter(kind=Event.Kind.STEP_CHANGED).latest("seq")
    assert "1,234 of 32,000 tokens" in fragments.render(
        agent.first_conversation, event.kind, event.data
    )
