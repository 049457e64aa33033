"""Endpoints at any address, in this process: each refuses and sends what real servers do.

    at = bed.endpoint(OLLAMA, agent)
    at.script(calls(...), text(...))

The official client's transport is replaced, so an endpoint can have the address of Mistral's
service or of a machine in somebody's cellar, which is by what the product tells them apart.
"""

from __future__ import annotations

import itertools
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx2

from agents.models import Agent
from tests.support import judges

Body = dict[str, Any]
Rule = Callable[[Body], Iterator[str]]
Refusal = tuple[int, Any]  # status and body
SOMEWHERE = "http://10.{}.{}.5:8000/v1"

_addresses = itertools.count(1)
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Server:
    """A kind of server: how it is reached, what it refuses and in which words, who says so.

    Without an address of its own it stands somewhere where neither the address nor the model's
    name tell what it is, and the product can only learn from what it refuses.
    """

    name: str
    evidence: str
    rules: tuple[Rule, ...] = ()
    refuse: Callable[[str], Refusal] = lambda words: (400, {"error": {"message": words}})
    address: str = ""
    model: str = "my-model"
    also_allowed: tuple[str, ...] = ()
    thinks: bool = False
    """Whether it sends reasoning before each answer."""
    signs: bool = False
    """Whether it signs its calls."""
    ids: str = "call_{}"
    """The form of its calls' ids, which holds a number of at least three digits."""

    def __str__(self) -> str:
        return self.name.replace(" ", "_")


@dataclass(frozen=True)
class Stream:
    """What a model sends: the deltas of a message, or the very bytes of the answer."""

    deltas: tuple[Body, ...] = ()
    finish: str | None = "stop"
    raw: bytes = b""
    extras: Body = field(default_factory=dict)
    """Further fields of the last chunk, such as `usage`."""
    pieces: int = 0
    """How many bytes arrive at once; 0: all of them."""


class At:
    """One server at its address, with its notebook."""

    def __init__(self, server: Server) -> None:
        self.server = server
        number = next(_addresses)
        self.address = server.address or SOMEWHERE.format(number // 250, number % 250)
        self.host = httpx2.URL(self.address).netloc.decode()
        self.requests: list[Body] = []
        self.raw_bodies: list[bytes] = []
        self.refused: list[str] = []
        self.signatures: set[str] = set()
        self.default = text("OK.")
        self._script: deque[Stream] = deque()

    def script(self, *streams: Stream) -> None:
        self._script.extend(streams)

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        if not request.url.path.endswith("/chat/completions"):
            return self.other(request)
        body = json.loads(request.content)
        if refusal := self.refusal_of(body):
            return httpx2.Response(refusal[0], json=refusal[1], request=request)
        self.requests.append(body)
        self.raw_bodies.append(request.content)
        stream = self._script.popleft() if self._script else self.default
        content = in_parts(self.answer_bytes(stream, body), stream.pieces)
        headers = {"Content-Type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, content=content, request=request)

    def other(self, request: httpx2.Request) -> httpx2.Response:
        """The list of models; what else servers have is not there."""
        if request.method == "GET" and request.url.path.endswith("/models"):
            models = [{"id": self.server.model, "object": "model", "created": 1, "owned_by": "x"}]
            return httpx2.Response(200, json={"object": "list", "data": models}, request=request)
        return httpx2.Response(404, json={"error": "not found"}, request=request)

    def refusal_of(self, body: Body) -> Refusal | None:
        """The server's answer to a request that breaks a rule of OpenAI's or its own."""
        server = self.server
        for words in judges.openai.broken_rules(body, server.also_allowed):
            self.refused.append(words)
            return 400, {"error": {"message": words, "type": "invalid_request_error"}}
        for rule in server.rules:
            for words in rule(body):
                self.refused.append(words)
                return server.refuse(words)
        for message in body["messages"] if server.signs else ():
            for call in message.get("tool_calls", ())[:1]:
                if call["extra_content"]["google"]["thought_signature"] not in self.known():
                    self.refused.append(CORRUPTED)
                    return server.refuse(CORRUPTED)
        return None

    def known(self) -> set[str]:
        """Signatures it made, and the one that stands for calls of other models'."""
        return {*self.signatures, "skip_thought_signature_validator"}

    def answer_bytes(self, stream: Stream, body: Body) -> bytes:
        """An answer as bytes, with what this server adds to every answer."""
        if stream.raw:
            return stream.raw
        deltas = [dict(delta) for delta in stream.deltas]
        if self.server.thinks:
            deltas.insert(0, {"content": None, "reasoning_content": "Let me think."})
        for delta in deltas:
            if "tool_calls" in delta:
                delta["tool_calls"] = [
                    call | self.id(call) | self.signature(place)
                    for place, call in enumerate(delta["tool_calls"])
                ]
        return sent(deltas, stream.finish, stream.extras)

    def id(self, call: Body) -> Body:
        """An id of the server's own form, for a call that is to have one."""
        wanted = call["function"].get("name") and call.get("id", "") is None
        return {"id": self.server.ids.format(f"{next(_numbers):03}")} if wanted else {}

    def signature(self, place: int) -> Body:
        """Of the first call of a message, where the server signs them."""
        if place or not self.server.signs:
            return {}
        signature = f"{self.host}-{len(self.signatures)}"
        self.signatures.add(signature)
        return {"extra_content": {"google": {"thought_signature": signature}}}


class Bed:
    """The transport of the official client, which knows the endpoints of a test by their hosts."""

    def __init__(self, endpoints: dict[str, str]) -> None:
        self.at: dict[str, At] = {}
        self.endpoints = endpoints
        """`settings.ENDPOINTS`, by name."""

    def endpoint(self, server: Server, agent: Agent | None = None, options: str = "") -> At:
        """Put a server at its address, have the settings name it, and the agent asked there.

        `options` are what the operator says of its dialect: "#ids=nine".
        """
        at = At(server)
        if before := self.at.get(at.host):
            at.signatures = before.signatures  # it is the same place
        self.at[at.host] = at
        self.endpoints[str(server)] = at.address + options
        if agent:
            agent.model = f"{server}/{server.model}"
            agent.save(update_fields=["model"])
        return at

    async def handle(self, request: httpx2.Request) -> httpx2.Response:
        return self.at[request.url.netloc.decode()].answer(request)


# -- what models send ------------------------------------------------------------------------------


def text(content: str) -> Stream:
    return Stream(({"role": "assistant", "content": ""}, {"content": content}))


def calls(*made: tuple[str, Any], ids: tuple[str, ...] = (), finish: str = "tool_calls") -> Stream:
    """Calls as OpenAI sends them; arguments that are a string go out as they are."""
    listed = []
    for index, (name, arguments) in enumerate(made):
        said = arguments if isinstance(arguments, str) else json.dumps(arguments)
        id = ids[index] if ids else None  # then the server gives it one
        function = {"name": name, "arguments": said}
        listed.append({"index": index, "id": id, "type": "function", "function": function})
    return Stream(({"role": "assistant", "content": None, "tool_calls": listed},), finish)


def sent(deltas: list[Body], finish: str | None, extras: Body | None = None) -> bytes:
    """Server-sent events of one answer, with `[DONE]` at their end."""
    chunks = [chunk(delta) for delta in deltas]
    if finish or extras:
        chunks.append(chunk({}, finish) | (extras or {}))
    return b"".join(b"data: %s\n\n" % json.dumps(each).encode() for each in chunks) + DONE


def chunk(delta: Body, finish: str | None = None) -> Body:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion.chunk", "created": 1, "choices": [choice]}


CORRUPTED = "Corrupted thought signature."  # Antigravity-Manager 970, 9router 4136, sub2api 393
DONE = b"data: [DONE]\n\n"


async def in_parts(data: bytes, size: int) -> AsyncIterator[bytes]:
    """Bytes as they arrive."""
    for start in range(0, len(data), size or len(data)):
        yield data[start : start + (size or len(data))]
