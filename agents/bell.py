"""The bell: tells the sockets that an agent's log has grown. Losing a ring loses nothing.

Models and the loop are synchronous, the channel layer is not; a ring is handed to the event loop
that owns the layer and nobody waits for it. In one process that is the loop the sockets live on;
with Redis it is this process's background loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from channels.layers import get_channel_layer
from django.conf import settings

from agents import background

if TYPE_CHECKING:
    from agents.models import Agent, Event

logger = logging.getLogger(__name__)
_sockets_loop: asyncio.AbstractEventLoop | None = None
_followed: Counter[UUID] = Counter()
_heard: Counter[tuple[UUID, bool]] = Counter()


def of_agent(agent_id: UUID) -> str:
    """The group of the sockets that look at an agent."""
    return f"agent.{agent_id.hex}"


def of_log(agent_id: UUID, every: bool) -> str:
    """The group of this process's requests that wait for an agent, and need nothing drawn.

    They are rung for `every` event, or only where a run may rest.
    """
    return f"{'log' if every else 'rest'}.{agent_id.hex}"


def of_user(user_id: int) -> str:
    """The group of a person's sockets."""
    return f"user.{user_id}"


def listen() -> None:
    """Called by a socket: the loop it runs on is where an in-memory bell must ring."""
    global _sockets_loop
    _sockets_loop = asyncio.get_running_loop()


def follow(agent_id: UUID, by: int) -> None:
    """Count the sockets of this process that look at an agent: `by` is 1 or -1 more."""
    _followed[agent_id] += by
    if not _followed[agent_id]:
        del _followed[agent_id]


def hear(agent_id: UUID, by: int, every: bool) -> None:
    """Count the requests of this process that wait for an agent: `by` is 1 or -1 more."""
    _heard[agent_id, every] += by
    if not _heard[agent_id, every]:
        del _heard[agent_id, every]


def ring(agent: Agent, events: Sequence[Event]) -> None:
    """Tell everyone who looks at the agent what happened, drawn once for all their pages.

    A change of the agent itself is only rung: each socket looks first whether it may still see it.
    """
    from agents import fragments

    if settings.REDIS_URL or agent.pk in _followed:
        carried = [
            {
                "seq": event.seq,
                "kind": event.kind,
                "content": ""
                if event.kind == event.Kind.AGENT_CHANGED
                else fragments.render(agent, event.kind, event.data, event.rows),
            }
            for event in events
        ]
        _send(of_agent(agent.pk), {"type": "agent.events", "events": carried})
    if (agent.pk, True) in _heard:
        _send(of_log(agent.pk, True), {"type": "log"})
    if (agent.pk, False) in _heard and any(map(lets_rest, events)):
        _send(of_log(agent.pk, False), {"type": "log"})
    if any(event.kind in LISTED for event in events):
        _send(of_user(agent.owner_id), {"type": "agents.changed"})


def ring_gone(agent_id: UUID) -> None:
    """Tell everyone who looks at an agent that it is there no more."""
    _send(of_agent(agent_id), {"type": "agent.events", "events": []})


def lets_rest(event: Event) -> bool:
    """Whether the event tells that a run ended, or waits for a person."""
    if event.kind == event.Kind.ACTIVITY:
        return getattr(event.rows.get("run"), "status", "") == "waiting"
    return event.kind == event.Kind.RUN_CHANGED


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
