"""The list of agents beside a page, as its socket is sent it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError

from agents.live import agent_list
from agents.live.frames import render_list
from agents.models import Agent
from tests.support.followed_page import Open

pytestmark = pytest.mark.django_db(transaction=True)


async def test_a_list_that_could_not_be_rendered_comes_later(
    agent: Agent, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = [OperationalError("The disk fails.")]

    def fail_once(*args: Any) -> str:
        if failures:
            raise failures.pop()
        return render_list(*args)

    monkeypatch.setattr(agent_list, "render_list", fail_once)
    monkeypatch.setattr(agent_list, "AGAIN_SECONDS", 0.05)
    page = await open_page(agent)
    await page.hear_until(lambda frame: f"listed-{agent.pk}" in frame.get("content", ""))
    assert not failures
