"""What this server does not have is told in a sentence, and stands in docs/from-letta.md."""

from __future__ import annotations

import pytest

from tests.support.absent import ABSENT
from tests.support.api_client import Api
from tests.support.letta_document import between, table

OPERATIONS = [operation for _, operations, _ in ABSENT for operation in operations]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_that_is_not_there_is_told_in_a_sentence(db: None, operation: str) -> None:
    method, path = operation.split(" ")
    path = path.replace("{id}", "agent-00000000-0000-4000-8000-000000000001")
    api = Api()
    response = api.client.generic(method, f"/v1{path}", "{}", content_type="application/json")
    assert response.status_code in (404, 405)
    assert response.json() == {
        "detail": f"This server has no operation {method} /v1{path};"
        " /v1/openapi.json lists those it has."
    }


def test_the_document_tells_of_them_all() -> None:
    rows = [
        (what, "<br>".join(f"`{each}`" for each in operations), instead)
        for what, operations, instead in ABSENT
    ]
    wanted = table(("what", "operations", "here instead"), rows)
    assert between("absent", wanted) == wanted
