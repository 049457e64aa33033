"""Quotas: at every door somebody who has used theirs up is told so, and when it returns."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from agents.live.commands import accept_message
from agents.llm import default_endpoint
from agents.llm.spending import QuotaReached, Spending
from agents.models import (
    Agent,
    Compaction,
    LimitReached,
    Passage,
    Quota,
    Reservation,
    Run,
    Schedule,
    quota,
)
from agents.runs import engine
from agents.runs.loop import run_agent
from agents.runs.reflection import reflect
from agents.search import semantic
from tests.conftest import Ask
from tests.support.api_client import Api
from tests.support.conversation import talk
from tests.support.fake_openai import FakeOpenAI, calls
from tests.support.quotas import use
from tests.support.searching import BY, make_vectors
from tests.support.threads import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def used_up(alice: User) -> Quota:
    """Alice may use 5,000 tokens a day, and has."""
    use(alice, 5_000)
    return Quota.objects.create(user=alice, tokens_a_day=5_000)


@pytest.fixture
def unanswered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs begin, and nobody executes them."""
    monkeypatch.setattr(engine, "submit", lambda run: None)


# -- at every door ---------------------------------------------------------------------------------

WORDS = "You have used up your 5,000 tokens a day. They return at 00:00 UTC. Send this again then."


def test_a_form_is_told(used_up: Quota, agent: Agent, web: Client) -> None:
    answer = web.post(reverse("message_send", args=[agent.pk]), {"text": "Hello", "key": "k"})
    assert answer.status_code == 429
    assert WORDS in answer.content.decode()
    assert 0 < int(answer.headers["Retry-After"]) <= 24 * 3600
    assert not Run.objects.exists()


def test_a_socket_is_told(used_up: Quota, agent: Agent, alice: User) -> None:
    command = {"command": "send", "agent": str(agent.pk), "text": "Hello", "key": "k"}
    with pytest.raises(LimitReached, match="You have used up your 5,000 tokens a day"):
        accept_message(alice, command)


def test_a_script_is_told(used_up: Quota, agent: Agent, alice: User, accounts: None) -> None:
    body = {"messages": [{"role": "user", "content": "Hello"}]}
    told = Api(alice).post(f"/agents/{agent.pk}/messages", body, expect=429)
    assert told == {"detail": WORDS}


def test_a_schedule_is_told_and_tries_again(used_up: Quota, agent: Agent) -> None:
    now = timezone.now()
    Schedule.create(agent, [("user", "Hello")], at=now + timedelta(minutes=1), now=now)
    Schedule.objects.all().fire_due(now + timedelta(minutes=2))
    schedule = Schedule.objects.get()
    assert schedule.error == f"Not sent yet, and tried again: {WORDS}"
    used_up.delete()
    Schedule.objects.all().fire_due(now + timedelta(minutes=3))
    assert Run.objects.get().text == "Hello"


def test_a_message_that_was_accepted_is_not_refused_when_it_comes_again(
    agent: Agent, alice: User, unanswered: None
) -> None:
    run = agent.send("Hello", "key")
    use(alice, 10)
    Quota.objects.create(tokens_a_day=10)
    assert agent.send("Hello", "key") == run
    with pytest.raises(LimitReached):
        agent.send("Hello", "another")


def test_what_is_put_right_in_the_admin_holds_at_once(
    used_up: Quota, agent: Agent, unanswered: None
) -> None:
    with pytest.raises(LimitReached):
        agent.send("Hello", "key")
    used_up.tokens_a_day = 50_000
    used_up.save()
    assert agent.send("Hello", "key").status == Run.Status.RUNNING


def test_another_process_sees_it_within_seconds(
    used_up: Quota, agent: Agent, unanswered: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(LimitReached):
        agent.send("Hello", "key")
    Quota.objects.update(tokens_a_day=50_000)  # as another process would
    with pytest.raises(LimitReached):
        agent.send("Hello", "key")
    monkeypatch.setattr(quota, "READ_SECONDS", 0)
    agent.send("Hello", "key")


# -- within a run ----------------------------------------------------------------------------------


def test_a_step_that_may_take_more_than_is_left_is_not_begun_and_can_be_tried_later(
    agent: Agent, ask: Ask, model: FakeOpenAI, alice: User
) -> None:
    limit = Quota.objects.create(user=alice, tokens_a_day=1_100)
    run = ask("Hello")
    assert (run.status, model.requests) == (Run.Status.FAILED, [])
    assert "This call of the model may take" in run.error
    assert "of the 1,100 tokens a day that alice may use 1,100 tokens are left" in run.error
    assert not run.steps.exists()
    limit.tokens_a_day = 50_000
    limit.save()
    assert run.retry()
    run_agent(run.pk)
    run.refresh_from_db()
    assert run.status == Run.Status.DONE


def test_a_run_ends_where_the_quota_does(
    agent: Agent, ask: Ask, model: FakeOpenAI, alice: User
) -> None:
    Quota.objects.create(user=alice, tokens_a_day=9_000)
    append = ("core_memory_append", {"label": "human", "content": "Likes pie"})
    model.script(replace(calls(append), usage=(8_990, 10)))
    run = ask("I like pie")
    assert run.error == "alice has used up their 9,000 tokens a day. They return at 00:00 UTC."
    assert [step.status for step in run.steps.all()] == ["done"]
    assert not Reservation.objects.exists()


def test_a_reflection_is_refused_where_it_spends(used_up: Quota, agent: Agent) -> None:
    run = reflect(agent.first_conversation)
    run_agent(run.pk)
    run.refresh_from_db()
    assert (run.status, "used up" in run.error) == (Run.Status.FAILED, True)


def test_excerpts_stand_in_for_a_summary_that_nobody_may_pay(
    agent: Agent, alice: User, model: FakeOpenAI, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.configure(context_window=4000, tools=["core_memory_append"])
    talk(agent, 26)
    Quota.objects.create(user=alice, tokens_a_day=3_000)
    run = ask("Go on")
    assert run.status == Run.Status.DONE, run.error
    compaction = Compaction.objects.get()
    assert compaction.written_by == Compaction.Author.MECHANICAL
    assert "3,000 tokens" in compaction.error


def test_texts_of_who_may_spend_no_more_wait_and_others_go_on(
    agent: Agent, bobs: Agent, alice: User, model: FakeOpenAI, settings: Settings
) -> None:
    settings.EMBEDDING_MODEL = "fake-embedding"
    semantic.forget()
    limit = Quota.objects.create(user=alice, tokens_a_day=1)
    Passage.insert(agent, "Rex is a dog", by=BY)
    Passage.insert(bobs, "The tax is due", by=BY)
    assert make_vectors() == 1
    assert model.embedded == [["The tax is due"]]
    assert semantic.vector_of("puppy", alice.pk) is None
    limit.delete()
    assert make_vectors() == 1
    assert semantic.vector_of("puppy", alice.pk) is not None


def test_of_two_runs_only_one_gets_the_last_tokens(agent: Agent, alice: User) -> None:
    Quota.objects.create(user=alice, tokens_a_day=2_500)
    one, other = (Spending(alice.pk, "message", default_endpoint(), "m") for _ in range(2))
    one.reserve(500)
    with pytest.raises(QuotaReached, match=r"of the 2,500 tokens a day .* 1,000 tokens"):
        other.reserve(500)
    one.settle()
    other.reserve(500)


@pytest.mark.django_db(transaction=True)
def test_of_eight_calls_at_the_same_moment_only_so_many_are_made_as_may(alice: User) -> None:
    Quota.objects.create(tokens_a_day=4_600)
    team = Group.objects.create(name="Writers")
    team.user_set.add(alice)
    Quota.objects.create(group=team, tokens_a_day=100_000)

    def reserve(number: int) -> bool:
        try:
            Spending(alice.pk, "message", default_endpoint(), "m").reserve(500)
        except QuotaReached:
            return False
        return True

    assert sorted(at_once(reserve, range(8))) == [False] * 5 + [True] * 3


@pytest.mark.django_db(transaction=True)
def test_of_six_messages_at_the_same_moment_only_so_many_begin_as_may(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "submit", lambda run: None)
    Quota.objects.create(runs_at_once=2)
    agents = [Agent.objects.create(owner=alice, name=f"Agent {n}") for n in range(6)]

    def send(agent: Agent) -> bool:
        try:
            return bool(agent.send("Hello", "key"))
        except LimitReached:
            return False

    assert sorted(at_once(send, agents)) == [False] * 4 + [True] * 2
