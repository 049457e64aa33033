"""What the tests of sockets share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from agents.live import agent_list, publisher
from agents.models import Agent, Run
from tests.support.followed_page import PATIENCE, Open, Page
from tests.support.server import eventually


@pytest.fixture
async def open_page(alice: User) -> AsyncIterator[Open]:
    """Open a page; it is closed when the test ends."""
    async with AsyncExitStack() as pages:

        @asynccontextmanager
        async def opened(user: User, language: str) -> AsyncIterator[Page]:
            page = Page(user, language)
            connected, _ = await page.socket.connect(timeout=PATIENCE)
            assert connected
            yield page
            # A page that heard nothing in time is cancelled. Were that raised here, pytest would
            # take it for its own end, and skip whatever else tears the test down.
            with suppress(asyncio.CancelledError):
                await page.socket.disconnect(timeout=PATIENCE)

        async def open_one(
            agent: Agent | None = None, after: int = 0, user: User = alice, language: str = "en"
        ) -> Page:
            page = await pages.enter_async_context(opened(user, language))
            if agent:
                await page.follow(agent, after)
            return page

        yield open_one
    publisher._loop = None  # this test's loop ends here; a run that is stopped now reaches nobody


@pytest.fixture
def runs_are_executed_here(settings: Settings) -> None:
    """By threads, also on Postgres; `test_hosted.py` has the workers."""
    settings.HOSTED = False


@pytest.fixture
def runs_end(transactional_db: None) -> Iterator[None]:
    """No run goes on when a test's tables are emptied."""
    yield
    for run in Run.objects.running():
        run.stop()
    eventually(lambda: not Run.objects.exclude(status__in=["done", "stopped", "failed"]).exists())


@pytest.fixture
def list_comes_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_list, "LIST_SECONDS", 0.05)
