"""An agent's page without a browser: its socket, which follows the agent and sends messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Self
from uuid import uuid4

from websockets.sync.client import connect
from websockets.typing import Origin


class Page:
    """A socket that follows one agent: what a browser's page says and hears."""

    def __init__(self, url: str, agent: str, after: int = 0) -> None:
        self.agent = agent
        self.seen: list[tuple[int, str]] = []
        """`(seq, fragments)` of each event."""
        self._open = ExitStack()
        address = url.replace("http", "ws", 1) + "/ws/"
        connection = connect(address, origin=Origin(url), max_size=None)
        self._socket = self._open.enter_context(connection)
        self.say(command="follow", agent=agent, after=after)

    def say(self, **command: Any) -> None:
        self._socket.send(json.dumps(command))

    def send(self, text: str, key: str = "") -> str:
        """Send a message and wait until the server says that it is stored; its key."""
        key = key or uuid4().hex
        self.say(command="send", agent=self.agent, text=text, key=key)
        next(frame for frame in self.frames() if frame.get("accepted") == key)
        return key

    def frames(self, within: float = 30.0) -> Iterator[dict[str, Any]]:
        """What the server says, as it says it; every event is acknowledged."""
        while True:
            frame = json.loads(self._socket.recv(timeout=within))
            if seq := frame.get("seq"):
                self.seen.append((seq, said(frame)))
                self.say(command="ack", seq=seq)
            yield frame

    def wait_for(self, words: str) -> None:
        """Wait until an event's fragments hold these words, or a piece of a draft does."""
        if not any(words in content for _, content in self.seen):
            next(frame for frame in self.frames() if words in said(frame))

    def wait_until(self, seq: int) -> None:
        """Wait until it has seen the agent's log up to there."""
        if not self.seen or self.seen[-1][0] < seq:
            next(frame for frame in self.frames() if frame.get("seq", 0) >= seq)

    def close(self) -> None:
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def said(frame: dict[str, Any]) -> str:
    """An event's fragments, or the text of a piece of a draft."""
    return str(frame.get("content") or frame.get("piece", {}).get("text", ""))
