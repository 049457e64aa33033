"""Scheduled messages as scripts make, read and stop them."""

from __future__ import annotations

import time
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django.fixtures import Settings

from agents.models import Run, Schedule
from tests.support.api_client import NOWHERE, Api

HELLO = [{"role": "user", "content": "Good morning"}]
DAILY = {"type": "recurring", "cron_expression": "0 9 * * *"}


def in_ms(seconds: float) -> int:
    """A time from now on, as the SDK sends it."""
    return int((time.time() + seconds) * 1000)


def make(api: Api, path: str, schedule: Any = DAILY, **more: Any) -> Any:
    return api.post(f"{path}/schedule", {"messages": HELLO, "schedule": schedule} | more)


def test_a_message_is_scheduled_read_sent_and_over(api: Api, agent_path: str) -> None:
    when = in_ms(3600)
    made = make(api, agent_path, {"scheduled_at": when}, max_steps=3)
    assert made["next_scheduled_at"].endswith("Z")
    one = f"{agent_path}/schedule/{made['id']}"
    kept = {
        "id": made["id"],
        "agent_id": agent_path.removeprefix("/agents/"),
        "message": {
            "messages": [{"role": "user", "content": "Good morning", "type": "message"}],
            "callback_url": None,
            "include_return_message_types": None,
            "max_steps": 3,
        },
        "next_scheduled_time": made["next_scheduled_at"],
        "schedule": {"type": "one-time", "scheduled_at": when},
        "last_run_id": None,
        "error": None,
    }
    assert api.get(one) == kept
    row = Schedule.objects.get()
    assert row.next_at
    Schedule.objects.fire_due(row.next_at)
    after = api.get(one)
    assert after["next_scheduled_time"] is None
    assert api.get(f"/runs/{after['last_run_id']}")["status"] == "running"
    assert Run.objects.get().step_limit == 3


def test_what_a_script_says_of_a_schedule_reaches_its_runs(
    api: Api, agent_path: str, settings: Settings
) -> None:
    settings.OUTGOING_ALLOW = ["127.0.0.0/8"]
    parts = [{"type": "text", "text": "It is"}, {"type": "text", "text": "spring."}]
    sent = [{"role": "system", "content": parts, "type": "message"}, *HELLO]
    options = {
        "callback_url": "http://127.0.0.1:9/told",
        "include_return_message_types": ["assistant_message"],
    }
    made = make(api, agent_path, messages=sent, **options)
    kept = api.get(f"{agent_path}/schedule/{made['id']}")
    assert kept["schedule"] == DAILY
    assert kept["message"].items() >= options.items()
    row = Schedule.objects.get()
    assert row.next_at
    Schedule.objects.fire_due(row.next_at)
    run = Run.objects.get()
    said = [(each.role, each.content) for each in run.messages.order_by("number")]
    assert said == [("system", "It is\nspring."), ("user", "Good morning")]
    assert run.callback_url == options["callback_url"]
    assert run.request_config["include_return_message_types"] == ["assistant_message"]


def test_schedules_are_listed_in_pages_and_deleted(api: Api, agent_path: str) -> None:
    made = [make(api, agent_path)["id"] for _ in range(3)]
    first = api.get(f"{agent_path}/schedule?limit=2")
    assert first["has_next_page"]
    ids = [each["id"] for each in first["scheduled_messages"]]
    rest = api.get(f"{agent_path}/schedule?limit=2&after={ids[-1]}")
    assert not rest["has_next_page"]
    assert [*ids, *(each["id"] for each in rest["scheduled_messages"])] == made[::-1]
    for each in made:
        assert api.ask("DELETE", f"{agent_path}/schedule/{each}") == {"success": True}
    assert api.get(f"{agent_path}/schedule")["scheduled_messages"] == []
    api.ask("DELETE", f"{agent_path}/schedule/{made[0]}", expect=404)


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        ({"scheduled_at": int(time.time()) + 60}, "has passed"),  # in seconds
        ({"scheduled_at": 1e300}, "less than or equal"),
        ({"type": "recurring", "cron_expression": "daily"}, "five fields"),
        ({"type": "recurring"}, "Field required"),
        ({"type": "never", "scheduled_at": 1}, "one-time"),
    ],
)
def test_a_time_that_cannot_be_is_refused_by_name(
    api: Api, agent_path: str, schedule: Any, words: str
) -> None:
    body = {"messages": HELLO, "schedule": schedule}
    refused = api.post(f"{agent_path}/schedule", body, expect=422)["detail"]
    assert "schedule" in refused[0]["loc"]
    assert words in str(refused)


def test_messages_that_cannot_be_sent_are_refused(api: Api, agent_path: str) -> None:
    for messages in ([], [{"role": "user", "content": ""}], HELLO * 21):
        body = {"messages": messages, "schedule": DAILY}
        assert "messages" in str(api.post(f"{agent_path}/schedule", body, expect=422))


def test_an_agent_has_only_so_many(api: Api, agent_path: str, settings: Settings) -> None:
    settings.SCHEDULES_LIMIT = 1
    make(api, agent_path)
    body = {"messages": HELLO, "schedule": DAILY}
    assert "at most 1" in api.post(f"{agent_path}/schedule", body, expect=429)["detail"]


def test_nobody_else_reads_or_stops_it(api: Api, agent_path: str, bob: User) -> None:
    made = make(api, agent_path)["id"]
    one, theirs = f"{agent_path}/schedule/{made}", Api(bob)
    theirs.get(one, expect=404)
    theirs.ask("DELETE", one, expect=404)
    api.get(f"{agent_path}/schedule/{NOWHERE}", expect=404)
    only_reads = Api(User.objects.get(username="alice"), scopes=["read"])
    assert only_reads.get(one)["id"] == made
    only_reads.ask("DELETE", one, expect=403)
