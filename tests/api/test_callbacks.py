"""A script that named an address is told there that its run rests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from agents.api import callbacks
from agents.ledger.fork import fork
from agents.models import Run, Step
from tests.support.api_client import Api, kinds
from tests.support.fake_openai import FakeOpenAI, calls, status, text
from tests.support.waiting import NOTES, READ, answering, call_ids, returned
from tests.support.web_servers import WebServer, web_server


@pytest.fixture
def answers() -> list[int]:
    """The statuses that the script's server answers with, in turn; then 200."""
    return []


@pytest.fixture
def listening(settings: Settings, answers: list[int]) -> Iterator[WebServer]:
    """The server of a script, on a machine that the operator allows."""
    settings.OUTGOING_ALLOW = ["127.0.0.0/8"]

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(answers.pop(0) if answers else 200)
        request.send_header("Content-Length", "0")
        request.end_headers()

    with web_server(answer) as server:
        yield server


def told(server: WebServer) -> list[dict[str, Any]]:
    return [json.loads(body) for _, _, _, body in server.asked]


def later(seconds: float) -> None:
    """Let so much time pass for the callbacks that are due some day."""
    for run in Run.objects.exclude(callback_due_at=None):
        assert run.callback_due_at
        due = run.callback_due_at - timedelta(seconds=seconds)
        Run.objects.filter(pk=run.pk).update(callback_due_at=due)


def test_the_end_of_a_run_is_told_with_what_was_answered(
    api: Api, plain: str, model: FakeOpenAI, listening: WebServer
) -> None:
    model.script(text("Hello!"))
    sent = {"input": "Hi", "callback_url": listening.url("/told?by=me")}
    run = api.post(f"{plain}/messages/async", sent)
    assert run["callback_url"] == listening.url("/told?by=me")
    assert callbacks.send_due() == 1
    ((method, path, headers, _),) = listening.asked
    assert (method, path) == ("POST", "/told?by=me")
    assert headers["content-type"] == "application/json"
    (payload,) = told(listening)
    assert (payload["run_id"], payload["status"]) == (run["id"], "completed")
    assert payload["completed_at"]
    result = payload["metadata"]["result"]
    assert [each["content"] for each in result["messages"]] == ["Hello!"]
    assert result["stop_reason"]["stop_reason"] == "end_turn"
    run = api.get(f"/runs/{run['id']}")
    assert (run["callback_status_code"], run["callback_error"]) == (200, None)
    assert run["callback_sent_at"]
    assert callbacks.send_due() == 0


def test_a_run_that_waits_is_told_and_then_its_end(
    api: Api, plain: str, model: FakeOpenAI, listening: WebServer
) -> None:
    model.script(calls(READ), text("It says hello."))
    sent = {"input": "Hi", "callback_url": listening.url(), "client_tools": [NOTES]}
    api.post(f"{plain}/messages/async", sent)
    callbacks.send_due()
    result = told(listening)[0]["metadata"]["result"]
    assert result["stop_reason"]["stop_reason"] == "requires_approval"
    (request,) = result["messages"]
    api.post(f"{plain}/messages/async", answering(returned(call_ids(request)[0], "hello")))
    callbacks.send_due()
    result = told(listening)[1]["metadata"]["result"]
    assert result["stop_reason"]["stop_reason"] == "end_turn"
    assert kinds(result["messages"])[-1] == "assistant_message"


def test_a_run_that_goes_on_before_it_was_told_that_it_waits_tells_only_its_end(
    api: Api, plain: str, model: FakeOpenAI, listening: WebServer
) -> None:
    model.script(calls(READ), text("It says hello."))
    sent = {"input": "Hi", "client_tools": [NOTES]}
    asked = api.post(f"{plain}/messages", sent)["messages"][0]
    given = answering(returned(call_ids(asked)[0], "hello"))
    api.post(f"{plain}/messages/async", {**given, "callback_url": listening.url()})
    assert callbacks.send_due() == 1
    assert told(listening)[0]["metadata"]["result"]["stop_reason"]["stop_reason"] == "end_turn"


def test_a_failed_run_is_told_as_one(
    api: Api, plain: str, model: FakeOpenAI, listening: WebServer
) -> None:
    model.script(status(401))
    api.post(f"{plain}/messages/async", {"input": "Hi", "callback_url": listening.url()})
    callbacks.send_due()
    (payload,) = told(listening)
    assert payload["status"] == "failed"
    assert payload["metadata"]["error"]


def test_a_server_that_fails_is_asked_again_and_no_more_than_five_times(
    api: Api, plain: str, model: FakeOpenAI, listening: WebServer, answers: list[int]
) -> None:
    answers += [503] * 9
    run = api.post(f"{plain}/messages/async", {"input": "Hi", "callback_url": listening.url()})
    for count, seconds in enumerate((30, 120, 600, 3600), 1):
        assert callbacks.send_due() == 1
        assert callbacks.send_due() == 0
        later(seconds - 1)
        assert callbacks.send_due() == 0
        assert len(listening.asked) == count
        later(1)
    assert callbacks.send_due() == 1
    later(10_000)
    assert callbacks.send_due() == 0
    state = api.get(f"/runs/{run['id']}")
    assert state["callback_status_code"] == 503
    assert state["callback_error"] == "The server at callback_url answered 503."


def test_a_server_that_refuses_is_not_asked_again(
    api: Api, plain: str, listening: WebServer, answers: list[int], model: FakeOpenAI
) -> None:
    answers += [404]
    run = api.post(f"{plain}/messages/async", {"input": "Hi", "callback_url": listening.url()})
    callbacks.send_due()
    later(10_000)
    assert callbacks.send_due() == 0
    assert api.get(f"/runs/{run['id']}")["callback_status_code"] == 404


def test_what_was_being_sent_at_a_crash_is_sent_again(
    api: Api, plain: str, listening: WebServer, model: FakeOpenAI
) -> None:
    api.post(f"{plain}/messages/async", {"input": "Hi", "callback_url": listening.url()})
    (run,) = Run.objects.callbacks_due()
    other = Run.objects.callbacks_due().get()
    assert run.claim_callback()
    assert not other.claim_callback()  # another process
    assert callbacks.send_due() == 0
    later(60)
    assert callbacks.send_due() == 1
    assert len(listening.asked) == 1


def test_this_machine_and_its_networks_are_not_asked(
    api: Api, plain: str, model: FakeOpenAI, settings: Settings
) -> None:
    settings.OUTGOING_ALLOW = []
    run = api.post(f"{plain}/messages/async", {"input": "Hi", "callback_url": "http://127.0.0.1/"})
    callbacks.send_due()
    state = api.get(f"/runs/{run['id']}")
    assert state["callback_status_code"] is None
    assert "not public" in state["callback_error"]
    assert state["status"] == "completed"


@pytest.mark.parametrize("url", ["nowhere", "ftp://example.org/", "http://example.org:22/"])
def test_an_address_that_cannot_be_asked_is_refused(
    api: Api, plain: str, model: FakeOpenAI, url: str
) -> None:
    sent = {"input": "Hi", "callback_url": url}
    (wrong,) = api.post(f"{plain}/messages/async", sent, expect=422)["detail"]
    assert wrong["loc"] == ["body", "callback_url"]
    assert not Run.objects.exists()


def test_a_fork_tells_nobody(api: Api, plain: str, model: FakeOpenAI, listening: WebServer) -> None:
    api.post(f"{plain}/messages/async", {"input": "Hi", "callback_url": listening.url()})
    step = Step.objects.get()
    fork(step, "Another", step.run.agent.owner)
    assert callbacks.send_due() == 1
    assert Run.objects.filter(finished_at__lte=timezone.now()).count() == 2
