"""A fake OpenAI-compatible server on a real loopback socket, for tests.

    server = FakeOpenAI().start()
    server.script(calls(("core_memory_append", {"label": "human", "content": "x"})), text("Done"))
    client = OpenAI(base_url=server.base_url, api_key="any")

It refuses what the judges refuse (`judges/`), streams what the test scripted (`openai_answers.py`),
and notices at once when a client hangs up on a silent answer.
"""

import itertools
import json
import socket
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

from tests.support import judges
from tests.support.openai_answers import (
    Answer,
    Body,
    Gate,
    Refusal,
    Scripted,
    break_off,
    calls,
    context_length,
    empty,
    error_in_stream,
    garbage,
    gated,
    reasoning,
    stall,
    status,
    text,
    text_and_calls,
)
from tests.support.openai_embeddings import embeddings
from tests.support.openai_wire import Server

__all__ = [
    "FakeOpenAI",
    "Gate",
    "break_off",
    "calls",
    "context_length",
    "empty",
    "error_in_stream",
    "garbage",
    "gated",
    "reasoning",
    "refuse_connection",
    "stall",
    "status",
    "text",
    "text_and_calls",
]

_unheard: list[socket.socket] = []


def refuse_connection() -> str:
    """A base URL where nobody listens: the port is bound, for good, so nobody else gets it."""
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    _unheard.append(sock)
    return f"http://127.0.0.1:{sock.getsockname()[1]}/v1"


class FakeOpenAI:
    """The server and its notebook: what it was asked, what it refused, who hung up."""

    def __init__(self, *, strict: bool = True) -> None:
        self.strict = strict
        """Whether a request that breaks a rule fails the test, at `stop`."""
        self.models = ["fake-model"]
        self.unlisted: list[str] = []  # models that answer as well
        self.loaded: dict[str, int] = {}  # as Ollama: context lengths
        self.parameters: dict[str, str] = {}
        self.said_of_models: dict[str, dict[str, object]] = {}  # more that the list says of a model
        self.default: Scripted = text("OK")
        self.also_allowed: set[str] = set()
        """Parameters and message fields to take although OpenAI's own API does not."""
        self.embedding_models = {"fake-embedding": 64, "other-embedding": 48}
        """Names, and how long their vectors are."""
        self.embedding_refusal: Refusal | None = None
        self.refused_in_embedding = ""
        self.embedded: list[list[str]] = []
        """The texts of each request for embeddings, answered or not."""
        self.requests: list[Body] = []
        self.raw_bodies: list[bytes] = []
        self.refused: list[tuple[Any, str]] = []
        self.failures: list[BaseException] = []
        """What a scripted callable, or the server itself, raised; `stop` raises the first."""
        self.closed_by_client = threading.Event()
        self.stopping = threading.Event()
        self._script: deque[Scripted] = deque()
        self._scripts: list[tuple[Callable[[Body], bool], deque[Scripted]]] = []
        self._changed = threading.Condition()
        self._call_ids = itertools.count(1)
        self._server = Server(self)
        self._thread: threading.Thread | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def start(self) -> Self:
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Close the port and every connection, then raise what went wrong in here."""
        if not self.stopping.is_set():
            self.stopping.set()
            if self._thread:
                self._server.shutdown()
            self._server.hang_up()
        if self.failures:
            raise self.failures.pop(0)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def script(self, *answers: Scripted) -> None:
        """The answers to give, one a request, in order; `default` when there are no more."""
        with self._changed:
            self._script.extend(answers)

    def script_for(self, wanted: Callable[[Body], bool], *answers: Scripted) -> None:
        """Answers only for the requests that are `wanted`, which get them before any others."""
        with self._changed:
            self._scripts.append((wanted, deque(answers)))

    def forget(self) -> None:
        """Begin anew for the next test: nothing is scripted, and nothing was asked."""
        with self._changed:
            self.default = text("OK")
            for notes in (self._script, self._scripts, self.requests, self.raw_bodies):
                notes.clear()

    @property
    def unused(self) -> int:
        """How many scripted answers nobody has asked for."""
        with self._changed:
            return len(self._script) + sum(len(answers) for _, answers in self._scripts)

    def wait_for_requests(self, count: int = 1, timeout: float = 5.0) -> list[Body]:
        """The accepted requests, as soon as there are `count` of them."""
        with self._changed:
            enough = self._changed.wait_for(lambda: len(self.requests) >= count, timeout)
            assert enough, f"{len(self.requests)} requests came, not {count}"
            return list(self.requests)

    def accept(self, raw: bytes) -> tuple[Body, Answer, Gate | None]:
        """Judge one request, note it, and take the answer that is its due."""
        body: Any = raw
        try:
            body = parse(raw)
            self._judge(body)
        except Refusal as refusal:
            with self._changed:
                self.refused.append((body, str(refusal)))
                if self.strict:
                    self.failures.append(AssertionError(judges.verdict(str(refusal), body)))
            raise
        with self._changed:
            scripted = self._take(body)
            self.requests.append(body)
            self.raw_bodies.append(raw)
            self._changed.notify_all()
        if not isinstance(scripted, Answer | Gate):
            scripted = self._ask(scripted, body)
        if isinstance(scripted, Gate):
            return body, self._identify(scripted.answer), scripted
        return body, self._identify(scripted), None

    def _judge(self, body: Body) -> None:
        """Raise `Refusal` unless the API would take this request."""
        model = body.get("model")
        if isinstance(model, str) and model not in [*self.models, *self.unlisted]:
            words = f"The model `{model}` does not exist or you do not have access to it."
            raise Refusal(words, None, "model_not_found", status=404)
        if broken := judges.broken_rules("", body, self.also_allowed):
            raise Refusal("; ".join(broken), "messages")

    def embed(self, raw: bytes) -> Body:
        """The answer to a request for embeddings."""
        body = parse(raw)
        with self._changed:
            given = body.get("input", [])
            self.embedded.append([given] if isinstance(given, str) else list(given))
            self._changed.notify_all()
        if self.embedding_refusal:
            raise self.embedding_refusal
        return embeddings(body, self.embedding_models, self.refused_in_embedding)

    def _take(self, body: Body) -> Scripted:
        for wanted, answers in self._scripts:
            if answers and wanted(body):
                return answers.popleft()
        return self._script.popleft() if self._script else self.default

    def _ask(self, scripted: Callable[[Body], Answer | Gate], body: Body) -> Answer | Gate:
        try:
            return scripted(body)
        except Exception as failure:
            self.failures.append(failure)
            # The client would otherwise try a 500 again.
            return status(500, f"in the script: {failure!r}", {"x-should-retry": "false"})

    def _identify(self, answer: Answer) -> Answer:
        named = (
            call if call.id is not None else replace(call, id=f"call_{next(self._call_ids)}")
            for call in answer.calls
        )
        return replace(answer, calls=tuple(named))


def parse(raw: bytes) -> Body:
    """The request's body; refused when it is not a JSON object."""
    try:
        body = json.loads(raw, parse_constant=_not_json)
    except ValueError:
        body = None
    if isinstance(body, dict):
        return body
    raise Refusal("We could not parse the JSON body of your request.")


def _not_json(constant: str) -> None:
    raise ValueError(constant)
