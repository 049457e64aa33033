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

from channels.layers import channel_layers
from django.conf import settings

from agents import asyncio_bridge

if TYPE_CHECKING:
    from agents.models import Agent, Event

logger = logging.getLogger(__name__)
Carried = dict[str, Any]  # an event as the bell carries it: "seq", "kind", and "content" if drawn
Ear = Callable[[list[Carried]], None]

MOST_AT_ONCE = 20  # pages that join or leave at the same moment; each takes a connection to Redis
AGAIN_SECONDS = 1.0  # before the channel layer is asked again after it failed
LISTED = {"agent_changed", "run_began", "run_changed"}  # what the list of agents shows

_ears: dict[str, set[Ear]] = {}  # by group; changed on their event loop only
_loop: asyncio.AbstractEventLoop | None = None  # where the ears are
_channel: Channel | None = None  # of this process in Redis, if there is one


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


def of_login(user_id: int) -> str:
    """The group of a person's sockets, rung when a log-in of theirs may have ended."""
    return f"login.{user_id}"


# -- listening -------------------------------------------------------------------------------------


async def join(group: str, ear: Ear) -> None:
    """Have `ear` called, on this event loop, with what each ring of the group carries."""
    global _loop, _channel
    loop = asyncio.get_running_loop()
    if loop is not _loop:  # one that was before it has ended with all its own
        _ears.clear()
        _loop, _channel = loop, None
    if settings.REDIS_URL and _channel is None:
        _channel = Channel()
    _ears.setdefault(group, set()).add(ear)
    if _channel:
        try:
            await _channel.join(group)
        except BaseException:  # the page comes again
            _forget(group, ear)
            raise


async def leave(group: str, ear: Ear) -> None:
    """Let `ear` hear the group no more."""
    global _channel
    if not _forget(group, ear) or _channel is None:
        return
    await _channel.leave(group)
    if group in _ears:  # somebody joined meanwhile
        await _channel.join(group)
    elif not _ears and _channel:
        closing, _channel = _channel, None
        await closing.close()


def _forget(group: str, ear: Ear) -> bool:
    """Drop an ear; True if it was the group's last."""
    ears = _ears.get(group, set())
    ears.discard(ear)
    return not ears and _ears.pop(group, None) is not None


class Channel:
    """This process's channel in Redis, for as long as somebody listens."""

    def __init__(self) -> None:
        self.layer: Any = channel_layers.make_backend("bell")  # its locks belong to this loop
        self.asking = asyncio.Semaphore(MOST_AT_ONCE)
        self.opening = asyncio.create_task(self._open())

    async def _open(self) -> str:
        name: str = await self.layer.new_channel()
        self.reading = asyncio.create_task(self._read(name))
        return name

    async def join(self, group: str) -> None:
        name = await self.opening
        async with self.asking:
            await self.layer.group_add(group, name)

    async def leave(self, group: str) -> None:
        try:
            name = await self.opening
            async with self.asking:
                await self.layer.group_discard(group, name)
        except Exception:  # what comes for the group finds no ear
            logger.warning("The channel layer was not told that nobody listens.", exc_info=True)

    async def close(self) -> None:
        """Read no more. What the reader waits for may swallow one cancellation."""
        while not self.reading.done():
            self.reading.cancel()
            await asyncio.wait([self.reading], timeout=0.1)
        await self.layer.close_pools()

    async def _read(self, name: str) -> None:
        """Hand on what comes in."""
        this = asyncio.current_task()
        while this and not this.cancelling():
            try:
                message = await self.layer.receive(name)
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


def ring_login(user_id: int) -> None:
    """Tell a person's sockets to look whether their log-in has ended."""
    if _may_hear(of_login(user_id)):
        _send([(of_login(user_id), [])])


def lets_rest(event: Event) -> bool:
    """Whether the event tells that a run ended, or waits for a person."""
    if event.kind == event.Kind.ACTIVITY:
        return getattr(event.rows.get("run"), "status", "") == "waiting"
    return event.kind == event.Kind.RUN_CHANGED


def _may_hear(group: str) -> bool:
    return bool(settings.REDIS_URL) or group in _ears


def _drawn(agent: Agent, event: Event) -> Carried:
    """A change of the agent itself is not drawn: each socket looks first whether it may see it."""
    from . import fragments

    content = ""
    if event.kind != event.Kind.AGENT_CHANGED:
        content = fragments.render(agent, event.kind, event.data, event.rows)
    return {"seq": event.seq, "kind": event.kind, "content": content}


def _send(rings: list[tuple[str, list[Carried]]]) -> None:
    if settings.REDIS_URL:
        asyncio.run_coroutine_threadsafe(_publish(rings), asyncio_bridge.loop())
    elif rings and _loop:
        with suppress(RuntimeError):  # the loop is closed, with all who listened
            _loop.call_soon_threadsafe(_deliver, rings)


async def _publish(rings: list[tuple[str, list[Carried]]]) -> None:
    try:
        for group, carried in rings:
            message = {"type": "ring", "group": group, "carried": carried}
            await channel_layers["bell"].group_send(group, message)
    except Exception:  # the log has it all; the page catches up at its next look
        logger.warning("The channel layer did not ring.", exc_info=True)
