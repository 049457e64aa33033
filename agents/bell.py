"""The bell: tells who listens that an agent's log has grown. Losing a ring loses nothing.

Models and the loop are synchronous; who listens lives on an event loop. A ring is handed to that
loop and nobody waits for it. With Redis it goes through the channel layer to every process, and
each process has one channel there, of which it hands every ring on to its own listeners.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from uuid import UUID

from channels.layers import get_channel_layer
from django.conf import settings

from agents import background

if TYPE_CHECKING:
    from agents.models import Agent, Event

logger = logging.getLogger(__name__)
Carried = dict[str, Any]  # an event as the bell carries it: "seq", "kind", and "content" if drawn
Ear = Callable[[list[Carried]], None]

AGAIN_SECONDS = 1.0  # before the channel layer is asked again after it failed
LISTED = {"agent_changed", "run_began", "run_changed"}  # what the list of agents shows

_ears: dict[str, set[Ear]] = {}  # by group; changed on their event loop only
_loop: asyncio.AbstractEventLoop | None = None  # where the ears are
_channel: asyncio.Task[str] | None = None  # of this process in the channel layer, if there is one


def of_agent(agent_id: UUID) -> str:
    """The group of the sockets that look at an agent: each ring carries the events, drawn."""
    return f"agent.{agent_id.hex}"


def of_log(agent_id: UUID, every: bool) -> str:
    """The group of the requests that wait for an agent, and need nothing drawn.

    They are rung for `every` event, or only where a run may rest. With Redis, where no process
    knows who listens in another, it is what the sockets hear.
    """
    if settings.REDIS_URL:
        return of_agent(agent_id)
    return f"{'log' if every else 'rest'}.{agent_id.hex}"


def of_user(user_id: int) -> str:
    """The group of a person's sockets."""
    return f"user.{user_id}"


# -- listening -------------------------------------------------------------------------------------


async def join(group: str, ear: Ear) -> None:
    """Have `ear` called, on this event loop, with what each ring of the group carries."""
    _listen_here()
    _ears.setdefault(group, set()).add(ear)
    if _channel:
        await _layer().group_add(group, await _channel)


async def leave(group: str, ear: Ear) -> None:
    """Let `ear` hear the group no more."""
    ears = _ears.get(group, set())
    ears.discard(ear)
    if not ears and _ears.pop(group, None) is not None and _channel:
        await _layer().group_discard(group, await _channel)
        if group in _ears:  # somebody joined meanwhile
            await _layer().group_add(group, await _channel)


def _listen_here() -> None:
    """Have the ears on the running loop. A loop that was before it has ended with all its own."""
    global _loop, _channel
    loop = asyncio.get_running_loop()
    if loop is not _loop:
        _ears.clear()
        _loop = loop
        _channel = loop.create_task(_open_channel()) if settings.REDIS_URL else None


async def _open_channel() -> str:
    channel: str = await _layer().new_channel()
    _reading.add(asyncio.create_task(_read(channel)))
    return channel


_reading: set[asyncio.Task[None]] = set()  # held, as a loop itself does not hold its tasks


async def _read(channel: str) -> None:
    """Hand on what comes in from Redis, for as long as the process lives."""
    while True:
        try:
            message = await _layer().receive(channel)
            _deliver([(message["group"], message["carried"])])
        except Exception:  # the sockets look into the log now and then
            logger.warning("The channel layer gave no answer.", exc_info=True)
            await asyncio.sleep(AGAIN_SECONDS)


def _deliver(rings: list[tuple[str, list[Carried]]]) -> None:
    for group, carried in rings:
        for ear in list(_ears.get(group, ())):
            ear(carried)


# -- ringing ---------------------------------------------------------------------------------------


def ring(agent: Agent, events: Sequence[Event]) -> None:
    """Tell everyone who looks at the agent what happened, drawn once for all their pages."""
    rings: list[tuple[str, list[Carried]]] = []
    if _may_hear(of_agent(agent.pk)):
        rings.append((of_agent(agent.pk), [_drawn(agent, event) for event in events]))
    if not settings.REDIS_URL:
        if _may_hear(group := of_log(agent.pk, every=True)):
            rings.append((group, []))
        if _may_hear(group := of_log(agent.pk, every=False)) and any(map(lets_rest, events)):
            rings.append((group, []))
    if any(event.kind in LISTED for event in events) and _may_hear(of_user(agent.owner_id)):
        rings.append((of_user(agent.owner_id), []))
    _send(rings)


def ring_gone(agent_id: UUID) -> None:
    """Tell everyone who looks at an agent that it is there no more."""
    _send([(of_agent(agent_id), [])])


def lets_rest(event: Event) -> bool:
    """Whether the event tells that a run ended, or waits for a person."""
    if event.kind == event.Kind.ACTIVITY:
        return getattr(event.rows.get("run"), "status", "") == "waiting"
    return event.kind == event.Kind.RUN_CHANGED


def _may_hear(group: str) -> bool:
    return bool(settings.REDIS_URL) or group in _ears


def _drawn(agent: Agent, event: Event) -> Carried:
    """A change of the agent itself is not drawn: each socket looks first whether it may see it."""
    from agents import fragments

    content = ""
    if event.kind != event.Kind.AGENT_CHANGED:
        content = fragments.render(agent, event.kind, event.data, event.rows)
    return {"seq": event.seq, "kind": event.kind, "content": content}


def _send(rings: list[tuple[str, list[Carried]]]) -> None:
    if settings.REDIS_URL:
        asyncio.run_coroutine_threadsafe(_publish(rings), background.loop())
    elif rings and _loop:
        with suppress(RuntimeError):  # the loop is closed, with all who listened
            _loop.call_soon_threadsafe(_deliver, rings)


async def _publish(rings: list[tuple[str, list[Carried]]]) -> None:
    try:
        for group, carried in rings:
            message = {"type": "ring", "group": group, "carried": carried}
            await _layer().group_send(group, message)
    except Exception:  # the log has it all; the page catches up at its next look
        logger.warning("The channel layer did not ring.", exc_info=True)


def _layer() -> Any:
    return get_channel_layer("bell")
