"""Somebody who chats over a socket, and comes back wherever that ends, as a browser's page does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from uuid import uuid4

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection

from tests.support.server import eventually
from tests.support.visitor import PASSWORD, Visitor, say

BLOCKS = {"persona": "You are a helpful assistant", "human": "Name: {}"}
WITHIN = 120.0  # seconds in which everything has to be heard; it takes a few, after a kill 20


class Person:
    """A person with an agent, whose log they have seen up to `seq`."""

    def __init__(self, name: str, visitor: Visitor, agent: str = "") -> None:
        self.name, self.visitor, self.agent = name, visitor, agent
        self.seq, self.seen = 0, ""
        self.opened: AbstractContextManager[ClientConnection] | None = None
        self.socket: ClientConnection | None = None

    def accept(self, link: str) -> None:
        """Make an account by an invitation."""
        form = {"username": self.name, "email": "", "password1": PASSWORD, "password2": PASSWORD}
        assert "Log out" in self.visitor.post(link.removeprefix(self.visitor.url), **form).said

    def make_agent(self) -> None:
        form: dict[str, Any] = {
            "name": f"{self.name}'s agent",
            "template": "assistant",
            "model": "",
            "system_prompt": "You are a tutor.",
            "blocks-TOTAL_FORMS": len(BLOCKS),
            "blocks-INITIAL_FORMS": 0,
        }
        for number, (label, value) in enumerate(BLOCKS.items()):
            block = {
                "label": label,
                "value": value.format(self.name),
                "limit": 2000,
                "kind": "text",
            }
            form |= {f"blocks-{number}-{field}": given for field, given in block.items()}
        made = re.search(r"/agents/([0-9a-f-]{36})/", self.visitor.post("/agents/new/", **form).url)
        assert made
        self.agent = made[1]

    def say(self, text: str) -> None:
        """Send a message until it is accepted; the same key again is the same message."""
        key = uuid4().hex
        message = {"command": "send", "agent": self.agent, "text": text, "key": key}
        self.until(lambda frame: frame.get("accepted") == key, message)

    def hear(self, words: str) -> None:
        """Wait until an event has these words."""
        if words not in self.seen:
            self.until(lambda frame: words in self.seen)

    def until(
        self, check: Callable[[dict[str, Any]], bool], command: dict[str, Any] | None = None
    ) -> None:
        """Listen until a frame is the one; where the socket ends, come back and give it again."""

        def listen() -> bool:
            try:
                socket = self.connected()
                if command:
                    say(socket, **command)
                while not check(self.received(socket)):
                    pass
                return True
            except (WebSocketException, OSError):  # a timeout is one of these
                self.leave()
                return False

        eventually(listen, within=WITHIN)

    def connected(self) -> ClientConnection:
        if self.socket is None:
            self.opened = self.visitor.socket()
            self.socket = self.opened.__enter__()
            say(self.socket, command="follow", agent=self.agent, after=self.seq)
        return self.socket

    def received(self, socket: ClientConnection) -> dict[str, Any]:
        frame: dict[str, Any] = json.loads(socket.recv(timeout=30))
        if seq := frame.get("seq"):
            assert seq > self.seq, "an event came twice, or out of order"
            self.seq = seq
            self.seen += frame["content"]
            say(socket, command="ack", seq=seq)
        return frame

    def leave(self) -> None:
        """Close the page."""
        if self.opened:
            self.opened.__exit__(None, None, None)
        self.opened = self.socket = None
