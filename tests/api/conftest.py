"""What the API's tests share: Alice's script, and agents that it talks with."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from agents.models import Agent
from tests.support.api_client import Api, execute_at_once
from tests.support.fake_openai import FakeOpenAI


@pytest.fixture
def api(settings: Settings, alice: User) -> Api:
    settings.ACCOUNTS = True
    return Api(alice)


@pytest.fixture
def model_at_once(model: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> FakeOpenAI:
    """A scripted model; each run is executed right where it is started."""
    execute_at_once(monkeypatch)
    return model


@pytest.fixture
def path(api: Api, model_at_once: FakeOpenAI) -> str:
    """Of an agent that talks with send_message."""
    blocks = [{"label": "human", "value": "Name: Bob"}, {"label": "tasks", "value": "[]"}]
    return f"/agents/{api.post('/agents/', {'name': 'Sam', 'memory_blocks': blocks})['id']}"


@pytest.fixture
def plain(api: Api, model_at_once: FakeOpenAI) -> str:
    """Of an agent that talks with text."""
    return f"/agents/{api.post('/agents/', {'agent_type': 'letta_v1_agent'})['id']}"


@pytest.fixture
def agent_path(agent: Agent) -> str:
    """Of Alice's agent, with a persona and a human block."""
    return f"/agents/agent-{agent.pk}"


@pytest.fixture
def gated(api: Api, plain: str) -> str:
    """Of an agent that talks with text, and whose appends to memory need approval."""
    api.patch(plain, {"tool_ids": [api.get("/tools/?name=core_memory_append")[0]["id"]]})
    block = api.post("/blocks/", {"label": "human", "value": "Name: Bob"})
    api.patch(f"{plain}/core-memory/blocks/attach/{block['id']}")
    api.patch(f"{plain}/tools/approval/core_memory_append", {"requires_approval": True})
    return plain
