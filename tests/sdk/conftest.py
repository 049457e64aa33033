"""A server, the model behind it, and the interpreters that play scenarios against it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.sdk.interpreters import VERSIONS, Interpreter, make_pythons
from tests.support.fake_openai import FakeOpenAI
from tests.support.server import MemoryWeb

Play = Callable[..., Any]


@pytest.fixture(scope="session")
def scripted() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as model:
        model.unlisted = ["gpt-4o-mini", "gpt-4o-mini-2024-07-18", "gpt-4.1"]
        yield model


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, scripted: FakeOpenAI) -> Iterator[MemoryWeb]:
    with MemoryWeb(tmp_path_factory.mktemp("sdk"), scripted) as server:
        yield server


@pytest.fixture(scope="session")
def interpreters() -> Iterator[dict[str, Interpreter]]:
    make_pythons()
    with ExitStack() as stack:
        yield {each: stack.enter_context(Interpreter(each)) for each in VERSIONS}


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def play(
    version: str, interpreters: dict[str, Interpreter], server: MemoryWeb, scripted: FakeOpenAI
) -> Iterator[Play]:
    """Play a scenario with one version of the SDK; the model must have said all of its script."""
    yield lambda scenario, **given: interpreters[version].play(scenario, server.url, **given)
    unused = scripted.unused
    scripted._script.clear()  # a test that fails leaves nothing to the next
    assert (unused, scripted.refused) == (0, [])
