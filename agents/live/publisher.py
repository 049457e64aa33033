"""Publishing: tells the pages that show an agent that its log has grown. Losing a message loses
nothing, as the log has it all and every page looks into it now and then.

Models and the loop are synchronous; listeners live on an event loop. A message is handed to that
loop and nobody waits for it. With Redis it goes to every process (`redis_pubsub`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings
from django.utils import translation

if TYPE_CHECKING:
    from agents.models import Agent, Event
    from agents.models import Message as DraftMessage

    from .redis_pubsub import RedisPubSub

# An event: "seq", "kind", "conversation", whose pages alone draw it (its key, "" for all of the
# agent's), and "content", which is "" if not rendered. Text of a draft has "piece" instead of
# "content", and no "seq" where the log does not have it yet; a finished block of it has "block".
Published = dict[str, Any]
Listener = Callable[[list[Published]], None]  # called with no events: look into the log
Message = tuple[str, list[Published]]  # a topic, and the events that its listeners get
Renderer = Callable[["Agent", "Event"], str]

# by the list of agents and conversations
SHOWN_IN_LIST = {"agent_changed", "run_began", "run_changed", "conversation_changed"}
NOT_RENDERED = {"agent_changed", "conversation_changed"}  # each socket looks what it may see

EVERYBODY = "everybody"  # the topic of what concerns all pages: the announcements changed

_listeners: dict[str, set[Listener]] = {}  # by topic; changed on their event loop only
_loop: asyncio.AbstractEventLoop | None = None  # where the listeners are
_render: Renderer | None = None


def set_renderer(render: Renderer) -> None:
    """Have events rendered by this function."""
    global _render
    _render = render


def agent_topic(agent_id: UUID, language: str) -> str:
    """For the sockets that show an agent in a language: its events, rendered."""
    return f"agent.{agent_id.hex}.{language}"


def agent_topics(agent_id: UUID) -> dict[str, str]:
    """Those of all languages: a language → its topic."""
    return {language: agent_topic(agent_id, language) for language, _ in settings.LANGUAGES}


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
    """Tell everyone who follows the agent what happened, rendered once a language for all their
    pages."""
    messages: list[Message] = []
    topics = agent_topics(agent.pk)
    heard = _heard([*topics.values(), log_topic(agent.pk)])
    for language, topic in topics.items():
        if topic in heard:
            with translation.override(language):
                messages.append((topic, [_published(agent, event) for event in events]))
        else:
            messages.append((topic, []))
    messages.append((log_topic(agent.pk), []))
    if any(map(ends_or_waits, events)):
        messages.append((rest_topic(agent.pk), []))
    if any(event.kind in SHOWN_IN_LIST for event in events):
        messages += [(user_topic(user_id), []) for user_id in agent.audience()]
    _send(messages)


def publish_text(
    message: DraftMessage,
    pieces: Sequence[dict[str, Any]],
    blocks: Callable[[Sequence[str]], Mapping[str, Sequence[dict[str, Any]]]] | None = None,
) -> None:
    """Hand text of a draft, which the log may not have yet, to whoever follows it; to pages, its
    finished blocks too, which `blocks` gives in each of some languages."""
    of = {"conversation": str(message.conversation_id)}
    published: list[Published] = [{"kind": "text", **of, "piece": each} for each in pieces]
    messages: list[Message] = []
    topics, log = agent_topics(message.agent_id), log_topic(message.agent_id)
    heard = _heard([*topics.values(), log])
    if log in heard:
        messages.append((log, published))
    if shown := [language for language, topic in topics.items() if topic in heard]:
        finished = blocks(shown) if blocks else {}
        for language in shown:
            rows = [{"message": message.pk} | each for each in finished.get(language, ())]
            drawn = [{"kind": "block", **of, "block": row} for row in rows]
            messages.append((topics[language], published + drawn))
    _send([message for message in messages if message[1]])


def publish_deleted(agent_id: UUID) -> None:
    """Tell everyone who follows an agent that it was deleted."""
    _send([(topic, []) for topic in agent_topics(agent_id).values()])


def publish_access(agent_id: UUID, user_ids: Sequence[int]) -> None:
    """Tell people's sockets, and those that follow the agent, to look what they may still see."""
    topics = [*agent_topics(agent_id).values(), *map(user_topic, user_ids)]
    _send([(topic, []) for topic in topics])


def publish_list(user_id: int) -> None:
    """Tell a person's sockets that their list of agents changed."""
    _send([(user_topic(user_id), [])])


def publish_presence(agent_id: UUID, sign: Published) -> None:
    """Tell the pages that show an agent that another one came, is there, or left."""
    _send([(presence_topic(agent_id), [sign])])


def publish_announcements() -> None:
    """Tell all pages to look which announcements there are."""
    _send([(EVERYBODY, [])])


def publish_login(user_id: int) -> None:
    """Tell a person's sockets to look whether their log-in has ended."""
    _send([(login_topic(user_id), [])])


def ends_or_waits(event: Event) -> bool:
    """Whether the event tells that a run ended, or waits for a person."""
    if event.kind == event.Kind.ACTIVITY:
        return getattr(event.rows.get("run"), "status", "") == "waiting"
    return event.kind == event.Kind.RUN_CHANGED


def _heard(topics: Sequence[str]) -> set[str]:
    """The topics that anybody listens to, as far as this process knows."""
    return _redis().heard(topics) if settings.REDIS_URL else _listeners.keys() & topics


def _published(agent: Agent, event: Event) -> Published:
    conversation = str(event.conversation_id or "")
    published = {"seq": event.seq, "kind": event.kind, "conversation": conversation}
    if event.kind == event.Kind.TEXT:
        return published | {"piece": event.data}
    content = _render(agent, event) if _render and event.kind not in NOT_RENDERED else ""
    return published | {"content": content}


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
