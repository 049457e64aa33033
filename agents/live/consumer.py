"""The socket of a page: commands in, fragments out. It never waits for a run.

The page says which agent it shows and up to which event (`follow`); a pump task sends everything
after it, one frame an event: `{"seq": 7, "kind": …, "content": "<hx-partial …>"}`. What is sent and
not yet acknowledged is bounded; the rest waits in the log.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable
from math import inf
from typing import Any, TypeVar
from uuid import UUID

from channels.consumer import get_handler_name
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.utils import translation

from agents.asyncio_bridge import in_thread, on_behalf_of
from agents.models.database_errors import unavailable
from agents.models.event import has_all_after

from . import publisher
from .agent_list import AgentList
from .announcements import Announcements
from .commands import (
    CommandError,
    ConversationGone,
    accept_message,
    find_conversation,
    finished_so_far,
    parse,
    refusal_of,
    stop_current_run,
    whole_number,
)
from .fragments import drawn
from .frames import (
    BATCH,
    CONVERSATION_GONE,
    TEMPORARY_GONE,
    Frame,
    NothingToShow,
    are_next,
    frame_of,
    render_next,
)
from .in_flight import InFlight
from .languages import language_of, speaking
from .login import Login, LoginEnded
from .presence import Presence
from .temporary import KeptOpen

T = TypeVar("T")
logger = logging.getLogger(__name__)

LOOK_SECONDS = 15.0  # how often the log is looked at, with news or without
LOGGED_OUT = 4401  # the code that a socket is closed with when its log-in has ended


class PageConsumer(AsyncWebsocketConsumer):
    """One open page of one person."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve the socket, and leave no listener behind, however it ends."""
        self.agent_id: UUID | None = None
        self.kept_open = KeptOpen()
        self.conversation_id: UUID | None = None
        self.tasks: list[asyncio.Task[None]] = []
        self.login = Login(scope)
        self.language = language_of(scope)
        self.user = self.login.user
        self.list = AgentList(self.user, self.language, self.send_frame)
        if settings.ACCOUNTS:
            on_behalf_of.set(self.user.pk)
        try:
            with translation.override(self.language):
                await super().__call__(scope, receive, send)
        finally:
            self.release()

    async def connect(self) -> None:
        self.seq = 0
        self.received: deque[publisher.Published] = deque(maxlen=BATCH)
        self.in_flight, self.notified = InFlight(), asyncio.Event()
        self.presence = Presence(self.user.get_username(), self.language, self.send_frame)
        self.announcements = Announcements(self.language, self.send_frame)
        self.behind = True  # the log has, or may have, what the page has not
        if not self.user.is_authenticated:
            await self.close(LOGGED_OUT)
            return
        publisher.subscribe(publisher.user_topic(self.user.pk), self.list.changed)
        publisher.subscribe(publisher.login_topic(self.user.pk), self.login.look_now)
        await self.accept()
        self.announcements.begin()
        self.tasks += [asyncio.create_task(self.pump()), asyncio.create_task(self.end_with_login())]

    async def end_with_login(self) -> None:
        """End the socket when its log-in has ended."""
        await self.login.watch()
        await self.end(LOGGED_OUT)

    async def end(self, code: int) -> None:
        """Close the socket, and send nothing more."""
        self.stop_tasks()
        await self.close(code)

    def stop_tasks(self) -> None:
        self.list.end()
        this = asyncio.current_task()
        for task in self.tasks:
            if task is not this:
                task.cancel()

    def release(self) -> None:
        """Stop the tasks and the listening."""
        self.stop_tasks()
        if self.user.is_authenticated:
            publisher.unsubscribe(publisher.user_topic(self.user.pk), self.list.changed)
            publisher.unsubscribe(publisher.login_topic(self.user.pk), self.login.look_now)
            self.announcements.end()
        self.unfollow()

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Call the handler of a message. Channels' own visits a thread before each, to close
        database connections; this consumer has none."""
        await getattr(self, get_handler_name(message))(message)

    # -- commands in ---------------------------------------------------------------------------

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        body: dict[str, Any] = {}
        try:
            body = parse(text_data)
            await self.commands()[body["command"]](body)
        except LoginEnded:
            await self.end(LOGGED_OUT)
        except Exception as error:
            if body.get("command") == "follow" and unavailable(error):
                await self.close(1011)  # the page reconnects, and asks again
            elif words := refusal_of(error):
                await self.refuse(words, body)
            else:
                raise

    def commands(self) -> dict[str, Callable[[dict[str, Any]], Any]]:
        acting = {"send": self.send_message, "stop": self.stop_run}
        return {"follow": self.follow, "ack": self.ack, "draft": self.draw_draft, **acting}

    async def carry_out(
        self, command: Callable[[User, dict[str, Any]], T], body: dict[str, Any]
    ) -> T:
        """Carry out a command of the person, in a thread, if they are still logged in."""
        return await self.login.carry_out(speaking, self.language, command, self.user, body)

    async def refuse(self, error: str, body: dict[str, Any]) -> None:
        """Say what was wrong with a command; what the person typed stays in the page."""
        content = render_to_string("agents/_refusal.html", {"error": error})
        await self.send_frame({"content": content, "refused": body.get("key", "")})

    async def follow(self, body: dict[str, Any]) -> None:
        """The page shows a conversation of an agent, as they were at event `after`.

        It is told to reload where the log cannot bring it up to date.
        """
        try:
            conversation = await self.carry_out(find_conversation, body)
        except ConversationGone:  # deleted while the page was away
            self.unfollow()
            await self.send_frame({"content": drawn(CONVERSATION_GONE)})
            return
        except CommandError:
            if not body.get("temporary"):
                raise
            self.unfollow()  # closed, as the page was away for too long
            await self.send_frame({"content": drawn(TEMPORARY_GONE)})
            return
        agent, after = conversation.agent, whole_number(body, "after")
        self.unfollow()
        if not has_all_after(agent, after):
            await self.send_frame({"reload": True})
            return
        self.agent_id, self.conversation_id = agent.pk, conversation.pk
        self.seq = after
        self.list.shown = agent.lasting_id, conversation.pk
        self.kept_open.begin(agent)
        if agent.is_shared:
            self.presence.begin(agent.pk)
        self.received.clear()
        self.in_flight.clear()
        self.behind = True
        publisher.subscribe(publisher.agent_topic(agent.pk, self.language), self.agent_changed)
        await self.send_frame({"following": str(agent.pk)})
        self.notified.set()
        self.list.changed()

    def unfollow(self) -> None:
        if self.agent_id:
            publisher.unsubscribe(
                publisher.agent_topic(self.agent_id, self.language), self.agent_changed
            )
            self.presence.end()
        self.agent_id, self.list.shown = None, (None, None)
        self.kept_open.chat = None

    async def ack(self, body: dict[str, Any]) -> None:
        """The page has drawn everything up to event `seq`. What is in flight is acknowledged
        without a look at the log-in, and not counted."""
        if not self.in_flight:
            await self.login.carry_out(bool)
        self.in_flight.acknowledge(whole_number(body, "seq"))

    async def draw_draft(self, body: dict[str, Any]) -> None:
        """The page lacks finished blocks of an answer that is being written."""
        if block := await self.carry_out(finished_so_far, body):
            await self.send_frame({"block": block})

    async def send_message(self, body: dict[str, Any]) -> None:
        """A person sends a message; accepted means it is stored."""
        await self.carry_out(accept_message, body)
        await self.send_frame({"accepted": body["key"]})

    async def stop_run(self, body: dict[str, Any]) -> None:
        """A person stops the run that goes on."""
        await self.carry_out(stop_current_run, body)

    # -- what is published -------------------------------------------------------------------------

    def agent_changed(self, events: list[publisher.Published]) -> None:
        self.received.extend(events)
        self.behind = self.behind or not events
        self.notified.set()

    # -- fragments out -----------------------------------------------------------------------------

    async def pump(self) -> None:
        """Send what the log has beyond what was sent, for as long as the socket lives."""
        try:
            while True:
                await self.wait_for_news()
                await self.catch_up()
        except TimeoutError:
            await self.close(1013)
        except Exception:  # the page reconnects and asks again
            logger.exception("A socket failed while sending events.")
            await self.close(1011)

    async def wait_for_news(self) -> None:
        """Wait for news; look into the log now and then all the same, as a message may get lost."""
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                await self.notified.wait()
        except TimeoutError:
            self.behind = True
        self.presence.renew()
        self.kept_open.renew()
        self.notified.clear()

    async def catch_up(self) -> None:
        """Send what there is."""
        try:
            while self.agent_id and (frames := await self.next_frames()):
                for frame in frames:
                    await self.send_event(frame)
        except NothingToShow as gone:
            template = TEMPORARY_GONE if self.kept_open.chat else str(gone)
            self.unfollow()
            await self.send_frame({"content": drawn(template)})

    async def next_frames(self) -> list[Frame]:
        """The next events, rendered; [] if the page has them all.

        Those that were published, if they are the very next; else from the log.
        """
        if not self.behind:
            news = [event for event in self.received if event.get("seq", inf) > self.seq]
            self.received.clear()
            if are_next(self.seq, news):
                return [frame_of(event, self.conversation_id) for event in news]
        place = self.agent_id, self.conversation_id, self.seq
        self.behind = False
        frames: list[Frame] = await in_thread(
            speaking, self.language, render_next, self.user, *place
        )
        if place != (self.agent_id, self.conversation_id, self.seq):  # the page shows another one
            return await self.next_frames()
        self.behind = self.behind or len(frames) == BATCH
        return frames

    async def send_event(self, frame: Frame) -> None:
        """Send one event's fragments, when the page has room for it. TimeoutError if it has not."""
        self.seq = frame.seq or self.seq
        if frame.content is not None and await self.in_flight.take(frame, self.seq):
            await self.send_frame({name: it for name, it in frame._asdict().items() if it})

    async def send_frame(self, frame: dict[str, Any]) -> None:
        await self.send(text_data=json.dumps(frame))
