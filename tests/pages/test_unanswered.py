"""How a run ended, as its page says it: one line that opens, and a way on where no answer came."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.models import Agent, Approval, Message, Run, Step
from agents.runs import failures
from agents.runs.loop import run_agent
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, status, text

APPEND = ("core_memory_append", {"label": "human", "content": "Likes pie"})


def shown(web: Client, run: Run) -> str:
    html = web.get(reverse("agent", args=[run.agent_id])).content.decode()
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html[html.index(f'id="run-{run.pk}"') :]))


def go_on(web: Client, run: Run) -> Run:
    """Press the button, and do what the engine does then."""
    web.post(reverse("run_retry", args=[run.agent_id, run.pk]))
    run_agent(run.pk)
    run.refresh_from_db()
    return run


def test_a_run_without_an_answer_says_so_and_is_asked_for_one(
    web: Client, agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    agent.configure(max_steps=1)
    model.script(calls(APPEND), text("You like pie."))
    run = ask("I like pie.")
    assert run.reason == "max_steps"
    assert "The agent ended without an answer. Ask for an answer" in shown(web, run)
    run = go_on(web, run)
    assert (run.status, run.reason) == ("done", "end_turn")
    assert "without an answer" not in shown(web, run)
    said = [message["role"] for message in model.requests[-1]["messages"][1:]]
    assert said == ["user", "assistant", "tool"]  # nothing was put into the person's mouth
    assert Message.objects.filter(agent=agent, role="user").count() == 1


def test_an_agent_that_speaks_by_tool_and_did_not_is_asked_for_its_answer(
    web: Client, agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    agent.configure(tools=["send_message", "core_memory_append"])
    model.script(calls(APPEND), calls(APPEND), calls(("send_message", {"message": "Noted."})))
    run = ask()
    assert run.is_unanswered()
    assert not go_on(web, run).is_unanswered()
    assert "Noted." in shown(web, run)


def test_an_answered_run_is_not_asked_again_by_that_address(
    web: Client, agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    model.script(text("Hello."))
    run = ask()
    assert "Ask for an answer" not in shown(web, run)
    assert go_on(web, run).steps.count() == 1


def test_failed_attempts_are_counted_in_the_line_of_the_run(
    web: Client, agent: Agent, model: FakeOpenAI, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "RETRY_SECONDS", 0.0)
    model.script(status(503, "Busy."), status(503, "Busy."), text("Hello."))
    html = shown(web, ask())
    assert re.search(r"answered · 1 step (· [\d,]+ tokens )?· 2 attempts failed", html)
    assert html.count("Step 1 ·") == 2  # where it failed, and in the line that opens


def test_time_waited_for_a_person_is_not_the_step_s(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    model.script(calls(APPEND), text("Noted."))
    ask("I like pie.")
    step = Step.objects.order_by("pk")[0]
    now = timezone.now()
    times = {"expires_at": now, "why": "", "status": Approval.Status.APPROVED}
    for call, asked, decided in (("a", 2, 60), ("b", 30, 62)):  # one wait, not two
        Approval.objects.create(
            step=step,
            tool_call_id=call,
            created_at=now + timedelta(seconds=asked),
            decided_at=now + timedelta(seconds=decided),
            **times,
        )
    Step.objects.filter(pk=step.pk).update(started_at=now, finished_at=now + timedelta(seconds=65))
    assert Step.objects.get(pk=step.pk).seconds == 5.0
