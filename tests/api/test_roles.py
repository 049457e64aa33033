"""Every operation of the API that names an agent, in each role in which it can be shared."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from agents.api import compacting, ids
from agents.api.urls import api, document
from agents.models import Agent, AgentShare, Message, Role, Token
from agents.permissions import role_for_operation
from tests.support.addresses import ids_of
from tests.support.api_client import Api

# What any operation may need so that it gets as far as the agent.
BODY = {
    "input": "Hi",
    "text": "Rex",
    "query": "Rex",
    "title": "Mine",
    "model": "demo",
    "requires_approval": True,
    "feedback": "positive",
    "value": "Mine",
    "content": "Mine",
    "role": "user",
    "args": {},
    "tool_name": "none",
    "run_ids": [],
    "name": "Mine",
    "messages": [{"role": "user", "content": "Hi"}],
    "schedule": {"type": "one-time", "scheduled_at": 4_000_000_000_000},
}

pytestmark = pytest.mark.usefixtures("accounts")


def operations() -> list[tuple[str, str, str]]:
    """Method, path and scope of each operation that names something of an agent's."""
    scopes = {
        each.operation_id: getattr(each.auth_callbacks[0], "scope", "")
        if each.auth_callbacks
        else ""
        for _, router in api._routers
        for view in router.path_operations.values()
        for each in view.operations
    }
    return [
        (method.upper(), path.removeprefix("/v1"), scopes[operation["operationId"]])
        for path, methods in document(None)["paths"].items()  # type: ignore[arg-type]
        for method, operation in methods.items()
    ]


def named_ids(agent: Agent) -> dict[str, str]:
    """One of everything, as a path names it."""
    found = ids_of(agent)
    run_message = Message.objects.filter(agent=agent).first()
    return {
        "agent_id": ids.named("agent", agent.pk),
        "conversation_id": ids.named("conv", found["conversation_id"]),
        "archive_id": ids.named("archive", agent.pk),
        "run_id": ids.numbered("run", found["run_id"]),
        "step_id": ids.numbered("step", found["step_id"]),
        "memory_id": ids.numbered("passage", found["passage_id"]),
        "passage_id": ids.numbered("passage", found["passage_id"]),
        "message_id": ids.numbered("message", run_message.pk if run_message else 1),
        "block_label": agent.core_memory()[0].label,
    }


@pytest.mark.parametrize("role", [None, Role.VIEWER, Role.CHATTER, Role.EDITOR])
def test_each_operation_asks_for_the_role_of_the_table(
    role: Role | None, agent: Agent, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compacting, "once", lambda *_: None)  # nobody executes what begins here
    if role:
        AgentShare.share(agent, bob, role)
    named, script, tried = named_ids(agent), Api(bob), 0
    for method, path, scope in operations():
        parts = [part[1:-1] for part in path.split("/") if part.startswith("{")]
        if not parts or parts[0] not in ("agent_id", "conversation_id", "run_id", "step_id"):
            continue
        if any(part not in named for part in parts):
            named |= {part: "none" for part in parts if part not in named}
        address = path.format(**named)
        status = asked(script, method, address)
        needs = role_for_operation(method, f"v1{path}".replace("{", "<").replace("}", ">"), scope)
        tried += 1
        if role is None:
            assert status in (404, 422), (method, path, status)
        else:
            allowed = role >= needs
            assert (status == 403) != allowed, (method, path, status)
    assert tried > 50


def asked(script: Api, method: str, address: str) -> int:
    """The status of an empty request, of which nothing stays."""
    body: Any = None if method in ("GET", "DELETE") else BODY
    with transaction.atomic():
        send = getattr(script.client, method.lower())
        answer = send(f"/v1{address}", body, "application/json", headers=script.headers)
        transaction.set_rollback(True)
    return int(answer.status_code)


def test_a_shared_agent_is_listed_and_its_owner_named(agent: Agent, alice: User, bob: User) -> None:
    AgentShare.share(agent, bob, Role.VIEWER)
    listed = Api(bob).get("/agents/")
    assert [each["id"] for each in listed] == [ids.named("agent", agent.pk)]
    assert Token.objects.of(alice).count() <= 1
