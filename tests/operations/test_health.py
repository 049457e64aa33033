"""Probes and metrics: who is told what, and when a process is not ready."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from channels.testing import HttpCommunicator
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from agents.asyncio_bridge import in_thread
from agents.models import Agent, Run, Step, leaving
from agents.operations import checks, counts
from agents.operations.checks.check import Found, failed
from agents.pages import health
from memoryweb.asgi import application

pytestmark = pytest.mark.django_db(transaction=True)
ELSEWHERE = "203.0.113.7"


@pytest.fixture(autouse=True)
def nothing_is_kept() -> Iterator[None]:
    health.look.cache.clear()
    yield
    health.look.cache.clear()
    leaving.stay()


async def ask(
    path: str, client: str = "127.0.0.1", **headers: str
) -> tuple[int, bytes, dict[str, str]]:
    """The answer to somebody at that address, who names any host."""
    sent = [(n.replace("_", "-").encode(), v.encode()) for n, v in headers.items()]
    communicator = HttpCommunicator(
        application, "GET", path, headers=[(b"host", b"10.1.2.3"), *sent]
    )
    scope: dict[str, Any] = communicator.scope  # type: ignore[assignment]
    scope.update(client=[client, 5000], http_version="1.1", scheme="http")
    answer = await communicator.get_response(timeout=20)
    told = {name.decode(): value.decode() for name, value in answer["headers"]}
    return answer["status"], answer["body"], told


async def test_a_process_that_lives_says_so_without_the_database(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(health, "in_thread", None)
    assert (await ask("/healthz", ELSEWHERE))[:2] == (200, b'{"alive": true}')


async def test_details_are_for_this_machine_and_administrators(
    settings: Settings, operator: User, alice: User
) -> None:
    settings.ACCOUNTS = True
    assert json.loads((await ask("/readyz", ELSEWHERE))[1]) == {"ready": True}
    assert "checks" in json.loads((await ask("/readyz"))[1])
    passed_on = await ask("/readyz", x_forwarded_for=ELSEWHERE)
    assert json.loads(passed_on[1]) == {"ready": True}
    for user, told in ((operator, True), (alice, False)):
        cookie = f"{settings.SESSION_COOKIE_NAME}={await in_thread(session_of, user)}"
        _, body, _ = await ask("/readyz", ELSEWHERE, cookie=cookie)
        assert ("checks" in json.loads(body)) is told


def session_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    assert isinstance(client.session, SessionStore)
    return str(client.session.session_key)


async def test_a_process_is_not_ready_without_its_database_or_when_it_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = failed("database", "The database cannot be reached")
    monkeypatch.setattr(health, "ESSENTIAL", [lambda: gone, *checks.ESSENTIAL[2:]])
    status, body, _ = await ask("/readyz")
    assert (status, json.loads(body)["ready"]) == (503, False)
    monkeypatch.undo()
    health.look.cache.clear()
    leaving.leave()
    assert (await ask("/readyz"))[0] == 503


async def test_probes_are_answered_from_what_was_found_a_moment_ago(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def noting(checks: Any) -> list[Found]:
        asked.append(1)
        return []

    monkeypatch.setattr(health, "carried_out", noting)
    for _ in range(5):
        await ask("/readyz", ELSEWHERE)
    assert len(asked) == 1


# -- metrics ---------------------------------------------------------------------------------------


async def test_metrics_are_for_the_token_or_this_machine(settings: Settings) -> None:
    settings.ACCOUNTS = True
    assert (await ask("/metrics", ELSEWHERE))[0] == 404
    assert (await ask("/metrics", ELSEWHERE, authorization="Bearer "))[0] == 404
    assert (await ask("/metrics"))[0] == 200
    assert (await ask("/metrics", x_forwarded_for=ELSEWHERE))[0] == 404
    settings.METRICS_TOKEN = "of the scraper"
    assert (await ask("/metrics", ELSEWHERE, authorization="Bearer of the scraper"))[0] == 200
    assert (await ask("/metrics", ELSEWHERE, authorization="Bearer of nobody"))[0] == 404


def values(body: bytes) -> dict[tuple[Any, ...], float]:
    """Each sample as Prometheus' own parser reads it, by name, and labels in order of theirs."""
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(body.decode())
        for sample in family.samples
    }


async def test_prometheus_reads_runs_steps_tokens_events_and_sockets(
    agent: Agent, settings: Settings
) -> None:
    settings.HOSTED = False
    await in_thread(record, agent)
    counts.sockets["open"] = 3
    counts.errors["agents"] = 2
    body = (await ask("/metrics"))[1]
    counts.sockets.clear()
    counts.errors.clear()
    found = values(body)
    assert found["memoryweb_runs", "running"] == 1
    assert found["memoryweb_runs_ended_5m", "end_turn", "done"] == 2
    assert found["memoryweb_steps_5m", "gpt", "done"] == 2
    assert found["memoryweb_step_seconds_5m", "gpt", "1"] == pytest.approx(4)
    assert found["memoryweb_model_seconds_5m", "gpt", "1"] == pytest.approx(4)
    assert found["memoryweb_tokens_5m", "prompt", "gpt"] == 20
    assert found["memoryweb_events_total",] == agent.last_seq
    assert found["memoryweb_sockets",] == 3
    assert found["memoryweb_logged_errors_total", "agents"] == 2
    assert found["process_cpu_seconds_total",] > 0


def record(agent: Agent) -> None:
    """Two runs that ended just now, one that ended long ago, one that goes on."""
    now = timezone.now()
    conversation = agent.first_conversation
    for number, ended in enumerate([now, now, now - timedelta(hours=1), None]):
        run = Run.objects.create(
            agent=agent,
            conversation=conversation,
            key=str(number),
            status=Run.Status.DONE if ended else Run.Status.RUNNING,
            reason=Run.Reason.ANSWERED if ended else "",
            finished_at=ended,
        )
        step = Step.objects.create(
            run=run,
            number=1,
            model="gpt",
            status=Step.Status.DONE,
            prompt_tokens=10,
            finished_at=ended,
        )
        if ended:
            Step.objects.filter(pk=step.pk).update(started_at=ended - timedelta(seconds=4))
    agent.refresh_from_db()


@pytest.mark.hosted_only
async def test_prometheus_reads_the_queue_and_the_connections() -> None:
    assert configured.HOSTED
    found = values((await ask("/metrics"))[1])
    assert found["memoryweb_workers",] == 0
    assert found["memoryweb_connections",] >= 1
    assert found["memoryweb_connections_limit",] > 50


async def test_each_answer_is_counted_and_has_an_id() -> None:
    before = counts.requests["probe", "2xx"]
    _, _, told = await ask("/healthz", ELSEWHERE, x_request_id="made-by-a-client")
    assert told["x-request-id"] != "made-by-a-client"
    _, _, told = await ask("/healthz", x_request_id="made-by-the-proxy")
    assert told["x-request-id"] == "made-by-the-proxy"
    assert counts.requests["probe", "2xx"] == before + 2
