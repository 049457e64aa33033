"""A script against a real server, in tests: its requests, and the events of a stream."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from tests.support.server import MemoryWeb

Events = Iterator[dict[str, Any]]


class Script:
    """A script at work: a connection for each request."""

    def __init__(self, server: MemoryWeb) -> None:
        self.server = server

    def open(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        sent = None if body is None else json.dumps(body)
        named = {"Content-Type": "application/json"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        connection.request(method, f"/v1{path}", sent, named)
        return connection, connection.getresponse()

    def ask(
        self, method: str, path: str, body: Any = None, expect: int = 200, **headers: str
    ) -> Any:
        connection, response = self.open(method, path, body, **headers)
        with closing(connection):
            said = response.read()
        assert response.status == expect, said
        return json.loads(said)

    def upload(self, file: bytes) -> Any:
        """Import an agent file."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.af"\r\n\r\n'
        kind = {"Content-Type": "multipart/form-data; boundary=x"}
        with closing(connection):
            body = head + file + b"\r\n--x--\r\n"
            connection.request("POST", "/v1/agents/import", body, kind)
            return json.loads(connection.getresponse().read())

    def agent(self, **given: Any) -> str:
        """The address of a new agent that talks with text."""
        asked = {"memory_blocks": [{"label": "human", "value": "Name: Bob"}], **given}
        asked.setdefault("agent_type", "letta_v1_agent")
        return f"/agents/{self.ask('POST', '/agents/', asked)['id']}"


def events(response: http.client.HTTPResponse) -> Events:
    """The events of a stream, as they come."""
    for line in response:
        if line.startswith(b"data: {"):
            yield json.loads(line.removeprefix(b"data: "))
