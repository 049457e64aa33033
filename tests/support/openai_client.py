"""The fake server's clients, in tests."""

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import openai

from tests.support.fake_openai import FakeOpenAI

USER = {"role": "user", "content": "Hi"}
TOOL = {
    "type": "function",
    "function": {"name": "note", "parameters": {"type": "object", "properties": {}}},
}


def post(server: FakeOpenAI, body: Any) -> tuple[int, Any]:
    """Status and JSON of a request the client's types would not let through."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection = http.client.HTTPConnection(urlsplit(server.base_url).netloc, timeout=5)
    connection.request("POST", "/v1/chat/completions", raw)
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    return response.status, answer


def ask(client: openai.OpenAI, *messages: Any, **more: Any) -> Any:
    """A stream: the server answers in no other way."""
    listed: Any = list(messages) or [USER]
    about = {"model": "fake-model", "messages": listed, "stream": True}
    return client.chat.completions.create(**about | more)
