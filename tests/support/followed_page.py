"""A page's socket, for tests that follow an agent over it."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import AnonymousUser, User

from agents.live.consumer import PageConsumer
from agents.models import Agent, Editor, Event, Message
from tests.support.stored import of

PATIENCE = 20.0  # seconds; a frame that is due comes at once, unless the machine is busy
SILENCE = 0.1  # seconds in which a frame that should not come would have come


Frame = dict[str, Any]


class Page:
    """A page of a person, as far as the server can tell."""

    def __init__(self, user: User | AnonymousUser, language: str = "en") -> None:
        self.socket = WebsocketCommunicator(PageConsumer.as_asgi(), f"/ws/?language={language}")
        self.socket.scope.update({"user": user})  # type: ignore[misc]
        self.seqs: list[int] = []
        self.html = ""
        self.written: dict[str, str] = {}  # of drafts, by field

    async def say(self, **command: Any) -> None:
        await self.socket.send_to(text_data=json.dumps(command))

    async def hear(self) -> Frame:
        """The next frame; what an event's frame brings is kept, and not acknowledged."""
        frame: Frame = json.loads(await self.socket.receive_from(timeout=PATIENCE))
        if "seq" in frame:
            self.seqs.append(frame["seq"])
            self.html += frame.get("content", "")
        if piece := frame.get("piece"):
            self.write(**piece)
        return frame

    @property
    def draft(self) -> str:
        """The text that is being written, as the page shows it."""
        return next((self.written[key] for key in reversed(self.written) if "content" in key), "")

    def write(self, message: int, field: str, start: int, text: str) -> None:
        """What static/js/socket.js does with a piece of a draft."""
        draft = f"message-{message}-{field}"
        drawn = re.findall(rf'id="{draft}"\s+data-length="(\d+)"', self.html)
        has = len(self.written[draft]) if draft in self.written else int(drawn[-1]) if drawn else -1
        if start <= has < start + len(text):
            self.written[draft] = self.written.get(draft, "") + text[has - start :]

    async def hear_until(self, wanted: Callable[[Frame], bool]) -> Frame:
        while not wanted(frame := await self.hear()):
            pass
        return frame

    async def hear_refusal(self) -> Frame:
        return await self.hear_until(lambda frame: "refused" in frame)

    async def follow(self, agent: Agent, after: int = 0) -> None:
        await self.say(command="follow", agent=str(agent.pk), after=after)
        await self.hear_until(lambda frame: frame.get("following") == str(agent.pk))

    async def up_to(self, seq: int) -> list[int]:
        """The numbers of the events heard, once that one is among them."""
        if seq not in self.seqs:
            await self.hear_until(lambda frame: frame.get("seq") == seq)
        return self.seqs

    async def send(self, agent: Agent, words: str, key: str = "") -> str:
        key = key or uuid4().hex
        await self.say(command="send", agent=str(agent.pk), text=words, key=key)
        await self.hear_until(lambda frame: frame.get("accepted") == key)
        return key

    async def is_silent(self) -> bool:
        """Nothing comes but the list of agents."""
        while not await self.socket.receive_nothing(timeout=SILENCE):
            if "seq" in await self.hear():
                return False
        return True


Open = Callable[..., Awaitable[Page]]


def last_seq(agent: Agent) -> int:
    agent.refresh_from_db()
    return agent.last_seq


def edit(agent: Agent, value: str) -> int:
    """Edit the human block by hand; the number of the event."""
    block = agent.block("human")
    assert block is not None
    block.set_value(value, by=Editor(Editor.PERSON, "alice"))
    return last_seq(agent)


def fill(agent: Agent, events: int, size: int = 0) -> int:
    """Put pieces of a draft into the log; the number of the last."""
    draft = Message.objects.create(**of(agent), number=10_000, role="assistant", status="draft")
    of_draft = {"message": draft.pk, "field": "content", "text": "x" * size}
    pieces = [of_draft | {"start": place * size} for place in range(events)]
    agent.record(*(Event(kind=Event.Kind.TEXT, draft=draft, data=piece) for piece in pieces))
    return last_seq(agent)


def streamed(agent: Agent) -> str:
    """What the log has of the draft."""
    pieces = Event.objects.filter(agent=agent, kind=Event.Kind.TEXT).order_by("seq")
    return "".join(piece.data["text"] for piece in pieces)
