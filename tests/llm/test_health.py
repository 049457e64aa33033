"""How an endpoint is doing, as the calls of agents tell."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from agents.llm import ModelError, health, resolve
from agents.llm.endpoints import Endpoint
from agents.llm.health import note as note_of_a_call
from agents.models import ModelEndpoint, PersonalKey
from tests.support.defined_endpoints import define

pytestmark = pytest.mark.usefixtures("db")


class Inline(ThreadPoolExecutor):
    """Writes at once, in the test's own transaction."""

    def submit(self, call, *args):  # type: ignore[override]
        call(*args)


@pytest.fixture(autouse=True)
def written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_writer", Inline(1))
    monkeypatch.setattr(health, "_noted", {})
    monkeypatch.setattr(health, "close_old_connections", lambda: None)


@pytest.fixture
def lab(alice: User) -> Endpoint:
    define(key="sk-lab", own_keys="allowed")
    return resolve("lab/a", alice.pk)[0]


def noted() -> tuple[bool | None, str]:
    row = ModelEndpoint.objects.get()
    return row.healthy, row.health


def test_calls_are_noted_once_a_minute_also_by_several_processes(
    lab: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    note_of_a_call(lab, None)
    assert noted() == (True, "A call of an agent was answered.")
    failed = ModelError("x failed (500: secrets)", trouble="failed (500)")
    note_of_a_call(lab, failed)
    assert noted()[0] is True
    monkeypatch.setattr(health, "_noted", {})  # another process
    note_of_a_call(lab, failed)
    assert noted()[0] is True
    ModelEndpoint.objects.update(checked_at=timezone.now() - timedelta(minutes=2))
    monkeypatch.setattr(health, "_noted", {})
    note_of_a_call(lab, failed)
    assert noted() == (False, "A call of an agent: failed (500).")


def test_what_says_nothing_of_the_endpoint_is_not_noted(lab: Endpoint, alice: User) -> None:
    note_of_a_call(lab, ModelError("It refused the request", refused=True))
    note_of_a_call(Endpoint("work", "http://work/v1", "k"), None)
    PersonalKey.put(alice, ModelEndpoint.objects.get(), "sk-alice")
    own = resolve("lab/a", alice.pk)[0]
    note_of_a_call(own, ModelError("It refused the key", trouble="refused the key (401)"))
    assert noted() == (None, "")
    note_of_a_call(own, ModelError("It failed", trouble="failed (503)"))
    assert noted() == (False, "A call of an agent: failed (503).")
