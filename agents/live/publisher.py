"""Publishing: tells the pages that show an agent that its log has grown. Losing a message loses
nothing, as the log has it all and every page looks into it now and then.

Models and the loop are synchronous; listeners live on an event loop. A message is handed to that
loop and nobody waits for it. With Redis it goes to every process (`redis_pubsub`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings

if TYPE_CHECKING:
    from agents.models import Agent, Event

    from .redis_pubsub import RedisPubSub

# An event: "seq", "kind", "conversation", whose pages alone draw it (its key, "" for all of the
# agent's), and "content", which is "" if not rendered.
Published = dict[str, Any]
Listener = Callable[[list[Published]], None]  # called with no events: look into the log
Message = tuple[str, list[Published]]  # a topic, and the events that its listeners get
Renderer = Callable[["Agent", "Event"], str]

# by the list of agents and conversations
SHOWN_IN_LIST = {"agent_changed", "run_began", "run_changed", "conversation_changed"}
NOT_RENDERED = {"agent_changed", "conversation_changed"}  # each socket looks what it may see

_listeners: dict[str, set[Listener]] = {}  # by topic; changed on their event loop only
_loop: asyncio.AbstractEventLoop | None = None  # where the listeners are
_render: Renderer | None = None


def set_renderer(render: Renderer) -> None:
    """Have events rendered by this function."""
    global _render
    _render = render


def agent_topic(agent_id: UUID) -> str:
    """For the sockets that show an agent: its events, rendered."""
    return f"agent.{agent_id.hex}"


def log_topic(agent_id: UUID) -> str:
    """For the requests that stream what an agent does: every event, not rendered."""
    return f"log.{agent_id.hex}"


def rest_topic(agent_id: UUID) -> str:
    """For the requests that wait until an agent's run ends, or waits for a person."""
    return f"rest.{agent_id.hex}"


def presence_topic(agent_id: UUID) -> str:
    """For the sockets that show an agent that several people see: which pages there are."""
    return f"presence.{agent_id.hex}"


def user_topic(user_id: int) -> str:
    """For a person's sockets: the list of agents changed."""
    return f"user.{user_id}"


def login_topic(user_id: int) -> str:
    """For a person's sockets: a log-in of theirs may have ended."""
    return f"login.{user_id}"


# -- listening -------------------------------------------------------------------------------------


def subscribe(topic: str, listener: Listener) -> None:
    """Have `listener` called, on this event loop, with each message to the topic."""
    global _loop
    loop = asyncio.get_running_loop()
    if loop is not _loop:  # the one before it has ended, with all its listeners
        _listeners.clear()
        _loop = loop
    _listeners.setdefault(topic, set()).add(listener)
    if settings.REDIS_URL:
        _redis().subscribe(topic)


def unsubscribe(topic: str, listener: Listener) -> None:
    """Call `listener` no more."""
    listeners = _listeners.get(topic, set())
    listeners.discard(listener)
    if not listeners and _listeners.pop(topic, None) is not None and settings.REDIS_URL:
        _redis().unsubscribe(topic)


def _deliver(messages: list[Message]) -> None:
    for topic, events in messages:
        for listener in list(_listeners.get(topic, ())):
            listener(events)


def _deliver_soon(messages: list[Message]) -> None:
    """Call the listeners on their event loop, from any thread."""
    if _loop:
        with suppress(RuntimeError):  # the loop is closed, with all who listened
            _loop.call_soon_threadsafe(_deliver, messages)


# -- publishing ------------------------------------------------------------------------------------


def publish(agent: Agent, events: Sequence[Event]) -> None:
    """Tell everyone who follows the agent what happened, rendered once for all their pages."""
    topic = agent_topic(agent.pk)
    messages: list[Message] = []
    if _is_shown(topic):
        messages.append((topic, [_published(agent, event) for event in events]))
    else:
        messages.append((topic, []))
    messages.append((log_topic(agent.pk), []))
    if any(map(ends_or_waits, events)):
        messages.append((rest_topic(agent.pk), []))
    if any(event.kind in SHOWN_IN_LIST for event in events):
        messages += [(user_topic(user_id), []) for user_id in agent.audience()]
    _send(messages)


def publish_deleted(agent_id: UUID) -> None:
    """Tell everyone who follows an agent that it was deleted."""
    _send([(agent_topic(agent_id), [])])


def publish_access(agent_id: UUID, user_ids: Sequence[int]) -> None:
    """Tell people's sockets, and those that follow the agent, to look what they may still see."""
    _send([(agent_topic(agent_id), []), *((user_topic(user_id), []) for user_id in user_ids)])


def publish_presence(agent_id: UUID, sign: Published) -> None:
    """Tell the pages that show an agent that another one came, is there, or left."""
    _send([(presence_topic(agent_id), [sign])])


def publish_login(user_id: int) -> None:
    """Tell a person's sockets to look whether their log-in has ended."""
    _send([(login_topic(user_id), [])])


def ends_or_waits(event: Event) -> bool:
    """Whether the event tells that a run ended, or waits for a person."""
    if event.kind == event.Kind.ACTIVITY:
        return getattr(event.rows.get("run"), "status", "") == "waiting"
    return event.kind == event.Kind.RUN_CHANGED


def _is_shown(topic: str) -> bool:
    """Whether any page shows the agent, as far as this process knows."""
    return _redis().has_listeners(topic) if settings.REDIS_URL else topic in _listeners


def _published(agent: Agent, event: Event) -> Published:
    content = _render(agent, event) if _render and event.kind not in NOT_RENDERED else ""
    conversation = str(event.conversation_id or "")
    return {
        "seq": event.seq,
        "kind": event.kind,
        "conversation": conversation,
        "content": content,
    }


def _send(messages: list[Message]) -> None:
    if settings.REDIS_URL:
        _redis().publish(messages)
    elif messages := [message for message in messages if message[0] in _listeners]:
        _deliver_soon(messages)


@cache
def _redis() -> RedisPubSub:
    # redis is installed where it is used
    from .redis_pubsub import RedisPubSub  # noqa: PLC0415

    return RedisPubSub(settings.REDIS_URL, _deliver_soon)
