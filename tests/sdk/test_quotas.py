"""What the real SDKs make of a quota that is used up."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.sdk.interpreters import Interpreter
from tests.support.fake_openai import FakeOpenAI
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.sdk


@pytest.fixture(scope="module")
def stingy(tmp_path_factory: pytest.TempPathFactory, scripted: FakeOpenAI) -> Iterator[MemoryWeb]:
    """A server where nobody may use any tokens."""
    with MemoryWeb(tmp_path_factory.mktemp("stingy"), scripted) as server:
        with closing(sqlite3.connect(server.data / "memoryweb.sqlite3", timeout=20)) as database:
            database.execute("INSERT INTO agents_quota (tokens_a_day) VALUES (0)")
            database.commit()
        yield server


def test_an_sdk_raises_its_error_for_too_many_requests(
    version: str, interpreters: dict[str, Interpreter], stingy: MemoryWeb
) -> None:
    sdk = interpreters[version]
    told = sdk.play("quota_used_up", stingy.url)
    assert told["status"] == 429
    assert told["said"].startswith("You have used up your 0 tokens a day. They return at 00:00 UTC")
    refused = [status for _, path, status in sdk.requests if path.endswith("/messages")][-2:]
    assert refused.count(429) == 1 or version == "0.1.42", "it does not try again in vain"
