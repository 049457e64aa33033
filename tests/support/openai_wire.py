"""The fake server's HTTP: sockets, server-sent events, and clients that hang up."""

import json
import selectors
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from tests.support.openai_answers import Answer, Body, Refusal

if TYPE_CHECKING:
    from tests.support.fake_openai import FakeOpenAI


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, fake: "FakeOpenAI") -> None:
        self.fake = fake
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        self.server_close()
        with self._lock:
            for sock in self._open:
                with suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        failure = sys.exc_info()[1]
        # A client may go away between two requests: that is no failure.
        if failure and not isinstance(failure, ConnectionError):
            self.fake.failures.append(failure)


class _HungUp(Exception):
    """The client, or the server itself, closed the connection."""


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:
        self._respond(self._list_models)

    def do_POST(self) -> None:
        self._respond(self._complete)

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _respond(self, respond: Callable[[bytes], None]) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            respond(raw)
        except Refusal as refusal:
            self._refuse(refusal)
        except (_HungUp, ConnectionError):
            self.close_connection = True
            if not self.server.fake.stopping.is_set():
                self.server.fake.closed_by_client.set()

    def _list_models(self, raw: bytes) -> None:
        fake = self.server.fake
        if self.path == "/api/ps":
            loaded = [{"name": name, "context_length": size} for name, size in fake.loaded.items()]
            return self._send_json({"models": loaded})
        if self.path != "/v1/models":
            raise self._unknown_url()
        listed = [
            {"id": name, "object": "model", "created": 1700000000, "owned_by": "fake"}
            | fake.said_of_models.get(name, {})
            for name in fake.models
        ]
        self._send_json({"object": "list", "data": listed})

    def _complete(self, raw: bytes) -> None:
        if self.path == "/api/show":
            shown = self.server.fake.parameters.get(json.loads(raw)["model"], "")
            return self._send_json({"parameters": shown})
        if self.path == "/v1/embeddings":
            return self._send_json(self.server.fake.embed(raw))
        if self.path != "/v1/chat/completions":
            raise self._unknown_url()
        body, answer, gate = self.server.fake.accept(raw)
        wait = partial(gate.let_through, self._check) if gate else self._check
        if answer.ending == "silence":
            self._keep_silent()
        if answer.refusal and answer.ending != "error":
            wait()
            return self._refuse(answer.refusal, answer.headers)
        self._stream(body, answer, wait)

    def _stream(self, body: Body, answer: Answer, wait: Callable[[], None]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        envelope = _envelope(body)

        def send(delta: Body, finish: str | None = None) -> None:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
            self.wfile.write(_event(_dump({**envelope, "choices": [choice]})))

        for number, delta in enumerate(answer.deltas()):
            if number:
                wait()
            send(delta)
        wait()
        if answer.ending == "finish":
            send({}, "tool_calls" if answer.calls else "stop")
            if (body.get("stream_options") or {}).get("include_usage"):
                usage = answer.usage_for(body)
                self.wfile.write(_event(_dump({**envelope, "choices": [], "usage": usage})))
        self._end(answer)

    def _end(self, answer: Answer) -> None:
        if answer.ending == "stall":
            self._keep_silent()
        if answer.ending == "break":
            return self._break_off()
        if answer.ending == "finish":
            last = _event(b"[DONE]")
        elif answer.ending == "garbage":
            last = _event(b'{"id": "chatcmpl-fake", "choices": [{"del')
        elif answer.ending == "error" and answer.refusal:
            last = _event(_dump({"error": answer.refusal.error}))
        else:
            last = b""
        # In one write: the client may close as soon as it has read [DONE], and that is no hang-up.
        self.wfile.write(last + b"0\r\n\r\n")

    def _send_json(self, payload: Body) -> None:
        self._send(200, _dump(payload), {})

    def _refuse(self, refusal: Refusal, headers: dict[str, str] | None = None) -> None:
        self._send(refusal.status, _dump({"error": refusal.error}), headers or {})

    def _send(self, code: int, data: bytes, headers: dict[str, str]) -> None:
        self.send_response(code)
        sent = {"Content-Type": "application/json", "Content-Length": str(len(data))}
        for name, value in (sent | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _unknown_url(self) -> Refusal:
        return Refusal(f"Invalid URL ({self.command} {self.path})", status=404)

    def _break_off(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _keep_silent(self) -> None:
        while True:
            self._check(0.02)

    def _check(self, timeout: float = 0.0) -> None:
        """Raise `_HungUp` if nobody is there any more; wait up to `timeout` seconds to see."""
        fake = self.server.fake
        with selectors.DefaultSelector() as selector:
            selector.register(self.connection, selectors.EVENT_READ)
            if selector.select(timeout):
                if not self.connection.recv(1, socket.MSG_PEEK):
                    raise _HungUp
                fake.stopping.wait(timeout)
        if fake.stopping.is_set():
            raise _HungUp


def _event(data: bytes) -> bytes:
    """A server-sent event in an HTTP chunk of its own."""
    event = b"data: " + data + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(event), event)


def _envelope(body: Body) -> Body:
    return {
        "id": f"chatcmpl-{time.monotonic_ns()}",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": body["model"],
        "system_fingerprint": "fp_fake",
    }


def _dump(payload: Body) -> bytes:
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
