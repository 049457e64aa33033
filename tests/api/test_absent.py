"""What this server does not have is told in a sentence, and stands in docs/from-letta.md."""

from __future__ import annotations

import pytest

from agents.api.absent import ABSENT, Absent
from agents.api.urls import api as document
from tests.support.api_client import Api
from tests.support.letta_document import between, table

OPERATIONS = [(f"{method} {path}", row) for row in ABSENT for method, path in row.each()]


@pytest.mark.parametrize(("operation", "row"), OPERATIONS, ids=[name for name, _ in OPERATIONS])
def test_an_operation_of_letta_that_is_not_here_is_told_with_what_stands_in(
    api: Api, operation: str, row: Absent
) -> None:
    method, path = operation.split(" ")
    path = path.replace("{id}", "agent-00000000-0000-4000-8000-000000000001")
    said = api.ask(method, path, {}, expect=501)["detail"]
    what, instead, _ = row
    assert (
        said == f"{operation_of(method, path)}: this server has no {what}. Instead, use {instead}."
    )


def operation_of(method: str, path: str) -> str:
    return f"{method} /v1{path}"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/folders/a/b/c", 404),
        ("PUT", "/folders/", 404),
        ("PUT", "/agents/", 405),
    ],
)
def test_an_operation_that_nobody_knows_is_not_found(
    api: Api, method: str, path: str, status: int
) -> None:
    said = api.ask(method, path, {}, expect=status)["detail"]
    assert said == (
        f"This server has no operation {method} /v1{path}; /v1/openapi.json lists those it has."
    )


def test_nothing_that_is_here_is_told_to_be_absent() -> None:
    paths = document.get_openapi_schema(path_prefix="/v1/")["paths"]
    here = {
        f"{method.upper()} {without_names(path)}" for path, each in paths.items() for method in each
    }
    assert not here & {operation.rstrip("/") for operation, _ in OPERATIONS}


def without_names(path: str) -> str:
    parts = path.removeprefix("/v1").rstrip("/").split("/")
    return "/".join("{id}" if part.startswith("{") else part for part in parts)


def test_the_document_tells_of_them_all() -> None:
    rows = [
        (what, "<br>".join(f"`{each}`" for each in operations), instead)
        for what, instead, operations in ABSENT
    ]
    wanted = table(("what", "operations", "here instead"), rows)
    assert between("absent", wanted) == wanted
