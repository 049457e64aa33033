"""Calls that wait, several at once, and those of a script: answered, stopped, cut off."""

from __future__ import annotations

import pytest
from django.test import Client

from agents.models import Agent, Approval, Conversation, Message, Run, Step
from agents.models.approval import Decision
from agents.runs.tool_calls import Call, open_questions
from agents.runs.work import Work
from tests.conftest import Ask
from tests.runs.test_approvals import APPEND, REPLACE, decide, go_on, human, rule
from tests.support.fake_openai import FakeOpenAI, calls, text


def test_all_calls_that_need_approval_wait_and_run_in_order_when_the_last_is_decided(
    agent: Agent, model: FakeOpenAI, ask: Ask, web: Client
) -> None:
    agent.configure(tool_rules=[rule("requires_approval", "core_memory_append")])
    model.script(calls(REPLACE, APPEND, APPEND), text("Done."))
    run = ask("I am Rob and like pie")
    first, second = Approval.objects.all()
    assert human() == "Name: Bob"
    decide(web, second, "approved")
    run.refresh_from_db()
    assert (run.status, run.activity) == ("waiting", "Waiting for your approval")
    page = web.get(f"/agents/{agent.pk}/").content.decode()
    assert f"/approvals/{first.pk}/" in page
    assert f"/approvals/{second.pk}/" not in page
    decide(web, first, "refused", reason="Once is enough.")
    assert go_on(run).status == "done"
    assert human() == "Name: Rob\nLikes pie"
    assert [m.is_error for m in run.messages.filter(role="tool")] == [False, True, False]


def test_a_conversation_that_waits_keeps_no_other_waiting(
    agent: Agent, model: FakeOpenAI, web: Client
) -> None:
    agent.configure(tool_rules=[rule("requires_approval", "core_memory_append")])
    model.script(calls(APPEND), text("Hello."), text("Done."))
    other = Conversation.create(agent)
    waiting = go_on(other.start("I like pie", "one"))
    assert waiting.status == "waiting"
    assert go_on(agent.send("Hi", "two")).status == "done"
    page = web.get(f"/agents/{agent.pk}/").content.decode()
    transcript = page.partition('id="log"')[2].partition('id="empty"')[0]
    assert "Hello." in transcript
    assert "/approvals/" not in transcript
    decide(web, Approval.objects.get(), "approved")
    assert go_on(waiting).status == "done"
    assert human() == "Name: Bob\nLikes pie"
    assert other.last_end()[1] == agent.first_conversation.last_end()[1] == "end_turn"


READ = ("read_file", {"path": "notes.txt"})


@pytest.fixture
def reading(agent: Agent, model: FakeOpenAI) -> Run:
    """A run that waits for the script that brought a tool along."""
    model.script(calls(READ), text("Done."))
    tools = [{"name": "read_file", "description": "Read a file.", "parameters": None}]
    return go_on(agent.first_conversation.start("What do my notes say?", "key", client_tools=tools))


@pytest.mark.parametrize("how", ["returned", "failed"])
def test_a_person_may_return_a_call_in_place_of_the_script(
    reading: Run, web: Client, model: FakeOpenAI, how: str
) -> None:
    assert (reading.status, reading.activity) == ("waiting", "Waiting for a script’s return")
    page = " ".join(web.get(f"/agents/{reading.agent_id}/").content.decode().split())
    assert "waiting for its script" in page
    assert "read_file is run by the script that brought it" in page
    assert decide(web, Approval.objects.get(), "approved") == 422
    decide(web, Approval.objects.get(), how, returned="Buy <milk>")
    assert go_on(reading).status == "done"
    told = Message.objects.get(role="tool")
    assert (told.content, told.is_error) == ("Buy <milk>", how == "failed")
    page = " ".join(web.get(f"/agents/{reading.agent_id}/").content.decode().split())
    assert "Return given by alice" in page
    assert "/approvals/" not in page


def test_a_return_is_taken_once_and_kept_over_a_crash(reading: Run, model: FakeOpenAI) -> None:
    approval = Approval.objects.get()
    given = Decision.of_return("hello", "success")
    assert Approval.decide_all([(approval, given)]) == 1
    assert Approval.decide_all([(approval, Decision.of_return("other", "error"))]) == 0
    reading.refresh_from_db()
    assert reading.status == "running"  # and whoever had it died
    run = go_on(reading)
    assert Message.objects.get(role="tool").content == "hello"
    assert (run.status, len(model.requests)) == ("done", 2)


def test_nothing_can_be_answered_once_the_run_is_stopped(reading: Run, web: Client) -> None:
    reading.stop()
    go_on(reading)
    page = " ".join(web.get(f"/agents/{reading.agent_id}/").content.decode().split())
    assert "Not answered before the agent was stopped" in page
    assert "/approvals/" not in page
    decide(web, Approval.objects.get(), "returned", returned="late")
    assert Approval.objects.get().status == "stopped"
    assert "late" not in Message.objects.get(role="tool").content


def test_a_model_that_is_stopped_while_it_writes_a_call_asks_nothing(
    agent: Agent, model: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.configure(tool_rules=[rule("requires_approval", "core_memory_append")])
    model.script(calls(APPEND))
    run = agent.send("I like pie", "key")

    def stopped(work: Work, step: Step) -> list[Call]:
        run.stop()
        return open_questions(work, step)

    monkeypatch.setattr("agents.runs.loop.open_questions", stopped)
    assert go_on(run).status == "stopped"
    assert not Approval.objects.exists()
    assert Message.objects.get(role="assistant").tool_calls == []


def test_a_long_return_is_cut(reading: Run) -> None:
    given = Decision.of_return("x" * 50_001, "success")
    Approval.decide_all([(Approval.objects.get(), given)])
    go_on(reading)
    assert Message.objects.get(role="tool").content.endswith("1 of 50,001 characters left out.]")
