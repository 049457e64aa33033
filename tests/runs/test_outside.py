"""Tools that ask others: the run gives signs of life meanwhile, and nothing goes out unapproved."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler

import pytest
from pytest_django import Settings

from agents.models import Agent, Approval, Message, Run
from agents.runs import tool_calls
from agents.runs.loop import run_agent
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.web_servers import WebServer, says, web_server


@pytest.fixture
def agent(agent: Agent, settings: Settings) -> Agent:
    settings.OUTGOING_ALLOW = ["127.0.0.1"]
    agent.configure(tools=["fetch_webpage", "open_files", "run_code"])
    return agent


def fetches(server: WebServer) -> tuple[str, dict[str, str]]:
    return ("fetch_webpage", {"url": server.url("/page")})


def returned(run: Run) -> Message:
    return Message.objects.get(run=run, role=Message.Role.TOOL)


def test_a_page_that_the_model_asks_for_is_its_tools_return(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    with web_server(says("<h1>Pie</h1>")) as server:
        model.script(calls(fetches(server)), text("It is about pie."))
        run = ask("What is there?")

    assert (returned(run).content, returned(run).is_error) == ("# Pie", False)
    assert run.status == Run.Status.DONE


def test_a_page_that_cannot_be_had_is_told_to_the_model(
    agent: Agent, model: FakeOpenAI, ask: Ask, settings: Settings
) -> None:
    settings.OUTGOING_ALLOW = []
    model.script(
        calls(("fetch_webpage", {"url": "http://127.0.0.1:8000/"}), ("open_files", {})), text("No.")
    )
    run = ask("What is there?")

    first, second = Message.objects.filter(run=run, role=Message.Role.TOOL).order_by("number")
    assert first.is_error
    assert "not public" in first.content
    assert "file_requests" in second.content


def test_nothing_is_asked_of_anybody_before_a_person_has_approved(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    agent.configure(tool_rules=[{"type": "requires_approval", "tool_name": "fetch_webpage"}])
    with web_server(says("<h1>Pie</h1>")) as server:
        model.script(calls(fetches(server)), text("It is about pie."))
        run = ask("What is there?")
        approval = Approval.objects.get(step__run=run)
        assert (server.asked, approval.changes) == ([], [])

        approval.decide(Approval.Status.APPROVED, agent.owner)
        run_agent(run.pk)

        assert [path for _, path, *_ in server.asked] == ["/page"]
    assert "# Pie" in returned(run).content


def test_a_run_that_waits_for_a_page_can_be_stopped_and_gives_signs_of_life(
    agent: Agent, model: FakeOpenAI, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_calls, "SIGN_OF_LIFE_SECONDS", 0.01)
    gate = threading.Event()
    seen: list[str] = []
    renew = Run.renew_or_stop

    def renewed(run: Run, activity: str | None = None) -> None:
        if activity == "Calling fetch_webpage":
            seen.append(activity)
            if len(seen) == 3:
                Run.objects.get(pk=run.pk).stop()
        renew(run, activity)

    def silent(request: BaseHTTPRequestHandler) -> None:
        gate.wait(20)

    monkeypatch.setattr(Run, "renew_or_stop", renewed)
    with web_server(silent) as server:
        model.script(calls(fetches(server)))
        run = ask("What is there?")
        gate.set()

    assert run.status == Run.Status.STOPPED
    assert len(seen) == 3
