"""No field is dropped in silence: each that `letta-client` can send acts or is returned, or is
refused by name (422), or is named in the answer's header `Memoryweb-Notes`.

The fields are read off the types of the real client (`tests/support/letta_fields.py`). That a field
acts is said in `ACTS`, with the test that shows it.
"""

from __future__ import annotations

import importlib
import json
import re
from typing import Any

import pytest
from django.db import transaction

from agents.api import ids
from agents.api.notes import HEADER
from agents.api.urls import api as document
from agents.models import Agent, Conversation, Run, Step
from agents.runs import engine
from tests.support.api_client import ADD, Api
from tests.support.letta_acting import ACTS
from tests.support.letta_samples import CLIENT, Field, leaves

Operation = dict[str, Any]
PATHS = document.get_openapi_schema(path_prefix="/v1/")["paths"]


def known(method: str, path: str) -> str:
    """The operation's address on this server, with its names for ids; "" where there is none."""
    for template, operations in PATHS.items():
        same = re.sub(r"\{\w+\}", "{id}", template.removeprefix("/v1")).rstrip("/")
        if same == path.rstrip("/") and method.lower() in operations:
            return str(template.removeprefix("/v1"))
    return ""


OPERATIONS = [each for each in CLIENT["operations"] if known(each["method"], each["path"])]


# -- who is there to ask ---------------------------------------------------------------------------


class World:
    """One of each thing that an address can name."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.tool = api.put("/tools/", {"source_code": ADD})["id"]
        self.block = api.post("/blocks/", {"label": "spare"})["id"]

    def names(self, template: str) -> dict[str, str]:
        """For the placeholders of an operation's address."""
        blocks = [{"label": "human", "value": "Bob"}]
        made = self.api.post("/agents/", {"memory_blocks": blocks, "tool_ids": [self.tool]})
        agent = Agent.objects.get(pk=made["id"].removeprefix("agent-"))
        run = agent.send("Hi", "first")
        agent.runs.update(status=Run.Status.DONE)
        conversation = Conversation.create(agent)
        goes_on = Run.Status.RUNNING if template.endswith("/cancel") else Run.Status.DONE
        of = {"agent": agent, "conversation": conversation, "text": "Hi", "status": goes_on}
        Run.objects.create(**of, key=f"k-{conversation.pk}")
        step = Step.objects.create(run=run, number=1, model="m", endpoint="e")
        return {
            "agent_id": made["id"],
            "archive_id": f"archive-{agent.pk}",
            "conversation_id": f"conv-{conversation.pk}",
            "block_id": self.block,
            "block_label": "human",
            "tool_id": self.tool,
            "tool_name": "add",
            "run_id": ids.numbered("run", run.pk),
            "step_id": ids.numbered("step", step.pk),
        }


BODIES: dict[str, Any] = {
    "POST /blocks/": {"label": "b"},
    "PUT /tools/": {"source_code": ADD},
    "POST /agents/{id}/archival-memory": {"text": "x"},
    "POST /archives/{id}/passages": {"text": "x"},
    "POST /archives/{id}/passages/batch": {"passages": [{"text": "x"}]},
    "POST /agents/{id}/messages": {"input": "x"},
    "POST /agents/{id}/messages/stream": {"input": "x"},
    "POST /agents/{id}/messages/async": {"input": "x"},
    "POST /conversations/{id}/messages": {"input": "x"},
    "PATCH /agents/{id}/tools/approval/{id}": {"requires_approval": True},
    "POST /agents/{id}/schedule": {
        "messages": [{"role": "user", "content": "x"}],
        "schedule": {"type": "recurring", "cron_expression": "0 9 * * *"},
    },
}
QUERIES: dict[str, Any] = {"GET /agents/{id}/archival-memory/search": {"query": "x"}}


def name_of(operation: Operation) -> str:
    return f"{operation['method']} {operation['path']}"


# -- the promise -----------------------------------------------------------------------------------


@pytest.fixture
def world(api: Api, monkeypatch: pytest.MonkeyPatch) -> World:
    """Runs end as soon as they begin: what a request says is read by then."""
    monkeypatch.setattr(engine, "submit", lambda run: run.end(Run.Reason.ANSWERED))
    return World(api)


def silence(api: Api, operation: Operation, address: str, part: str, field: Field) -> str:
    """What is wrong with the answer to a request with a field; "" where the promise is kept.

    What the request changed is taken back, so that each field finds the same world.
    """
    path, value = field
    top, name = path.split(".")[0], name_of(operation)
    sent = dict(BODIES.get(name, {})) if part == "body" else dict(QUERIES.get(name, {}))
    if name == "POST /tools/":
        sent["source_code"] = ADD.replace("add", "add_more")
    if top == "messages" or (top == "input" and "input" in sent):
        sent.pop("input", None)
    if path:
        sent[top] = value
    with transaction.atomic():
        response = ask(api, operation["method"], address, part, sent)
        said = response.content if not response.streaming else b"".join(response)
        transaction.set_rollback(True)
    if response.status_code >= 500 or (response.status_code >= 400 and not path):
        return f"{name}: {path} → {response.status_code} {said[:200]!r}"
    if not path:
        return ""
    if response.status_code >= 400:  # of what is inside an object, nothing at all was taken
        refused = "." in path or any(each in said.decode() for each in (top, "sample", "source"))
        return "" if refused else f"{name}: {path} → {response.status_code} {said[:200]!r}"
    noted = re.split(r"[\s,]+", response.headers.get(HEADER, "").replace(". ", " ").rstrip("."))
    if any(path == each or path.startswith(f"{each}.") for each in noted):
        return ""
    if echoed(said, path, value) or acts(name, path):
        return ""
    return f"{name}: {path} = {json.dumps(value)[:80]}"


def ask(api: Api, method: str, address: str, part: str, sent: dict[str, Any]) -> Any:
    query = {}
    if (method, address) == ("POST", "/conversations/"):
        query = {"agent_id": [f"agent-{Agent.objects.latest('created_at').pk}"]}
    if part == "query":
        query |= {n: [str(v) for v in (e if isinstance(e, list) else [e])] for n, e in sent.items()}
    if method == "GET":
        return api.client.get(f"/v1{address}", query, headers=api.headers)
    return api.client.generic(
        method,
        f"/v1{address}",
        json.dumps(sent if part == "body" else {}),
        content_type="application/json",
        headers=api.headers,
        query_params=query,
    )


def echoed(said: bytes, path: str, value: Any) -> bool:
    """Whether the answer has the value where the request had it."""
    try:
        answer = json.loads(said)
    except ValueError:
        return False
    for name in path.split("."):
        while isinstance(answer, list) and answer:
            answer = answer[-1]
        while isinstance(value, list) and value and isinstance(value[0], dict):
            value = value[0]
        if not isinstance(answer, dict) or name not in answer:
            return False
        answer = answer[name]
        value = value[name] if isinstance(value, dict) and name in value else value
    return bool(answer == value)


def acts(operation: str, path: str) -> bool:
    """Whether a test is named that shows that the field acts."""
    return any(re.fullmatch(pattern, f"{operation} {path}") for pattern in ACTS)


@pytest.mark.parametrize("operation", OPERATIONS, ids=name_of)
def test_no_field_of_letta_is_dropped_in_silence(world: World, operation: Operation) -> None:
    if operation["path"] == "/agents/import":
        pytest.skip("a form; see test_an_unknown_field_of_a_form_is_named")
    template = known(operation["method"], operation["path"])
    address = template.format(**world.names(template))
    part = "query" if operation["method"] == "GET" else "body"
    alone = silence(world.api, operation, address, part, ("", None))
    assert not alone, "the request alone is answered"
    dropped = [
        wrong
        for part in ("body", "query")
        for field in leaves(operation.get(part, {}))
        if (wrong := silence(world.api, operation, address, part, field))
    ]
    assert not dropped, "\n".join(dropped)


def test_each_field_that_acts_names_a_test_that_there_is() -> None:
    for pattern, test in ACTS.items():
        module, _, function = test.partition("::")
        assert hasattr(importlib.import_module(module), function), (pattern, test)
