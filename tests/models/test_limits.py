"""How much one person may have and ask for, by every door; each refusal says what to do."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from agents.agent_file import export_agent, import_agent
from agents.ledger.fork import fork
from agents.memory.classes import ChatMemory
from agents.models import Agent, Conversation, LimitReached, Run, Step
from agents.models.limits import check_requests
from agents.runs.reflection import reflect, reflect_if_due
from agents.tools.custom import sandbox
from agents.tools.custom.sandbox import Limits
from agents.tools.dry_run import one_at_a_time
from tests.support.api_client import Api
from tests.support.stored import of
from tests.support.threads import at_once

pytestmark = pytest.mark.usefixtures("accounts")


# -- messages that wait ----------------------------------------------------------------------------


@pytest.fixture
def full(agent: Agent, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Agent:
    """Alice's agent with a run that goes on, and as many messages waiting as may."""
    monkeypatch.setattr("agents.runs.engine.submit", lambda run: None)
    settings.QUEUE_LIMIT = 2
    for key in ("goes on", "first", "second"):
        agent.send("Hello", key)
    return agent


def test_each_conversation_has_a_queue_of_its_own(full: Agent) -> None:
    other = Conversation.create(full)
    for key in ("a", "b", "c"):
        other.send("Hello", key)
    with pytest.raises(LimitReached):
        other.send("Hello", "d")


def test_a_queue_takes_so_many_messages_and_no_more(full: Agent) -> None:
    with pytest.raises(LimitReached, match="2 messages already wait in this conversation"):
        full.send("Hello", "third")
    assert full.send("Hello", "second").status == Run.Status.QUEUED  # it has that one
    Run.objects.get(key="first").withdraw()
    assert full.send("Hello", "third").status == Run.Status.QUEUED


def test_a_page_is_told_that_the_queue_is_full(full: Agent, web: Client) -> None:
    send = reverse("message_send", args=[full.pk])
    page = web.post(send, {"text": "Hello", "key": "third"})
    assert page.status_code == 429
    assert int(page.headers["Retry-After"]) > 0
    assert "2 messages already wait in this conversation" in page.content.decode()
    fragment = web.post(send, {"text": "Hello", "key": "third"}, headers={"hx-request": "true"})
    assert fragment.status_code == 429
    assert fragment.content.decode().startswith("<hx-partial")
    compact = web.post(reverse("compact", args=[full.pk]))
    assert compact.status_code == 429
    assert Run.objects.count() == 3


def test_of_reflections_one_waits_and_none_breaks_off_the_run_that_ends(full: Agent) -> None:
    first = reflect(full.first_conversation)
    assert reflect(full.first_conversation) == first
    full.reflect_every = 1
    first.delete()
    Run.objects.filter(key="goes on").update(status=Run.Status.DONE)
    ended = Run.objects.get(key="goes on")
    ended.agent = full
    assert reflect_if_due(ended) is not None


# -- agents ----------------------------------------------------------------------------------------


@pytest.fixture
def enough(agent: Agent, settings: Settings) -> Agent:
    """Alice's agent, the last one she may have."""
    settings.AGENTS_LIMIT = 1
    return agent


def test_a_person_has_so_many_agents_and_no_more(enough: Agent, alice: User, bob: User) -> None:
    with pytest.raises(LimitReached, match="You have 1 agent; one person may have at most 1"):
        Agent.create(alice, "Second", ChatMemory())
    with pytest.raises(LimitReached):
        import_agent(alice, export_agent(enough))
    Agent.create(bob, "Bob's", ChatMemory())
    enough.trash()
    Agent.create(alice, "Second", ChatMemory())
    with pytest.raises(LimitReached):
        enough.restore()


def test_a_fork_is_one_more_agent(enough: Agent, alice: User, settings: Settings) -> None:
    run = Run.objects.create(**of(enough), key="k", text="Hello", status=Run.Status.DONE)
    step = Step.objects.create(run=run, number=1, model="m", endpoint="e")
    with pytest.raises(LimitReached):
        fork(step, "Fork", alice)


def test_one_agent_too_many_is_refused_with_429(enough: Agent, alice: User, web: Client) -> None:
    form = {"name": "Second", "template": "assistant", "system_prompt": "You are it."}
    form |= {"blocks-TOTAL_FORMS": "0", "blocks-INITIAL_FORMS": "0"}
    page = web.post(reverse("agent_new"), form)
    assert page.status_code == 429
    assert "Delete agents that you no longer need" in page.content.decode()
    told = Api(alice).post("/agents/", {"memory_blocks": []}, expect=429)
    assert "Delete agents" in told["detail"]
    assert Agent.objects.count() == 1


def test_without_accounts_the_one_owner_may_have_any_number(
    enough: Agent, alice: User, settings: Settings
) -> None:
    settings.ACCOUNTS = False
    Agent.create(alice, "Second", ChatMemory())


@pytest.mark.django_db(transaction=True)
def test_of_eight_agents_made_at_once_only_so_many_are_made_as_may(
    alice: User, settings: Settings
) -> None:
    settings.AGENTS_LIMIT = 3

    def make(number: int) -> bool:
        try:
            return bool(Agent.create(alice, f"Agent {number}", ChatMemory()))
        except LimitReached:
            return False

    assert sorted(at_once(make, range(8))) == [False] * 5 + [True] * 3
    assert Agent.objects.count() == 3


# -- sandboxes -------------------------------------------------------------------------------------


def test_one_person_never_takes_all_sandboxes(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SANDBOX_LIMIT = 1_000
    monkeypatch.setattr(sandbox, "PROCESSES", 3)
    monkeypatch.setattr(sandbox, "SECONDS_FOR_A_WORKER", 0.05)
    alice, bob = 1, 2
    ends, inside = threading.Event(), threading.Semaphore(0)

    def wait() -> int:
        inside.release()
        return int(ends.wait(20))

    def run(person: int, code: str) -> sandbox.SandboxResult:
        limits = Limits(20, 64)
        return sandbox.run(
            code, person=person, inputs={}, modules={"probe": {"wait": wait}}, limits=limits
        )

    with ThreadPoolExecutor() as threads:
        hers = [threads.submit(run, alice, "import probe\nprobe.wait()") for _ in range(2)]
        for _ in hers:
            assert inside.acquire(timeout=20)
        with pytest.raises(sandbox.Unavailable, match="At most 2 tools of one person can run"):
            run(alice, "1 + 1")
        assert run(bob, "1 + 1").value == 2
        with pytest.raises(LimitReached, match=r"2 tools of one person .* Try again"):
            one_at_a_time(User(pk=alice)).__enter__()
        ends.set()
        assert [each.result().value for each in hers] == [1, 1]
    assert run(alice, "1 + 1").value == 2
    assert not sandbox._held


# -- requests a minute -----------------------------------------------------------------------------


@pytest.fixture
def three(settings: Settings) -> None:
    settings.REQUESTS_LIMIT = 3


def test_requests_of_a_person_are_counted_by_the_minute(
    three: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 600.0
    monkeypatch.setattr("agents.models.limits.time.time", lambda: now)
    for _ in range(3):
        check_requests(1)
    now = 645.0
    with pytest.raises(LimitReached, match=r"more than 3 requests .* Try again in 15 s") as limit:
        check_requests(1)
    assert limit.value.seconds == 15
    check_requests(2)
    now = 660.0
    check_requests(1)


def test_pages_and_scripts_count_alike(three: None, agent: Agent, web: Client) -> None:
    stop, look = reverse("run_stop", args=[agent.pk]), reverse("agent", args=[agent.pk])
    assert web.post(stop).status_code == 302
    script = Api(agent.owner)
    script.get("/agents/")
    script.get("/agents/")
    told: Any = script.get("/agents/", expect=429)
    assert "more than 3 requests within a minute" in told["detail"]
    assert 0 < int(script.last.headers["Retry-After"]) <= 60
    page = web.post(stop)
    assert page.status_code == 429
    assert 0 < int(page.headers["Retry-After"]) <= 60
    assert web.get(look).status_code == 200  # looking is free


def test_one_persons_requests_hold_up_nobody_else(
    three: None, agent: Agent, web: Client, bobs: Agent, bobs_web: Client
) -> None:
    for _ in range(5):
        web.post(reverse("run_stop", args=[agent.pk]))
    assert bobs_web.post(reverse("run_stop", args=[bobs.pk])).status_code == 302


def test_while_requests_cannot_be_counted_nobody_is_held_up(
    three: None, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    broken = {"BACKEND": "django.core.cache.backends.redis.RedisCache"}
    settings.CACHES = {**settings.CACHES, "requests": broken | {"LOCATION": "redis://127.0.0.1:1"}}
    for _ in range(5):
        check_requests(1)
    assert "Requests cannot be counted." in caplog.text
