"""Scheduled messages: sent at their time, once, whatever happens meanwhile."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.core.exceptions import ValidationError
from django.db import transaction
from pytest_django.fixtures import Settings

from agents.ledger.fork import fork
from agents.models import Agent, LimitReached, Message, Run, Schedule
from agents.models.schedule import KEPT_WHEN_OVER
from agents.runs.loop import run_agent
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, text
from tests.support.threads import at_once

NOW = datetime(2026, 3, 2, 8, 30, tzinfo=UTC)  # a Monday
HELLO = [("user", "Good morning")]


def minutes(count: float) -> datetime:
    return NOW + timedelta(minutes=count)


def once(agent: Agent, at: datetime = NOW) -> Schedule:
    return Schedule.create(agent, HELLO, at=at, now=NOW)


def recurring(agent: Agent, cron: str = "0 9 * * *") -> Schedule:
    return Schedule.create(agent, HELLO, cron=cron, now=NOW)


def fire(now: datetime) -> int:
    return Schedule.objects.fire_due(now)


def texts() -> list[str]:
    return [run.text for run in Run.objects.order_by("pk")]


def stored(schedule: Schedule) -> Schedule:
    return Schedule.objects.get(pk=schedule.pk)


# -- when it is sent -------------------------------------------------------------------------------


def test_a_message_is_sent_once_at_its_time_and_answered(agent: Agent, model: FakeOpenAI) -> None:
    schedule = once(agent, minutes(10))
    assert fire(minutes(9)) == 0
    assert fire(minutes(10)) == 1
    assert fire(minutes(11)) == 0
    model.script(text("And to you!"))
    run = Run.objects.get()
    run_agent(run.pk)
    said = [(each.role, each.content) for each in Message.objects.order_by("number")]
    assert said == [("user", "Good morning"), ("assistant", "And to you!")]
    assert run.conversation_id == agent.pk
    assert (stored(schedule).last_run, stored(schedule).next_at) == (run, None)


def test_a_recurring_message_is_sent_in_the_agents_time_zone(agent: Agent) -> None:
    agent.configure(timezone="Europe/Riga")
    schedule = recurring(agent, "0 9 * * 1-5")  # 7:00 UTC in winter: tomorrow
    zone = ZoneInfo("Europe/Riga")
    times = []
    for _ in range(5):
        due = stored(schedule).next_at
        assert due
        times.append(f"{due.astimezone(zone):%a %H:%M}")
        assert fire(due) == 1
        Run.objects.update(status=Run.Status.DONE)
    assert times == ["Tue 09:00", "Wed 09:00", "Thu 09:00", "Fri 09:00", "Mon 09:00"]


@pytest.mark.parametrize(
    ("cron", "day", "hours"),
    [
        ("30 3 * * *", datetime(2026, 3, 28, 12, tzinfo=UTC), ["29 04:00", "30 03:30"]),
        ("30 3 * * *", datetime(2026, 10, 24, 12, tzinfo=UTC), ["25 03:30", "26 03:30"]),
        ("0 * * * *", datetime(2026, 10, 24, 23, tzinfo=UTC), ["25 03:00", "25 03:00"]),
    ],
)
def test_where_the_clock_is_changed_a_daily_message_is_sent_once_and_an_hourly_one_each_hour(
    cron: str, day: datetime, hours: list[str]
) -> None:
    schedule, found = Schedule(cron=cron, timezone="Europe/Riga"), [day]
    for _ in hours:
        found.append(schedule.time_after(found[-1]))
    assert [f"{each:%d %H:%M}" for each in found[1:]] == hours


def test_times_that_were_missed_are_made_up_for_once(agent: Agent) -> None:
    schedule = recurring(agent, "*/15 * * * *")
    one = once(agent, minutes(5))
    assert fire(minutes(3 * 24 * 60 + 1)) == 2
    assert fire(minutes(3 * 24 * 60 + 2)) == 0
    assert stored(schedule).next_at == minutes(3 * 24 * 60 + 15)
    assert stored(one).next_at is None


def test_several_messages_are_sent_as_one_run_with_its_options(agent: Agent) -> None:
    said = [("system", "It is spring."), ("user", "What now?")]
    Schedule.create(
        agent, said, at=NOW, now=NOW, most_steps=3, callback_url="https://example.com/told"
    )
    fire(NOW)
    run = Run.objects.get()
    assert [(each.role, each.content) for each in run.messages.order_by("number")] == said
    assert (run.step_limit, run.callback_url) == (3, "https://example.com/told")


# -- exactly once ----------------------------------------------------------------------------------


def test_whoever_comes_late_sends_nothing(agent: Agent) -> None:
    schedule = once(agent)
    late = list(Schedule.objects.due(NOW))  # as another worker read it
    assert fire(NOW) == 1
    assert [each.fire(NOW) for each in late] == [None]
    schedule.stop()
    assert schedule.fire(NOW) is None
    assert texts() == ["Good morning"]


@pytest.mark.django_db(transaction=True)
def test_of_four_workers_that_fire_at_once_one_sends_each_message(agent: Agent) -> None:
    for minute in range(3):
        recurring(agent, f"{31 + minute} 8 * * *")
    sent = at_once(lambda _: fire(minutes(5)), range(4))
    assert sum(sent) == 3
    assert len(texts()) == 3
    assert Run.objects.values("key").distinct().count() == 3


def test_a_crash_before_the_commit_leaves_it_due_and_after_it_nothing_is_sent_twice(
    agent: Agent,
) -> None:
    schedule = recurring(agent)
    due = minutes(30)

    class Killed(Exception):
        pass

    def killed() -> None:
        with transaction.atomic():
            fire(due)
            raise Killed

    with pytest.raises(Killed):
        killed()
    assert texts() == []
    assert fire(due) == 1
    # even where an old copy of the database's row came back, the same time gives the same run
    Schedule.objects.filter(pk=schedule.pk).update(next_at=due, last_run=None)
    assert fire(due) == 1
    assert texts() == ["Good morning"]


# -- what keeps it from being sent -----------------------------------------------------------------


def test_a_full_queue_is_tried_again_for_an_hour(agent: Agent, settings: Settings) -> None:
    settings.QUEUE_LIMIT = 1
    agent.send("Goes on", "1")
    agent.send("Waits", "2")
    schedule = once(agent)
    assert fire(NOW) == 0
    assert "tried again" in stored(schedule).error
    Run.objects.filter(key="2").delete()
    assert fire(minutes(59)) == 1
    assert stored(schedule).error == ""
    given_up = once(agent)
    assert fire(minutes(60)) == 0
    assert stored(given_up).next_at is None
    assert stored(given_up).error.startswith(
        "Not sent: 1 message already waits in this conversation"
    )


def test_a_message_that_still_waits_is_not_sent_once_more(agent: Agent) -> None:
    agent.send("Goes on for hours", "1")
    schedule = recurring(agent)
    days = [minutes(30) + timedelta(days=day) for day in range(3)]
    assert [fire(day) for day in days] == [1, 0, 0]
    assert texts() == ["Goes on for hours", "Good morning"]
    assert "still waits" in stored(schedule).error
    assert stored(schedule).next_at == days[2] + timedelta(days=1)


def test_a_deleted_agent_is_sent_nothing_and_when_restored_goes_on_from_then(agent: Agent) -> None:
    daily, one, later = recurring(agent), once(agent), once(agent, minutes(60 * 24 * 365 * 9))
    Schedule.objects.filter(pk=daily.pk).update(next_at=NOW)
    agent.trash()
    assert fire(minutes(60)) == 0
    agent.restore()
    assert Schedule.objects.fire_due() == 0
    assert stored(daily).next_at
    assert "deleted" in stored(daily).error
    assert (stored(one).next_at, stored(later).next_at) == (None, later.next_at)
    agent.purge()
    assert not Schedule.objects.exists()


def test_a_disabled_persons_agents_are_sent_nothing(agent: Agent) -> None:
    once(agent)
    agent.owner.is_active = False
    agent.owner.save()
    assert fire(minutes(1)) == 0


# -- what cannot be --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "Say when"),
        ({"at": NOW - timedelta(hours=1)}, "2 Mar 2026, 07:30 UTC has passed"),
        ({"at": NOW + timedelta(days=4000)}, "ten years"),
        ({"cron": "every day"}, "is not a cron expression"),
        ({"cron": "* * * * * *"}, "is not a cron expression"),
        ({"cron": "@daily"}, "is not a cron expression"),
        ({"cron": "61 * * * *"}, "No time fits"),
        ({"cron": "0 0 30 2 *"}, "No time fits"),
        ({"cron": "0 9 * * 1-5 " * 20}, "is not a cron expression"),
        ({"cron": f"{'0,' * 60}0 9 * * *"}, "is not a cron expression"),
    ],
)
def test_a_time_that_does_not_come_is_refused(agent: Agent, given: object, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Schedule.create(agent, HELLO, now=NOW, **given)  # type: ignore[arg-type]
    assert not Schedule.objects.exists()


@pytest.mark.parametrize("said", [[], [("user", " ")], HELLO * 21, [("user", "x" * 100_001)]])
def test_messages_that_cannot_be_sent_are_refused(
    agent: Agent, said: list[tuple[str, str]]
) -> None:
    with pytest.raises(ValidationError):
        Schedule.create(agent, said, at=NOW, now=NOW)


def test_an_agent_has_only_so_many_that_are_to_come(agent: Agent, settings: Settings) -> None:
    settings.SCHEDULES_LIMIT = 2
    recurring(agent)
    once(agent)
    with pytest.raises(LimitReached, match="2 scheduled messages"):
        once(agent)
    fire(NOW)
    once(agent)


def test_of_those_that_are_over_the_newest_are_kept(agent: Agent) -> None:
    Run.objects.all().delete()
    for each in range(KEPT_WHEN_OVER + 2):
        once(agent)
        fire(NOW)
        Run.objects.update(status=Run.Status.DONE)
        assert Schedule.objects.count() == min(each + 1, KEPT_WHEN_OVER)


def test_a_fork_has_no_scheduled_messages(agent: Agent, ask: Ask, model: FakeOpenAI) -> None:
    model.script(text("Hello."))
    step = ask("Hi").steps.get()
    recurring(agent)
    assert not fork(step, "Copy", agent.owner).schedules.exists()
