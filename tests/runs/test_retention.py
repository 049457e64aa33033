"""Retention: what nobody needs any more goes after some days; what is read of the past stays."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from agents.api import ids
from agents.ledger import time_travel
from agents.ledger.fork import fork
from agents.memory import sent_requests
from agents.models import (
    Agent,
    AuditEntry,
    Editor,
    Event,
    Message,
    RequestText,
    Step,
    event,
    request_text,
    step,
)
from agents.models.event import has_all_after
from agents.runs import retention
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.stored import of

LONG_AGO = timezone.now() - timedelta(days=100)
APPEND = ("core_memory_append", {"label": "human", "content": "Likes pie"})


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    monkeypatch.setattr(retention, "PAUSE_SECONDS", 0)
    for module in (retention, event, step, request_text):
        monkeypatch.setattr(module, "BATCH", 2)
    settings.KEEP_DAYS = {"jobs": 7, "sessions": 1, "events": 7, "requests": 90, "audit": 365}


def age_all(model: Any, field: str) -> None:
    model.objects.update(**{field: LONG_AGO})


# -- events ----------------------------------------------------------------------------------------


def test_old_events_go_and_the_agent_knows_up_to_where(
    agent: Agent, bobs: Agent, by: Editor
) -> None:
    block = agent.block("human")
    assert block
    for name in ("Sarah", "Charles", "Ann", "Tom"):
        block.set_value(f"Name: {name}", by=by)
    last = Event.objects.filter(agent=agent).latest("pk").seq
    age_all(Event, "created_at")
    block.set_value("Name: Zoe", by=by)
    retention.prune()
    agent.refresh_from_db()
    assert [e.seq for e in Event.objects.filter(agent=agent)] == [last + 1]
    assert agent.pruned_seq == last
    assert [has_all_after(agent, seq) for seq in (last - 1, last, last + 1, last + 2)] == [
        *(False, True, True, False),
    ]
    assert not Event.objects.filter(agent=bobs).exists()


def test_pieces_of_a_draft_stay_until_its_message_is_complete(agent: Agent) -> None:
    draft = Message.objects.create(**of(agent), number=1, role="assistant", status="draft")
    for piece in ("Once", " upon", " a"):
        data = {"message": draft.pk, "field": "content", "start": 0, "text": piece}
        agent.record(Event(kind=Event.Kind.TEXT, draft=draft, data=data))
    age_all(Event, "created_at")
    retention.prune()
    assert draft.draft_text.content == "Once upon a"
    assert Event.objects.filter(draft=None).count() == 0


def test_nothing_goes_where_it_is_kept_for_ever(agent: Agent, settings: Settings) -> None:
    settings.KEEP_DAYS = dict.fromkeys(settings.KEEP_DAYS, 0)
    age_all(Event, "created_at")
    before = Event.objects.count()
    retention.prune()
    assert Event.objects.count() == before > 0


# -- requests --------------------------------------------------------------------------------------


@pytest.fixture
def old_steps(model: FakeOpenAI, agent: Agent, ask: Ask) -> list[Step]:
    """Three steps; between them the system prompt and a block changed."""
    model.script(calls(APPEND), text("Noted."), text("Hello."))
    ask("I like pie")
    agent.configure(system_prompt="Another prompt.")
    ask("Hello")
    age_all(Step, "started_at")
    return list(Step.objects.order_by("pk"))


def test_of_an_old_request_stays_what_time_travel_needs(
    model: FakeOpenAI, agent: Agent, ask: Ask, old_steps: list[Step], alice: User
) -> None:
    before = [time_travel.blocks_at(each) for each in old_steps]
    ask("And now?")
    retention.prune()
    steps = list(Step.objects.order_by("pk"))
    assert [sent_requests.sent(each) for each in steps[:3]] == [None] * 3
    assert [time_travel.blocks_at(each) for each in steps[:3]] == before
    newest = sent_requests.sent(steps[3])
    assert newest
    assert newest.proven
    copy = fork(steps[2], "Copy", alice)
    assert [b.value for b in copy.core_memory()] == [b.value for b in agent.core_memory()]
    retention.prune()  # finds nothing more to do
    assert sent_requests.sent(Step.objects.get(pk=steps[3].pk)) == newest


def test_texts_that_no_step_names_go_and_are_stored_anew_when_they_are_sent_again(
    model: FakeOpenAI, agent: Agent, ask: Ask, old_steps: list[Step]
) -> None:
    retention.prune()
    kept = {name for each in Step.objects.all() for name in each.request["texts"].values()}
    assert set(RequestText.objects.values_list("pk", flat=True)) == kept
    request_text._stored.clear()  # as it is after an hour
    ask("And now?")
    newest = sent_requests.sent(Step.objects.latest("pk"))
    assert newest
    assert newest.proven


def test_the_viewer_and_time_travel_say_that_a_request_was_removed(
    web: Client, agent: Agent, old_steps: list[Step]
) -> None:
    retention.prune()
    page = web.get(f"/agents/{agent.pk}/steps/{old_steps[0].pk}/request/")
    assert "was removed 90 days after it was sent" in page.content.decode()
    page = web.get(f"/agents/{agent.pk}/past/1/")
    assert "was removed after 90 days" in page.content.decode()
    trace = web.get(f"/v1/steps/{ids.numbered('step', old_steps[0].pk)}/trace")
    assert trace.status_code == 410
    assert "removed after 90 days" in trace.content.decode()


# -- what is not of an agent -----------------------------------------------------------------------


def test_ended_log_ins_and_old_entries_of_the_admin_go(alice: User) -> None:
    now = timezone.now()
    for number, expires in enumerate([LONG_AGO, LONG_AGO, LONG_AGO, now - timedelta(hours=1)]):
        Session.objects.create(session_key=f"key{number}", session_data="", expire_date=expires)
    for number in (0, 3):
        where = {"user": alice, "ip": "192.0.2.1", "session_key": f"key{number}"}
        UserSession.objects.create(**where, last_seen_at=LONG_AGO)
    LogEntry.objects.create(user=alice, action_flag=ADDITION, object_repr="x")
    LogEntry.objects.create(
        user=alice, action_flag=ADDITION, object_repr="y", action_time=now - timedelta(days=366)
    )
    for days in (364, 366):
        entry = AuditEntry.record(AuditEntry.Action.LOGGED_IN, by=alice)
        AuditEntry.objects.filter(pk=entry.pk).update(at=now - timedelta(days=days))
    retention.prune()
    for sessions in (Session, UserSession):
        assert [session.session_key for session in sessions.objects.all()] == ["key3"]
    assert [entry.object_repr for entry in LogEntry.objects.all()] == ["x"]
    kept = AuditEntry.objects.filter(action=AuditEntry.Action.LOGGED_IN)
    assert [(now - entry.at).days for entry in kept] == [364]


@pytest.mark.hosted_only
@pytest.mark.django_db
def test_old_jobs_go_unless_they_wait() -> None:
    statuses = ["todo", "doing", "succeeded", "failed", "failed", "aborted", "cancelled"]
    with connection.cursor() as cursor:
        for status in statuses:
            cursor.execute(
                "INSERT INTO procrastinate_jobs (queue_name, task_name, status)"
                " VALUES ('q', 't', %s::procrastinate_job_status)",
                [status],
            )
        cursor.execute("UPDATE procrastinate_events SET at = %s", [LONG_AGO])
        cursor.execute(
            "WITH job AS (INSERT INTO procrastinate_jobs (queue_name, task_name, status)"
            " VALUES ('q', 't', 'failed') RETURNING id)"
            " INSERT INTO procrastinate_events (job_id, type) SELECT id, 'failed' FROM job"
        )
        retention.prune()
        cursor.execute("SELECT status::text FROM procrastinate_jobs ORDER BY id")
        assert [row[0] for row in cursor.fetchall()] == ["todo", "failed"]
