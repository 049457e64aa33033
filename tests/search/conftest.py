"""What the tests of search share."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from agents.models import Agent, Passage
from agents.search import exact, semantic
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.searching import BY, TEXTS, Call

TOOLS = ["archival_memory_insert", "archival_memory_search", "conversation_search"]


@pytest.fixture
def passages(agent: Agent) -> dict[str, Passage]:
    return {name: Passage.insert(agent, text, by=BY) for name, text in TEXTS.items()}


@pytest.fixture
def notes(agent: Agent) -> list[Passage]:
    lines = ("Bob owns a hound", "The tax is due in May", "Her automobile is red")
    return [Passage.insert(agent, text, by=BY) for text in lines]


@pytest.fixture
def embedding(settings: Settings, model: FakeOpenAI) -> FakeOpenAI:
    """The endpoint, which makes embeddings too; nothing is remembered of earlier tests."""
    settings.EMBEDDING_MODEL = "fake-embedding"
    semantic.forget()
    exact.forget()
    return model


@pytest.fixture
def call(agent: Agent, ask: Ask, model: FakeOpenAI) -> Call:
    """The agent, which has the tools of archival and recall memory, calls one."""
    agent.configure(tools=[*agent.tools, *TOOLS])

    def run(name: str, said: str = "Go on", **arguments: Any) -> str:
        model.script(calls((name, arguments)), text("OK"))
        return str(ask(said).messages.get(role="tool").content)

    return run
