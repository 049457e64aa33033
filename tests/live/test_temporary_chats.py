"""The socket of a temporary chat's page: it keeps the chat open, and hears when it was closed."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from agents.asyncio_bridge import in_thread
from agents.models import Agent
from tests.support.fake_openai import FakeOpenAI, gated, text
from tests.support.followed_page import Open
from tests.support.server import eventually

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("runs_are_executed_here", "runs_end", "list_comes_soon"),
]
CLOSED = "This temporary chat was closed"


async def test_a_page_keeps_it_open_and_is_told_when_another_one_closes_it(
    agent: Agent, alice: User, open_page: Open
) -> None:
    chat = await in_thread(agent.begin_temporary, alice)
    old = timezone.now() - timedelta(minutes=14)
    chats = Agent.every.filter(pk=chat.pk)
    await in_thread(lambda: chats.update(seen_at=old))
    page = await open_page(chat)
    await in_thread(eventually, lambda: chats.filter(seen_at__gt=old).exists())
    await in_thread(chat.close_temporary)
    await page.hear_until(lambda frame: CLOSED in frame.get("content", ""))
    assert not await in_thread(chats.exists)


async def test_a_page_that_was_away_for_too_long_is_told_so(
    agent: Agent, alice: User, open_page: Open
) -> None:
    chat = await in_thread(agent.begin_temporary, alice)
    key = str(chat.pk)
    await in_thread(chat.close_temporary)
    page = await open_page()
    await page.say(command="follow", agent=key, after=0, temporary=True)
    await page.hear_until(lambda frame: CLOSED in frame.get("content", ""))


async def test_closing_stops_a_run_in_hand_and_deletes_what_it_said(
    agent: Agent, alice: User, open_page: Open, model: FakeOpenAI
) -> None:
    chat = await in_thread(agent.begin_temporary, alice)
    gate = gated(text("The heron nests at noon", chunk=4))
    model.script(gate)
    page = await open_page(chat)
    await page.send(chat, "Hello")
    gate.release(3)
    await page.hear_until(lambda _: "heron" in page.draft)
    await in_thread(chat.close_temporary)

    def gone() -> bool:
        Agent.end_temporary()
        return not Agent.every.filter(pk=chat.pk).exists()

    await in_thread(eventually, gone)
    gate.open()
    model.script(text("Still here."))
    await page.follow(agent)
    await page.send(agent, "And you?")
    await page.hear_until(lambda frame: "Still here." in frame.get("content", ""))
