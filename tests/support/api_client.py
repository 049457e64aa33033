"""The API as a script uses it, in tests: each call says which status it expects."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from agents.models import Run, Token
from agents.runs import engine
from agents.runs.loop import run_agent
from tests.support.fake_openai import FakeOpenAI, calls, text_and_calls

SCOPES = ["read", "chat", "write", "tools"]
PUSH = '''
def task_queue_push(agent_state: "AgentState", task_description: str):
    """
    Push to a task queue stored in core memory.

    Args:
        task_description (str): A description of the next task.
    """
    import json
    tasks = json.loads(agent_state.memory.get_block("tasks").value)
    tasks.append(task_description)
    agent_state.memory.update_block_value("tasks", json.dumps(tasks))
    return None
'''
ADD = '''
def add(a: int, b: int):
    """
    Add.

    Args:
        a: One.
        b: Two.
    """
    print("adding")
    return a + b
'''
NOWHERE = "00000000-0000-4000-8000-000000000099"


class Api:
    """Someone's script, with a token of theirs, or none."""

    def __init__(self, user: User | None = None, scopes: list[str] | None = None) -> None:
        self.client = Client(enforce_csrf_checks=True)
        self.headers: dict[str, str] = {}
        if user:
            self.token, secret = Token.make(user, "script", scopes or SCOPES)
            self.headers = {"authorization": f"Bearer {secret}"}

    def ask(
        self, method: str, path: str, body: Any = None, *, expect: int = 200, **headers: str
    ) -> Any:
        """Its JSON; `path` is below /v1."""
        response = self.client.generic(
            method,
            f"/v1{path}",
            "" if body is None else json.dumps(body),
            content_type="application/json",
            headers=self.headers | {name.replace("_", "-"): it for name, it in headers.items()},
        )
        said = b"".join(response) if response.streaming else response.content
        assert response.status_code == expect, (method, path, response.status_code, said[:2000])
        self.last = response
        if response.headers["Content-Type"].startswith("text/event-stream"):
            return events(said.decode())
        return json.loads(said)

    def get(self, path: str, **more: Any) -> Any:
        return self.ask("GET", path, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> Any:
        return self.ask("POST", path, {} if body is None else body, **more)

    def put(self, path: str, body: Any, **more: Any) -> Any:
        return self.ask("PUT", path, body, **more)

    def patch(self, path: str, body: Any = None, **more: Any) -> Any:
        return self.ask("PATCH", path, body, **more)

    def delete(self, path: str, **more: Any) -> Any:
        return self.ask("DELETE", path, **more)


def events(text: str) -> list[Any]:
    """The events of a stream, which must end as the wire says."""
    lines = [line for line in text.split("\n") if line]
    assert all(line.startswith("data: ") for line in lines), lines
    assert lines[-1] == "data: [DONE]"
    return [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]


def execute_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Execute each run right where it is handed to the engine."""

    def submit(run: Run) -> None:
        run_agent(run.pk)

    monkeypatch.setattr(engine, "submit", submit)


def say(message: str) -> Any:
    """A model's answer that calls send_message."""
    return calls(("send_message", {"message": message}))


def kinds(messages: list[dict[str, Any]]) -> list[str]:
    return [message["message_type"] for message in messages]


def chat(api: Api, path: str, model: FakeOpenAI, count: int) -> list[str]:
    """Some exchanges; the ids of all messages, the system message and then from the oldest on."""
    for number in range(count):
        model.script(text_and_calls(f"think {number}", ("send_message", {"message": f"a{number}"})))
        api.post(f"{path}/messages", {"input": f"q{number}"})
    return [message["id"] for message in api.get(f"{path}/messages?order=asc&limit=1000")]
