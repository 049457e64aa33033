"""Which quotas hold for whom, and when what was used returns."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from pytest_django import Settings

from agents.llm import default_endpoint
from agents.llm.spending import QuotaReached, Spending
from agents.models import Agent, LimitReached, Quota, Run
from agents.models.quota_checks import all_meters
from agents.models.usage import next_month
from agents.runs import engine
from tests.support.quotas import use

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def unanswered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs begin, and nobody executes them."""
    monkeypatch.setattr(engine, "submit", lambda run: None)


def test_so_many_runs_go_on_at_once(agent: Agent, alice: User, bob: User) -> None:
    Quota.objects.create(user=alice, runs_at_once=1)
    agent.send("Hello", "one")
    assert agent.send("And this", "two").status == Run.Status.QUEUED, "it waits behind the first"
    second = Agent.objects.create(owner=alice, name="Second")
    with pytest.raises(LimitReached, match="may have 1 agent at work at once, and 1 is"):
        second.send("Hello", "one")
    second.send("Hello", "two", author=bob)
    Run.objects.filter(agent=agent).update(status=Run.Status.DONE)
    third = Agent.objects.create(owner=alice, name="Third")
    assert third.send("Hello", "one").status == Run.Status.RUNNING, "Bob's counts on Bob's quota"


def test_a_groups_runs_are_counted_together_and_each_once(
    agent: Agent, bobs: Agent, alice: User, bob: User
) -> None:
    team, other = Group.objects.create(name="Writers"), Group.objects.create(name="Readers")
    team.user_set.add(alice, bob)
    other.user_set.add(alice, bob)
    Quota.objects.create(group=team, runs_at_once=3)
    agent.send("Hello", "one", author=bob)
    bobs.send("Hello", "one")
    third = Agent.objects.create(owner=alice, name="Third")
    third.send("Hello", "one", author=alice)
    words = "The members of Writers may have 3 agents at work at once, and 3 are"
    with pytest.raises(LimitReached, match=words):
        Agent.objects.create(owner=alice, name="Fourth").send("Hello", "one")


def test_so_many_messages_are_sent_a_minute(
    accounts: None, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    Quota.objects.create(messages_a_minute=2)
    monkeypatch.setattr("time.time", lambda: 1_000_000_010.0)
    for key in ("a", "b", "b"):
        agent.send("Hello", key)
    with pytest.raises(LimitReached, match="may send 2 messages a minute") as limit:
        agent.send("Hello", "c")
    assert limit.value.seconds == 10
    monkeypatch.setattr("time.time", lambda: 1_000_000_021.0)
    agent.send("Hello", "c")


def test_a_persons_own_quota_wins_field_by_field_over_everybodys(alice: User, bob: User) -> None:
    Quota.objects.create(tokens_a_day=100, tokens_a_month=1_000)
    Quota.objects.create(user=alice, tokens_a_day=500)
    assert [meter.whole for meter in all_meters(alice.pk)] == [
        "500 tokens a day",
        "1,000 tokens a month",
    ]
    assert [meter.limit for meter in all_meters(bob.pk)] == [100, 1_000]


def test_a_groups_quota_is_for_its_members_together_and_holds_besides(
    agent: Agent, bobs: Agent, alice: User, bob: User, settings: Settings
) -> None:
    settings.PRICES = '{"memoryweb-demo": [1, 1]}'
    team = Group.objects.create(name="Writers")
    team.user_set.add(alice, bob)
    Quota.objects.create(group=team, dollars_a_month="2.50")
    use(alice, 0, cost=1_500_000)
    use(bob, 0, cost=900_000)
    meter = all_meters(bob.pk)[0]
    assert (meter.used, meter.left, meter.percent) == (2_400_000, 100_000, 96.0)
    use(alice, 0, cost=100_000)
    words = r"The group Writers has used up its \$2.50 a month. They return"
    with pytest.raises(LimitReached, match=words):
        bobs.send("Hello", "key")
    team.user_set.remove(bob)
    bobs.send("Hello", "key")


def test_what_was_used_returns_at_the_days_end_and_at_the_months(agent: Agent, alice: User) -> None:
    now = timezone.now()
    Quota.objects.create(tokens_a_day=100, tokens_a_month=1_000)
    use(alice, 900, day=now.replace(day=1) - timedelta(days=1))
    assert [meter.used for meter in all_meters(alice.pk)] == [0, 0]
    use(alice, 60, day=now.replace(day=1))
    today = 60 if now.day == 1 else 0
    assert [meter.used for meter in all_meters(alice.pk)] == [today, 60]
    day, month = (meter.returns_at for meter in all_meters(alice.pk))
    assert day == datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
    assert (month.day, month.hour, month.month) == (1, 0, now.month % 12 + 1)
    assert next_month(datetime(2026, 12, 31)) == datetime(2027, 1, 1, tzinfo=UTC)


def test_a_quota_is_of_a_person_or_a_group_and_there_is_one_for_each(alice: User) -> None:
    team = Group.objects.create(name="Writers")
    for wrong in (Quota(user=alice, group=team, storage=1), Quota(user=alice)):
        with pytest.raises(ValidationError):
            wrong.full_clean()
    for fields in ({}, {"user": alice}, {"group": team}):
        Quota.objects.create(**fields, storage=1)
        with pytest.raises(ValidationError, match="There is a quota for them already"):
            Quota(**fields, storage=2).full_clean()
        with pytest.raises(IntegrityError), transaction.atomic():
            Quota.objects.create(**fields, storage=2)


def test_who_has_used_up_their_money_goes_on_with_models_that_cost_nothing(
    agent: Agent, alice: User, settings: Settings
) -> None:
    settings.PRICES = '{"gpt": [1, 1]}'
    Quota.objects.create(dollars_a_day=1)
    use(alice, 0, cost=1_000_000)
    settings.OPENAI_BASE_URL = "http://127.0.0.1:9/v1"
    agent.configure(model="local-model")
    assert agent.send("Hello", "one").status == Run.Status.RUNNING
    agent.configure(model="gpt-4o")
    with pytest.raises(LimitReached, match=r"You have used up your \$1.00 a day"):
        agent.first_conversation.send("Hello", "two")
    own = replace(default_endpoint(), is_own_key=True)
    Spending(alice.pk, "message", own, "gpt-4o").reserve(1_000)
    with pytest.raises(QuotaReached):
        Spending(alice.pk, "message", default_endpoint(), "gpt-4o").reserve(1_000)
