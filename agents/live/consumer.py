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
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from channels.consumer import get_handler_name
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.core.exceptions import ValidationError
from django.template.loader import render_to_string

from agents.asyncio_bridge import in_thread, on_behalf_of
from agents.models import LimitReached
from agents.models.database_errors import unavailable
from agents.models.event import has_all_after
from agents.permissions import Forbidden

from . import publisher
from .commands import (
    CommandError,
    ConversationGone,
    accept_message,
    find_conversation,
    parse,
    stop_current_run,
    whole_number,
)
from .fragments import drawn
from .frames import (
    BATCH,
    CONVERSATION_GONE,
    Frame,
    NothingToShow,
    are_next,
    frame_of,
    render_list,
    render_next,
)
from .login import Login, LoginEnded
from .presence import Presence

logger = logging.getLogger(__name__)

MOST_EVENTS = 300  # in flight
MOST_BYTES = 1_000_000  # in flight
LOOK_SECONDS = 15.0  # how often the log is looked at, with news or without
ACK_SECONDS = 30.0  # a page that acknowledges nothing for so long is closed
LOGGED_OUT = 4401  # the code that a socket is closed with when its log-in has ended
LIST_SECONDS = 0.5  # the list of agents is rendered at most so often


class PageConsumer(AsyncWebsocketConsumer):
    """One open page of one person."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve the socket, and leave no listener behind, however it ends."""
        self.agent_id: UUID | None = None
        self.conversation_id: UUID | None = None
        self.tasks: list[asyncio.Task[None]] = []
        self.login = Login(scope)
        self.user = self.login.user
        if settings.ACCOUNTS:
            on_behalf_of.set(self.user.pk)
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.release()

    async def connect(self) -> None:
        self.seq = 0
        self.received: deque[publisher.Published] = deque(maxlen=BATCH)
        self.in_flight: deque[tuple[int, int]] = deque()  # (seq, bytes)
        self.notified, self.acked = asyncio.Event(), asyncio.Event()
        self.presence = Presence(self.user.get_username(), self.send_frame)
        self.list_is_due = False
        self.behind = True  # the log has, or may have, what the page has not
        if not self.user.is_authenticated:
            await self.close(LOGGED_OUT)
            return
        publisher.subscribe(publisher.user_topic(self.user.pk), self.agents_changed)
        publisher.subscribe(publisher.login_topic(self.user.pk), self.login.look_now)
        await self.accept()
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
        this = asyncio.current_task()
        for task in self.tasks:
            if task is not this:
                task.cancel()

    def release(self) -> None:
        """Stop the tasks and the listening."""
        self.stop_tasks()
        if self.user.is_authenticated:
            publisher.unsubscribe(publisher.user_topic(self.user.pk), self.agents_changed)
            publisher.unsubscribe(publisher.login_topic(self.user.pk), self.login.look_now)
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
            if not self.is_expected(body):
                await self.login.admit()
            await self.commands()[body["command"]](body)
        except (CommandError, Forbidden, LimitReached) as error:
            await self.refuse(str(error), body)
        except ValidationError as error:
            await self.refuse(" ".join(error.messages), body)
        except LoginEnded:
            await self.end(LOGGED_OUT)
        except Exception as error:
            if not (words := unavailable(error)):
                raise
            if body.get("command") == "follow":
                await self.close(1011)  # the page reconnects, and asks again
                return
            await self.refuse(f"{words} Nothing was done; try again in a moment.", body)

    def is_expected(self, body: dict[str, Any]) -> bool:
        """Whether a command acknowledges what is in flight; it is not checked nor counted."""
        return body["command"] == "ack" and bool(self.in_flight)

    def commands(self) -> dict[str, Callable[[dict[str, Any]], Any]]:
        acting = {"send": self.send_message, "stop": self.stop_run}
        return {"follow": self.follow, "ack": self.ack, **acting}

    async def refuse(self, error: str, body: dict[str, Any]) -> None:
        """Say what was wrong with a command; what the person typed stays in the page."""
        content = render_to_string("agents/_refusal.html", {"error": error})
        await self.send_frame({"content": content, "refused": body.get("key", "")})

    async def follow(self, body: dict[str, Any]) -> None:
        """The page shows a conversation of an agent, as they were at event `after`.

        It is told to reload where the log cannot bring it up to date.
        """
        try:
            conversation = await in_thread(find_conversation, self.user, body)
        except ConversationGone:  # deleted while the page was away
            self.unfollow()
            await self.send_frame({"content": drawn(CONVERSATION_GONE)})
            return
        agent, after = conversation.agent, whole_number(body, "after")
        self.unfollow()
        if not has_all_after(agent, after):
            await self.send_frame({"reload": True})
            return
        self.agent_id, self.conversation_id = agent.pk, conversation.pk
        self.seq = after
        if agent.is_shared:
            self.presence.begin(agent.pk)
        self.received.clear()
        self.in_flight.clear()
        self.behind = True
        publisher.subscribe(publisher.agent_topic(agent.pk), self.agent_changed)
        await self.send_frame({"following": str(agent.pk)})
        self.notified.set()
        self.agents_changed()

    def unfollow(self) -> None:
        if self.agent_id:
            publisher.unsubscribe(publisher.agent_topic(self.agent_id), self.agent_changed)
            self.presence.end()
        self.agent_id = None

    async def ack(self, body: dict[str, Any]) -> None:
        """The page has drawn everything up to event `seq`."""
        seq = whole_number(body, "seq")
        while self.in_flight and self.in_flight[0][0] <= seq:
            self.in_flight.popleft()
        self.acked.set()

    async def send_message(self, body: dict[str, Any]) -> None:
        """A person sends a message; accepted means it is stored."""
        await in_thread(accept_message, self.user, body)
        await self.send_frame({"accepted": body["key"]})

    async def stop_run(self, body: dict[str, Any]) -> None:
        """A person stops the run that goes on."""
        await in_thread(stop_current_run, self.user, body)

    # -- what is published -------------------------------------------------------------------------

    def agent_changed(self, events: list[publisher.Published]) -> None:
        self.received.extend(events)
        self.behind = self.behind or not events
        self.notified.set()

    def agents_changed(self, events: Sequence[publisher.Published] = ()) -> None:
        if not self.list_is_due:
            self.list_is_due = True
            self.tasks.append(asyncio.create_task(self.send_list()))
            self.tasks = [task for task in self.tasks if not task.done()]

    async def send_list(self) -> None:
        """Send the list of the person's agents, after a moment in which more may have changed."""
        await asyncio.sleep(LIST_SECONDS)
        self.list_is_due = False
        shown = self.agent_id, self.conversation_id
        await self.send_frame({"content": await in_thread(render_list, self.user, *shown)})

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
        self.notified.clear()

    async def catch_up(self) -> None:
        """Send what there is."""
        try:
            while self.agent_id and (frames := await self.next_frames()):
                for frame in frames:
                    await self.send_event(*frame)
        except NothingToShow as gone:
            self.unfollow()
            await self.send_frame({"content": drawn(str(gone))})

    async def next_frames(self) -> list[Frame]:
        """The next events, rendered; [] if the page has them all.

        Those that were published, if they are the very next; else from the log.
        """
        if not self.behind:
            events = [event for event in self.received if event["seq"] > self.seq]
            self.received.clear()
            if are_next(self.seq, events):
                return [frame_of(event, self.conversation_id) for event in events]
        place = self.agent_id, self.conversation_id, self.seq
        self.behind = False
        frames = await in_thread(render_next, self.user, *place)
        if place != (self.agent_id, self.conversation_id, self.seq):  # the page shows another one
            return await self.next_frames()
        self.behind = self.behind or len(frames) == BATCH
        return frames

    async def send_event(self, seq: int, kind: str, content: str | None) -> None:
        """Send one event's fragments, when the page has room for it. TimeoutError if it has not."""
        if content is None:
            self.seq = seq
            return
        while len(self.in_flight) >= MOST_EVENTS or (
            self.in_flight and sum(size for _, size in self.in_flight) + len(content) > MOST_BYTES
        ):
            self.acked.clear()
            await asyncio.wait_for(self.acked.wait(), ACK_SECONDS)
        self.in_flight.append((seq, len(content)))
        self.seq = seq
        await self.send_frame({"seq": seq, "kind": kind, "content": content})

    async def send_frame(self, frame: dict[str, Any]) -> None:
        await self.send(text_data=json.dumps(frame))
