"""The bell: tells the sockets that an agent's log has grown. Losing a ring loses nothing.

Models and the loop are synchronous, the channel layer is not; a ring is handed to the event loop
that owns the layer and nobody waits for it. In one process that is the loop the sockets live on;
with Redis it is this process's background loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any
from uuid import UUID

from channels.layers import get_channel_layer
from django.conf import settings

from agents import background

logger = logging.getLogger(__name__)
_sockets_loop: asyncio.AbstractEventLoop | None = None


def of_agent(agent_id: UUID) -> str:
    """The group of the sockets that look at an agent."""
    return f"agent.{agent_id.hex}"


def of_user(user_id: int) -> str:
    """The group of a person's sockets."""
    return f"user.{user_id}"


def listen() -> None:
    """Called by a socket: the loop it runs on is where an in-memory bell must ring."""
    global _sockets_loop
    _sockets_loop = asyncio.get_running_loop()


def ring(agent_id: UUID, owner_id: int, events: list[dict[str, Any]]) -> None:
    """Tell everyone who looks at the agent; `events` are carried along."""
    _send(of_agent(agent_id), {"type": "agent.events", "events": events})
    if any(event["kind"] in LISTED for event in events):
        _send(of_user(owner_id), {"type": "agents.changed"})


LISTED = {"agent_changed", "run_began", "run_changed"}  # what the list of agents shows


def _send(group: str, message: dict[str, Any]) -> None:
    layer = get_channel_layer()
    loop = background.loop() if settings.REDIS_URL else _sockets_loop
    if layer is None or loop is None or loop.is_closed():
        return
    asyncio.run_coroutine_threadsafe(_quietly(layer.group_send(group, message)), loop)


async def _quietly(sending: Coroutine[Any, Any, None]) -> None:
    try:
        await sending
    except Exception:  # the log has it all; the page catches up at its next look
        logger.warning("The channel layer did not ring.", exc_info=True)
