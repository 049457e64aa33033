"""An answer that takes long: what waits for it gets its first bytes before it gives up."""

from __future__ import annotations

import json
from functools import partial

import pytest
from django.db import transaction
from django.http import StreamingHttpResponse

from agents.accounts import owner
from agents.api import responses
from agents.api.schemas.messages import MessageOptions
from agents.asyncio_bridge import in_thread
from agents.memory.classes import ChatMemory
from agents.models import Agent, Run


async def test_an_answer_that_takes_long_begins_before_clients_give_up(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """White space comes first, which JSON may begin with, and the answer when it is there."""
    monkeypatch.setattr("agents.runs.engine.submit", lambda run: None)
    monkeypatch.setattr(responses, "PATIENCE", 0.0)
    monkeypatch.setattr(responses, "LOOK_SECONDS", 0.05)

    def begin() -> Run:
        agent = Agent.create(owner(), "Slow", ChatMemory(), tools=["core_memory_append"])
        return agent.send("Hello", "key")

    def end(run: Run) -> None:
        with transaction.atomic():
            run.end(Run.Reason.ANSWERED)

    run = await in_thread(begin)
    response = await responses.when_it_rests(run, partial(responses.outcome, run, MessageOptions()))
    assert isinstance(response, StreamingHttpResponse)
    said = b""
    async for piece in response:
        said += piece
        if len(said) == 3:
            await in_thread(end, run)
    assert said.startswith(b"   ")
    assert json.loads(said)["stop_reason"]["stop_reason"] == "end_turn"
    assert response.status_code == 200
