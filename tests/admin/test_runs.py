"""Runs in the admin: what goes on, what is stuck, and what an operator can do about it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.memory.classes import BasicBlockMemory
from agents.models import Agent, AuditEntry, Run
from agents.runs import engine
from tests.conftest import browser

pytestmark = pytest.mark.django_db
LIST = "admin:agents_run_changelist"
Make = Callable[..., Run]


def ago(seconds: float) -> datetime:
    return timezone.now() - timedelta(seconds=seconds)


@pytest.fixture
def submitted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The runs that the engine was handed; none is executed."""
    runs: list[int] = []
    monkeypatch.setattr(engine, "submit", lambda run: runs.append(run.pk))
    return runs


@pytest.fixture
def make(alice: User, submitted: list[int]) -> Make:
    """Make a run in a state, of an agent of its own; it said something that is nobody's business"""

    def made(status: str, name: str, **fields: Any) -> Run:
        agent = Agent.create(alice, name, BasicBlockMemory())
        run = agent.send("My secret wish", "k")
        given = {"status": status, "created_at": ago(600), "started_at": ago(600)} | fields
        Run.objects.filter(pk=run.pk).update(**given)
        submitted.clear()
        return Run.objects.get(pk=run.pk)

    return made


@pytest.fixture
def stuck(make: Make) -> Run:
    return make("running", "Stuck", seen_at=ago(60))


def names(desk: Client, now: str) -> set[str]:
    rows = desk.get(reverse(LIST), {"now": now}).context["cl"].result_list
    return {run.agent.name for run in rows}


def act(desk: Client, action: str, *runs: Run) -> str:
    chosen = {"action": action, "_selected_action": [run.pk for run in runs]}
    page = desk.post(reverse(LIST), chosen, follow=True)
    for run in runs:
        run.refresh_from_db()
    return " ".join(str(message) for message in page.context["messages"])


def test_the_list_tells_apart_what_goes_on(desk: Client, make: Make, stuck: Run) -> None:
    make("running", "Busy", seen_at=ago(1))
    make("running", "Lost")  # for ten minutes no worker took it
    make("waiting", "Asking")
    make("queued", "Behind")
    make("done", "Over", finished_at=ago(1))
    assert names(desk, "any") == {"Busy", "Stuck", "Lost", "Asking", "Behind"}
    assert names(desk, "running") == {"Busy", "Stuck", "Lost"}
    assert names(desk, "waiting") == {"Asking"}
    assert names(desk, "queued") == {"Behind"}
    assert names(desk, "stuck") == {"Stuck", "Lost"}
    page = desk.get(reverse(LIST), {"now": "any"}).content.decode()
    for words in (
        "waits for a person",
        "no worker has it",
        "a minute ago",
        "10\xa0minutes",
        "alice",
    ):
        assert words in page, words
    assert "My secret wish" not in page


def test_a_stuck_run_is_handed_to_a_worker(desk: Client, stuck: Run, submitted: list[int]) -> None:
    assert f"Run {stuck.pk} of Stuck was stuck, and is handed to a worker." in act(
        desk, "retry", stuck
    )
    assert submitted == [stuck.pk]
    assert stuck.seen_at is None
    entry = AuditEntry.objects.get(action=AuditEntry.Action.RUN_RETRIED)
    assert (entry.name, entry.what, entry.key) == ("olga", "run of Stuck", str(stuck.pk))
    assert "wish" not in str(vars(entry))


def test_a_failed_run_goes_on_unless_more_was_said(
    desk: Client, make: Make, submitted: list[int]
) -> None:
    failed = make("failed", "Failed", reason="error", finished_at=ago(1))
    assert "goes on where it failed" in act(desk, "retry", failed)
    assert failed.status == "running"
    old = make("failed", "Old", reason="error", finished_at=ago(1))
    old.agent.send("Never mind", "later")
    submitted.clear()
    assert "more was said in its conversation since" in act(desk, "retry", old)
    assert submitted == []
    assert AuditEntry.objects.filter(action=AuditEntry.Action.RUN_RETRIED).count() == 1


def test_what_goes_on_is_stopped_and_what_is_stuck_is_taken_up_to_be(
    desk: Client, make: Make, stuck: Run, submitted: list[int]
) -> None:
    busy, asking = make("running", "Busy", seen_at=ago(1)), make("waiting", "Asking")
    said = act(desk, "stop", stuck, busy, asking)
    assert f"Run {busy.pk} of Busy is asked to stop; whoever works on it" in said
    assert f"Run {stuck.pk} of Stuck is asked to stop. Nobody worked on it" in said
    assert [run.stop_requested for run in (stuck, busy, asking)] == [True] * 3
    assert sorted(submitted) == sorted([stuck.pk, asking.pk])
    assert "was asked to stop before" in act(desk, "stop", busy)
    assert AuditEntry.objects.filter(action=AuditEntry.Action.RUN_STOPPED).count() == 3


def test_what_cannot_be_is_said(desk: Client, make: Make, submitted: list[int]) -> None:
    over, behind = make("done", "Over", finished_at=ago(1)), make("queued", "Behind")
    busy = make("running", "Busy", seen_at=ago(1))
    said = act(desk, "stop", over, behind)
    assert "had ended already" in said
    assert "waits behind another one" in said
    assert "neither failed nor is it stuck" in act(desk, "retry", busy)
    assert submitted == []
    assert behind.status == "queued"


def test_whoever_may_only_look_can_do_neither(desk: Client, stuck: Run, bob: User) -> None:
    User.objects.filter(pk=bob.pk).update(is_staff=True)
    bob.user_permissions.add(Permission.objects.get(codename="view_run"))
    web = browser(bob)
    assert names(web, "stuck") == {"Stuck"}
    assert act(web, "stop", stuck) == ""
    assert not stuck.stop_requested
