"""The OpenAPI document, and the API held against it by schemathesis: no input is a surprise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, connection, transaction
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from agents.accounts import owner
from agents.memory.classes import ChatMemory
from agents.models import Agent, Editor, Identity, Passage, Run, Tool
from tests.support.api_client import PUSH, Api

pytestmark = pytest.mark.slow
EXAMPLES = 5  # of each operation, beside some fifty at the bounds of its fields
# Postgres is asked only what is at the bounds.
PHASES = [Phase.explicit] if connection.vendor != "sqlite" else [Phase.explicit, Phase.generate]
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
pages = get_wsgi_application()


def app(environ: dict[str, Any], start_response: Any) -> Any:
    """The application, each request in a transaction of its own within the test's."""
    if not connection.in_atomic_block:  # the document, which needs no database
        return pages(environ, start_response)
    statuses: list[str] = []

    def start(status: str, *rest: Any) -> Any:
        statuses.append(status)
        return start_response(status, *rest)

    begun = transaction.savepoint()
    said = list(pages(environ, start))
    if statuses[0].startswith("2"):
        transaction.savepoint_commit(begun)
    else:
        transaction.savepoint_rollback(begun)
    return said


schema = schemathesis.openapi.from_wsgi("/v1/openapi.json", app)
there: dict[str, str] = {}


@pytest.fixture
def connection_kept(db: None) -> Iterator[None]:
    """Have no request close the connection, whose transaction is the test's."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def something_there(connection_kept: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of everything that an address may name; a run ends as soon as it begins."""

    def submit(run: Run) -> None:
        run.end(Run.Reason.ANSWERED)

    monkeypatch.setattr("agents.runs.engine.submit", submit)
    agent = Agent.create(owner(), "Tutor", ChatMemory(human="Name: Bob"))
    passage = Passage.insert(agent, "A text", by=Editor.person(owner()))
    run = agent.send("Hello", "key")
    step = run.steps.create(number=1, model="m", endpoint="e", status="done")
    known = Identity.objects.create(
        owner=owner(), identifier_key="user-7", name="Caren", identity_type="user"
    )
    there.update(
        identity_id=f"identity-{known.pk}",
        agent_id=f"agent-{agent.pk}",
        block_id=f"block-{agent.core_memory()[0].pk}",
        block_label="human",
        tool_id=f"tool-{Tool.from_source(owner(), PUSH).pk}",
        tool_name="core_memory_append",
        memory_id=f"passage-00000000-0000-4000-8000-{passage.pk:012x}",
        run_id=f"run-00000000-0000-4000-8000-{run.pk:012x}",
        step_id=f"step-00000000-0000-4000-8000-{step.pk:012x}",
        message_id=f"message-00000000-0000-4000-8000-{run.messages.get().pk:012x}",
    )


@schema.hook
def map_path_parameters(context: Any, path_parameters: dict[str, Any] | None) -> Any:
    """Half of the time, an address names what is there."""
    if not path_parameters:
        return path_parameters
    return {
        name: there.get(name, value) if len(str(value)) % 2 else value
        for name, value in path_parameters.items()
    }


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    phases=PHASES,
    suppress_health_check=list(HealthCheck),
)
def test_every_operation_does_what_the_document_says(
    case: schemathesis.Case[Any], something_there: None
) -> None:
    response = case.call()
    if response.status_code == 501:  # Letta has it, and this server says that it has not
        operations = case.operation.schema.raw_schema["paths"][case.operation.path]
        assert case.method.lower() not in operations
        return
    case.validate_response(response, checks=CHECKS)


def test_every_operation_is_named_once_and_told_of(db: None) -> None:
    document = Api().get("/openapi.json")
    operations = [each for path in document["paths"].values() for each in path.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names) >= 75
    assert all(operation["description"] for operation in operations)
    assert {"401", "404", "422"} <= operations[0]["responses"].keys()
