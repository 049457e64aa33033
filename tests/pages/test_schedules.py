"""The page of an agent's scheduled messages."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from agents.models import Agent, Schedule
from tests.support.pages import at, shown


def tomorrow() -> datetime:
    return (timezone.now() + timedelta(days=1)).replace(hour=9, minute=0, second=0, microsecond=0)


def test_a_message_is_scheduled_shown_sent_and_stopped(web: Client, agent: Agent) -> None:
    page = at("schedules", agent.pk)
    assert page in web.get(at("agent_settings", agent.pk)).content.decode()
    assert "No messages are scheduled." in shown(web.get(page))
    web.post(page, {"message": "Good morning", "cron": "0  9 * * 1-5"})
    schedule = Schedule.objects.get()
    assert "0 9 * * 1-5 (UTC)" in " ".join(shown(web.get(page)).split())
    assert schedule.next_at
    Schedule.objects.fire_due(schedule.next_at)
    run = agent.runs.get()
    assert f"#run-{run.pk}" in web.get(page).content.decode()
    assert web.get(at("schedule_stop", agent.pk, schedule.pk)).status_code == 405
    web.post(at("schedule_stop", agent.pk, schedule.pk))
    assert "No messages are scheduled." in shown(web.get(page))
    assert agent.runs.count() == 1


def test_what_changes_a_schedule_is_told_to_open_pages(web: Client, agent: Agent) -> None:
    page = web.get(at("schedules", agent.pk)).content.decode()
    assert f'data-seq="{agent.last_seq}"' in page
    seen = agent.last_seq

    def told() -> bool:
        nonlocal seen
        agent.refresh_from_db()
        before, seen = seen, agent.last_seq
        return seen > before

    schedule = Schedule.create(agent, [("user", "Hi")], cron="0 9 * * *")
    assert told()
    part = web.get(at("schedules", agent.pk), headers={"HX-Request": "true"}).content.decode()
    assert "0 9 * * *" in part
    assert '<form method="post" action' in part
    assert "Schedule a message" not in part
    assert schedule.next_at
    Schedule.objects.fire_due(schedule.next_at)
    assert told()
    Schedule.objects.get().stop()
    assert told()


def test_a_time_is_read_in_the_agents_time_zone(web: Client, agent: Agent) -> None:
    agent.configure(timezone="Asia/Tokyo")
    day = f"{tomorrow():%Y-%m-%d}"
    web.post(at("schedules", agent.pk), {"message": "Hi", "at": f"{day}T09:00"})
    assert Schedule.objects.get().scheduled_at == datetime.fromisoformat(f"{day}T00:00+00:00")
    assert f"next {tomorrow():%-d %b %Y}, 09:00" in shown(web.get(at("schedules", agent.pk)))


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"message": "", "cron": "0 9 * * *"}, "required"),
        ({"message": "Hi"}, "Say when"),
        ({"message": "Hi", "cron": "soon"}, "A cron expression has five fields"),
        ({"message": "Hi", "at": "2020-01-01T09:00"}, "has passed"),
        ({"message": "Hi", "at": "2020-01-01T09:00", "cron": "0 9 * * *"}, "not both"),
        ({"message": "Hi", "at": "tomorrow"}, "valid date"),
    ],
)
def test_what_cannot_be_is_said_and_what_was_typed_stays(
    web: Client, agent: Agent, form: dict[str, str], words: str
) -> None:
    response = web.post(at("schedules", agent.pk), form)
    assert response.status_code == 422
    page = response.content.decode()
    assert words in page
    assert all(typed in page for typed in form.values())
    assert not Schedule.objects.exists()


def test_one_too_many_is_refused(web: Client, agent: Agent, settings: Settings) -> None:
    settings.SCHEDULES_LIMIT = 0
    response = web.post(at("schedules", agent.pk), {"message": "Hi", "cron": "0 9 * * *"})
    assert response.status_code == 429
    assert "at most 0" in response.content.decode()


def test_nobody_else_sees_or_stops_it(
    accounts: None, client: Client, agent: Agent, bob: User
) -> None:
    schedule = Schedule.create(agent, [("user", "Hi")], cron="0 9 * * *")
    client.force_login(bob)
    assert client.get(at("schedules", agent.pk)).status_code == 404
    assert client.post(at("schedule_stop", agent.pk, schedule.pk)).status_code == 404
    assert Schedule.objects.exists()
