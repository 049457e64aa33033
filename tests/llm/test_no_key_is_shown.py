"""A key that was stored is in no page, log, export, trace or context, whatever a server says."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from itertools import cycle
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core import serializers
from django.test import Client
from django.urls import reverse

from agents.agent_file import written
from agents.llm import facts, model_lists
from agents.llm.redaction import redacted
from agents.models import Agent, ModelEndpoint, PersonalKey, Run, Step
from agents.operations import metrics
from agents.operations.checks import database, outside
from agents.runs import failures
from agents.runs.loop import run_agent
from tests.support.admin_forms import address, opened
from tests.support.api_client import Api
from tests.support.defined_endpoints import define
from tests.support.pages import at, shown
from tests.support.web_servers import WebServer, web_server

LAB, OWN = "sk-lab-MARKED-4711-swordfish+/x", "sk-own-MARKED-0815-herring=="
STATUSES = (401, 400, 500, 429, 404)


def marks() -> list[str]:
    """Both keys, and their base64 as it is after whatever stands before."""
    found = [LAB, OWN, "MARKED", "swordfish", "herring"]
    for key in (LAB, OWN):
        for before in range(3):
            encoded = base64.b64encode(b" " * before + key.encode()).decode()
            found.append(encoded[4:-4])
    return found


def assert_unmarked(said: str, where: str) -> None:
    assert not [mark for mark in marks() if mark in said], where


@pytest.fixture
def parrot() -> Iterator[WebServer]:
    """A server that repeats the key in all it says, with one error after another."""
    statuses = cycle((*STATUSES, 200))

    def answer(handler: BaseHTTPRequestHandler) -> None:
        header = handler.headers["Authorization"]
        encoded = base64.b64encode(header.encode()).decode()
        words = (
            f"{'x' * 470} Header {header}! As {encoded}, by key {header[7:]}, {header[7:17]}****"
        )
        error = {"error": {"message": words, "param": header, "more": [{"authorization": header}]}}
        status, body = next(statuses), json.dumps(error)
        kind = "application/json"
        if handler.path.endswith("/models"):
            status, body = 200, json.dumps({"object": "list", "data": [{"id": "parrot"}]})
        elif status == 200:  # an error in the stream
            kind, body = "text/event-stream", f"data: {json.dumps(error)}\n\n"
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body.encode())

    with web_server(answer) as server:
        yield server


@pytest.fixture
def failed(
    parrot: WebServer, alice: User, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> list[ModelEndpoint]:
    """Runs with the deployment's key and with Alice's own, which fail in all ways."""
    monkeypatch.setattr(failures, "RETRY_SECONDS", 0.0)
    model_lists.forget()
    facts.forget()
    url = parrot.url("/v1")
    rows = [define(key=LAB, base_url=url), define("own", base_url=url, own_keys="required")]
    PersonalKey.put(alice, rows[1], OWN)
    for row in rows:
        agent.configure(model=f"{row.name}/parrot")
        for number in range(len(STATUSES) + 1):
            run = agent.send(f"Hello {number}", f"{row.name}-{number}")
            run_agent(run.pk)
    assert Run.objects.filter(status="failed").count() == len(rows) * (len(STATUSES) + 1)
    return rows


def visited(desk: Client, web: Client, agent: Agent, rows: list[ModelEndpoint]) -> dict[str, str]:
    """What pages, scripts and commands say, by where."""
    said: dict[str, str] = {}
    lists = [reverse("admin:agents_modelendpoint_changelist")]
    lists += [
        reverse(f"admin:agents_{kind}_changelist") for kind in ("endpointfacts", "step", "run")
    ]
    pages = [address(row, page) for row in rows for page in ("change", "history", "delete")]
    for page in (*lists, *pages):
        said[page] = desk.get(page, follow=True).content.decode()
    step = Step.objects.latest("pk")
    own = [at("account"), at("model_keys"), at("agent", agent.pk), at("activity"), at("usage")]
    own += [at("agent_settings", agent.pk), at("step_request", agent.pk, step.pk)]
    own += [at("step_request_raw", agent.pk, step.pk)]
    own += [at("panel_tab", agent.pk, name) for name in ("memory", "context", "history", "tools")]
    for page in own:
        said[page] = b"".join(web.get(page)).decode()
    api = Api(agent.owner)
    for path in ("/models/", f"/agents/agent-{agent.pk}", f"/agents/agent-{agent.pk}/messages"):
        said[path] = json.dumps(api.get(path))
    said["/runs/"] = json.dumps(api.get("/runs/"))
    said["agent file"] = "".join(written(agent))
    said["doctor"] = f"{outside.models()} {database.secrets()}"
    said["metrics"] = metrics.text().decode()
    return said


def everything_stored() -> Iterator[tuple[str, str]]:
    for model in apps.get_models():
        if model._meta.managed:
            yield model._meta.label, serializers.serialize("json", model._default_manager.all())


def test_a_key_is_nowhere_though_servers_repeat_it(
    failed: list[ModelEndpoint],
    desk: Client,
    web: Client,
    agent: Agent,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with caplog.at_level(logging.DEBUG):
        for row in failed:
            form = opened(desk, row)
            for changes in ({"key": LAB}, {"key": LAB, "name": "Not/so"}, {"key": f"{LAB} {LAB}"}):
                posted = desk.post(address(row), {**form, **changes})
                assert_unmarked(posted.content.decode(), "a form that was refused")
            page = desk.post(reverse("admin:endpoint_test", args=[row.pk]), {"model": "parrot"})
            assert "Bearer ***" in shown(page)
            assert_unmarked(page.content.decode(), "the test")
        run = agent.send("Once more", "more")
        run_agent(run.pk)
        for where, words in visited(desk, web, agent, failed).items():
            assert_unmarked(words, where)
    for label, rows in everything_stored():
        assert_unmarked(rows, label)
    assert_unmarked(caplog.text, "log")
    assert_unmarked("".join(capfd.readouterr()), "standard error")
    assert any("***" in step.error for step in Step.objects.all())


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (f"Bearer {LAB}", "Bearer ***"),
        (f"key={LAB.replace('+', '%2B').replace('/', '%2F')}", "key=***"),
        ("Incorrect API key provided: sk-proj****wxyz.", "Incorrect API key provided: ***."),
        ("Nothing of it", "Nothing of it"),
    ],
)
def test_a_key_is_taken_out_of_what_is_said(words: str, left: str) -> None:
    assert redacted(words, LAB) == left
    nested: Any = redacted({"a": [words, 1, None]}, LAB)
    assert nested == {"a": [left, 1, None]}


def test_what_stands_for_no_key_is_left_alone() -> None:
    assert redacted("There are none", "none") == "There are none"
