"""Titles that a model gives conversations."""

from __future__ import annotations

import pytest
from pytest_django.fixtures import Settings

from agents.models import Agent
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, status, text


@pytest.fixture(autouse=True)
def titled(settings: Settings) -> None:
    settings.TITLE_MODEL = "fake-model"


def title(agent: Agent) -> str:
    return agent.first_conversation.title


def test_a_model_gives_the_title_after_the_first_answer_only(
    agent: Agent, ask: Ask, model: FakeOpenAI
) -> None:
    model.script(text("With care."), text('"Growing tomatoes."'), text("Yes."))
    ask("How do I grow tomatoes?")
    assert title(agent) == "Growing tomatoes"
    asked = str(model.requests[-1]["messages"])
    assert "How do I grow tomatoes?" in asked
    assert "With care." in asked
    ask("In a pot?")
    assert len(model.requests) == 3


def test_the_first_words_stay_where_the_model_fails(
    agent: Agent, ask: Ask, model: FakeOpenAI
) -> None:
    model.script(text("With care."), status(500))
    run = ask("How do I grow tomatoes?")
    assert (title(agent), run.status) == ("How do I grow tomatoes?", "done")


def test_a_title_that_somebody_gave_meanwhile_stays(
    agent: Agent, ask: Ask, model: FakeOpenAI
) -> None:
    agent.first_conversation.configure(title="My garden")
    model.script(text("With care."), text("Growing tomatoes"))
    ask("How do I grow tomatoes?")
    assert title(agent) == "My garden"
