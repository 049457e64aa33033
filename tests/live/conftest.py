"""What the tests of sockets share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from agents.live import consumer, publisher
from agents.models import Agent, Run
from tests.support.followed_page import PATIENCE, Open, Page
from tests.support.server import eventually


@pytest.fixture
async def open_page(alice: User) -> AsyncIterator[Open]:
    """Open a page; it is closed when the test ends."""
    async with AsyncExitStack() as pages:

        @asynccontextmanager
        async def opened(user: User) -> AsyncIterator[Page]:
            page = Page(user)
            connected, _ = await page.socket.connect(timeout=PATIENCE)
            assert connected
            yield page
            await page.socket.disconnect(timeout=PATIENCE)

        async def open_one(agent: Agent | None = None, after: int = 0, user: User = alice) -> Page:
            page = await pages.enter_async_context(opened(user))
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
    monkeypatch.setattr(consumer, "LIST_SECONDS", 0.05)
