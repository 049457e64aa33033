"""Which version of the SDK called which operation with success: the table of docs/from-letta.md.

What the scenarios sent is what counts, so this comes after all of them, in the same process.
"""

from __future__ import annotations

import json
import re
from urllib.request import urlopen

import pytest

from tests.sdk.interpreters import VERSIONS, Interpreter
from tests.support.letta_document import between, table
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.sdk
Operation = tuple[str, str]


def operations(server: MemoryWeb) -> list[Operation]:
    """Method and path of all that the server has."""
    with urlopen(f"{server.url}/v1/openapi.json") as response:
        paths = json.load(response)["paths"]
    return [(method.upper(), path) for path, methods in paths.items() for method in methods]


def asked_for(method: str, path: str, there: list[Operation]) -> Operation | None:
    """The operation that a request asks for; what is spelled out comes before what an id is."""

    def fits(template: str) -> bool:
        pattern = re.sub(r"\{\w+\}", "[^/]+", template.rstrip("/"))
        return re.fullmatch(pattern, path.rstrip("/")) is not None

    found = [each for each in there if each[0] == method and fits(each[1])]
    return min(found, key=lambda each: each[1].count("{"), default=None)


def test_the_document_tells_who_called_what(
    server: MemoryWeb, interpreters: dict[str, Interpreter]
) -> None:
    if not any(each.requests for each in interpreters.values()):
        pytest.skip("No scenario was played: run all of tests/sdk, in one process.")
    there = operations(server)
    called = {
        (asked_for(method, path, there), version)
        for version, interpreter in interpreters.items()
        for method, path, status in interpreter.requests
        if status < 400
    }
    rows = [
        (f"`{each[0]} {each[1]}`", *("✓" if (each, of) in called else "" for of in VERSIONS))
        for each in sorted(there, key=lambda operation: operation[1])
    ]
    wanted = table(("operation", *VERSIONS), rows)
    assert between("operations", wanted) == wanted, (
        "docs/from-letta.md does not say what the SDKs called just now. If all scenarios were"
        " played, in one process, and pass: make from-letta"
    )
