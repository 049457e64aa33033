"""Every page comes back when a server is started anew, all at once, while agents answer."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.typing import Origin

from tests.support.fake_openai import FakeOpenAI, Gate, gated, text
from tests.support.server import MemoryWeb
from tests.support.site import own_site

pytestmark = pytest.mark.slow
PAGES = 200
AGENTS = 4
EVERY = 0.05  # seconds: a piece of each answer


@pytest.fixture
def model() -> Iterator[FakeOpenAI]:
    """It tells stories without end, until the test ends."""
    ended = threading.Event()
    stories: list[Gate] = []

    def story(request: dict[str, Any]) -> Gate:
        stories.append(gated(text("and then " * 10_000, chunk=9)))
        return stories[-1]

    def go_on() -> None:
        while not ended.wait(EVERY):
            for told in list(stories):
                told.release(1)

    with FakeOpenAI() as scripted:
        scripted.default = story
        threading.Thread(target=go_on, daemon=True).start()
        yield scripted
        ended.set()


@pytest.mark.sqlite_only
async def test_all_pages_come_back_to_a_single_process(tmp_path: Path, model: FakeOpenAI) -> None:
    with MemoryWeb(tmp_path / "data", model) as web:
        agents = await asyncio.to_thread(busy, web)
        await asyncio.to_thread(web.kill)
        await asyncio.to_thread(web.start)
        assert await come_back(web, agents) == {"is back": PAGES}


@pytest.mark.hosted_only
async def test_all_pages_come_back_to_one_of_several(tmp_path: Path, model: FakeOpenAI) -> None:
    with ExitStack() as stack:
        site = await asyncio.to_thread(stack.enter_context, own_site(tmp_path, model))
        site.worker()
        web = site.web[0]
        agents = await asyncio.to_thread(busy, web)
        await asyncio.to_thread(web.kill)
        await asyncio.to_thread(web.start)
        assert await come_back(web, agents) == {"is back": PAGES}
        await asyncio.to_thread(stack.close)


def busy(web: MemoryWeb) -> list[str]:
    """Agents that are in the middle of an answer."""
    agents = [web.make_agent(f"Agent {number}") for number in range(AGENTS)]
    for agent in agents:
        with web.page(agent) as page:
            page.send("Tell me a story")
            page.wait_for("and then")
    return agents


async def come_back(web: MemoryWeb, agents: list[str]) -> dict[str, int]:
    """What became of pages that all open their sockets at the same moment."""
    all_there = asyncio.Barrier(PAGES)
    ends = await asyncio.gather(
        *(page(web, agents[number % AGENTS], all_there) for number in range(PAGES))
    )
    return {end: ends.count(end) for end in ends}


async def page(web: MemoryWeb, agent: str, all_there: asyncio.Barrier) -> str:
    """Open a page and follow the agent until all pages do; how that ended."""
    address, origin = f"ws://127.0.0.1:{web.port}/ws/", Origin(web.url)
    try:
        async with connect(address, origin=origin, max_size=None, open_timeout=None) as socket:
            await socket.send(json.dumps({"command": "follow", "agent": agent, "after": 0}))
            async for frame in socket:
                heard = json.loads(frame)
                if heard.get("seq"):
                    break
            await all_there.wait()
            return "is back"
    except Exception as error:
        await all_there.abort()
        return repr(error)
